//! The subagents that work in a loop of their own until they can make their promise.

use std::path::{Path, PathBuf};

use loopgate_home::untrusted;

use super::input::{HookInput, Loop};
use crate::clock::now;
use crate::variables as var;

/// A kind of looping subagent.
#[derive(Debug, PartialEq, Eq)]
pub struct LoopAgent {
    /// Type, as the assistant names it.
    pub name: &'static str,
    /// Rounds at most.
    pub max_iterations: u64,
    /// Text inside the promise tag.
    pub promise: &'static str,
    /// End of the name of its state file.
    pub suffix: &'static str,
    /// The text of the plan must pass its check.
    pub checks_plan: bool,
    /// What it is told when it stops too early.
    pub again: &'static str,
}

/// All kinds.
pub const LOOP_AGENTS: [LoopAgent; 5] = [
    LoopAgent {
        name: "code:plan-draft-writer",
        max_iterations: 10,
        promise: "PLAN_VALIDATED",
        suffix: "plan-draft-writer-loop.local.md",
        checks_plan: true,
        again: "The draft of the plan is not finished. Repair plan.md, build it again with `loopgate plan build`, \
                and check it with `loopgate plan check`.",
    },
    LoopAgent {
        name: "code:plan-writer",
        max_iterations: 5,
        promise: "PLAN_WRITER_COMPLETE",
        suffix: "plan-writer-loop.local.md",
        checks_plan: true,
        again: "The change of the plan is not finished. Repair plan.md and build it again with `loopgate plan build`.",
    },
    LoopAgent {
        name: "code:code-reviewer",
        max_iterations: 5,
        promise: "CODE_REVIEW_PASSED",
        suffix: "code-reviewer-loop.local.md",
        checks_plan: false,
        again: "The review is not finished. Go through the rest of the change and report what you find.",
    },
    LoopAgent {
        name: "code:plan-validator",
        max_iterations: 5,
        promise: "PLAN_VALIDATION_COMPLETE",
        suffix: "plan-validator-loop.local.md",
        checks_plan: false,
        again: "The judgement of the plan is not finished. Go through all five points and report the issues.",
    },
    LoopAgent {
        name: "code:implementation-subagent",
        max_iterations: 4,
        promise: "IMPLEMENTATION_VERIFIED",
        suffix: "implementation-subagent-loop.local.md",
        checks_plan: false,
        again: "The task is not finished. Do what is missing, go through the four gates again, and answer in the \
                given form.",
    },
];

/// The kind of an agent type.
pub fn find(agent_type: &str) -> Option<&'static LoopAgent> {
    LOOP_AGENTS.iter().find(|agent| agent.name == agent_type)
}

/// State of one looping subagent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// The present round, from 1.
    pub iteration: u64,
    /// 0 = no limit.
    pub max: u64,
}

/// State file of one subagent: two of a kind may run at once.
pub fn state_file(context: &Loop, agent: &LoopAgent, agent_id: &str) -> PathBuf {
    context.state_dir().join(format!("{agent_id}-{}", agent.suffix))
}

/// Makes the state file when it is not there. The user's limit lowers the kind's own.
pub fn begin(context: &Loop, agent: &LoopAgent, input: &HookInput) {
    let path = state_file(context, agent, &input.agent_id);
    if untrusted::kind(&path).is_some() {
        return;
    }
    let asked =
        context.config.get(var::MAX_ITERATIONS).and_then(|text| text.parse().ok()).filter(|max| *max > 0);
    let max = asked.map_or(agent.max_iterations, |asked: u64| asked.min(agent.max_iterations));
    let text = state(agent, max, &context.prd(), &context.workdir);
    let _ = untrusted::write(&path, text.as_bytes());
}

/// Content of a new state file.
pub fn state(agent: &LoopAgent, max: u64, prd: &Path, workdir: &Path) -> String {
    format!(
        "---\nactive: true\niteration: 1\nmax_iterations: {max}\nprd_file: \"{}\"\nworkdir: \"{}\"\n\
         agent_type: \"{}\"\nstarted_at: \"{}\"\n---\n\n{}\n",
        prd.display(),
        workdir.display(),
        agent.name,
        now(),
        agent.again,
    )
}

/// Reads the rounds and the prompt of a state file.
pub fn read(path: &Path) -> Option<(Rounds, String)> {
    let text = untrusted::read_text(path).ok()?;
    let (front, prompt) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    let number = |key: &str| front.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
    let rounds = Rounds { iteration: number("iteration:")?, max: number("max_iterations:")? };
    Some((rounds, prompt.trim().to_owned()))
}

/// Counts one more round.
pub fn next_round(path: &Path, rounds: Rounds) {
    let Ok(text) = untrusted::read_text(path) else { return };
    let from = format!("\niteration: {}\n", rounds.iteration);
    let to = format!("\niteration: {}\n", rounds.iteration + 1);
    let _ = untrusted::write(path, text.replacen(&from, &to, 1).as_bytes());
}
