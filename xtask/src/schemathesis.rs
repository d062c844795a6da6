//! Installs the pinned schemathesis and tests a running gateway or control plane with it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use loopgate_test_programs as pinned;

use crate::run::{become_program, build, command, output, run};
use crate::{install, root, target};

/// Pinned versions of schemathesis and its dependencies, in pip's format.
const REQUIREMENTS: &str = include_str!("../schemathesis/requirements.txt");

/// Options of the `schemathesis` command.
#[derive(Args)]
pub struct Schemathesis {
    /// Program to test: `gateway` or `control-plane`.
    #[arg(long, default_value = "gateway")]
    program: String,
    /// Duration of the test in minutes.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Further arguments for `schemathesis run`, after `--`.
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Schemathesis {
    /// Fails when schemathesis reports a failure.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let program = install()?;
        install::package("gh", "gh")?;
        build(&["loopgate", "schemathesis"])?;
        let mut runner = command(target().join("debug/schemathesis"));
        runner
            .args(["--program", &self.program])
            .arg("--schemathesis")
            .arg(program)
            .arg("--hooks")
            .arg(root().join("xtask/schemathesis"));
        runner.args(["--minutes", &self.minutes.to_string()]).args(&self.arguments);
        become_program(runner.env("LOOPGATE_BIN", target().join("debug/loopgate")))
    }
}

/// Installs schemathesis into a virtual environment unless it is installed, and returns its executable.
fn install() -> anyhow::Result<PathBuf> {
    let version = REQUIREMENTS.lines().find_map(|line| line.strip_prefix("schemathesis=="));
    // The version is part of the path, so that a new pinned version is installed next to the old one.
    let folder = pinned::cache().join(format!("schemathesis-{}", version.unwrap_or_default()));
    let program = folder.join("bin/schemathesis");
    // An interrupted installation leaves an executable that fails to import its modules.
    let is_installed = program.is_file() && output(command(&program).arg("--version")).is_ok();
    if !is_installed {
        install::require("python3", "install Python 3.10 or newer, with its module venv")?;
        run(command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let requirements = root().join("xtask/schemathesis/requirements.txt");
        run(command(folder.join("bin/pip")).args(["install", "--quiet", "--requirement"]).arg(requirements))?;
    }
    Ok(program)
}
