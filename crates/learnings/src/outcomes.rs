//! Logs of a work directory: what became of the learnings that agents and chats received.
//!
//! Loops write JSON lines. The lines of chats have another format, which clients specify; they are counted when they are
//! written, and skipped by readers.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use loopgate_api::ids::safe_id;
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};

use crate::citations::{ChangedLines, Citation};
use crate::pattern::one_line;
use crate::pending::LEARNINGS_DIR;

const OUTCOMES: &str = "outcomes.log";
const ACKNOWLEDGMENTS: &str = "acknowledgments.log";
const FAILURES: &str = "failures.log";
/// Maximum size of a log that is read, in bytes.
const MAX_LOG_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum length of a summary in the log, in characters.
const MAX_SUMMARY_CHARS: usize = 500;

/// A recorded use of a learning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningUse {
    /// Id of the pattern; without one, the summary identifies it.
    pub id: Option<String>,
    /// Summary of the learning, as recorded by the caller.
    pub summary: String,
    /// What became of it.
    pub effect: UseEffect,
    /// Key by which the use is counted at most once; empty for a use that is counted in any case.
    pub key: String,
}

/// What became of a learning that an agent or a chat received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseEffect {
    /// It was shown, and not cited. This does not count as a use: most agents receive more than they need.
    Shown,
    /// It proved correct.
    Verified,
    /// It was cited falsely.
    Unverified,
}

/// Appends the uses of a ticket's chat to the log. Performs blocking I/O.
///
/// # Errors
/// Fails on I/O errors, and when a component of the path is a symbolic link.
pub fn record_uses(work_dir: &Path, ticket: &str, uses: &[LearningUse], now: Timestamp) -> io::Result<()> {
    let mut lines = String::new();
    for learning_use in uses {
        // `|` separates the columns of the log.
        let summary = one_line(&learning_use.summary, MAX_SUMMARY_CHARS).replace('|', "/");
        let ticket = safe_id(ticket);
        lines.push_str(&format!("{now:.3}|chat-{ticket}|0|interactive-chat|{summary}|applied|\n"));
    }
    let mut log = untrusted::append(&work_dir.join(LEARNINGS_DIR).join(OUTCOMES))?;
    log.write_all(lines.as_bytes())?;
    log.sync_data()
}

/// What an agent did with a learning that it received: a line of `outcomes.log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearningOutcome {
    /// Time in UTC.
    pub timestamp: String,
    /// Id of the driver's run.
    pub run_id: String,
    /// Iteration of the loop, from 1.
    pub iteration: u64,
    /// Type of the agent.
    pub agent: String,
    /// Id of the agent.
    pub agent_id: String,
    /// Id of the pattern.
    pub pattern_id: String,
    /// Text that the agent received.
    pub pattern: String,
    /// Whether the agent cited it.
    pub status: OutcomeStatus,
    /// Places that the agent cited for this pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    /// Whether the citations are true; absent without citations, and before they are checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// Share of the pattern's keywords that occur in the changed paths, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// Score of the loop's goal, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_score: Option<f64>,
    /// `passed` or `failed`: result of the loop's own checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// Whether an agent cited a learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeStatus {
    /// The agent cited it.
    Applied,
    /// The agent received it only.
    Injected,
}

/// A line of `acknowledgments.log`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcknowledgementEntry {
    /// Time in UTC.
    pub timestamp: String,
    /// Id of the driver's run.
    pub run_id: String,
    /// Iteration of the loop, from 1.
    pub iteration: u64,
    /// Type of the agent.
    pub agent: String,
    /// Whether the answer contains an acknowledgement.
    pub acknowledged: bool,
    /// Ids of the applied patterns.
    pub patterns: Vec<String>,
    /// The acknowledgement, at most 200 characters, or that it is missing.
    pub evidence: String,
}

