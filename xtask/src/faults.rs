//! Builds the program and injects faults into it.

use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, build, command, output};
use crate::{install, target};

/// Arguments of `faults`, passed on to the fault injection program.
#[derive(Args)]
pub struct Faults {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Faults {
    /// Fails when work or events were lost.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        install::programs()?;
        install::package("gh", "gh")?;
        install::package("util-linux", "prlimit")?;
        install::package("faketime", "faketime")?;
        build(&["loopgate", "faults"])?;
        let program = target().join("debug/faults");
        // The program mounts a small file system to fill it up. Other users than root need a mount namespace
        // for that.
        let is_root = output(command("id").arg("-u"))?.trim_ascii() == b"0";
        let mut faults = if is_root { command(&program) } else { command("unshare") };
        if !is_root {
            faults.args(["--map-root-user", "--mount"]).arg(&program);
        }
        become_program(faults.args(&self.arguments).env("LOOPGATE_BIN", target().join("debug/loopgate")))
    }
}
