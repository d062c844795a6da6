//! What Loopgate must know of a program that answers: its command line, its output, and its sessions.
//!
//! A further program is one more file here, and one line in [`crate::registry`].

pub mod acp;
pub mod assistant;
pub mod reviewer;

use std::ffi::OsString;
use std::path::PathBuf;

use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_home::Program;
use loopgate_tools::environment::TrustGuard;
use serde_json::Value;

/// One turn that a provider is asked to take.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    /// What the program is told.
    pub prompt: String,
    /// The session that goes on; a new one when absent.
    pub session: Option<String>,
    /// The model; the program's own choice when absent.
    pub model: Option<String>,
    /// How long the model may think, in the program's words.
    pub effort: Option<String>,
    /// Tools that the program may use, separated by commas. Programs without such a list ignore it.
    pub tools: String,
    /// Whether the program may change files and run commands.
    pub access: FileAccess,
    /// Text after the program's own instructions, where it takes some.
    pub instructions: Option<String>,
    /// Images beside the prompt, which names them too, for programs whose models see them only so.
    pub images: Vec<PathBuf>,
}

/// What a program may do to the directory that it works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileAccess {
    /// Read files.
    #[default]
    ReadOnly,
    /// Change files and run commands there.
    ReadWrite,
}

/// Which executable is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderProgram {
    /// One of the programs that the settings may name; found anew at each start.
    Known(Program),
    /// An executable, as a path or as a name on the PATH.
    Path(PathBuf),
}

/// How a turn is started.
#[derive(Debug, Clone)]
pub struct ProviderCommand {
    /// The executable.
    pub program: ProviderProgram,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its standard input, which ends after this text.
    pub stdin: String,
    /// Variables beside those that every program gets.
    pub variables: Vec<(OsString, OsString)>,
}

/// What a turn has produced so far.
#[derive(Debug, Clone, Default)]
pub struct TurnOutput {
    /// All text.
    pub text: String,
    /// Text, thoughts and tool calls, as they are stored in a history.
    pub blocks: Vec<Value>,
    /// The program's session.
    pub session_id: Option<String>,
    /// How much of the context is used, in percent.
    pub context_percent: Option<u64>,
    /// Whether the program's account was refused.
    pub auth_failed: bool,
    /// Whether the program said that the turn is over.
    pub finished: bool,
}

/// Reads the standard output of one turn.
pub trait OutputReader: Send + Sync {
    /// Reads one line without its end, adds it to the output, and returns what a client is told. A line that
    /// makes no sense changes nothing.
    fn read_line(&mut self, line: &str, output: &mut TurnOutput) -> Vec<ChatEvent>;
}

/// A program that answers.
pub trait Provider: Send + Sync {
    /// Its id.
    fn id(&self) -> &ProviderId;

    /// The model that is asked when a route needs one and the client names none.
    fn default_model(&self) -> &str;

    /// Whether a model is one of this provider's.
    fn supports_model(&self, model: &str) -> bool;

    /// The command line of a turn.
    fn command(&self, turn: &TurnRequest, guard: &TrustGuard) -> ProviderCommand;

    /// A reader for the output of a turn.
    fn reader(&self) -> Box<dyn OutputReader>;

    /// Whether the standard error of a failed turn says that the program does not know the session.
    fn is_session_missing(&self, stderr: &str) -> bool;

    /// The session that the standard error names, for programs that print it there.
    fn session_in_stderr(&self, _stderr: &str) -> Option<String> {
        None
    }

    /// The standard error as a person reads it, without what only looks like an error.
    fn readable_stderr(&self, stderr: &str) -> String {
        stderr.to_owned()
    }
}

/// Whether a text contains one of these phrases, in any case. The phrases are in lower case.
fn contains_any(text: &str, phrases: &[&str]) -> bool {
    let text = text.to_lowercase();
    phrases.iter().any(|phrase| text.contains(phrase))
}
