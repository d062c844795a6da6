//! `POST /api/gateway/reviewer/argue/{ticketId}`: debates a finding with the reviewer.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::Method;
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use loopgate_review::{DebateRequest, MAX_ROUNDS, ReviewDirectory};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{OptionalRepositoryQuery, argument, existing_worktree, reviews_of};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::extract::{JsonBody, QueryMembers, RequestOrigin, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::chats::stream;

const PATH: &str = "/api/gateway/reviewer/argue/{ticketId}";

/// An argument against a finding.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "findingSummary": "src/cache.rs:14 the cache is never cleared", "assistantArgument": "close() clears it."}))]
struct ArgueBody {
    /// Path of the repository; used when the query has no `repo`.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Argument of the assistant or of the user.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    assistant_argument: Option<String>,
    /// Text of the finding; identifies the debate.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    finding_summary: Option<String>,
    /// Model of the provider; its default when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    model: Option<String>,
    /// Reasoning effort, in the terms of the provider's program.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    reasoning_effort: Option<String>,
    /// Previous arguments. With at most one element, a new debate is started.
    #[serde(default, deserialize_with = "lenient::any")]
    debate_history: Option<Vec<Value>>,
    /// Provider that defends the finding: `reviewer` when it is missing or unknown.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
    /// Maximum rounds in which the assistant replies to the reviewer, 1 to 10. When it is missing, the
    /// reviewer answers once and the assistant does not reply.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 10)]
    #[serde(default, deserialize_with = "lenient::positive")]
    rounds: Option<u64>,
}

/// Debate a finding
///
/// The reviewer answers the argument against its finding. With `rounds`, the assistant replies in turn until
/// both agree, one side concedes, both repeat themselves, or the rounds are used up; the `done` event
/// contains the outcome. The debate continues when the client disconnects.
#[utoipa::path(post, path = "/api/gateway/reviewer/argue/{ticketId}", operation_id = "argue_finding", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "pr-7"), OptionalRepositoryQuery),
    request_body = ArgueBody,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "No repository, no argument, or no finding",
            example = json!({"error": "assistantArgument and findingSummary are required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The ticket has no worktree", example = json!(ErrorBody::new(404, "Work directory not found"))),
        (status = 500, body = ErrorBody, description = "The debate cannot be stored",
            example = json!(ErrorBody::new(500, "Failed to start the debate: no space left"))),
    ))]
async fn argue(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
    JsonBody(body): JsonBody<ArgueBody>,
) -> Result<Response, HttpError> {
    // Both the query and the body can name the repository; the query takes precedence.
    let repo = query.get("repo").filter(|repo| !repo.is_empty()).map(str::to_owned);
    let repo =
        repo.or(body.repo_path).ok_or_else(|| HttpError::missing_field("repo parameter is required"))?;
    let (Some(argument_text), Some(finding)) = (body.assistant_argument, body.finding_summary) else {
        return Err(HttpError::missing_field("assistantArgument and findingSummary are required"));
    };
    let agents = agents_of(&app, PATH)?;
    let (model, effort) =
        (argument("model", body.model)?, argument("reasoningEffort", body.reasoning_effort)?);
    let reviewer = body.provider.and_then(|name| agents.providers.by_name(&name));
    let (worktree, directory) = {
        let app = app.clone();
        spawn_blocking(move || {
            let worktree = existing_worktree(&app, &repo, &ticket)?;
            let directory = ReviewDirectory::of(&app.sandbox, worktree.as_path())?;
            Ok::<_, HttpError>((worktree, directory))
        })
        .await??
    };
    let rounds = body.rounds.and_then(|rounds| u32::try_from(rounds).ok()).unwrap_or(1);
    let request = DebateRequest {
        reviewer: reviewer.unwrap_or_else(|| agents.providers.reviewer()),
        assistant: agents.providers.assistant(),
        worktree,
        directory,
        finding,
        argument: argument_text,
        model,
        effort,
        // One element is the argument itself, which clients include in the history.
        anew: body.debate_history.is_some_and(|history| history.len() <= 1),
        // Each round runs both providers, so a client must not be able to request an unbounded number.
        rounds: rounds.min(MAX_ROUNDS),
    };
    let debate = reviews_of(&app, &Method::POST, PATH)?.debate(request).await;
    let debate = debate.map_err(|error| HttpError::operation("Failed to start the debate", &error))?;
    Ok(stream::answer(&app, requester, debate))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(argue),
        &[
            Source::Path(At::Query("repo")),
            Source::Path(At::Body("repoPath")),
            Source::Ticket(At::Segment("ticketId")),
        ],
    )
}
