//! Answers of subagents, stored when they stop.
//!
//! `loopgate plan report` takes the answer about a task from here, so that the orchestrator cannot change it, and only a
//! checking agent's answer completes a task.

use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};

use crate::clock::now;

/// Directory of the answers, in the state directory of the work directory.
const DIRECTORY: &str = "answers";
/// Agent types whose answer can complete a task, without the plugin's prefix.
const CHECKING: [&str; 2] = ["task-reviewer", "verification-subagent"];
/// Agent type that implements tasks; its answer can block a task.
const IMPLEMENTING: &str = "implementation-subagent";

/// Answer of a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentAnswer {
    /// Type of the subagent, without the plugin's prefix.
    pub agent_type: String,
    /// Id of the subagent.
    pub agent_id: String,
    /// Instant at which the subagent stopped.
    pub at: String,
    /// Position among all answers of the loop, starting at 1.
    pub number: u64,
    /// Last message of the subagent.
    pub text: String,
    /// Task for which the answer was reported; an answer counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_for: Option<String>,
}

impl AgentAnswer {
    /// Returns whether the answer can complete a task.
    #[must_use]
    pub fn is_of_checker(&self) -> bool {
        CHECKING.contains(&self.agent_type.as_str())
    }
}

/// Stores the answer of a stopped subagent if it is about a task.
pub fn store(workdir: &Path, agent_type: &str, agent_id: &str, text: &str) {
    let agent_type = agent_type.rsplit(':').next().unwrap_or(agent_type);
    if !CHECKING.contains(&agent_type) && agent_type != IMPLEMENTING {
        return;
    }
    let number = all(workdir).last().map_or(0, |answer| answer.number) + 1;
    let answer = AgentAnswer {
        agent_type: agent_type.to_owned(),
        agent_id: agent_id.to_owned(),
        at: now(),
        number,
        text: text.to_owned(),
        reported_for: None,
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
pub fn mark_reported(workdir: &Path, mut answer: AgentAnswer, task: &str) {
    answer.reported_for = Some(task.to_owned());
    write(workdir, &answer);
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

/// Returns whether a path is a stored answer, or their directory.
#[must_use]
pub fn is_record(path: &Path) -> bool {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
    parts.windows(2).any(|pair| pair[0] == STATE_DIR && pair[1] == DIRECTORY)
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
