//! Validates the structure of `plan.json`: fields, ids, sections, and consistency of the text with the lists.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use loopgate_home::untrusted;
use regex::Regex;
use serde_json::{Map, Value, json};

use super::document::tasks;
use super::markdown::Outline;
use super::paths::plan_path;

/// Sections required in every plan.
pub const SECTIONS: [&str; 10] = [
    "Summary",
    "Acceptance Criteria",
    "Architecture Fit",
    "Tasks",
    "API & Data Impacts",
    "Risks & Constraints",
    "Test Plan",
    "Rollback",
    "Open Questions",
    "Gaps",
];

/// Required lists, each with the pattern of its ids.
pub(super) const LISTS: [(&str, &LazyLock<Regex>); 6] = [
    ("acceptanceCriteria", &CRITERION_ID),
    ("pendingTasks", &TASK_ID),
    ("completedTasks", &TASK_ID),
    ("openQuestions", &QUESTION_ID),
    ("answeredQuestions", &QUESTION_ID),
    ("gaps", &GAP_ID),
];

pub(crate) fn regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test uses them all")]
    Regex::new(pattern).expect("constant pattern")
}

static CRITERION_ID: LazyLock<Regex> = LazyLock::new(|| regex(r"^AC-\d{3}$"));
static TASK_ID: LazyLock<Regex> = LazyLock::new(|| regex(r"^T-\d+\.\d+$"));
static QUESTION_ID: LazyLock<Regex> = LazyLock::new(|| regex(r"^Q-\d{3}$"));
static GAP_ID: LazyLock<Regex> = LazyLock::new(|| regex(r"^GAP-\d{3}$"));

/// Valid values of a decision table's status.
const TABLE_STATES: [&str; 4] = ["pending", "aligned", "aligned_with_clarifications", "verification_failed"];

/// Validates the plan of a work directory and returns the report.
#[must_use]
pub fn report(workdir: &Path) -> Value {
    let text = untrusted::read_text(&plan_path(workdir)).unwrap_or_default();
    if text.is_empty() {
        return failed("EMPTY_FILE", &["File not found or empty".to_owned()]);
    }
    let plan = match loopgate_api::plan::parse(&text) {
        Ok(plan) => plan,
        Err(error) => return failed("INVALID_JSON", &[format!("JSON parse error: {error}")]),
    };
    let Value::Object(object) = &plan else {
        return failed("INVALID_JSON", &["plan.json root must be an object".to_owned()]);
    };
    let issues = check(&plan);
    if issues.is_empty() { valid(object) } else { failed("FORMAT_ISSUES", &issues) }
}

/// Returns the faults that make the plan of a work directory unreadable: invalid JSON, or members that are
/// missing or have the wrong type. Empty when there is no plan.
#[must_use]
pub fn schema_faults(workdir: &Path) -> Vec<String> {
    let Ok(text) = untrusted::read_text(&plan_path(workdir)) else { return Vec::new() };
    match loopgate_api::plan::parse(&text) {
        Ok(Value::Object(plan)) => fields(&plan),
        Ok(_) => vec!["plan.json root must be an object".to_owned()],
        Err(error) => vec![format!("JSON parse error: {error}")],
    }
}

/// Returns all issues of a plan. Faulty fields are reported alone, because the other checks depend on them.
#[must_use]
pub fn check(plan: &Value) -> Vec<String> {
    let Value::Object(plan) = plan else { return vec!["plan.json root must be an object".to_owned()] };
    let issues = fields(plan);
    if !issues.is_empty() {
        return issues;
    }
    let outline = Outline::read(plan.get("content").and_then(Value::as_str).unwrap_or_default());
    let stray = outline.stray_tasks.iter().map(|line| format!("Task missing checkbox in content: '{line}'"));
    let sections = SECTIONS.iter().filter(|name| !outline.has_section(name));
    // Only the start of a heading is compared, so that authors may extend it.
    let missing = sections.map(|name| format!("Missing required section: ## {name}"));
    stray.chain(missing).chain(sync(plan, &outline)).collect()
}

