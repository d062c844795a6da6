//! `/api/gateway/terminal-chat`: the desktop-wide chat. A message can address a provider by name.

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
use crate::extract::{JsonBody, RequestOrigin};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::orchestrator::sessions::SuccessResponse;

const PATH: &str = "/api/gateway/terminal-chat";
const NAME: &str = "_terminal";
const TOOLS: &str = "WebSearch,WebFetch,Bash";
// Alias of the assistant. The trailing space keeps `@loopgatehi` from matching.
const PRODUCT: &str = "@loopgate ";
const NO_DIRECTORY: &str =
    "No allowed directory is available for terminal chat execution. Update sandbox settings.";

/// A message of the terminal chat.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"message": "@reviewer Which port does the shop listen on?"}))]
struct TerminalMessage {
    /// Text of the message; must not be blank. A message that starts with `@reviewer ` goes to the reviewer,
    /// all others to the assistant.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// URL of the MCP server whose tools the provider may use.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    expected_mcp_url: Option<String>,
    /// Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
    /// most 10 MiB.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default)]
    attachments: AttachmentPaths,
}

/// Return the terminal chat history
#[utoipa::path(get, path = "/api/gateway/terminal-chat", operation_id = "terminal_chat_history", tag = "chats",
    responses(
        (status = 200, body = ChatHistory, description = "The history; empty when none is stored"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn read(State(app): State<App>) -> JsonResult<ChatHistory> {
    read_history(app, NAME.to_owned(), SessionMembers::Separate, ChatHistory::default()).await
}

/// Send a message in the terminal chat
///
/// The provider works in the base directory of the sandbox. If the client disconnects, the provider still
/// finishes and its response is stored. To cancel, post the pid of the `running` event to `kill`.
#[utoipa::path(post, path = "/api/gateway/terminal-chat", operation_id = "terminal_chat", tag = "chats",
    request_body = TerminalMessage,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "Message missing",
            example = json!({"error": "message is required", "code": "missing_field"})),
        (status = 500, body = ErrorBody, description = "The base directory of the sandbox does not exist, or the message cannot be stored",
            example = json!(ErrorBody::new(500, "Failed to save chat history: no space left"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn send(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    JsonBody(body): JsonBody<TerminalMessage>,
) -> Result<Response, HttpError> {
    let message = body.message.ok_or_else(|| HttpError::missing_field("message is required"))?;
    let agents = agents_of(&app, PATH)?;
    let (provider, message) = split_addressee(&agents.providers, &message);
    // All checks precede the response: once streaming has started, the status can no longer change.
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
        // Providers alternate within this history, so each response is stored with the provider that wrote
        // it.
        stores_mode: true,
        attachments,
        ..ChatRequest::new(provider, directory, history, ChatHistory::default(), message)
    };
    stream::send(&app, agents, requester, request).await
}

/// Returns the provider that a message addresses, and the message without the `@name` prefix.
fn split_addressee(providers: &ProviderRegistry, message: &str) -> (Arc<dyn Provider>, String) {
    let message = message.trim();
    let addressed = providers.list().iter().find_map(|provider| {
        let rest = message.strip_prefix(&format!("@{} ", provider.id()))?;
        Some((provider.clone(), rest.trim().to_owned()))
    });
    addressed.unwrap_or_else(|| {
        // The alias is not a provider id and is therefore not found in the registry.
        let message = message.strip_prefix(PRODUCT).unwrap_or(message);
        (providers.assistant(), message.trim().to_owned())
    })
}

/// Delete the terminal chat history
#[utoipa::path(delete, path = "/api/gateway/terminal-chat", operation_id = "forget_terminal_chat", tag = "chats",
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
    fn message_prefix_selects_the_provider() {
        for (message, id, rest) in [
            ("@reviewer hi", "reviewer", "hi"),
            (" @loopgate  hi ", "assistant", "hi"),
            ("@assistant hi", "assistant", "hi"),
            ("hi", "assistant", "hi"),
            ("@loopgatehi", "assistant", "@loopgatehi"),
            ("@reviewer", "assistant", "@reviewer"),
        ] {
            let (provider, text) = split_addressee(&ProviderRegistry::default(), message);
            assert_eq!((provider.id().as_str(), text.as_str()), (id, rest), "{message}");
        }
    }
}
