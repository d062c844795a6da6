//! The worktree of a loop: its path, its branch, and whether it is created or reused.
//!
//! A PLAN starts in a fresh checkout; an EXECUTE continues in that of its plan. Unpushed work is saved before
//! a worktree is removed or its branch is reset.

mod completion;
mod repair;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::command::WorktreeSource;
use loopgate_api::ids::{BranchName, LoopId};
use loopgate_api::redact;
use loopgate_home::{RepositoryError, Sandbox, SandboxedPath};
use loopgate_tools::code_host::CodeHost;
use loopgate_tools::git::{
    Git, GitError, PreservedState, RemoveWorktreeError, remove_stale_locks, rename_aside, time,
};
use loopgate_tools::process::{Command, Limits};

use crate::jobs::reservations::{Reservation, Reservations};
use crate::jobs::{Jobs, StartState};
use crate::workspace::naming::{WorktreeNames, loop_directory};
use crate::workspace::worktree_layout::WorktreeLayout;
use loopgate_tools::environment::ProcessEnvironment;

pub(crate) use completion::complete;
pub(crate) use repair::deliver_from_branch;
use repair::return_to_branch;

/// Timeout of a repository's set-up script, which may install dependencies.
const SETUP_TIME: Duration = Duration::from_secs(600);
/// Set-up script of a repository, relative to the worktree.
pub(crate) const SETUP_SCRIPT: &str = ".loopgate/loops-setup.sh";
/// Key prefix of worktrees with a detached HEAD.
const REVIEW_PREFIX: &str = "code-review-";
/// Size limit of git's exclude file in bytes.
const MAX_EXCLUDE: u64 = 1024 * 1024;
/// Files of BOOTSTRAP in a clone that are excluded from commits.
const EXCLUDED: [&str; 7] = [
    "/.loopgate/work/",
    "/.loopgate/context/",
    "/.loopgate/settings/",
    "/.loopgate/code-review/",
    "/.loopgate/bootstrap/",
    "/.loopgate/bootstrap-metadata.json",
    "/.loopgate/*.local.md",
];

/// Parameters of a worktree.
#[derive(Debug, Clone)]
pub(crate) struct WorktreeRequest<'a> {
    pub repository: &'a SandboxedPath,
    pub naming: WorktreeNames,
    /// Another branch whose worktree may be reused.
    pub earlier: Option<BranchName>,
    /// Branch from which the loop's branch starts.
    pub base: BranchName,
    pub checkout: WorktreeSource,
    /// Whether the base branch was just fetched.
    pub base_fetched: bool,
}

/// A worktree that is ready for a loop.
#[derive(Debug, Clone)]
pub(crate) struct PreparedWorktree {
    pub dir: SandboxedPath,
    /// HEAD before the loop started.
    pub start_sha: Option<String>,
    /// Further state before the loop started.
    pub start: StartState,
    /// Branch on which the loop works; `None` with a detached HEAD.
    pub branch: Option<BranchName>,
    /// Whether the worktree was created for this request.
    pub created: bool,
    /// Messages for the user about earlier work at this path.
    pub notes: Vec<String>,
    /// What the worktree lacks, for the user and the assistant.
    pub gaps: Vec<String>,
}

/// Error of preparing a worktree.
#[derive(Debug)]
pub(crate) enum WorktreeError {
    /// The path is outside the sandbox.
    NotAllowed(PathBuf),
    /// Another loop works in the worktree.
    Busy(LoopId),
    /// Git or the file system reported an error.
    Failed(String),
}

impl WorktreeError {
    fn failed(error: &impl ToString) -> Self {
        Self::Failed(redact::cause(&error.to_string()))
    }
}

/// Timeout for a loop that is ending to release its worktree.
const RELEASE_TIME: Duration = Duration::from_secs(30);

/// Finds, creates and repairs worktrees.
#[derive(Clone)]
pub(crate) struct Worktrees {
    pub git: Git,
    pub layout: WorktreeLayout,
    pub jobs: Jobs,
    code_host: CodeHost,
    sandbox: Arc<Sandbox>,
    reservations: Reservations,
    environment: ProcessEnvironment,
}

impl Worktrees {
    pub const fn new(
        jobs: Jobs,
        git: Git,
        code_host: CodeHost,
        layout: WorktreeLayout,
        sandbox: Arc<Sandbox>,
        reservations: Reservations,
        environment: ProcessEnvironment,
    ) -> Self {
        Self { git, layout, jobs, code_host, sandbox, reservations, environment }
    }

