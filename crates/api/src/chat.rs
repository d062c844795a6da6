//! Chat histories as stored on disk.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::provider::ProviderId;

/// Author of a chat message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// The user wrote the message.
    User,
    /// A provider wrote the message.
    Assistant,
}

/// One message of a chat. Unknown members are preserved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChatMessage {
    /// Identifier, unique within its history.
    #[serde(default)]
    pub id: String,
    /// Author of the message: user or provider.
    pub role: ChatRole,
    /// Text of the message, as Markdown.
    #[serde(default)]
    pub content: String,
    /// Time of the message, ISO 8601.
    #[serde(default)]
    pub timestamp: String,
    /// Absolute paths of the files attached to the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    /// Text, thinking and tool calls in chronological order; absent for messages of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub blocks: Option<Vec<Value>>,
    /// Provider that wrote the message; absent for the history's default provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ProviderId>,
    /// Provider to which, or by which, a message of the terminal chat was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ProviderId>,
    /// Whether the review comment was answered at the code host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responded: Option<bool>,
    /// Unknown members, written by other programs and preserved.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: serde_json::Map<String, Value>,
}

impl ChatMessage {
    /// Creates a message without the optional members.
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
    /// Login of the comment's author.
    #[serde(default)]
    pub author: String,
    /// Text of the comment, as Markdown.
    #[serde(default)]
    pub body: String,
    /// File that the comment refers to; absent for a general comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Line that the comment refers to, from 1; absent for a general comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Web address of the comment at the code host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Replies to the comment, oldest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Vec<CommentReply>>,
}

/// A reply to a review comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommentReply {
    /// Login of the reply's author.
    #[serde(default)]
    pub author: String,
    /// Text of the reply, as Markdown.
    #[serde(default)]
    pub body: String,
}

/// The review finding that a chat is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindingContext {
    /// Severity, for example `high`.
    #[serde(default)]
    pub severity: String,
    /// Priority from `P0` (highest) to `P3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// File that the finding refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line that the finding refers to, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Text of the finding.
    #[serde(default)]
    pub message: String,
    /// Suggested change to resolve the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// History of a chat, as stored on disk. Unknown members are preserved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"messages": [{"id": "user-1735000000000", "role": "user", "content": "Why two caches?", "timestamp": "2026-01-05T10:00:00.000Z"}], "ticketId": "SHOP-7", "sessionId": "8c0c", "contextPercent": 12}))]
pub struct ChatHistory {
    /// Messages of the chat, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Id of the ticket; absent outside ticket chats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<String>,
    /// Path of the repository, as sent by the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_path: Option<String>,
    /// Id of the review comment; absent outside comment chats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_id: Option<String>,
    /// The review comment that the chat is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_context: Option<CommentContext>,
    /// Id of the review finding; absent outside finding chats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding_id: Option<String>,
    /// The review finding that the chat is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding_context: Option<FindingContext>,
    /// Session id of the history's default provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Session id of the assistant, in a history of several providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant_session_id: Option<String>,
    /// Session id of the reviewer, in a history of several providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer_session_id: Option<String>,
    /// Session ids of all other providers, by provider id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sessions: BTreeMap<ProviderId, String>,
    /// Percentage of the context window used by the last run; null when it was not reported.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub context_percent: Option<Option<u64>>,
    /// Unknown members, written by other programs and preserved.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: serde_json::Map<String, Value>,
}

/// Deserializes a present member, so that null differs from an absent member.
fn present<'de, D: Deserializer<'de>>(member: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(member).map(Some)
}

/// Assignment of session ids to members of a history.
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
    /// Returns the author of provider messages without a `sender`.
    #[must_use]
    pub const fn default_sender(&self) -> &ProviderId {
        match self {
            Self::Single(provider) => provider,
            Self::Separate => &ProviderId::ASSISTANT,
        }
    }
}

impl ChatHistory {
    /// Creates an empty history of a ticket.
    #[must_use]
    pub fn new(ticket_id: impl Into<String>, repo_path: impl Into<String>) -> Self {
        Self { ticket_id: Some(ticket_id.into()), repo_path: Some(repo_path.into()), ..Self::default() }
    }

    /// Returns the session id of a provider, if it has one.
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

    /// Sets the session id of a provider, or removes it.
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
