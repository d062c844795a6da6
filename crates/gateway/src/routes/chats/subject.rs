//! Chats about one item of a ticket: a review comment or a finding.
//!
//! The kinds differ only in where their histories are stored and in the working directory.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::response::Response;
use http::request::Parts;
use loopgate_agents::conversation::history::HistoryFile;
use loopgate_agents::provider::FileAccess;
use loopgate_agents::{Agents, ChatRequest};
use loopgate_api::chat::{ChatHistory, ChatMessage, ChatRole};
use loopgate_api::ids::TicketId;
use loopgate_home::SandboxedPath;
use utoipa::IntoParams;

use super::attachments::AttachmentPaths;
use super::stream;
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{QueryMembers, RequestOrigin, TicketPath};
use crate::routes::directory::ticket_worktree;
use crate::routes::orchestrator::sessions::SuccessResponse;

/// Parameters that name the directories of a request.
pub(in crate::routes) const SOURCES: &[Source] =
    &[Source::Path(At::Query("repo")), Source::Ticket(At::Query("ticketId"))];

/// Like [`SOURCES`], for requests with attachments.
pub(in crate::routes) const MESSAGE_SOURCES: &[Source] = &[
    Source::Path(At::Query("repo")),
    Source::Ticket(At::Query("ticketId")),
    Source::Path(At::Body("attachments.*")),
];

/// Query that identifies the ticket of the item and its repository.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
pub(in crate::routes) struct SubjectQuery {
    /// Id of the ticket
    #[param(rename = "ticketId", example = "SHOP-7")]
    ticket_id: String,
    /// Path of the repository
    #[param(example = "~/src/shop")]
    repo: String,
}

/// Kind of item that a chat is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::routes) enum SubjectKind {
    /// A review comment. The assistant works in the ticket's worktree, or in the repository when there is
    /// none.
    Comment,
    /// A finding of a review. The assistant works in the ticket's worktree.
    Finding,
}

/// Item and ticket of a request. [`SubjectId::of_kind`] turns it into a chat.
pub(in crate::routes) struct SubjectId {
    id: TicketId,
    ticket: TicketId,
    repo: String,
}

impl<S: Send + Sync> FromRequestParts<S> for SubjectId {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let TicketPath(id) = TicketPath::from_request_parts(parts, state).await?;
        // Extraction of a query is infallible.
        let Ok(query) = QueryMembers::from_request_parts(parts, state).await;
        let required = |name| query.required(name, "ticketId and repo parameters are required");
        let (ticket, repo) = (required("ticketId")?, required("repo")?);
        Ok(Self { id, ticket: TicketId::new(ticket), repo: repo.to_owned() })
    }
}

impl SubjectId {
    /// Returns the chat about this item.
    pub(in crate::routes) const fn of_kind(self, kind: SubjectKind) -> SubjectChat {
        SubjectChat { kind, subject: self }
    }
}

/// A chat about one item of a ticket.
pub(in crate::routes) struct SubjectChat {
    kind: SubjectKind,
    subject: SubjectId,
}

/// Working directory and history file of a chat.
struct SubjectChatLocation {
    directory: SandboxedPath,
    history: HistoryFile,
}

impl SubjectChat {
    /// Resolves the working directory and the history file. Performs blocking I/O.
    ///
    /// # Errors
    /// 403 when a path is outside the sandbox.
    fn location(&self, app: &App) -> Result<SubjectChatLocation, HttpError> {
        let SubjectId { id, ticket, repo } = &self.subject;
        let repository = app.sandbox.check(repo)?;
        let directory = match ticket_worktree(app, &repository, ticket)? {
            Some(worktree) => worktree,
            None => match self.kind {
                SubjectKind::Comment => repository,
                // The worktree may not exist yet; its history is created at the same path.
                SubjectKind::Finding => {
                    let location = app.worktree_layout.for_ticket(&repository, ticket);
                    location.map_err(|_| HttpError::directory_not_allowed())?
                }
            },
        };
        let history = match self.kind {
            SubjectKind::Comment => HistoryFile::of_comment(&app.sandbox, directory.as_path(), id),
            SubjectKind::Finding => HistoryFile::of_finding(&app.sandbox, directory.as_path(), id),
        };
        Ok(SubjectChatLocation { history: history?, directory })
    }

