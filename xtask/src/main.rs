//! The project's own commands: set-up, checks and measurements of a clone.
//!
//! Commands install their prerequisites, or fail with what is missing; no check is skipped silently. The
//! crate has few dependencies, so that the first `cargo xtask` compiles in seconds.

mod bench;
mod compat;
mod contract_rows;
mod count;
mod evaluate;
mod faults;
mod fuzz;
mod install;
mod openapi;
mod prose;
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
struct XtaskCli {
    #[command(subcommand)]
    command: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Build what is stale and start Loopgate, or its demo when the assistant is missing or has no account.
    Up(up::Up),
    /// Install what tests need, run every check, and print one line of counts.
    Test,
    /// Generate docs/openapi from the handlers, or check that it is up to date.
    Openapi(openapi::Openapi),
    /// Check that every case in docs/cases is named by a test, and vice versa.
    ContractRows,
    Prose(prose::Prose),
    /// Measure the release binary; each figure is printed with its lower bound from the same run.
    Bench(bench::Bench),
    /// Test a gateway or control plane with requests that schemathesis generates from its OpenAPI document.
    Schemathesis(schemathesis::Schemathesis),
    /// Measure how the assistant on this machine performs ten small tasks. Uses your account.
    Evaluate(evaluate::Evaluate),
    /// Inject faults at random moments of running loops, and check that nothing is lost.
    Faults(faults::Faults),
    /// Test how loops end when the assistant, its service, git, the code host or the user misbehaves.
    Trial(trial::Trial),
    Compat(compat::Compat),
    /// Fuzz the parsers of untrusted input, each target for a limited time.
    Fuzz(fuzz::Fuzz),
    /// Install the pinned assistant and reviewer for the tests and the demo.
    Programs,
    /// Build the web app if its sources have changed.
    Web,
}

fn main() -> ExitCode {
    let result = match XtaskCli::parse().command {
        XtaskCommand::Up(command) => command.run(),
        XtaskCommand::Test => Ok(test::run_all()),
        XtaskCommand::Openapi(command) => command.run(),
        XtaskCommand::ContractRows => contract_rows::check().map(|()| ExitCode::SUCCESS),
        XtaskCommand::Prose(command) => command.run(),
        XtaskCommand::Bench(command) => command.run(),
        XtaskCommand::Schemathesis(command) => command.run(),
        XtaskCommand::Evaluate(command) => command.run(),
        XtaskCommand::Faults(command) => command.run(),
        XtaskCommand::Trial(command) => command.run(),
        XtaskCommand::Compat(command) => command.run(),
        XtaskCommand::Fuzz(command) => command.run(),
        XtaskCommand::Programs => install::programs().map(|()| ExitCode::SUCCESS),
        XtaskCommand::Web => web::build_if_stale().map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Returns the root of the clone in which cargo runs this program.
fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        // The path at run time takes precedence: clones that share a target directory may share this
        // executable.
        let built = || env!("CARGO_MANIFEST_DIR").into();
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(built, PathBuf::from);
        xtask.parent().map_or_else(|| xtask.clone(), Path::to_owned)
    });
    &ROOT
}

/// Returns the target directory of cargo.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}
