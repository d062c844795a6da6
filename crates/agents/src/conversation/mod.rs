//! Conversations: turns with a stored history.
//!
//! The user's message is stored before the provider is started, and the answer repeatedly while it is
//! produced. A provider resumes its own session. Messages of others since its last answer are added to the
//! prompt, so that several providers can alternate in one conversation.

pub mod history;
mod prompt;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::agent_failure::FailureKind;
use loopgate_api::chat::{
    ChatHistory, ChatMessage, ChatRole, CommentContext, FindingContext, SessionMembers,
};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_home::{JsonFileError, Sandbox, SandboxedPath, expand_home};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::history::HistoryFile;
use self::prompt::{about_comment, about_finding, transcript};
use crate::attachment::{self, MessageAttachment};
use crate::provider::{FileAccess, Provider, TurnOutput, TurnRequest};
use crate::run::{
    AgentRuns, CHAT_KIND, FallbackRule, RunAnnouncement, RunEnd, RunRequest, RunStore, RunStoreFactory,
    RunStream, SecondAttempt,
};

/// Timeout of an answer. Agents that use tools may work for many minutes.
const TIME_LIMIT: Duration = Duration::from_secs(30 * 60);

/// A message of the user to a provider.
pub struct ChatRequest {
    /// Provider that answers the message.
    pub provider: Arc<dyn Provider>,
    /// Working directory of the program.
    pub directory: SandboxedPath,
    /// History that stores the conversation.
    pub history: HistoryFile,
    /// Initial content of a history that does not exist.
    pub new_history: ChatHistory,
    /// Message text for the program.
    pub message: String,
    /// Message text to store and display, if different.
    pub displayed_message: Option<String>,
    /// Review comment that the conversation is about; replaces the stored one.
    pub comment: Option<CommentContext>,
    /// Finding that the conversation is about; replaces the stored one.
    pub finding: Option<FindingContext>,
    /// Role of the program and subject of the conversation. Sent once per session.
    pub introduction: String,
    /// Text before the message in every turn.
    pub preamble: String,
    /// Comma-separated tools that the program may use.
    pub tools: String,
    /// Whether the program may change files and run commands.
    pub access: FileAccess,
    /// Content of the status events.
    pub announcement: RunAnnouncement,
    /// Whether messages are stored with the provider they were sent to or come from.
    pub stores_mode: bool,
    /// Files attached to the message.
    pub attachments: Vec<MessageAttachment>,
}

impl ChatRequest {
    /// Creates a message without tools, context and attachments.
    #[must_use]
    pub fn new(
        provider: Arc<dyn Provider>,
        directory: SandboxedPath,
        history: HistoryFile,
        new_history: ChatHistory,
        message: String,
    ) -> Self {
        Self {
            provider,
            directory,
            history,
            new_history,
            message,
            displayed_message: None,
            comment: None,
            finding: None,
            introduction: String::new(),
            preamble: String::new(),
            tools: String::new(),
            access: FileAccess::default(),
            announcement: RunAnnouncement::default(),
            stores_mode: false,
            attachments: Vec::new(),
        }
    }
}

/// Sends messages to providers and stores their answers.
pub struct Conversations {
    runs: AgentRuns,
    sandbox: Arc<Sandbox>,
}

impl Conversations {
    pub(crate) const fn new(runs: AgentRuns, sandbox: Arc<Sandbox>) -> Self {
        Self { runs, sandbox }
    }

