//! Property tests: every tool and reader accepts each plan that `plan validate` accepts.

use std::path::Path;

use loopgate_api::names::PLAN_MD;
use loopgate_api::plan::{PlanArtifact, progress};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::build::from_markdown;
use super::document::{self, content_text, tasks};
use super::paths::plan_path;
use super::structure::{self, SECTIONS};
use super::sync::{self, SyncOutcome};
use super::{evaluation, extract, task_report, text_check, tick};
use crate::hook::answers;

/// Generates a line of text as users and models write it, with Markdown markers, escapes and non-ASCII
/// letters.
fn text() -> impl Strategy<Value = String> {
    "[A-Za-z0-9äßж *_`'\"()\\[\\]\\\\$%|<>.,;:#-]{1,40}".prop_map(|text| format!("x{}", text.trim()))
}

#[derive(Debug, Clone)]
struct TaskParts {
    text: String,
    done: bool,
    manual: bool,
    criteria: Vec<usize>,
}

/// Generates the text of a plan: sections in any order, tasks, questions and gaps in any state, other text
/// between them, and code fences that contain lines like those of tasks.
fn markdown() -> impl Strategy<Value = String> {
    let task = (text(), any::<bool>(), any::<bool>(), prop::collection::vec(0usize..3, 0..3))
        .prop_map(|(text, done, manual, criteria)| TaskParts { text, done, manual, criteria });
    let lines = (
        prop::collection::vec(task, 0..5),
        prop::collection::vec(text(), 3),
        prop::collection::vec((text(), prop::option::of(text())), 0..3),
        prop::collection::vec((text(), any::<bool>()), 0..3),
    );
    let layout = (Just(SECTIONS.to_vec()).prop_shuffle(), text(), any::<bool>(), any::<bool>());
    (lines, layout).prop_map(|((tasks, criteria, questions, gaps), (sections, note, fence, crlf))| {
        let mut text = "# A plan\n".to_owned();
        for section in sections {
            text.push_str(&format!("\n## {section}\n"));
            match section {
                "Summary" if fence => text.push_str("```\n- [ ] **T-1.1**: an example\n```\n"),
                "Acceptance Criteria" => {
                    text.push_str("| ID | Criterion | Source |\n|---|---|---|\n");
                    for (number, criterion) in criteria.iter().enumerate() {
                        text.push_str(&format!("| AC-00{} | {criterion} | prd.md |\n", number + 1));
                    }
                }
                "Tasks" => {
                    for (number, task) in tasks.iter().enumerate() {
                        let (done, manual) =
                            (if task.done { "x" } else { " " }, if task.manual { " [MANUAL]" } else { "" });
                        let ids: Vec<String> =
                            task.criteria.iter().map(|n| format!("AC-00{}", n + 1)).collect();
                        let ids =
                            if ids.is_empty() { String::new() } else { format!(" *({})*", ids.join(", ")) };
                        text.push_str(&format!(
                            "- [{done}] **T-1.{}**{manual}: {}{ids}\n",
                            number + 1,
                            task.text
                        ));
                    }
                }
                "Open Questions" => {
                    for (number, (question, answer)) in questions.iter().enumerate() {
                        let id = number + 1;
                        match answer {
                            Some(answer) => {
                                text.push_str(&format!("- [x] Q-00{id}: {question} **Answer: {answer}**\n"))
                            }
                            None => {
                                text.push_str(&format!("- [ ] Q-00{id}: {question} **[Recommended: yes]**\n"))
                            }
                        }
                    }
                }
                "Gaps" => {
                    for (number, (gap, addressed)) in gaps.iter().enumerate() {
                        let done = if *addressed { "x" } else { " " };
                        text.push_str(&format!("- [{done}] GAP-00{}: {gap}\n", number + 1));
                    }
                }
                _ => text.push_str(&format!("{note}\n")),
            }
        }
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

fn is_valid(workdir: &Path) -> bool {
    structure::report(workdir)["status"] == "VALID"
}

fn read(workdir: &Path) -> Map<String, Value> {
    document::read(&plan_path(workdir)).unwrap()
}

fn pending(workdir: &Path) -> Vec<String> {
    tasks(&read(workdir), "pendingTasks").iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that every reader accepts the plan of a work directory.
fn assert_accepted(workdir: &Path) {
    assert!(is_valid(workdir), "{}", structure::report(workdir));
    assert_eq!(sync::sync(workdir), Ok(SyncOutcome::InSync));
    let result = text_check::report(Path::new("/nonexistent"), workdir);
    assert!(result.starts_with("VALIDATION: PASS"), "{result}");
    let plan = read(workdir);
    let artifact = PlanArtifact::from_value(Value::Object(plan.clone())).unwrap();
    assert_eq!(artifact.content, plan["content"].as_str().unwrap());
    let (counts, _) = progress(&Value::Object(plan.clone())).unwrap();
    assert_eq!(counts.pending, tasks(&plan, "pendingTasks").len());
    evaluation::evaluate(workdir).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn valid_plan_is_accepted_everywhere_and_stays_valid(content in markdown(), trailing_comma: bool) {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path();
        let plan = Value::Object(from_markdown(&content, Map::new()));
        // Only valid plans are of interest; generated texts may for instance be empty after trimming.
        prop_assume!(structure::check(&plan).is_empty());
        let mut text = plan.to_string();
        if trailing_comma {
            text.insert(text.len() - 1, ',');
        }
        std::fs::write(plan_path(work), text).unwrap();
        prop_assert!(is_valid(work));
        extract(&plan_path(work)).unwrap();
        prop_assert_eq!(std::fs::read_to_string(work.join(PLAN_MD)).unwrap(), content_text(&content));
        assert_accepted(work);

        for (number, id) in pending(work).iter().enumerate() {
            // Each task is blocked, then completed by one of two commands in turn. No step may invalidate the
            // plan.
            let answer = format!("BLOCKED: {id}\nthe key is missing");
            answers::store(work, "code:task-reviewer", "a", &answer);
            let blocked = task_report::apply(work, id).unwrap();
            prop_assert!(blocked.starts_with("REPORT: BLOCKED"), "{}", blocked);
            assert_accepted(work);
            if number % 2 == 0 {
                tick::complete(work, id).unwrap();
            } else {
                answers::store(work, "code:task-reviewer", "a", "VERIFIED");
                task_report::apply(work, id).unwrap();
            }
            assert_accepted(work);
        }
        prop_assert_eq!(pending(work), Vec::<String>::new());
        prop_assert!(!read(work).contains_key("blockedTasks"));
    }
}

#[test]
fn example_of_a_task_in_a_fence_is_not_ticked() {
    let content = "```\n- [ ] **T-1.1**: an example\n```\n- [ ] **T-1.1**: the task\n";
    let ticked = loopgate_api::plan::with_checkbox(content, "T-1.1", true).unwrap();
    assert_eq!(ticked, "```\n- [ ] **T-1.1**: an example\n```\n- [x] **T-1.1**: the task\n");
}
