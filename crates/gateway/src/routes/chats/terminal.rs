//! `/api/gateway/terminal-chat`: one chat of the whole desktop, with whichever provider a message names.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use loopgate_agents::provider::{FileAccess, Provider};
use loopgate_agents::run::RunAnnouncement;
use loopgate_agents::{ChatRequest, ProviderRegistry};
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
use crate::extract::{JsonBody, Requester};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::orchestrator::sessions::SuccessResponse;

const PATH: &str = "/api/gateway/terminal-chat";
const NAME: &str = "_terminal";
const TOOLS: &str = "WebSearch,WebFetch,Bash";
/// A further name of the assistant.
const PRODUCT: &str = "@loopgate ";
const NO_DIRECTORY: &str =
    "No allowed directory is available for terminal chat execution. Update sandbox settings.";

/// A message of the terminal.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"message": "@reviewer Which port does the shop listen on?"}))]
struct TerminalMessage {
    /// Not blank. One that begins with `@reviewer ` is for the reviewer, every other for the assistant.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// The MCP server whose tools may be used.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    expected_mcp_url: Option<String>,
    /// Absolute paths of at most 10 files of at most 10 MiB that the message is about, such as uploaded images.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default)]
    attachments: AttachmentPaths,
}

/// The chat of the terminal
#[utoipa::path(get, path = "/api/gateway/terminal-chat", operation_id = "terminal_chat_history", tag = "chats",
    responses(
        (status = 200, body = ChatHistory, description = "The history, empty when there is none"),
        (status = 503, body = ErrorBody, description = "No sandbox is set",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn read(State(app): State<App>) -> JsonResult<ChatHistory> {
    read_history(app, NAME.to_owned(), SessionMembers::Separate, ChatHistory::default()).await
}

/// Ask a provider in the terminal
///
/// Works in the base directory of the sandbox. The answer goes on, and is stored, when the caller goes away;
/// posting the pid of the `running` event to `kill` stops it.
#[utoipa::path(post, path = "/api/gateway/terminal-chat", operation_id = "terminal_chat", tag = "chats",
    request_body = TerminalMessage,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One event a line, `done` last"),
        (status = 400, body = ErrorBody, description = "No message",
            example = json!({"error": "message is required", "code": "missing_field"})),
        (status = 500, body = ErrorBody, description = "No directory to work in, or the message cannot be stored",
            example = json!(ErrorBody::new(500, "Failed to save chat history: no space left"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn send(
    State(app): State<App>,
    Extension(requester): Extension<Requester>,
    JsonBody(body): JsonBody<TerminalMessage>,
) -> Result<Response, HttpError> {
    let message = body.message.ok_or_else(|| HttpError::missing_field("message is required"))?;
    let agents = agents_of(&app, PATH)?;
    let (provider, message) = addressee(&agents.providers, &message);
    let (history, directory, attachments) = {
        let app = app.clone();
        spawn_blocking(move || {
            let history = history_file(&app, NAME, SessionMembers::Separate)?;
            let directory = base_directory(&app).ok_or_else(|| HttpError::failed(NO_DIRECTORY))?;
            Ok::<_, HttpError>((history, directory, body.attachments.check(&app.sandbox)?))
        })
        .await??
    };
    let mode = Some(provider.id().clone());
    let request = ChatRequest {
        tools: stream::tools(&app, TOOLS, body.expected_mcp_url.as_deref()),
        access: FileAccess::ReadWrite,
        announcement: RunAnnouncement { spawning: true, mode, ..RunAnnouncement::default() },
        stores_mode: true,
        attachments,
        ..ChatRequest::new(provider, directory, history, ChatHistory::default(), message)
    };
    stream::send(&app, agents, requester, request).await
}

/// Whom a message is for, and the message without the name.
fn addressee(providers: &ProviderRegistry, message: &str) -> (Arc<dyn Provider>, String) {
    let message = message.trim();
    let named = providers.list().iter().find_map(|provider| {
        let rest = message.strip_prefix(&format!("@{} ", provider.id()))?;
        Some((provider.clone(), rest.trim().to_owned()))
    });
    named.unwrap_or_else(|| {
        let message = message.strip_prefix(PRODUCT).unwrap_or(message);
        (providers.assistant(), message.trim().to_owned())
    })
}

/// Forget the chat of the terminal
#[utoipa::path(delete, path = "/api/gateway/terminal-chat", operation_id = "forget_terminal_chat", tag = "chats",
    responses(
        (status = 200, body = SuccessResponse, description = "Forgotten, or there was nothing"),
        (status = 500, body = ErrorBody, description = "The history cannot be written",
            example = json!(ErrorBody::new(500, "Failed to save chat history: no space left"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn clear(State(app): State<App>) -> JsonResult<SuccessResponse> {
    clear_history(app, NAME.to_owned(), SessionMembers::Separate, ChatHistory::default()).await
}

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), &[])
}

pub(crate) fn send_endpoint() -> Endpoint {
    Endpoint::new(routes!(send), &[Source::ManagedRepositories, Source::Path(At::Body("attachments.*"))])
}

pub(crate) fn clear_endpoint() -> Endpoint {
    Endpoint::new(routes!(clear), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    // RC-41, RC-51
    #[test]
    fn messages_name_their_addressee() {
        for (message, id, rest) in [
            ("@reviewer hi", "reviewer", "hi"),
            (" @loopgate  hi ", "assistant", "hi"),
            ("@assistant hi", "assistant", "hi"),
            ("hi", "assistant", "hi"),
            ("@loopgatehi", "assistant", "@loopgatehi"),
            ("@reviewer", "assistant", "@reviewer"),
        ] {
            let (provider, text) = addressee(&ProviderRegistry::default(), message);
            assert_eq!((provider.id().as_str(), text.as_str()), (id, rest), "{message}");
        }
    }
}
