//! The demo story: a dark-mode switch for a small page.
//!
//! Contains the sample repository and the model's script for planning and implementing the change. The assistant is
//! real: it reads, edits, runs the tests, and writes the text of the pull request. Prompts are
//! matched by patterns of their text, not by the order of requests.

use serde_json::json;

use crate::model::{Conversation, ModelStep, ModelUsage, Script};

/// Full name of the sample repository.
pub const REPOSITORY: &str = "acme/garden-notes";
/// Request that the scripted plan implements.
pub const REQUEST: &str = "Add a dark-mode switch";
pub const TITLE: &str = "Add a dark-mode switch";

/// Conversation of the planning loop.
pub const PLAN: &str = "plan";
/// Conversation of the execution loop.
pub const EXECUTE: &str = "execute";
/// Conversation of the loop that answers a review with these comments.
pub const ANSWERS: &str = "answers";
/// Comments that the script answers, in this order: the first two are done, the third is declined.
pub const COMMENTS: [&str; 3] = [
    "Make the dark paper darker.",
    "Say on the button what it switches.",
    "Give the storage key a longer name.",
];
/// Comments on the plan that the script answers: the plan is changed for the first, and not for the second.
pub const PLAN_COMMENTS: [&str; 2] =
    ["Say what the page does without JavaScript.", "Test the button by hand on a phone, too."];
/// Titles of the findings of the reviewer about the changes.
pub const FINDINGS: [&str; 2] =
    ["The button does nothing where storage is blocked", "The storage key is not specific"];
/// Body of the pull request, without its footer.
pub const PULL_REQUEST: &str = "The page gets a dark theme and a button in the header that switches to it. The choice is \
    kept in the browser; until there is one, the page follows the system.\n\nTested with `npm test`.";

pub const FILES: [(&str, &str); 7] = [
    ("README.md", include_str!("../story/repository/README.md")),
    ("package.json", include_str!("../story/repository/package.json")),
    ("index.html", include_str!("../story/repository/index.html")),
    ("styles.css", include_str!("../story/repository/styles.css")),
    ("notes.js", include_str!("../story/repository/notes.js")),
    ("page.js", include_str!("../story/repository/page.js")),
    ("test/notes.test.js", include_str!("../story/repository/test/notes.test.js")),
];

pub const PLAN_MARKDOWN: &str = include_str!("../story/plan.md");

/// Ids of the plan's tasks, and their descriptions.
pub const TASKS: [(&str, &str); 4] = [
    ("T-1.1", "give the dark theme its colours in styles.css."),
    ("T-1.2", "put the rules of the switch into theme.js, and keep the choice."),
    ("T-1.3", "put the button into the header of index.html."),
    ("T-2.1", "test the rules in test/theme.test.js."),
];

const THEME: &str = include_str!("../story/change/theme.js");
const THEME_TEST: &str = include_str!("../story/change/test/theme.test.js");

