//! Conversations with the reviewer whose messages the client keeps: a debate about a finding, and a chat. Only
//! the program's session is stored here, one turn at a time for each file.

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

/// The kind of the runs of these conversations.
const KIND: &str = "reviewer-session";
/// How long an answer may take.
const TIME_LIMIT: Duration = Duration::from_mins(30);
/// File of the debates in a work directory.
const DEBATE: &str = "reviewer-debate.json";
/// Turns of a debate that are stored, the newest.
const MAX_TURNS: usize = 100;

/// Whose session goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "conversation", rename_all = "camelCase")]
pub(crate) enum SessionKey {
    /// A debate, by what tells its finding from others.
    Debate {
        /// Hash of the finding's summary.
        finding: String,
    },
    /// The chat about a ticket, or about its review.
    Chat {
        /// Whether it goes on in the session of the review.
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

/// What is stored of a conversation: a debate counts rounds, a chat messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rounds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_count: Option<u64>,
    /// Debates by finding; the members above belong to the last one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    debates: BTreeMap<String, DebateRecord>,
}

/// What is stored of one debate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DebateRecord {
    /// Sessions by provider.
    #[serde(default)]
    sessions: BTreeMap<String, String>,
    #[serde(default)]
    rounds: u64,
    /// What was said, the oldest first.
    #[serde(default)]
    turns: Vec<StoredTurn>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredTurn {
    sender: ProviderId,
    content: String,
    timestamp: String,
}

impl SessionRecord {
    fn session(&self, key: &SessionKey, provider: &ProviderId) -> Option<String> {
        match key {
            SessionKey::Debate { finding } => {
                self.debates.get(finding)?.sessions.get(provider.as_str()).cloned()
            }
            SessionKey::Chat { .. } => self.session_id.clone(),
        }
    }

    /// Notes an answer and the session in which it was given. Only what has a session is counted.
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

/// A turn that a provider is asked to take.
pub(crate) struct SessionTurn {
    pub(crate) provider: Arc<dyn Provider>,
    /// Where the program works.
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
    /// Whether an earlier session is left and a new one begun.
    pub(crate) anew: bool,
    /// What the other side said, as it is stored.
    pub(crate) argument: Option<String>,
    /// Images beside the prompt.
    pub(crate) images: Vec<PathBuf>,
}

/// Takes turns in the sessions of providers.
pub(crate) struct ProviderSessions {
    runs: AgentRuns,
    sandbox: Arc<Sandbox>,
    /// Held by a turn, by the file of its session.
    turns: KeyedLocks,
}

impl ProviderSessions {
    pub(crate) fn new(runs: AgentRuns, sandbox: Arc<Sandbox>) -> Self {
        Self { runs, sandbox, turns: KeyedLocks::default() }
    }

    /// Starts a turn, after those before it in the same file.
    pub(crate) async fn start(&self, turn: SessionTurn) -> io::Result<RunHandle> {
        let SessionTurn { provider, cwd, worktree, directory, key, prompt, .. } = turn;
        let guard = self.turns.lock(&worktree.join(key.file())).await;
        let file: JsonFile<SessionRecord> = directory.json(key.file());
        let (id, known_key) = (provider.id().clone(), key.clone());
        let (anew, argument) = (turn.anew, turn.argument);
        let session = blocking(move || prepare(&file, &known_key, &id, anew, argument.as_deref())).await?;
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
            about: vec![worktree],
            time_limit: TIME_LIMIT,
            announcement: turn.announcement,
            kind: KIND,
            owner: RunRequest::owner(&owner)?,
            store: Box::new(TurnStore { directory, owner }),
        });
        let run = run.await?;
        let ending = run.clone();
        tokio::spawn(async move {
            let _turn = guard;
            ending.outcome().await;
        });
        Ok(run)
    }
}

/// Notes what the other side said; answers the session that goes on. Blocks on the disk.
fn prepare(
    file: &JsonFile<SessionRecord>,
    key: &SessionKey,
    provider: &ProviderId,
    anew: bool,
    argument: Option<&str>,
) -> io::Result<Option<String>> {
    let SessionKey::Debate { finding } = key else {
        let known = file.read().ok().flatten();
        return Ok(known.and_then(|record| record.session(key, provider)));
    };
    let prepared = file.update(|record| {
        let record = record.get_or_insert_with(SessionRecord::default);
        if anew {
            record.debates.remove(finding);
        }
        let debate = record.debates.entry(finding.clone()).or_default();
        if let Some(argument) = argument {
            debate.add_turn(&ProviderId::ASSISTANT, argument);
        }
        Ok::<_, JsonFileError>(record.session(key, provider))
    });
    Ok(prepared?)
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

/// What must be known to store an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct TurnOwner {
    worktree: PathBuf,
    sender: ProviderId,
    #[serde(flatten)]
    key: SessionKey,
}

/// Stores the session of a turn at its end, and what was said in a debate.
struct TurnStore {
    directory: ReviewDirectory,
    owner: TurnOwner,
}

impl RunStore for TurnStore {
    fn store(&mut self, output: &TurnOutput, _: &[ChatEvent], end: Option<&RunEnd>) -> io::Result<()> {
        if end.is_none() {
            return Ok(());
        }
        let TurnOwner { key, sender, .. } = &self.owner;
        let file: JsonFile<SessionRecord> = self.directory.json(key.file());
        let stored = file.update(|record| {
            let record = record.get_or_insert_with(SessionRecord::default);
            record.add_answer(key, sender, output.session_id.as_deref(), output.text.trim());
            Ok::<_, JsonFileError>(())
        });
        Ok(stored?)
    }
}
