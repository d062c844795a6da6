//! Makes `plan.json` from `plan.md`.
//!
//! A model writes one text well, and two descriptions of one thing badly; so it writes the text, and
//! the rest follows from it. What the text cannot say is kept from the plan that was there before.

use std::path::Path;

use loopgate_api::names::PLAN_MD;
use loopgate_home::untrusted;
use serde_json::{Map, Value, json};

use super::document::{self, PlanLock};
use super::markdown::{Outline, Point, TaskLine};
use super::paths::plan_path;
use super::structure;

/// Builds and judges; the answer is the validator's report in short.
///
/// # Errors
/// The line to print.
pub fn build(workdir: &Path) -> Result<String, String> {
    let _lock = PlanLock::take(workdir)?;
    let path = workdir.join(PLAN_MD);
    let content = untrusted::read_text(&path)
        .map_err(|error| format!("Error: cannot read {}: {error}", path.display()))?;
    if content.trim().is_empty() {
        return Err(format!("Error: {} is empty", path.display()));
    }
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

/// The plan that a text describes.
#[must_use]
pub fn from_markdown(content: &str, previous: Map<String, Value>) -> Map<String, Value> {
    let outline = Outline::read(content);
    let tasks = |wanted: fn(&TaskLine) -> bool| -> Value {
        outline.tasks.iter().filter(|task| wanted(task)).map(task).collect()
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
    json!({"id": task.id, "description": task.text, "acceptanceCriteria": task.criteria})
}

fn gap(gap: &Point) -> Value {
    json!({"id": gap.id, "description": gap.text, "addressed": gap.done, "resolution": gap.remark})
}

/// The text has no place for the task that a question blocks.
fn open_question(point: &Point, previous: &Map<String, Value>) -> Value {
    let known = document::tasks(previous, "openQuestions")
        .iter()
        .find(|question| question.get("id").and_then(Value::as_str) == Some(&point.id));
    let blocking = known.and_then(|question| question.get("blockingTask")).cloned().unwrap_or(Value::Null);
    json!({"id": point.id, "question": point.text, "recommendedAnswer": point.remark, "blockingTask": blocking})
}

#[cfg(test)]
mod tests {
    use super::super::structure::tests::CONTENT;
    use super::*;

    #[test]
    fn text_becomes_a_valid_plan_with_its_mirrors() {
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
    fn missing_text_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(build(dir.path()).unwrap_err().contains("plan.md"));
    }
}
