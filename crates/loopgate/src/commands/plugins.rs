//! The sub-commands that the assistant's plugins call: `loop`, `plan`, `stream`.

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
    /// Run the assistant, iteration by iteration, until it keeps its promise.
    Run(LoopRunArgs),
    /// Run the assistant once, and wait while its account is limited.
    Assistant(AssistantArgs),
    /// Set the work directory up for one iteration.
    Setup(SetupArgs),
    /// Stop the loop of the current directory.
    Cancel(CancelArgs),
    /// Begin the loop of one agent by hand.
    AgentSetup(AgentSetupArgs),
}

impl LoopSubcommand {
    pub fn run(self) -> ExitCode {
        match self {
            Self::Run(args) => args.run(),
            Self::Assistant(args) => args.run(),
            Self::Setup(args) => args.run(),
            Self::Cancel(args) => args.run(),
            Self::AgentSetup(args) => args.run(),
        }
    }
}

/// Make the assistant's event stream readable.
#[derive(Debug, Subcommand)]
pub enum StreamCommand {
    /// Read stream-json on standard input and print text.
    Format(FormatArgs),
}

impl StreamCommand {
    pub fn run(self) -> ExitCode {
        match self {
            Self::Format(args) => args.run(),
        }
    }
}
