//! Runs programs for the evaluation.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

/// Output of a program, and whether it succeeded.
#[derive(Debug)]
pub struct MergedOutput {
    /// Whether the exit code is 0.
    pub is_success: bool,
    /// Standard output followed by standard error.
    pub text: String,
}

/// Creates a command in a directory, without standard input.
pub fn command(program: &str, dir: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "starts the programs that it measures, for developers")]
    let mut command = Command::new(program);
    command.current_dir(dir).stdin(std::process::Stdio::null());
    command
}

/// Runs a program and waits until it exits. Fails only when it cannot be started.
pub fn run(program: &str, args: &[&str], dir: &Path) -> anyhow::Result<MergedOutput> {
    // Python compares modification times in seconds to detect changed sources. A file that was replaced
    // within a second would run from the stale cache, so caching is disabled.
    let mut command = command(program, dir);
    command.args(args).env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPYCACHEPREFIX", dir.join(".no-cache"));
    let output = command.output().with_context(|| format!("start {program}"))?;
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Ok(MergedOutput { is_success: output.status.success(), text })
}

/// Runs git and returns its output. Fails on a nonzero exit code.
pub fn git(args: &[&str], dir: &Path) -> anyhow::Result<String> {
    let identity =
        ["-c", "user.name=Evaluation", "-c", "user.email=evaluation@localhost", "-c", "commit.gpgsign=false"];
    let output = run("git", &[&identity, args].concat(), dir)?;
    anyhow::ensure!(output.is_success, "git {} failed: {}", args.join(" "), output.text);
    Ok(output.text)
}
