//! `loopgate agent-turn`: one turn with an agent over the Agent Client Protocol.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use loopgate_agents::acp::AcpTurn;
use loopgate_agents::provider::FileAccess;

/// Run one turn with an agent: read the prompt from standard input and print the agent's events. Started by
/// the gateway, not for manual use.
#[derive(Debug, Args)]
pub struct AgentTurnArgs {
    /// Id of the session to continue.
    #[arg(long)]
    session: Option<String>,
    /// Allow the agent to change files and run commands.
    #[arg(long)]
    write: bool,
    /// Refuse to run in a git repository.
    #[arg(long)]
    outside_repositories: bool,
    /// Refuse to run, because instructions lead out of the working directory.
    #[arg(long)]
    leaving_instructions: bool,
    /// Program of the agent.
    program: PathBuf,
    /// Arguments of the program.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

impl AgentTurnArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut prompt = String::new();
        std::io::stdin().read_to_string(&mut prompt).context("cannot read the prompt")?;
        let turn = AcpTurn {
            program: self.program,
            args: self.args,
            cwd: std::env::current_dir().context("cannot determine the working directory")?,
            session: self.session,
            access: if self.write { FileAccess::ReadWrite } else { FileAccess::ReadOnly },
            outside_repositories: self.outside_repositories,
            has_leaving_instructions: self.leaving_instructions,
            prompt,
        };
        // One turn needs no parallelism: a single-threaded runtime starts faster and uses less memory.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(turn.run())?;
        Ok(ExitCode::SUCCESS)
    }
}