/// A line of `failures.log`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureEntry {
    /// Time in UTC.
    pub timestamp: String,
    /// Id of the driver's run.
    pub run_id: String,
    /// Iteration of the loop, from 1.
    pub iteration: u64,
    /// Type of the agent.
    pub agent: String,
    /// What is missing or false.
    pub reason: String,
}

/// Appends a line to `acknowledgments.log`. Performs blocking I/O.
///
/// # Errors
/// Fails on I/O errors, and when a component of the path is a symbolic link.
pub fn append_acknowledgement(work_dir: &Path, entry: &AcknowledgementEntry) -> io::Result<()> {
    append(work_dir, ACKNOWLEDGMENTS, std::slice::from_ref(entry))
}

/// Appends a line to `failures.log`. Performs blocking I/O.
///
/// # Errors
/// Fails on I/O errors, and when a component of the path is a symbolic link.
pub fn append_failure(work_dir: &Path, entry: &FailureEntry) -> io::Result<()> {
    append(work_dir, FAILURES, std::slice::from_ref(entry))
}

/// Appends lines to `outcomes.log`. Performs blocking I/O.
///
/// # Errors
/// Fails on I/O errors, and when a component of the path is a symbolic link.
pub fn append_outcomes(work_dir: &Path, outcomes: &[LearningOutcome]) -> io::Result<()> {
    append(work_dir, OUTCOMES, outcomes)
}

fn append(work_dir: &Path, name: &str, entries: &[impl Serialize]) -> io::Result<()> {
    let mut lines = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut lines, entry)?;
        lines.push(b'\n');
    }
    let mut log: File = untrusted::append(&work_dir.join(LEARNINGS_DIR).join(name))?;
    // One write per call, so that the lines of agents that stop at the same time do not mix.
    log.write_all(&lines)
}

/// `outcomes.log` in memory.
#[derive(Debug)]
pub struct OutcomeLog {
    path: PathBuf,
    lines: Vec<LogLine>,
}

#[derive(Debug)]
enum LogLine {
    Outcome(Box<LearningOutcome>),
    /// A line of a chat, or one that cannot be read.
    Other(String),
}

impl OutcomeLog {
    /// Reads the log of a work directory; a missing one is empty. Performs blocking I/O.
    ///
    /// # Errors
    /// Fails on any other I/O error.
    pub fn read(work_dir: &Path) -> io::Result<Self> {
        let path = work_dir.join(LEARNINGS_DIR).join(OUTCOMES);
        let bytes = match untrusted::read(&path, MAX_LOG_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let line = |line: &str| match serde_json::from_str(line) {
            Ok(outcome) => LogLine::Outcome(Box::new(outcome)),
            Err(_) => LogLine::Other(line.to_owned()),
        };
        let lines = String::from_utf8_lossy(&bytes).lines().map(line).collect();
        Ok(Self { path, lines })
    }

    /// Returns the outcomes of an iteration.
    pub fn of_iteration<'a>(
        &'a mut self,
        run_id: &'a str,
        iteration: u64,
    ) -> impl Iterator<Item = &'a mut LearningOutcome> {
        let outcomes = self.lines.iter_mut().filter_map(|line| match line {
            LogLine::Outcome(outcome) => Some(&mut **outcome),
            LogLine::Other(_) => None,
        });
        outcomes.filter(move |outcome| outcome.run_id == run_id && outcome.iteration == iteration)
    }

    /// Replaces the file. Performs blocking I/O.
    ///
    /// # Errors
    /// Fails on any I/O error.
    pub fn write(&self) -> io::Result<()> {
        let mut text = String::new();
        for line in &self.lines {
            match line {
                LogLine::Outcome(outcome) => text.push_str(&serde_json::to_string(outcome)?),
                LogLine::Other(line) => text.push_str(line),
            }
            text.push('\n');
        }
        untrusted::write(&self.path, text.as_bytes())
    }
}

