//! What the model says: as little as makes the real assistant plan, implement and deliver.

use loopgate_testkit::model::{Conversation, Script, Step, Turn};
use loopgate_testkit::story;

/// The loop's own repository and the one beside it.
pub const REPOSITORIES: [&str; 2] = ["acme/shop", "acme/web"];
/// The file that an execution adds to each.
pub const WORK: &str = "feature.txt";
/// What is said when it was written in each.
pub const WRITTEN: [&str; 2] = ["written-in-shop", "written-in-web"];
/// Names in requests.
pub const IMPLEMENT: &str = "implement";
const PLAN: &str = "plan";

pub fn script() -> Script {
    let mut script = Script::new([planner(), implementer()].into_iter().chain(committer()));
    script.otherwise = Some("Nothing to add.".to_owned());
    script
}

fn in_loop(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(r#"LOOPGATE_ADD_DIRS="(?P<beside>[^"]+)""#)
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
}

fn planner() -> Conversation {
    in_loop(PLAN, "PLAN")
        .turn([Step::bash("cat '{{beside}}/README.md'")])
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

fn implementer() -> Conversation {
    in_loop(IMPLEMENT, "EXECUTE")
        .runs(&format!("echo page > {WORK} && echo {}", WRITTEN[0]))
        .runs(&format!("echo beside > '{{{{beside}}}}/{WORK}' && echo {}", WRITTEN[1]))
        .says("Done.\n\n<promise>COMPLETE</promise>")
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
