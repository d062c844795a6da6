//! `state.json`: phase and status of the orchestrator, shown by the web pages and the desktop.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use loopgate_api::names::{STATE_JSON, WAITING_UNTIL};
use loopgate_home::untrusted;
use serde_json::{Map, Value, json};

use super::document::{PlanLock, tasks};
use super::paths::plan_path;
use super::{agreement, delivery_request, task_changes};
use crate::clock::now;
use crate::config_env::ConfigEnv;
use crate::perf::Perf;
use crate::variables as var;

/// Status of the orchestrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlanStatus {
    /// A phase is running
    InProgress,
    /// The user has to act
    AwaitingUser,
    /// All work is finished
    Completed,
}

impl PlanStatus {
    const fn name(self) -> &'static str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::AwaitingUser => "AWAITING_USER",
            Self::Completed => "COMPLETED",
        }
    }
}

/// Arguments of `plan set-state`.
#[derive(Debug, clap::Args)]
pub struct SetStateArgs {
    /// Phase, for example "Phase 1: Planning"
    phase: String,
    /// Status of the phase
    #[arg(value_enum)]
    status: PlanStatus,
    /// Work directory of the loop
    #[arg(long, env = "LOOPGATE_WORKDIR")]
    workdir: PathBuf,
    /// Current pending task, for example T-1.2
    #[arg(long)]
    task: Option<String>,
    /// Reason of the status
    #[arg(long)]
    reason: Option<String>,
    /// Requested action of the user; required with AWAITING_USER
    #[arg(long)]
    action: Option<String>,
    /// File that the user should read
    #[arg(long)]
    action_file: Option<String>,
    /// Command with which the user continues afterwards
    #[arg(long)]
    action_command: Option<String>,
}

impl SetStateArgs {
    /// Writes the state and its timing event. Returns the state as JSON, followed by the request for the texts of
    /// the delivery if an EXECUTE is complete.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn apply(&self) -> Result<String, String> {
        if self.status == PlanStatus::AwaitingUser && self.action.is_none() {
            return Err("Error: AWAITING_USER requires --action: what should the user do?".to_owned());
        }
        if let Some(id) = &self.task {
            // Before anything is recorded, because only a task of the plan has a start.
            task(&self.workdir, id)?;
            // Before the lock: the record of the start takes the same lock.
            task_changes::record_start(&self.workdir, id)?;
            agreement::record_pending(&self.workdir)?;
        }
        if self.status == PlanStatus::Completed {
            agreement::check(&self.workdir)?;
        }
        let _lock = PlanLock::take(&self.workdir)?;
        let state = self.state()?;
        let text = Value::Object(state.clone()).to_string();
        untrusted::write(&self.workdir.join(STATE_JSON), format!("{text}\n").as_bytes())
            .map_err(|error| format!("Error: cannot write the state: {error}"))?;
        record_phase(&self.workdir, &state);
        let request = (self.status == PlanStatus::Completed).then(delivery_request::of_environment).flatten();
        Ok(text + &request.map(|request| format!("\n{request}")).unwrap_or_default())
    }

    fn state(&self) -> Result<Map<String, Value>, String> {
        let mut state = Map::new();
        state.insert("phase".into(), self.phase.as_str().into());
        state.insert("status".into(), self.status.name().into());
        state.insert("timestamp".into(), now().into());
        if let Some(id) = &self.task {
            state.insert("task".into(), task(&self.workdir, id)?);
        }
        if let Some(reason) = &self.reason {
            state.insert("reason".into(), reason.as_str().into());
            // A reason explains why the loop stops, so the remaining tasks are listed next to it.
            state.insert("pendingTasks".into(), pending(&self.workdir).into());
        }
        if let Some(description) = &self.action {
            let command = self.action_command.as_deref().unwrap_or_default();
            let action = json!({"description": description, "file": self.action_file, "command": command});
            state.insert("userAction".into(), action);
        }
        if let Some(sha) = start_sha(&self.workdir) {
            state.insert("startSha".into(), sha.into());
        }
        Ok(state)
    }
}

/// Appends the timing event for the phase of a state. Returns `false` when the state has no phase.
pub fn record_phase(workdir: &Path, state: &Map<String, Value>) -> bool {
    let text = |name: &str| state.get(name).and_then(Value::as_str).unwrap_or_default();
    let phase = text("phase");
    if !phase.is_empty() {
        let iteration = var::text(var::ITERATION).and_then(|number| number.parse().ok()).unwrap_or(0);
        let sha = state.get("startSha").and_then(Value::as_str);
        Perf::of_environment(workdir).phase(iteration, phase, text("status"), text("timestamp"), sha);
    }
    !phase.is_empty()
}

