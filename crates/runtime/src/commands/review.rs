//! A review of the code in a worktree: what it compares with, what it finds, and that it changes
//! nothing.

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

/// The result of a review.
pub(crate) const VERDICT: &str = "verdict.json";
/// Where reviews have their sessions, below the worktree.
const SESSIONS: &str = ".loopgate/code-review";
/// What the name of a session begins with.
const SESSION: &str = "cr-";
/// Where the loop driver keeps the commit that it began at, below the files of the run.
const DRIVER_CONFIG: &str = ".loopgate/config.env";
const START_SHA: &str = "LOOPGATE_START_SHA=";
/// Answers of a review.
const VERDICTS: [&str; 3] = ["approve", "needs_attention", "decline"];

/// Whether a command is one.
pub(crate) fn is_review(spec: &CommandSpec) -> bool {
    spec.inputs == Inputs::Review
}

/// What a review compares with: the base branch, else the commit at which the work began.
pub(crate) async fn base(
    git: &Git,
    request: &LoopRequest,
    repository: Option<&LoopRepository>,
    workspace: &Workspace,
) -> Result<String, Refusal> {
    let context = request.code_evaluation_context.as_ref();
    let named = context.and_then(|context| context.pull_request.as_ref()?.base_branch.clone());
    let clone = repository.map(|repository| repository.path.as_path());
    let branch = match (named, clone) {
        (Some(named), _) => Some(named),
        (None, Some(clone)) if workspace.is_temporary => git.default_branch(clone).await.unwrap_or_default(),
        (None, _) => Some(request.base_branch().to_owned()),
    };
    if let Some(branch) = branch.and_then(|branch| branch.parse::<BranchName>().ok())
        && let Ok(Some(_)) = git.commit_of(&workspace.dir, &format!("refs/remotes/origin/{branch}")).await
    {
        return Ok(branch.to_string());
    }
    let config = workspace.work_dir.join(DRIVER_CONFIG);
    let started = tokio::task::spawn_blocking(move || start_commit(&config)).await.ok().flatten();
    if let Some(started) = started
        && let Ok(Some(commit)) = git.commit_of(&workspace.dir, &started).await
    {
        return Ok(commit);
    }
    let error = LoopRequestError::bad_request("CODE_REVIEW found no base to review against");
    Err(Refusal::with_same_event(error, code::PRE_RUN_VALIDATION_FAILED))
}

fn start_commit(config: &Path) -> Option<String> {
    let text = untrusted::read_text(config).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(START_SHA))?.trim().trim_matches('"');
    let is_hash = value.len() >= 7 && value.chars().all(|letter| letter.is_ascii_hexdigit());
    is_hash.then(|| value.to_owned())
}

/// A digest of HEAD and of every tracked file; `None` when git cannot tell.
pub(crate) async fn tracked_state(git: &Git, worktree: &Path) -> Option<String> {
    let head = git.head(worktree).await.ok()?;
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

/// Whether a review has changed tracked files.
pub(crate) async fn changed_files(git: &Git, job: &Job) -> bool {
    let Some(worktree) = job.workspace.worktree_dir.as_deref() else { return false };
    let Some(before) = &job.workspace.reviewed_state else { return false };
    tracked_state(git, Path::new(worktree)).await.is_some_and(|now| now != *before)
}

/// Takes the verdict of this run out of its session and puts it among the files of the run; answers
/// it. A verdict that cannot be read is none.
pub(crate) async fn conclude(job: &Job, work_dir: PathBuf) -> Option<Value> {
    let root = PathBuf::from(job.workspace.worktree_dir.clone()?);
    let since = job.spawned()?;
    let concluded = tokio::task::spawn_blocking(move || {
        let place = work_dir.join(VERDICT);
        let verdict = newest(&root.join(SESSIONS), since).and_then(|path| read(&path));
        if let Some(found) = &verdict
            && let Err(error) = write_private(&place, found.to_string().as_bytes())
        {
            tracing::warn!(%error, "the verdict of a review could not be kept");
        }
        verdict.or_else(|| read(&place))
    });
    let whole = concluded.await.ok().flatten()?;
    let reason = whole.get("reason").and_then(Value::as_str).unwrap_or_default();
    Some(json!({"verdict": whole["verdict"], "reason": redact::message(reason)}))
}

/// The newest verdict that was written since.
fn newest(sessions: &Path, since: SystemTime) -> Option<PathBuf> {
    let entries = untrusted::entries(sessions).into_iter();
    let own = entries.filter(|entry| entry.name.to_string_lossy().starts_with(SESSION));
    let dated = own.filter_map(|entry| {
        let path = sessions.join(entry.name).join(VERDICT);
        let written = untrusted::metadata(&path).ok()?.modified().ok()?;
        (written >= since).then_some((written, path))
    });
    dated.max().map(|(_, path)| path)
}

fn read(path: &Path) -> Option<Value> {
    let whole: Value = untrusted::read_json(path)?;
    let known = whole["verdict"].as_str().is_some_and(|verdict| VERDICTS.contains(&verdict));
    known.then_some(whole)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_a_verdict_of_this_run_that_says_something_counts() {
        let dir = tempfile::tempdir().unwrap();
        let put = |session: &str, text: &str| {
            let place = dir.path().join(session);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join(VERDICT), text).unwrap();
        };
        let (minute, now) = (Duration::from_secs(60), SystemTime::now());
        let before = now - minute;
        put("other", r#"{"verdict":"approve"}"#);
        assert_eq!(newest(dir.path(), before), None);
        put("cr-00001", r#"{"verdict":"decline","reason":"r"}"#);
        let found = newest(dir.path(), before).unwrap();
        assert_eq!(read(&found).unwrap()["verdict"], "decline");
        assert_eq!(newest(dir.path(), now + minute), None);
        put("cr-00002", r#"{"verdict":"fine"}"#);
        assert_eq!(read(&dir.path().join("cr-00002").join(VERDICT)), None);
    }

    #[test]
    fn commit_at_the_start_is_read_as_the_driver_writes_it() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.env");
        std::fs::write(&config, "LOOPGATE_WORKDIR=\"/w\"\nLOOPGATE_START_SHA=\"0123abcd\"\n").unwrap();
        assert_eq!(start_commit(&config).as_deref(), Some("0123abcd"));
        std::fs::write(&config, "LOOPGATE_START_SHA=\"--help\"\n").unwrap();
        assert_eq!(start_commit(&config), None);
    }
}
