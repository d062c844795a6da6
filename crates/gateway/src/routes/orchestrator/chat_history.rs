//! `/api/gateway/orchestrator/chat-history/{ticketId}`: the stored chat about a ticket.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use http::StatusCode;
use http::request::Parts;
use loopgate_agents::conversation::history::HistoryFile;
use loopgate_api::chat::{ChatHistory, ChatMessage, ChatRole};
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_api::provider::ProviderId;
use loopgate_home::JsonFileError;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::parse_provider;
use crate::routes::directory::ticket_worktree;

const NO_REPOSITORY: &str = "repo parameter is required";

/// Chat history of a ticket, and whether the reviewer has a session for it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ShownHistory)]
pub(crate) struct HistoryResponse {
    #[serde(flatten)]
    history: ChatHistory,
    /// Whether the reviewer has a session from a review of this ticket.
    reviewer_session_exists: bool,
}

/// Result of an addition.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = AddedToHistory)]
pub(crate) enum AddToHistoryResponse {
    /// A message was added; contains the whole history.
    Message { success: bool, history: Box<ChatHistory> },
    /// The id of the assistant's session was stored.
    #[serde(rename_all = "camelCase")]
    Session { success: bool, session_id: String },
}

/// Result of a removal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = RemovedFromHistory)]
pub(crate) enum RemoveFromHistoryResponse {
    /// The history was deleted, or none was stored.
    All {
        success: bool,
        #[schema(example = "Chat history cleared")]
        message: &'static str,
    },
    /// One message was removed; contains the remaining history.
    One { success: bool, history: Box<ChatHistory> },
}

/// A message to add, or the id of the assistant's session. With both, only the message is stored.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AddToHistory {
    #[serde(default, deserialize_with = "lenient::any")]
    message: Option<NewMessage>,
    #[serde(default, deserialize_with = "lenient::non_empty")]
    session_id: Option<String>,
}

/// A message to add.
#[derive(Debug, Deserialize, ToSchema)]
struct NewMessage {
    id: String,
    role: ChatRole,
    /// Text of the message; must not be empty.
    content: String,
    timestamp: String,
    #[serde(default, deserialize_with = "lenient::any")]
    sender: Option<ProviderId>,
}

/// Query that selects a history of the ticket.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
struct HistoryQuery {
    /// Path of the repository's clone
    repo: String,
    /// Provider of the chat; absent for the shared one
    provider: Option<ProviderId>,
}

/// Ticket, repository and provider that select a history.
struct HistoryKey {
    ticket: TicketId,
    repo: String,
    provider: Option<ProviderId>,
}

impl FromRequestParts<App> for HistoryKey {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let TicketPath(ticket) = TicketPath::from_request_parts(parts, app).await?;
        // Extraction of a query is infallible.
        let Ok(query) = QueryMembers::from_request_parts(parts, app).await;
        let repo = query.required("repo", NO_REPOSITORY)?.to_owned();
        let provider = query.get("provider").filter(|name| !name.is_empty());
        let provider = provider.map(|name| parse_provider(app, name)).transpose()?;
        Ok(Self { ticket, repo, provider })
    }
}

impl HistoryKey {
    /// Returns the history file in the ticket's worktree, which may not exist yet. Performs blocking I/O.
    fn file(&self, app: &App) -> Result<HistoryFile, HttpError> {
        let not_allowed = |_| HttpError::directory_not_allowed();
        let repository = app.sandbox.check(&self.repo).map_err(not_allowed)?;
        let worktree = match ticket_worktree(app, &repository, &self.ticket)? {
            Some(worktree) => worktree,
            None => {
                let location = app.worktree_layout.for_ticket(&repository, &self.ticket);
                location.map_err(|_| HttpError::directory_not_allowed())?
            }
        };
        HistoryFile::of_ticket(&app.sandbox, worktree.as_path(), self.provider.as_ref()).map_err(not_allowed)
    }

    fn new_history(&self) -> ChatHistory {
        ChatHistory::new(self.ticket.as_str(), &self.repo)
    }
}

/// Return the chat history of a ticket
#[utoipa::path(get, path = "/api/gateway/orchestrator/chat-history/{ticketId}", operation_id = "chat_history", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket"), HistoryQuery),
    responses(
        (status = 200, body = HistoryResponse, description = "The history; empty when none is stored"),
        (status = 400, body = ErrorBody, description = "Repository path missing, or unknown provider"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The history cannot be read"),
    ))]
async fn read(State(app): State<App>, key: HistoryKey) -> JsonResult<HistoryResponse> {
    let response = spawn_blocking(move || {
        let file = key.file(&app)?;
        let stored =
            file.read().map_err(|error| HttpError::operation("Failed to read chat history", &error))?;
        let history = stored.unwrap_or_else(|| key.new_history());
        Ok(HistoryResponse { history, reviewer_session_exists: file.reviewer_session_exists() })
    });
    response.await?.map(Json)
}

/// Add a message, or store the id of a session
#[utoipa::path(post, path = "/api/gateway/orchestrator/chat-history/{ticketId}", operation_id = "add_to_chat_history", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket"), HistoryQuery),
    request_body = AddToHistory,
    responses(
        (status = 200, body = AddToHistoryResponse, description = "The message or session id was stored"),
        (status = 400, body = ErrorBody, description = "Invalid body, repository path missing, or unknown provider"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The history cannot be written"),
    ))]
