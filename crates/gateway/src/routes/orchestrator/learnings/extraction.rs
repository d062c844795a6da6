//! `extract-learnings` and `learnings-status`: extracts pending learnings from the chat of a ticket.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_home::{escaped_via_symlink, untrusted};
use loopgate_learnings::{ExtractionStatus, LearningSource, TicketChat, repository_key};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{DISABLED, StartStatus, TICKET_MEMBERS, is_enabled, worktree};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::directory::{TicketMembers, TicketReference};
use crate::routes::orchestrator::params::{RepositoryQuery, TicketErrors};
use crate::routes::orchestrator::runtime::runtime_of;

const PATH: &str = "/api/gateway/orchestrator/extract-learnings";
const CHAT_FILE: &str = "chat-history.json";
/// Directory of the chats about findings, in the work directory.
const FINDING_CHATS: &str = "finding-chats/";

/// The chat from which learnings are extracted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop", "activeTab": "chat"}))]
struct ExtractLearnings {
    #[serde(flatten)]
    ticket: TicketMembers,
    /// Tab of the page; returned by the status.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    active_tab: Option<String>,
    /// Name of a `.json` file in the work directory or its `finding-chats/`; `chat-history.json` when it is
    /// missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    chat_file: Option<String>,
}

/// Outcome of a request to extract learnings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LearningsExtractionStart, example = json!({"status": "processing"}))]
struct ExtractionStarted {
    status: StartStatus,
    /// Reason for which the extraction was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// Extract learnings from the chat of a ticket
///
/// Runs in the background; `learnings-status` reports when it has finished.
#[utoipa::path(post, path = "/api/gateway/orchestrator/extract-learnings", operation_id = "extract_learnings", tag = "learnings",
    request_body = ExtractLearnings,
    responses(
        (status = 200, body = ExtractionStarted, description = "Extraction was started, or learnings are disabled"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "The ticket has no worktree, or no chat"),
        (status = 500, body = ErrorBody, description = "The status cannot be written"),
    ))]
async fn start(
    State(app): State<App>,
    JsonBody(body): JsonBody<ExtractLearnings>,
) -> JsonResult<ExtractionStarted> {
    let reference = body.ticket.required()?;
    let chat_file = chat_file(body.chat_file)?;
    let (repository, place) = reference.existing(&app).await?;
    let worktree = worktree(&place);
    let chat = worktree.work_dir.join(&chat_file);
    let read = spawn_blocking(move || (untrusted::read_text(&chat), repository_key(repository.as_path())));
    let (text, repo) = read.await?;
    let text = text.map_err(|error| match error {
        // A symbolic link out of the work directory is a denied path, not a missing file.
        error if escaped_via_symlink(&error) => HttpError::directory_not_allowed(),
        _ => HttpError::not_found("No chat history found").with("path", chat_file.as_str()),
    })?;
    // After the chat was read, so that an invalid request fails whether or not learnings are enabled.
    if !is_enabled(&app) {
        return Ok(Json(ExtractionStarted { status: StartStatus::Skipped, reason: Some(DISABLED) }));
    }
    runtime_of(&app, PATH)?;
    let source = LearningSource {
        run: place.base_name(),
        ticket: reference.ticket.as_str().to_owned(),
        // Best-effort: a repository without a commit still has a chat to learn from.
        commit: app.git.commit_of(&worktree.root, "HEAD").await.ok().flatten().unwrap_or_default(),
        repo,
        chat: chat_file,
        ..LearningSource::default()
    };
    let chat = TicketChat { text, source, active_tab: body.active_tab };
    let started = app.learnings.extractions.start(worktree, chat).await;
    started.map_err(|error| HttpError::operation("Failed to start the extraction", &error))?;
    Ok(Json(ExtractionStarted { status: StartStatus::Processing, reason: None }))
}

/// Validates a chat file name. Names with further separators could leave the work directory.
///
/// # Errors
/// 400 for any other name.
fn chat_file(name: Option<String>) -> Result<String, HttpError> {
    let name = name.unwrap_or_else(|| CHAT_FILE.to_owned());
    let base = name.strip_prefix(FINDING_CHATS).unwrap_or(&name);
    let is_name = base.len() > ".json".len() && base.ends_with(".json") && !base.contains(['/', '\\', '\0']);
    if is_name { Ok(name) } else { Err(HttpError::bad_request("invalid chatFile")) }
}

/// Return the status of an extraction
#[utoipa::path(get, path = "/api/gateway/orchestrator/learnings-status/{ticketId}", operation_id = "learnings_status", tag = "learnings",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "AB-1"), RepositoryQuery),
    responses(
        (status = 200, body = ExtractionStatus, description = "Status of the last extraction; also when there was none"),
        TicketErrors,
    ))]
async fn status(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<ExtractionStatus> {
    let repo = query.required("repo", "repo parameter is required")?.to_owned();
    let Some(place) = TicketReference { ticket, repo }.resolve(&app).await?.1 else {
        return Ok(Json(ExtractionStatus::none()));
    };
    let status = spawn_blocking(move || app.learnings.extractions.status(&worktree(&place).work_dir));
    Ok(Json(status.await?))
}

pub(crate) fn start_endpoint() -> Endpoint {
    Endpoint::new(routes!(start), TICKET_MEMBERS)
}

pub(crate) fn status_endpoint() -> Endpoint {
    let sources = &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))];
    Endpoint::new(routes!(status), sources)
}
