//! Answers of subagents, stored when they stop.
//!
//! `loopgate plan report` takes the answer about a task from here, so that the orchestrator cannot change it, and only a
//! checking agent's answer completes a task.

use std::path::{Path, PathBuf};

use loopgate_api::names::{STATE_DIR, STATE_JSON};
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::now;
use crate::plan;

/// Directory of the answers, in the state directory of the work directory.
const DIRECTORY: &str = "agent-answers";
// Names include the plugin, because a repository can define agents with the names of ours.
/// Agent that reviews the change of a task. Its refusals are limited.
pub const REVIEWING: &str = "code:task-reviewer";
/// Agent that checks whether a task is done before it is implemented.
pub const VERIFYING: &str = "code:verification-subagent";
/// Agent that implements tasks; its answer can block a task, but not complete it.
pub const IMPLEMENTING: &str = "code:implementation-subagent";

/// Answer of a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentAnswer {
    /// Type of the subagent, in the assistant's notation.
    pub agent_type: String,
    /// Id of the subagent.
    pub agent_id: String,
    /// Instant at which the subagent stopped.
    pub at: String,
    /// Position among all answers of the loop, starting at 1.
    pub number: u64,
    /// Task in progress when the subagent stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Last message of the subagent.
    pub text: String,
    /// Task for which the answer was reported; an answer counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_for: Option<String>,
    /// Whether the tests of the task failed when the answer was reported, so that it completes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tests_failed: bool,
}

impl AgentAnswer {
    /// Returns whether the answer is about a task: it names the task, or none while the task is in progress.
    #[must_use]
    pub fn concerns(&self, task: &str) -> bool {
        let named = plan::task_of_answer(&self.text);
        named.as_deref().or(self.task.as_deref()) == Some(task)
    }

    /// Returns whether the answer concerns a task, or may do so because neither its text nor the state names one.
    #[must_use]
    pub fn may_concern(&self, task: &str) -> bool {
        self.concerns(task) || (self.task.is_none() && plan::task_of_answer(&self.text).is_none())
    }

    /// Returns whether the answer is a statement about a task.
    #[must_use]
    pub fn is_about_task(&self) -> bool {
        is_checker(&self.agent_type) || self.agent_type == IMPLEMENTING
    }
}

/// Returns whether the answers of an agent type can complete a task.
#[must_use]
pub fn is_checker(agent_type: &str) -> bool {
    [REVIEWING, VERIFYING].contains(&agent_type)
}

/// Stores the answer of a stopped subagent.
pub fn store(workdir: &Path, agent_type: &str, agent_id: &str, text: &str) {
    // Agents may stop at the same time; without the lock, one answer would replace the other.
    let _lock = plan::PlanLock::take(workdir);
    let number = all(workdir).last().map_or(0, |answer| answer.number) + 1;
    let answer = AgentAnswer {
        agent_type: agent_type.to_owned(),
        agent_id: agent_id.to_owned(),
        at: now(),
        number,
        task: task_in_progress(workdir),
        text: text.to_owned(),
        reported_for: None,
        tests_failed: false,
    };
    write(workdir, &answer);
}

/// Returns the stored answers, oldest first.
#[must_use]
pub fn all(workdir: &Path) -> Vec<AgentAnswer> {
    let dir = directory(workdir);
    let files = untrusted::entries(&dir).into_iter().map(|entry| dir.join(entry.name));
    let mut answers: Vec<AgentAnswer> = files.filter_map(|file| untrusted::read_json(&file)).collect();
    answers.sort_by_key(|answer| answer.number);
    answers
}

/// Marks an answer as reported.
pub fn mark_reported(workdir: &Path, answer: &AgentAnswer, task: &str, tests_failed: bool) {
    write(workdir, &AgentAnswer { reported_for: Some(task.to_owned()), tests_failed, ..answer.clone() });
}

/// Deletes the answers of an earlier loop.
///
/// # Errors
/// Fails on any file system error other than a missing directory.
pub fn clear(workdir: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(directory(workdir)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns whether a path leads to the stored answers.
#[must_use]
pub fn is_record(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == DIRECTORY)
}

fn task_in_progress(workdir: &Path) -> Option<String> {
    let state: Value = untrusted::read_json(&workdir.join(STATE_JSON))?;
    Some(state.pointer("/task/id")?.as_str()?.to_owned())
}

fn directory(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join(DIRECTORY)
}

fn write(workdir: &Path, answer: &AgentAnswer) {
    let path = directory(workdir).join(format!("{:06}.json", answer.number));
    // Best-effort like every hook: without a record, the report says that there is no answer.
    if let Ok(text) = serde_json::to_vec(answer) {
        let _ = untrusted::write(&path, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_agents_that_stop_at_the_same_time_are_all_stored() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for agent in 0..8 {
                let workdir = dir.path();
                scope.spawn(move || store(workdir, REVIEWING, &agent.to_string(), "VERIFIED"));
            }
        });
        let numbers: Vec<u64> = all(dir.path()).iter().map(|answer| answer.number).collect();
        assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    }

    #[test]
    fn answer_concerns_the_task_it_names_else_the_one_in_progress() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(STATE_JSON), r#"{"task": {"id": "T-1.1"}}"#).unwrap();
        store(dir.path(), REVIEWING, "a", "NOT_IMPLEMENTED");
        store(dir.path(), REVIEWING, "a", "NOT_IMPLEMENTED: T-1.2");
        let concerned: Vec<bool> = all(dir.path()).iter().map(|answer| answer.concerns("T-1.1")).collect();
        assert_eq!(concerned, [true, false]);
    }
}
