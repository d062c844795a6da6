//! Providers: command line, output format and session handling of the AI programs.
//!
//! To add a provider, add a module here and register it in [`crate::registry`].

pub mod acp;
pub mod assistant;
pub mod reviewer;

use std::ffi::OsString;
use std::path::PathBuf;

use loopgate_api::agent_failure::{self, AgentFailure, FailureKind};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_api::run_phase::RunPhase;
use loopgate_home::Program;
use loopgate_tools::environment::TrustGuard;
use serde_json::Value;

/// Input of one turn.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    /// Prompt for the program.
    pub prompt: String,
    /// Session to resume; a new one is created when absent.
    pub session: Option<String>,
    /// Model; the program's default when absent.
    pub model: Option<String>,
    /// Reasoning effort, as the program names it.
    pub effort: Option<String>,
    /// Comma-separated tools that the program may use. Ignored by programs without such an option.
    pub tools: String,
    /// Whether the program may change files and run commands.
    pub access: FileAccess,
    /// Text appended to the program's system prompt, for programs that support it.
    pub instructions: Option<String>,
    /// Paths of attached images. The prompt lists them too, but some programs pass images to the model only
    /// when they are given as arguments.
    pub images: Vec<PathBuf>,
}

/// Access of a program to its working directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileAccess {
    /// Read files, without modifying them.
    #[default]
    ReadOnly,
    /// Change files and run commands there.
    ReadWrite,
}

/// Executable of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderProgram {
    /// A program with a setting for its path; resolved at each start.
    Known(Program),
    /// An executable, as a path or as a name on the PATH.
    Path(PathBuf),
}

/// Process to start for a turn.
#[derive(Debug, Clone)]
pub struct ProviderCommand {
    pub program: ProviderProgram,
    pub args: Vec<OsString>,
    /// Text written to standard input, which is then closed.
    pub stdin: String,
    /// Environment variables in addition to the common ones.
    pub variables: Vec<(OsString, OsString)>,
}

/// Output of a turn so far.
#[derive(Debug, Clone, Default)]
pub struct TurnOutput {
    /// Concatenated text of the response.
    pub text: String,
    /// Text, thinking and tool call blocks, as stored in a history.
    pub blocks: Vec<Value>,
    /// Session id reported by the program.
    pub session_id: Option<String>,
    /// Used share of the context window in percent.
    pub context_percent: Option<u64>,
    /// Last error that the program reported and did not recover from.
    pub error: Option<TurnError>,
    /// Whether the program's last result is a failure.
    pub failed: bool,
    /// Text of the program's last result. For a turn without a response, it is the program's own message.
    pub result_text: Option<String>,
    /// Phase of the run, which determines how long the program may be silent.
    pub phase: RunPhase,
}

/// An error that a program reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnError {
    /// Message of the program; not redacted.
    pub text: String,
    /// The recognized failure, if it is known.
    pub failure: Option<AgentFailure>,
}

impl TurnError {
    /// Creates an error whose failure is to be recognized by the text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), failure: None }
    }
}

impl TurnOutput {
    /// Records an error. Keeps the time at which a usage limit resets, which programs report separately.
    pub fn fail(&mut self, mut error: TurnError) {
        let (earlier_text, earlier) = self.error.take().map(|error| (error.text, error.failure)).unzip();
        let earlier = earlier.flatten();
        let resets_at = earlier.as_ref().and_then(|failure| failure.resets_at);
        // Programs report the same message with and without its class.
        let repeated = earlier.filter(|_| earlier_text.as_ref() == Some(&error.text));
        error.failure = error.failure.or(repeated).or_else(|| agent_failure::in_error(&error.text));
        if let Some(failure) = &mut error.failure
            && failure.kind == FailureKind::RateLimit
        {
            failure.resets_at = failure.resets_at.or(resets_at);
        }
        self.error = Some(error);
    }
}

/// Parser for the standard output of one turn.
pub trait OutputReader: Send + Sync {
    /// Parses a line (without line break), adds it to the output and returns the events for clients. Lines
    /// that cannot be parsed are ignored. Errors are added to the output only: whether the program recovers is
    /// known at the end of the run, which reports one error to clients.
    fn read_line(&mut self, line: &str, output: &mut TurnOutput) -> Vec<ChatEvent>;
}

/// Adapter for an AI program.
pub trait Provider: Send + Sync {
    fn id(&self) -> &ProviderId;

    /// Returns the model to use when a route needs one and the client specifies none.
    fn default_model(&self) -> &str;

    /// Returns whether a model belongs to this provider.
    fn supports_model(&self, model: &str) -> bool;

    /// Builds the process to start for a turn.
    fn command(&self, turn: &TurnRequest, guard: &TrustGuard) -> ProviderCommand;

    /// Creates a parser for the output of a turn.
    fn reader(&self) -> Box<dyn OutputReader>;

    /// Returns whether the standard error of a failed turn reports an unknown session.
    fn is_session_missing(&self, stderr: &str) -> bool;

    /// Returns the session id found in the standard error, for programs that print it there.
    fn session_in_stderr(&self, _stderr: &str) -> Option<String> {
        None
    }

    /// Returns the standard error to show to users, without harmless messages.
    fn readable_stderr(&self, stderr: &str) -> String {
        stderr.to_owned()
    }
}

/// Returns whether a text contains one of the lower-case phrases, ignoring case.
fn contains_any(text: &str, phrases: &[&str]) -> bool {
    let text = text.to_lowercase();
    phrases.iter().any(|phrase| text.contains(phrase))
}
