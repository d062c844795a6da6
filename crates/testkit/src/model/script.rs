//! What a scripted model says: conversations, their turns, and the steps of a turn.
//!
//! A script is plain data, written in code with the builders here or read from a JSON file. The
//! turn that answers a request is found from the request alone (see [`super::request`]), so a
//! retry or a restarted program gets the same answer as before.

use std::path::Path;

use anyhow::Context as _;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything that a model server answers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Script {
    /// Tried in order; the first one that matches answers.
    pub conversations: Vec<Conversation>,
    /// Answer to a request that no conversation matches (titles, summaries, probes).
    pub otherwise: Option<String>,
    /// Pause between two streamed pieces of text, in milliseconds. Zero in tests.
    pub pace_ms: u64,
}

/// One conversation: which requests it answers, and its turns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Conversation {
    /// Name in recorded requests and in messages of failed tests.
    pub name: String,
    /// Regular expressions that must all be found in the system text and the user's messages.
    pub when: Vec<String>,
    /// Regular expressions that must all be found in results of tools.
    pub when_results: Vec<String>,
    /// Further regular expressions whose named groups are filled in; they need not be found.
    pub captures: Vec<String>,
    /// Also answers requests that offer no tools; those are side requests as a rule.
    pub toolless: bool,
    /// The answers, in order.
    pub turns: Vec<Turn>,
}

/// One answer of the model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Turn(pub Vec<Step>);

/// A part of an answer. `{{name}}` in a text or an input is replaced by the group of that name in
/// the conversation's expressions (by nothing when it was not found), `{{cwd}}` by the working
/// directory that the program reported.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// Says something.
    Text(String),
    /// Calls a tool.
    Tool {
        /// Name as the program offers it, for example `Bash`.
        name: String,
        /// Its arguments.
        input: Value,
    },
    /// Pauses, in milliseconds.
    Delay(u64),
    /// Fails: as an HTTP status when it comes first, else as an error within the stream.
    Error(Failure),
    /// Drops the connection. As in [`Failure::times`], `None` means on every attempt.
    Drop {
        /// Attempts that are dropped before the turn goes on.
        times: Option<u32>,
    },
    /// Waits until the test releases the gate of that name.
    Hold(String),
    /// Tokens that the answer reports.
    Usage(Usage),
}

/// An error as the model's API reports it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// HTTP status, for example 529.
    pub status: u16,
    /// The API's name for it, for example `overloaded_error`.
    pub kind: String,
    /// Text for a person.
    pub message: String,
    /// Attempts that fail before the turn goes on; `None` means every attempt.
    #[serde(default)]
    pub times: Option<u32>,
    /// Seconds from the answer to the end of the usage limit that it names; `None` when it is no usage limit.
    #[serde(default)]
    pub limit_seconds: Option<i64>,
}

/// Token counts of one answer.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens put in the cache.
    pub cache_write: u64,
}

impl Failure {
    /// A failure of every attempt.
    #[must_use]
    pub fn new(status: u16, kind: &str, message: &str) -> Self {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        Self { status, kind, message, times: None, limit_seconds: None }
    }

    /// The usage limit of a subscription, which ends that many seconds after the answer.
    #[must_use]
    pub fn usage_limit(seconds: i64) -> Self {
        let message = "This request would exceed your account's rate limit. Please try again later.";
        Self { limit_seconds: Some(seconds), ..Self::new(429, "rate_limit_error", message) }
    }
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 20, cache_read: 0, cache_write: 0 }
    }
}

impl Script {
    /// A script of these conversations.
    #[must_use]
    pub fn new(conversations: impl IntoIterator<Item = Conversation>) -> Self {
        Self { conversations: conversations.into_iter().collect(), ..Self::default() }
    }

    /// The same script, streamed at a speed that a person can watch.
    #[must_use]
    pub fn paced(mut self, pace_ms: u64) -> Self {
        self.pace_ms = pace_ms;
        self
    }

    /// Reads a script from a JSON file.
    ///
    /// # Errors
    /// When the file cannot be read, is no script, or holds an expression that does not compile.
    pub fn from_file(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let script: Self =
            serde_json::from_str(&text).with_context(|| format!("{} is no script", path.display()))?;
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
    /// A conversation for requests in which the expression is found.
    #[must_use]
    pub fn when(name: &str, pattern: &str) -> Self {
        Self { name: name.to_owned(), when: vec![pattern.to_owned()], ..Self::default() }
    }

    /// Asks for one more expression in the system text or the user's messages.
    #[must_use]
    pub fn and(mut self, pattern: &str) -> Self {
        self.when.push(pattern.to_owned());
        self
    }

    /// Asks for an expression in a tool's result.
    #[must_use]
    pub fn after_result(mut self, pattern: &str) -> Self {
        self.when_results.push(pattern.to_owned());
        self
    }

    /// Adds an answer.
    #[must_use]
    pub fn turn(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.turns.push(Turn(steps.into_iter().collect()));
        self
    }

    /// Adds an answer that only speaks, and so ends the program's turn.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.turn([Step::text(text)])
    }

    /// Adds an answer that runs a shell command through the `Bash` tool.
    #[must_use]
    pub fn runs(self, command: &str) -> Self {
        self.turn([Step::bash(command)])
    }
}

impl Step {
    /// Says something.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Calls a tool.
    #[must_use]
    pub fn tool(name: &str, input: Value) -> Self {
        Self::Tool { name: name.to_owned(), input }
    }

    /// Runs a shell command through the assistant's `Bash` tool.
    #[must_use]
    pub fn bash(command: &str) -> Self {
        Self::tool("Bash", serde_json::json!({"command": command, "description": "Run a command"}))
    }

    /// Writes a file through the assistant's `Write` tool.
    #[must_use]
    pub fn write(path: &str, content: &str) -> Self {
        Self::tool("Write", serde_json::json!({"file_path": path, "content": content}))
    }

    /// Fails every attempt with this status.
    #[must_use]
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::Error(Failure::new(status, kind, message))
    }

    /// Waits at a gate.
    #[must_use]
    pub fn hold(gate: &str) -> Self {
        Self::Hold(gate.to_owned())
    }
}
