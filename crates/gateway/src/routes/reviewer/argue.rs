//! `POST /api/gateway/reviewer/argue/{ticketId}`: a debate about a finding.

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
use crate::extract::{JsonBody, QueryMembers, Requester, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::chats::stream;

const PATH: &str = "/api/gateway/reviewer/argue/{ticketId}";

/// What is said against a finding.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "findingSummary": "src/cache.rs:14 the cache is never cleared", "assistantArgument": "close() clears it."}))]
struct ArgueBody {
    /// Path of the repository, unless the query names it.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// What the assistant, or a person, says.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    assistant_argument: Option<String>,
    /// The finding in words; it tells one debate from another.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    finding_summary: Option<String>,
    /// The model; the provider's default when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    model: Option<String>,
    /// How long the model may think, in the program's words.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    reasoning_effort: Option<String>,
    /// What was said before; with one element at most, the debate begins anew.
    #[serde(default, deserialize_with = "lenient::any")]
    debate_history: Option<Vec<Value>>,
    /// Who defends the finding; the reviewer when it is missing or unknown.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
    /// Rounds in which the assistant answers the reviewer here, until the debate is settled: 1 to 10. One, with
    /// no answer of the assistant, when it is missing.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 10)]
    #[serde(default, deserialize_with = "lenient::positive")]
    rounds: Option<u64>,
}

/// Debate a finding
///
/// The reviewer answers what is said against its finding. With `rounds` the assistant answers in turn, until both
/// agree, one gives up, both repeat themselves, or the rounds are used up; `done` says which. The debate goes on when
/// the caller goes away.
#[utoipa::path(post, path = "/api/gateway/reviewer/argue/{ticketId}", operation_id = "argue_finding", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Ticket", example = "pr-7"), OptionalRepositoryQuery),
    request_body = ArgueBody,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One event a line, `done` last"),
        (status = 400, body = ErrorBody, description = "No repository, no argument, or no finding",
            example = json!({"error": "assistantArgument and findingSummary are required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The ticket has no worktree", example = json!(ErrorBody::new(404, "Work directory not found"))),
        (status = 500, body = ErrorBody, description = "The debate cannot be stored",
            example = json!(ErrorBody::new(500, "Failed to start the debate: no space left"))),
    ))]
async fn argue(
    State(app): State<App>,
    Extension(requester): Extension<Requester>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
    JsonBody(body): JsonBody<ArgueBody>,
) -> Result<Response, HttpError> {
    let named = query.get("repo").filter(|repo| !repo.is_empty()).map(str::to_owned);
    let repo =
        named.or(body.repo_path).ok_or_else(|| HttpError::missing_field("repo parameter is required"))?;
    let (Some(said), Some(finding)) = (body.assistant_argument, body.finding_summary) else {
        return Err(HttpError::missing_field("assistantArgument and findingSummary are required"));
    };
    let agents = agents_of(&app, PATH)?;
    let (model, effort) =
        (argument("model", body.model)?, argument("reasoningEffort", body.reasoning_effort)?);
    let reviewer = body.provider.and_then(|name| agents.providers.named(&name));
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
        argument: said,
        model,
        effort,
        anew: body.debate_history.is_some_and(|history| history.len() <= 1),
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