fn fields(plan: &Map<String, Value>) -> Vec<String> {
    let mut issues = Vec::new();
    match plan.get("content") {
        None => issues.push("Missing required field: content".to_owned()),
        Some(Value::String(_)) => {}
        Some(_) => issues.push("Field content must be a string".to_owned()),
    }
    for (name, ids) in LISTS {
        match plan.get(name) {
            None => issues.push(format!("Missing required field: {name}")),
            Some(Value::Array(items)) => {
                issues.extend(items.iter().enumerate().flat_map(|(n, item)| item_issues(name, n, item, ids)))
            }
            Some(_) => issues.push(format!("Field {name} must be an array")),
        }
    }
    match plan.get("manualTasks") {
        None => {}
        Some(Value::Array(items)) => {
            issues.extend(
                items.iter().enumerate().flat_map(|(n, item)| item_issues("manualTasks", n, item, &TASK_ID)),
            );
        }
        Some(_) => issues.push("Field manualTasks must be an array".to_owned()),
    }
    issues.extend(decision_table_issue(plan));
    issues
}

fn item_issues(list: &str, number: usize, item: &Value, ids: &Regex) -> Vec<String> {
    let Value::Object(item) = item else { return vec![format!("{list}[{number}] must be an object")] };
    let mut issues = Vec::new();
    let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
    // Other tools find a task by its id, in the lists as well as in the text.
    if !ids.is_match(id) {
        issues.push(format!("{list}[{number}] has an invalid id: '{id}'"));
    }
    if list == "pendingTasks" {
        if item.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
            issues.push(format!("{list}[{number}] needs a description"));
        }
        if !item.get("acceptanceCriteria").is_some_and(Value::is_array) {
            issues.push(format!("{list}[{number}] needs acceptanceCriteria"));
        }
    }
    issues
}

fn decision_table_issue(plan: &Map<String, Value>) -> Option<String> {
    let table = plan.get("decisionTable").filter(|table| !table.is_null())?;
    let text = |name: &str| table.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_valid = !text("path").is_empty() && TABLE_STATES.contains(&text("status"));
    (!is_valid).then(|| "Field decisionTable needs a path and a known status".to_owned())
}

/// Returns the differences between lists and text.
fn sync(plan: &Map<String, Value>, outline: &Outline) -> Vec<String> {
    let listed = |name: &str| ids(tasks(plan, name));
    let (pending, completed, manual) =
        (listed("pendingTasks"), listed("completedTasks"), listed("manualTasks"));
    let in_text = |filter: &dyn Fn(&&super::markdown::TaskLine) -> bool| -> BTreeSet<String> {
        outline.tasks.iter().filter(filter).map(|task| task.id.clone()).collect()
    };
    let open_lines = in_text(&|task| !task.done && !task.manual);
    let done_lines = in_text(&|task| task.done && !task.manual);
    let manual_lines = in_text(&|task| task.manual);
    let points = |points: &[super::markdown::Point], done: Option<bool>| -> BTreeSet<String> {
        points.iter().filter(|p| done.is_none_or(|done| p.done == done)).map(|p| p.id.clone()).collect()
    };
    let mut issues = duplicates(outline);
    missing(&mut issues, "pendingTasks", &pending, "an open line", &open_lines);
    missing(&mut issues, "completedTasks", &completed, "a ticked line", &done_lines);
    missing(&mut issues, "manualTasks", &manual, "a [MANUAL] line", &manual_lines);
    // An open line is also consistent with a manual or completed task: those have issues of their own above.
    let allowed_open: BTreeSet<String> = pending.iter().chain(&manual).chain(&completed).cloned().collect();
    unlisted(&mut issues, "an open line", &open_lines, "pendingTasks", &allowed_open);
    unlisted(&mut issues, "a ticked line", &done_lines, "completedTasks", &completed);
    unlisted(&mut issues, "a [MANUAL] line", &manual_lines, "manualTasks", &manual);
    let open = listed("openQuestions");
    let open_questions = points(&outline.questions, Some(false));
    missing(&mut issues, "openQuestions", &open, "an open line", &open_questions);
    unlisted(&mut issues, "an open line", &open_questions, "openQuestions", &open);
    let answered = points(&outline.questions, Some(true));
    missing(&mut issues, "answeredQuestions", &listed("answeredQuestions"), "a ticked line", &answered);
    let criteria = listed("acceptanceCriteria");
    let rows: BTreeSet<String> = outline.criteria.iter().map(|row| row.id.clone()).collect();
    missing(&mut issues, "acceptanceCriteria", &criteria, "a table row", &rows);
    unlisted(&mut issues, "a table row", &rows, "acceptanceCriteria", &criteria);
    let gaps = listed("gaps");
    let gap_lines = points(&outline.gaps, None);
    missing(&mut issues, "gaps", &gaps, "a line", &gap_lines);
    unlisted(&mut issues, "a line", &gap_lines, "gaps", &gaps);
    issues
}

