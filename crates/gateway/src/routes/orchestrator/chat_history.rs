//! `/api/gateway/orchestrator/chat-history/{ticketId}`: what was said about a ticket.

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
use crate::routes::agents::known_provider;
use crate::routes::directory::ticket_worktree;

const NO_REPOSITORY: &str = "repo parameter is required";

/// A history, and whether the reviewer remembers the ticket.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ShownHistory)]
pub(crate) struct HistoryResponse {
    #[serde(flatten)]
    history: ChatHistory,
    /// Whether the reviewer has a session about a review of this ticket.
    reviewer_session_exists: bool,
}

/// What was added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = AddedToHistory)]
pub(crate) enum AddToHistoryResponse {
    /// A message; the whole history.
    Message { success: bool, history: Box<ChatHistory> },
    /// The id of the assistant's session.
    #[serde(rename_all = "camelCase")]
    Session { success: bool, session_id: String },
}

/// What was removed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = RemovedFromHistory)]
pub(crate) enum RemoveFromHistoryResponse {
    /// Everything, or there was nothing.
    All {
        success: bool,
        #[schema(example = "Chat history cleared")]
        message: &'static str,
    },
    /// One message; the rest.
    One { success: bool, history: Box<ChatHistory> },
}

/// A message to add, or the id of the assistant's session. A message goes before.
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
    /// Not empty.
    content: String,
    timestamp: String,
    #[serde(default, deserialize_with = "lenient::any")]
    sender: Option<ProviderId>,
}

/// Which history of a ticket is meant.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
struct HistoryQuery {
    /// Path of the repository
    repo: String,
    /// Whose chat
    provider: Option<ProviderId>,
}

/// Whose history a request is about.
struct HistoryKey {
    ticket: TicketId,
    repo: String,
    provider: Option<ProviderId>,
}

impl FromRequestParts<App> for HistoryKey {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let TicketPath(ticket) = TicketPath::from_request_parts(parts, app).await?;
        let Ok(query) = QueryMembers::from_request_parts(parts, app).await;
        let repo = query.required("repo", NO_REPOSITORY)?.to_owned();
        let provider = query.get("provider").filter(|name| !name.is_empty());
        let provider = provider.map(|name| known_provider(app, name)).transpose()?;
        Ok(Self { ticket, repo, provider })
    }
}

impl HistoryKey {
    /// The place of the history, below the ticket's worktree. Blocks on the disk.
    fn file(&self, app: &App) -> Result<HistoryFile, HttpError> {
        let not_allowed = |_| HttpError::directory_not_allowed();
        let repository = app.sandbox.check(&self.repo).map_err(not_allowed)?;
        let worktree = match ticket_worktree(app, &repository, &self.ticket)? {
            Some(worktree) => worktree,
            None => {
                let place = app.worktree_layout.for_ticket(&repository, &self.ticket);
                place.map_err(|_| HttpError::directory_not_allowed())?
            }
        };
        HistoryFile::of_ticket(&app.sandbox, worktree.as_path(), self.provider.as_ref()).map_err(not_allowed)
    }

    fn new_history(&self) -> ChatHistory {
        ChatHistory::new(self.ticket.as_str(), &self.repo)
    }
}

/// What was said about a ticket
#[utoipa::path(get, path = "/api/gateway/orchestrator/chat-history/{ticketId}", operation_id = "chat_history", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket"), HistoryQuery),
    responses(
        (status = 200, body = HistoryResponse, description = "The history, empty when there is none"),
        (status = 400, body = ErrorBody, description = "No repository, or an unknown provider"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The history cannot be read"),
    ))]
async fn read(State(app): State<App>, key: HistoryKey) -> JsonResult<HistoryResponse> {
    let shown = spawn_blocking(move || {
        let file = key.file(&app)?;
        let known =
            file.read().map_err(|error| HttpError::operation("Failed to read chat history", &error))?;
        let history = known.unwrap_or_else(|| key.new_history());
        Ok(HistoryResponse { history, reviewer_session_exists: file.reviewer_session_exists() })
    });
    shown.await?.map(Json)
}

/// Add a message, or the id of a session
#[utoipa::path(post, path = "/api/gateway/orchestrator/chat-history/{ticketId}", operation_id = "add_to_chat_history", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket"), HistoryQuery),
    request_body = AddToHistory,
    responses(
        (status = 200, body = AddToHistoryResponse, description = "Kept"),
        (status = 400, body = ErrorBody, description = "The body breaks a rule, no repository, or an unknown provider"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
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
                let kept = file.change(|| key.new_history(), |history| history.session_id = Some(id));
                kept.map_err(|error| HttpError::operation("Failed to save session ID", &error))?;
                Ok(AddToHistoryResponse::Session { success: true, session_id })
            }
            (None, None) => Err(HttpError::missing_field("message with content and role is required")),
        }
    });
    added.await?.map(Json)
}

/// Remove a message, or everything
#[utoipa::path(delete, path = "/api/gateway/orchestrator/chat-history/{ticketId}", operation_id = "remove_from_chat_history", tag = "orchestrator",
    params(
        ("ticketId" = String, Path, description = "Ticket"),
        HistoryQuery,
        ("index" = Option<u32>, Query, description = "Place of the one message to remove, from 0"),
    ),
    responses(
        (status = 200, body = RemoveFromHistoryResponse, description = "Removed, or there was nothing"),
        (status = 400, body = ErrorBody, description = "No repository, an unknown provider, or an index that is none"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No message at this index"),
        (status = 500, body = ErrorBody, description = "The history cannot be changed"),
    ))]
async fn remove(
    State(app): State<App>,
    key: HistoryKey,
    query: QueryMembers,
) -> JsonResult<RemoveFromHistoryResponse> {
    let wanted = query.get("index");
    let index = wanted.map(|text| text.parse::<usize>().map_err(|_| HttpError::bad_request("Invalid index")));
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
    file.remove_reviewer_sessions(provider).map_err(|error| delete_failed(&error))?;
    let message = if removed { "Chat history cleared" } else { NOTHING };
    Ok(RemoveFromHistoryResponse::All { success: true, message })
}

const NOTHING: &str = "No history to delete";

fn remove_one(file: &HistoryFile, index: usize) -> Result<RemoveFromHistoryResponse, HttpError> {
    let rest = file.change_known(|history| {
        if index >= history.messages.len() {
            return Err(RemoveMessageError::OutOfBounds);
        }
        history.messages.remove(index);
        Ok(history.clone())
    });
    match rest {
        Ok(Some(history)) => Ok(RemoveFromHistoryResponse::One { success: true, history: Box::new(history) }),
        Ok(None) => Ok(RemoveFromHistoryResponse::All { success: true, message: NOTHING }),
        Err(RemoveMessageError::OutOfBounds) => {
            Err(HttpError::new(StatusCode::NOT_FOUND, "Index out of bounds"))
        }
        Err(RemoveMessageError::Failed(error)) => Err(delete_failed(&error)),
    }
}

/// Why a message is still there.
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

/// Where requests name what they are about.
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
