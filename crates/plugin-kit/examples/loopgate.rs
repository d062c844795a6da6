//! The sub-commands of this crate as a program of the name that prompts and hooks call. The tests run it in
//! place of the full binary.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use loopgate_plugin_kit::{
    bootstrap, cache, code_review, debate, formatter, hook, judges, loop_cancel, loop_run, perf_summary,
    plan, plugin_files, repositories, setup,
};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(subcommand)]
    Loop(Loop),
    #[command(subcommand)]
    Stream(Stream),
    #[command(subcommand)]
    Plan(plan::PlanCommand),
    #[command(subcommand)]
    Hook(hook::HookCommand),
    #[command(subcommand)]
    Cache(cache::CacheCommand),
    #[command(subcommand)]
    Plugins(plugin_files::PluginsCommand),
    #[command(subcommand)]
    Debate(debate::DebateCommand),
    #[command(subcommand)]
    Judges(judges::JudgesCommand),
    #[command(subcommand)]
    Bootstrap(bootstrap::BootstrapCommand),
    #[command(subcommand)]
    CodeReview(code_review::CodeReviewCommand),
    #[command(subcommand)]
    Perf(perf_summary::PerfCommand),
    #[command(subcommand)]
    Repos(repositories::ReposCommand),
}

#[derive(Subcommand)]
enum Loop {
    Run(loop_run::LoopRunArgs),
    Assistant(loop_run::AssistantArgs),
    Setup(setup::SetupArgs),
    Cancel(loop_cancel::CancelArgs),
}

#[derive(Subcommand)]
enum Stream {
    Format(formatter::FormatArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Loop(Loop::Run(args)) => args.run(),
        Command::Loop(Loop::Assistant(args)) => args.run(),
        Command::Loop(Loop::Setup(args)) => args.run(),
        Command::Loop(Loop::Cancel(args)) => args.run(),
        Command::Cache(command) => command.run(),
        Command::Plugins(command) => command.run(),
        Command::Debate(command) => command.run(),
        Command::Judges(command) => command.run(),
        Command::Bootstrap(command) => command.run(),
        Command::CodeReview(command) => command.run(),
        Command::Perf(command) => command.run(),
        Command::Repos(command) => command.run(),
        Command::Hook(command) => command.run(),
        Command::Plan(command) => command.run(),
        Command::Stream(Stream::Format(args)) => args.run(),
    }
}
