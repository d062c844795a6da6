//! `/api/gateway/ticket-chat`: the chat about a ticket before work on it starts.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use loopgate_agents::ChatRequest;
use loopgate_agents::run::RunAnnouncement;
use loopgate_api::chat::{ChatHistory, SessionMembers};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::attachments::AttachmentPaths;
use super::{base_directory, clear_history, history_file, read_history, stream};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers, RequestOrigin};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::orchestrator::sessions::SuccessResponse;

const PATH: &str = "/api/gateway/ticket-chat";
const REQUIRED: &str = "ticketId, message, and ticketContext are required";
const ROLE: &str = "Help a developer understand a ticket before the work on it begins. Be concise.";

/// A question about a ticket.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "SHOP-7", "message": "Why two caches?", "repoPath": "~/src/shop", "ticketContext": {"identifier": "SHOP-7", "title": "Two caches", "url": "https://tickets.example.com/SHOP-7"}}))]
struct TicketMessage {
    /// Id of the ticket; selects the history.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    /// Text of the message; must not be blank.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// Content of the ticket, included in the prompt of a new session.
    #[schema(value_type = TicketContext, required)]
    #[serde(default, deserialize_with = "lenient::any")]
    ticket_context: Option<TicketContext>,
    /// Path of the ticket's repository. Without it the provider gets no file tools.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
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

/// A ticket as its tracker shows it.
#[derive(Debug, Deserialize, ToSchema)]
struct TicketContext {
    /// Identifier in the tracker. Like `title` and `url`, it must not be empty.
    identifier: String,
    title: String,
    url: String,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    description: Option<String>,
}

impl TicketContext {
    fn is_complete(&self) -> bool {
        [&self.identifier, &self.title, &self.url].iter().all(|text| !text.is_empty())
    }

    /// Returns the start of the prompt of a new session.
    fn introduction(&self, repo: Option<&str>) -> String {
        let mut lines = vec![
            ROLE.to_owned(),
            String::new(),
            format!("Ticket: {}", self.identifier),
            format!("Title: {}", self.title),
            format!("URL: {}", self.url),
        ];
        lines.extend(self.description.as_ref().map(|text| format!("Description:\n{text}")));
        lines.extend(repo.map(|repo| format!("Repository: {repo}")));
        format!("{}\n\n---\n\n", lines.join("\n"))
    }
}

/// Query that identifies the ticket.
#[derive(IntoParams)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
#[into_params(parameter_in = Query)]
struct TicketChatQuery {
    /// Id of the ticket
    #[param(rename = "ticketId", example = "SHOP-7")]
    ticket_id: String,
}

fn ticket_of(query: &QueryMembers) -> Result<TicketId, HttpError> {
    query.required("ticketId", "ticketId parameter is required").map(TicketId::new)
}

fn empty(ticket: &TicketId) -> ChatHistory {
    ChatHistory { ticket_id: Some(ticket.as_str().to_owned()), ..ChatHistory::default() }
}

/// Return the chat history about a ticket
#[utoipa::path(get, path = "/api/gateway/ticket-chat", operation_id = "ticket_chat_history", tag = "chats",
    params(TicketChatQuery),
    responses(
        (status = 200, body = ChatHistory, description = "The history; empty when none is stored"),
        (status = 400, body = ErrorBody, description = "Ticket missing",
            example = json!({"error": "ticketId parameter is required", "code": "missing_field"})),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn read(State(app): State<App>, query: QueryMembers) -> JsonResult<ChatHistory> {
    let ticket = ticket_of(&query)?;
    read_history(app, ticket.safe(), SessionMembers::default(), empty(&ticket)).await
}

/// Send a message about a ticket
///
/// The provider works in the repository, or in the base directory of the sandbox. If the client disconnects,
/// the provider still finishes and its response is stored. To cancel, post the pid of the `running` event to
/// `kill`.
#[utoipa::path(post, path = "/api/gateway/ticket-chat", operation_id = "ticket_chat", tag = "chats",
    request_body = TicketMessage,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "Ticket, message or ticket context missing",
            example = json!({"error": "ticketId, message, and ticketContext are required", "code": "missing_field"})),
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
    JsonBody(body): JsonBody<TicketMessage>,
) -> Result<Response, HttpError> {
    let context = body.ticket_context.filter(TicketContext::is_complete);
    let (Some(ticket), Some(message), Some(context)) = (body.ticket_id, body.message, context) else {
        return Err(HttpError::missing_field(REQUIRED));
    };
    let agents = agents_of(&app, PATH)?;
    let requested = body.provider.and_then(|name| agents.providers.by_name(&name));
    let provider = requested.unwrap_or_else(|| agents.providers.assistant());
    let ticket = TicketId::new(ticket);
    let introduction = context.introduction(body.repo_path.as_deref());
    // Without a repository in the request, the provider must not read the files of the base directory.
    let tools = if body.repo_path.is_some() { stream::READ_TOOLS } else { stream::WEB_TOOLS };
    // All checks precede the response: once streaming has started, the status can no longer change.
    let (history, directory, attachments) = {
        let (app, name) = (app.clone(), ticket.safe());
        spawn_blocking(move || {
            let history = history_file(&app, &name, SessionMembers::default())?;
            let directory = match body.repo_path {
                Some(repo) => app.sandbox.check(repo).ok(),
                None => base_directory(&app),
            };
            let directory = directory.ok_or_else(HttpError::directory_not_allowed)?;
            Ok::<_, HttpError>((history, directory, body.attachments.check(&app.sandbox)?))
        })
        .await??
    };
    let request = ChatRequest {
        introduction,
        tools: stream::tools(&app, tools, body.expected_mcp_url.as_deref()),
        announcement: RunAnnouncement { spawning: true, resuming: Some(false), ..RunAnnouncement::default() },
        attachments,
        ..ChatRequest::new(provider, directory, history, empty(&ticket), message)
    };
    stream::send(&app, agents, requester, request).await
}

/// Delete the chat history about a ticket
#[utoipa::path(delete, path = "/api/gateway/ticket-chat", operation_id = "forget_ticket_chat", tag = "chats",
    params(TicketChatQuery),
    responses(
        (status = 200, body = SuccessResponse, description = "Deleted, or nothing was stored"),
        (status = 400, body = ErrorBody, description = "Ticket missing",
            example = json!({"error": "ticketId parameter is required", "code": "missing_field"})),
        (status = 500, body = ErrorBody, description = "The history cannot be written",
            example = json!(ErrorBody::new(500, "Failed to save chat history: no space left"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured",
            example = json!({"error": "Server not configured — complete onboarding", "code": "not_configured"})),
    ))]
async fn clear(State(app): State<App>, query: QueryMembers) -> JsonResult<SuccessResponse> {
    let ticket = ticket_of(&query)?;
    clear_history(app, ticket.safe(), SessionMembers::default(), empty(&ticket)).await
}

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), &[])
}

pub(crate) fn send_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(send),
        &[Source::Path(At::Body("repoPath")), Source::Path(At::Body("attachments.*"))],
    )
}

pub(crate) fn clear_endpoint() -> Endpoint {
    Endpoint::new(routes!(clear), &[])
}
