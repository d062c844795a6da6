//! The project's own commands: set-up, checks and measurements of a clone.
//!
//! Everything that they need they install or ask for by name; nothing is skipped in silence. Few
//! dependencies, so that the first `cargo xtask` compiles in seconds.

mod bench;
mod contract_rows;
mod count;
mod evaluate;
mod faults;
mod fuzz;
mod install;
mod openapi;
mod run;
mod schemathesis;
mod test;
mod trial;
mod up;
mod web;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};

/// Commands for working on Loopgate.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build what is stale and start Loopgate; without an assistant or an account, its demo.
    Up(up::Up),
    /// Install what tests need, run every check, and end with one line of counts.
    Test,
    /// Write docs/openapi from the handlers, or check that it is fresh.
    Openapi(openapi::Openapi),
    /// Print the rows of the contract that no test names.
    ContractRows,
    /// Measure the release binary beside its floors.
    Bench(bench::Bench),
    /// Let schemathesis ask a gateway everything that its OpenAPI document allows.
    Schemathesis(schemathesis::Schemathesis),
    /// Let the assistant of this machine, on your account, do ten small tasks, and measure what comes of it.
    Evaluate(evaluate::Evaluate),
    /// Let things go wrong at drawn moments while loops run, and look whether anything was lost.
    Faults(faults::Faults),
    /// Try the cases in which assistant, service, git, code host and person misbehave.
    Trial(trial::Trial),
    /// Fuzz what reads from outside, each target for a while.
    Fuzz(fuzz::Fuzz),
    /// Install the pinned assistant and reviewer of the tests and of the demo.
    Programs,
    /// Build the web app if its sources changed.
    Web,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Up(command) => command.run(),
        Command::Test => Ok(test::run_all()),
        Command::Openapi(command) => command.run(),
        Command::ContractRows => contract_rows::report().map(|()| ExitCode::SUCCESS),
        Command::Bench(command) => command.run(),
        Command::Schemathesis(command) => command.run(),
        Command::Evaluate(command) => command.run(),
        Command::Faults(command) => command.run(),
        Command::Trial(command) => command.run(),
        Command::Fuzz(command) => command.run(),
        Command::Programs => install::programs().map(|()| ExitCode::SUCCESS),
        Command::Web => web::build_if_stale().map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// The root of the clone from which cargo runs this. Clones that share a target directory may share
/// the program, too.
fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let built = || env!("CARGO_MANIFEST_DIR").into();
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(built, PathBuf::from);
        xtask.parent().map_or_else(|| xtask.clone(), Path::to_owned)
    });
    &ROOT
}

/// Where cargo builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}
