//! `/api/gateway/orchestrator/comment-chat/{commentId}`: asks the assistant about a review comment.

use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use axum::{Extension, Json};
use http::StatusCode;
use http::request::Parts;
use loopgate_agents::ChatRequest;
use loopgate_agents::conversation::history::HistoryFile;
use loopgate_agents::provider::Access;
use loopgate_api::chat::{ChatHistory, ChatRole, CommentContext};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_home::SandboxedPath;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::Requester;
use crate::extract::{JsonBody, QueryMembers, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::directory::ticket_worktree;

use super::params::CommentQuery;
use super::sessions::Success;
use crate::routes::agents::agents_of;
use crate::routes::chats::stream;

const PATH: &str = "/api/gateway/orchestrator/comment-chat/{commentId}";

/// A message to the assistant about a comment.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CommentMessageBody {
    /// Not blank.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// The comment; the last one that was sent is kept.
    #[serde(default, deserialize_with = "lenient::any")]
    comment_context: Option<CommentContext>,
}

/// Which message was answered on the code host.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MarkResponded {
    /// The assistant's last message when it is missing.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    message_id: Option<String>,
    /// True when it is missing.
    #[serde(default, deserialize_with = "lenient::any")]
    responded: Option<bool>,
}

/// Which chat a request is about.
#[derive(Clone)]
struct CommentChatKey {
    comment: TicketId,
    ticket: TicketId,
    repo: String,
}

/// Where a chat works and is kept.
struct CommentChatLocation {
    directory: SandboxedPath,
    history: HistoryFile,
}

impl<S: Send + Sync> FromRequestParts<S> for CommentChatKey {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let TicketPath(comment) = TicketPath::from_request_parts(parts, state).await?;
        let Ok(query) = QueryMembers::from_request_parts(parts, state).await;
        let required = |name| query.required(name, "ticketId and repo parameters are required");
        let (ticket, repo) = (required("ticketId")?, required("repo")?);
        Ok(Self { comment, ticket: TicketId::new(ticket), repo: repo.to_owned() })
    }
}

impl CommentChatKey {
    /// Below the ticket's worktree, else the repository. Blocks on the disk.
    fn location(&self, app: &App) -> Result<CommentChatLocation, HttpError> {
        let not_allowed = |_| HttpError::directory_not_allowed();
        let repository = app.sandbox.check(&self.repo).map_err(not_allowed)?;
        let directory = ticket_worktree(app, &repository, &self.ticket)?.unwrap_or(repository);
        let history = HistoryFile::of_comment(&app.sandbox, directory.as_path(), &self.comment);
        Ok(CommentChatLocation { history: history.map_err(not_allowed)?, directory })
    }

    fn new_history(&self) -> ChatHistory {
        let comment_id = Some(self.comment.as_str().to_owned());
        ChatHistory { comment_id, ..ChatHistory::new(self.ticket.as_str(), &self.repo) }
    }
}

/// What was said about a comment
#[utoipa::path(get, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "comment_chat_history", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Review comment"), CommentQuery),
    responses(
        (status = 200, body = ChatHistory, description = "The history, empty when there is none"),
        (status = 400, body = ErrorBody, description = "No ticket or no repository"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
    ))]
async fn read(State(app): State<App>, key: CommentChatKey) -> JsonResult<ChatHistory> {
    let history = spawn_blocking(move || {
        let known = key.location(&app)?.history.read().inspect_err(|error| {
            tracing::warn!(%error, "the chat about a comment cannot be read");
        });
        Ok(known.ok().flatten().unwrap_or_else(|| key.new_history()))
    });
    history.await?.map(Json)
}