    /// Stores the user's message and starts the provider. Returns immediately; the answer is streamed, and is
    /// stored even if the stream is dropped.
    ///
    /// # Errors
    /// Fails when the message cannot be stored; no process is started then.
    pub async fn send(&self, request: ChatRequest) -> io::Result<RunStream> {
        let ChatRequest { provider, directory, history, new_history, message, .. } = request;
        let mut directories = vec![history.path()];
        directories.extend(new_history.repo_path.as_deref().map(expand_home));
        let mode = request.stores_mode.then(|| provider.id().clone());
        let question = UserMessage {
            members: history.session_members().clone(),
            provider: provider.id().clone(),
            text: request.displayed_message.unwrap_or_else(|| message.clone()),
            attachments: request
                .attachments
                .iter()
                .map(|attachment| attachment.path.display().to_string())
                .collect(),
            mode: mode.clone(),
            comment: request.comment,
            finding: request.finding,
        };
        let adding = {
            let (file, new_history) = (history.clone(), new_history.clone());
            tokio::task::spawn_blocking(move || {
                file.change(|| new_history, |history| question.add_to(history))
            })
        };
        let AddedQuestion { answer_id, session, context, unseen, all } =
            adding.await.map_err(io::Error::other)??;
        let attached = attachment::prompt_lines(&request.attachments);
        let message = format!("{}{context}{attached}{message}", request.preamble);
        let first_prompt = format!("{}{all}{message}", request.introduction);
        let turn = |prompt: String, session: Option<String>| TurnRequest {
            prompt,
            session,
            tools: request.tools.clone(),
            access: request.access,
            images: attachment::images(&request.attachments),
            ..TurnRequest::default()
        };
        let announcement = RunAnnouncement {
            resuming: request.announcement.resuming.map(|_| session.is_some()),
            ..request.announcement.clone()
        };
        let (turn, fallback) = match session {
            None => (turn(first_prompt, None), None),
            Some(session) => {
                // The program may have deleted the session, for example after an update. The second attempt
                // starts a new one with the complete transcript.
                let fallback =
                    SecondAttempt { rule: FallbackRule::SessionMissing, turn: turn(first_prompt, None) };
                (turn(format!("{unseen}{message}"), Some(session)), Some(fallback))
            }
        };
        let owner = AnswerOwner {
            history: history.path(),
            session_members: history.session_members().clone(),
            answer_id,
            sender: provider.id().clone(),
            mode,
        };
        let request = RunRequest {
            provider,
            turn,
            fallback,
            directory,
            directories,
            time_limit: TIME_LIMIT,
            announcement,
            kind: CHAT_KIND,
            owner: RunRequest::owner(&owner)?,
            store: Box::new(AnswerStore { history, owner }),
        };
        self.runs.start(request).await?.stream().await
    }
}

impl RunStoreFactory for Conversations {
    fn kind(&self) -> &'static str {
        CHAT_KIND
    }

    fn reopen(&self, owner: serde_json::Map<String, Value>) -> Option<Box<dyn RunStore>> {
        let owner: AnswerOwner = serde_json::from_value(Value::Object(owner)).ok()?;
        let history = HistoryFile::at(&self.sandbox, &owner.history, owner.session_members.clone()).ok()?;
        Some(Box::new(AnswerStore { history, owner }))
    }
}

/// A message of the user that is not stored yet.
struct UserMessage {
    members: SessionMembers,
    provider: ProviderId,
    text: String,
    /// Absolute paths of the files.
    attachments: Vec<String>,
    mode: Option<ProviderId>,
    comment: Option<CommentContext>,
    finding: Option<FindingContext>,
}

/// State of the history after the message was added.
struct AddedQuestion {
    /// Message id reserved for the answer.
    answer_id: String,
    session: Option<String>,
    /// Comment or finding that the conversation is about, as prompt text.
    context: String,
    /// Messages that the provider's session does not contain, as prompt text.
    unseen: String,
    /// All earlier messages, as prompt text.
    all: String,
}

