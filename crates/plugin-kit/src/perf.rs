//! `perf.jsonl`: timing events of the driver and the hooks, one compact JSON object per line.
//!
//! Best-effort: an event that cannot be written is dropped and never disturbs the loop.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use loopgate_api::names::PERF_JSONL;
use loopgate_home::untrusted;
use serde_json::{Map, Value, json};

use crate::clock::{Span, now};
use crate::variables as var;

/// Writer for the events of one run.
#[derive(Debug, Clone)]
pub struct Perf {
    path: PathBuf,
    run_id: String,
    /// `Some` enables the newer format.
    command: Option<String>,
}

impl Perf {
    /// Creates a writer for a work directory and a run. `v2` enables `run` events and the member `command`.
    #[must_use]
    pub fn new(workdir: &Path, run_id: &str, command: &str, v2: bool) -> Self {
        let run_id = if run_id.is_empty() { "unknown" } else { run_id };
        Self {
            path: workdir.join(PERF_JSONL),
            run_id: run_id.to_owned(),
            command: v2.then(|| command.to_owned()),
        }
    }

    /// Creates a writer for the run in the environment of this process.
    #[must_use]
    pub fn of_environment(workdir: &Path) -> Self {
        let command = var::text(var::COMMAND).unwrap_or_else(|| "interactive".to_owned());
        let v2 = var::text(var::PERF_V2).as_deref() == Some("1");
        Self::new(workdir, &var::text(var::RUN_ID).unwrap_or_default(), &command, v2)
    }

    /// Writes the event of a run's start, in the newer format only.
    pub fn run(&self, repo: &str, branch: &str) {
        if self.command.is_some() {
            self.write("run", json!({"started_at": now(), "repo": repo, "branch": branch}));
        }
    }

    /// Returns whether `run` events are enabled.
    #[must_use]
    pub const fn wants_run(&self) -> bool {
        self.command.is_some()
    }

    /// Writes the event of a finished iteration.
    pub fn iteration(&self, iteration: u64, span: &Span, status: &str, exit_code: Option<i32>) {
        let mut event = timed(span);
        event.insert("iteration".into(), iteration.into());
        event.insert("status".into(), status.into());
        if let Some(code) = exit_code {
            event.insert("assistant_exit_code".into(), code.into());
        }
        self.write("iteration", event.into());
    }

    /// Writes the event of a pipeline step. A skipped step has exit code 0 and no duration.
    pub fn step(&self, iteration: u64, step: &Value, name: &str, span: &Span, exit_code: i32, skipped: bool) {
        let mut event = Map::new();
        event.insert("iteration".into(), iteration.into());
        event.insert("step".into(), step.clone());
        event.insert("step_name".into(), name.into());
        event.extend(timed(span));
        event.insert("exit_code".into(), exit_code.into());
        event.insert("skipped".into(), skipped.into());
        self.write("pipeline_step", event.into());
    }

    /// Writes the event of a phase's start.
    pub fn phase(
        &self,
        iteration: u64,
        phase: &str,
        status: &str,
        started_at: &str,
        start_sha: Option<&str>,
    ) {
        let mut event =
            json!({"iteration": iteration, "phase": phase, "status": status, "started_at": started_at});
        if let (Some(sha), Some(event)) = (start_sha, event.as_object_mut()) {
            event.insert("start_sha".into(), sha.into());
        }
        self.write("phase", event);
    }

    /// Writes the event of a finished subagent.
    pub fn agent(&self, members: Value) {
        self.write("agent", members);
    }

    /// Writes the event of a review after the loop.
    pub fn review(&self, verdict: &str, cycle: u32, span: &Span, exit_code: i32) {
        let seconds = span.elapsed().as_secs();
        let event =
            json!({"verdict": verdict, "cycle": cycle, "duration_s": seconds, "exit_code": exit_code});
        self.write("post_loop_review", event);
    }

    /// Writes the event of a fix after a review.
    pub fn fix(&self, cycle: u32, span: &Span, exit_code: i32) {
        let event = json!({"cycle": cycle, "duration_s": span.elapsed().as_secs(), "exit_code": exit_code});
        self.write("post_loop_fix", event);
    }

    fn write(&self, event: &str, members: Value) {
        let mut line = json!({"event": event, "run_id": self.run_id});
        if let (Some(line), Value::Object(members)) = (line.as_object_mut(), members) {
            line.extend(members);
            if let Some(command) = &self.command {
                line.insert("command".into(), command.as_str().into());
            }
        }
        let file = untrusted::append(&self.path);
        // One write per line on a file opened for appending, so that lines of concurrent hooks do not
        // interleave.
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}

fn timed(span: &Span) -> Map<String, Value> {
    let mut event = Map::new();
    event.insert("started_at".into(), span.started_at.as_str().into());
    event.insert("ended_at".into(), now().into());
    event.insert("duration_s".into(), span.elapsed().as_secs().into());
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(v2: bool) -> Vec<Value> {
        let dir = tempfile::tempdir().unwrap();
        let perf = Perf::new(dir.path(), "", "PLAN", v2);
        perf.run("https://example.org/x", "main");
        perf.iteration(1, &Span::start(), "ok", Some(0));
        perf.step(1, &json!(8.5), "write_merged_patterns", &Span::start(), 0, true);
        let text = std::fs::read_to_string(dir.path().join(PERF_JSONL)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    // PL-33
    #[test]
    fn newer_format_is_opt_in() {
        let old = events(false);
        assert_eq!(old.len(), 2);
        assert!(old.iter().all(|event| event.get("command").is_none() && event["run_id"] == "unknown"));
        let new = events(true);
        assert_eq!((new.len(), new[0]["event"].as_str()), (3, Some("run")));
        assert!(new.iter().all(|event| event["command"] == "PLAN"));
        assert_eq!(new[2]["step"], 8.5);
    }
}
