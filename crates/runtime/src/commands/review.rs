//! CODE_REVIEW: the base to compare with, the verdict, and the check that the review changed no files.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use loopgate_api::command::{CommandSpec, Inputs};
use loopgate_api::event::code;
use loopgate_api::ids::BranchName;
use loopgate_api::redact;
use loopgate_home::untrusted::{self, write_private};
use loopgate_tools::git::{Git, time};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::LoopRequestError;
use crate::jobs::Job;
use crate::refusal::Refusal;
use crate::request::LoopRequest;
use crate::workspace::Workspace;
use crate::workspace::repository::LoopRepository;

/// File with the verdict of a review.
pub(crate) const VERDICT: &str = "verdict.json";
// Directory of the review plugin's sessions, relative to the worktree.
const SESSIONS: &str = ".loopgate/code-review";
// Prefix of session directories.
const SESSION: &str = "cr-";
// File in which the loop driver records the commit that it started from, relative to the work directory.
const DRIVER_CONFIG: &str = ".loopgate/config.env";
const START_SHA: &str = "LOOPGATE_START_SHA=";
// Values of `verdict` that are part of the interface.
const VERDICTS: [&str; 3] = ["approve", "needs_attention", "decline"];

/// Returns whether the command is a review.
pub(crate) fn is_review(spec: &CommandSpec) -> bool {
    spec.inputs == Inputs::Review
}

/// Returns the base of a review: the base branch at the remote, or else the commit that the loop's work started
/// from. Fails with 400 when neither exists.
pub(crate) async fn base(
    git: &Git,
    request: &LoopRequest,
    repository: Option<&LoopRepository>,
    workspace: &Workspace,
) -> Result<String, Refusal> {
    let context = request.code_evaluation_context.as_ref();
    let pull_request_base = context.and_then(|context| context.pull_request.as_ref()?.base_branch.clone());
    let clone = repository.map(|repository| repository.path.as_path());
    let branch = match (pull_request_base, clone) {
        (Some(base), _) => Some(base),
        (None, Some(clone)) if workspace.is_temporary => git.default_branch(clone).await.unwrap_or_default(),
        (None, _) => Some(request.base_branch().to_owned()),
    };
    if let Some(branch) = branch.and_then(|branch| branch.parse::<BranchName>().ok())
        && let Ok(remotes) = git.remotes(&workspace.dir).await
        && let Ok(Some(_)) = git.commit_of(&workspace.dir, &remotes.base_ref(branch.as_str())).await
    {
        return Ok(branch.to_string());
    }
    // Loops without a remote have no remote-tracking branch to compare with.
    let config = workspace.work_dir.join(DRIVER_CONFIG);
    let start = tokio::task::spawn_blocking(move || start_commit(&config)).await.ok().flatten();
    if let Some(start) = start
        && let Ok(Some(commit)) = git.commit_of(&workspace.dir, &start).await
    {
        return Ok(commit);
    }
    let error = LoopRequestError::bad_request("CODE_REVIEW found no base to review against");
    Err(Refusal::with_same_event(error, code::PRE_RUN_VALIDATION_FAILED))
}

fn start_commit(config: &Path) -> Option<String> {
    let text = untrusted::read_text(config).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(START_SHA))?.trim().trim_matches('"');
    // The file is in an untrusted working tree, and the value becomes an argument of git.
    let is_hash = value.len() >= 7 && value.chars().all(|letter| letter.is_ascii_hexdigit());
    is_hash.then(|| value.to_owned())
}

/// Returns a digest of HEAD and all tracked files, or `None` when git fails.
pub(crate) async fn tracked_state(git: &Git, worktree: &Path) -> Option<String> {
    let head = git.head(worktree).await.ok()?;
    // External diff and textconv programs must not run. The excluded directories belong to the assistant and
    // to Loopgate.
    let args = [
        "diff",
        "HEAD",
        "--binary",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
        "--",
        ".",
        ":!.claude",
        ":!.loopgate",
    ];
    let changes = git.text(worktree, &args, time::LOCAL).await.ok()?;
    Some(hex::encode(Sha256::digest(format!("{head}\n{changes}").as_bytes())))
}