    /// Reuses or creates a worktree and reserves it for the loop. Waits for another loop that occupies it, if
    /// that loop has ended or is cancelled.
    pub async fn prepare(
        &self,
        request: &WorktreeRequest<'_>,
        reservation: &Reservation,
    ) -> Result<PreparedWorktree, WorktreeError> {
        let mut request = request.clone();
        let clone = request.repository.as_path();
        if let Some(taken) = self.conflicting_branch(clone, &request.naming.branch).await? {
            let outside = request.naming.clone().outside_namespace();
            let outside = outside.map_err(|error| WorktreeError::Failed(error.to_string()))?;
            if let Some(other) = self.conflicting_branch(clone, &outside.branch).await? {
                return Err(WorktreeError::Failed(format!(
                    "git can create neither {}, because of branch {taken}, nor {}, because of branch {other}; rename or \
                     delete one of these branches",
                    request.naming.branch, outside.branch
                )));
            }
            request.naming = outside;
        }
        prepare(self, &request, reservation).await
    }

    async fn conflicting_branch(
        &self,
        clone: &Path,
        branch: &BranchName,
    ) -> Result<Option<String>, WorktreeError> {
        let conflicting = self.git.conflicting_branch(clone, branch).await;
        conflicting.map_err(|error| WorktreeError::failed(&error))
    }

    /// Waits until an ended or cancelled loop has released its worktrees. Returns false when the loop is
    /// still active or the wait times out.
    async fn wait_until_released(&self, id: LoopId) -> bool {
        let job = self.jobs.store.job(id).await.ok().flatten();
        let ends = job.is_some_and(|job| job.status().is_terminal() || job.is_cancelled());
        ends && tokio::time::timeout(RELEASE_TIME, self.reservations.free(id)).await.is_ok()
    }
}

async fn prepare(
    worktrees: &Worktrees,
    request: &WorktreeRequest<'_>,
    reservation: &Reservation,
) -> Result<PreparedWorktree, WorktreeError> {
    loop {
        // Repeated after a wait, because a third loop may claim the worktree first.
        match prepare_once(worktrees, request, reservation).await {
            Err(WorktreeError::Busy(owner))
                if reservation.unless_cancelled(worktrees.wait_until_released(owner)).await == Some(true) => {
            }
            result => return result,
        }
    }
}

async fn prepare_once(
    worktrees: &Worktrees,
    request: &WorktreeRequest<'_>,
    reservation: &Reservation,
) -> Result<PreparedWorktree, WorktreeError> {
    let fresh = matches!(request.checkout, WorktreeSource::Fresh { .. });
    if !fresh && let Some((dir, branch)) = reusable(worktrees, request).await? {
        reservation.claim(dir.as_path()).map_err(WorktreeError::Busy)?;
        return Ok(ready(worktrees, dir, Some(branch), None, Vec::new()).await);
    }
    let visit = request.checkout == WorktreeSource::ExistingOrDetached;
    let branch = (!visit).then(|| request.naming.branch.clone());
    let dir = new_worktree_path(worktrees, request, if visit { REVIEW_PREFIX } else { "" })?;
    reservation.claim(dir.as_path()).map_err(WorktreeError::Busy)?;
    let is_worktree = repair::is_worktree_of_loop(worktrees, request, &dir).await?;
    if is_worktree {
        // Killed git processes leave lock files, which make every later git command fail.
        remove_stale_locks(worktrees.sandbox.clone(), dir.as_path()).await;
    }
    let mut notes = Vec::new();
    if fresh || visit {
        clear(worktrees, request, is_worktree.then_some(dir.as_path()), reservation, &mut notes).await?;
    } else if is_worktree {
        match return_to_branch(worktrees, dir.as_path(), &request.naming.branch).await {
            Ok(note) => {
                notes.extend(note);
                return Ok(ready(worktrees, dir, branch, None, notes).await);
            }
            Err(error) => repair::check_branch_free(worktrees, request, error).await?,
        }
    }
    create(worktrees, request, &dir, reservation, &mut notes).await?;
    Ok(ready(worktrees, dir, branch, Some(reservation), notes).await)
}

