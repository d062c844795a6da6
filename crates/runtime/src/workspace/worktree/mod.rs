//! The checkout that a loop works in: its name, its branch, whether it is made or found.
//!
//! A plan starts from a fresh checkout; an execution goes on in the one its plan was made in. Work that
//! no remote has is saved before a worktree is removed or its branch begins anew.

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
use loopgate_tools::git::{Git, PreservedState, free_locks, rename_out_of_place, time};
use loopgate_tools::process::{Command, Limits};

use crate::jobs::Jobs;
use crate::jobs::reservations::{Reservation, Reservations};
use crate::workspace::naming::{WorktreeNames, loop_directory};
use crate::workspace::worktree_layout::WorktreeLayout;
use loopgate_tools::environment::ProcessEnvironment;

pub(crate) use repair::deliver_from_branch;
use repair::return_to_branch;

/// How long a repository's own set-up script may take.
const SETUP_TIME: Duration = Duration::from_secs(600);
/// The set-up script of a repository, in its worktrees.
pub(crate) const SETUP_SCRIPT: &str = ".loopgate/loops-setup.sh";
/// What the key of a worktree on no branch begins with.
const REVIEW_PREFIX: &str = "code-review-";
/// Bytes of a file that tells git what to leave out.
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

/// What the branches of loops begin with.
pub(crate) const LOOP_BRANCHES: &str = "orchestrator/";

/// A worktree that is wanted.
#[derive(Debug, Clone)]
pub(crate) struct WorktreeRequest<'a> {
    pub repository: &'a SandboxedPath,
    pub naming: WorktreeNames,
    /// Another branch whose worktree may be continued.
    pub earlier: Option<BranchName>,
    /// The branch to start from.
    pub base: BranchName,
    pub checkout: WorktreeSource,
    /// Whether the repository was asked for what is new a moment ago.
    pub fetched: bool,
}

/// A worktree that is ready.
#[derive(Debug, Clone)]
pub(crate) struct PreparedWorktree {
    pub dir: SandboxedPath,
    /// HEAD before the loop.
    pub start_sha: Option<String>,
    /// The branch that the loop works on; `None` for a visit.
    pub branch: Option<BranchName>,
    /// Whether it was made just now.
    pub made: bool,
    /// What became of earlier work in its place, for the person.
    pub notes: Vec<String>,
}

/// Why there is no worktree.
#[derive(Debug)]
pub(crate) enum WorktreeError {
    /// The sandbox does not allow its place.
    NotAllowed(PathBuf),
    /// This loop works in it.
    Busy(LoopId),
    /// Git could not make, find or remove it.
    Failed(String),
}

impl WorktreeError {
    fn failed(error: &impl ToString) -> Self {
        Self::Failed(redact::cause(&error.to_string()))
    }
}

/// How long a loop waits for the end of the one that has its worktree.
const RELEASE_TIME: Duration = Duration::from_secs(30);

/// Finds, makes and repairs worktrees.
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

    /// Finds or makes a worktree, and reserves it for the loop. Another loop that has it and is over, or
    /// asked to end, is waited for.
    pub async fn prepare(
        &self,
        wanted: &WorktreeRequest<'_>,
        reservation: &Reservation,
    ) -> Result<PreparedWorktree, WorktreeError> {
        prepare(self, wanted, reservation).await
    }

    /// Waits until a loop that is over, or asked to end, has released its worktrees; `false` when it is
    /// neither, or takes too long.
    async fn wait_until_released(&self, id: LoopId) -> bool {
        let job = self.jobs.store.job(id).await.ok().flatten();
        let ends = job.is_some_and(|job| job.status().is_terminal() || job.is_cancelled());
        ends && tokio::time::timeout(RELEASE_TIME, self.reservations.free(id)).await.is_ok()
    }
}

