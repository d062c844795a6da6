//! `extract-learnings` and `learnings-status`: a ticket's chat becomes pending learnings.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_home::{SandboxedPath, led_away, untrusted};
use loopgate_learnings::{ExtractionStatus, LearningSource, TicketChat};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{StartStatus, TICKET_MEMBERS, TURNED_OFF, is_enabled, worktree};
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
/// Folder of chats about findings.
const FINDING_CHATS: &str = "finding-chats/";

/// The chat to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop", "activeTab": "chat"}))]
struct ExtractLearnings {
    #[serde(flatten)]
    ticket: TicketMembers,
    /// Given back by the status.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    active_tab: Option<String>,
    /// A name that ends in `.json`, also below `finding-chats/`; `chat-history.json` when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    chat_file: Option<String>,
}

/// Outcome of a request to extract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LearningsExtractionStart, example = json!({"status": "processing"}))]
struct ExtractionStarted {
    status: StartStatus,
    /// Why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// Extract learnings from a ticket's chat
///
/// In the background; the status tells when it is done.
#[utoipa::path(post, path = "/api/gateway/orchestrator/extract-learnings", operation_id = "extract_learnings", tag = "learnings",
    request_body = ExtractLearnings,
    responses(
        (status = 200, body = ExtractionStarted, description = "It runs, or learnings are turned off"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "No worktree, or no chat"),
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
    let reading = spawn_blocking(move || (untrusted::read_text(&chat), repo_name(&repository)));
    let (text, repo) = reading.await?;
    let text = text.map_err(|error| match error {
        error if led_away(&error) => HttpError::directory_not_allowed(),
        _ => HttpError::not_found("No chat history found").with("path", chat_file.as_str()),
    })?;
    if !is_enabled(&app) {
        return Ok(Json(ExtractionStarted { status: StartStatus::Skipped, reason: Some(TURNED_OFF) }));
    }
    runtime_of(&app, PATH)?;
    let source = LearningSource {
        run: place.base_name(),
        ticket: reference.ticket.as_str().to_owned(),
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

/// A file of a work directory that a client may name.
fn chat_file(named: Option<String>) -> Result<String, HttpError> {
    let named = named.unwrap_or_else(|| CHAT_FILE.to_owned());
    let base = named.strip_prefix(FINDING_CHATS).unwrap_or(&named);
    let is_name = base.len() > ".json".len() && base.ends_with(".json") && !base.contains(['/', '\\', '\0']);
    if is_name { Ok(named) } else { Err(HttpError::bad_request("invalid chatFile")) }
}

/// The name of a repository at its host, else that of its directory. Blocks on the disk.
fn repo_name(repository: &SandboxedPath) -> String {
    let origin = loopgate_home::origin_of_chosen(repository.as_path());
    let name = origin.and_then(|name| name.as_str().rsplit('/').next().map(str::to_owned));
    name.unwrap_or_else(|| repository.base_name())
}

/// How an extraction stands
#[utoipa::path(get, path = "/api/gateway/orchestrator/learnings-status/{ticketId}", operation_id = "learnings_status", tag = "learnings",
    params(("ticketId" = String, Path, description = "Ticket", example = "AB-1"), RepositoryQuery),
    responses(
        (status = 200, body = ExtractionStatus, description = "Its status, also when there was none"),
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