/// Completes a worktree. For one that was created now, runs the set-up script of the repository until the reservation is
/// cancelled.
async fn ready(
    worktrees: &Worktrees,
    dir: SandboxedPath,
    branch: Option<BranchName>,
    created: Option<&Reservation>,
    notes: Vec<String>,
) -> PreparedWorktree {
    if created.is_none() {
        remove_stale_locks(worktrees.sandbox.clone(), dir.as_path()).await;
    }
    if let Err(error) = worktrees.git.hide_state_dir(dir.as_path()).await {
        tracing::info!(%error, "cannot hide the state directory from git");
    }
    let gaps = complete(&worktrees.git, dir.as_path()).await;
    if let Some(reservation) = created {
        // A cancellation only ends the script; the launch checks for it before the process starts.
        let _ = reservation.unless_cancelled(set_up(worktrees, dir.as_path())).await;
    }
    for note in &notes {
        tracing::info!(worktree = %dir.as_path().display(), note, "earlier work at the path of a worktree");
    }
    let start_sha = worktrees.git.head(dir.as_path()).await.ok();
    let start = StartState {
        head_moves: worktrees.git.head_moves(dir.as_path()).await.map_or(0, |moves| moves.len()),
        has_unpushed_commits: worktrees.git.has_unpushed_commits(dir.as_path()).await.unwrap_or(true),
    };
    PreparedWorktree { dir, start_sha, start, branch, created: created.is_some(), notes, gaps }
}

fn new_worktree_path(
    worktrees: &Worktrees,
    request: &WorktreeRequest<'_>,
    prefix: &str,
) -> Result<SandboxedPath, WorktreeError> {
    let key = format!("{prefix}{}", request.naming.key);
    let name = loop_directory(&request.repository.base_name(), &key);
    worktrees.layout.for_new(request.repository, &name).map_err(WorktreeError::NotAllowed)
}

/// Returns the existing worktree whose work is continued, and its branch.
async fn reusable(
    worktrees: &Worktrees,
    request: &WorktreeRequest<'_>,
) -> Result<Option<(SandboxedPath, BranchName)>, WorktreeError> {
    let branches = std::iter::once(&request.naming.branch).chain(&request.earlier);
    for branch in branches {
        let on_branch = worktrees.git.worktree_on(request.repository.as_path(), branch).await;
        let on_branch = on_branch.map_err(|error| WorktreeError::failed(&error))?;
        // Git lists a worktree whose directory was deleted until it is pruned.
        let Some(path) = on_branch.filter(|path| path.is_dir()) else { continue };
        if repair::branch_of_worktree(worktrees, request.repository.as_path(), &path).await.is_err() {
            continue;
        }
        let allowed = worktrees.layout.allowed(&path).ok_or(WorktreeError::NotAllowed(path))?;
        return Ok(Some((allowed, branch.clone())));
    }
    Ok(None)
}

/// Removes what an earlier loop left on the branch and at the path of a fresh worktree. A worktree that git
/// cannot remove is renamed.
async fn clear(
    worktrees: &Worktrees,
    request: &WorktreeRequest<'_>,
    existing: Option<&Path>,
    reservation: &Reservation,
    notes: &mut Vec<String>,
) -> Result<(), WorktreeError> {
    let repository = request.repository.as_path();
    let mut stale: Vec<PathBuf> = Vec::new();
    if request.checkout != WorktreeSource::ExistingOrDetached {
        let on_branch = worktrees.git.worktree_on(repository, &request.naming.branch).await;
        stale.extend(on_branch.map_err(|error| WorktreeError::failed(&error))?);
    }
    stale.extend(existing.filter(|place| !stale.iter().any(|path| path == place)).map(Path::to_owned));
    for path in stale {
        if worktrees.layout.allowed(&path).is_none() {
            return Err(WorktreeError::NotAllowed(path));
        }
        reservation.claim(&path).map_err(WorktreeError::Busy)?;
        match worktrees.git.worktree_remove(repository, &path).await {
            Ok(saved) => notes.extend(saved.iter().map(|name| saved_note(name))),
            // The repository of the submodule is part of git's records of the worktree, which a renamed one loses.
            Err(RemoveWorktreeError::Unsaved(error @ GitError::SubmoduleWork(_))) => {
                return Err(WorktreeError::Failed(format!(
                    "the earlier worktree {path} cannot be removed, because {error}. Commit and push them there, or discard \
                     them with: git worktree remove --force {path}",
                    path = path.display()
                )));
            }
            Err(error) => {
                tracing::info!(%error, "cannot remove an earlier worktree; renaming it");
                notes.push(renamed_note(&blocking(move || rename_aside(&path)).await?));
            }
        }
    }
    Ok(())
}

