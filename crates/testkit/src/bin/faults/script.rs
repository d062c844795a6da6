//! Script of the model: the minimum for the real assistant to plan, implement and deliver.

use loopgate_testkit::model::{Conversation, ModelStep, Script};
use loopgate_testkit::story;

use crate::fault::{Fault, Misbehavior, QUESTION, Scenario};

/// Primary repository of the loop, and its peer repository.
pub const REPOSITORIES: [&str; 2] = ["acme/shop", "acme/web"];
/// File that an EXECUTE loop adds to each repository.
pub const WORK: &str = "feature.txt";
/// Output of the tool calls that write this file, one per repository.
pub const WRITTEN: [&str; 2] = ["written-in-shop", "written-in-web"];
/// Output of the tool call in which the assistant misbehaves.
pub const MISBEHAVED: &str = "misbehaved";
/// Name of the conversation that implements.
pub const IMPLEMENT: &str = "implement";
const PLAN: &str = "plan";
const PROMISE: &str = "Done.\n\n<promise>COMPLETE</promise>";

pub fn script(scenario: &Scenario) -> Script {
    let mut script = Script::new([planner(), implementer(scenario)]);
    script.otherwise = Some("Nothing to add.".to_owned());
    script
}

fn in_loop(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(r#"LOOPGATE_ADD_DIRS="(?P<peer>[^"]+)""#)
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
}

fn planner() -> Conversation {
    in_loop(PLAN, "PLAN")
        .turn([ModelStep::bash("cat '{{peer}}/README.md'")])
        .turn([
            ModelStep::write("{{workdir}}/plan.md", story::PLAN_MARKDOWN),
            ModelStep::bash("loopgate plan build '{{workdir}}'"),
        ])
        .runs(
            "loopgate plan set-state 'Phase 1.1: Checkpoint' AWAITING_USER --workdir '{{workdir}}' \
             --action 'Read the plan' --action-file '{{workdir}}/plan.md'",
        )
        .says("Planned.\n\n<promise>COMPLETE</promise>")
}

fn implementer(scenario: &Scenario) -> Conversation {
    let mut steps = vec![
        format!("echo page > {WORK} && echo {}", WRITTEN[0]),
        format!("echo peer > '{{{{peer}}}}/{WORK}' && echo {}", WRITTEN[1]),
    ];
    if let Fault::Assistant(misbehavior) = scenario.fault {
        steps.insert(scenario.steps, format!("{} && echo {MISBEHAVED}", command(misbehavior)));
        if misbehavior == Misbehavior::Question {
            steps.truncate(scenario.steps + 1);
        }
    }
    steps
        .iter()
        .fold(in_loop(IMPLEMENT, "EXECUTE"), |conversation, step| conversation.runs(step))
        .says(PROMISE)
}

fn command(misbehavior: Misbehavior) -> String {
    match misbehavior {
        Misbehavior::Question => format!(
            "loopgate plan set-state 'Phase 3: Implementation' AWAITING_USER --workdir '{{{{workdir}}}}' \
             --action '{QUESTION}'"
        ),
        Misbehavior::DetachedHead => "git checkout -q --detach".to_owned(),
        Misbehavior::DetachedCommit => {
            "git checkout -q --detach && git add -A && git commit -q --allow-empty -m Work".to_owned()
        }
        Misbehavior::DeletedWorktree => "rm -rf \"$PWD\"".to_owned(),
    }
}