/// Sets the status AWAITING_USER and keeps the current phase.
///
/// # Errors
/// Returns the line to print.
pub fn await_user(workdir: &Path, reason: &str, action: &str) -> Result<(), String> {
    let state: Option<Value> = untrusted::read_json(&workdir.join(STATE_JSON));
    let phase = state.as_ref().and_then(|state| state.get("phase")?.as_str()).unwrap_or("Loop").to_owned();
    let args = SetStateArgs {
        phase,
        status: PlanStatus::AwaitingUser,
        workdir: workdir.to_owned(),
        task: None,
        reason: Some(reason.to_owned()),
        action: Some(action.to_owned()),
        action_file: None,
        action_command: None,
    };
    args.apply().map(|_| ())
}

/// Sets or clears the end of the loop's wait. The other members of the state are preserved.
///
/// # Errors
/// Returns the line to print.
pub fn set_waiting_until(workdir: &Path, until: Option<&str>) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    let path = workdir.join(STATE_JSON);
    let mut state: Map<String, Value> = untrusted::read_json(&path).unwrap_or_default();
    match until {
        Some(until) => drop(state.insert(WAITING_UNTIL.into(), until.into())),
        // Leave the timestamp alone when nothing changes.
        None if state.remove(WAITING_UNTIL).is_none() => return Ok(()),
        None => {}
    }
    state.entry("phase").or_insert_with(|| "Loop".into());
    state.entry("status").or_insert_with(|| PlanStatus::InProgress.name().into());
    state.insert("timestamp".into(), now().into());
    untrusted::write(&path, format!("{}\n", Value::Object(state)).as_bytes())
        .map_err(|error| format!("Error: cannot write the state: {error}"))
}

fn start_sha(workdir: &Path) -> Option<String> {
    ConfigEnv::load(workdir).ok()?.get(var::START_SHA).map(str::to_owned)
}

/// Describes a task with its position among all tasks, starting at 1.
fn task(workdir: &Path, id: &str) -> Result<Value, String> {
    let plan = super::document::read(&plan_path(workdir))?;
    let (pending, done) = (tasks(&plan, "pendingTasks"), tasks(&plan, "completedTasks").len());
    // Completed tasks count before the pending ones, so that the position grows as the loop proceeds.
    let at = pending.iter().position(|task| task.get("id").and_then(Value::as_str) == Some(id));
    let at = at.ok_or_else(|| format!("Error: no pending task {id}"))?;
    let description = pending[at].get("description").cloned().unwrap_or_default();
    Ok(json!({"id": id, "description": description, "current": done + at + 1, "total": done + pending.len()}))
}

fn pending(workdir: &Path) -> Vec<String> {
    let plan = super::document::read(&plan_path(workdir)).unwrap_or_default();
    tasks(&plan, "pendingTasks")
        .iter()
        .filter_map(|task| task.get("id")?.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::build::from_markdown;
    use super::super::structure::tests::CONTENT;
    use super::*;

    fn args(workdir: &Path) -> SetStateArgs {
        SetStateArgs {
            phase: "Phase 3: Implementation".into(),
            status: PlanStatus::InProgress,
            workdir: workdir.to_owned(),
            task: Some("T-1.1".into()),
            reason: None,
            action: None,
            action_file: None,
            action_command: None,
        }
    }

    #[test]
    fn state_contains_the_task_and_its_position() {
        let dir = tempfile::tempdir().unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        args(dir.path()).apply().unwrap();
        let state: Value =
            serde_json::from_slice(&std::fs::read(dir.path().join(STATE_JSON)).unwrap()).unwrap();
        assert_eq!((&state["status"], &state["task"]["current"]), (&json!("IN_PROGRESS"), &json!(2)));
        assert_eq!(state["task"]["total"], 2);
        let perf = std::fs::read_to_string(dir.path().join("perf.jsonl")).unwrap();
        assert!(perf.contains("\"event\":\"phase\""));
    }

    #[test]
    fn awaiting_user_requires_an_action() {
        let dir = tempfile::tempdir().unwrap();
        let mut args = args(dir.path());
        (args.status, args.task) = (PlanStatus::AwaitingUser, None);
        assert!(args.apply().unwrap_err().contains("--action"));
        args.action = Some("Answer the questions".into());
        args.action_file = Some("plan.md".into());
        let state: Value = serde_json::from_str(&args.apply().unwrap()).unwrap();
        assert_eq!(
            state["userAction"],
            json!({"description": "Answer the questions", "file": "plan.md", "command": ""})
        );
    }
}
