//! `POST /api/gateway/orchestrator/chat/{ticketId}`: sends a message to the assistant about a ticket.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use loopgate_agents::ChatRequest;
use loopgate_agents::conversation::history::HistoryFile;
use loopgate_agents::provider::FileAccess;
use loopgate_api::chat::ChatHistory;
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_api::provider::ProviderId;
use loopgate_home::SandboxedPath;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::extract::RequestOrigin;
use crate::extract::{JsonBody, QueryMembers, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::directory::ticket_worktree;

use crate::routes::agents::{agents_of, parse_provider};
use crate::routes::chats::attachments::AttachmentPaths;
use crate::routes::chats::stream;

const PATH: &str = "/api/gateway/orchestrator/chat/{ticketId}";

/// A message to the assistant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChatMessageBody {
    /// Text of the message; must not be blank.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    message: Option<String>,
    /// Path of the repository; can be the query parameter `repo` instead.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Paths of further repositories that are named in the prompt.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default, deserialize_with = "lenient::elements")]
    context_repo_paths: Vec<String>,
    /// Selects the history, not the provider that answers.
    #[schema(value_type = Option<ProviderId>)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
    /// Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
    /// most 10 MiB.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default)]
    attachments: AttachmentPaths,
}

/// Send a message to the assistant about a ticket
///
/// The assistant works in the ticket's worktree, or in the repository when there is none. If the client
/// disconnects, it still finishes and its response is stored. To cancel, post the pid of the first event to
/// `kill`.
#[utoipa::path(post, path = "/api/gateway/orchestrator/chat/{ticketId}", operation_id = "chat", tag = "orchestrator",
    params(
        ("ticketId" = String, Path, description = "Id of the ticket"),
        ("repo" = Option<String>, Query, description = "Path of the repository"),
    ),
    request_body = ChatMessageBody,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "Message or repository path missing, or unknown provider"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The message cannot be stored"),
    ))]
async fn chat(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
    JsonBody(body): JsonBody<ChatMessageBody>,
) -> Result<Response, HttpError> {
    let from_query = || query.get("repo").filter(|repo| !repo.trim().is_empty()).map(str::to_owned);
    let (Some(message), Some(repo)) = (body.message, body.repo_path.or_else(from_query)) else {
        return Err(HttpError::missing_field("message and repoPath are required"));
    };
    let (context, provider) = (body.context_repo_paths, body.provider);
    let (location, attachments) = {
        let (app, ticket, repo) = (app.clone(), ticket.clone(), repo.clone());
        spawn_blocking(move || {
            // All checks precede the response: once streaming has started, the status can no longer change.
            let location = ChatLocation::find(&app, &repo, &ticket, &context, provider.as_deref())?;
            Ok::<_, HttpError>((location, body.attachments.check(&app.sandbox)?))
        })
        .await??
    };
    let new_history = ChatHistory::new(ticket.as_str(), repo);
    let agents = agents_of(&app, PATH)?;
    let assistant = agents.providers.assistant();
    let request = ChatRequest {
        preamble: preamble(&location.context),
        tools: stream::tools(&app, stream::ENGINEER_TOOLS, None),
        access: FileAccess::ReadWrite,
        attachments,
        ..ChatRequest::new(assistant, location.directory, location.history, new_history, message)
    };
    stream::send(&app, agents, requester, request).await
}

/// Working directory, history file and further repositories of a chat.
struct ChatLocation {
    directory: SandboxedPath,
    history: HistoryFile,
    context: Vec<SandboxedPath>,
}

impl ChatLocation {
    /// Resolves the paths of a request. Performs blocking I/O.
    ///
    /// # Errors
    /// 403 when a path is outside the sandbox; 400 for an unknown provider.
    fn find(
        app: &App,
        repo: &str,
        ticket: &TicketId,
        context: &[String],
        provider: Option<&str>,
    ) -> Result<Self, HttpError> {
        let allowed = |path: &str| app.sandbox.check(path).map_err(|_| HttpError::directory_not_allowed());
        let repository = allowed(repo)?;
        let context = context.iter().map(|path| allowed(path)).collect::<Result<_, _>>()?;
        let directory = ticket_worktree(app, &repository, ticket)?.unwrap_or(repository);
        let provider = provider.map(|name| parse_provider(app, name)).transpose()?;
        let history = HistoryFile::of_ticket(&app.sandbox, directory.as_path(), provider.as_ref())
            .map_err(|_| HttpError::directory_not_allowed())?;
        Ok(Self { directory, history, context })
    }
}

/// Returns the part of the prompt that names further repositories.
fn preamble(context: &[SandboxedPath]) -> String {
    if context.is_empty() {
        return String::new();
    }
    let paths = context.iter().map(|path| format!("- {}\n", path.as_path().display()));
    format!("Context repositories:\n{}\n", paths.collect::<String>())
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(chat),
        &[
            Source::Path(At::Query("repo")),
            Source::Path(At::Body("repoPath")),
            Source::Path(At::Body("contextRepoPaths.*")),
            Source::Path(At::Body("attachments.*")),
            Source::Ticket(At::Segment("ticketId")),
        ],
    )
}
