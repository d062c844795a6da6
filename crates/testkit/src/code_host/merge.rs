//! The routes of the REST API that merge a pull request and update its branch, with the messages of GitHub.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::routing::put;
use serde_json::{Value, json};

use super::HostHandle;
use super::objects::{GitFacts, graphql};
use super::rest::{PullPath, RestError, RestResult, not_found, parse_json};
use super::state::{HostedPull, PullState};

pub(super) fn router() -> Router<Arc<HostHandle>> {
    Router::new()
        .route("/repos/{owner}/{name}/pulls/{number}/merge", put(merge))
        .route("/repos/{owner}/{name}/pulls/{number}/update-branch", put(update_branch))
}

fn refused(status: StatusCode, message: &str) -> RestError {
    RestError(status, json!({"message": message, "status": status.as_u16().to_string()}))
}

async fn merge(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    body: Bytes,
) -> RestResult {
    let body = parse_json(&body)?;
    change(host, format!("{owner}/{name}"), number, move |host, full_name, pull| {
        let git = GitFacts::read(&host.remotes, full_name, pull);
        let not_allowed = |message| Err(refused(StatusCode::METHOD_NOT_ALLOWED, message));
        if pull.state != PullState::Open || git.has_conflicts {
            return not_allowed("Pull Request is not mergeable");
        }
        if pull.draft {
            return not_allowed("Pull Request is still a draft");
        }
        let is_approved = host.read(|state| {
            state.repositories.get(full_name).is_some_and(|repository| graphql::is_approved(repository, pull))
        });
        if !is_approved {
            return not_allowed("At least 1 approving review is required by reviewers with write access.");
        }
        if body["sha"].as_str().is_some_and(|sha| sha != git.head_sha) {
            let message = "Head branch was modified. Review and try the merge again.";
            return Err(refused(StatusCode::CONFLICT, message));
        }
        let method = body["merge_method"].as_str().unwrap_or("merge");
        let head = pull.head_ref(&host.remotes, full_name).map_err(|_| not_found())?;
        let message = format!("{} (#{number})", pull.title);
        let merged = host.remotes.merge(full_name, (&head, &pull.base), method, &message);
        let before =
            merged.map_err(|_| refused(StatusCode::METHOD_NOT_ALLOWED, "Pull Request is not mergeable"))?;
        host.write(|state| {
            if let Some(pull) = state.pull_mut(full_name, number) {
                (pull.state, pull.merged_into) = (PullState::Merged, Some(before));
            }
        });
        let sha = host.remotes.branches(full_name).unwrap_or_default().remove(&pull.base);
        let answer = json!({"sha": sha, "merged": true, "message": "Pull Request successfully merged"});
        Ok((StatusCode::OK, answer))
    })
    .await
}

async fn update_branch(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    body: Bytes,
) -> RestResult {
    let body = parse_json(&body)?;
    change(host, format!("{owner}/{name}"), number, move |host, full_name, pull| {
        let git = GitFacts::read(&host.remotes, full_name, pull);
        let invalid = |message| Err(refused(StatusCode::UNPROCESSABLE_ENTITY, message));
        if body["expected_head_sha"].as_str().is_some_and(|sha| sha != git.head_sha) {
            return invalid("expected head sha didn\u{2019}t match current head ref.");
        }
        if git.has_conflicts {
            return invalid("merge conflict between base and head");
        }
        if !git.is_behind {
            return invalid("There are no new commits on the base branch.");
        }
        let repository = pull.head_repository.as_deref().unwrap_or(full_name);
        let message = format!("Merge branch '{}' into {}", pull.base, pull.head);
        let merged = host.remotes.merge(repository, (&pull.base, &pull.head), "merge", &message);
        merged
            .map_err(|_| refused(StatusCode::UNPROCESSABLE_ENTITY, "merge conflict between base and head"))?;
        // Requests for the pull request are compared by its time of the last change.
        host.write(|state| state.pull_mut(full_name, number).is_some());
        Ok((StatusCode::ACCEPTED, json!({"message": "Updating pull request branch."})))
    })
    .await
}

/// Runs a change of a pull request, which runs git, off the worker threads. Refuses it without write access.
async fn change(
    host: Arc<HostHandle>,
    full_name: String,
    number: u64,
    change: impl FnOnce(&HostHandle, &str, &HostedPull) -> Result<(StatusCode, Value), RestError> + Send + 'static,
) -> RestResult {
    let changed = tokio::task::spawn_blocking(move || {
        let found = host.read(|state| {
            let pull = state.pull(&full_name, number)?.clone();
            Some((state.repositories.get(&full_name)?.read_only, pull))
        });
        let (is_read_only, pull) = found.ok_or_else(not_found)?;
        if is_read_only {
            return Err(refused(StatusCode::FORBIDDEN, "Resource not accessible by personal access token"));
        }
        change(&host, &full_name, &pull)
    });
    let changed = changed
        .await
        .unwrap_or_else(|error| Err(refused(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())));
    changed.map(|(status, body)| (status, axum::Json(body)).into_response())
}
