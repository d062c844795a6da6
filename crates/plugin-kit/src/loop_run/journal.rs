//! The loop's own records: `runs.log`, the progress log, and the session id.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use loopgate_api::names::{SESSION_ID, STATE_DIR};
use loopgate_home::untrusted;

use super::display::Display;
use crate::clock::now;

/// Goal named in `runs.log` when none is set.
const DEFAULT_GOAL: &str = "reduce-failures";

/// What a line of `runs.log` is about.
#[derive(Debug, Clone, Copy)]
pub enum JournalActivity {
    /// An iteration of the loop.
    PlanExecute,
    /// A review or a fix after it.
    CodeReview,
}

impl JournalActivity {
    const fn name(self) -> &'static str {
        match self {
            Self::PlanExecute => "plan_execute",
            Self::CodeReview => "code_review",
        }
    }
}

/// Writes the records of one run.
#[derive(Debug, Clone)]
pub struct Journal {
    workdir: PathBuf,
    progress: PathBuf,
    run_id: String,
    goal: String,
    display: Display,
}

impl Journal {
    /// For a run in a project.
    #[must_use]
    pub fn new(
        project_root: &Path,
        workdir: &Path,
        run_id: &str,
        goal: Option<&str>,
        display: Display,
    ) -> Self {
        Self {
            display,
            workdir: workdir.to_owned(),
            progress: project_root.join(STATE_DIR).join("loopgate-progress.log"),
            run_id: run_id.to_owned(),
            goal: goal.unwrap_or(DEFAULT_GOAL).to_owned(),
        }
    }

    /// A line about the loop: on standard output and in the progress log.
    pub fn progress(&self, message: &str) {
        self.display.line(message);
        self.log(message);
    }

    /// The beginning of an iteration.
    pub fn iteration(&self, number: u64) {
        let message = format!("Iteration {number} of run {}", self.run_id);
        self.display.iteration(number, &message);
        self.log(&message);
    }

    fn log(&self, message: &str) {
        append(&self.progress, &format!("[{}] {message}\n", now()));
    }

    /// An outcome in `runs.log`.
    pub fn outcome(&self, iteration: u64, status: &str, activity: JournalActivity, session: Option<&str>) {
        let fields = [
            self.run_id.clone(),
            now(),
            clean(&self.goal),
            iteration.to_string(),
            status.to_owned(),
            activity.name().to_owned(),
            clean(session.unwrap_or_default()),
        ];
        append(&self.workdir.join("runs.log"), &format!("{}\n", fields.join("|")));
    }

    /// The session that the loop's own work happened in.
    pub fn session(&self, id: &str) {
        // Only a way for people to resume by hand; the loop does not need it.
        let _ = untrusted::write(&self.workdir.join(SESSION_ID), id.as_bytes());
    }
}

/// First field of the last line of `runs.log`.
#[must_use]
pub fn last_run_id(workdir: &Path) -> Option<String> {
    let text = untrusted::read_text(&workdir.join("runs.log")).ok()?;
    let fields: Vec<&str> =
        text.lines().rev().find(|line| line.split('|').count() >= 4)?.split('|').collect();
    Some(fields[0].trim().to_owned()).filter(|id| !id.is_empty())
}

fn clean(text: &str) -> String {
    text.replace(['\r', '\n'], " ").replace('|', "_")
}

/// Records are best effort: a full disk shows itself where it matters.
fn append(path: &Path, line: &str) {
    let _ = untrusted::append(path).and_then(|mut file| file.write_all(line.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formatter::Formatter;

    #[test]
    fn outcomes_have_seven_fields_and_name_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(
            dir.path(),
            dir.path(),
            "run-1",
            None,
            Display::stream_to(Box::new(std::io::sink()), Formatter::default()),
        );
        journal.outcome(3, "completed", JournalActivity::PlanExecute, Some("a|b\nc"));
        let text = std::fs::read_to_string(dir.path().join("runs.log")).unwrap();
        let fields: Vec<&str> = text.trim_end().split('|').collect();
        assert_eq!(fields.len(), 7);
        assert_eq!((fields[2], fields[3], fields[4]), ("reduce-failures", "3", "completed"));
        assert_eq!((fields[5], fields[6]), ("plan_execute", "a_b c"));
        assert_eq!(last_run_id(dir.path()).as_deref(), Some("run-1"));
    }
}
