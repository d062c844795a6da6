//! Builds the program and tries how others misbehave in it.

use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, build, command};
use crate::{install, target};

/// Arguments of `trial`; they go to the program that tries.
#[derive(Args)]
pub struct Trial {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Trial {
    /// Runs it; fails when a loop ended otherwise than it should.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        install::programs()?;
        install::package("gh", "gh")?;
        install::package("faketime", "faketime")?;
        build(&["loopgate", "trial"])?;
        let mut trial = command(target().join("debug/trial"));
        become_program(trial.args(&self.arguments).env("LOOPGATE_BIN", target().join("debug/loopgate")))
    }
}
