//! Programs that the evaluation starts.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

/// What a program printed, and whether it succeeded.
#[derive(Debug)]
pub struct Output {
    /// Exit code 0.
    pub is_success: bool,
    /// Standard output and standard error.
    pub text: String,
}

/// A command in a directory, without input.
pub fn command(program: &str, dir: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "starts the programs that it measures, for developers")]
    let mut command = Command::new(program);
    command.current_dir(dir).stdin(std::process::Stdio::null());
    command
}

/// Runs a program to its end.
///
/// # Errors
/// When it cannot be started.
pub fn run(program: &str, args: &[&str], dir: &Path) -> anyhow::Result<Output> {
    // Python takes a file that was replaced within a second for the one that it has compiled: nothing is cached.
    let mut command = command(program, dir);
    command.args(args).env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPYCACHEPREFIX", dir.join(".no-cache"));
    let output = command.output().with_context(|| format!("start {program}"))?;
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Ok(Output { is_success: output.status.success(), text })
}

/// Runs git; what it printed.
///
/// # Errors
/// When it fails.
pub fn git(args: &[&str], dir: &Path) -> anyhow::Result<String> {
    let identity =
        ["-c", "user.name=Evaluation", "-c", "user.email=evaluation@localhost", "-c", "commit.gpgsign=false"];
    let output = run("git", &[&identity, args].concat(), dir)?;
    anyhow::ensure!(output.is_success, "git {} failed: {}", args.join(" "), output.text);
    Ok(output.text)
}