/// Returns an issue for each id with several task lines: one answer would complete them all.
fn duplicates(outline: &Outline) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let repeated = outline.tasks.iter().filter(|task| !seen.insert(&task.id));
    repeated.map(|task| format!("Duplicate id: {} has several lines in content", task.id)).collect()
}

fn missing(
    issues: &mut Vec<String>,
    list: &str,
    listed: &BTreeSet<String>,
    place: &str,
    in_text: &BTreeSet<String>,
) {
    let only = listed.difference(in_text);
    issues.extend(
        only.map(|id| format!("Sync error: {id} is in {list} but has no {} in content", bare(place))),
    );
}

fn unlisted(
    issues: &mut Vec<String>,
    place: &str,
    in_text: &BTreeSet<String>,
    list: &str,
    listed: &BTreeSet<String>,
) {
    let only = in_text.difference(listed);
    issues.extend(only.map(|id| format!("Sync error: {id} has {place} in content but is not in {list}")));
}

/// Removes the article of a phrase: `an open line` becomes `open line`, to follow "no".
fn bare(place: &str) -> &str {
    place.split_once(' ').map_or(place, |(_, rest)| rest)
}

fn ids(items: &[Value]) -> BTreeSet<String> {
    items.iter().filter_map(|item| item.get("id")?.as_str().map(str::to_owned)).collect()
}

fn failed(status: &str, issues: &[String]) -> Value {
    with_lists(status, issues, &Map::new(), false)
}

fn valid(plan: &Map<String, Value>) -> Value {
    with_lists("VALID", &[], plan, true)
}

/// Builds the report. Every list is empty unless the plan is valid, so that a prompt never acts on an invalid
/// plan.
fn with_lists(status: &str, issues: &[String], plan: &Map<String, Value>, valid: bool) -> Value {
    let members = |list: &str, names: &[&str]| -> Vec<Value> {
        tasks(plan, list).iter().map(|item| select_members(item, names)).collect()
    };
    let open = members("openQuestions", &["id", "question", "blockingTask", "recommendedAnswer"]);
    let answered = members("answeredQuestions", &["id", "question", "answer"]);
    let addressed: Vec<Value> = tasks(plan, "gaps")
        .iter()
        .filter(|gap| is_addressed(gap))
        .map(|gap| select_members(gap, &["id", "description", "resolution"]))
        .collect();
    const TASK: [&str; 3] = ["id", "description", "acceptanceCriteria"];
    let mut report = json!({
        "status": status,
        "issues": issues,
        "has_unanswered_questions": !open.is_empty(),
        "unanswered_questions": open,
        "has_answered_questions": !answered.is_empty(),
        "answered_questions": answered,
        "has_addressed_gaps": !addressed.is_empty(),
        "addressed_gaps": addressed,
        "pending_tasks": members("pendingTasks", &TASK),
        "completed_tasks": members("completedTasks", &TASK),
        "manual_tasks": members("manualTasks", &TASK),
        "blocked_tasks": super::blocked::blocked(plan),
    });
    // Only the report of a valid plan has these members.
    if let (true, Some(report)) = (valid, report.as_object_mut()) {
        let table = |name: &str| plan.get("decisionTable").and_then(|table| table.get(name)).cloned();
        report.insert("decision_table_path".into(), table("path").unwrap_or_else(|| "".into()));
        report.insert("decision_table_status".into(), table("status").unwrap_or_else(|| "".into()));
    }
    report
}

fn select_members(item: &Value, names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| ((*name).to_owned(), item.get(name).cloned().unwrap_or(Value::Null)))
        .collect::<Map<_, _>>()
        .into()
}

