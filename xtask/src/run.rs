//! Starts programs from the clone's root, shows what is started, and reports how it ended.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, bail};

use crate::root;

/// A command in the clone's root.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "xtask is a tool for developers, no part of the product")]
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Cargo, the one that runs this.
pub fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.stdin(Stdio::null());
    cargo
}

/// Npm in a folder, quiet about funding and audits.
pub fn npm(folder: &Path) -> Command {
    let mut npm = command("npm");
    npm.current_dir(folder).stdin(Stdio::null());
    npm.envs([
        ("npm_config_fund", "false"),
        ("npm_config_audit", "false"),
        ("npm_config_update_notifier", "false"),
    ]);
    npm
}

/// Runs it with its output shown.
///
/// # Errors
/// When it is missing or fails.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = shown(command);
    eprintln!("+ {shown}");
    let status = command.status().with_context(|| missing(command))?;
    if status.success() { Ok(()) } else { bail!("`{shown}` failed ({status})") }
}

/// Runs it and answers what it printed.
///
/// # Errors
/// When it is missing or fails.
pub fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| missing(command))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        bail!("`{}` failed ({})", shown(command), output.status)
    }
}

/// Becomes the program, so that Ctrl-C and the exit code are its own.
///
/// # Errors
/// When it cannot be started.
pub fn become_program(command: &mut Command) -> anyhow::Result<ExitCode> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let error = command.exec();
        Err(error).with_context(|| missing(command))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().with_context(|| missing(command))?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Whether a program is on the search path.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn missing(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().to_string_lossy())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Builds programs of the workspace for development, with the features that everything has together:
/// dependencies are then built once, for these and for the tests.
pub fn build(programs: &[&str]) -> anyhow::Result<()> {
    let programs = programs.iter().flat_map(|program| ["--bin", *program]);
    run(cargo().args(["build", "--workspace"]).args(programs))
}
