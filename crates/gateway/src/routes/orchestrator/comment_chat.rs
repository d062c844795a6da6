//! `/api/gateway/orchestrator/comment-chat/{commentId}`: asks the assistant about a review comment.

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
use crate::extract::{JsonBody, Requester};
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
    /// Not blank.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// The comment; the last one that was sent is kept.
    #[serde(default, deserialize_with = "lenient::any")]
    comment_context: Option<CommentContext>,
    /// Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default)]
    attachments: AttachmentPaths,
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

/// What was said about a comment
#[utoipa::path(get, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "comment_chat_history", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Review comment"), SubjectQuery),
    responses(
        (status = 200, body = ChatHistory, description = "The history, empty when there is none"),
        (status = 400, body = ErrorBody, description = "No ticket or no repository"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
    ))]
async fn read(State(app): State<App>, subject: SubjectId) -> JsonResult<ChatHistory> {
    subject.of_kind(SubjectKind::Comment).read(app).await
}

/// Ask the assistant about a comment
///
/// Works in the ticket's worktree, else in the repository. The answer goes on, and is kept, when the
/// caller goes away; posting the pid of the first line to `kill` stops it.
#[utoipa::path(post, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "comment_chat", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Review comment"), SubjectQuery),
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
    subject: SubjectId,
    JsonBody(body): JsonBody<CommentMessageBody>,
) -> Result<Response, HttpError> {
    let message = body.message.ok_or_else(|| HttpError::missing_field("message is required"))?;
    let (chat, agents) = (subject.of_kind(SubjectKind::Comment), agents_of(&app, PATH)?);
    let with_comment = |request| ChatRequest { comment: body.comment_context, ..request };
    chat.send(&app, agents, requester, message, body.attachments, with_comment).await
}

/// Note that a comment was answered
#[utoipa::path(patch, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "mark_comment_responded", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Review comment"), SubjectQuery),
    request_body = MarkResponded,
    responses(
        (status = 200, body = SuccessResponse, description = "Noted; an unknown message changes nothing"),
        (status = 400, body = ErrorBody, description = "No ticket, no repository, or no JSON"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
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

/// Forget what was said about a comment
#[utoipa::path(delete, path = "/api/gateway/orchestrator/comment-chat/{commentId}", operation_id = "forget_comment_chat", tag = "orchestrator",
    params(("commentId" = String, Path, description = "Review comment"), SubjectQuery),
    responses(
        (status = 200, body = SuccessResponse, description = "Forgotten, or there was nothing"),
        (status = 400, body = ErrorBody, description = "No ticket or no repository"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
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