async fn add(
    State(app): State<App>,
    key: HistoryKey,
    JsonBody(body): JsonBody<AddToHistory>,
) -> JsonResult<AddToHistoryResponse> {
    let message = body.message.filter(|message| !message.content.is_empty()).map(ChatMessage::from);
    let session = body.session_id;
    let added = spawn_blocking(move || {
        let file = key.file(&app)?;
        match (message, session) {
            (Some(message), _) => {
                let added = file.change(
                    || key.new_history(),
                    |history| {
                        history.messages.push(message);
                        history.clone()
                    },
                );
                let history =
                    added.map_err(|error| HttpError::operation("Failed to save chat history", &error))?;
                Ok(AddToHistoryResponse::Message { success: true, history: Box::new(history) })
            }
            (None, Some(session_id)) => {
                let id = session_id.clone();
                let saved = file.change(|| key.new_history(), |history| history.session_id = Some(id));
                saved.map_err(|error| HttpError::operation("Failed to save session ID", &error))?;
                Ok(AddToHistoryResponse::Session { success: true, session_id })
            }
            (None, None) => Err(HttpError::missing_field("message with content and role is required")),
        }
    });
    added.await?.map(Json)
}

/// Remove a message, or the whole history
#[utoipa::path(delete, path = "/api/gateway/orchestrator/chat-history/{ticketId}", operation_id = "remove_from_chat_history", tag = "orchestrator",
    params(
        ("ticketId" = String, Path, description = "Id of the ticket"),
        HistoryQuery,
        ("index" = Option<u32>, Query, description = "Zero-based index of the message to remove; all messages when it is missing"),
    ),
    responses(
        (status = 200, body = RemoveFromHistoryResponse, description = "Removed, or no history was stored"),
        (status = 400, body = ErrorBody, description = "Repository path missing, unknown provider, or invalid index"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No message at this index"),
        (status = 500, body = ErrorBody, description = "The history cannot be changed"),
    ))]
async fn remove(
    State(app): State<App>,
    key: HistoryKey,
    query: QueryMembers,
) -> JsonResult<RemoveFromHistoryResponse> {
    let index = query.get("index");
    let index = index.map(|text| text.parse::<usize>().map_err(|_| HttpError::bad_request("Invalid index")));
    let index = index.transpose()?;
    let removed = spawn_blocking(move || {
        let file = key.file(&app)?;
        match index {
            Some(index) => remove_one(&file, index),
            None => remove_all(&file, key.provider.as_ref()),
        }
    });
    removed.await?.map(Json)
}

fn remove_all(
    file: &HistoryFile,
    provider: Option<&ProviderId>,
) -> Result<RemoveFromHistoryResponse, HttpError> {
    let removed = file.remove().map_err(|error| delete_failed(&error))?;
    // A reviewer session contains the deleted messages, so the next message must start a new one.
    file.remove_reviewer_sessions(provider).map_err(|error| delete_failed(&error))?;
    let message = if removed { "Chat history cleared" } else { NO_HISTORY };
    Ok(RemoveFromHistoryResponse::All { success: true, message })
}

const NO_HISTORY: &str = "No history to delete";

fn remove_one(file: &HistoryFile, index: usize) -> Result<RemoveFromHistoryResponse, HttpError> {
    let remaining = file.update_existing(|history| {
        if index >= history.messages.len() {
            // An error from the closure leaves the file unchanged.
            return Err(RemoveMessageError::OutOfBounds);
        }
        history.messages.remove(index);
        Ok(history.clone())
    });
    match remaining {
        Ok(Some(history)) => Ok(RemoveFromHistoryResponse::One { success: true, history: Box::new(history) }),
        Ok(None) => Ok(RemoveFromHistoryResponse::All { success: true, message: NO_HISTORY }),
        Err(RemoveMessageError::OutOfBounds) => {
            Err(HttpError::new(StatusCode::NOT_FOUND, "Index out of bounds"))
        }
        Err(RemoveMessageError::Failed(error)) => Err(delete_failed(&error)),
    }
}

/// Reason for which a message was not removed.
enum RemoveMessageError {
    OutOfBounds,
    Failed(JsonFileError),
}

impl From<JsonFileError> for RemoveMessageError {
    fn from(error: JsonFileError) -> Self {
        Self::Failed(error)
    }
}

fn delete_failed(error: &dyn std::fmt::Display) -> HttpError {
    HttpError::operation("Failed to delete", error)
}

impl From<NewMessage> for ChatMessage {
    fn from(NewMessage { id, role, content, timestamp, sender }: NewMessage) -> Self {
        Self { sender, ..Self::new(id, role, content, timestamp) }
    }
}

/// Parameters that name the directories of a request.
const SOURCES: &[Source] = &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))];

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), SOURCES)
}

pub(crate) fn add_endpoint() -> Endpoint {
    Endpoint::new(routes!(add), SOURCES)
}

pub(crate) fn remove_endpoint() -> Endpoint {
    Endpoint::new(routes!(remove), SOURCES)
}
