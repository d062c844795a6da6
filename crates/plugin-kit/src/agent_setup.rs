//! `loopgate loop agent-setup`: starts the loop of one agent by hand, without the orchestrator.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use loopgate_api::names::{PLAN_JSON, STATE_DIR};
use loopgate_home::untrusted;

use crate::console::print_result;
use crate::hook::agents::{self, LoopAgent};

const USAGE: &str = "\
Starts the loop of one agent in a work directory.

Usage: loopgate loop agent-setup --prd <FILE> [OPTIONS]

Options:
      --workdir <DIR>        Work directory [default: .]
      --prd <FILE>           Requirements file
      --agent-type <TYPE>    Agent [default: code:plan-writer]
      --max-iterations <N>   Maximum number of rounds [default: that of the agent]
  -h, --help                 Print this help
";

/// Arguments of `loopgate loop agent-setup`; `--help` prints [`USAGE`].
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct AgentSetupArgs {
    /// Options; see `--help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

struct AgentSetupOptions {
    workdir: PathBuf,
    prd: PathBuf,
    agent: &'static LoopAgent,
    max_iterations: u64,
}

impl AgentSetupArgs {
    /// Writes the state file and prints the agent's instruction. Exits with 0, or with 1 and the reason.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let words = self.words.iter().map(|word| word.to_string_lossy().into_owned());
        let text = parse(words).and_then(|options| {
            options.map_or_else(|| Ok(USAGE.trim_end().to_owned()), |options| start(&options))
        });
        print_result(text)
    }
}

/// Parses the arguments. `None` requests the help text.
fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<AgentSetupOptions>, String> {
    let (mut workdir, mut prd, mut agent_type, mut max) =
        (".".to_owned(), None, "code:plan-writer".to_owned(), None);
    while let Some(word) = words.next() {
        let mut value =
            || words.next().filter(|v| !v.is_empty()).ok_or(format!("Error: {word} requires a value"));
        match word.as_str() {
            "-h" | "--help" => return Ok(None),
            "--workdir" => workdir = value()?,
            "--prd" => prd = Some(value()?),
            "--agent-type" => agent_type = value()?,
            "--max-iterations" => {
                let text = value()?;
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let number = digits.then(|| text.parse().ok()).flatten();
                max = Some(number.ok_or("Error: --max-iterations requires a number")?);
            }
            other => return Err(format!("Unknown option: {other}")),
        }
    }
    let prd = PathBuf::from(prd.ok_or("Error: --prd is required")?);
    if !prd.is_file() {
        return Err(format!("Error: PRD file not found: {}", prd.display()));
    }
    let agent = agents::find(&agent_type)
        .ok_or_else(|| format!("Error: Agent type '{agent_type}' not found in loop-agents.json"))?;
    let workdir =
        std::path::absolute(workdir).map_err(|error| format!("Error: invalid work directory: {error}"))?;
    Ok(Some(AgentSetupOptions { workdir, prd, agent, max_iterations: max.unwrap_or(agent.max_iterations) }))
}

fn start(options: &AgentSetupOptions) -> Result<String, String> {
    // Idempotent: repeated calls succeed without changing anything.
    if untrusted::kind(&options.workdir.join(PLAN_JSON)).is_some() {
        return Ok(format!("A plan already exists in {}; nothing to set up", options.workdir.display()));
    }
    let path = options.workdir.join(STATE_DIR).join(options.agent.suffix);
    if untrusted::kind(&path).is_some() {
        return Ok(format!("The loop of {} is already started: {}", options.agent.name, path.display()));
    }
    let text = agents::state(options.agent, options.max_iterations, &options.prd, &options.workdir);
    untrusted::write(&path, text.as_bytes())
        .map_err(|error| format!("Error: cannot write the state: {error}"))?;
    Ok(format!(
        "Loop of {}, at most {} rounds, in {}\n\n{}",
        options.agent.name,
        options.max_iterations,
        options.workdir.display(),
        options.agent.instruction
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Result<String, String> {
        let options = parse(words.iter().map(|word| (*word).to_owned()))?.expect("not help");
        start(&options)
    }

    #[test]
    fn loop_is_started_once() {
        let dir = tempfile::tempdir().unwrap();
        let prd = dir.path().join("prd.md");
        std::fs::write(&prd, "request").unwrap();
        let (work, prd) = (dir.path().to_str().unwrap(), prd.to_str().unwrap());
        let words =
            ["--workdir", work, "--prd", prd, "--agent-type", "code:plan-validator", "--max-iterations", "3"];
        assert!(run(&words).unwrap().starts_with("Loop of code:plan-validator, at most 3 rounds"));
        let state = dir.path().join(".loopgate/plan-validator-loop.local.md");
        assert!(std::fs::read_to_string(&state).unwrap().contains("\nmax_iterations: 3\n"));
        assert!(run(&words).unwrap().contains("is already started"));
        std::fs::write(dir.path().join(PLAN_JSON), "{}").unwrap();
        assert!(run(&words).unwrap().contains("nothing to set up"));
    }

    #[test]
    fn invalid_arguments_are_rejected_with_their_message() {
        let prd = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        for (words, expected) in [
            (vec!["--prd"], "Error: --prd requires a value"),
            (vec![], "Error: --prd is required"),
            (vec!["--prd", "/nope"], "Error: PRD file not found: /nope"),
            (vec!["--fast"], "Unknown option: --fast"),
            (vec!["--prd", prd, "--agent-type", "x"], "Error: Agent type 'x' not found in loop-agents.json"),
        ] {
            assert_eq!(run(&words), Err(expected.to_owned()));
        }
    }
}
