//! Records of the loop: `runs.log`, the progress log, and the session id.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use loopgate_api::names::{SESSION_ID, STATE_DIR};
use loopgate_home::untrusted;

use super::display::Display;
use crate::clock::now;

/// Goal in `runs.log` when the work directory sets none.
const DEFAULT_GOAL: &str = "reduce-failures";

/// Activity that a line of `runs.log` reports.
#[derive(Debug, Clone, Copy)]
pub enum JournalActivity {
    /// An iteration of the loop.
    PlanExecute,
    /// A review or a fix after the loop.
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

/// Writer for the records of one run.
#[derive(Debug, Clone)]
pub struct Journal {
    workdir: PathBuf,
    progress: PathBuf,
    run_id: String,
    goal: String,
    display: Display,
}

impl Journal {
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

    /// Writes a line about the loop to standard output and to the progress log.
    pub fn progress(&self, message: &str) {
        self.display.line(message);
        self.log(message);
    }

    /// Announces the start of an iteration.
    pub fn iteration(&self, number: u64) {
        let message = format!("Iteration {number} of run {}", self.run_id);
        self.display.iteration(number, &message);
        self.log(&message);
    }

    fn log(&self, message: &str) {
        append(&self.progress, &format!("[{}] {message}\n", now()));
    }

    /// Appends an outcome to `runs.log`.
    pub fn outcome(&self, iteration: u64, status: &str, activity: JournalActivity, session: Option<&str>) {
        // The order of the fields is fixed: readers split the line at `|`, which `clean` removes from the
        // values.
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

    /// Saves the session id of the loop's last iteration.
    pub fn session(&self, id: &str) {
        // Best-effort: the file only lets a user resume the session by hand; the loop does not read it.
        let _ = untrusted::write(&self.workdir.join(SESSION_ID), id.as_bytes());
    }
}

/// Returns the run id of the last complete line of `runs.log`.
#[must_use]
pub fn last_run_id(workdir: &Path) -> Option<String> {
    let text = untrusted::read_text(&workdir.join("runs.log")).ok()?;
    // A killed driver may leave a truncated last line; four fields identify a complete one.
    let fields: Vec<&str> =
        text.lines().rev().find(|line| line.split('|').count() >= 4)?.split('|').collect();
    Some(fields[0].trim().to_owned()).filter(|id| !id.is_empty())
}

fn clean(text: &str) -> String {
    text.replace(['\r', '\n'], " ").replace('|', "_")
}

/// Appends a line, best-effort: a full disk also fails the writes of state and stream, which report it.
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
