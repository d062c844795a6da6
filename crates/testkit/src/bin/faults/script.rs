//! What the model says: as little as makes the real assistant plan, implement and deliver.

use loopgate_testkit::model::{Conversation, Script, Step, Turn};
use loopgate_testkit::story;

use crate::fault::{Fault, Misbehavior, QUESTION, Scenario};

/// The loop's own repository and its peer.
pub const REPOSITORIES: [&str; 2] = ["acme/shop", "acme/web"];
/// The file that an execution adds to each.
pub const WORK: &str = "feature.txt";
/// Result of the tool call that writes it, one each.
pub const WRITTEN: [&str; 2] = ["written-in-shop", "written-in-web"];
/// Result of the tool call in which the assistant misbehaves.
pub const MISBEHAVED: &str = "misbehaved";
/// Name of the implementing conversation.
pub const IMPLEMENT: &str = "implement";
const PLAN: &str = "plan";
const PROMISE: &str = "Done.\n\n<promise>COMPLETE</promise>";

pub fn script(scenario: &Scenario) -> Script {
    let mut script = Script::new([planner(), implementer(scenario)].into_iter().chain(committer()));
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
        .turn([Step::bash("cat '{{peer}}/README.md'")])
        .turn([
            Step::write("{{workdir}}/plan.md", story::PLAN_MARKDOWN),
            Step::bash("loopgate plan build '{{workdir}}'"),
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
    steps.iter().fold(in_loop(IMPLEMENT, "EXECUTE"), |known, step| known.runs(step)).says(PROMISE)
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

/// The story's conversation that delivers, several steps an answer.
fn committer() -> Option<Conversation> {
    let script = story::script();
    let mut commit = script.conversations.into_iter().find(|known| known.name == story::COMMIT)?;
    let last = commit.turns.pop()?;
    let steps: Vec<Step> = commit.turns.into_iter().flat_map(|turn| turn.0).collect();
    let tools = steps.into_iter().filter(|step| matches!(step, Step::Tool { .. }));
    let tools: Vec<Step> = tools.skip(1).collect();
    commit.turns = tools.chunks(2).map(|steps| Turn(steps.to_vec())).chain([last]).collect();
    Some(commit)
}
