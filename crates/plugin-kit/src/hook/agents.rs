//! Subagents that work in rounds until they keep their promise.

use std::path::{Path, PathBuf};

use loopgate_home::untrusted;

use super::input::{HookInput, Loop};
use crate::clock::now;
use crate::variables as var;

/// Kind of a looping subagent.
#[derive(Debug, PartialEq, Eq)]
pub struct LoopAgent {
    /// Agent type, in the assistant's notation.
    pub name: &'static str,
    /// Maximum number of rounds.
    pub max_iterations: u64,
    /// Text inside the promise tag.
    pub promise: &'static str,
    /// Suffix of the name of its state file.
    pub suffix: &'static str,
    /// Whether the text of the plan must pass its check.
    pub checks_plan: bool,
    /// Instruction for a subagent that stops too early.
    pub instruction: &'static str,
}

/// The kinds of looping subagents of the plugin `code`.
pub const LOOP_AGENTS: [LoopAgent; 5] = [
    LoopAgent {
        name: "code:plan-draft-writer",
        max_iterations: 10,
        promise: "PLAN_VALIDATED",
        suffix: "plan-draft-writer-loop.local.md",
        checks_plan: true,
        instruction: "The draft of the plan is not finished. Repair plan.md, build it again with `loopgate plan build`, \
                and check it with `loopgate plan check`.",
    },
    LoopAgent {
        name: "code:plan-writer",
        max_iterations: 5,
        promise: "PLAN_WRITER_COMPLETE",
        suffix: "plan-writer-loop.local.md",
        checks_plan: true,
        instruction: "The change of the plan is not finished. Repair plan.md and build it again with `loopgate plan build`.",
    },
    LoopAgent {
        name: "code:code-reviewer",
        max_iterations: 5,
        promise: "CODE_REVIEW_PASSED",
        suffix: "code-reviewer-loop.local.md",
        checks_plan: false,
        instruction: "The review is not finished. Go through the rest of the change and report what you find.",
    },
    LoopAgent {
        name: "code:plan-validator",
        max_iterations: 5,
        promise: "PLAN_VALIDATION_COMPLETE",
        suffix: "plan-validator-loop.local.md",
        checks_plan: false,
        instruction: "The judgement of the plan is not finished. Go through all five points and report the issues.",
    },
    LoopAgent {
        name: "code:implementation-subagent",
        max_iterations: 4,
        promise: "IMPLEMENTATION_VERIFIED",
        suffix: "implementation-subagent-loop.local.md",
        checks_plan: false,
        instruction: "The task is not finished. Do what is missing, go through the four gates again, and answer in the \
                given form.",
    },
];

/// Returns the kind of an agent type.
pub fn find(agent_type: &str) -> Option<&'static LoopAgent> {
    LOOP_AGENTS.iter().find(|agent| agent.name == agent_type)
}

/// Round counter of a looping subagent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// Current round, starting at 1.
    pub iteration: u64,
    /// Maximum number of rounds; 0 = no limit.
    pub max: u64,
}

/// Returns the path of a subagent's state file. It contains the agent's id, because two of a kind may run
/// concurrently.
pub fn state_file(context: &Loop, agent: &LoopAgent, agent_id: &str) -> PathBuf {
    context.state_dir().join(format!("{agent_id}-{}", agent.suffix))
}

/// Creates the state file unless it exists. The user's iteration limit lowers that of the kind.
pub fn create_state(context: &Loop, agent: &LoopAgent, input: &HookInput) {
    let path = state_file(context, agent, &input.agent_id);
    if untrusted::kind(&path).is_some() {
        return;
    }
    let user_limit =
        context.config.get(var::MAX_ITERATIONS).and_then(|text| text.parse().ok()).filter(|max| *max > 0);
    let max = user_limit.map_or(agent.max_iterations, |user_limit: u64| user_limit.min(agent.max_iterations));
    let text = state(agent, max, &context.prd(), &context.workdir);
    let _ = untrusted::write(&path, text.as_bytes());
}

/// Formats the content of a new state file.
pub fn state(agent: &LoopAgent, max: u64, prd: &Path, workdir: &Path) -> String {
    format!(
        "---\nactive: true\niteration: 1\nmax_iterations: {max}\nprd_file: \"{}\"\nworkdir: \"{}\"\n\
         agent_type: \"{}\"\nstarted_at: \"{}\"\n---\n\n{}\n",
        prd.display(),
        workdir.display(),
        agent.name,
        now(),
        agent.instruction,
    )
}

/// Reads the round counter and the instruction of a state file.
pub fn read(path: &Path) -> Option<(Rounds, String)> {
    let text = untrusted::read_text(path).ok()?;
    let (front, prompt) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    let number = |key: &str| front.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
    let rounds = Rounds { iteration: number("iteration:")?, max: number("max_iterations:")? };
    Some((rounds, prompt.trim().to_owned()))
}

/// Increments the round counter.
pub fn next_round(path: &Path, rounds: Rounds) {
    let Ok(text) = untrusted::read_text(path) else { return };
    let from = format!("\niteration: {}\n", rounds.iteration);
    // Only the counter is replaced, so that edits of the instruction survive.
    let to = format!("\niteration: {}\n", rounds.iteration + 1);
    let _ = untrusted::write(path, text.replacen(&from, &to, 1).as_bytes());
}
