//! Conversations with the reviewer whose messages are kept by the client: debates about findings, and chats.
//! Only the provider's session is stored here. Turns that use the same file are executed sequentially.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loopgate_agents::provider::FileAccess;
use loopgate_agents::run::{FallbackRule, RunAnnouncement, RunEnd};
use loopgate_agents::{
    AgentRuns, Provider, RunHandle, RunRequest, RunStore, RunStoreFactory, SecondAttempt, TurnOutput,
    TurnRequest,
};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::names::{REVIEWER_CHAT, REVIEWER_CHAT_REVIEW};
use loopgate_api::provider::ProviderId;
use loopgate_home::{JsonFile, JsonFileError, Sandbox, SandboxedPath};
use loopgate_tools::keyed_locks::KeyedLocks;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::blocking::blocking;
use crate::files::ReviewDirectory;

/// Run kind of these conversations.
const KIND: &str = "reviewer-session";
/// Timeout of a turn. Agents that read code may work for many minutes.
const TIME_LIMIT: Duration = Duration::from_mins(30);
/// File of all debates, in the work directory.
const DEBATE: &str = "reviewer-debate.json";
/// Turns stored per debate; older ones are dropped.
const MAX_TURNS: usize = 100;

/// Identifies a conversation and its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "conversation", rename_all = "camelCase")]
pub(crate) enum SessionKey {
    /// A debate about a finding.
    Debate {
        /// Hash of the finding's summary.
        finding: String,
    },
    /// The chat about a ticket, or about its review.
    Chat {
        /// Whether the chat continues the session of the review.
        about_review: bool,
    },
}

impl SessionKey {
    const fn file(&self) -> &'static str {
        match self {
            Self::Debate { .. } => DEBATE,
            Self::Chat { about_review: true } => REVIEWER_CHAT_REVIEW,
            Self::Chat { about_review: false } => REVIEWER_CHAT,
        }
    }
}

/// Stored record of a conversation. Debates count rounds, chats count messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredSession {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rounds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_count: Option<u64>,
    /// Debates by finding. The members above describe the most recent one, for clients that read only those.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    debates: BTreeMap<String, DebateRecord>,
}

/// Stored record of a debate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DebateRecord {
    /// Session ids by provider id.
    #[serde(default)]
    sessions: BTreeMap<String, String>,
    #[serde(default)]
    rounds: u64,
    /// Stored turns, oldest first.
    #[serde(default)]
    turns: Vec<StoredTurn>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredTurn {
    sender: ProviderId,
    content: String,
    timestamp: String,
}

impl StoredSession {
    fn session(&self, key: &SessionKey, provider: &ProviderId) -> Option<String> {
        match key {
            SessionKey::Debate { finding } => {
                self.debates.get(finding)?.sessions.get(provider.as_str()).cloned()
            }
            SessionKey::Chat { .. } => self.session_id.clone(),
        }
    }

    /// Records an answer and its session. Answers without a session are not counted.
    fn add_answer(&mut self, key: &SessionKey, provider: &ProviderId, session: Option<&str>, text: &str) {
        match key {
            SessionKey::Chat { .. } => {
                let Some(session) = session else { return };
                self.session_id = Some(session.to_owned());
                self.message_count = Some(self.message_count.unwrap_or(0).saturating_add(1));
            }
            SessionKey::Debate { finding } => {
                let debate = self.debates.entry(finding.clone()).or_default();
                if !text.is_empty() {
                    debate.add_turn(provider, text);
                }
                let Some(session) = session else { return };
                debate.sessions.insert(provider.to_string(), session.to_owned());
                // Rounds are counted by the answers of the reviewer.
                if *provider != ProviderId::ASSISTANT {
                    debate.rounds = debate.rounds.saturating_add(1);
                    self.session_id = Some(session.to_owned());
                    self.rounds = Some(debate.rounds);
                }
            }
        }
    }
}

impl DebateRecord {
    fn add_turn(&mut self, sender: &ProviderId, content: &str) {
        let turn = StoredTurn {
            sender: sender.clone(),
            content: content.to_owned(),
            timestamp: loopgate_api::time::now_iso(),
        };
        self.turns.push(turn);
        let excess = self.turns.len().saturating_sub(MAX_TURNS);
        self.turns.drain(..excess);
    }
}

/// A turn to be executed by a provider.
pub(crate) struct SessionTurn {
    pub(crate) provider: Arc<dyn Provider>,
    /// Working directory of the program.
    pub(crate) cwd: SandboxedPath,
    pub(crate) worktree: PathBuf,
    pub(crate) directory: ReviewDirectory,
    pub(crate) key: SessionKey,
    pub(crate) prompt: String,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) tools: &'static str,
    pub(crate) access: FileAccess,
    pub(crate) announcement: RunAnnouncement,
    /// Whether to start a new session instead of resuming the earlier one.
    pub(crate) new_session: bool,
    /// Message of the other side, to be stored.
    pub(crate) argument: Option<String>,
    /// Images attached to the prompt.
    pub(crate) images: Vec<PathBuf>,
}

