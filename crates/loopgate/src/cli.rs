//! The command line. Its help texts are the manual.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};
use loopgate_plugin_kit::bootstrap::BootstrapCommand;
use loopgate_plugin_kit::cache::CacheCommand;
use loopgate_plugin_kit::code_review::CodeReviewCommand;
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
/// Loopgate combines the coding assistant on your command line (`claude`), a second tool that reviews
/// (`codex`), your code host's command line (`gh`) and your repositories into dependable loops: a plan that
/// you review, then an implementation in a separate worktree, committed, pushed and opened as a pull request.
///
/// Start everything on this machine with `loopgate up` and open the page whose address it prints.
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
    /// Run only the desktop: the gateway on loopback and the runtime.
    Gateway(commands::gateway::GatewayArgs),
    /// Run only the control plane and the web app.
    ControlPlane(Box<commands::control_plane::ControlPlaneArgs>),
    /// Connect this desktop to your team's control plane.
    Connect(commands::connect::ConnectArgs),
    /// List requests that wait for your approval, and decide.
    #[cfg(unix)]
    Approvals(commands::approvals::ApprovalsArgs),
    /// Show running and queued loops, and requests that wait for your approval.
    #[cfg(unix)]
    Status(commands::status::StatusArgs),
    /// List the change requests that need you.
    #[cfg(unix)]
    Inbox(commands::inbox::InboxArgs),
    /// Show recent requests to the gateway.
    #[cfg(unix)]
    Activity(commands::activity::ActivityArgs),
    /// List the worktrees of loops, and clean them up.
    #[cfg(unix)]
    Worktrees(commands::worktrees::WorktreesArgs),
    /// Review the executable content of a repository, and trust it.
    #[cfg(unix)]
    Trust(commands::trust::TrustArgs),
    /// Manage the browser keys that may sign commands for this desktop.
    Keys(commands::keys::KeysArgs),
    /// Pack everything about a loop into one file for a bug report.
    #[cfg(unix)]
    SupportBundle(commands::support_bundle::SupportBundleArgs),
    /// Drive one loop in the current directory; used by the assistant's plugins.
    #[command(subcommand)]
    Loop(commands::plugins::LoopSubcommand),
    /// Validate and change a plan; used by the assistant's plugins.
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Report whether the result of an earlier step of a loop is still valid.
    #[command(subcommand, hide = true)]
    Cache(CacheCommand),
    /// Install Loopgate's plugins in the assistant, and locate files of installed plugins.
    #[command(subcommand, alias = "plugin")]
    Plugins(PluginsCommand),
    /// Let the assistant write a plan and the reviewer debate it.
    #[command(subcommand)]
    Debate(DebateCommand),
    /// Find the repositories that a plan may depend on.
    #[command(subcommand, hide = true)]
    Repos(ReposCommand),
    /// Validate and store the inputs and verdicts of a loop's judges.
    #[command(subcommand, hide = true)]
    Judges(JudgesCommand),
    /// Write agents that review plans for the repository of the current directory.
    #[command(subcommand, hide = true)]
    Bootstrap(BootstrapCommand),
    /// Check a change and the findings of its reviewers without a model.
    #[command(subcommand, hide = true)]
    CodeReview(CodeReviewCommand),
    /// Handle a hook of the assistant.
    #[command(subcommand, hide = true)]
    Hook(HookCommand),
    /// Format the assistant's event stream for reading.
    #[command(subcommand, hide = true)]
    Stream(commands::plugins::StreamCommand),
    /// Merge the learnings of loops and chats.
    #[command(subcommand, hide = true)]
    Learnings(commands::learnings::LearningsCommand),
    /// Summarize where a loop spent its time.
    #[command(subcommand, hide = true)]
    Perf(PerfCommand),
    /// Supervise one process of a loop.
    #[command(hide = true)]
    Shim(commands::shim::ShimArgs),
    /// Run one turn with an agent over the Agent Client Protocol.
    #[command(hide = true)]
    AgentTurn(commands::agent_turn::AgentTurnArgs),
    /// Print the description of an interface as OpenAPI or JSON Schema.
    #[command(hide = true)]
    Openapi(commands::openapi::OpenapiArgs),
}

impl Cli {
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
            CliCommand::Inbox(command) => command.run(),
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
            CliCommand::Bootstrap(command) => Ok(command.run()),
            CliCommand::CodeReview(command) => Ok(command.run()),
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

/// Returns the environment variable that supplied the invalid value of a command-line error, or `None` when
/// the value came from a flag.
pub fn variable_of(error: &clap::Error, arguments: impl Iterator<Item = String>) -> Option<String> {
    // clap does not record the source of an invalid value. A flag takes precedence over its variable, so the
    // variable is the source only if the flag was not given.
    let ContextValue::String(argument) = error.get(ContextKind::InvalidArg)? else { return None };
    let flag = argument.split_whitespace().next()?;
    let arguments: Vec<String> = arguments.skip(1).collect();
    if arguments.iter().any(|argument| argument.split('=').next() == Some(flag)) {
        return None;
    }
    let program = Cli::command();
    let command = arguments.iter().find_map(|word| program.find_subcommand(word))?;
    let argument =
        command.get_arguments().find(|candidate| candidate.get_long() == flag.strip_prefix("--"))?;
    let variable = argument.get_env()?.to_str()?;
    std::env::var_os(variable).is_some().then(|| variable.to_owned())
}
