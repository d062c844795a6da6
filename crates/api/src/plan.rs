//! `plan.json`: lenient parsing, tasks and their progress, and conversion to Markdown.

mod tasks;

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub use self::tasks::{PlanTasks, is_fence, reopen, with_checkbox, without_ticks};

/// A plan in the form in which it is uploaded and displayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanArtifact {
    /// Text of the plan, as Markdown.
    pub content: String,
    /// The whole plan object; absent for a plan of text only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub raw: Option<Map<String, Value>>,
}

impl PlanArtifact {
    /// Converts a plan document: an object becomes `raw`, a string becomes `content`; returns `None` for
    /// other values.
    #[must_use]
    pub fn from_value(plan: Value) -> Option<Self> {
        match plan {
            Value::String(content) => Some(Self { content, raw: None }),
            Value::Object(raw) => {
                let content = match raw.get("content") {
                    Some(Value::String(content)) => content.clone(),
                    _ => serde_json::to_string_pretty(&raw).ok()?,
                };
                Some(Self { content, raw: Some(raw) })
            }
            _ => None,
        }
    }
}

/// Number of completed and pending tasks of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct TaskProgress {
    /// Number of pending tasks.
    pub pending: usize,
    /// Number of completed tasks.
    pub completed: usize,
    /// Number of all tasks.
    pub total: usize,
}

// Alternation: a whole string literal, whose commas must stay, or a comma before a closing bracket.
static STRING_OR_TRAILING_COMMA: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "constant pattern")]
    Regex::new(r#"(?s)("(?:[^"\\]|\\.)*")|,(\s*[\]}])"#).expect("constant pattern")
});

/// Parses a plan; commas before a closing bracket are accepted.
///
/// # Errors
/// Returns the JSON parser's error for the text without such commas.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    // Strict first: valid JSON is parsed once and is never modified.
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&STRING_OR_TRAILING_COMMA.replace_all(text, "$1$2")))
}

/// Returns the progress and the id of the first pending task; `None` when a task list is malformed.
#[must_use]
pub fn progress(plan: &Value) -> Option<(TaskProgress, Option<String>)> {
    let plan = plan.as_object()?;
    let tasks = |name: &str| -> Option<Vec<&Value>> {
        match plan.get(name) {
            // A new plan has no completed tasks, a finished one no pending tasks; either list may be missing.
            None => Some(Vec::new()),
            Some(Value::Array(tasks)) => Some(tasks.iter().collect()),
            Some(_) => None,
        }
    };
    let pending = tasks("pendingTasks")?;
    let completed = tasks("completedTasks")?;
    let current = pending.first().and_then(|task| task.get("id")).and_then(Value::as_str).map(str::to_owned);
    let progress = TaskProgress {
        pending: pending.len(),
        completed: completed.len(),
        total: pending.len() + completed.len(),
    };
    Some((progress, current))
}

/// Returns the Markdown of a plan.
///
/// The sources in order of preference: `content` of the plan, `plan.md` if it belongs to the same plan, a
/// text generated from `tasks`, an empty string.
#[must_use]
pub fn markdown(plan: &Value, plan_md: Option<&str>) -> String {
    // Models often escape line breaks and tabs twice in the JSON that they write.
    let content = text(plan, "content").replace("\\n", "\n").replace("\\t", "\t");
    if !content.is_empty() {
        return content;
    }
    let title = text(plan, "title");
    if let Some(md) = plan_md {
        // `plan.md` may stem from an earlier plan in the same directory. It belongs to this plan if its start
        // contains the title.
        let head: String = md.chars().take(500).collect();
        if !title.is_empty() && head.contains(title) {
            return md.to_owned();
        }
    }
    if plan.get("tasks").is_some() { generated(plan) } else { String::new() }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn strings<'a>(value: &'a Value, name: &str) -> Vec<&'a str> {
    list(value, name).iter().filter_map(Value::as_str).collect()
}

fn generated(plan: &Value) -> String {
    let title = text(plan, "title");
    let mut blocks =
        vec![format!("# Implementation Plan: {}", if title.is_empty() { "Untitled" } else { title })];
    let summary = text(plan, "description");
    if !summary.is_empty() {
        blocks.push("## Summary".to_owned());
        blocks.push(summary.to_owned());
    }
    let decisions = list(plan, "architectureDecisions");
    if !decisions.is_empty() {
        blocks.push("## Architecture Decisions".to_owned());
        for decision in decisions {
            blocks.push(format!("### {}", text(decision, "decision")));
            blocks.push(text(decision, "reasoning").to_owned());
        }
    }
    let tasks = list(plan, "tasks");
    if !tasks.is_empty() {
        blocks.push("## Tasks".to_owned());
        tasks.iter().for_each(|task| push_task(&mut blocks, task));
    }
    let questions = list(plan, "openQuestions");
    if !questions.is_empty() {
        blocks.push("## Open Questions".to_owned());
        let lines: Vec<&str> =
            questions.iter().map(|q| q.as_str().unwrap_or_else(|| text(q, "question"))).collect();
        blocks.push(lines.join("\n"));
    }
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n")
}

fn push_task(blocks: &mut Vec<String>, task: &Value) {
    blocks.push(format!("### {}: {}", text(task, "id"), text(task, "title")));
    blocks.push(text(task, "description").to_owned());
    for (name, heading) in [("subtasks", "Subtasks"), ("acceptanceCriteria", "Acceptance Criteria")] {
        let items = list(task, name);
        if items.is_empty() {
            continue;
        }
        let mut block = format!("**{heading}:**");
        for item in items {
            let line = item.as_str().unwrap_or_else(|| text(item, "title"));
            // Writing to a `String` cannot fail.
            let _ = write!(block, "\n- {line}");
        }
        blocks.push(block);
    }
    for (name, heading) in [("files", "Files"), ("dependencies", "Dependencies")] {
        let items = strings(task, name);
        if !items.is_empty() {
            blocks.push(format!("**{heading}:** {}", items.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn trailing_comma_is_accepted() {
        assert_eq!(parse(r#"{"a":[1,2, ],}"#).unwrap(), json!({"a": [1, 2]}));
        assert_eq!(parse(r#"{"a":"x, ]"}"#).unwrap(), json!({"a": "x, ]"}));
        assert_eq!(parse(r#"{"a":"x, ]","b\"":"\\",}"#).unwrap(), json!({"a": "x, ]", "b\"": "\\"}));
        assert!(parse("{").is_err());
    }

    #[test]
    fn progress_counts_both_lists() {
        let plan = json!({"pendingTasks": [{"id": "T-2"}], "completedTasks": [{"id": "T-1"}]});
        let (progress, current) = progress(&plan).unwrap();
        assert_eq!((progress.pending, progress.completed, progress.total), (1, 1, 2));
        assert_eq!(current.as_deref(), Some("T-2"));
        assert_eq!(super::progress(&json!({"pendingTasks": 5})), None);
    }

    #[test]
    fn tasks_become_markdown_when_there_is_no_content() {
        let plan =
            json!({"title": "Shop", "tasks": [{"id": "1", "title": "Cart", "files": ["a.rs", "b.rs"]}]});
        assert_eq!(
            markdown(&plan, None),
            "# Implementation Plan: Shop\n\n## Tasks\n\n### 1: Cart\n\n**Files:** a.rs, b.rs"
        );
        assert_eq!(markdown(&json!({"content": "a\\nb"}), None), "a\nb");
    }
}
