//! The story that the demo shows and the tests act out: a dark-mode switch for a small page.
//!
//! A sample repository, and what the model says to plan the change, to make it, and to commit it.
//! The assistant is real: it reads, edits, runs the tests and opens the pull request itself. The
//! script tells its prompts apart by marks that ours carry, and never by the order of requests.

use serde_json::json;

use crate::model::{Conversation, Script, Step, Usage};

/// Full name of the sample repository.
pub const REPOSITORY: &str = "acme/garden-notes";
/// The wish that the script answers.
pub const WISH: &str = "Add a dark-mode switch";
/// Title of the pull request.
pub const TITLE: &str = "Add a dark-mode switch";

/// Names in requests and gates.
pub const PLAN: &str = "plan";
/// The conversation that makes the change.
pub const EXECUTE: &str = "execute";
/// The conversation that commits, pushes and opens the pull request.
pub const COMMIT: &str = "commit";

/// Files of the sample repository.
pub const FILES: [(&str, &str); 7] = [
    ("README.md", include_str!("../story/repository/README.md")),
    ("package.json", include_str!("../story/repository/package.json")),
    ("index.html", include_str!("../story/repository/index.html")),
    ("styles.css", include_str!("../story/repository/styles.css")),
    ("notes.js", include_str!("../story/repository/notes.js")),
    ("page.js", include_str!("../story/repository/page.js")),
    ("test/notes.test.js", include_str!("../story/repository/test/notes.test.js")),
];

/// The plan's markdown.
pub const PLAN_MARKDOWN: &str = include_str!("../story/plan.md");

/// Tasks of the plan and what each one does.
pub const TASKS: [(&str, &str); 4] = [
    ("T-1.1", "give the dark theme its colours in styles.css."),
    ("T-1.2", "put the rules of the switch into theme.js, and keep the choice."),
    ("T-1.3", "put the button into the header of index.html."),
    ("T-2.1", "test the rules in test/theme.test.js."),
];

const THEME: &str = include_str!("../story/change/theme.js");
const THEME_TEST: &str = include_str!("../story/change/test/theme.test.js");

