//! Peer repositories: resolution of their clones, and a worktree of each.
//!
//! Clones are fetched concurrently. Errors are reported in the order of the request and name the repository.

use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use loopgate_api::command::{WorkLocation, WorktreeSource};
use loopgate_api::event::code;
use loopgate_api::ids::{BranchName, RepoFullName};
use loopgate_api::launch::PeerRef;
use loopgate_home::{SandboxedPath, expand_home};

use crate::error::LoopRequestError;
use crate::jobs::reservations::Reservation;
use crate::refusal::Refusal;
use crate::request::LoopRequest;
use crate::workspace::naming::WorktreeNames;
use crate::workspace::repository::{self, LoopRepository, Repositories};
use crate::workspace::worktree::{self, PreparedWorktree, WorktreeError, WorktreeRequest, Worktrees};

/// Limit of peer repositories per loop.
const MAX_PEERS: usize = 5;

/// A resolved peer repository of a request.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub repository: LoopRepository,
    /// Branch from which the loop starts.
    pub branch: BranchName,
    /// Name or path in the request, for error messages.
    label: String,
}

/// A peer repository and its worktree.
#[derive(Debug, Clone)]
pub(crate) struct PeerWorkspace {
    pub peer: Peer,
    pub prepared: PreparedWorktree,
}

fn refuse(code: &'static str, text: String) -> Refusal {
    Refusal::with_same_event(LoopRequestError::bad_request(text), code)
}

/// Resolves the clones that a request names in addition to `primary`.
pub(crate) async fn resolve(
    repositories: &Repositories,
    request: &LoopRequest,
    primary: Option<&LoopRepository>,
) -> Result<Vec<Peer>, Refusal> {
    let requested = request.additional_repos.len();
    if requested > MAX_PEERS {
        let text = format!("additionalRepos exceeds maximum of {MAX_PEERS} entries (got {requested})");
        return Err(refuse(code::PRE_RUN_VALIDATION_FAILED, text));
    }
    let checkout = match request.command.spec().location {
        WorkLocation::Worktree(checkout) => checkout,
        // Commands without a worktree only read the peers.
        WorkLocation::TempDir => WorktreeSource::ExistingOrDetached,
    };
    let resolved =
        join_all(request.additional_repos.iter().map(|peer| find(repositories, peer, checkout))).await;
    let mut peers = Vec::with_capacity(requested);
    for peer in resolved {
        let peer = peer?;
        // Checked after the fetch, so that new branches of the remote exist.
        let base = repositories.git.base_ref(peer.repository.path.as_path(), &peer.branch).await;
        if !matches!(base, Ok(Some(_))) {
            let text = format!("Branch \"{}\" not found in additional repo: {}", peer.branch, peer.label);
            return Err(refuse(code::PRE_RUN_VALIDATION_FAILED, text));
        }
        peers.push(peer);
    }
    no_duplicates(primary, &peers)?;
    Ok(peers)
}

async fn find(
    repositories: &Repositories,
    requested: &PeerRef,
    checkout: WorktreeSource,
) -> Result<Peer, Refusal> {
    let non_empty = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (name, path) = (non_empty(&requested.full_name), non_empty(&requested.local_repo_path));
    let Some(label) = name.clone().or_else(|| path.clone()) else {
        let text = "Additional repo entry must have localRepoPath or fullName".to_owned();
        return Err(refuse(code::REPO_NOT_FOUND, text));
    };
    let missing = || {
        let searched = match &path {
            Some(path) => format!("{path} is not a directory"),
            None => repository::searched(repositories),
        };
        refuse(code::REPO_NOT_FOUND, format!("Additional repo not found locally: {label}. {searched}"))
    };
    let full_name = name.as_deref().map(str::parse::<RepoFullName>).transpose().map_err(|_| missing())?;
    let place: PathBuf = match (&path, &full_name) {
        (Some(path), _) => expand_home(path),
        (None, Some(name)) => repository::find(repositories, name).await.ok_or_else(missing)?,
        (None, None) => return Err(missing()),
    };
    let allowed = repositories
        .sandbox
        .check(&place)
        .map_err(|_| refuse(code::REPO_NOT_ALLOWED, format!("Additional repo path not allowed: {label}")))?;
    let (dir, sandbox) = (allowed.as_path().to_owned(), repositories.sandbox.clone());
    let inspection = tokio::task::spawn_blocking(move || (dir.is_dir(), sandbox.origin_of(&dir))).await;
    let (exists, origin) = inspection.unwrap_or_default();
    if !exists {
        return Err(missing());
    }
    let branch = match requested.branch.trim() {
        "" => repositories.git.default_base(allowed.as_path()).await.ok().flatten().unwrap_or_default(),
        name => name.to_owned(),
    };
    let unknown = || format!("Branch \"{branch}\" not found in additional repo: {label}");
    let branch: BranchName =
        branch.parse().map_err(|_| refuse(code::PRE_RUN_VALIDATION_FAILED, unknown()))?;
    if let Err(reason) = worktree::fetch_base(&repositories.git, allowed.as_path(), &branch, checkout).await {
        // A branch that does not exist at all is reported by the caller.
        if matches!(repositories.git.base_ref(allowed.as_path(), &branch).await, Ok(Some(_))) {
            let text = format!("Additional repo {label} cannot be used: {reason}");
            return Err(refuse(code::PRE_RUN_VALIDATION_FAILED, text));
        }
    }
    Ok(Peer { repository: LoopRepository { path: allowed, full_name: full_name.or(origin) }, branch, label })
}

