//! A chat with the reviewer whose messages the client keeps.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use loopgate_agents::attachment::{self, Attachment};
use loopgate_agents::provider::FileAccess;
use loopgate_agents::run::RunAnnouncement;
use loopgate_agents::{Provider, RunStream};
use loopgate_home::SandboxedPath;

use crate::files::ReviewDirectory;
use crate::reviews::Reviews;
use crate::sessions::{SessionKey, SessionTurn};

/// Tools of providers that have such a list.
const READ_TOOLS: &str = "Read,Grep,Glob,WebSearch,WebFetch";

/// A message to the reviewer.
pub struct ReviewerChatRequest {
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// Where it works: the worktree of the ticket, or the clone.
    pub cwd: SandboxedPath,
    /// The worktree of the ticket, which may not be there.
    pub worktree: PathBuf,
    /// Its work directory.
    pub directory: ReviewDirectory,
    /// The person's words.
    pub prompt: String,
    /// The model; the provider's default when absent.
    pub model: Option<String>,
    /// Whether the chat goes on in the session of the review.
    pub about_review: bool,
    /// Files that the person sends with the prompt.
    pub attachments: Vec<Attachment>,
}

impl Reviews {
    /// Asks the reviewer. The answer goes on when the caller goes away; only its session is stored.
    ///
    /// # Errors
    /// When the turn cannot be started.
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
            anew: false,
            argument: None,
            images: attachment::images(&request.attachments),
        };
        self.sessions().start(turn).await?.stream().await
    }
}
