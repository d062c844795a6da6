//! Histories of chats, as they are stored on disk.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::provider::ProviderId;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// The person.
    User,
    /// The program.
    Assistant,
}

/// One message of a chat. Members that are not known here are kept as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChatMessage {
    /// Unique within its history.
    #[serde(default)]
    pub id: String,
    /// Who said it.
    pub role: ChatRole,
    /// What was said.
    #[serde(default)]
    pub content: String,
    /// ISO 8601.
    #[serde(default)]
    pub timestamp: String,
    /// Absolute paths of the files that were sent with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    /// Text, thoughts and tool calls, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub blocks: Option<Vec<Value>>,
    /// Which program, where more than one takes part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ProviderId>,
    /// Whom a message of the terminal is for, or from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ProviderId>,
    /// Whether a comment was answered on the code host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responded: Option<bool>,
    /// Members that other programs wrote.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: serde_json::Map<String, Value>,
}

impl ChatMessage {
    /// A message without anything that is optional.
    #[must_use]
    pub fn new(id: String, role: ChatRole, content: String, timestamp: String) -> Self {
        Self {
            id,
            role,
            content,
            timestamp,
            attachments: Vec::new(),
            blocks: None,
            sender: None,
            mode: None,
            responded: None,
            more: serde_json::Map::new(),
        }
    }
}

/// The review comment that a chat is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommentContext {
    /// Login of its author.
    #[serde(default)]
    pub author: String,
    /// Its text.
    #[serde(default)]
    pub body: String,
    /// File it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Line it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Its page on the code host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What others answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Vec<CommentReply>>,
}

/// An answer to a review comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommentReply {
    /// Login of its author.
    #[serde(default)]
    pub author: String,
    /// Its text.
    #[serde(default)]
    pub body: String,
}

/// A finding of a review that a chat is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindingContext {
    /// How bad it is.
    #[serde(default)]
    pub severity: String,
    /// P0 to P3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// File it points at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line it points at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What it says.
    #[serde(default)]
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// The history of a chat, as it is stored on disk. Members that are not known here survive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"messages": [{"id": "user-1735000000000", "role": "user", "content": "Why two caches?", "timestamp": "2026-01-05T10:00:00.000Z"}], "ticketId": "SHOP-7", "sessionId": "8c0c", "contextPercent": 12}))]
pub struct ChatHistory {
    /// Oldest first.
    pub messages: Vec<ChatMessage>,
    /// Ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<String>,
    /// Path of the repository, as the client sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_path: Option<String>,
    /// Review comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_id: Option<String>,
    /// The comment itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_context: Option<CommentContext>,
    /// Finding of a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding_id: Option<String>,
    /// The finding itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding_context: Option<FindingContext>,
    /// Session of the provider that the history belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Session of the assistant, in a history of several providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant_session_id: Option<String>,
    /// Session of the reviewer, in a history of several providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer_session_id: Option<String>,
    /// Sessions of every other provider.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sessions: BTreeMap<ProviderId, String>,
    /// How much of the context the last run used; null when it did not say.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub context_percent: Option<Option<u64>>,
    /// Members that other programs wrote.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: serde_json::Map<String, Value>,
}

/// Distinguishes a member that is null from one that is missing.
fn present<'de, D: Deserializer<'de>>(member: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(member).map(Some)
}

/// Which member of a history holds the session of which provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionMembers {
    /// `sessionId` belongs to this provider, `sessions` to all others.
    Single(ProviderId),
    /// `assistantSessionId` and `reviewerSessionId`, and `sessions` for all others.
    Separate,
}

impl Default for SessionMembers {
    fn default() -> Self {
        Self::Single(ProviderId::ASSISTANT)
    }
}

impl SessionMembers {
    /// Who wrote the answers that do not name their sender.
    #[must_use]
    pub const fn default_sender(&self) -> &ProviderId {
        match self {
            Self::Single(provider) => provider,
            Self::Separate => &ProviderId::ASSISTANT,
        }
    }
}

impl ChatHistory {
    /// An empty history of a ticket.
    #[must_use]
    pub fn new(ticket_id: impl Into<String>, repo_path: impl Into<String>) -> Self {
        Self { ticket_id: Some(ticket_id.into()), repo_path: Some(repo_path.into()), ..Self::default() }
    }

    /// The session of a provider.
    #[must_use]
    pub fn session(&self, members: &SessionMembers, provider: &ProviderId) -> Option<&str> {
        let session = match members {
            SessionMembers::Single(own) if own == provider => self.session_id.as_ref(),
            SessionMembers::Separate if *provider == ProviderId::ASSISTANT => {
                self.assistant_session_id.as_ref()
            }
            SessionMembers::Separate if *provider == ProviderId::REVIEWER => {
                self.reviewer_session_id.as_ref()
            }
            _ => self.sessions.get(provider),
        };
        session.map(String::as_str)
    }

    /// Stores the session of a provider, or removes it.
    pub fn set_session(&mut self, members: &SessionMembers, provider: &ProviderId, session: Option<String>) {
        match members {
            SessionMembers::Single(own) if own == provider => self.session_id = session,
            SessionMembers::Separate if *provider == ProviderId::ASSISTANT => {
                self.assistant_session_id = session;
            }
            SessionMembers::Separate if *provider == ProviderId::REVIEWER => {
                self.reviewer_session_id = session
            }
            _ => match session {
                Some(session) => drop(self.sessions.insert(provider.clone(), session)),
                None => drop(self.sessions.remove(provider)),
            },
        }
    }
}
