//! Fuzzes what reads from outside, one target after the other. Targets are in `fuzz/`, which the
//! normal build does not touch.

use std::process::{ExitCode, Stdio};

use anyhow::bail;
use clap::Args;

use crate::run::{cargo, command, is_installed, output, run};
use crate::{root, target};

/// Compiles the targets: their sanitizer is not for the stable one.
const TOOLCHAIN: &str = "nightly";

/// Arguments of `fuzz`.
#[derive(Args)]
pub struct Fuzz {
    /// How long each target is fuzzed.
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Only this target.
    #[arg(value_name = "TARGET")]
    target: Option<String>,
}

impl Fuzz {
    /// Runs it; ends with the first finding, whose input `cargo-fuzz` names.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        install()?;
        let targets = match self.target {
            Some(target) => vec![target],
            None => targets()?,
        };
        let limit = format!("-max_total_time={}", self.seconds);
        for target in targets {
            let limits = ["--", &limit, "-timeout=10", "-rss_limit_mb=2048"];
            run(cargo_fuzz().args(["run", &target]).args(limits))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The names of all targets.
fn targets() -> anyhow::Result<Vec<String>> {
    let listed = output(cargo_fuzz().arg("list"))?;
    Ok(String::from_utf8_lossy(&listed).lines().map(ToOwned::to_owned).collect())
}

fn cargo_fuzz() -> std::process::Command {
    // Past the wrapper that fixed the toolchain of this run.
    let mut fuzz = command("rustup");
    fuzz.args(["run", TOOLCHAIN, "cargo", "fuzz"]).stdin(Stdio::null()).current_dir(root());
    // What is built with a sanitizer fits nothing else.
    fuzz.env_remove("CARGO").env("CARGO_TARGET_DIR", target().join("fuzz"));
    fuzz
}

fn install() -> anyhow::Result<()> {
    if !is_installed("rustup") {
        bail!("`rustup` is not installed: fuzzing needs its {TOOLCHAIN} toolchain");
    }
    let there = output(command("rustup").args(["toolchain", "list"]))?;
    if !String::from_utf8_lossy(&there).lines().any(|line| line.starts_with(TOOLCHAIN)) {
        run(command("rustup").args(["toolchain", "install", TOOLCHAIN, "--profile", "minimal"]))?;
    }
    if output(cargo().args(["fuzz", "--version"]).stderr(Stdio::null())).is_err() {
        run(cargo().args(["install", "--locked", "--quiet", "cargo-fuzz"]))?;
    }
    Ok(())
}
