//! The events of a run: what a provider does, as its client receives it, one JSON object a line.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::debate::DebateStatus;
use crate::provider::ProviderId;

/// How far the start of a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// The program is about to be started.
    Spawning,
    /// The program runs.
    Running,
}

/// One line of a run's stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(example = json!({"type": "text", "content": "Because the catalogue"}))]
pub enum ChatEvent {
    /// Progress of the start, or the session of a provider that announces it this way.
    #[serde(rename_all = "camelCase")]
    Status {
        /// How far the start is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<RunStatus>,
        /// The program's process, by which it can be stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// Who answers, in a review.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<ProviderId>,
        /// Who answers, in a chat with several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<ProviderId>,
        /// Whether an earlier session goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resuming: Option<bool>,
        /// Id of the program's session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// The program's session is known.
    #[serde(rename = "sessionId", rename_all = "camelCase")]
    SessionId {
        /// Id of the session.
        session_id: String,
    },
    /// Text to append.
    Text {
        /// The text.
        content: String,
    },
    /// What the assistant thinks.
    Thinking {
        /// The text.
        content: String,
    },
    /// What the reviewer thinks.
    Reasoning {
        /// The text.
        content: String,
    },
    /// A tool is called.
    ToolUse {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Its arguments.
        #[schema(value_type = Object)]
        input: Value,
    },
    /// A tool has answered.
    ToolResult {
        /// Id of the call.
        id: String,
        /// Its answer, whatever its shape.
        #[schema(value_type = Object)]
        content: Value,
        /// Whether the answer is an error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    /// How much of the context is used.
    #[serde(rename_all = "camelCase")]
    Usage {
        /// In percent.
        context_percent: u64,
    },
    /// Something failed; more may follow.
    Error {
        /// For a person.
        error: String,
        /// Nothing follows.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        terminal: bool,
    },
    /// The outcome; one from the program's own words, one from its end.
    Result {
        /// Whether it went well.
        success: bool,
    },
    /// Nothing happened for a while.
    Keepalive,
    /// The end; nothing follows.
    #[serde(rename_all = "camelCase")]
    Done {
        /// The last answer of a debate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// State of the debate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        debate_status: Option<DebateStatus>,
    },
}

impl ChatEvent {
    /// The end, with nothing more to say.
    pub const DONE: Self = Self::Done { content: None, debate_status: None };

    /// A failure after which more may follow.
    #[must_use]
    pub const fn error(error: String) -> Self {
        Self::Error { error, terminal: false }
    }

    /// The session of a provider that announces it as a status.
    #[must_use]
    pub const fn session_status(session_id: String) -> Self {
        Self::Status {
            status: None,
            pid: None,
            provider: None,
            mode: None,
            resuming: None,
            session_id: Some(session_id),
        }
    }
}
