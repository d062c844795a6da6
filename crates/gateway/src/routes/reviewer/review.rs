//! `POST /api/gateway/reviewer/review/{ticketId}`: reviews a ticket's worktree.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::{Method, StatusCode};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::BranchName;
use loopgate_home::SandboxedPath;
use loopgate_review::{CommitHash, ReviewRequest, ReviewScope, StartReviewError};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{argument, locate, reviews_of};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::extract::{JsonBody, Requester, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::chats::stream;

const PATH: &str = "/api/gateway/reviewer/review/{ticketId}";
const DEFAULT_BASE: &str = "main";
const DEFAULT_EFFORT: &str = "medium";

/// What to review.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "provider": "reviewer", "branchName": "feature/cache", "baseBranch": "main"}))]
struct ReviewBody {
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Who reviews; the reviewer when it is missing or unknown.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
    /// The model; the provider's default when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    model: Option<String>,
    /// How long the model may think, in the program's words; `medium` when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    reasoning_effort: Option<String>,
    /// Which changes: `uncommitted`, `commit`, or anything else for those since the base branch.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    review_mode: Option<String>,
    /// What the changes are compared with; `main` when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    base_branch: Option<String>,
    /// The branch that is reviewed; needed when the ticket has no worktree.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    branch_name: Option<String>,
    /// Hash of the commit, in the mode `commit`.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    commit: Option<String>,
    /// What is to be looked at.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    instructions: Option<String>,
    /// `true` reviews the repository itself instead of the ticket's worktree.
    #[serde(default, deserialize_with = "lenient::any")]
    use_base_repo: Option<bool>,
}

impl ReviewBody {
    fn scope(&self, base: &BranchName) -> Result<ReviewScope, HttpError> {
        match self.review_mode.as_deref() {
            Some("uncommitted") => Ok(ReviewScope::Uncommitted),
            Some("commit") => {
                let commit = self.commit.as_deref();
                let commit = commit.ok_or_else(|| HttpError::missing_field("commit is required"))?;
                let commit = CommitHash::parse(commit);
                let commit =
                    commit.ok_or_else(|| HttpError::bad_request("commit must be the hash of a commit"))?;
                Ok(ReviewScope::Commit(commit))
            }
            _ => Ok(ReviewScope::Base(base.clone())),
        }
    }
}

fn branch(name: &str) -> Result<BranchName, HttpError> {
    name.parse().map_err(|_| HttpError::bad_request("Branch name contains invalid characters"))
}

/// Review a ticket's worktree
///
/// The worktree is made, or brought to its branch, first. The review goes on when the caller goes away: `status`
/// tells how far it is, and `stop` ends it.
#[utoipa::path(post, path = "/api/gateway/reviewer/review/{ticketId}", operation_id = "start_review", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Ticket, `pr-<number>` for a pull request", example = "pr-7")),
    request_body = ReviewBody,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One event a line, `done` last"),
        (status = 400, body = ErrorBody, description = "No repository, no branch for a worktree that is missing, or no pull request for the assistant",
            example = json!({"error": "repoPath is required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 409, body = ErrorBody, description = "A review by the same provider, or a loop, is at work there",
            example = json!({"error": "Review already running", "code": "conflict", "pid": 4242})),
        (status = 500, body = ErrorBody, description = "There is no worktree",
            example = json!(ErrorBody::new(500, "Failed to create worktree: neither branch \"feature/cache\" nor branch \"main\" exists"))),
    ))]
async fn review(
    State(app): State<App>,
    Extension(requester): Extension<Requester>,
    TicketPath(ticket): TicketPath,
    JsonBody(body): JsonBody<ReviewBody>,
) -> Result<Response, HttpError> {
    let repo = body.repo_path.clone().ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let agents = agents_of(&app, PATH)?;
    let named = body.provider.as_deref().and_then(|name| agents.providers.named(name));
    let provider = named.unwrap_or_else(|| agents.providers.reviewer());
    let base = branch(body.base_branch.as_deref().unwrap_or(DEFAULT_BASE))?;
    let scope = body.scope(&base)?;
    let effort = argument("reasoningEffort", body.reasoning_effort)?;
    let in_repository = body.use_base_repo == Some(true);
    let (repository, worktree) = {
        let (app, ticket) = (app.clone(), ticket.clone());
        spawn_blocking(move || locate(&app, &repo, &ticket)).await??
    };
    if !in_repository {
        refuse_busy_worktree(&app, &worktree).await?;
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
            let conflict = HttpError::new(StatusCode::CONFLICT, error.to_string());
            match pid {
                Some(pid) => conflict.with("pid", *pid),
                None => conflict,
            }
        }
        StartReviewError::NoPullRequest => HttpError::bad_request(error.to_string()),
        StartReviewError::BranchRequired => HttpError::missing_field(error.to_string()),
        StartReviewError::Worktree(_) | StartReviewError::Io(_) => HttpError::failed(error.to_string()),
    })?;
    Ok(stream::answer(&app, requester, events))
}

/// A loop's worktree is not put on another branch under it.
async fn refuse_busy_worktree(app: &App, worktree: &SandboxedPath) -> Result<(), HttpError> {
    let Some(runtime) = &app.runtime else { return Ok(()) };
    let working = runtime.stopper.working_at(worktree.as_path()).await;
    match working.map_err(|error| HttpError::operation("Failed to start review", &error))? {
        Some((pid, _)) => {
            Err(HttpError::new(StatusCode::CONFLICT, "A loop is at work in this worktree").with("pid", pid))
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
