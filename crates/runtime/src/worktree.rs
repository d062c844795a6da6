//! The checkout that a loop works in: its name, its branch, whether it is made or found.
//!
//! A plan starts from a fresh checkout; an execution goes on in the one its plan was made in.
//! Commits that only a reset branch had are kept by the git room under a ref of ours.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::command::Checkout;
use loopgate_api::ids::{BranchName, InvalidId, LoopId, slug};
use loopgate_api::redact;
use loopgate_home::{RepositoryError, Sandbox, SandboxedPath};
use loopgate_tools::git::free_locks;
use loopgate_tools::process::{Command, Limits};
use sha2::{Digest as _, Sha256};

use crate::aside::Aside;
use crate::runtime::Runtime;

/// How long a repository's own set-up script may take.
const SETUP_TIME: Duration = Duration::from_secs(600);
const SETUP_SCRIPT: &str = ".loopgate/loops-setup.sh";
/// Characters of a slug that stay when a hash is appended.
const SLUG_KEPT: usize = 43;
/// What the key of a worktree on no branch begins with.
const VISIT: &str = "code-review-";
/// Bytes of a file that tells git what to leave out.
const MAX_EXCLUDE: u64 = 1024 * 1024;
/// What loops leave in a worktree and nobody wants to commit.
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

/// Name of a loop's directory and branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Naming {
    /// What follows `<repository>-loop-`.
    pub key: String,
    /// The branch.
    pub branch: BranchName,
}

impl Naming {
    /// The names of a loop with this slug, or of this loop alone.
    pub fn of(prefix: &str, artifact_slug: Option<&str>, id: LoopId) -> Result<Self, InvalidId> {
        let document = artifact_slug.and_then(Self::of_document);
        let alone = if document.is_none() && prefix.is_empty() { "loop-" } else { "" };
        let key = format!("{prefix}{}", document.unwrap_or_else(|| id.stable()));
        Ok(Self { branch: format!("orchestrator/{alone}{key}").parse()?, key })
    }

    /// The key of a document's own worktree; `None` for a slug that says nothing.
    pub fn of_document(slug: &str) -> Option<String> {
        slug.chars().any(|c| c.is_ascii_alphanumeric()).then(|| distinct_slug(slug))
    }

    /// The names of a repository beside one of this name.
    pub fn of_peer(&self, branch: &BranchName, repository: &Path) -> Result<Self, InvalidId> {
        use sha1::Digest as _;
        let place = hex::encode(sha1::Sha1::digest(repository.as_os_str().as_encoded_bytes()));
        let key = format!("{}-{}-{}", self.key, slug(branch.as_str()), &place[..8]);
        Ok(Self { branch: format!("orchestrator/{key}").parse()?, key })
    }
}

/// The slug of a text; with a short hash when the text lost more than its case on the way, so that
/// two documents never share a worktree.
fn distinct_slug(text: &str) -> String {
    let key = slug(text);
    if key == text.to_lowercase() {
        return key;
    }
    let hash = hex::encode(Sha256::digest(text.as_bytes()));
    let kept: String = key.chars().take(SLUG_KEPT).collect();
    format!("{kept}-{}", &hash[..6])
}

/// A worktree that is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Wanted<'a> {
    pub repository: &'a SandboxedPath,
    pub naming: Naming,
    /// Another branch whose worktree may be continued.
    pub earlier: Option<BranchName>,
    /// The branch to start from.
    pub base: BranchName,
    pub checkout: Checkout,
    /// Whether the repository was asked for what is new a moment ago.
    pub fetched: bool,
}

/// A worktree that is ready.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub dir: SandboxedPath,
    /// HEAD before the loop.
    pub start_sha: Option<String>,
    /// Whether it was made just now.
    pub made: bool,
}

/// Why there is no worktree.
#[derive(Debug)]
pub(crate) enum WorktreeError {
    /// The sandbox does not allow its place.
    NotAllowed(PathBuf),
    /// Another loop works in it.
    Busy,
    /// Git could not make, find or remove it.
    Failed(String),
}

impl WorktreeError {
    fn failed(error: &impl ToString) -> Self {
        Self::Failed(redact::cause(&error.to_string()))
    }
}