async fn create(
    worktrees: &Worktrees,
    request: &WorktreeRequest<'_>,
    dir: &SandboxedPath,
    reservation: &Reservation,
    notes: &mut Vec<String>,
) -> Result<(), WorktreeError> {
    let repository = request.repository.as_path();
    let base = &request.base;
    let mut is_reachable = Ok(true);
    if !request.base_fetched {
        let fetch = fetch_base(&worktrees.git, repository, base, request.checkout);
        is_reachable = reservation.unless_cancelled(fetch).await.unwrap_or(Ok(false));
    }
    let base_ref = worktrees.git.base_ref(repository, base).await;
    let from = base_ref.map_err(|error| WorktreeError::failed(&error))?;
    let from = from.ok_or_else(|| WorktreeError::Failed(format!("branch \"{base}\" does not exist")))?;
    if is_reachable.map_err(WorktreeError::Failed)? {
        let _ = reservation.unless_cancelled(fetch_own_branch(worktrees, request)).await;
    }
    let pushed = open_pull_request(worktrees, request).await;
    let mut continues = pushed.is_some();
    let mut from = pushed.unwrap_or(from);
    let branch = &request.naming.branch;
    if request.checkout == WorktreeSource::Continued {
        if has_work(&worktrees.git, repository, branch, &from).await? {
            from = format!("refs/heads/{branch}");
            continues = true;
        }
        if continues {
            notes.push(format!("The worktree was missing; it was recreated from branch {branch}."));
        }
    }
    // The state directory at the path survives the checkout: it is moved aside here and restored below.
    let preserved = PreservedState::of(dir.as_path());
    let is_left = repair::is_left_by_loop(worktrees, dir.as_path()).await;
    let moved = blocking({
        let preserved = preserved.clone();
        move || if is_left { preserved.preserve_or_rename() } else { preserved.preserve().map(|()| None) }
    });
    notes.extend(moved.await?.map(|place| renamed_note(&place)));
    let added = if request.checkout == WorktreeSource::ExistingOrDetached {
        worktrees.git.worktree_add_detached(repository, dir.as_path(), &from).await.map(|()| None)
    } else {
        worktrees.git.worktree_add(repository, dir.as_path(), branch, &from).await
    };
    // Also restores the state that an interrupted launch had moved aside.
    blocking(move || preserved.restore()).await?;
    let saved = added.map_err(|error| WorktreeError::failed(&error))?;
    notes.extend(saved.map(|name| saved_note(&name)));
    Ok(())
}

/// Fetches the base branch of the work, and no other branches: a repository may have thousands. If it cannot be fetched,
/// the clone is used in its current state. Returns whether the remote gave an answer.
///
/// # Errors
/// Fails with a reason for the user when the remote does not have the branch, and work is to be delivered to it: the
/// pull request could not be opened.
pub(crate) async fn fetch_base(
    git: &Git,
    clone: &Path,
    base: &BranchName,
    checkout: WorktreeSource,
) -> Result<bool, String> {
    let fetch = async {
        let is_at_remote = git.fetch_base(clone, base).await?;
        if !is_at_remote && checkout.is_delivered() {
            return Ok(Some(git.remotes(clone).await?.base_name().to_owned()));
        }
        Ok(None)
    };
    match fetch.await {
        Ok(None) => Ok(true),
        Ok(Some(remote)) => {
            let text = "push it first, or choose a branch that exists there";
            Err(format!("branch \"{base}\" is not at {remote}; {text}"))
        }
        Err(error) => {
            let error: GitError = error;
            tracing::info!(%error, "cannot fetch the base branch; using the clone in its current state");
            Ok(false)
        }
    }
}

/// Fetches the branch of a delivered loop, which earlier loops for the same document may have pushed.
async fn fetch_own_branch(worktrees: &Worktrees, request: &WorktreeRequest<'_>) {
    if !request.checkout.is_delivered() {
        return;
    }
    let branch = &request.naming.branch;
    if let Err(error) = worktrees.git.fetch_pushed(request.repository.as_path(), branch).await {
        tracing::info!(%error, %branch, "cannot fetch the branch of the loop; using the clone in its current state");
    }
}

