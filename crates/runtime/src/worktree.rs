//! The checkout that a loop works in: its name, its branch, whether it is made or found.
//!
//! A plan starts from a fresh checkout; an execution goes on in the one its plan was made in.
//! Commits that only a reset branch had are kept by the git room under a ref of ours.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::command::LoopCommand;
use loopgate_api::event::code;
use loopgate_api::ids::{BranchName, LoopId, slug};
use loopgate_api::redact;
use loopgate_home::SandboxedPath;
use loopgate_tools::process::{Command, Limits};
use sha2::{Digest as _, Sha256};

use crate::error::LoopError;
use crate::refusal::Refusal;
use crate::request::LoopRequest;
use crate::runtime::Runtime;

/// How long a repository's own set-up script may take.
const SETUP_TIME: Duration = Duration::from_secs(600);
const SETUP_SCRIPT: &str = ".loopgate/loops-setup.sh";
/// Characters of a slug that stay when a hash is appended.
const SLUG_KEPT: usize = 43;
/// What loops leave in a worktree and nobody wants to commit.
const EXCLUDED: [&str; 4] =
    ["/.loopgate/work/", "/.loopgate/context/", "/.loopgate/settings/", "/.loopgate/*.local.md"];

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
    pub fn of(artifact_slug: Option<&str>, id: LoopId) -> Result<Self, loopgate_api::ids::InvalidId> {
        let meaningful = artifact_slug.filter(|text| text.chars().any(|c| c.is_ascii_alphanumeric()));
        match meaningful.map(distinct_slug) {
            Some(key) => Ok(Self { branch: format!("orchestrator/{key}").parse()?, key }),
            None => {
                let key = id.stable();
                Ok(Self { branch: format!("orchestrator/loop-{key}").parse()?, key })
            }
        }
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

/// A worktree that is ready.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub dir: SandboxedPath,
    /// HEAD before the loop.
    pub start_sha: Option<String>,
}

/// Finds or makes the worktree of a request. `claim` answers whether the loop may have a directory.
pub(crate) async fn prepare(
    runtime: &Runtime,
    request: &LoopRequest,
    repository: &SandboxedPath,
    claim: impl Fn(&Path) -> bool,
) -> Result<Prepared, Refusal> {
    let naming = Naming::of(request.artifact_slug.as_deref(), request.loop_id)
        .map_err(|error| failed(request.command, &error.to_string()))?;
    let busy = || Refusal::from(LoopError::new(409, "Another loop is running in this worktree"));
    if let Some(dir) = reusable(runtime, request, repository, &naming).await? {
        return if claim(dir.as_path()) { Ok(ready(runtime, dir).await) } else { Err(busy()) };
    }
    let dir = place(runtime, repository, &naming)?;
    if !claim(dir.as_path()) {
        return Err(busy());
    }
    if request.command == LoopCommand::Plan {
        clear(runtime, request, repository, &naming, &dir, &claim).await?;
    } else if dir.as_path().join(".git").exists() {
        return Ok(ready(runtime, dir).await);
    }
    make(runtime, request, repository, &naming, &dir).await?;
    Ok(ready(runtime, dir).await)
}

async fn ready(runtime: &Runtime, dir: SandboxedPath) -> Prepared {
    let path = dir.as_path().to_owned();
    let excluded = tokio::task::spawn_blocking(move || exclude(&path)).await;
    if let Ok(Err(error)) = excluded {
        tracing::info!(%error, "the loop's own files could not be excluded from git");
    }
    let start_sha = runtime.git.head(dir.as_path()).await.ok();
    Prepared { dir, start_sha }
}

fn place(runtime: &Runtime, repository: &SandboxedPath, naming: &Naming) -> Result<SandboxedPath, Refusal> {
    let name = format!("{}-loop-{}", repository.base_name(), naming.key);
    runtime.places.for_new(repository, &name).map_err(|path| {
        Refusal::from(LoopError::new(403, format!("Worktree path not allowed: {}", path.display())))
    })
}

