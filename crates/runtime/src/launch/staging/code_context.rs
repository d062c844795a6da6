//! `code-context.json`: where the code that is judged lies, as the sender says and as git sees it.

use std::path::Path;

use loopgate_api::redact;
use loopgate_tools::git::Git;
use serde_json::{Map, Value, json};

use crate::request::{DetectedContext, LoopRequest};

/// What git says of a clone. A failure is noted and stops nothing.
pub(crate) async fn detect(git: &Git, repository: &Path) -> DetectedContext {
    let (branch, head) = (git.current_branch(repository).await, git.head(repository).await);
    let failures = [
        branch.as_ref().err().map(|error| format!("branch: {error}")),
        head.as_ref().err().map(|error| format!("headSha: {error}")),
    ];
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    DetectedContext {
        branch: branch.ok().flatten(),
        head_sha: head.ok(),
        git_detection_error: (!failures.is_empty()).then(|| redact::message(&failures.join("; "))),
    }
}

/// The document. What the sender says of the code goes before what it says of the loop.
pub(super) fn document(request: &LoopRequest, detected: Option<&DetectedContext>) -> Value {
    let mut document = Map::from_iter([("schemaVersion".to_owned(), json!(1))]);
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            document.insert(name.to_owned(), value);
        }
    };
    let given = request.code_evaluation_context.as_ref();
    let text =
        |explicit: Option<&String>, known: Option<&String>| explicit.or(known).cloned().map(Value::from);
    let explicit = given.and_then(|context| context.repo.as_ref()).map(|repo| json!(repo));
    add("repo", explicit.or_else(|| request.repo.as_ref().map(|repo| json!(repo))));
    let members = [
        ("localRepoPath", given.and_then(|c| c.local_repo_path.as_ref()), request.local_repo_path.as_ref()),
        (
            "parentBranchName",
            given.and_then(|c| c.parent_branch_name.as_ref()),
            request.parent_branch_name.as_ref(),
        ),
        (
            "parentSessionId",
            given.and_then(|c| c.parent_session_id.as_ref()),
            request.parent_session_id.as_ref(),
        ),
        ("artifactSlug", given.and_then(|c| c.artifact_slug.as_ref()), request.artifact_slug.as_ref()),
    ];
    for (name, explicit, known) in members {
        add(name, text(explicit, known));
    }
    add("pullRequest", given.and_then(|context| context.pull_request.as_ref()).map(|pull| json!(pull)));
    let explicit = given.and_then(|context| context.detected.as_ref());
    add("detected", detected.or(explicit).map(|seen| json!(seen)));
    Value::Object(document)
}