/// Executes turns in stored provider sessions.
pub(crate) struct ProviderSessions {
    runs: AgentRuns,
    sandbox: Arc<Sandbox>,
    /// Held during a turn, by the path of the session file.
    turns: KeyedLocks,
}

impl ProviderSessions {
    pub(crate) fn new(runs: AgentRuns, sandbox: Arc<Sandbox>) -> Self {
        Self { runs, sandbox, turns: KeyedLocks::default() }
    }

    /// Starts a turn after earlier turns with the same file have ended.
    pub(crate) async fn start(&self, turn: SessionTurn) -> io::Result<RunHandle> {
        let SessionTurn { provider, cwd, worktree, directory, key, prompt, .. } = turn;
        // A session cannot be resumed by two processes at once, and both would update the same file.
        let guard = self.turns.lock(&worktree.join(key.file())).await;
        let file: JsonFile<StoredSession> = directory.json(key.file());
        let (id, session_key) = (provider.id().clone(), key.clone());
        let (new_session, argument) = (turn.new_session, turn.argument);
        let session =
            blocking(move || prepare(&file, &session_key, &id, new_session, argument.as_deref())).await?;
        let request = |session| TurnRequest {
            prompt: prompt.clone(),
            session,
            model: turn.model.clone(),
            effort: turn.effort.clone(),
            tools: turn.tools.to_owned(),
            access: turn.access,
            instructions: None,
            images: turn.images.clone(),
        };
        let owner = TurnOwner { worktree: worktree.clone(), sender: provider.id().clone(), key };
        let run = self.runs.start(RunRequest {
            provider,
            fallback: session
                .is_some()
                .then(|| SecondAttempt { rule: FallbackRule::SessionMissing, turn: request(None) }),
            turn: request(session),
            directory: cwd,
            directories: vec![worktree],
            time_limit: TIME_LIMIT,
            announcement: turn.announcement,
            kind: KIND,
            owner: RunRequest::owner(&owner)?,
            store: Box::new(TurnStore { directory, owner }),
        });
        let run = run.await?;
        let ending = run.clone();
        // Hold the lock until the turn has ended, even if the caller drops the handle.
        tokio::spawn(async move {
            let _turn = guard;
            ending.outcome().await;
        });
        Ok(run)
    }
}

/// Stores the message of the other side, and returns the session to resume. Performs blocking I/O.
fn prepare(
    file: &JsonFile<StoredSession>,
    key: &SessionKey,
    provider: &ProviderId,
    new_session: bool,
    argument: Option<&str>,
) -> io::Result<Option<String>> {
    // Chats store no messages, so their file is not modified before the turn.
    let SessionKey::Debate { finding } = key else {
        let record = file.read().ok().flatten();
        return Ok(record.and_then(|record| record.session(key, provider)));
    };
    let session = file.update(|record| {
        let record = record.get_or_insert_with(StoredSession::default);
        if new_session {
            record.debates.remove(finding);
        }
        let debate = record.debates.entry(finding.clone()).or_default();
        if let Some(argument) = argument {
            debate.add_turn(&ProviderId::ASSISTANT, argument);
        }
        Ok::<_, JsonFileError>(record.session(key, provider))
    });
    Ok(session?)
}

impl RunStoreFactory for ProviderSessions {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn reopen(&self, owner: serde_json::Map<String, Value>) -> Option<Box<dyn RunStore>> {
        let owner: TurnOwner = serde_json::from_value(Value::Object(owner)).ok()?;
        let directory = ReviewDirectory::of(&self.sandbox, &owner.worktree).ok()?;
        Some(Box::new(TurnStore { directory, owner }))
    }
}

/// Record that identifies a turn, persisted for recovery after a restart.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct TurnOwner {
    worktree: PathBuf,
    sender: ProviderId,
    #[serde(flatten)]
    key: SessionKey,
}

/// Stores the session of a turn at its end, and the message in a debate.
struct TurnStore {
    directory: ReviewDirectory,
    owner: TurnOwner,
}

impl RunStore for TurnStore {
    fn store(&mut self, output: &TurnOutput, _: &[ChatEvent], end: Option<&RunEnd>) -> io::Result<()> {
        // Only complete turns are stored; there is no partial answer to show.
        if end.is_none() {
            return Ok(());
        }
        let TurnOwner { key, sender, .. } = &self.owner;
        let file: JsonFile<StoredSession> = self.directory.json(key.file());
        let result = file.update(|record| {
            let record = record.get_or_insert_with(StoredSession::default);
            record.add_answer(key, sender, output.session_id.as_deref(), output.text.trim());
            Ok::<_, JsonFileError>(())
        });
        Ok(result?)
    }
}
