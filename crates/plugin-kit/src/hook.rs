//! `loopgate hook …`: the hooks that the assistant calls when sessions, subagents and tools start or end.
//!
//! Each hook reads one JSON object from standard input and prints one or none. `hooks/run.sh` calls them only in
//! sessions of a loop. A hook that fails prints nothing, so that it never blocks the assistant.

pub(crate) mod agents;
pub(crate) mod answers;
mod credentials;
mod delivery;
mod foreign_agents;
mod git_call;
mod hook_record;
mod input;
mod learnings;
mod messages;
mod page;
mod permission;
mod project_scripts;
mod session;
mod shell;
mod subagent;
mod transcript;
mod undo;

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use crate::console::{print_line, print_result};
use crate::messages::PendingMessages;
use crate::variables as var;
use input::HookInput;
pub(crate) use input::is_name;
use messages::Delivery;

pub(crate) use permission::refusal_of_command;

/// Upper bound of the input in bytes; a tool's arguments may contain a whole file.
const INPUT_CAP: u64 = 64 * 1024 * 1024;
/// Age after which a session's record counts as abandoned; crashed sessions do not remove theirs.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);

/// Hooks of the plugin `code`.
#[derive(Debug, Clone, Copy, clap::Subcommand)]
pub enum HookCommand {
    /// Prepare a command of the plugin before its page is expanded
    PromptExpansion,
    /// Print what was prepared for the page of this session's command
    Page,
    /// Record that the hooks of a session run
    SessionStart,
    /// Delete the records of an ended session
    SessionEnd,
    /// Pass the loop's settings to a subagent
    SubagentStart,
    /// Deny access to credentials and delivery by the assistant, allow the loop's files
    PreToolUse,
    /// Pass messages of the user to the assistant
    PostToolUse,
    /// Continue a session that is about to end with messages of the user
    Stop,
    /// Send a looping subagent back to work until it keeps its promise
    SubagentStop,
    /// Pass learnings to a session without a loop
    LearningsSessionStart,
    /// Pass learnings to a subagent of a session without a loop
    LearningsSubagentStart,
}

impl HookCommand {
    /// Reads the input and prints the answer. The exit code is 0, because the assistant treats others as errors; only
    /// `page` fails with 1.
    #[must_use]
    pub fn run(self) -> ExitCode {
        if matches!(self, Self::Page) {
            return print_result(page::take());
        }
        let mut text = Vec::new();
        let read = std::io::stdin().take(INPUT_CAP).read_to_end(&mut text);
        // Malformed input is treated like an unknown session: the assistant must not fail because of a hook.
        let input = read.ok().and_then(|_| serde_json::from_slice::<HookInput>(&text).ok());
        let input = input
            .map(|input| HookInput { project_dir: var::text(var::PROJECT_DIR).map(PathBuf::from), ..input });
        if let Some(Delivery { answer, messages }) = input.and_then(|input| self.delivery(&input)) {
            print_line(answer);
            // After the answer: a hook that dies between both delivers the messages again.
            messages.into_iter().for_each(PendingMessages::settle);
        }
        ExitCode::SUCCESS
    }

    fn delivery(self, input: &HookInput) -> Option<Delivery> {
        match self {
            Self::SessionStart => {
                hook_record::store(input);
                messages::at_start(input)
            }
            Self::PostToolUse => messages::after_tool(input),
            Self::Stop => messages::at_stop(input),
            _ => Some(Delivery { answer: self.answer(input)?, messages: None }),
        }
    }

    fn answer(self, input: &HookInput) -> Option<Value> {
        match self {
            Self::PromptExpansion => page::prepare(input),
            Self::SubagentStart => subagent::start(input),
            Self::PreToolUse => {
                learnings::with_tool_notes(permission::decide(input, delivery::is_by_runtime()), input)
            }
            Self::SubagentStop => subagent::stop(input),
            Self::LearningsSessionStart => learnings::for_session(input, "SessionStart"),
            Self::LearningsSubagentStart => learnings::for_session(input, "SubagentStart"),
            Self::SessionEnd => {
                session::end(input);
                None
            }
            // The page has no input; the others deliver messages.
            Self::Page | Self::SessionStart | Self::PostToolUse | Self::Stop => None,
        }
    }
}