/// Patterns of every prompt of a loop: the command's heading, and the configuration printed by its set-up.
const LOOP_PROMPT: [&str; 2] = ["# Coding loop", r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#];

/// Returns the model's script for the whole story.
#[must_use]
pub fn script() -> Script {
    let writers = [plan_writer(), plan_writer_for_other_requests()];
    let implementers = [colours(), rules(), button(), tests()];
    let repairers = [darker(), named_button(), same_key()];
    let subagents = [explorer(), reviewer()].into_iter().chain(implementers).chain(repairers);
    let loops = [changed_plan(), same_plan(), plan(), answers(), answers_to_other_comments(), execute()];
    let reviews = [verdict(), review(), reviewers_argument(), assistants_argument()];
    let mut script = Script::new(loops.into_iter().chain(writers).chain(subagents).chain(reviews));
    script.otherwise = Some("Nothing to add.".to_owned());
    script
}

/// Planning loop: explores the project, delegates the plan to a sub-agent and asks for approval.
fn plan() -> Conversation {
    in_loop(PLAN, "PLAN")
        .turn([
            ModelStep::text("A planning run."),
            ModelStep::bash(&state("Phase 0.9: Pre-exploration", "IN_PROGRESS")),
        ])
        .turn([
            ModelStep::text("First I explore the project."),
            subagent("code:pre-explorer", "Explore the project", "Explore '{{cwd}}' for the request."),
        ])
        .turn([ModelStep::bash(&state("Phase 1: Planning", "IN_PROGRESS"))])
        .turn([
            ModelStep::text("The page is small and has no build step. Now the plan is written."),
            subagent(
                "code:plan-draft-writer",
                "Write the plan",
                "Draft the plan. Work directory: '{{workdir}}'. Project: '{{cwd}}'.",
            ),
        ])
        .turn([
            ModelStep::text("I check its structure."),
            ModelStep::bash("loopgate plan validate '{{workdir}}' | head -c 400"),
            ModelStep::Usage(ModelUsage { input: 7400, output: 220, cache_read: 6100, cache_write: 1200 }),
        ])
        .runs(&format!(
            "{} --action 'Read the plan, answer its questions, then press Execute' --action-file '{{{{workdir}}}}/plan.md'",
            state("Phase 1.1: Checkpoint", "AWAITING_USER")
        ))
        .says(
            "The plan is ready for you: four tasks, two open questions with recommended answers, and one \
             accepted gap. Press Execute when you agree.\n\n<promise>COMPLETE</promise>",
        )
}

/// Loop that changes the plan as [`PLAN_COMMENTS`] request, and settles its questions.
fn changed_plan() -> Conversation {
    let risk = "## Risks & Constraints\n";
    let without_script = "\n- Without JavaScript the page stays light, and the button is not shown.";
    let (plan, rest) = PLAN_MARKDOWN.split_once(risk).unwrap_or_default();
    let (before, after) = rest.split_once("- [ ] Q-001").unwrap_or_default();
    let (_, gaps) = after.split_once("## Gaps").unwrap_or_default();
    let plan = format!(
        "{plan}{risk}{without_script}{before}None are left.\n\n## Gaps{gaps}\n## Answers to comments\n\n\
         1. The risks say what the page does without JavaScript.\n\
         2. Nothing changed: the test plan by hand applies to every device.\n"
    );
    let [first, second] = PLAN_COMMENTS.map(regex::escape);
    change_of_plan("changed plan")
        .and(&first)
        .and(&second)
        .turn([ModelStep::text("Two comments. The risks get a line."), read("{{workdir}}/plan.md")])
        .turn([ModelStep::write("{{workdir}}/plan.md", &plan)])
        .runs("loopgate plan build '{{workdir}}'")
        .says("The plan says what the page does without JavaScript.")
}

/// Loop that keeps the plan for any other request, because the demo is scripted.
fn same_plan() -> Conversation {
    let reason = "This demonstration follows a script and changes nothing for other comments.";
    change_of_plan("plan without changes")
        .runs(&format!(
            "cd '{{{{workdir}}}}'; test ! -f plan-source.md || cp plan-source.md plan.md; \
             sed -i '/^## Answers to comments/,$d' plan.md; \
             numbers=\"$(grep -o '^### Comment [0-9]*' prompt.md | grep -o '[0-9]*$')\"; \
             test -z \"$numbers\" || {{ printf '\\n## Answers to comments\\n\\n'; \
             for number in $numbers; do echo \"$number. {reason}\"; done; }} >> plan.md; \
             loopgate plan build '{{{{workdir}}}}'"
        ))
        .says(reason)
}

fn change_of_plan(name: &str) -> Conversation {
    Conversation::when(name, "# Change a plan").and("Files of this run: `(?P<workdir>[^`]+)`")
}

fn explorer() -> Conversation {
    Conversation::when("explorer", r"Explore '(?P<root>[^']+)' for the request\.")
        .turn([
            ModelStep::bash("git log --oneline | head -5; ls; cat package.json"),
            read("{{root}}/index.html"),
            read("{{root}}/styles.css"),
            read("{{root}}/notes.js"),
        ])
        .says(
            "A static page: index.html, styles.css with custom properties for its colours, page.js for the page \
             and notes.js for the rules, which test/notes.test.js tests with Node's runner.",
        )
}

/// Sub-agent that writes the plan. Selected when the requirements file mentions "dark".
fn plan_writer() -> Conversation {
    writer("plan writer", PLAN_MARKDOWN).after_result("(?i)dark")
}

/// Sub-agent for any other request: writes the same plan, with a note that the demo is scripted.
fn plan_writer_for_other_requests() -> Conversation {
    let note = format!(
        "## Summary\n\n> This demonstration follows a script for one request: \"{REQUEST}\". It plans that one \
         instead of yours. With an account of your own the assistant plans what you ask for.\n"
    );
    writer("plan writer without a script", &PLAN_MARKDOWN.replacen("## Summary\n", &note, 1))
}

fn writer(name: &str, plan: &str) -> Conversation {
    Conversation::when(name, r"Draft the plan\. Work directory: '(?P<workdir>[^']+)'")
        // The output of this command becomes a tool result, by which `after_result` selects the writer.
        .runs("cat '{{workdir}}/prd.md'")
        .turn([
            ModelStep::text(
                "The colours are custom properties already, so a second set of values, a small module with the \
                 rules and a button in the header will do.",
            ),
            ModelStep::write("{{workdir}}/plan.md", plan),
            ModelStep::Usage(ModelUsage { input: 5200, output: 1400, cache_read: 3100, cache_write: 900 }),
        ])
        .runs("loopgate plan build '{{workdir}}'")
        .says("Four tasks, two open questions, one gap.\n<promise>PLAN_VALIDATED</promise>")
}

/// Execution loop: implements the tasks one by one, then validates the project.
fn execute() -> Conversation {
    let mut conversation = in_loop(EXECUTE, "EXECUTE").turn(beginning());
    for (task, description) in TASKS {
        let implementing = format!("{} --task {task}", state("Phase 3: Implementation", "IN_PROGRESS"));
        let prompt = format!("Implement {task} in '{{{{cwd}}}}': {description}");
        conversation = conversation
            .turn([ModelStep::text(format!("{task}: {description}")), ModelStep::bash(&implementing)])
            .turn([subagent("code:implementation-subagent", &format!("Implement {task}"), &prompt)])
            .turn([subagent("code:task-reviewer", &format!("Review {task}"), &format!("Review {task}."))])
            .runs(&format!("loopgate plan report {task} '{{{{workdir}}}}'"));
    }
    conversation
        .turn([
            ModelStep::bash(&format!(
                "{}; loopgate plan test '{{{{workdir}}}}'",
                state("Phase 5: Tests and validation", "IN_PROGRESS")
            )),
            ModelStep::Usage(ModelUsage { input: 9800, output: 300, cache_read: 8700, cache_write: 700 }),
        ])
        .turn([
            ModelStep::text("Every task is done and the tests pass."),
            ModelStep::bash(&state("Phase 7: Completion", "COMPLETED")),
        ])
        .says(&format!(
            "The switch is in: a button in the header, a dark set of colours, the choice kept in the browser, \
             and three tests for the rules.\n\n<delivery>{}</delivery>\n\n<promise>COMPLETE</promise>",
            json!({"subject": TITLE, "body": "The page follows the system until there is a choice.",
                "pullRequest": PULL_REQUEST})
        ))
}

/// First turn of every execution. Its result contains the comments of a review, if there is one.
fn beginning() -> [ModelStep; 2] {
    [
        ModelStep::text("The plan is approved."),
        ModelStep::bash(
            "loopgate plan validate '{{workdir}}' | head -c 400; \
             test ! -f '{{workdir}}/review-comments.json' || cat '{{workdir}}/review-comments.json'",
        ),
    ]
}

/// Execution loop that answers [`COMMENTS`].
fn answers() -> Conversation {
    let comment = |number: u32| {
        let prompt =
            format!("Answer comment {number} of '{{{{workdir}}}}/review-comments.json' in '{{{{cwd}}}}'.");
        subagent("code:repair-subagent", &format!("Comment {number}"), &prompt)
    };
    let answer = |number: u32, answer: &str| {
        ModelStep::bash(&format!("loopgate plan answer {number} {answer} '{{{{workdir}}}}'"))
    };
    COMMENTS
        .into_iter()
        .fold(in_loop(ANSWERS, "EXECUTE"), |review, text| review.after_result(&regex::escape(text)))
        .turn(beginning())
        .turn([
            ModelStep::text("Three comments of a review. I answer each of them."),
            ModelStep::bash(&state("Phase 3.5: Review comments", "IN_PROGRESS")),
        ])
        .turn([comment(1)])
        .turn([answer(1, "done 'The dark paper is darker.'")])
        .turn([comment(2)])
        .turn([answer(2, "done 'The button says \"Dark theme\".'")])
        .turn([comment(3)])
        .turn([answer(3, "declined 'The key is already kept in browsers under this name.'")])
        .turn([ModelStep::bash(&format!(
            "{}; loopgate plan test '{{{{workdir}}}}'",
            state("Phase 5: Tests and validation", "IN_PROGRESS")
        ))])
        .turn([
            ModelStep::text("The comments are answered and the tests pass."),
            ModelStep::bash(&state("Phase 7: Completion", "COMPLETED")),
        ])
        .says(&format!(
            "The dark paper is darker, and the button says what it switches. The key keeps its name.\n\n\
             <delivery>{}</delivery>\n\n<promise>COMPLETE</promise>",
            json!({"subject": "Make the dark paper darker, and name the button", "body": "As requested in the review.",
                "pullRequest": PULL_REQUEST})
        ))
}

/// Execution loop for any other review: declines its comments, because the demo is scripted.
fn answers_to_other_comments() -> Conversation {
    let reason = "This demonstration follows a script and changes nothing for other comments.";
    in_loop("answers without a script", "EXECUTE")
        .after_result(r#""number": 1"#)
        .turn(beginning())
        .turn([ModelStep::bash(&format!(
            "for number in $(grep -o '\"number\": [0-9]*' '{{{{workdir}}}}/review-comments.json' | grep -o '[0-9]*'); \
             do loopgate plan answer \"$number\" declined '{reason}' '{{{{workdir}}}}'; done"
        ))])
        .turn([ModelStep::bash(&state("Phase 7: Completion", "COMPLETED"))])
        .says(&format!("{reason}\n\n<promise>COMPLETE</promise>"))
}

fn darker() -> Conversation {
    Conversation::when("comment 1", r"Answer comment 1 of '[^']+' in '(?P<root>[^']+)'")
        .turn([read("{{root}}/styles.css")])
        .turn([edit("styles.css", "--paper: #161d15;", "--paper: #0d120c;")])
        .says("REPAIRED\nThe dark paper is darker.")
}

fn named_button() -> Conversation {
    Conversation::when("comment 2", r"Answer comment 2 of '[^']+' in '(?P<root>[^']+)'")
        .turn([read("{{root}}/index.html")])
        .turn([edit("index.html", ">Dark</button>", ">Dark theme</button>")])
        .says("REPAIRED\nThe button says \"Dark theme\".")
}

fn same_key() -> Conversation {
    Conversation::when("comment 3", r"Answer comment 3 of '[^']+' in '(?P<root>[^']+)'")
        .turn([read("{{root}}/theme.js")])
        .says("NOT_REPAIRED\nThe key is already kept in browsers under this name.")
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
        .turn([ModelStep::write("{{root}}/theme.js", THEME)])
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
        .turn([ModelStep::write("{{root}}/test/theme.test.js", THEME_TEST)])
        .says("IMPLEMENTATION_VERIFIED: T-2.1\nThree tests for the rules.\n<promise>IMPLEMENTATION_VERIFIED</promise>")
}

fn reviewer() -> Conversation {
    Conversation::when("reviewer", r"Review (?P<task>T-\d\.\d)\.").says("VERIFIED: {{task}}")
}

/// Review of the changes with the reviewer's own command, in the format that its instructions demand.
fn review() -> Conversation {
    let finding = |index: usize, priority: u8, line: u32, body: &str| {
        let place =
            json!({"absolute_file_path": "{{cwd}}/theme.js", "line_range": {"start": line, "end": line}});
        json!({"title": format!("[P{priority}] {}", FINDINGS[index]), "body": body, "confidence_score": 0.9,
            "priority": priority, "code_location": place})
    };
    let blocked = "`setItem` throws there, so that the handler ends before it applies the theme.";
    let key = "Another page of the same origin may use `theme`, too.";
    let review = json!({
        "findings": [finding(0, 1, 28, blocked), finding(1, 3, 1, key)],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "The button fails without storage.",
        "overall_confidence_score": 0.8,
    });
    Conversation::when("review of the changes", "Review the code changes against the base branch")
        .says(&review.to_string())
}

fn verdict() -> Conversation {
    Conversation::when("verdict on the changes", "Now judge the change as a whole").says(
        r#"The change is needed, and small.

<pr_verdict>{"verdict": "needs_attention", "reason": "The button fails without storage"}</pr_verdict>"#,
    )
}

fn reviewers_argument() -> Conversation {
    Conversation::when("reviewer's argument", "You are the reviewer in a structured debate").says(&format!(
        "Only that page writes the key, so I give this one up.\n\n{}",
        r#"<debate-status>{"pendingIssues": [], "resolvedIssues": [{"id": "1", "summary": "The key is short", "resolution": "It stays"}], "conceded": true}</debate-status>"#
    ))
}

fn assistants_argument() -> Conversation {
    Conversation::when("assistant's argument", "You are the assistant in a structured debate").says(&format!(
        "No other page of this origin stores anything.\n\n{}",
        r#"<debate-status>{"pendingIssues": [{"id": "1", "summary": "The key is short"}], "resolvedIssues": [], "conceded": false}</debate-status>"#
    ))
}

fn in_loop(name: &str, command: &str) -> Conversation {
    let [page, workdir] = LOOP_PROMPT;
    let command = format!("LOOPGATE_COMMAND=\"{command}\"");
    Conversation::when(name, page).and(workdir).and(&command)
}

fn implementer(task: &str) -> Conversation {
    Conversation::when(task, &format!(r"Implement {task} in '(?P<root>[^']+)'"))
}

fn subagent(kind: &str, description: &str, prompt: &str) -> ModelStep {
    ModelStep::tool("Agent", json!({"description": description, "prompt": prompt, "subagent_type": kind}))
}

fn read(path: &str) -> ModelStep {
    ModelStep::tool("Read", json!({"file_path": path}))
}

fn edit(path: &str, old: &str, new: &str) -> ModelStep {
    let path = format!("{{{{root}}}}/{path}");
    ModelStep::tool("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
}

fn state(phase: &str, status: &str) -> String {
    format!("loopgate plan set-state '{phase}' {status} --workdir '{{{{workdir}}}}'")
}
