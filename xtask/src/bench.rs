//! Builds the release binary and measures it. Each figure is printed with its lower bound from the same run.

use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, cargo, command, run};
use crate::{install, target, web};

/// Arguments of `bench`, passed on to the benchmark program.
#[derive(Args)]
pub struct Bench {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Bench {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        install::package("wrk", "wrk")?;
        web::build_if_stale()?;
        run(cargo().args(["build", "--release", "--package", "loopgate"]))?;
        // The benchmark itself is optimized as well: a slow client would limit what it measures.
        run(cargo().args(["build", "--release", "--package", "loopgate-testkit", "--bin", "bench"]))?;
        let mut bench = command(target().join("release/bench"));
        become_program(bench.args(&self.arguments).env("LOOPGATE_BIN", target().join("release/loopgate")))
    }
}
