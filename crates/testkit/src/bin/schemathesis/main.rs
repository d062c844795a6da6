//! Lets schemathesis ask a running program everything that its OpenAPI document allows, and much
//! that it does not. `cargo xtask schemathesis` installs it and starts this.

mod control_plane;
mod gateway;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};

/// Longer than any limit of a route.
const REQUEST_LIMIT: Duration = Duration::from_secs(150);

/// Ask a program everything that its OpenAPI document allows.
#[derive(Parser)]
struct Options {
    /// The program that is asked.
    #[arg(long)]
    program: Program,
    /// The installed schemathesis.
    #[arg(long, value_name = "FILE")]
    schemathesis: PathBuf,
    /// Folder with the hooks of each program.
    #[arg(long, value_name = "DIR")]
    hooks: PathBuf,
    /// How long it asks.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Further arguments for `schemathesis run`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Program {
    Gateway,
    ControlPlane,
}

/// What is asked, and how.
struct Questions {
    origin: String,
    /// Path of its OpenAPI document.
    document: &'static str,
    /// Name of the hooks, a Python module.
    hooks: &'static str,
    /// What the hooks must know, for their environment.
    known: Option<serde_json::Value>,
    /// What is looked at in each answer.
    checks: &'static str,
    headers: Vec<(&'static str, String)>,
    /// Routes that are left out: those that never end, and those that would end the questioning.
    excluded: &'static [&'static str],
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let passed = match options.program {
        Program::Gateway => gateway::ask(&options).await?,
        Program::ControlPlane => control_plane::ask(&options).await?,
    };
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether nothing was found.
async fn ask(options: &Options, questions: &Questions) -> anyhow::Result<bool> {
    let scratch = tempfile::tempdir()?;
    #[expect(clippy::disallowed_methods, reason = "a testing program of its own, outside the product")]
    let mut command = tokio::process::Command::new(&options.schemathesis);
    command
        .arg("run")
        .arg(format!("{}{}", questions.origin, questions.document))
        .args(["--url", &questions.origin, "--checks", questions.checks, "--suppress-health-check", "all"])
        .args(["--max-time", &(options.minutes * 60).to_string(), "--continue-on-failure"])
        .args(["--request-timeout", &REQUEST_LIMIT.as_secs().to_string()]);
    for (name, value) in &questions.headers {
        command.arg("--header").arg(format!("{name}: {value}"));
    }
    for path in questions.excluded {
        command.args(["--exclude-path", path]);
    }
    command
        .args(&options.arguments)
        .env("SCHEMATHESIS_HOOKS", questions.hooks)
        .env("PYTHONPATH", &options.hooks)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(questions.known.as_ref().map(|known| ("LOOPGATE_KNOWN", known.to_string())))
        .current_dir(scratch.path())
        .kill_on_drop(true);
    let status = command.status().await.context("start schemathesis")?;
    Ok(status.success())
}

/// Fails with the first line of a program's log that tells of a panic.
fn check_for_panics(logs: &std::path::Path) -> anyhow::Result<()> {
    for log in std::fs::read_dir(logs)? {
        let text = std::fs::read_to_string(log?.path())?;
        let panic = text.lines().find(|line| line.contains("panicked"));
        anyhow::ensure!(panic.is_none(), "a handler panicked: {}", panic.unwrap_or_default());
    }
    Ok(())
}
