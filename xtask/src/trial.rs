//! Builds the program and tests loops against misbehaving programs, services and users.

use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, build, command};
use crate::{install, target};

/// Arguments of `trial`, passed on to the trial program.
#[derive(Args)]
pub struct Trial {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Trial {
    /// Fails when a loop ends differently than expected.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        install::programs()?;
        install::package("gh", "gh")?;
        install::package("git-lfs", "git-lfs")?;
        install::package("faketime", "faketime")?;
        build(&["loopgate", "trial"])?;
        let mut trial = command(target().join("debug/trial"));
        become_program(trial.args(&self.arguments).env("LOOPGATE_BIN", target().join("debug/loopgate")))
    }
}
