//! The command line: its help is the manual.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};
use loopgate_plugin_kit::cache::CacheCommand;
use loopgate_plugin_kit::debate::DebateCommand;
use loopgate_plugin_kit::hook::HookCommand;
use loopgate_plugin_kit::judges::JudgesCommand;
use loopgate_plugin_kit::perf_summary::PerfCommand;
use loopgate_plugin_kit::plan::PlanCommand;
use loopgate_plugin_kit::plugin_files::PluginsCommand;
use loopgate_plugin_kit::repositories::ReposCommand;

use crate::commands;

/// Runs AI coding loops on your own machine.
///
/// Loopgate turns the coding assistant on your command line (`claude`), a second tool that reviews
/// (`codex`), your code host's command line (`gh`) and your repositories into dependable loops: a
/// plan that you can judge, then an implementation in a worktree of its own, committed, pushed and
/// opened as a pull request.
///
/// Start everything on this machine with `loopgate up` and open the page that it names.
#[derive(Debug, Parser)]
#[command(
    name = "loopgate",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Run everything on this machine: web app, control plane, gateway and runtime.
    Up(commands::up::UpArgs),
    /// Run the desktop half alone: the gateway on loopback and the runtime behind it.
    Gateway(commands::gateway::GatewayArgs),
    /// Run the control plane and the web app alone.
    ControlPlane(Box<commands::control_plane::ControlPlaneArgs>),
    /// Connect this desktop to the control plane of your team.
    Connect(commands::connect::ConnectArgs),
    /// List what waits for your decision, and decide.
    #[cfg(unix)]
    Approvals(commands::approvals::ApprovalsArgs),
    /// Show the loops that run, and those that wait for a place.
    #[cfg(unix)]
    Status(commands::status::StatusArgs),
    /// Show what was asked of the gateway lately.
    #[cfg(unix)]
    Activity(commands::activity::ActivityArgs),
    /// List the worktrees that loops left, and clean them up.
    #[cfg(unix)]
    Worktrees(commands::worktrees::WorktreesArgs),
    /// Look at what a repository brings along to be run, and let it.
    #[cfg(unix)]
    Trust(commands::trust::TrustArgs),
    /// Decide which browsers may sign commands for this desktop.
    Keys(commands::keys::KeysArgs),
    /// Pack what is known of a loop into one file for a report.
    #[cfg(unix)]
    SupportBundle(commands::support_bundle::SupportBundleArgs),
    /// Drive one loop in the current directory; the assistant's plugins use it.
    #[command(subcommand)]
    Loop(commands::plugins::LoopSubcommand),
    /// Check and change a plan; the assistant's plugins use it.
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Say whether the result of an earlier step of a loop still holds.
    #[command(subcommand, hide = true)]
    Cache(CacheCommand),
    /// Install our plugins in the assistant, and find files of installed ones.
    #[command(subcommand, alias = "plugin")]
    Plugins(PluginsCommand),
    /// Let the assistant write a plan and the reviewer argue about it.
    #[command(subcommand)]
    Debate(DebateCommand),
    /// Find the repositories that a plan may need something from.
    #[command(subcommand, hide = true)]
    Repos(ReposCommand),
    /// Check and keep what judges of a loop need and say.
    #[command(subcommand, hide = true)]
    Judges(JudgesCommand),
    /// Answer a hook of the assistant.
    #[command(subcommand, hide = true)]
    Hook(HookCommand),
    /// Make the assistant's event stream readable.
    #[command(subcommand, hide = true)]
    Stream(commands::plugins::StreamCommand),
    /// Merge what loops and chats taught.
    #[command(subcommand, hide = true)]
    Learnings(commands::learnings::LearningsCommand),
    /// Sum up where the time of a loop went.
    #[command(subcommand, hide = true)]
    Perf(PerfCommand),
    /// Supervise one process of a loop.
    #[command(hide = true)]
    Shim(commands::shim::ShimArgs),
    /// Take one turn with an agent that speaks the Agent Client Protocol.
    #[command(hide = true)]
    AgentTurn(commands::agent_turn::AgentTurnArgs),
    /// Print the description of an interface as OpenAPI JSON.
    #[command(hide = true)]
    Openapi(commands::openapi::OpenapiArgs),
}

impl Cli {
    /// Runs the chosen sub-command.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            CliCommand::Up(command) => command.run(),
            CliCommand::Gateway(command) => command.run(),
            CliCommand::ControlPlane(command) => command.run(),
            CliCommand::Connect(command) => command.run(),
            #[cfg(unix)]
            CliCommand::Approvals(command) => command.run(),
            #[cfg(unix)]
            CliCommand::Status(command) => command.run(),
            #[cfg(unix)]
            CliCommand::Activity(command) => command.run(),
            #[cfg(unix)]
            CliCommand::Worktrees(command) => command.run(),
            #[cfg(unix)]
            CliCommand::Trust(command) => command.run(),
            CliCommand::Keys(command) => command.run(),
            #[cfg(unix)]
            CliCommand::SupportBundle(command) => command.run(),
            CliCommand::Loop(command) => Ok(command.run()),
            CliCommand::Plan(command) => Ok(command.run()),
            CliCommand::Cache(command) => Ok(command.run()),
            CliCommand::Plugins(command) => Ok(command.run()),
            CliCommand::Debate(command) => Ok(command.run()),
            CliCommand::Repos(command) => Ok(command.run()),
            CliCommand::Judges(command) => Ok(command.run()),
            CliCommand::Hook(command) => Ok(command.run()),
            CliCommand::Stream(command) => Ok(command.run()),
            CliCommand::Learnings(command) => command.run(),
            CliCommand::Perf(command) => Ok(command.run()),
            CliCommand::Shim(command) => command.run(),
            CliCommand::AgentTurn(command) => command.run(),
            CliCommand::Openapi(command) => command.run(),
        }
    }
}

/// The variable that an error of the command line is about, when no flag gave the wrong value.
pub fn variable_of(error: &clap::Error, words: impl Iterator<Item = String>) -> Option<String> {
    let ContextValue::String(argument) = error.get(ContextKind::InvalidArg)? else { return None };
    let flag = argument.split_whitespace().next()?;
    let words: Vec<String> = words.skip(1).collect();
    if words.iter().any(|word| word.split('=').next() == Some(flag)) {
        return None;
    }
    let program = Cli::command();
    let command = words.iter().find_map(|word| program.find_subcommand(word))?;
    let argument = command.get_arguments().find(|known| known.get_long() == flag.strip_prefix("--"))?;
    let variable = argument.get_env()?.to_str()?;
    std::env::var_os(variable).is_some().then(|| variable.to_owned())
}
