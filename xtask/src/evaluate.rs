//! Builds the programs and evaluates the prompts of this clone with the assistant installed on this machine.

use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, build, command};
use crate::{root, target};

/// Arguments of `evaluate`, passed on to the evaluation program.
#[derive(Args)]
pub struct Evaluate {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Evaluate {
    /// Fails when the assistant has no account.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        build(&["loopgate", "evaluate"])?;
        let mut evaluate = command(target().join("debug/evaluate"));
        evaluate.env("LOOPGATE_BIN", target().join("debug/loopgate"));
        become_program(evaluate.args(&self.arguments).env("LOOPGATE_PLUGIN_DIR", root().join("plugins/code")))
    }
}
