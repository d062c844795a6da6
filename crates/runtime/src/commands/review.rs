//! CODE_REVIEW: the base to compare with, the process, the verdict, and the check that the review changed no files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use loopgate_api::command::{CommandSpec, Inputs};
use loopgate_api::event::code;
use loopgate_api::ids::BranchName;
use loopgate_api::redact;
use loopgate_api::usd::Usd;
use loopgate_home::untrusted::{self, write_private};
use loopgate_tools::git::{Git, time};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::error::LoopRequestError;
use crate::jobs::Job;
use crate::refusal::Refusal;
use crate::request::LoopRequest;
use crate::workspace::Workspace;
use crate::workspace::repository::LoopRepository;

/// File with the verdict of a review.
pub(crate) const VERDICT: &str = "verdict.json";
// Directory of the sessions of reviews, relative to the worktree.
const SESSIONS: &str = ".loopgate/code-review";
// Prefix of the ids of sessions.
const SESSION_PREFIX: &str = "cr-";
// File in which the loop driver records the commit that it started from, relative to the work directory.
const DRIVER_CONFIG: &str = ".loopgate/config.env";
const START_SHA: &str = "LOOPGATE_START_SHA=";
// Values of `verdict` that are part of the interface.
const VERDICTS: [&str; 3] = ["approve", "needs_attention", "decline"];

/// A review to start, with the engine of this program: neither an installed plugin nor the checkout can replace it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReviewLaunch {
    /// Branch or commit to compare with.
    base: String,
    /// Id of the session, which the review is told.
    pub session: String,
    /// What the user wants to be considered.
    request: Option<String>,
}

impl ReviewLaunch {
    pub(crate) fn new(base: String, request: Option<String>) -> Self {
        Self { base, session: format!("{SESSION_PREFIX}{}", Uuid::now_v7()), request }
    }

    /// Returns the arguments of `loopgate`.
    pub(crate) fn args(&self, worktree: &Path, limit: Option<Usd>, wait_for_limits: bool) -> Vec<OsString> {
        let mut args: Vec<OsString> =
            ["code-review", "run", "--stream", "--workdir"].map(OsString::from).into();
        args.push(worktree.into());
        // With `=`, because a value may begin with a hyphen.
        args.push(format!("--base={}", self.base).into());
        args.push(format!("--session={}", self.session).into());
        let request = self.request.iter().filter(|request| !request.trim().is_empty());
        args.extend(request.map(|request| format!("--instructions={request}").into()));
        let limit = limit.filter(|limit| !limit.is_zero());
        args.extend(limit.map(|limit| format!("--max-budget-usd={limit}").into()));
        args.extend(wait_for_limits.then(|| "--wait-for-limits".into()));
        args
    }
}

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
    let session = session_dir(&root, job.workspace.review_session.as_deref()?)?;
    let concluded = tokio::task::spawn_blocking(move || {
        let copy = work_dir.join(VERDICT);
        let verdict = read(&session.join(VERDICT));
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

/// Returns the directory of a session. `None` for a text that is no id, because it becomes a part of a path.
fn session_dir(worktree: &Path, id: &str) -> Option<PathBuf> {
    let rest = id.strip_prefix(SESSION_PREFIX)?;
    let is_id = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_id.then(|| worktree.join(SESSIONS).join(id))
}

fn read(path: &Path) -> Option<Value> {
    let document: Value = untrusted::read_json(path)?;
    let is_valid = document["verdict"].as_str().is_some_and(|verdict| VERDICTS.contains(&verdict));
    is_valid.then_some(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_verdict_of_its_session_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let put = |session: &str, text: &str| {
            let session_dir = session_dir(dir.path(), session).unwrap();
            std::fs::create_dir_all(&session_dir).unwrap();
            std::fs::write(session_dir.join(VERDICT), text).unwrap();
            session_dir.join(VERDICT)
        };
        let path = put("cr-00001", r#"{"verdict":"decline","reason":"r"}"#);
        assert_eq!(read(&path).unwrap()["verdict"], "decline");
        // An unknown verdict must not be treated as an approval.
        assert_eq!(read(&put("cr-00002", r#"{"verdict":"fine"}"#)), None);
        for id in ["other", "cr-", "cr-../x", "cr-a/b"] {
            assert_eq!(session_dir(dir.path(), id), None, "{id}");
        }
    }

    // LR-57
    #[test]
    fn review_is_told_its_base_and_session() {
        let launch = ReviewLaunch::new("main".to_owned(), Some("--make it shorter".to_owned()));
        let args = launch.args(Path::new("/w"), Some("1.5".parse().unwrap()), true);
        let session = format!("--session={}", launch.session);
        let expected = [
            "code-review",
            "run",
            "--stream",
            "--workdir",
            "/w",
            "--base=main",
            &session,
            "--instructions=--make it shorter",
            "--max-budget-usd=1.500000",
            "--wait-for-limits",
        ];
        assert_eq!(args, expected.map(OsString::from));
        let plain = ReviewLaunch::new("main".to_owned(), Some(" ".to_owned()));
        assert_ne!(plain.session, launch.session);
        assert_eq!(plain.args(Path::new("/w"), Some(Usd::default()), false).len(), 7);
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
