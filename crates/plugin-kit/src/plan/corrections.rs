//! Where agents of a loop were corrected, according to their answers.

use std::path::Path;

use loopgate_learnings::ExcerptKind;
use serde_json::Value;

use super::document::{self, tasks};
use super::paths::plan_path;
use super::task_report::TaskStatus;
use crate::hook::answers::{self, AgentAnswer, IMPLEMENTING, REVIEWING};

/// Characters of each answer in a correction.
const ANSWER_CHARS: usize = 700;

/// Returns the tasks that a reviewer or a test sent back, and those that were blocked and continued, oldest first. Each
/// text contains the task, the answer and what followed.
#[must_use]
pub fn of_answers(workdir: &Path) -> Vec<(ExcerptKind, String)> {
    let answers = answers::all(workdir);
    let plan = document::read(&plan_path(workdir)).unwrap_or_default();
    let description = |id: &str| {
        let mut all = ["pendingTasks", "completedTasks"].iter().flat_map(|list| tasks(&plan, list));
        let task = all.find(|task| task.get("id").and_then(Value::as_str) == Some(id));
        task.and_then(|task| task.get("description")?.as_str()).unwrap_or_default().to_owned()
    };
    let correction = |(at, answer): (usize, &AgentAnswer)| {
        let id = task_of(answer)?;
        let next = answers[at + 1..]
            .iter()
            .find(|later| later.agent_type == IMPLEMENTING && task_of(later).as_deref() == Some(&id));
        let kind = kind(answer, &id)?;
        // Without a repair or an answer, there is nothing to learn.
        let next = next?;
        Some((
            kind,
            format!(
                "Task {id}: {}\n\nAnswer of {}:\n{}\n\nWhat followed, by {}:\n{}",
                description(&id),
                answer.agent_type,
                shortened(&answer.text),
                next.agent_type,
                shortened(&next.text)
            ),
        ))
    };
    answers.iter().enumerate().filter_map(correction).collect()
}

fn kind(answer: &AgentAnswer, id: &str) -> Option<ExcerptKind> {
    let status = TaskStatus::parse(&answer.text, id);
    match (answer.agent_type.as_str(), status) {
        _ if answer.tests_failed => Some(ExcerptKind::RepairedCheck),
        (REVIEWING, TaskStatus::NotImplemented) => Some(ExcerptKind::TaskSentBack),
        (IMPLEMENTING, TaskStatus::Blocked(_) | TaskStatus::NeedsContext(_)) => {
            Some(ExcerptKind::BlockedTask)
        }
        _ => None,
    }
}

fn task_of(answer: &AgentAnswer) -> Option<String> {
    answer
        .reported_for
        .clone()
        .or_else(|| super::task_of_answer(&answer.text))
        .or_else(|| answer.task.clone())
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(ANSWER_CHARS).collect()
}
