//! Peer repositories: which clones they are, and a worktree of each.
//!
//! They are fetched concurrently; errors are reported in the order of the
//! request, and always by name.

use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use loopgate_api::command::WorktreeSource;
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
use crate::workspace::worktree::{PreparedWorktree, WorktreeError, WorktreeRequest, Worktrees};

/// Most peer repositories.
const MAX_PEERS: usize = 5;

/// A peer repository.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// Its clone.
    pub repository: LoopRepository,
    /// The branch to start from.
    pub branch: BranchName,
    /// What the request calls it.
    label: String,
}

/// A peer repository, with a worktree.
#[derive(Debug, Clone)]
pub(crate) struct PeerWorkspace {
    pub peer: Peer,
    pub prepared: PreparedWorktree,
}

fn refuse(code: &'static str, text: String) -> Refusal {
    Refusal::with_same_event(LoopRequestError::bad_request(text), code)
}

/// The clones that a request names in addition to `primary`.
pub(crate) async fn resolve(
    repositories: &Repositories,
    request: &LoopRequest,
    primary: Option<&LoopRepository>,
) -> Result<Vec<Peer>, Refusal> {
    let given = request.additional_repos.len();
    if given > MAX_PEERS {
        let text = format!("additionalRepos exceeds maximum of {MAX_PEERS} entries (got {given})");
        return Err(refuse(code::PRE_RUN_VALIDATION_FAILED, text));
    }
    let found = join_all(request.additional_repos.iter().map(|peer| find(repositories, peer))).await;
    let mut peers = Vec::with_capacity(given);
    for peer in found {
        let peer = peer?;
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

async fn find(repositories: &Repositories, given: &PeerRef) -> Result<Peer, Refusal> {
    let filled = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (name, path) = (filled(&given.full_name), filled(&given.local_repo_path));
    let Some(label) = name.clone().or_else(|| path.clone()) else {
        let text = "Additional repo entry must have localRepoPath or fullName".to_owned();
        return Err(refuse(code::REPO_NOT_FOUND, text));
    };
    let missing = || refuse(code::REPO_NOT_FOUND, format!("Additional repo not found locally: {label}"));
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
    let (looked, sandbox) = (allowed.as_path().to_owned(), repositories.sandbox.clone());
    let seen = tokio::task::spawn_blocking(move || (looked.is_dir(), sandbox.origin_of(&looked))).await;
    let (exists, origin) = seen.unwrap_or_default();
    if !exists {
        return Err(missing());
    }
    let branch = match given.branch.trim() {
        "" => repositories.git.usual_base(allowed.as_path()).await.ok().flatten().unwrap_or_default(),
        named => named.to_owned(),
    };
    let unknown = || format!("Branch \"{branch}\" not found in additional repo: {label}");
    let branch = branch.parse().map_err(|_| refuse(code::PRE_RUN_VALIDATION_FAILED, unknown()))?;
    if let Err(error) = repositories.git.fetch(allowed.as_path()).await {
        tracing::info!(%error, "a repository could not be fetched; its present state is used");
    }
    Ok(Peer { repository: LoopRepository { path: allowed, full_name: full_name.or(origin) }, branch, label })
}

fn no_duplicates(primary: Option<&LoopRepository>, peers: &[Peer]) -> Result<(), Refusal> {
    let all: Vec<&LoopRepository> =
        primary.into_iter().chain(peers.iter().map(|peer| &peer.repository)).collect();
    for (index, one) in all.iter().enumerate() {
        for other in &all[..index] {
            let text = match (&one.full_name, &other.full_name) {
                (Some(name), Some(known)) if name.same_as(known) => {
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

/// A worktree of each repository. When one cannot be had, those that were made just now go again.
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
                tracing::info!(loop_id = %request.loop_id, ?error, "a peer repository has no worktree");
                for place in &places {
                    leave(worktrees, place).await;
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
    let wanted = WorktreeRequest {
        repository,
        naming,
        earlier: None,
        base: peer.branch.clone(),
        checkout,
        fetched: true,
    };
    worktrees.prepare(&wanted, reservation).await
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

/// Removes a worktree of a peer when nothing in it is worth keeping.
pub(crate) async fn leave(worktrees: &Worktrees, place: &PeerWorkspace) {
    discard(worktrees, place.peer.repository.path.as_path(), &place.prepared.dir).await;
}

/// Removes a worktree when it has neither changes nor commits that only a loop's branch has; when
/// git cannot tell, it stays.
pub(crate) async fn discard(worktrees: &Worktrees, repository: &Path, dir: &SandboxedPath) {
    let git = &worktrees.git;
    let clean = git.changes(dir.as_path()).await.is_ok_and(|changes| changes.is_empty());
    if !clean || !git.head_is_kept_elsewhere(dir.as_path()).await.unwrap_or(false) {
        tracing::info!(worktree = %dir.as_path().display(), "a worktree has work of its own; it stays");
        return;
    }
    if let Err(error) = git.worktree_remove(repository, dir.as_path()).await {
        tracing::warn!(%error, "a worktree that is not needed any more could not be removed");
    }
}

/// Short names, each its own: the part after `/` of the full name, else the directory's.
pub(crate) fn short_names(places: &[PeerWorkspace]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(places.len());
    for place in places {
        let base = place.prepared.dir.base_name();
        let own = place.peer.repository.full_name.as_ref().map(RepoFullName::name);
        let own = own.map_or_else(|| base.to_string(), str::to_owned);
        let numbered = (2..).map(|number| format!("{own}-{number}"));
        let mut candidates = std::iter::once(own.clone()).chain(numbered);
        let free = candidates.find(|name| !names.contains(name));
        names.push(free.unwrap_or(own));
    }
    names
}