fn no_duplicates(primary: Option<&LoopRepository>, peers: &[Peer]) -> Result<(), Refusal> {
    let all: Vec<&LoopRepository> =
        primary.into_iter().chain(peers.iter().map(|peer| &peer.repository)).collect();
    for (index, one) in all.iter().enumerate() {
        for other in &all[..index] {
            let text = match (&one.full_name, &other.full_name) {
                (Some(name), Some(other_name)) if name.same_as(other_name) => {
                    format!("Duplicate repository fullName across repos: {name}")
                }
                _ if one.path.canonical() == other.path.canonical() => {
                    format!("Duplicate repository path across repos: {}", one.path.as_path().display())
                }
                _ => continue,
            };
            return Err(refuse(code::PRE_RUN_VALIDATION_FAILED, text));
        }
    }
    Ok(())
}

/// Prepares a worktree of each repository. On a failure, the worktrees created so far are removed.
pub(crate) async fn prepare(
    worktrees: &Worktrees,
    request: &LoopRequest,
    naming: &WorktreeNames,
    checkout: WorktreeSource,
    peers: Vec<Peer>,
    reservation: &Reservation,
) -> Result<Vec<PeerWorkspace>, Refusal> {
    let mut places = Vec::with_capacity(peers.len());
    for peer in peers {
        match place(worktrees, naming, checkout, &peer, reservation).await {
            Ok(prepared) => places.push(PeerWorkspace { peer, prepared }),
            Err(error) => {
                tracing::info!(loop_id = %request.loop_id, ?error, "cannot prepare the worktree of a peer repository");
                for place in &places {
                    remove_unused(worktrees, place).await;
                }
                return Err(refusal(&peer, error));
            }
        }
    }
    Ok(places)
}

async fn place(
    worktrees: &Worktrees,
    naming: &WorktreeNames,
    checkout: WorktreeSource,
    peer: &Peer,
    reservation: &Reservation,
) -> Result<PreparedWorktree, WorktreeError> {
    let repository = &peer.repository.path;
    let naming = naming.of_peer(&peer.branch, repository.as_path());
    let naming = naming.map_err(|error| WorktreeError::Failed(error.to_string()))?;
    let request = WorktreeRequest {
        repository,
        naming,
        earlier: None,
        base: peer.branch.clone(),
        checkout,
        base_fetched: true,
    };
    worktrees.prepare(&request, reservation).await
}

fn refusal(peer: &Peer, error: WorktreeError) -> Refusal {
    let label = &peer.label;
    match error {
        WorktreeError::NotAllowed(path) => {
            let text = format!("Additional repo worktree path not allowed for {label}: {}", path.display());
            Refusal::with_same_event(LoopRequestError::path_not_allowed(text), code::REPO_NOT_ALLOWED)
        }
        WorktreeError::Busy(_) => {
            LoopRequestError::new(409, "Another loop is running in this worktree").into()
        }
        WorktreeError::Failed(cause) => {
            let text = format!("Failed to checkout additional repo worktree for {label}: {cause}");
            Refusal::with_same_event(LoopRequestError::new(500, text), code::BRANCH_CREATE_FAILED)
        }
    }
}

/// Removes the worktree of a peer unless it contains unsaved work.
pub(crate) async fn remove_unused(worktrees: &Worktrees, place: &PeerWorkspace) {
    discard(worktrees, place.peer.repository.path.as_path(), &place.prepared.dir).await;
}

/// Removes a worktree that has no changes, and no commits that only a branch of a loop contains. It is
/// retained when git fails.
pub(crate) async fn discard(worktrees: &Worktrees, repository: &Path, dir: &SandboxedPath) {
    let git = &worktrees.git;
    let clean = git.changes(dir.as_path()).await.is_ok_and(|changes| changes.is_empty());
    if !clean || !git.head_is_kept_elsewhere(dir.as_path()).await.unwrap_or(false) {
        tracing::info!(worktree = %dir.as_path().display(), "worktree contains unsaved work; not removed");
        return;
    }
    if let Err(error) = git.worktree_remove(repository, dir.as_path()).await {
        tracing::warn!(%error, "cannot remove an unused worktree");
    }
}

/// Returns a unique short name for each peer: the name without the owner, or that of the directory, with a
/// number if it is taken.
pub(crate) fn short_names(places: &[PeerWorkspace]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(places.len());
    for place in places {
        let base = place.prepared.dir.base_name();
        let own = place.peer.repository.full_name.as_ref().map(RepoFullName::name);
        let own = own.map_or_else(|| base.to_string(), str::to_owned);
        let numbered = (2..).map(|number| format!("{own}-{number}"));
        let mut candidates = std::iter::once(own.clone()).chain(numbered);
        let free = candidates.find(|name| !names.iter().any(|taken| taken.eq_ignore_ascii_case(name)));
        names.push(free.unwrap_or(own));
    }
    names
}
