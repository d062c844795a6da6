//! Events of a provider's run, as streamed to clients: one JSON object per line.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::debate::DebateStatus;
use crate::provider::ProviderId;

/// Progress of the start of a provider's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// The program is about to be started.
    Spawning,
    /// The program has been started and runs.
    Running,
}

/// One line of a run's event stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(example = json!({"type": "text", "content": "Because the catalogue"}))]
pub enum ChatEvent {
    /// Progress of the start, or the session id of a provider that announces it this way.
    #[serde(rename_all = "camelCase")]
    Status {
        /// Progress of the start; absent when only the session is announced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<RunStatus>,
        /// Process id of the program, accepted by the kill route; absent before the start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// Provider that responds, in a review.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<ProviderId>,
        /// Provider that responds, in a chat with several providers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<ProviderId>,
        /// Whether the run resumes an earlier session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resuming: Option<bool>,
        /// Session id of the provider's program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// The provider's session id became known.
    #[serde(rename = "sessionId", rename_all = "camelCase")]
    SessionId {
        /// Session id of the provider's program.
        session_id: String,
    },
    /// Response text, to append to the text received so far.
    Text {
        /// Text to append, as Markdown.
        content: String,
    },
    /// Thinking output of the assistant.
    Thinking {
        /// Text of the thinking block.
        content: String,
    },
    /// Reasoning output of the reviewer.
    Reasoning {
        /// Text of the reasoning summary.
        content: String,
    },
    /// The provider calls a tool.
    ToolUse {
        /// Id of the call, repeated in its result.
        id: String,
        /// Name of the called tool.
        name: String,
        /// Arguments of the call, in the tool's own format.
        #[schema(value_type = Object)]
        input: Value,
    },
    /// A tool call returned a result.
    ToolResult {
        /// Id of the call, as in `tool_use`.
        id: String,
        /// Result of the call, in the tool's own format.
        #[schema(value_type = Object)]
        content: Value,
        /// Whether the result is an error; absent when the provider does not report it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    /// Share of the model's context window in use.
    #[serde(rename_all = "camelCase")]
    Usage {
        /// Percentage of the context window, 0 to 100.
        context_percent: u64,
    },
    /// An error; further events may follow unless `terminal` is set.
    Error {
        /// Error message for the user.
        error: String,
        /// Whether this is the last event of the stream; absent when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        terminal: bool,
    },
    /// Outcome of the run. Sent once, when the program has exited.
    Result {
        /// Whether the run succeeded.
        success: bool,
    },
    /// Keeps idle connections open; sent when no other event occurred for some time.
    Keepalive,
    /// End of the stream; no event follows.
    #[serde(rename_all = "camelCase")]
    Done {
        /// Last response of a debate; absent otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// State of the debate; absent outside debates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        debate_status: Option<DebateStatus>,
    },
}

impl ChatEvent {
    /// End of the stream without a debate.
    pub const DONE: Self = Self::Done { content: None, debate_status: None };

    /// Returns a non-terminal error event.
    #[must_use]
    pub const fn error(error: String) -> Self {
        Self::Error { error, terminal: false }
    }

    /// Returns the status event that carries only a session id.
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