impl LearningOutcome {
    /// Decides whether the citations are true. All of them have to be; without citations nothing is decided. `exists`
    /// returns whether a cited file exists.
    pub fn verify(&mut self, changed: &ChangedLines, exists: impl Fn(&str) -> bool) {
        if self.status == OutcomeStatus::Applied && !self.citations.is_empty() {
            let is_true = |citation: &Citation| exists(&citation.file) && changed.confirm(citation);
            self.verified = Some(self.citations.iter().all(is_true));
        }
    }

    /// Returns the outcome as a use of the pattern.
    #[must_use]
    pub fn to_use(&self) -> LearningUse {
        let effect = match self.verified {
            Some(true) => UseEffect::Verified,
            Some(false) => UseEffect::Unverified,
            None => UseEffect::Shown,
        };
        LearningUse {
            id: Some(self.pattern_id.clone()),
            summary: self.pattern.clone(),
            effect,
            key: format!("{}/{}/{}", self.run_id, self.iteration, self.agent_id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(pattern: &str, citations: &[(&str, u64)]) -> LearningOutcome {
        let citation = |(file, line): &(&str, u64)| Citation { file: (*file).to_owned(), line: *line };
        LearningOutcome {
            timestamp: "2030-01-01T00:00:00Z".to_owned(),
            run_id: "r".to_owned(),
            iteration: 1,
            agent: "code:plan-writer".to_owned(),
            agent_id: "a1".to_owned(),
            pattern_id: pattern.to_owned(),
            pattern: "Run the migrations, then | the tests".to_owned(),
            status: OutcomeStatus::Applied,
            citations: citations.iter().map(citation).collect(),
            verified: None,
            relevance: None,
            goal_score: None,
            build: None,
        }
    }

    // PR-34
    #[test]
    fn outcome_is_verified_when_all_its_citations_are_true() {
        let mut changed = ChangedLines::default();
        changed.add("src/a.rs", 10, 10);
        let verified = |citations: &[(&str, u64)], exists: bool| {
            let mut outcome = outcome("P-001", citations);
            outcome.verify(&changed, |_| exists);
            (outcome.verified, outcome.to_use().effect)
        };
        assert_eq!(verified(&[("src/a.rs", 15)], true), (Some(true), UseEffect::Verified));
        assert_eq!(verified(&[("src/a.rs", 16)], true), (Some(false), UseEffect::Unverified));
        assert_eq!(verified(&[("src/a.rs", 10), ("b.rs", 1)], true), (Some(false), UseEffect::Unverified));
        assert_eq!(verified(&[("src/a.rs", 10)], false), (Some(false), UseEffect::Unverified));
        assert_eq!(verified(&[], true), (None, UseEffect::Shown));
    }

    #[test]
    fn lines_of_chats_stay_and_outcomes_round_trip() {
        let dir = tempfile::tempdir().unwrap();
        let learning_use = LearningUse {
            id: None,
            summary: "a|b".to_owned(),
            effect: UseEffect::Verified,
            key: String::new(),
        };
        record_uses(dir.path(), "SHOP-7", &[learning_use], Timestamp::UNIX_EPOCH).unwrap();
        append_outcomes(dir.path(), &[outcome("P-001", &[("a.rs", 1)])]).unwrap();
        let mut log = OutcomeLog::read(dir.path()).unwrap();
        log.of_iteration("r", 1).for_each(|outcome| outcome.verified = Some(true));
        log.write().unwrap();
        let mut log = OutcomeLog::read(dir.path()).unwrap();
        let expected = LearningOutcome { verified: Some(true), ..outcome("P-001", &[("a.rs", 1)]) };
        assert_eq!(log.of_iteration("r", 1).map(|outcome| outcome.clone()).collect::<Vec<_>>(), [expected]);
        assert_eq!(log.of_iteration("r", 2).count(), 0);
        let text = std::fs::read_to_string(dir.path().join(".learnings/outcomes.log")).unwrap();
        assert!(text.contains("|chat-SHOP-7|0|interactive-chat|a/b|applied|\n"), "{text}");
    }
}
