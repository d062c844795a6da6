//! Starts programs in the clone's root, prints their command lines, and reports their failures.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context as _, bail};

use crate::{root, target};

/// Creates a command that runs in the clone's root.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "xtask is a tool for developers, no part of the product")]
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Creates a command for the cargo that runs this program.
pub fn cargo() -> Command {
    // Set by cargo: the same toolchain, and no lookup of `cargo` on the search path.
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.stdin(Stdio::null());
    cargo
}

/// Creates an npm command in a folder.
pub fn npm(folder: &Path) -> Command {
    let mut npm = command("npm");
    npm.current_dir(folder).stdin(Stdio::null());
    // Requests for funding, audits and updates only add noise and network traffic.
    npm.envs([
        ("npm_config_fund", "false"),
        ("npm_config_audit", "false"),
        ("npm_config_update_notifier", "false"),
    ]);
    npm
}

/// Runs a command and shows its output.
///
/// # Errors
/// Fails when the command cannot be started or exits unsuccessfully.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let command_line = command_line(command);
    eprintln!("+ {command_line}");
    let status = command.status().with_context(|| start_error(command))?;
    if status.success() { Ok(()) } else { bail!("`{command_line}` failed ({status})") }
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// Fails when the command cannot be started or exits unsuccessfully.
pub fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| start_error(command))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        bail!("`{}` failed ({})", command_line(command), output.status)
    }
}

/// Runs a command, shows its output, and returns its status and the lines of its standard output.
///
/// # Errors
/// Fails when the command cannot be started, or prints something that is not UTF-8.
pub fn run_and_read(command: &mut Command) -> anyhow::Result<(ExitStatus, Vec<String>)> {
    eprintln!("+ {}", command_line(command));
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| start_error(command))?;
    let mut lines = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let line = line.with_context(|| format!("cannot read the output of `{}`", command_line(command)))?;
        eprintln!("{line}");
        lines.push(line);
    }
    Ok((child.wait()?, lines))
}

/// Replaces this process by a command, so that Ctrl-C and the exit code are those of the command.
///
/// # Errors
/// Fails when the command cannot be started.
pub fn become_program(command: &mut Command) -> anyhow::Result<ExitCode> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let error = command.exec();
        Err(error).with_context(|| start_error(command))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().with_context(|| start_error(command))?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Returns whether a program is on the search path.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn start_error(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().to_string_lossy())
}

fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Builds programs of the workspace in debug mode.
pub fn build(programs: &[&str]) -> anyhow::Result<()> {
    let programs = programs.iter().flat_map(|program| ["--bin", *program]);
    // With `--workspace`, features are unified as in the builds of the tests, so dependencies are built only
    // once.
    run(cargo().args(["build", "--workspace"]).args(programs))
}

/// Returns the path of a program that [`build`] has built.
pub fn binary(name: &str) -> PathBuf {
    // Tests run in their crates' directories, so a relative target directory would not be found.
    root().join(target()).join("debug").join(name)
}

/// Creates a run of the workspace's tests, which continues after a failure and writes its report to [`junit`].
pub fn nextest() -> Command {
    let mut nextest = cargo();
    nextest.args(["nextest", "run", "--workspace", "--profile", "ci", "--no-fail-fast"]);
    nextest.env("LOOPGATE_BIN", binary("loopgate"));
    nextest
}

/// Returns the path of nextest's report: below the clone, even if cargo's target directory is elsewhere.
pub fn junit() -> PathBuf {
    root().join("target/nextest/ci/junit.xml")
}