async fn prepare(
    worktrees: &Worktrees,
    wanted: &WorktreeRequest<'_>,
    reservation: &Reservation,
) -> Result<PreparedWorktree, WorktreeError> {
    loop {
        match prepare_once(worktrees, wanted, reservation).await {
            Err(WorktreeError::Busy(owner))
                if reservation.unless_cancelled(worktrees.wait_until_released(owner)).await == Some(true) => {
            }
            result => return result,
        }
    }
}

async fn prepare_once(
    worktrees: &Worktrees,
    wanted: &WorktreeRequest<'_>,
    reservation: &Reservation,
) -> Result<PreparedWorktree, WorktreeError> {
    let fresh = matches!(wanted.checkout, WorktreeSource::Fresh { .. });
    if !fresh && let Some((dir, branch)) = reusable(worktrees, wanted).await? {
        reservation.claim(dir.as_path()).map_err(WorktreeError::Busy)?;
        return Ok(ready(worktrees, dir, Some(branch), false, Vec::new()).await);
    }
    let visit = wanted.checkout == WorktreeSource::Visited;
    let branch = (!visit).then(|| wanted.naming.branch.clone());
    let dir = new_worktree_path(worktrees, wanted, if visit { REVIEW_PREFIX } else { "" })?;
    reservation.claim(dir.as_path()).map_err(WorktreeError::Busy)?;
    let is_worktree = repair::is_worktree_of_loop(worktrees, wanted, &dir).await?;
    if is_worktree {
        free_locks(worktrees.sandbox.clone(), dir.as_path()).await;
    }
    let mut notes = Vec::new();
    if fresh || visit {
        clear(worktrees, wanted, is_worktree.then_some(dir.as_path()), reservation, &mut notes).await?;
    } else if is_worktree {
        match return_to_branch(worktrees, dir.as_path(), &wanted.naming.branch).await {
            Ok(note) => {
                notes.extend(note);
                return Ok(ready(worktrees, dir, branch, false, notes).await);
            }
            Err(error) => repair::is_branch_free(worktrees, wanted, error).await?,
        }
    }
    make(worktrees, wanted, &dir, reservation, &mut notes).await?;
    Ok(ready(worktrees, dir, branch, true, notes).await)
}

async fn ready(
    worktrees: &Worktrees,
    dir: SandboxedPath,
    branch: Option<BranchName>,
    made: bool,
    notes: Vec<String>,
) -> PreparedWorktree {
    if !made {
        free_locks(worktrees.sandbox.clone(), dir.as_path()).await;
    }
    if let Err(error) = worktrees.git.hide_state_dir(dir.as_path()).await {
        tracing::info!(%error, "the loop's own files could not be hidden from git");
    }
    for note in &notes {
        tracing::info!(worktree = %dir.as_path().display(), note, "an earlier state of a worktree");
    }
    let start_sha = worktrees.git.head(dir.as_path()).await.ok();
    PreparedWorktree { dir, start_sha, branch, made, notes }
}

fn new_worktree_path(
    worktrees: &Worktrees,
    wanted: &WorktreeRequest<'_>,
    prefix: &str,
) -> Result<SandboxedPath, WorktreeError> {
    let key = format!("{prefix}{}", wanted.naming.key);
    let name = loop_directory(&wanted.repository.base_name(), &key);
    worktrees.layout.for_new(wanted.repository, &name).map_err(WorktreeError::NotAllowed)
}

/// The worktree whose work is continued, and its branch.
async fn reusable(
    worktrees: &Worktrees,
    wanted: &WorktreeRequest<'_>,
) -> Result<Option<(SandboxedPath, BranchName)>, WorktreeError> {
    let branches = std::iter::once(&wanted.naming.branch).chain(&wanted.earlier);
    for branch in branches {
        let found = worktrees.git.worktree_on(wanted.repository.as_path(), branch).await;
        let found = found.map_err(|error| WorktreeError::failed(&error))?;
        let Some(path) = found.filter(|path| path.is_dir()) else { continue };
        if repair::branch_of_worktree(worktrees, wanted.repository.as_path(), &path).await.is_err() {
            continue;
        }
        let allowed = worktrees.layout.allowed(&path).ok_or(WorktreeError::NotAllowed(path))?;
        return Ok(Some((allowed, branch.clone())));
    }
    Ok(None)
}

