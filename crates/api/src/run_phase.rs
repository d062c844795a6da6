//! Determines from the records of the assistant when its run is over.
//!
//! A `result` record ends a turn, not the run: when a command in the background ends, the assistant starts another
//! turn. It does not exit while such a command or a scheduled wake-up is pending, which may take forever.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::assistant_record::{AssistantRecord, RecordKind, SystemEvent};

/// Time for the program to exit after its last result. It runs the user's hooks for the end of a session, and can
/// print several results in a row.
const EXIT_TIME: Duration = Duration::from_secs(10);
/// Time for commands in the background to end, the assistant's own limit of a command in the foreground.
const TASK_TIME: Duration = Duration::from_mins(10);

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunPhase {
    /// The model works.
    #[default]
    Working,
    /// The last turn has ended, but tasks run that start another turn when they end.
    WaitingForTasks,
    /// The last turn has ended, and no task runs.
    Over,
}

impl RunPhase {
    /// Returns how long the program may be silent in this phase; `None` if there is no limit. Silence for a longer
    /// time ends the run.
    #[must_use]
    pub const fn silence_limit(self) -> Option<Duration> {
        match self {
            Self::Working => None,
            Self::WaitingForTasks => Some(TASK_TIME),
            Self::Over => Some(EXIT_TIME),
        }
    }
}

/// Follows a run through its records.
#[derive(Debug, Clone, Default)]
pub struct RunTracker {
    has_ended_turn: bool,
    /// Ids of the tasks that run.
    tasks: BTreeSet<String>,
}

impl RunTracker {
    /// Processes one record.
    pub fn feed(&mut self, record: &AssistantRecord) {
        match &record.kind {
            RecordKind::Result(_) => self.has_ended_turn = true,
            RecordKind::Assistant(_) | RecordKind::TextDelta(_) => self.has_ended_turn = false,
            RecordKind::System(system) => match &system.event {
                SystemEvent::Init { .. } => self.has_ended_turn = false,
                SystemEvent::TaskStarted { id, .. } => drop(self.tasks.insert(id.clone())),
                SystemEvent::TaskEnded(id) => drop(self.tasks.remove(id)),
                // The complete list corrects what was missed.
                SystemEvent::BackgroundTasks(ids) => self.tasks = ids.iter().cloned().collect(),
                _ => {}
            },
            _ => {}
        }
    }

    /// Returns the phase after the last record.
    #[must_use]
    pub fn phase(&self) -> RunPhase {
        match (self.has_ended_turn, self.tasks.is_empty()) {
            (false, _) => RunPhase::Working,
            (true, false) => RunPhase::WaitingForTasks,
            (true, true) => RunPhase::Over,
        }
    }
}

#[cfg(test)]
mod tests {
    use RunPhase::{Over, WaitingForTasks, Working};

    use super::*;

    /// Returns the phases of a recorded run, in order.
    fn phases(stream: &str) -> Vec<RunPhase> {
        let mut tracker = RunTracker::default();
        let mut phases: Vec<RunPhase> = stream
            .lines()
            .map(|line| {
                tracker.feed(&serde_json::from_str(line).unwrap());
                tracker.phase()
            })
            .collect();
        phases.dedup();
        phases
    }

    // Recorded output of the real program, of versions 2.1.332 and 2.1.197.
    #[test]
    fn recorded_runs_are_over_at_their_end_only() {
        // Both results of this run are printed after its agent has ended.
        assert_eq!(phases(include_str!("recorded/agents-in-background.jsonl")), [Working, Over]);
        // The command ends, and the model continues.
        assert_eq!(
            phases(include_str!("recorded/command-in-background.jsonl")),
            [Working, WaitingForTasks, Over, Working, Over]
        );
        // The program was killed: it does not exit before the wake-up.
        assert_eq!(phases(include_str!("recorded/scheduled-wake-up.jsonl")), [Working, Over]);
        assert_eq!(phases(include_str!("recorded/failed-request.jsonl")), [Working, Over]);
        // The older version ends the command itself, after its last result.
        let ended = phases(include_str!("recorded/command-ended-at-exit.jsonl"));
        assert_eq!(ended, [Working, WaitingForTasks, Over]);
    }

    #[test]
    fn complete_list_of_tasks_corrects_a_missed_end() {
        let mut lines = include_str!("recorded/command-in-background.jsonl").lines().collect::<Vec<_>>();
        // Cut after the first result; then the task ends without a record of its own.
        lines.truncate(7);
        assert_eq!(phases(&lines.join("\n")).last(), Some(&WaitingForTasks));
        lines.push(r#"{"type":"system","subtype":"background_tasks_changed","tasks":[]}"#);
        assert_eq!(phases(&lines.join("\n")).last(), Some(&Over));
    }

    #[test]
    fn only_a_run_that_works_may_be_silent_for_any_time() {
        assert_eq!(Working.silence_limit(), None);
        assert!(Over.silence_limit() < WaitingForTasks.silence_limit());
    }
}
