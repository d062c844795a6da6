//! `loopgate agent-turn`: one turn with an agent that speaks the Agent Client Protocol.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use loopgate_agents::acp::AcpTurn;
use loopgate_agents::provider::FileAccess;

/// Take one turn with an agent, with the prompt from standard input, and print its events. Started by the gateway,
/// never by hand.
#[derive(Debug, Args)]
pub struct AgentTurnArgs {
    /// The session that goes on.
    #[arg(long)]
    session: Option<String>,
    /// Let the agent change files and run commands.
    #[arg(long)]
    write: bool,
    /// Refuse to work in a repository.
    #[arg(long)]
    outside_repositories: bool,
    /// The agent's program.
    program: PathBuf,
    /// Its arguments.
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
            cwd: std::env::current_dir().context("cannot tell the working directory")?,
            session: self.session,
            access: if self.write { FileAccess::ReadWrite } else { FileAccess::ReadOnly },
            outside_repositories: self.outside_repositories,
            prompt,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(turn.run())?;
        Ok(ExitCode::SUCCESS)
    }
}
