//! Status of a ticket: its state file, corrected by its process and its output.
//!
//! The corrected status is only returned, never written.

use std::time::{Duration, SystemTime};

use loopgate_api::assistant_record::{AssistantRecord, RecordKind};
use loopgate_api::names::{LAUNCH_LOG, PROCESS_PID, PROCESS_START, STATE_JSON};
use loopgate_api::ticket::{FullStatus, StartingStatus, TicketStatus};
use loopgate_home::untrusted;
use loopgate_tools::process::{alive, identity};
use serde_json::{Map, Value};

use super::files::TicketFiles;
use super::last_lines::any_line;
use crate::transcript::stream_file;

/// Statuses that are final unless a process is running.
const TERMINAL: [&str; 6] = ["COMPLETED", "FAILED", "CANCELLED", "STOPPED", "UNKNOWN", "TIMED_OUT"];
/// Age up to which a state is trusted without further checks.
const FRESH: Duration = Duration::from_secs(120);
/// Lock file of a learnings run in progress.
const LEARNINGS_LOCK: &str = ".learnings/.lock";
const PROMISE: &str = "<promise>COMPLETE</promise>";
/// Texts of a launch log which indicate that the user has to review something.
const REVIEW_REQUIRED: [&str; 3] = ["AWAITING_USER", "Plan created", "requires review"];

/// The status to return instead of the one in the state file.
struct EffectiveStatus {
    status: String,
    phase: String,
    found_in_output: bool,
}

impl TicketFiles {
    /// Returns the status of the ticket.
    ///
    /// # Errors
    /// Fails with a description of what cannot be read.
    pub fn ticket_status(&self) -> Result<TicketStatus, String> {
        let Some(raw) = self.state()? else {
            return Ok(TicketStatus::Starting(StartingStatus {
                exists: true,
                state_exists: false,
                phase: "Initializing",
                status: "STARTING",
                message: "Orchestrator is starting up...",
                latest_loop: None,
            }));
        };
        let (pid, process_running) = self.process();
        let effective = self.effective(&raw, pid, process_running);
        let (plan_exists, progress) = self.plan_progress();
        let (task_progress, current_task_id) = progress.unzip();
        Ok(TicketStatus::Full(Box::new(FullStatus {
            exists: true,
            state_exists: true,
            phase: effective.phase,
            status: effective.status,
            timestamp: raw.get("timestamp").cloned(),
            raw,
            worktree_dir: self.worktree().to_string_lossy().into_owned(),
            fallback_detected: effective.found_in_output,
            plan_exists,
            task_progress,
            current_task_id: current_task_id.flatten(),
            active_agents: self.active_agents(),
            pid,
            process_running,
            latest_loop: None,
        })))
    }

    /// Returns the recorded pid and whether its process is alive. A reused pid does not count.
    fn process(&self) -> (Option<u32>, bool) {
        let read = |name: &str| self.text(name).ok().flatten();
        let pid = read(PROCESS_PID).and_then(|text| text.trim().parse::<u32>().ok());
        let started = read(PROCESS_START).and_then(|text| text.parse().ok());
        let running = pid.is_some_and(|pid| match started {
            Some(started) => alive(pid, started),
            None => identity(pid).is_some(),
        });
        (pid, running)
    }

    fn effective(&self, state: &Map<String, Value>, pid: Option<u32>, running: bool) -> EffectiveStatus {
        let text =
            |name: &str, default: &str| state.get(name).and_then(Value::as_str).unwrap_or(default).to_owned();
        let corrected = |status: &str, phase: &str, found_in_output: bool| EffectiveStatus {
            status: status.to_owned(),
            phase: phase.to_owned(),
            found_in_output,
        };
        let status = text("status", "UNKNOWN");
        // The state file is older than the running process.
        if running && TERMINAL.contains(&status.as_str()) {
            return corrected("IN_PROGRESS", "Running", false);
        }
        let reported = EffectiveStatus { status, phase: text("phase", "Unknown"), found_in_output: false };
        if reported.status != "IN_PROGRESS" {
            return reported;
        }
        // The process disappeared; its output shows whether it had finished.
        if pid.is_some() && !running {
            return match self.has_succeeded() {
                true => corrected("COMPLETED", "Completed", true),
                false => corrected("STOPPED", "Process stopped unexpectedly", false),
            };
        }
        // Learnings are extracted after the last change of the state, and a fresh state may still change.
        if untrusted::is_file(&self.work_dir().join(LEARNINGS_LOCK)) || self.state_is_fresh() {
            return reported;
        }
        match self.text(LAUNCH_LOG).ok().flatten() {
            Some(log) if !log.contains(PROMISE) => reported,
            Some(log) if REVIEW_REQUIRED.iter().any(|text| log.contains(text)) => {
                corrected("AWAITING_USER", "Completed (awaiting review)", true)
            }
            Some(_) => corrected("COMPLETED", "Completed", true),
            None => reported,
        }
    }

    /// Returns whether the assistant's output contains a successful result.
    fn has_succeeded(&self) -> bool {
        let stream = stream_file::resolve(&self.work_dir());
        let file = stream.and_then(|stream| self.open(&stream).ok().flatten());
        file.is_some_and(|file| any_line(&file, is_success).unwrap_or(false))
    }

    fn state_is_fresh(&self) -> bool {
        let modified =
            untrusted::metadata(&self.work_dir().join(STATE_JSON)).and_then(|state| state.modified());
        modified.is_ok_and(|at| SystemTime::now().duration_since(at).unwrap_or_default() <= FRESH)
    }
}

fn is_success(line: &str) -> bool {
    // Most lines do not match and need no parsing.
    line.contains("\"result\"")
        && serde_json::from_str::<AssistantRecord>(line)
            .is_ok_and(|record| matches!(record.kind, RecordKind::Result(result) if result.is_success()))
}