impl UserMessage {
    fn add_to(self, history: &mut ChatHistory) -> AddedQuestion {
        let now = jiff::Timestamp::now();
        // Ids are millisecond timestamps; two messages may arrive in the same millisecond.
        let mut stamp = now.as_millisecond();
        let is_taken = |stamp: i64| {
            let ids = [format!("user-{stamp}"), format!("assistant-{stamp}")];
            history.messages.iter().any(|message| ids.contains(&message.id))
        };
        while is_taken(stamp) {
            stamp += 1;
        }
        let sender = |message: &ChatMessage| {
            let sender = message.sender.as_ref().or(message.mode.as_ref());
            sender.unwrap_or_else(|| self.members.default_sender()).clone()
        };
        // The provider's session contains everything up to its own last answer.
        let is_own =
            |message: &ChatMessage| message.role == ChatRole::Assistant && sender(message) == self.provider;
        let seen = history.messages.iter().rposition(is_own).map_or(0, |index| index + 1);
        let unseen = transcript(&history.messages[seen..], sender);
        let all = transcript(&history.messages, sender);
        let at = loopgate_api::time::iso(now);
        let message = ChatMessage::new(format!("user-{stamp}"), ChatRole::User, self.text, at);
        history.messages.push(ChatMessage { mode: self.mode, attachments: self.attachments, ..message });
        if self.comment.is_some() {
            history.comment_context = self.comment;
        }
        if self.finding.is_some() {
            history.finding_context = self.finding;
        }
        let comment = history.comment_context.as_ref().map(about_comment);
        let finding = history.finding_context.as_ref().map(about_finding);
        AddedQuestion {
            answer_id: format!("assistant-{stamp}"),
            session: history.session(&self.members, &self.provider).map(str::to_owned),
            context: comment.into_iter().chain(finding).collect(),
            unseen,
            all,
        }
    }
}

/// Record that identifies an answer in its history, persisted for recovery after a restart.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerOwner {
    history: PathBuf,
    #[serde(default)]
    session_members: SessionMembers,
    answer_id: String,
    #[serde(default)]
    sender: ProviderId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<ProviderId>,
}

/// Writes an answer to its history while it is produced.
struct AnswerStore {
    history: HistoryFile,
    owner: AnswerOwner,
}

impl RunStore for AnswerStore {
    fn store(&mut self, output: &TurnOutput, _events: &[ChatEvent], end: Option<&RunEnd>) -> io::Result<()> {
        let owner = &self.owner;
        let result = self.history.update_existing(|history| {
            owner.store_answer(history, output, end);
            Ok::<_, JsonFileError>(())
        });
        Ok(result.map(drop)?)
    }
}

impl AnswerOwner {
    /// Stores an answer. No-op if its question was removed in the meantime.
    fn store_answer(&self, history: &mut ChatHistory, output: &TurnOutput, end: Option<&RunEnd>) {
        let question = self.answer_id.replace("assistant-", "user-");
        if !history.messages.iter().any(|message| message.id == question) {
            return;
        }
        let members = &self.session_members;
        match (end, &output.session_id) {
            // A session cannot be resumed after its account was rejected. Remove it, so that the next turn
            // creates one.
            (Some(end), _) if matches!(end.failure, Some(FailureKind::RateLimit | FailureKind::Account)) => {
                history.set_session(members, &self.sender, None);
            }
            (_, Some(session)) => history.set_session(members, &self.sender, Some(session.clone())),
            (_, None) => {}
        }
        if end.is_some() && *members != SessionMembers::Separate {
            history.context_percent = Some(output.context_percent);
        }
        let content = output.text.trim().to_owned();
        // No text yet, or a run without an answer: the question remains the last message.
        if content.is_empty() {
            return;
        }
        let blocks = Some(output.blocks.clone());
        let at = loopgate_api::time::now_iso();
        // Each call replaces the partial answer of the previous one.
        match history.messages.iter_mut().find(|message| message.id == self.answer_id) {
            Some(message) => (message.content, message.blocks, message.timestamp) = (content, blocks, at),
            None => {
                let answer = ChatMessage::new(self.answer_id.clone(), ChatRole::Assistant, content, at);
                let sender = (self.mode.is_none() && self.sender != *members.default_sender())
                    .then(|| self.sender.clone());
                history.messages.push(ChatMessage { blocks, sender, mode: self.mode.clone(), ..answer });
            }
        }
    }
}
