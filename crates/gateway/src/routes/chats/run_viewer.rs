//! `/api/gateway/run-viewer-chat`: the chat about the files of a run.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use loopgate_agents::ChatRequest;
use loopgate_agents::run::RunAnnouncement;
use loopgate_api::chat::{ChatHistory, SessionMembers};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::attachments::AttachmentPaths;
use super::{base_directory, clear_history, history_file, read_history, stream};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, RequestOrigin};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::orchestrator::sessions::SuccessResponse;

const PATH: &str = "/api/gateway/run-viewer-chat";
const NAME: &str = "_run-viewer";
const ROLE: &str = "Explain the files that a run of a coding loop has left: plans, logs, outputs.";
/// Characters of a file preview that reach the prompt; longer previews are truncated. Clients send at most as
/// many.
const PREVIEW_MAX: usize = 4000;

/// A question about the files of a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"message": "Why did it stop?", "runDir": "~/src/run-7", "fileContext": {"path": "plan.md", "contentPreview": "# The plan"}}))]
struct RunViewerMessage {
    /// Text of the message; must not be blank.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// Directory of the run. Without it the provider gets no file tools.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    run_dir: Option<String>,
    /// The file that is open in the page.
    #[serde(default, deserialize_with = "lenient::any")]
    file_context: Option<FileContext>,
    /// Provider that answers: `assistant` when it is missing or unknown. May differ between messages of a
    /// chat.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
    /// URL of the MCP server whose tools the provider may use.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    expected_mcp_url: Option<String>,
    /// Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
    /// most 10 MiB.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default)]
    attachments: AttachmentPaths,
}

/// A file of a run and its first characters.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FileContext {
    path: String,
    /// Start of the file; at most 4000 characters are used.
    #[serde(default)]
    content_preview: String,
}

impl FileContext {
    fn text(&self) -> String {
        let preview: String = self.content_preview.chars().take(PREVIEW_MAX).collect();
        format!("The file {} is open:\n{preview}\n\n", self.path)
    }
}

/// Return the chat history about runs
#[utoipa::path(get, path = "/api/gateway/run-viewer-chat", operation_id = "run_viewer_chat_history", tag = "chats",
    responses(
        (status = 200, body = ChatHistory, description = "The history; empty when none is stored"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn read(State(app): State<App>) -> JsonResult<ChatHistory> {
    read_history(app, NAME.to_owned(), SessionMembers::Separate, ChatHistory::default()).await
}

/// Send a message about a run
///
/// The provider works in the run's directory, or in the base directory of the sandbox. If the client
/// disconnects, the provider still finishes and its response is stored. To cancel, post the pid of the
/// `running` event to `kill`.
#[utoipa::path(post, path = "/api/gateway/run-viewer-chat", operation_id = "run_viewer_chat", tag = "chats",
    request_body = RunViewerMessage,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "Message missing",
            example = json!({"error": "message is required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!({"error": "directory not allowed", "code": "directory_not_allowed"})),
        (status = 500, body = ErrorBody, description = "The message cannot be stored",
            example = json!(ErrorBody::new(500, "Failed to save chat history: no space left"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn send(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    JsonBody(body): JsonBody<RunViewerMessage>,
) -> Result<Response, HttpError> {
    let message = body.message.ok_or_else(|| HttpError::missing_field("message is required"))?;
    let agents = agents_of(&app, PATH)?;
    let requested = body.provider.and_then(|name| agents.providers.by_name(&name));
    let provider = requested.unwrap_or_else(|| agents.providers.assistant());
    let run_directory = body.run_dir.as_ref().map(|directory| format!("Directory of the run: {directory}\n"));
    let introduction = format!("{ROLE}\n{}\n---\n\n", run_directory.unwrap_or_default());
    // Without a directory in the request, the provider must not read the files of the base directory.
    let tools = if body.run_dir.is_some() { stream::READ_TOOLS } else { stream::WEB_TOOLS };
    // All checks precede the response: once streaming has started, the status can no longer change.
    let (history, directory, attachments) = {
        let app = app.clone();
        spawn_blocking(move || {
            let history = history_file(&app, NAME, SessionMembers::Separate)?;
            let directory = match body.run_dir {
                Some(directory) => app.sandbox.check(directory).ok(),
                None => base_directory(&app),
            };
            let directory = directory.ok_or_else(HttpError::directory_not_allowed)?;
            Ok::<_, HttpError>((history, directory, body.attachments.check(&app.sandbox)?))
        })
        .await??
    };
    // Announced on the wire: the history is shared by all providers, so clients label each response by its
    // mode.
    let mode = Some(provider.id().clone());
    let request = ChatRequest {
        introduction,
        preamble: body.file_context.map(|file| file.text()).unwrap_or_default(),
        tools: stream::tools(&app, tools, body.expected_mcp_url.as_deref()),
        announcement: RunAnnouncement { spawning: true, mode, ..RunAnnouncement::default() },
        attachments,
        ..ChatRequest::new(provider, directory, history, ChatHistory::default(), message)
    };
    stream::send(&app, agents, requester, request).await
}

/// Delete the chat history about runs
#[utoipa::path(delete, path = "/api/gateway/run-viewer-chat", operation_id = "forget_run_viewer_chat", tag = "chats",
    responses(
        (status = 200, body = SuccessResponse, description = "Deleted, or nothing was stored"),
        (status = 500, body = ErrorBody, description = "The history cannot be written",
            example = json!(ErrorBody::new(500, "Failed to save chat history: no space left"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn clear(State(app): State<App>) -> JsonResult<SuccessResponse> {
    clear_history(app, NAME.to_owned(), SessionMembers::Separate, ChatHistory::default()).await
}

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), &[])
}

pub(crate) fn send_endpoint() -> Endpoint {
    Endpoint::new(routes!(send), &[Source::Path(At::Body("runDir")), Source::Path(At::Body("attachments.*"))])
}

pub(crate) fn clear_endpoint() -> Endpoint {
    Endpoint::new(routes!(clear), &[])
}
