//! Fuzzes the parsers of untrusted input, one target after the other. The targets are in `fuzz/`, outside of
//! the workspace.

use std::process::{ExitCode, Stdio};

use anyhow::bail;
use clap::Args;

use crate::run::{cargo, command, is_installed, output, run};
use crate::{root, target};

/// Toolchain of the targets: sanitizers are not available in the stable toolchain.
const TOOLCHAIN: &str = "nightly";

/// Options of the `fuzz` command.
#[derive(Args)]
pub struct Fuzz {
    /// Duration of each target in seconds.
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Fuzz only this target.
    #[arg(value_name = "TARGET")]
    target: Option<String>,
}

impl Fuzz {
    /// Stops at the first finding; `cargo-fuzz` prints the input that triggers it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        install()?;
        let targets = match self.target {
            Some(target) => vec![target],
            None => targets()?,
        };
        let limit = format!("-max_total_time={}", self.seconds);
        for target in targets {
            // An input that takes longer than 10 s or more than 2 GiB is a finding: untrusted input must not
            // exhaust the machine.
            let limits = ["--", &limit, "-timeout=10", "-rss_limit_mb=2048"];
            run(cargo_fuzz().args(["run", &target]).args(limits))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn targets() -> anyhow::Result<Vec<String>> {
    let names = output(cargo_fuzz().arg("list"))?;
    Ok(String::from_utf8_lossy(&names).lines().map(ToOwned::to_owned).collect())
}

fn cargo_fuzz() -> std::process::Command {
    // Through rustup, because the cargo of this run is fixed to the stable toolchain.
    let mut fuzz = command("rustup");
    fuzz.args(["run", TOOLCHAIN, "cargo", "fuzz"]).stdin(Stdio::null()).current_dir(root());
    // A separate directory: objects built with a sanitizer cannot be shared with other builds.
    fuzz.env_remove("CARGO").env("CARGO_TARGET_DIR", target().join("fuzz"));
    fuzz
}

fn install() -> anyhow::Result<()> {
    if !is_installed("rustup") {
        bail!("`rustup` is not installed: fuzzing needs its {TOOLCHAIN} toolchain");
    }
    let toolchains = output(command("rustup").args(["toolchain", "list"]))?;
    if !String::from_utf8_lossy(&toolchains).lines().any(|line| line.starts_with(TOOLCHAIN)) {
        run(command("rustup").args(["toolchain", "install", TOOLCHAIN, "--profile", "minimal"]))?;
    }
    // Standard error is discarded, because cargo reports a missing sub-command there.
    if output(cargo().args(["fuzz", "--version"]).stderr(Stdio::null())).is_err() {
        run(cargo().args(["install", "--locked", "--quiet", "cargo-fuzz"]))?;
    }
    Ok(())
}
