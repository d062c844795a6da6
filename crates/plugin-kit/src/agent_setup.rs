//! `loopgate loop agent-setup`: begins a loop of one agent by hand, outside the orchestrator.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use loopgate_api::names::{PLAN_JSON, STATE_DIR};
use loopgate_home::untrusted;

use crate::console::print_result;
use crate::hook::agents::{self, LoopAgent};

const USAGE: &str = "\
Begins the loop of one agent in a work directory.

Usage: loopgate loop agent-setup --prd <FILE> [OPTIONS]

Options:
      --workdir <DIR>        Work directory [default: .]
      --prd <FILE>           Requirements
      --agent-type <TYPE>    Agent [default: code:plan-writer]
      --max-iterations <N>   Rounds at most [default: that of the agent]
  -h, --help                 Print this help
";

/// `loopgate loop agent-setup`: see [`USAGE`], which `--help` prints.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct AgentSetupArgs {
    /// Options; `--help` explains them.
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
    /// Writes the state file and prints the agent's prompt; 0, or 1 with the reason.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let words = self.words.iter().map(|word| word.to_string_lossy().into_owned());
        let text = parse(words).and_then(|options| {
            options.map_or_else(|| Ok(USAGE.trim_end().to_owned()), |options| begin(&options))
        });
        print_result(text)
    }
}

/// `None` asks for help.
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

fn begin(options: &AgentSetupOptions) -> Result<String, String> {
    if untrusted::kind(&options.workdir.join(PLAN_JSON)).is_some() {
        return Ok(format!(
            "A plan exists already in {}; there is nothing to set up",
            options.workdir.display()
        ));
    }
    let path = options.workdir.join(STATE_DIR).join(options.agent.suffix);
    if untrusted::kind(&path).is_some() {
        return Ok(format!("The loop of {} has begun already: {}", options.agent.name, path.display()));
    }
    let text = agents::state(options.agent, options.max_iterations, &options.prd, &options.workdir);
    untrusted::write(&path, text.as_bytes())
        .map_err(|error| format!("Error: cannot write the state: {error}"))?;
    Ok(format!(
        "Loop of {}, {} rounds at most, in {}\n\n{}",
        options.agent.name,
        options.max_iterations,
        options.workdir.display(),
        options.agent.again
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Result<String, String> {
        let options = parse(words.iter().map(|word| (*word).to_owned()))?.expect("not help");
        begin(&options)
    }

    #[test]
    fn loop_begins_once() {
        let dir = tempfile::tempdir().unwrap();
        let prd = dir.path().join("prd.md");
        std::fs::write(&prd, "wish").unwrap();
        let (work, prd) = (dir.path().to_str().unwrap(), prd.to_str().unwrap());
        let words =
            ["--workdir", work, "--prd", prd, "--agent-type", "code:plan-validator", "--max-iterations", "3"];
        assert!(run(&words).unwrap().starts_with("Loop of code:plan-validator, 3 rounds"));
        let state = dir.path().join(".loopgate/plan-validator-loop.local.md");
        assert!(std::fs::read_to_string(&state).unwrap().contains("\nmax_iterations: 3\n"));
        assert!(run(&words).unwrap().contains("has begun already"));
        std::fs::write(dir.path().join(PLAN_JSON), "{}").unwrap();
        assert!(run(&words).unwrap().contains("nothing to set up"));
    }

    #[test]
    fn each_refusal_has_its_words() {
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
