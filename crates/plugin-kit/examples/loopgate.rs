//! The sub-commands of this crate alone, under the name that prompts and hooks call. The tests run it
//! as the program itself would be run.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use loopgate_plugin_kit::{formatter, hook, loop_run, plan, setup};

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
}

#[derive(Subcommand)]
enum Loop {
    Run(loop_run::LoopRunArgs),
    Setup(setup::SetupArgs),
}

#[derive(Subcommand)]
enum Stream {
    Format(formatter::FormatArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Loop(Loop::Run(args)) => args.run(),
        Command::Loop(Loop::Setup(args)) => args.run(),
        Command::Hook(command) => command.run(),
        Command::Plan(command) => command.run(),
        Command::Stream(Stream::Format(args)) => args.run(),
    }
}
