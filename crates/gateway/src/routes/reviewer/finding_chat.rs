//! `/api/gateway/reviewer/finding-chat/{findingId}`: the chat about a finding.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use loopgate_agents::ChatRequest;
use loopgate_api::chat::{ChatHistory, ChatMessage, FindingContext};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, RequestOrigin};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::chats::attachments::AttachmentPaths;
use crate::routes::chats::subject::{MESSAGE_SOURCES, SOURCES, SubjectId, SubjectKind, SubjectQuery};
use crate::routes::orchestrator::sessions::SuccessResponse;

const PATH: &str = "/api/gateway/reviewer/finding-chat/{findingId}";
const ROLE: &str = "Help a developer judge a finding of a code review: whether it is right, how much it matters, and \
    what to do next. Look at the code before you answer. Be concise.\n\n";

/// A message to the assistant about a finding.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"message": "Can this overflow?", "findingContext": {"severity": "high", "priority": "P1", "file": "src/cart.rs", "line": 14, "message": "The sum overflows", "suggestion": "use checked_add"}}))]
struct FindingMessage {
    /// Text of the message; must not be blank.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// Text to store in the history, if it differs from `message`.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    display_message: Option<String>,
    /// The finding and its location. Stored; later messages can omit it.
    #[serde(default, deserialize_with = "lenient::any")]
    finding_context: Option<FindingContext>,
    /// Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
    /// most 10 MiB.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default)]
    attachments: AttachmentPaths,
}

/// A message to store, or the message that was posted to the code host. With both, only the message is
/// stored.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"messageId": "assistant-1735000000000", "responded": true}))]
struct ChangeFindingChat {
    /// Message with id, role and content. Replaces a stored message with the same id.
    #[schema(value_type = Option<ChatMessage>)]
    #[serde(default)]
    message: Option<Value>,
    /// Id of the message that was posted; the last assistant message when it is missing.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    message_id: Option<String>,
    /// Whether it was posted; true when it is missing.
    #[serde(default, deserialize_with = "lenient::any")]
    responded: Option<bool>,
}

/// Return the chat history of a finding
#[utoipa::path(get, path = "/api/gateway/reviewer/finding-chat/{findingId}", operation_id = "finding_chat_history", tag = "reviewer",
    params(("findingId" = String, Path, description = "Id of the finding", example = "finding-0"), SubjectQuery),
    responses(
        (status = 200, body = ChatHistory, description = "The history; empty when none is stored"),
        (status = 400, body = ErrorBody, description = "Ticket or repository path missing",
            example = json!(ErrorBody::missing_field("ticketId and repo parameters are required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
    ))]
async fn read(State(app): State<App>, subject: SubjectId) -> JsonResult<ChatHistory> {
    subject.of_kind(SubjectKind::Finding).read(app).await
}

/// Send a message to the assistant about a finding
///
/// The assistant works in the ticket's worktree. If the client disconnects, it still finishes and its
/// response is stored. To cancel, post the pid of the `running` event to `kill`.
#[utoipa::path(post, path = "/api/gateway/reviewer/finding-chat/{findingId}", operation_id = "finding_chat", tag = "reviewer",
    params(("findingId" = String, Path, description = "Id of the finding", example = "finding-0"), SubjectQuery),
    request_body = FindingMessage,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "Ticket, repository path or message missing",
            example = json!(ErrorBody::missing_field("message is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The ticket has no worktree",
            example = json!(ErrorBody::new(404, "Work directory not found"))),
        (status = 500, body = ErrorBody, description = "The message cannot be stored",
            example = json!(ErrorBody::new(500, "Failed to save chat history: no space left"))),
    ))]
async fn send(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    subject: SubjectId,
    JsonBody(body): JsonBody<FindingMessage>,
) -> Result<Response, HttpError> {
    let message = body.message.ok_or_else(|| HttpError::missing_field("message is required"))?;
    let (chat, agents) = (subject.of_kind(SubjectKind::Finding), agents_of(&app, PATH)?);
    let with_finding = |request| ChatRequest {
        displayed_message: body.display_message,
        finding: body.finding_context,
        introduction: ROLE.to_owned(),
        ..request
    };
    chat.send(&app, agents, requester, message, body.attachments, with_finding).await
}

/// Store a message, or mark one as posted to the code host
#[utoipa::path(patch, path = "/api/gateway/reviewer/finding-chat/{findingId}", operation_id = "change_finding_chat", tag = "reviewer",
    params(("findingId" = String, Path, description = "Id of the finding", example = "finding-0"), SubjectQuery),
    request_body = ChangeFindingChat,
    responses(
        (status = 200, body = SuccessResponse, description = "Stored; an unknown message id is a no-op"),
        (status = 400, body = ErrorBody, description = "Ticket or repository path missing, or invalid message",
            example = json!(ErrorBody::missing_field("message with id, role and content is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The history cannot be written",
            example = json!(ErrorBody::new(500, "Failed to save chat history: no space left"))),
    ))]
async fn change(
    State(app): State<App>,
    subject: SubjectId,
    JsonBody(body): JsonBody<ChangeFindingChat>,
) -> JsonResult<SuccessResponse> {
    let chat = subject.of_kind(SubjectKind::Finding);
    match body.message {
        Some(message) => {
            let message = serde_json::from_value(message).ok();
            let is_complete =
                |message: &ChatMessage| !message.id.is_empty() && !message.content.trim().is_empty();
            let incomplete = || HttpError::missing_field("message with id, role and content is required");
            chat.add(app, message.filter(is_complete).ok_or_else(incomplete)?).await
        }
        None => chat.mark_responded(app, body.message_id, body.responded.unwrap_or(true)).await,
    }
}

/// Delete the chat history of a finding
#[utoipa::path(delete, path = "/api/gateway/reviewer/finding-chat/{findingId}", operation_id = "forget_finding_chat", tag = "reviewer",
    params(("findingId" = String, Path, description = "Id of the finding", example = "finding-0"), SubjectQuery),
    responses(
        (status = 200, body = SuccessResponse, description = "Deleted, or nothing was stored"),
        (status = 400, body = ErrorBody, description = "Ticket or repository path missing",
            example = json!(ErrorBody::missing_field("ticketId and repo parameters are required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The history cannot be removed",
            example = json!(ErrorBody::new(500, "Failed to delete: permission denied"))),
    ))]
async fn forget(State(app): State<App>, subject: SubjectId) -> JsonResult<SuccessResponse> {
    subject.of_kind(SubjectKind::Finding).remove(app).await
}

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), SOURCES)
}

pub(crate) fn send_endpoint() -> Endpoint {
    Endpoint::new(routes!(send), MESSAGE_SOURCES)
}

pub(crate) fn change_endpoint() -> Endpoint {
    Endpoint::new(routes!(change), SOURCES)
}

pub(crate) fn forget_endpoint() -> Endpoint {
    Endpoint::new(routes!(forget), SOURCES)
}
