//! Tests a running program with schemathesis: requests that its OpenAPI document allows, and many that it
//! does not. Installed and started by `cargo xtask schemathesis`.

mod control_plane;
mod gateway;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};

/// Longer than every timeout of a route.
const REQUEST_LIMIT: Duration = Duration::from_secs(150);

/// Test a program with requests derived from its OpenAPI document.
#[derive(Parser)]
struct SchemathesisOptions {
    /// The program to test.
    #[arg(long)]
    program: TestedProgram,
    /// Path of the installed schemathesis.
    #[arg(long, value_name = "FILE")]
    schemathesis: PathBuf,
    /// Directory with the hooks of each program.
    #[arg(long, value_name = "DIR")]
    hooks: PathBuf,
    /// Duration of the test in minutes.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Additional arguments for `schemathesis run`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum TestedProgram {
    Gateway,
    ControlPlane,
}

/// Target and options of a test.
struct SchemaTest {
    origin: String,
    /// Path of the OpenAPI document.
    document: &'static str,
    /// Name of the Python module with the hooks.
    hooks: &'static str,
    /// Existing objects, passed to the hooks in their environment.
    existing_objects: Option<serde_json::Value>,
    /// Checks to run for each response.
    checks: &'static str,
    headers: Vec<(&'static str, String)>,
    /// Routes to skip: those that stream without end, and those that would end the test's own session.
    excluded: &'static [&'static str],
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let options = SchemathesisOptions::parse();
    let passed = match options.program {
        TestedProgram::Gateway => gateway::run(&options).await?,
        TestedProgram::ControlPlane => control_plane::run(&options).await?,
    };
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs schemathesis. Returns whether all checks passed.
async fn run(options: &SchemathesisOptions, test: &SchemaTest) -> anyhow::Result<bool> {
    let scratch = tempfile::tempdir()?;
    #[expect(clippy::disallowed_methods, reason = "part of the test tool, not of the product")]
    let mut command = tokio::process::Command::new(&options.schemathesis);
    command
        .arg("run")
        .arg(format!("{}{}", test.origin, test.document))
        .args(["--url", &test.origin, "--checks", test.checks, "--suppress-health-check", "all"])
        .args(["--max-time", &(options.minutes * 60).to_string(), "--continue-on-failure"])
        .args(["--request-timeout", &REQUEST_LIMIT.as_secs().to_string()]);
    for (name, value) in &test.headers {
        command.arg("--header").arg(format!("{name}: {value}"));
    }
    for path in test.excluded {
        command.args(["--exclude-path", path]);
    }
    command
        .args(&options.arguments)
        .env("SCHEMATHESIS_HOOKS", test.hooks)
        .env("PYTHONPATH", &options.hooks)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(test.existing_objects.as_ref().map(|objects| ("LOOPGATE_KNOWN", objects.to_string())))
        .current_dir(scratch.path())
        .kill_on_drop(true);
    let status = command.status().await.context("start schemathesis")?;
    Ok(status.success())
}

/// Fails with the first line of a program's log that reports a panic.
fn check_for_panics(logs: &std::path::Path) -> anyhow::Result<()> {
    for log in std::fs::read_dir(logs)? {
        let text = std::fs::read_to_string(log?.path())?;
        let panic = text.lines().find(|line| line.contains("panicked"));
        anyhow::ensure!(panic.is_none(), "a handler panicked: {}", panic.unwrap_or_default());
    }
    Ok(())
}
