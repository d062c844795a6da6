//! Builds the program and lets things go wrong in it.

use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, build, command, output};
use crate::{install, target};

/// Arguments of `faults`; they go to the program that lets things go wrong.
#[derive(Args)]
pub struct Faults {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Faults {
    /// Runs it; fails when something was lost.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        install::programs()?;
        install::package("gh", "gh")?;
        install::package("util-linux", "prlimit")?;
        install::package("faketime", "faketime")?;
        build(&["loopgate", "faults"])?;
        let program = target().join("debug/faults");
        // A disk of its own is mounted; who is not root may do that in a namespace of his own.
        let is_root = output(command("id").arg("-u"))?.trim_ascii() == b"0";
        let mut faults = if is_root { command(&program) } else { command("unshare") };
        if !is_root {
            faults.args(["--map-root-user", "--mount"]).arg(&program);
        }
        become_program(faults.args(&self.arguments).env("LOOPGATE_BIN", target().join("debug/loopgate")))
    }
}
