//! `loopgate hook …`: what the assistant calls at the turning points of a session.
//!
//! Each hook reads one JSON object from standard input and answers with one or with nothing. Outside a
//! loop only the refusal of credentials remains. A hook that cannot do its work says nothing: it must
//! are never in the way of the assistant.

pub(crate) mod agents;
mod credentials;
mod delivery;
mod input;
mod permission;
mod session;
mod shell;
mod subagent;
mod transcript;

use std::io::Read as _;
use std::process::ExitCode;

use serde_json::Value;

use crate::console::print_line;
use input::HookInput;

/// Longest input that is read; a tool's arguments may hold a whole file.
const INPUT_CAP: u64 = 64 * 1024 * 1024;

/// Hooks of the plugin `code`.
#[derive(Debug, Clone, Copy, clap::Subcommand)]
pub enum HookCommand {
    /// Note the session of an assistant process
    SessionStart,
    /// Clear away what belongs to a session that ended
    SessionEnd,
    /// Give a subagent the loop's settings
    SubagentStart,
    /// Refuse credentials and delivery by the assistant, allow the loop's own files
    PreToolUse,
    /// Keep a looping subagent at work until its promise holds
    SubagentStop,
}

impl HookCommand {
    /// Reads the input and prints the answer; the exit code is always 0.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let mut text = Vec::new();
        let read = std::io::stdin().take(INPUT_CAP).read_to_end(&mut text);
        let input = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
        if let Some(answer) = input.and_then(|input| self.answer(&input)) {
            print_line(answer);
        }
        ExitCode::SUCCESS
    }

    fn answer(self, input: &HookInput) -> Option<Value> {
        match self {
            Self::SessionStart => session::start(input),
            Self::SessionEnd => session::end(input),
            Self::SubagentStart => return subagent::start(input),
            Self::PreToolUse => return permission::decide(input, delivery::is_by_runtime()),
            Self::SubagentStop => return subagent::stop(input),
        }
        None
    }
}