/// Finds or makes a worktree. `claim` answers whether the loop may have a directory.
pub(crate) async fn prepare(
    runtime: &Runtime,
    wanted: &Wanted<'_>,
    claim: &impl Fn(&Path) -> bool,
) -> Result<Prepared, WorktreeError> {
    let fresh = matches!(wanted.checkout, Checkout::Fresh { .. });
    if !fresh && let Some(dir) = reusable(runtime, wanted).await? {
        return if claim(dir.as_path()) {
            Ok(ready(runtime, dir, false).await)
        } else {
            Err(WorktreeError::Busy)
        };
    }
    let visit = wanted.checkout == Checkout::Visited;
    let dir = place(runtime, wanted, if visit { VISIT } else { "" })?;
    if !claim(dir.as_path()) {
        return Err(WorktreeError::Busy);
    }
    is_no_tickets(runtime, dir.as_path()).await?;
    if fresh || visit {
        clear(runtime, wanted, &dir, claim).await?;
    } else if dir.as_path().join(".git").exists() {
        return Ok(ready(runtime, dir, false).await);
    }
    make(runtime, wanted, &dir).await?;
    Ok(ready(runtime, dir, true).await)
}

/// A ticket's worktree may be called what this one is called; work of a person is never taken over.
async fn is_no_tickets(runtime: &Runtime, place: &Path) -> Result<(), WorktreeError> {
    if !place.join(".git").exists() {
        return Ok(());
    }
    let branch = runtime.git.current_branch(place).await.map_err(|error| WorktreeError::failed(&error))?;
    match branch.filter(|branch| !branch.starts_with(LOOP_BRANCHES)) {
        Some(branch) => Err(WorktreeError::Failed(format!(
            "a worktree that is no loop's lies in its place, on branch {branch}; move it away"
        ))),
        None => Ok(()),
    }
}

async fn ready(runtime: &Runtime, dir: SandboxedPath, made: bool) -> Prepared {
    if !made {
        free_locks(runtime.sandbox.clone(), dir.as_path()).await;
    }
    let path = dir.as_path().to_owned();
    let sandbox = runtime.sandbox.clone();
    let excluded = tokio::task::spawn_blocking(move || exclude(&sandbox, &path)).await;
    if let Ok(Err(error)) = excluded {
        tracing::info!(%error, "the loop's own files could not be excluded from git");
    }
    let start_sha = runtime.git.head(dir.as_path()).await.ok();
    Prepared { dir, start_sha, made }
}

fn place(runtime: &Runtime, wanted: &Wanted<'_>, prefix: &str) -> Result<SandboxedPath, WorktreeError> {
    let name = format!("{}-loop-{prefix}{}", wanted.repository.base_name(), wanted.naming.key);
    runtime.places.for_new(wanted.repository, &name).map_err(WorktreeError::NotAllowed)
}

/// The worktree whose work is continued.
async fn reusable(runtime: &Runtime, wanted: &Wanted<'_>) -> Result<Option<SandboxedPath>, WorktreeError> {
    let branches = std::iter::once(&wanted.naming.branch).chain(&wanted.earlier);
    for branch in branches {
        let found = runtime.git.worktree_on(wanted.repository.as_path(), branch).await;
        let found = found.map_err(|error| WorktreeError::failed(&error))?;
        let Some(path) = found.filter(|path| path.is_dir()) else { continue };
        return runtime.places.allowed(&path).map(Some).ok_or(WorktreeError::NotAllowed(path));
    }
    Ok(None)
}

/// Removes what an earlier loop left on the branch and at the place of a fresh worktree.
async fn clear(
    runtime: &Runtime,
    wanted: &Wanted<'_>,
    dir: &SandboxedPath,
    claim: &impl Fn(&Path) -> bool,
) -> Result<(), WorktreeError> {
    let repository = wanted.repository.as_path();
    let mut stale: Vec<PathBuf> = Vec::new();
    if wanted.checkout != Checkout::Visited {
        let on_branch = runtime.git.worktree_on(repository, &wanted.naming.branch).await;
        stale.extend(on_branch.map_err(|error| WorktreeError::failed(&error))?);
    }
    if dir.as_path().join(".git").exists() && !stale.iter().any(|path| path == dir.as_path()) {
        stale.push(dir.as_path().to_owned());
    }
    for path in stale {
        if runtime.places.allowed(&path).is_none() {
            return Err(WorktreeError::NotAllowed(path));
        }
        if !claim(&path) {
            return Err(WorktreeError::Busy);
        }
        let removed = runtime.git.worktree_remove(repository, &path).await;
        removed.map_err(|error| WorktreeError::failed(&error))?;
    }
    Ok(())
}

async fn make(runtime: &Runtime, wanted: &Wanted<'_>, dir: &SandboxedPath) -> Result<(), WorktreeError> {
    let repository = wanted.repository.as_path();
    if !wanted.fetched
        && let Err(error) = runtime.git.fetch(repository).await
    {
        tracing::info!(%error, "the repository could not be fetched; its present state is used");
    }
    let base = &wanted.base;
    let found = runtime.git.base_ref(repository, base).await;
    let from = found.map_err(|error| WorktreeError::failed(&error))?;
    let from = from.ok_or_else(|| WorktreeError::Failed(format!("branch \"{base}\" does not exist")))?;
    let from = open_pull_request(runtime, wanted).await.unwrap_or(from);
    let aside = Aside::of(dir.as_path());
    blocking({
        let aside = aside.clone();
        move || aside.move_away()
    })
    .await?;
    let added = if wanted.checkout == Checkout::Visited {
        runtime.git.worktree_add_detached(repository, dir.as_path(), &from).await
    } else {
        let branch = &wanted.naming.branch;
        runtime.git.worktree_add(repository, dir.as_path(), branch, &from).await.map(drop)
    };
    // Also what a start that was cut off has left there.
    blocking(move || aside.move_back()).await?;
    added.map_err(|error| WorktreeError::failed(&error))?;
    set_up(runtime, dir.as_path()).await;
    Ok(())
}

