//! Installs the pinned schemathesis beside the other caches and lets it ask a running gateway or control plane.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use loopgate_test_programs as pinned;

use crate::run::{become_program, build, command, output, run};
use crate::{install, root, target};

/// What is installed; read by pip.
const REQUIREMENTS: &str = include_str!("../schemathesis/requirements.txt");

/// Arguments of `schemathesis`.
#[derive(Args)]
pub struct Schemathesis {
    /// What is asked: `gateway` or `control-plane`.
    #[arg(long, default_value = "gateway")]
    program: String,
    /// How long it asks.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Further arguments for `schemathesis run`, after `--`.
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Schemathesis {
    /// Runs it; fails when there is a finding.
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

/// The program, installed into an environment of its own unless it is there.
fn install() -> anyhow::Result<PathBuf> {
    let version = REQUIREMENTS.lines().find_map(|line| line.strip_prefix("schemathesis=="));
    let folder = pinned::cache().join(format!("schemathesis-{}", version.unwrap_or_default()));
    let program = folder.join("bin/schemathesis");
    // An installation that was broken off does not know its version.
    let installed = program.is_file() && output(command(&program).arg("--version")).is_ok();
    if !installed {
        install::needs("python3", "install Python 3.10 or newer, with its module venv")?;
        run(command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let requirements = root().join("xtask/schemathesis/requirements.txt");
        run(command(folder.join("bin/pip")).args(["install", "--quiet", "--requirement"]).arg(requirements))?;
    }
    Ok(program)
}
