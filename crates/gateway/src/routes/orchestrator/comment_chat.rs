//! `/api/gateway/orchestrator/comment-chat/{commentId}`: the chat about a review comment.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use loopgate_agents::ChatRequest;
use loopgate_api::chat::{ChatHistory, CommentContext};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::sessions::SuccessResponse;
use crate::app::App;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, RequestOrigin};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::chats::attachments::AttachmentPaths;
use crate::routes::chats::subject::{MESSAGE_SOURCES, SOURCES, SubjectId, SubjectKind, SubjectQuery};

const PATH: &str = "/api/gateway/orchestrator/comment-chat/{commentId}";

/// A message to the assistant about a comment.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CommentMessageBody {
    /// Text of the message; must not be blank.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// The comment and its location. Stored; later messages can omit it.
    #[serde(default, deserialize_with = "lenient::any")]
    comment_context: Option<CommentContext>,
    /// Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
    /// most 10 MiB.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default)]
    attachments: AttachmentPaths,
}

/// The chat message that was posted as a reply on the code host.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MarkResponded {
    /// Id of the message; the last assistant message when it is missing.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    message_id: Option<String>,
    /// Whether it was posted; true when it is missing.
    #[serde(default, deserialize_with = "lenient::any")]
    responded: Option<bool>,
}

/// Return the chat history of a comment
#[utoipa::path(get, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "comment_chat_history", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Id of the review comment"), SubjectQuery),
    responses(
        (status = 200, body = ChatHistory, description = "The history; empty when none is stored"),
        (status = 400, body = ErrorBody, description = "Ticket or repository path missing"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
    ))]
async fn read(State(app): State<App>, subject: SubjectId) -> JsonResult<ChatHistory> {
    subject.of_kind(SubjectKind::Comment).read(app).await
}

/// Send a message to the assistant about a comment
///
/// The assistant works in the ticket's worktree, or in the repository when there is none. If the client
/// disconnects, it still finishes and its response is stored. To cancel, post the pid of the first event to
/// `kill`.
#[utoipa::path(post, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "comment_chat", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Id of the review comment"), SubjectQuery),
    request_body = CommentMessageBody,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "Ticket, repository path or message missing"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 404, body = ErrorBody, description = "Neither the worktree nor the repository exists"),
        (status = 500, body = ErrorBody, description = "The message cannot be stored"),
    ))]
async fn chat(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    subject: SubjectId,
    JsonBody(body): JsonBody<CommentMessageBody>,
) -> Result<Response, HttpError> {
    let message = body.message.ok_or_else(|| HttpError::missing_field("message is required"))?;
    let (chat, agents) = (subject.of_kind(SubjectKind::Comment), agents_of(&app, PATH)?);
    let with_comment = |request| ChatRequest { comment: body.comment_context, ..request };
    chat.send(&app, agents, requester, message, body.attachments, with_comment).await
}

/// Mark a chat message as posted to the code host
#[utoipa::path(patch, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "mark_comment_responded", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Id of the review comment"), SubjectQuery),
    request_body = MarkResponded,
    responses(
        (status = 200, body = SuccessResponse, description = "Recorded; an unknown message id is a no-op"),
        (status = 400, body = ErrorBody, description = "Ticket or repository path missing, or the body is not JSON"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The history cannot be written"),
    ))]
async fn mark(
    State(app): State<App>,
    subject: SubjectId,
    JsonBody(body): JsonBody<MarkResponded>,
) -> JsonResult<SuccessResponse> {
    let chat = subject.of_kind(SubjectKind::Comment);
    chat.mark_responded(app, body.message_id, body.responded.unwrap_or(true)).await
}

/// Delete the chat history of a comment
#[utoipa::path(delete, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "forget_comment_chat", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Id of the review comment"), SubjectQuery),
    responses(
        (status = 200, body = SuccessResponse, description = "Deleted, or nothing was stored"),
        (status = 400, body = ErrorBody, description = "Ticket or repository path missing"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The history cannot be removed"),
    ))]
async fn forget(State(app): State<App>, subject: SubjectId) -> JsonResult<SuccessResponse> {
    subject.of_kind(SubjectKind::Comment).remove(app).await
}

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), SOURCES)
}

pub(crate) fn chat_endpoint() -> Endpoint {
    Endpoint::new(routes!(chat), MESSAGE_SOURCES)
}

pub(crate) fn mark_endpoint() -> Endpoint {
    Endpoint::new(routes!(mark), SOURCES)
}

pub(crate) fn forget_endpoint() -> Endpoint {
    Endpoint::new(routes!(forget), SOURCES)
}
