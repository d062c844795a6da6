//! Sub-commands that the assistant's plugins call: `loop` and `stream`.

use std::process::ExitCode;

use clap::Subcommand;
use loopgate_plugin_kit::agent_setup::AgentSetupArgs;
use loopgate_plugin_kit::formatter::FormatArgs;
use loopgate_plugin_kit::loop_cancel::CancelArgs;
use loopgate_plugin_kit::loop_run::{AssistantArgs, LoopRunArgs};
use loopgate_plugin_kit::setup::SetupArgs;

/// Drive one loop in the current directory.
#[derive(Debug, Subcommand)]
pub enum LoopSubcommand {
    /// Run the assistant in iterations until it reports completion or a limit is reached.
    Run(LoopRunArgs),
    /// Run the assistant once, waiting while its account is rate-limited.
    Assistant(AssistantArgs),
    /// Prepare the work directory for one iteration.
    Setup(SetupArgs),
    /// Cancel the loop of the current directory.
    Cancel(CancelArgs),
    /// End at once: the work of the loop is done and approved, and Loopgate delivers it.
    Deliver,
    /// Start the loop of one agent manually.
    AgentSetup(AgentSetupArgs),
}

impl LoopSubcommand {
    pub fn run(self) -> ExitCode {
        match self {
            Self::Run(args) => args.run(),
            Self::Assistant(args) => args.run(),
            Self::Setup(args) => args.run(),
            Self::Cancel(args) => args.run(),
            Self::Deliver => ExitCode::SUCCESS,
            Self::AgentSetup(args) => args.run(),
        }
    }
}

/// Format the assistant's event stream for reading.
#[derive(Debug, Subcommand)]
pub enum StreamCommand {
    /// Read stream-json from standard input and print text.
    Format(FormatArgs),
}

impl StreamCommand {
    pub fn run(self) -> ExitCode {
        match self {
            Self::Format(args) => args.run(),
        }
    }
}
