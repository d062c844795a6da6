//! Builds `plan.json` from `plan.md`.
//!
//! Models write a text reliably, but not two consistent representations of it. So they write the text, and
//! the lists are derived from it. Members that the text cannot express are preserved from the previous plan.

use std::path::Path;

use loopgate_api::names::PLAN_MD;
use loopgate_home::untrusted;
use serde_json::{Map, Value, json};

use super::document::{self, PlanLock};
use super::markdown::{Outline, Point, TaskDetails, TaskLine};
use super::paths::plan_path;
use super::structure;

/// Builds and validates the plan. Returns a short form of the validator's report.
///
/// # Errors
/// Returns the line to print.
pub fn build(workdir: &Path) -> Result<String, String> {
    let _lock = PlanLock::take(workdir)?;
    let path = workdir.join(PLAN_MD);
    let content = untrusted::read_text(&path)
        .map_err(|error| format!("Error: cannot read {}: {error}", path.display()))?;
    if content.trim().is_empty() {
        return Err(format!("Error: {} is empty", path.display()));
    }
    // A malformed previous plan is replaced: building from the text is the way to repair it.
    let previous = document::read(&plan_path(workdir)).unwrap_or_default();
    let plan = from_markdown(&content, previous);
    document::write(workdir, &plan)?;
    Ok(summary(&structure::check(&Value::Object(plan))))
}

fn summary(issues: &[String]) -> String {
    if issues.is_empty() {
        return "PLAN_BUILT: VALID".to_owned();
    }
    format!("PLAN_BUILT: FORMAT_ISSUES\n- {}", issues.join("\n- "))
}

/// Derives the plan from its text, with the remaining members of `previous`.
#[must_use]
pub fn from_markdown(content: &str, previous: Map<String, Value>) -> Map<String, Value> {
    let outline = Outline::read(content);
    let tasks = |filter: fn(&TaskLine) -> bool| -> Value {
        outline.tasks.iter().filter(|task| filter(task)).map(task).collect()
    };
    let criteria: Value = outline
        .criteria
        .iter()
        .map(|row| json!({"id": row.id, "criterion": row.text, "source": row.source}))
        .collect();
    let open = outline.questions.iter().filter(|question| !question.done);
    let answered = outline.questions.iter().filter(|question| question.done);
    let open: Value = open.map(|question| open_question(question, &previous)).collect();
    let answered: Value = answered
        .map(|point| json!({"id": point.id, "question": point.text, "answer": point.remark.as_deref().unwrap_or("")}))
        .collect();
    let mut plan = previous;
    for (name, value) in [
        ("content", Value::from(content)),
        ("acceptanceCriteria", criteria),
        ("pendingTasks", tasks(|task| !task.done && !task.manual)),
        ("completedTasks", tasks(|task| task.done && !task.manual)),
        // Manual tasks are listed separately in either state, because the loop never works on them.
        ("manualTasks", tasks(|task| task.manual)),
        ("openQuestions", open),
        ("answeredQuestions", answered),
        ("gaps", outline.gaps.iter().map(gap).collect()),
    ] {
        plan.insert(name.to_owned(), value);
    }
    plan
}

fn task(task: &TaskLine) -> Value {
    let mut value = json!({"id": task.id, "description": task.text, "acceptanceCriteria": task.criteria});
    if task.details != TaskDetails::default() {
        value["details"] = json!(task.details);
    }
    value
}

fn gap(gap: &Point) -> Value {
    json!({"id": gap.id, "description": gap.text, "addressed": gap.done, "resolution": gap.remark})
}

/// Converts an open question. The blocked task has no syntax in the text, so it is preserved from the
/// previous plan.
fn open_question(point: &Point, previous: &Map<String, Value>) -> Value {
    let previous_question = document::tasks(previous, "openQuestions")
        .iter()
        .find(|question| question.get("id").and_then(Value::as_str) == Some(&point.id));
    let blocking =
        previous_question.and_then(|question| question.get("blockingTask")).cloned().unwrap_or(Value::Null);
    json!({"id": point.id, "question": point.text, "recommendedAnswer": point.remark, "blockingTask": blocking})
}

#[cfg(test)]
mod tests {
    use super::super::structure::tests::CONTENT;
    use super::*;

    #[test]
    fn plan_is_built_from_text_with_its_mirrors() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(PLAN_MD), CONTENT).unwrap();
        std::fs::write(plan_path(dir.path()), r#"{"amendments": [1], "gaps": []}"#).unwrap();
        assert_eq!(build(dir.path()).unwrap(), "PLAN_BUILT: VALID");
        let plan = document::read(&plan_path(dir.path())).unwrap();
        assert_eq!(plan["pendingTasks"][0]["acceptanceCriteria"], json!(["AC-001"]));
        assert_eq!(plan["amendments"], json!([1]));
        let questions = std::fs::read_to_string(dir.path().join("open-questions.md")).unwrap();
        assert!(questions.contains("Q-001") && questions.contains("[Recommended: "));
        assert_eq!(std::fs::read_to_string(dir.path().join(PLAN_MD)).unwrap(), CONTENT);
    }

    #[test]
    fn build_fails_without_text() {
        let dir = tempfile::tempdir().unwrap();
        assert!(build(dir.path()).unwrap_err().contains("plan.md"));
    }
}