/// Found in every prompt of the coding loop: its page, and the configuration that set-up printed.
const LOOP_PROMPT: [&str; 2] = ["# Coding loop", r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#];
/// Found in the prompt that asks for a commit, and in no other.
const COMMIT_PROMPT: [&str; 2] = [r"git push -u origin HEAD", r"execution-result\.json"];

/// Everything that the model says in this story.
#[must_use]
pub fn script() -> Script {
    let writers = [plan_writer(), plan_writer_without_a_script()];
    let subagents = [explorer(), colours(), rules(), button(), tests(), validator()];
    let mut script = Script::new([plan(), execute(), commit()].into_iter().chain(writers).chain(subagents));
    script.otherwise = Some("Nothing to add.".to_owned());
    script
}

/// The orchestrator of a planning run: explores, has the plan written, and hands it over.
fn plan() -> Conversation {
    in_loop(PLAN, "PLAN")
        .turn([
            Step::text("A planning run."),
            Step::bash(&state("Phase 0.9: Pre-exploration", "IN_PROGRESS")),
        ])
        .turn([
            Step::text("First somebody looks at the project."),
            subagent("code:pre-explorer", "Explore the project", "Explore '{{cwd}}' for the wish."),
        ])
        .turn([Step::bash(&state("Phase 1: Planning", "IN_PROGRESS"))])
        .turn([
            Step::text("The page is small and has no build step. Now the plan is written."),
            subagent(
                "code:plan-draft-writer",
                "Write the plan",
                "Draft the plan. Work directory: '{{workdir}}'. Project: '{{cwd}}'.",
            ),
        ])
        .turn([
            Step::text("I check its structure."),
            Step::bash("loopgate plan validate '{{workdir}}' | head -c 400"),
            Step::Usage(Usage { input: 7400, output: 220, cache_read: 6100, cache_write: 1200 }),
        ])
        .runs(&format!(
            "{} --action 'Read the plan, answer its question, then press Execute' --action-file '{{{{workdir}}}}/plan.md'",
            state("Phase 1.1: Checkpoint", "AWAITING_USER")
        ))
        .says(
            "The plan is ready for you: four tasks, one open question with a recommended answer, and one \
             accepted gap. Press Execute when you agree.\n\n<promise>COMPLETE</promise>",
        )
}

fn explorer() -> Conversation {
    Conversation::when("explorer", r"Explore '(?P<root>[^']+)' for the wish\.")
        .turn([
            Step::bash("git log --oneline | head -5; ls; cat package.json"),
            read("{{root}}/index.html"),
            read("{{root}}/styles.css"),
            read("{{root}}/notes.js"),
        ])
        .says(
            "A static page: index.html, styles.css with custom properties for its colours, page.js for the page \
             and notes.js for the rules, which test/notes.test.js tests with Node's runner.",
        )
}

/// Writes the plan for the wish that the script knows.
fn plan_writer() -> Conversation {
    writer("plan writer", PLAN_MARKDOWN).after_result("(?i)dark")
}

/// Writes the same plan for any other wish, and says so in it.
fn plan_writer_without_a_script() -> Conversation {
    let note = format!(
        "## Summary\n\n> This demonstration follows a script that knows one wish: \"{WISH}\". It plans that one \
         instead of yours. With an account of your own the assistant plans what you ask for.\n"
    );
    writer("plan writer without a script", &PLAN_MARKDOWN.replacen("## Summary\n", &note, 1))
}

fn writer(name: &str, plan: &str) -> Conversation {
    Conversation::when(name, r"Draft the plan\. Work directory: '(?P<workdir>[^']+)'")
        .runs("cat '{{workdir}}/prd.md'")
        .turn([
            Step::text(
                "The colours are custom properties already, so a second set of values, a small module with the \
                 rules and a button in the header will do.",
            ),
            Step::write("{{workdir}}/plan.md", plan),
            Step::Usage(Usage { input: 5200, output: 1400, cache_read: 3100, cache_write: 900 }),
        ])
        .runs("loopgate plan build '{{workdir}}'")
        .says("Four tasks, one open question, one gap.\n<promise>PLAN_VALIDATED</promise>")
}

/// The orchestrator of an execution: one task after the other, then the whole suite.
fn execute() -> Conversation {
    let mut conversation = in_loop(EXECUTE, "EXECUTE").turn([
        Step::text("The plan is approved."),
        Step::bash("loopgate plan validate '{{workdir}}' | head -c 400"),
    ]);
    for (task, what) in TASKS {
        let implementing = format!("{} --task {task}", state("Phase 3: Implementation", "IN_PROGRESS"));
        let order = format!("Implement {task} in '{{{{cwd}}}}': {what}");
        conversation = conversation
            .turn([Step::text(format!("{task}: {what}")), Step::bash(&implementing)])
            .turn([subagent("code:implementation-subagent", &format!("Implement {task}"), &order)])
            .runs(&format!(
                "loopgate plan report {task} '{{{{workdir}}}}' <<'END_OF_ANSWER'\n\
                 IMPLEMENTATION_VERIFIED: {task}\nEND_OF_ANSWER"
            ));
    }
    conversation
        .turn([
            Step::bash(&state("Phase 5: Tests and validation", "IN_PROGRESS")),
            subagent("code:build-validator", "Run the tests", "Validate the project in '{{cwd}}'."),
            Step::Usage(Usage { input: 9800, output: 300, cache_read: 8700, cache_write: 700 }),
        ])
        .turn([
            Step::text("Every task is done and the tests pass."),
            Step::bash(&state("Phase 7: Completion", "COMPLETED")),
        ])
        .says(
            "The switch is in: a button in the header, a dark set of colours, the choice kept in the browser, \
             and three tests for the rules.\n\n<promise>COMPLETE</promise>",
        )
}

fn colours() -> Conversation {
    let dark = "  --leaf: #3f7d3a;\n}\n\n[data-theme=\"dark\"] {\n  --paper: #161d15;\n  --ink: #e4ebdc;\n  \
                --leaf: #4b8a45;\n  color-scheme: dark;\n}\n";
    implementer("T-1.1")
        .turn([read("{{root}}/styles.css")])
        .turn([edit("styles.css", "  --leaf: #3f7d3a;\n}\n", dark)])
        .says("IMPLEMENTATION_VERIFIED: T-1.1\nstyles.css has a dark set of colours.\n<promise>IMPLEMENTATION_VERIFIED</promise>")
}

fn rules() -> Conversation {
    implementer("T-1.2")
        .turn([Step::write("{{root}}/theme.js", THEME)])
        .says("IMPLEMENTATION_VERIFIED: T-1.2\ntheme.js holds the rules and keeps the choice.\n<promise>IMPLEMENTATION_VERIFIED</promise>")
}

fn button() -> Conversation {
    let heading = "      <h1>Garden notes</h1>\n";
    let page = "    <script type=\"module\" src=\"page.js\"></script>\n";
    let button = format!("{heading}      <button id=\"theme\" type=\"button\">Dark</button>\n");
    let theme = format!("    <script type=\"module\" src=\"theme.js\"></script>\n{page}");
    implementer("T-1.3")
        .turn([read("{{root}}/index.html")])
        .turn([edit("index.html", heading, &button)])
        .turn([edit("index.html", page, &theme)])
        .says(
            "IMPLEMENTATION_VERIFIED: T-1.3\nThe header has the button, the page loads theme.js.\n<promise>IMPLEMENTATION_VERIFIED</promise>",
        )
}

fn tests() -> Conversation {
    implementer("T-2.1")
        .turn([Step::write("{{root}}/test/theme.test.js", THEME_TEST)])
        .says("IMPLEMENTATION_VERIFIED: T-2.1\nThree tests for the rules.\n<promise>IMPLEMENTATION_VERIFIED</promise>")
}

fn validator() -> Conversation {
    Conversation::when("validator", r"Validate the project in '(?P<root>[^']+)'")
        .runs("npm test --silent 2>&1 | tail -12")
        .says("VALIDATION_PASSED\nnpm test: passed")
}

/// The change is committed, pushed, and opened as a pull request. Each step may find its work done.
fn commit() -> Conversation {
    let body = "The page gets a dark theme and a button in the header that switches to it. The choice is kept \
                in the browser; until there is one, the page follows the system.\n\n\
                Tested with `npm test`.\n\n---\n{{footer}}\n";
    let result = r#"gh pr view --json url,number,headRefName,headRefOid --jq \
'{prUrl: .url, prNumber: .number, branchName: .headRefName, commitSha: .headRefOid}' > execution-result.json
cat execution-result.json"#;
    let mut conversation = Conversation::when(COMMIT, COMMIT_PROMPT[0])
        .and(COMMIT_PROMPT[1])
        .turn([
            Step::text("I look at what is to be committed."),
            Step::bash("git status --short; git diff --stat"),
        ])
        .runs(&format!(
            "git add --all -- . ':!.claude' ':!.loopgate' ':!pr-body.md' ':!execution-result.json'\n\
             git diff --cached --quiet || git commit --quiet -m '{{{{slug}}}}{TITLE}'\ngit log --oneline -1"
        ))
        .runs("git push -u origin HEAD")
        .runs(&heredoc("pr-body.md", body))
        .runs(&format!(
            "base='{{{{base}}}}'\n\
             gh pr edit --title '{{{{slug}}}}{TITLE}' --body-file pr-body.md 2>/dev/null || \
             gh pr create --title '{{{{slug}}}}{TITLE}' --body-file pr-body.md --base \"${{base:-main}}\" \
             --label orchestrator"
        ))
        .runs(result)
        .says("Committed, pushed, and opened as a pull request.");
    conversation.captures = vec![
        r"(?P<footer>Loop ID: [^\n]+(?:\n[A-Z][a-z]+: [^\n]+)*)".to_owned(),
        r"--base (?P<base>[A-Za-z0-9._/-]+)".to_owned(),
        r"subject with `(?P<slug>[A-Za-z0-9_-]+: )`".to_owned(),
    ];
    conversation
}

fn in_loop(name: &str, command: &str) -> Conversation {
    let [page, workdir] = LOOP_PROMPT;
    let command = format!("LOOPGATE_COMMAND=\"{command}\"");
    Conversation::when(name, page).and(workdir).and(&command)
}

fn implementer(task: &str) -> Conversation {
    Conversation::when(task, &format!(r"Implement {task} in '(?P<root>[^']+)'"))
}

fn subagent(kind: &str, description: &str, prompt: &str) -> Step {
    Step::tool("Agent", json!({"description": description, "prompt": prompt, "subagent_type": kind}))
}

fn read(path: &str) -> Step {
    Step::tool("Read", json!({"file_path": path}))
}

fn edit(path: &str, old: &str, new: &str) -> Step {
    let path = format!("{{{{root}}}}/{path}");
    Step::tool("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
}

fn heredoc(path: &str, text: &str) -> String {
    format!("cat > \"{path}\" <<'END_OF_FILE'\n{text}END_OF_FILE")
}

fn state(phase: &str, status: &str) -> String {
    format!("loopgate plan set-state '{phase}' {status} --workdir '{{{{workdir}}}}'")
}
