//! Chats with the reviewer whose messages are kept by the client.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use loopgate_agents::attachment::{self, MessageAttachment};
use loopgate_agents::provider::FileAccess;
use loopgate_agents::run::RunAnnouncement;
use loopgate_agents::{Provider, RunStream};
use loopgate_home::SandboxedPath;

use crate::files::ReviewDirectory;
use crate::reviews::Reviews;
use crate::sessions::{SessionKey, SessionTurn};

/// Tools of the provider: read-only.
const READ_TOOLS: &str = "Read,Grep,Glob,WebSearch,WebFetch";

/// A message to the reviewer.
pub struct ReviewerChatRequest {
    /// Provider that answers the message.
    pub provider: Arc<dyn Provider>,
    /// Working directory of the program: the worktree of the ticket, or the clone.
    pub cwd: SandboxedPath,
    /// Worktree of the ticket. It need not exist.
    pub worktree: PathBuf,
    /// Work directory of the worktree.
    pub directory: ReviewDirectory,
    /// Message of the user.
    pub prompt: String,
    /// Model; the provider's default when absent.
    pub model: Option<String>,
    /// Whether the chat continues the session of the review.
    pub about_review: bool,
    /// Files attached to the message.
    pub attachments: Vec<MessageAttachment>,
}

impl Reviews {
    /// Sends a message to the reviewer. The run continues when the caller disconnects; only its session is
    /// stored.
    ///
    /// # Errors
    /// Fails when the turn cannot be started.
    pub async fn chat(&self, request: ReviewerChatRequest) -> io::Result<RunStream> {
        let ReviewerChatRequest { provider, cwd, worktree, directory, model, about_review, .. } = request;
        let prompt = format!("{}{}", attachment::prompt_lines(&request.attachments), request.prompt);
        let turn = SessionTurn {
            model: Some(model.unwrap_or_else(|| provider.default_model().to_owned())),
            provider,
            cwd,
            worktree,
            directory,
            key: SessionKey::Chat { about_review },
            prompt,
            effort: None,
            tools: READ_TOOLS,
            access: FileAccess::ReadOnly,
            announcement: RunAnnouncement::default(),
            new_session: false,
            argument: None,
            images: attachment::images(&request.attachments),
        };
        self.sessions().start(turn).await?.stream().await
    }
}
