//! `POST /api/gateway/reviewer/review/{ticketId}`: reviews the worktree of a ticket.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::{Method, StatusCode};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::BranchName;
use loopgate_home::SandboxedPath;
use loopgate_review::{CommitHash, RequestedScope, ReviewRequest, StartReviewError};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{argument, locate, reviews_of};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::extract::{JsonBody, RequestOrigin, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::chats::stream;

const PATH: &str = "/api/gateway/reviewer/review/{ticketId}";
const DEFAULT_EFFORT: &str = "medium";

/// The changes to review, and how.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "provider": "reviewer", "branchName": "feature/cache", "baseBranch": "main"}))]
struct ReviewBody {
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Provider that reviews: `reviewer` when it is missing or unknown.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
    /// Model of the provider; its default when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    model: Option<String>,
    /// Reasoning effort, in the terms of the provider's program; `medium` when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    reasoning_effort: Option<String>,
    /// Changes to review: `uncommitted`, `commit`, or any other value for the changes since the base branch.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    review_mode: Option<String>,
    /// Branch with which the changes are compared; the default branch of the repository when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    base_branch: Option<String>,
    /// Branch to review; required when the ticket has no worktree.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    branch_name: Option<String>,
    /// Hash of the commit; required when `reviewMode` is `commit`.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    commit: Option<String>,
    /// Additional instructions for the reviewer.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    instructions: Option<String>,
    /// Whether to review the repository itself instead of the ticket's worktree.
    #[serde(default, deserialize_with = "lenient::any")]
    use_base_repo: Option<bool>,
}

impl ReviewBody {
    fn scope(&self) -> Result<RequestedScope, HttpError> {
        match self.review_mode.as_deref() {
            Some("uncommitted") => Ok(RequestedScope::Uncommitted),
            Some("commit") => {
                let commit = self.commit.as_deref();
                let commit = commit.ok_or_else(|| HttpError::missing_field("commit is required"))?;
                let commit = CommitHash::parse(commit);
                let commit =
                    commit.ok_or_else(|| HttpError::bad_request("commit must be the hash of a commit"))?;
                Ok(RequestedScope::Commit(commit))
            }
            _ => Ok(RequestedScope::Base),
        }
    }
}

fn branch(name: &str) -> Result<BranchName, HttpError> {
    name.parse().map_err(|_| HttpError::bad_request("Branch name contains invalid characters"))
}

/// Review the worktree of a ticket
///
/// Creates the worktree, or updates it to its branch, first. The review continues when the client
/// disconnects: `status` reports its progress, and `stop` cancels it.
#[utoipa::path(post, path = "/api/gateway/reviewer/review/{ticketId}", operation_id = "start_review", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket; `pr-<number>` for a pull request", example = "pr-7")),
    request_body = ReviewBody,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "Repository path missing, branch missing for a new worktree, base branch that does not exist, or no pull request for a review by the assistant",
            example = json!({"error": "repoPath is required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 409, body = ErrorBody, description = "A review by the same provider, or a loop, is running in the worktree",
            example = json!({"error": "Review already running", "code": "conflict", "pid": 4242})),
        (status = 500, body = ErrorBody, description = "The worktree cannot be created",
            example = json!(ErrorBody::new(500, "Failed to create worktree: neither branch \"feature/cache\" nor branch \"main\" exists"))),
    ))]
async fn review(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    TicketPath(ticket): TicketPath,
    JsonBody(body): JsonBody<ReviewBody>,
) -> Result<Response, HttpError> {
    let repo = body.repo_path.clone().ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let agents = agents_of(&app, PATH)?;
    let requested = body.provider.as_deref().and_then(|name| agents.providers.by_name(name));
    let provider = requested.unwrap_or_else(|| agents.providers.reviewer());
    // Validated before the review creates a worktree or a log.
    let base = body.base_branch.as_deref().map(branch).transpose()?;
    let scope = body.scope()?;
    let effort = argument("reasoningEffort", body.reasoning_effort)?;
    let in_repository = body.use_base_repo == Some(true);
    let (repository, worktree) = {
        let (app, ticket) = (app.clone(), ticket.clone());
        spawn_blocking(move || locate(&app, &repo, &ticket)).await??
    };
    if !in_repository {
        reject_busy_worktree(&app, &worktree).await?;
    }
    let request = ReviewRequest {
        provider,
        repository,
        worktree,
        ticket,
        branch: body.branch_name.as_deref().map(branch).transpose()?,
        base,
        scope,
        model: argument("model", body.model)?,
        effort: effort.unwrap_or_else(|| DEFAULT_EFFORT.to_owned()),
        instructions: body.instructions,
        in_repository,
    };
    let started = reviews_of(&app, &Method::POST, PATH)?.start(request).await;
    let events = started.map_err(|error| match &error {
        StartReviewError::AlreadyRunning { pid } => {
            // Clients offer to cancel the running review by its pid.
            let conflict = HttpError::new(StatusCode::CONFLICT, error.to_string());
            match pid {
                Some(pid) => conflict.with("pid", *pid),
                None => conflict,
            }
        }
        StartReviewError::NoPullRequest | StartReviewError::NoBase(_) | StartReviewError::NoDefaultBase => {
            HttpError::bad_request(error.to_string())
        }
        StartReviewError::BranchRequired => HttpError::missing_field(error.to_string()),
        StartReviewError::Worktree(_) | StartReviewError::Io(_) => HttpError::failed(error.to_string()),
    })?;
    Ok(stream::answer(&app, requester, events))
}

/// Rejects a worktree in which a loop is running.
async fn reject_busy_worktree(app: &App, worktree: &SandboxedPath) -> Result<(), HttpError> {
    // Starting a review checks out its branch, which would change the files under the loop.
    let Some(runtime) = &app.runtime else { return Ok(()) };
    let process = runtime.stopper.process_in_worktree(worktree.as_path()).await;
    match process.map_err(|error| HttpError::operation("Failed to start review", &error))? {
        Some((pid, _)) => {
            Err(HttpError::new(StatusCode::CONFLICT, "A loop is running in this worktree").with("pid", pid))
        }
        None => Ok(()),
    }
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(review),
        &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Segment("ticketId"))],
    )
}