/// The worktree whose work an execution continues.
async fn reusable(
    runtime: &Runtime,
    request: &LoopRequest,
    repository: &SandboxedPath,
    naming: &Naming,
) -> Result<Option<SandboxedPath>, Refusal> {
    if request.command == LoopCommand::Plan {
        return Ok(None);
    }
    let parent = request.parent_loop_id.as_deref().map(|id| format!("orchestrator/loop-{}", slug(id)));
    let parent = parent.and_then(|branch| branch.parse::<BranchName>().ok());
    for branch in [Some(naming.branch.clone()), parent].into_iter().flatten() {
        let found = runtime.git.worktree_on(repository.as_path(), &branch).await;
        let found = found.map_err(|error| failed(request.command, &error.to_string()))?;
        let Some(path) = found.filter(|path| path.is_dir()) else { continue };
        let allowed = runtime.places.allowed(&path).ok_or_else(|| {
            Refusal::from(LoopError::new(403, format!("Worktree path not allowed: {}", path.display())))
        })?;
        return Ok(Some(allowed));
    }
    Ok(None)
}

/// Removes what an earlier loop left on the branch and at the place of a plan.
async fn clear(
    runtime: &Runtime,
    request: &LoopRequest,
    repository: &SandboxedPath,
    naming: &Naming,
    dir: &SandboxedPath,
    claim: impl Fn(&Path) -> bool,
) -> Result<(), Refusal> {
    let on_branch = runtime.git.worktree_on(repository.as_path(), &naming.branch).await;
    let on_branch = on_branch.map_err(|error| failed(request.command, &error.to_string()))?;
    let mut stale: Vec<PathBuf> = on_branch.into_iter().collect();
    if dir.as_path().join(".git").exists() && !stale.iter().any(|path| path == dir.as_path()) {
        stale.push(dir.as_path().to_owned());
    }
    for path in stale {
        if runtime.places.allowed(&path).is_none() {
            let text = format!("Worktree path not allowed: {}", path.display());
            return Err(LoopError::new(403, text).into());
        }
        if !claim(&path) {
            return Err(LoopError::new(409, "Another loop is running in this worktree").into());
        }
        let removed = runtime.git.worktree_remove(repository.as_path(), &path).await;
        removed.map_err(|error| failed(request.command, &error.to_string()))?;
    }
    Ok(())
}

async fn make(
    runtime: &Runtime,
    request: &LoopRequest,
    repository: &SandboxedPath,
    naming: &Naming,
    dir: &SandboxedPath,
) -> Result<(), Refusal> {
    let refuse = |text: String| failed(request.command, &text);
    if let Err(error) = runtime.git.fetch(repository.as_path()).await {
        tracing::info!(%error, "the repository could not be fetched; its present state is used");
    }
    let base: BranchName = request.base_branch().parse().map_err(|error| refuse(format!("{error}")))?;
    let found = runtime.git.base_ref(repository.as_path(), &base).await.map_err(|e| refuse(e.to_string()))?;
    let from = found.ok_or_else(|| refuse(format!("branch \"{base}\" does not exist")))?;
    let added = runtime.git.worktree_add(repository.as_path(), dir.as_path(), &naming.branch, &from).await;
    added.map_err(|error| refuse(error.to_string()))?;
    set_up(runtime, dir.as_path()).await;
    Ok(())
}

/// Runs the repository's own set-up script; whatever it does, the loop goes on.
async fn set_up(runtime: &Runtime, dir: &Path) {
    if !dir.join(SETUP_SCRIPT).is_file() {
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
fn exclude(worktree: &Path) -> std::io::Result<()> {
    let Some(common) = loopgate_tools::git::common_git_dir(worktree) else { return Ok(()) };
    let path = common.join("info").join("exclude");
    let mut text = std::fs::read_to_string(&path).unwrap_or_default();
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
    loopgate_home::files::write_atomic(&path, text.as_bytes())
}

fn failed(command: LoopCommand, cause: &str) -> Refusal {
    let text = format!("Failed to materialize {command} branch: {}", redact::cause(cause));
    Refusal::said(LoopError::new(500, text), code::BRANCH_CREATE_FAILED)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn names_follow_the_slug_and_never_collide() {
        let id = LoopId(Uuid::nil());
        let of = |slug: &str| Naming::of(Some(slug), id).unwrap();
        assert_eq!(
            (of("PLAN-5").key.as_str(), of("PLAN-5").branch.as_str()),
            ("plan-5", "orchestrator/plan-5")
        );
        let (one, two) = (of("a b"), of("a_b"));
        assert!(one.key.starts_with("a-b-") && one != two);
        let long = "x".repeat(80);
        assert!(of(&long).key.len() <= 50);
        let alone = Naming::of(None, id).unwrap();
        assert_eq!(alone.branch.as_str(), "orchestrator/loop-00000000-0000-0000-0000-000000000000");
        assert_eq!(Naming::of(Some("../"), id).unwrap(), alone);
    }
}
