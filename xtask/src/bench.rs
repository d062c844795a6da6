//! Builds the release binary and measures it beside its floors.

use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, cargo, command, run};
use crate::{install, target, web};

/// Arguments of `bench`; they go to the measuring program.
#[derive(Args)]
pub struct Bench {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Bench {
    /// Runs it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        install::package("wrk", "wrk")?;
        web::build_if_stale()?;
        run(cargo().args(["build", "--release", "--package", "loopgate"]))?;
        run(cargo().args(["build", "--release", "--package", "loopgate-testkit", "--bin", "bench"]))?;
        let mut bench = command(target().join("release/bench"));
        become_program(bench.args(&self.arguments).env("LOOPGATE_BIN", target().join("release/loopgate")))
    }
}