/// Returns the remote-tracking branch of an open pull request that earlier loops created for the same
/// document. A further loop continues from it: a branch with a new start could not be pushed without force.
async fn open_pull_request(worktrees: &Worktrees, request: &WorktreeRequest<'_>) -> Option<String> {
    let continues = request.checkout.is_delivered();
    let (clone, branch) = (request.repository.as_path(), &request.naming.branch);
    let tracked = worktrees.git.remotes(clone).await.ok()?.pushed_ref(branch.as_str());
    if !continues || worktrees.git.commit_of(clone, &tracked).await.ok()?.is_none() {
        return None;
    }
    match worktrees.code_host.pr_view(clone, branch).await {
        Ok(open) => open.map(|_| tracked),
        Err(error) => {
            tracing::info!(%branch, %error, "cannot determine whether the branch has an open pull request");
            None
        }
    }
}

/// Returns whether a branch has commits that `base` lacks.
async fn has_work(
    git: &Git,
    repository: &Path,
    branch: &BranchName,
    base: &str,
) -> Result<bool, WorktreeError> {
    let check = async {
        let Some(commit) = git.commit_of(repository, &format!("refs/heads/{branch}")).await? else {
            return Ok(false);
        };
        let args = ["rev-list", "-n", "1", &commit, "--not", base];
        Ok(!git.text(repository, &args, time::LOCAL).await?.is_empty())
    };
    check.await.map_err(|error: GitError| WorktreeError::failed(&error))
}

fn saved_note(name: &str) -> String {
    format!("Earlier unpushed work was saved; restore it with: loopgate worktrees restore {name}")
}

fn renamed_note(place: &Path) -> String {
    format!(
        "The directory at the path of the worktree could not be used; it was moved to {}.",
        place.display()
    )
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, WorktreeError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|error| WorktreeError::failed(&error))?.map_err(|error| WorktreeError::failed(&error))
}

/// Runs the set-up script of a repository that the user trusts. A failure does not stop the loop.
async fn set_up(worktrees: &Worktrees, dir: &Path) {
    if !dir.join(SETUP_SCRIPT).is_file() {
        return;
    }
    if !worktrees.git.trusts(dir).await {
        tracing::warn!(directory = %dir.display(), "set-up script not run: the repository is not trusted");
        return;
    }
    let command = Command::new("bash")
        .arg(SETUP_SCRIPT)
        .directory(dir)
        .environment(worktrees.environment.inherited().await);
    match command.run(Limits::time(SETUP_TIME)).await {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let stderr = redact::message(&output.stderr_text());
            tracing::warn!(status = ?output.status, stderr, "the repository's set-up script failed");
        }
        Err(error) => tracing::warn!(%error, "cannot start the repository's set-up script"),
    }
}

/// Excludes the files of a BOOTSTRAP from commits in a clone.
pub(crate) fn exclude(sandbox: &Sandbox, worktree: &Path) -> std::io::Result<()> {
    let repository = match sandbox.repository(worktree) {
        Err(RepositoryError::None) => return Ok(()),
        found => found.map_err(std::io::Error::other)?,
    };
    let info = repository.handles.common_dir.create_directory(Path::new("info"))?;
    let mut text = match info.read(Path::new("exclude"), MAX_EXCLUDE) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let missing: Vec<&str> =
        EXCLUDED.into_iter().filter(|line| !text.lines().any(|existing| existing.trim() == *line)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in missing {
        text.push_str(line);
        text.push('\n');
    }
    info.replace_public(OsStr::new("exclude"), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excludes_are_written_only_inside_the_sandbox() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap().join("box");
        let overrides =
            loopgate_home::Overrides { sandbox_base_directory: Some(base.clone()), ..Default::default() };
        let settings = loopgate_home::SettingsStore::open(&dir.path().join("s.toml"), overrides).unwrap();
        let sandbox = Sandbox::new(std::sync::Arc::new(settings), Path::new("/nonexistent-data"));
        let outside = dir.path().join("outside");
        for place in [&base.join("shop/.git"), &outside] {
            std::fs::create_dir_all(place.join("objects")).unwrap();
        }
        exclude(&sandbox, &base.join("shop")).unwrap();
        let excluded = std::fs::read_to_string(base.join("shop/.git/info/exclude")).unwrap();
        assert!(excluded.lines().eq(EXCLUDED), "{excluded}");
        std::fs::create_dir(base.join("other")).unwrap();
        std::fs::write(base.join("other/.git"), format!("gitdir: {}", outside.display())).unwrap();
        exclude(&sandbox, &base.join("other")).unwrap_err();
        std::fs::remove_dir_all(base.join("shop/.git/info")).unwrap();
        std::os::unix::fs::symlink(&outside, base.join("shop/.git/info")).unwrap();
        exclude(&sandbox, &base.join("shop")).unwrap_err();
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    }
}