fn is_addressed(gap: &Value) -> bool {
    gap.get("addressed").and_then(Value::as_bool) == Some(true)
        && gap.get("resolution").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::build::from_markdown;
    use super::*;

    pub(in super::super) const CONTENT: &str = "# Plan\n\n## Summary\nA page.\n\n## Acceptance Criteria\n\
        | ID | Criterion | Source |\n|---|---|---|\n| AC-001 | The page greets | prd.md |\n\n\
        ## Architecture Fit\nFits.\n\n## Tasks\n- [ ] **T-1.1**: Add the page *(AC-001)*\n\
        - [x] **T-1.2**: Done *(AC-001)*\n- [ ] **T-2.1** [MANUAL]: Tell the users\n\n\
        ## API & Data Impacts\nNone.\n\n## Risks & Constraints\nNone.\n\n## Test Plan\nRun it.\n\n\
        ## Rollback\nRevert.\n\n## Open Questions\n- [ ] Q-001: Which words? **[Recommended: hello]**\n\n\
        ## Gaps\n- [x] **GAP-001**: No tests **Resolution:** Add some\n";

    fn plan() -> Value {
        Value::Object(from_markdown(CONTENT, Map::new()))
    }

    fn report_of(plan: &str) -> Value {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(plan_path(dir.path()), plan).unwrap();
        report(dir.path())
    }

    // PL-28
    #[test]
    fn consistent_plan_is_valid_and_reported() {
        let report = report_of(&plan().to_string());
        assert_eq!(report["status"], "VALID", "{report}");
        assert_eq!(report["pending_tasks"][0]["id"], "T-1.1");
        assert_eq!(report["manual_tasks"][0]["id"], "T-2.1");
        assert_eq!(report["unanswered_questions"][0]["recommendedAnswer"], "hello");
        assert_eq!(report["addressed_gaps"][0]["resolution"], "Add some");
        assert_eq!(report["decision_table_path"], "");
    }

    // PL-29
    #[test]
    fn missing_and_malformed_files_are_reported() {
        assert_eq!(report_of("")["status"], "EMPTY_FILE");
        let array = report_of("[1]");
        assert_eq!(
            (&array["status"], &array["issues"][0]),
            (&json!("INVALID_JSON"), &json!("plan.json root must be an object"))
        );
        assert_eq!(report_of("{")["status"], "INVALID_JSON");
        assert_eq!(report(Path::new("/nonexistent"))["issues"][0], "File not found or empty");
    }

    // PL-28
    #[test]
    fn differences_between_lists_and_text_are_issues() {
        let changed = |change: &dyn Fn(&mut Value)| {
            let mut plan = plan();
            change(&mut plan);
            check(&plan)
        };
        let without = |from: &str, to: &str| {
            let mut plan = plan();
            plan["content"] = CONTENT.replace(from, to).into();
            check(&plan)
        };
        assert_eq!(
            without("| AC-001 |", "| x |"),
            ["Sync error: AC-001 is in acceptanceCriteria but has no table row in content"]
        );
        let unmarked = without(" [MANUAL]", "");
        assert!(unmarked.iter().any(|issue| issue.starts_with("Sync error: T-2.1")), "{unmarked:?}");
        assert_eq!(
            without("- [ ] **T-1.1**", "- **T-1.1**")[0],
            "Task missing checkbox in content: '- **T-1.1**: Add the page *(AC-001)*'"
        );
        assert_eq!(without("## Rollback", "### Rollback"), ["Missing required section: ## Rollback"]);
        assert_eq!(
            changed(&|plan| plan["pendingTasks"] = json!([])),
            ["Sync error: T-1.1 has an open line in content but is not in pendingTasks"]
        );
        assert_eq!(
            changed(&|plan| {
                plan.as_object_mut().unwrap().remove("gaps");
            }),
            ["Missing required field: gaps"]
        );
        assert_eq!(
            changed(&|plan| plan["openQuestions"] = json!([{"id": "Q1"}])),
            ["openQuestions[0] has an invalid id: 'Q1'"]
        );
        assert_eq!(
            changed(&|plan| plan["pendingTasks"][0]["description"] = json!("")),
            ["pendingTasks[0] needs a description"]
        );
    }
}