/// Removes what an earlier loop left on the branch and at the place of a fresh worktree. What git
/// cannot save is renamed.
async fn clear(
    worktrees: &Worktrees,
    wanted: &WorktreeRequest<'_>,
    at_place: Option<&Path>,
    reservation: &Reservation,
    notes: &mut Vec<String>,
) -> Result<(), WorktreeError> {
    let repository = wanted.repository.as_path();
    let mut stale: Vec<PathBuf> = Vec::new();
    if wanted.checkout != WorktreeSource::Visited {
        let on_branch = worktrees.git.worktree_on(repository, &wanted.naming.branch).await;
        stale.extend(on_branch.map_err(|error| WorktreeError::failed(&error))?);
    }
    stale.extend(at_place.filter(|place| !stale.iter().any(|path| path == place)).map(Path::to_owned));
    for path in stale {
        if worktrees.layout.allowed(&path).is_none() {
            return Err(WorktreeError::NotAllowed(path));
        }
        reservation.claim(&path).map_err(WorktreeError::Busy)?;
        match worktrees.git.worktree_remove(repository, &path).await {
            Ok(saved) => notes.extend(saved.map(|name| saved_note(&name))),
            Err(error) => {
                tracing::info!(%error, "an earlier worktree cannot be removed and is renamed");
                notes.push(renamed_note(&blocking(move || rename_out_of_place(&path)).await?));
            }
        }
    }
    Ok(())
}

async fn make(
    worktrees: &Worktrees,
    wanted: &WorktreeRequest<'_>,
    dir: &SandboxedPath,
    reservation: &Reservation,
    notes: &mut Vec<String>,
) -> Result<(), WorktreeError> {
    let repository = wanted.repository.as_path();
    if !wanted.fetched
        && let Some(Err(error)) = reservation.unless_cancelled(worktrees.git.fetch(repository)).await
    {
        tracing::info!(%error, "the repository could not be fetched; its present state is used");
    }
    let base = &wanted.base;
    let found = worktrees.git.base_ref(repository, base).await;
    let from = found.map_err(|error| WorktreeError::failed(&error))?;
    let from = from.ok_or_else(|| WorktreeError::Failed(format!("branch \"{base}\" does not exist")))?;
    let pushed = open_pull_request(worktrees, wanted).await;
    let mut goes_on = pushed.is_some();
    let mut from = pushed.unwrap_or(from);
    let branch = &wanted.naming.branch;
    if wanted.checkout == WorktreeSource::Continued {
        if has_work(&worktrees.git, repository, branch, &from).await? {
            from = format!("refs/heads/{branch}");
            goes_on = true;
        }
        if goes_on {
            notes.push(format!("The worktree was gone; it is made again from branch {branch}."));
        }
    }
    let preserved = PreservedState::of(dir.as_path());
    let is_left = repair::is_left_by_loop(worktrees, dir.as_path()).await;
    let moved = blocking({
        let preserved = preserved.clone();
        move || if is_left { preserved.preserve_or_rename() } else { preserved.preserve().map(|()| None) }
    });
    notes.extend(moved.await?.map(|place| renamed_note(&place)));
    let added = if wanted.checkout == WorktreeSource::Visited {
        worktrees.git.worktree_add_detached(repository, dir.as_path(), &from).await.map(|()| None)
    } else {
        worktrees.git.worktree_add(repository, dir.as_path(), branch, &from).await
    };
    // Also what a start that was cut off has left there.
    blocking(move || preserved.restore()).await?;
    let saved = added.map_err(|error| WorktreeError::failed(&error))?;
    notes.extend(saved.map(|name| saved_note(&name)));
    let _ = reservation.unless_cancelled(set_up(worktrees, dir.as_path())).await;
    Ok(())
}

