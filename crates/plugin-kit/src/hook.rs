//! `loopgate hook …`: the hooks that the assistant calls when sessions, subagents and tools start or end.
//!
//! Each hook reads one JSON object from standard input and prints one or none. Outside a loop, only the
//! refusal of credentials applies. A hook that fails prints nothing, so that it never blocks the assistant.

pub(crate) mod agents;
pub(crate) mod answers;
mod credentials;
mod delivery;
mod git_call;
mod hook_record;
mod input;
mod permission;
mod session;
mod shell;
mod subagent;
mod transcript;
mod undo;

use std::io::Read as _;
use std::process::ExitCode;

use serde_json::Value;

use crate::console::print_line;
use input::HookInput;

pub(crate) use permission::refusal_of_command;

/// Upper bound of the input in bytes; a tool's arguments may contain a whole file.
const INPUT_CAP: u64 = 64 * 1024 * 1024;

/// Hooks of the plugin `code`.
#[derive(Debug, Clone, Copy, clap::Subcommand)]
pub enum HookCommand {
    /// Record the session of an assistant process
    SessionStart,
    /// Delete the records of an ended session
    SessionEnd,
    /// Pass the loop's settings to a subagent
    SubagentStart,
    /// Deny access to credentials and delivery by the assistant, allow the loop's files
    PreToolUse,
    /// Send a looping subagent back to work until it keeps its promise
    SubagentStop,
}

impl HookCommand {
    /// Reads the input and prints the answer. The exit code is always 0: the assistant treats others as
    /// errors.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let mut text = Vec::new();
        let read = std::io::stdin().take(INPUT_CAP).read_to_end(&mut text);
        // Malformed input is treated like an unknown session: the assistant must not fail because of a hook.
        let input = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
        if let Some(answer) = input.and_then(|input| self.answer(&input)) {
            print_line(answer);
        }
        ExitCode::SUCCESS
    }

    fn answer(self, input: &HookInput) -> Option<Value> {
        match self {
            Self::SessionStart => {
                hook_record::store(input);
                session::start(input);
            }
            Self::SessionEnd => session::end(input),
            Self::SubagentStart => return subagent::start(input),
            Self::PreToolUse => return permission::decide(input, delivery::is_by_runtime()),
            Self::SubagentStop => return subagent::stop(input),
        }
        None
    }
}