/// Returns whether a review has changed tracked files.
pub(crate) async fn changed_files(git: &Git, job: &Job) -> bool {
    let Some(worktree) = job.workspace.worktree_dir.as_deref() else { return false };
    let Some(before) = &job.workspace.reviewed_state else { return false };
    tracked_state(git, Path::new(worktree)).await.is_some_and(|current| current != *before)
}

/// Copies the verdict of this run from its session directory into the work directory, and returns it. A
/// malformed verdict counts as missing.
pub(crate) async fn conclude(job: &Job, work_dir: PathBuf) -> Option<Value> {
    let root = PathBuf::from(job.workspace.worktree_dir.clone()?);
    let since = job.spawned()?;
    let concluded = tokio::task::spawn_blocking(move || {
        let copy = work_dir.join(VERDICT);
        let verdict = newest(&root.join(SESSIONS), since).and_then(|path| read(&path));
        if let Some(verdict) = &verdict
            && let Err(error) = write_private(&copy, verdict.to_string().as_bytes())
        {
            tracing::warn!(%error, "failed to write the review verdict");
        }
        // Fall back to the copy in the work directory, which an interrupted attempt may have left.
        verdict.or_else(|| read(&copy))
    });
    let verdict = concluded.await.ok().flatten()?;
    let reason = verdict.get("reason").and_then(Value::as_str).unwrap_or_default();
    Some(json!({"verdict": verdict["verdict"], "reason": redact::message(reason)}))
}

/// Returns the newest verdict that was written at or after `since`. Worktrees are reused, so older ones may
/// exist.
fn newest(sessions: &Path, since: SystemTime) -> Option<PathBuf> {
    let entries = untrusted::entries(sessions).into_iter();
    let session_dirs = entries.filter(|entry| entry.name.to_string_lossy().starts_with(SESSION));
    let dated = session_dirs.filter_map(|entry| {
        let path = sessions.join(entry.name).join(VERDICT);
        let written = untrusted::metadata(&path).ok()?.modified().ok()?;
        (written >= since).then_some((written, path))
    });
    dated.max().map(|(_, path)| path)
}

fn read(path: &Path) -> Option<Value> {
    let document: Value = untrusted::read_json(path)?;
    let is_valid = document["verdict"].as_str().is_some_and(|verdict| VERDICTS.contains(&verdict));
    is_valid.then_some(document)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_a_valid_verdict_of_this_run_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let put = |session: &str, text: &str| {
            let session_dir = dir.path().join(session);
            std::fs::create_dir_all(&session_dir).unwrap();
            std::fs::write(session_dir.join(VERDICT), text).unwrap();
        };
        let (minute, now) = (Duration::from_secs(60), SystemTime::now());
        let before = now - minute;
        // Not a session of the plugin.
        put("other", r#"{"verdict":"approve"}"#);
        assert_eq!(newest(dir.path(), before), None);
        put("cr-00001", r#"{"verdict":"decline","reason":"r"}"#);
        let path = newest(dir.path(), before).unwrap();
        assert_eq!(read(&path).unwrap()["verdict"], "decline");
        assert_eq!(newest(dir.path(), now + minute), None);
        // An unknown verdict must not be treated as an approval.
        put("cr-00002", r#"{"verdict":"fine"}"#);
        assert_eq!(read(&dir.path().join("cr-00002").join(VERDICT)), None);
    }

    #[test]
    fn start_commit_is_parsed_from_driver_config() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.env");
        std::fs::write(&config, "LOOPGATE_WORKDIR=\"/w\"\nLOOPGATE_START_SHA=\"0123abcd\"\n").unwrap();
        assert_eq!(start_commit(&config).as_deref(), Some("0123abcd"));
        std::fs::write(&config, "LOOPGATE_START_SHA=\"--help\"\n").unwrap();
        assert_eq!(start_commit(&config), None);
    }
}