/// The branch of `origin` under the open pull request of earlier loops about the same document: a further
/// loop goes on from there, since a branch that starts anew could not be pushed over it.
async fn open_pull_request(worktrees: &Worktrees, wanted: &WorktreeRequest<'_>) -> Option<String> {
    let goes_on = match wanted.checkout {
        WorktreeSource::Fresh { stays, .. } => stays,
        WorktreeSource::Continued => true,
        WorktreeSource::Visited => false,
    };
    let (clone, branch) = (wanted.repository.as_path(), &wanted.naming.branch);
    let tracked = format!("refs/remotes/origin/{branch}");
    if !goes_on || worktrees.git.commit_of(clone, &tracked).await.ok()?.is_none() {
        return None;
    }
    match worktrees.code_host.pr_view(clone, branch).await {
        Ok(open) => open.map(|_| tracked),
        Err(error) => {
            tracing::info!(%branch, %error, "whether a branch has an open pull request is not known");
            None
        }
    }
}

/// Whether a branch has commits that `base` lacks.
async fn has_work(
    git: &Git,
    repository: &Path,
    branch: &BranchName,
    base: &str,
) -> Result<bool, WorktreeError> {
    let found = async {
        let Some(commit) = git.commit_of(repository, &format!("refs/heads/{branch}")).await? else {
            return Ok(false);
        };
        let args = ["rev-list", "-n", "1", &commit, "--not", base];
        Ok(!git.text(repository, &args, time::LOCAL).await?.is_empty())
    };
    found.await.map_err(|error: loopgate_tools::git::GitError| WorktreeError::failed(&error))
}

fn saved_note(name: &str) -> String {
    format!(
        "Earlier work that no remote has was saved; bring it back with: loopgate worktrees restore {name}"
    )
}

fn renamed_note(place: &Path) -> String {
    format!("What lay in the place of the worktree could not be used; it was moved to {}.", place.display())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, WorktreeError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| WorktreeError::failed(&error))?.map_err(|error| WorktreeError::failed(&error))
}

/// Runs the repository's own set-up script, if the person trusts it; whatever it does, the loop goes on.
async fn set_up(worktrees: &Worktrees, dir: &Path) {
    if !dir.join(SETUP_SCRIPT).is_file() {
        return;
    }
    if !worktrees.git.trusts(dir).await {
        tracing::warn!(directory = %dir.display(), "the set-up script of a repository that is not trusted is not run");
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
        Err(error) => tracing::warn!(%error, "the repository's set-up script did not start"),
    }
}

/// Keeps the files of a BOOTSTRAP out of every commit made in a clone.
pub(crate) fn exclude(sandbox: &Sandbox, worktree: &Path) -> std::io::Result<()> {
    let repository = match sandbox.repository(worktree) {
        Err(RepositoryError::None) => return Ok(()),
        found => found.map_err(std::io::Error::other)?,
    };
    let info = repository.handles.common.make_directory(Path::new("info"))?;
    let mut text = match info.read(Path::new("exclude"), MAX_EXCLUDE) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let missing: Vec<&str> =
        EXCLUDED.into_iter().filter(|line| !text.lines().any(|known| known.trim() == *line)).collect();
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
        let written = std::fs::read_to_string(base.join("shop/.git/info/exclude")).unwrap();
        assert!(written.lines().eq(EXCLUDED), "{written}");
        std::fs::create_dir(base.join("other")).unwrap();
        std::fs::write(base.join("other/.git"), format!("gitdir: {}", outside.display())).unwrap();
        exclude(&sandbox, &base.join("other")).unwrap_err();
        std::fs::remove_dir_all(base.join("shop/.git/info")).unwrap();
        std::os::unix::fs::symlink(&outside, base.join("shop/.git/info")).unwrap();
        exclude(&sandbox, &base.join("shop")).unwrap_err();
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    }
}
