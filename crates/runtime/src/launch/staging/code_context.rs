//! `code-context.json`: location and state of the code under evaluation, from the request and from git.

use std::path::Path;

use loopgate_api::redact;
use loopgate_tools::git::Git;
use serde_json::{Map, Value, json};

use crate::request::{DetectedContext, LoopRequest};

/// Reads branch and commit of a clone. Failures are recorded in the context and do not fail the launch.
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

/// Builds the document. Members of the evaluation context take precedence over those of the loop request.
pub(super) fn document(request: &LoopRequest, detected: Option<&DetectedContext>) -> Value {
    let mut document = Map::from_iter([("schemaVersion".to_owned(), json!(1))]);
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            document.insert(name.to_owned(), value);
        }
    };
    let context = request.code_evaluation_context.as_ref();
    let text = |explicit: Option<&String>, fallback: Option<&String>| {
        explicit.or(fallback).cloned().map(Value::from)
    };
    let explicit = context.and_then(|context| context.repo.as_ref()).map(|repo| json!(repo));
    add("repo", explicit.or_else(|| request.repo.as_ref().map(|repo| json!(repo))));
    let members = [
        ("localRepoPath", context.and_then(|c| c.local_repo_path.as_ref()), request.local_repo_path.as_ref()),
        (
            "parentBranchName",
            context.and_then(|c| c.parent_branch_name.as_ref()),
            request.parent_branch_name.as_ref(),
        ),
        (
            "parentSessionId",
            context.and_then(|c| c.parent_session_id.as_ref()),
            request.parent_session_id.as_ref(),
        ),
        ("artifactSlug", context.and_then(|c| c.artifact_slug.as_ref()), request.artifact_slug.as_ref()),
    ];
    for (name, explicit, fallback) in members {
        add(name, text(explicit, fallback));
    }
    add("pullRequest", context.and_then(|context| context.pull_request.as_ref()).map(|pull| json!(pull)));
    // What git reports now takes precedence over what the sender detected earlier.
    let explicit = context.and_then(|context| context.detected.as_ref());
    add("detected", detected.or(explicit).map(|state| json!(state)));
    Value::Object(document)
}