/// Ask the assistant about a comment
///
/// Works in the ticket's worktree, else in the repository. The answer goes on, and is kept, when the
/// caller goes away; posting the pid of the first line to `kill` stops it.
#[utoipa::path(post, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "comment_chat", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Review comment"), CommentQuery),
    request_body = CommentMessageBody,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One event a line, `done` last"),
        (status = 400, body = ErrorBody, description = "No ticket, no repository, or no message"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 404, body = ErrorBody, description = "Neither worktree nor repository is there"),
        (status = 500, body = ErrorBody, description = "The message cannot be kept"),
    ))]
async fn chat(
    State(app): State<App>,
    Extension(requester): Extension<Requester>,
    key: CommentChatKey,
    JsonBody(body): JsonBody<CommentMessageBody>,
) -> Result<Response, HttpError> {
    let message = body.message.ok_or_else(|| HttpError::missing_field("message is required"))?;
    let location = {
        let (app, key) = (app.clone(), key.clone());
        spawn_blocking(move || {
            let location = key.location(&app)?;
            let there = location.directory.canonical().is_dir();
            let missing = || HttpError::new(StatusCode::NOT_FOUND, "Work directory not found");
            there.then_some(location).ok_or_else(missing)
        })
        .await??
    };
    let agents = agents_of(&app, PATH)?;
    let (assistant, new_history) = (agents.providers.assistant(), key.new_history());
    let request = ChatRequest {
        comment: body.comment_context,
        tools: stream::tools(&app, stream::ENGINEER_TOOLS, None),
        access: Access::ReadWrite,
        ..ChatRequest::new(assistant, location.directory, location.history, new_history, message)
    };
    stream::send(&app, agents, requester, request).await
}

/// Note that a comment was answered
#[utoipa::path(patch, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "mark_comment_responded", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Review comment"), CommentQuery),
    request_body = MarkResponded,
    responses(
        (status = 200, body = Success, description = "Noted; an unknown message changes nothing"),
        (status = 400, body = ErrorBody, description = "No ticket, no repository, or no JSON"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The history cannot be written"),
    ))]
async fn mark(
    State(app): State<App>,
    key: CommentChatKey,
    JsonBody(body): JsonBody<MarkResponded>,
) -> JsonResult<Success> {
    let (id, responded) = (body.message_id, body.responded.unwrap_or(true));
    let marked = spawn_blocking(move || {
        let location = key.location(&app)?;
        let kept = location.history.change(
            || key.new_history(),
            |history| {
                let mut messages = history.messages.iter_mut().rev();
                let found = match id {
                    Some(id) => messages.find(|message| message.id == id),
                    None => messages.find(|message| message.role == ChatRole::Assistant),
                };
                if let Some(message) = found {
                    message.responded = Some(responded);
                }
            },
        );
        kept.map_err(|error| HttpError::operation("Failed to save chat history", &error))
    });
    marked.await??;
    Ok(Success::YES)
}

/// Forget what was said about a comment
#[utoipa::path(delete, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "forget_comment_chat", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Review comment"), CommentQuery),
    responses(
        (status = 200, body = Success, description = "Forgotten, or there was nothing"),
        (status = 400, body = ErrorBody, description = "No ticket or no repository"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The history cannot be removed"),
    ))]
async fn forget(State(app): State<App>, key: CommentChatKey) -> JsonResult<Success> {
    let removed = spawn_blocking(move || {
        let removed = key.location(&app)?.history.remove();
        removed.map_err(|error| HttpError::operation("Failed to delete", &error))
    });
    removed.await??;
    Ok(Success::YES)
}

/// Where requests name what they are about.
const SOURCES: &[Source] = &[Source::Path(At::Query("repo")), Source::Ticket(At::Query("ticketId"))];

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), SOURCES)
}

pub(crate) fn chat_endpoint() -> Endpoint {
    Endpoint::new(routes!(chat), SOURCES)
}

pub(crate) fn mark_endpoint() -> Endpoint {
    Endpoint::new(routes!(mark), SOURCES)
}

pub(crate) fn forget_endpoint() -> Endpoint {
    Endpoint::new(routes!(forget), SOURCES)
}
