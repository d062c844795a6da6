//! Scripts of the model server: conversations, their turns, and the steps of a turn.
//!
//! A script is plain data, created by the builders here or read from a JSON file. The turn that answers a
//! request is determined from the request alone (see [`super::request`]), so that a retry or a restarted
//! program gets the same answer.

use std::path::Path;

use anyhow::Context as _;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All responses of a model server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Script {
    /// Tried in order; the first match answers.
    pub conversations: Vec<Conversation>,
    /// Text for requests that match no conversation, such as titles, summaries and probes.
    pub otherwise: Option<String>,
    /// Delay between two streamed pieces, in milliseconds. Zero in tests.
    pub pace_ms: u64,
}

/// A conversation: the patterns of its requests, and its turns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Conversation {
    /// Name in recorded requests and in error messages.
    pub name: String,
    /// Regular expressions that must all match the system text and the user's messages.
    pub when: Vec<String>,
    /// Regular expressions that must all match the tool results.
    pub when_results: Vec<String>,
    /// Optional regular expressions whose named groups become placeholders. They do not have to match.
    pub captures: Vec<String>,
    /// Whether requests without tools match as well. By default they count as side requests.
    pub toolless: bool,
    /// Responses in order; retries of a request get the same one.
    pub turns: Vec<ModelTurn>,
}

/// One response of the model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelTurn(pub Vec<ModelStep>);

/// A part of a response. A placeholder `{{name}}` in a text or an input is replaced by the named group of the
/// conversation's expressions (empty without a match), `{{cwd}}` by the working directory that the program
/// reported.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModelStep {
    /// Emits text to the user.
    Text(String),
    /// Calls a tool of the program.
    Tool { name: String, input: Value },
    /// Waits this many milliseconds.
    Delay(u64),
    /// Fails: with an HTTP status before the first content, with an error event of the stream after it.
    Error(Failure),
    Drop {
        /// Number of attempts that are aborted before the turn succeeds; `None` aborts all.
        times: Option<u32>,
    },
    /// Waits until the test opens the gate of this name.
    Hold(String),
    /// Sets the token usage that the response reports.
    Usage(ModelUsage),
}

/// An error response of the model's API.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub status: u16,
    /// Error type of the API, for example `overloaded_error`.
    pub kind: String,
    pub message: String,
    /// Number of attempts that fail before the turn succeeds; `None` fails all.
    #[serde(default)]
    pub times: Option<u32>,
    /// Seconds from the response until the reported usage limit resets; `None` for other errors.
    #[serde(default)]
    pub limit_seconds: Option<i64>,
}

/// Token counts of one response.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelUsage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Failure {
    /// Creates an error that every attempt returns.
    #[must_use]
    pub fn new(status: u16, kind: &str, message: &str) -> Self {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        Self { status, kind, message, times: None, limit_seconds: None }
    }

    /// Creates the error of an exhausted subscription limit that resets after this many seconds.
    #[must_use]
    pub fn usage_limit(seconds: i64) -> Self {
        let message = "This request would exceed your account's rate limit. Please try again later.";
        Self { limit_seconds: Some(seconds), ..Self::new(429, "rate_limit_error", message) }
    }
}

impl Default for ModelUsage {
    fn default() -> Self {
        Self { input: 100, output: 20, cache_read: 0, cache_write: 0 }
    }
}

impl Script {
    #[must_use]
    pub fn new(conversations: impl IntoIterator<Item = Conversation>) -> Self {
        Self { conversations: conversations.into_iter().collect(), ..Self::default() }
    }

    /// Holds the first response of a conversation at a gate. No-op without the conversation.
    pub fn hold(&mut self, conversation: &str, gate: &str) {
        let conversation = self.conversations.iter_mut().find(|known| known.name == conversation);
        if let Some(turn) = conversation.and_then(|known| known.turns.first_mut()) {
            turn.0.insert(0, ModelStep::hold(gate));
        }
    }

    /// Delays streamed pieces by this many milliseconds, so that a user can watch the output.
    #[must_use]
    pub fn paced(mut self, pace_ms: u64) -> Self {
        self.pace_ms = pace_ms;
        self
    }

    /// Reads a script from a JSON file. Fails when it contains a regular expression that does not compile.
    pub fn from_file(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let script: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a valid script", path.display()))?;
        script.check()?;
        Ok(script)
    }

    pub(super) fn check(&self) -> anyhow::Result<()> {
        for conversation in &self.conversations {
            let patterns = conversation.when.iter().chain(&conversation.when_results);
            for pattern in patterns.chain(&conversation.captures) {
                Regex::new(pattern)
                    .with_context(|| format!("conversation {:?}: {pattern}", conversation.name))?;
            }
        }
        Ok(())
    }
}

impl Conversation {
    /// Creates a conversation for requests that match the expression.
    #[must_use]
    pub fn when(name: &str, pattern: &str) -> Self {
        Self { name: name.to_owned(), when: vec![pattern.to_owned()], ..Self::default() }
    }

    /// Requires another expression to match the system text or the user's messages.
    #[must_use]
    pub fn and(mut self, pattern: &str) -> Self {
        self.when.push(pattern.to_owned());
        self
    }

    /// Requires an expression to match the tool results.
    #[must_use]
    pub fn after_result(mut self, pattern: &str) -> Self {
        self.when_results.push(pattern.to_owned());
        self
    }

    /// Adds a response with these steps.
    #[must_use]
    pub fn turn(mut self, steps: impl IntoIterator<Item = ModelStep>) -> Self {
        self.turns.push(ModelTurn(steps.into_iter().collect()));
        self
    }

    /// Adds a response without tool calls, which ends the program's turn.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.turn([ModelStep::text(text)])
    }

    /// Adds a response that runs a shell command with the `Bash` tool.
    #[must_use]
    pub fn runs(self, command: &str) -> Self {
        self.turn([ModelStep::bash(command)])
    }
}

impl ModelStep {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    #[must_use]
    pub fn tool(name: &str, input: Value) -> Self {
        Self::Tool { name: name.to_owned(), input }
    }

    /// Calls the assistant's `Bash` tool.
    #[must_use]
    pub fn bash(command: &str) -> Self {
        Self::tool("Bash", serde_json::json!({"command": command, "description": "Run a command"}))
    }

    /// Calls the assistant's `Write` tool.
    #[must_use]
    pub fn write(path: &str, content: &str) -> Self {
        Self::tool("Write", serde_json::json!({"file_path": path, "content": content}))
    }

    /// Fails every attempt with this HTTP status.
    #[must_use]
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::Error(Failure::new(status, kind, message))
    }

    #[must_use]
    pub fn hold(gate: &str) -> Self {
        Self::Hold(gate.to_owned())
    }
}