/// The branch of `origin` under the open pull request of earlier loops about the same document: a further
/// loop goes on from there, since a branch that starts anew could not be pushed over it.
async fn open_pull_request(runtime: &Runtime, wanted: &Wanted<'_>) -> Option<String> {
    let goes_on = match wanted.checkout {
        Checkout::Fresh { stays, .. } => stays,
        Checkout::Continued => true,
        Checkout::Visited => false,
    };
    let (clone, branch) = (wanted.repository.as_path(), &wanted.naming.branch);
    let tracked = format!("refs/remotes/origin/{branch}");
    if !goes_on || runtime.git.commit_of(clone, &tracked).await.ok()?.is_none() {
        return None;
    }
    match runtime.code_host.pr_view(clone, branch).await {
        Ok(open) => open.map(|_| tracked),
        Err(error) => {
            tracing::info!(%branch, %error, "whether a branch has an open pull request is not known");
            None
        }
    }
}

async fn blocking(work: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> Result<(), WorktreeError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| WorktreeError::failed(&error))?.map_err(|error| WorktreeError::failed(&error))
}

/// Runs the repository's own set-up script, if the person trusts it; whatever it does, the loop goes on.
async fn set_up(runtime: &Runtime, dir: &Path) {
    if !dir.join(SETUP_SCRIPT).is_file() {
        return;
    }
    if !runtime.git.trusts(dir).await {
        tracing::warn!(directory = %dir.display(), "the set-up script of a repository that is not trusted is not run");
        return;
    }
    let command =
        Command::new("bash").arg(SETUP_SCRIPT).directory(dir).environment(runtime.child_environment().await);
    match command.run_undisturbed(Limits::time(SETUP_TIME)).await {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let said = redact::message(&output.stderr_text());
            tracing::warn!(status = ?output.status, said, "the repository's set-up script failed");
        }
        Err(error) => tracing::warn!(%error, "the repository's set-up script did not start"),
    }
}

/// Keeps a loop's own files out of every commit made in the clone and its worktrees.
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
    use uuid::Uuid;

    use super::*;

    #[test]
    fn names_follow_the_slug_and_never_collide() {
        let id = LoopId(Uuid::nil());
        let of = |slug: &str| Naming::of("", Some(slug), id).unwrap();
        assert_eq!(
            (of("PLAN-5").key.as_str(), of("PLAN-5").branch.as_str()),
            ("plan-5", "orchestrator/plan-5")
        );
        let (one, two) = (of("a b"), of("a_b"));
        assert!(one.key.starts_with("a-b-") && one != two);
        let long = "x".repeat(80);
        assert!(of(&long).key.len() <= 50);
        let alone = Naming::of("", None, id).unwrap();
        assert_eq!(alone.branch.as_str(), "orchestrator/loop-00000000-0000-0000-0000-000000000000");
        assert_eq!(Naming::of("", Some("../"), id).unwrap(), alone);
        let prd = Naming::of("generate-prd-", Some("PRD-2"), id).unwrap();
        assert_eq!(
            (prd.key.as_str(), prd.branch.as_str()),
            ("generate-prd-prd-2", "orchestrator/generate-prd-prd-2")
        );
        let alone = Naming::of("generate-prd-", None, id).unwrap();
        assert_eq!(alone.branch.as_str(), "orchestrator/generate-prd-00000000-0000-0000-0000-000000000000");
    }

    #[test]
    fn a_peers_names_tell_branch_and_place() {
        let own = Naming::of("", Some("PLAN-5"), LoopId(Uuid::nil())).unwrap();
        let branch: BranchName = "feature/X".parse().unwrap();
        let peer = own.of_peer(&branch, Path::new("/code/web")).unwrap();
        assert_eq!(peer.key, "plan-5-feature-x-6dfc2c69");
        assert_eq!(peer.branch.as_str(), "orchestrator/plan-5-feature-x-6dfc2c69");
        assert_ne!(peer, own.of_peer(&branch, Path::new("/code/other/web")).unwrap());
    }

    #[test]
    fn only_the_repository_itself_is_told_what_to_exclude() {
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
