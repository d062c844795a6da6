#![doc = include_str!("../README.md")]

mod args;
mod banner;
mod browser_keys;
#[cfg(unix)]
mod bundle;
mod cli;
mod command_log;
mod commands;
mod control_client;
mod desktop;
mod embedded;
mod home;
mod logging;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod memory;
mod onboarding;
mod presence;
mod prompt_user;
mod reports;
mod sandbox_choice;
mod shutdown;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    memory::configure_allocator();
    let cli = cli::Cli::try_parse().unwrap_or_else(|error| {
        // The message is lost when standard error is closed; the exit code still reports the error.
        let _ = error.print();
        if let Some(variable) = cli::variable_of(&error, std::env::args()) {
            anstream::eprintln!("\nThe value comes from the variable {variable}.");
        }
        std::process::exit(error.exit_code())
    });
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            terminal::print_error(&error);
            ExitCode::FAILURE
        }
    }
}
