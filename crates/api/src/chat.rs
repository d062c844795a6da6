//! Chats about a ticket or a review comment: what is kept of them on disk, and the events that a
//! running one sends to its page.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Which assistant a chat speaks with; it chooses the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatProvider {
    /// The coding assistant.
    Assistant,
    /// The second tool.
    Reviewer,
}

impl ChatProvider {
    /// The provider of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "assistant" => Some(Self::Assistant),
            "reviewer" => Some(Self::Reviewer),
            _ => None,
        }
    }

    /// The name as it travels and stands in file names.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::Reviewer => "reviewer",
        }
    }
}

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
    /// Text, thoughts and tool calls, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub blocks: Option<Vec<Value>>,
    /// Which program, where more than one takes part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ChatProvider>,
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
            blocks: None,
            sender: None,
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
    /// File it stands at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Line it stands at.
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

/// A chat as it is kept on disk. Members that are not known here are kept as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatHistory {
    /// Oldest first.
    pub messages: Vec<ChatMessage>,
    /// Ticket.
    #[serde(default)]
    pub ticket_id: String,
    /// Path of the repository, as the page named it.
    #[serde(default)]
    pub repo_path: String,
    /// Review comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_id: Option<String>,
    /// The comment itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_context: Option<CommentContext>,
    /// The program's session, so that the next message goes on with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How much of the context the last run used; null when it did not say.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub context_percent: Option<Option<u64>>,
    /// Members that other programs wrote.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: serde_json::Map<String, Value>,
}

/// Tells a member that is null from one that is missing.
fn present<'de, D: Deserializer<'de>>(member: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(member).map(Some)
}

impl ChatHistory {
    /// An empty history.
    #[must_use]
    pub fn new(ticket_id: impl Into<String>, repo_path: impl Into<String>) -> Self {
        Self { ticket_id: ticket_id.into(), repo_path: repo_path.into(), ..Self::default() }
    }
}