    fn new_history(&self) -> ChatHistory {
        let SubjectId { id, ticket, repo } = &self.subject;
        let history = ChatHistory::new(ticket.as_str(), repo);
        let id = Some(id.as_str().to_owned());
        match self.kind {
            SubjectKind::Comment => ChatHistory { comment_id: id, ..history },
            SubjectKind::Finding => ChatHistory { finding_id: id, ..history },
        }
    }

    /// Returns the stored history, or an empty one when none is stored or it is unreadable.
    pub(in crate::routes) async fn read(self, app: App) -> JsonResult<ChatHistory> {
        let history = spawn_blocking(move || {
            let stored = self.location(&app)?.history.read().inspect_err(|error| {
                tracing::warn!(%error, kind = ?self.kind, "failed to read chat history");
            });
            Ok(stored.ok().flatten().unwrap_or_else(|| self.new_history()))
        });
        history.await?.map(Json)
    }

    /// Sends a message to the assistant, with the tools for work on a repository, and streams the events.
    ///
    /// # Errors
    /// 404 when the working directory does not exist; 403 for paths outside the sandbox; 400 for invalid
    /// attachments.
    pub(in crate::routes) async fn send(
        self,
        app: &App,
        agents: &Agents,
        requester: RequestOrigin,
        message: String,
        attachments: AttachmentPaths,
        with_context: impl FnOnce(ChatRequest) -> ChatRequest,
    ) -> Result<Response, HttpError> {
        let new_history = self.new_history();
        let (location, attachments) = {
            let app = app.clone();
            spawn_blocking(move || {
                let location = self.location(&app)?;
                // Checked before the message is stored: a failed request must leave no history behind.
                if location.directory.canonical().is_dir() {
                    Ok((location, attachments.check(&app.sandbox)?))
                } else {
                    Err(HttpError::not_found("Work directory not found"))
                }
            })
            .await??
        };
        let assistant = agents.providers.assistant();
        let request = ChatRequest {
            tools: stream::tools(app, stream::ENGINEER_TOOLS, None),
            access: FileAccess::ReadWrite,
            attachments,
            ..ChatRequest::new(assistant, location.directory, location.history, new_history, message)
        };
        stream::send(app, agents, requester, with_context(request)).await
    }

    /// Records whether a message was answered on the code host: the message with this id, or the last
    /// assistant message. An unknown id is a no-op.
    pub(in crate::routes) async fn mark_responded(
        self,
        app: App,
        message_id: Option<String>,
        responded: bool,
    ) -> JsonResult<SuccessResponse> {
        let mark = move |history: &mut ChatHistory| {
            // Newest first, so that without an id the most recent assistant message matches.
            let mut messages = history.messages.iter_mut().rev();
            let message = match message_id {
                Some(id) => messages.find(|message| message.id == id),
                None => messages.find(|message| message.role == ChatRole::Assistant),
            };
            if let Some(message) = message {
                message.responded = Some(responded);
            }
        };
        self.change(app, mark).await
    }

    /// Stores a message that was exchanged elsewhere. Replaces a message with the same id, so that a retry
    /// adds no duplicate.
    pub(in crate::routes) async fn add(self, app: App, message: ChatMessage) -> JsonResult<SuccessResponse> {
        let add = move |history: &mut ChatHistory| match history
            .messages
            .iter_mut()
            .find(|stored| stored.id == message.id)
        {
            Some(stored) => *stored = message,
            None => history.messages.push(message),
        };
        self.change(app, add).await
    }

    async fn change(
        self,
        app: App,
        change: impl FnOnce(&mut ChatHistory) + Send + 'static,
    ) -> JsonResult<SuccessResponse> {
        let changed = spawn_blocking(move || {
            let changed = self.location(&app)?.history.change(|| self.new_history(), change);
            changed.map_err(|error| HttpError::operation("Failed to save chat history", &error))
        });
        changed.await??;
        Ok(SuccessResponse::YES)
    }

    /// Deletes the history. Succeeds when none is stored.
    pub(in crate::routes) async fn remove(self, app: App) -> JsonResult<SuccessResponse> {
        let removed = spawn_blocking(move || {
            let removed = self.location(&app)?.history.remove();
            removed.map_err(|error| HttpError::operation("Failed to delete", &error))
        });
        removed.await??;
        Ok(SuccessResponse::YES)
    }
}
