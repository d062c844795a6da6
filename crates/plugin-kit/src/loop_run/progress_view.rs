//! Progress of a loop for a user: permanent lines for what started and finished, and on a terminal one status
//! line for the current activity.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use loopgate_api::assistant_record::{AssistantMessage, AssistantRecord, RecordKind, ToolUse};
use loopgate_api::ledger::Ledger;
use loopgate_api::names::STATE_JSON;
use loopgate_api::terminal_text::escape_control;
use loopgate_api::usd::Usd;
use loopgate_home::untrusted;
use serde_json::Value;

use super::summary::FinalSummary;
use crate::formatter::tool;
use crate::plan;

/// Redraw interval of the status line.
const REDRAW: Duration = Duration::from_millis(200);
/// Lines shown of a failed run's standard error.
const ERROR_LINES: usize = 5;
/// Separator between the parts of the status line.
const SEPARATOR: &str = " · ";

/// Limits of a loop, and the amount it has spent before.
#[derive(Debug, Clone, Copy)]
pub struct ProgressLimits {
    /// Iteration limit; 0 = no limit.
    pub max_iterations: u64,
    /// Spending limit; 0 = no limit.
    pub max_spend: Usd,
    /// Amount spent before this driver process started.
    pub spent: Usd,
}

/// Progress printer, fed with the assistant's records and the files of the work directory.
pub struct ProgressView {
    bar: Option<ProgressBar>,
    workdir: PathBuf,
    limits: ProgressLimits,
    start: Instant,
    iteration: u64,
    phase: String,
    task: Option<CurrentTask>,
    /// Current activity of a subagent or a tool.
    activity: String,
    /// Running subagents: the id of the tool call that started each, and its name.
    subagents: Vec<(String, String)>,
    done: BTreeSet<String>,
    blocked: BTreeSet<String>,
    ledger: Ledger,
    failure: Option<String>,
}

/// Current task, as stored in `state.json`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
struct CurrentTask {
    id: String,
    description: String,
    current: u64,
    total: u64,
}

impl ProgressView {
    /// Creates a view, with a status line if `live`.
    #[must_use]
    pub fn new(live: bool, workdir: PathBuf, limits: ProgressLimits) -> Self {
        Self {
            // indicatif hides the bar when standard output is no terminal; then print plain lines.
            bar: live.then(status_line).filter(|bar| !bar.is_hidden()),
            workdir,
            limits,
            start: Instant::now(),
            iteration: 0,
            phase: String::new(),
            task: None,
            activity: String::new(),
            subagents: Vec::new(),
            done: BTreeSet::new(),
            blocked: BTreeSet::new(),
            ledger: Ledger::default(),
            failure: None,
        }
    }

    /// Prints the description of the loop. Tasks that are done already are not announced later.
    pub fn begin(&mut self, description: &[String]) {
        self.read_tasks(&mut Vec::new());
        description.iter().for_each(|line| self.print(line));
    }

    pub fn iteration(&mut self, number: u64) {
        self.iteration = number;
        (self.phase, self.task) = (String::new(), None);
        self.print("");
        self.print(&self.iteration_name());
        self.redraw();
    }

    /// Prints a line about the loop.
    pub fn note(&mut self, text: &str) {
        self.print(&format!("  {text}"));
    }

    /// Processes a record of the assistant's stream.
    pub fn record(&mut self, record: &AssistantRecord) {
        self.ledger.feed(record);
        match &record.kind {
            RecordKind::Assistant(message) => {
                message.content.tool_calls().for_each(|call| self.tool_call(message, call));
            }
            RecordKind::User(content) => {
                for result in content.tool_results() {
                    self.subagents.retain(|(id, _)| *id != result.call);
                }
                // A tool result is the moment at which a tool may have changed the files of the work
                // directory.
                self.read_files();
            }
            _ => return,
        }
        self.redraw();
    }

    /// Resets the activity after a run of the assistant.
    pub fn end_run(&mut self) {
        self.subagents.clear();
        self.activity.clear();
        self.read_files();
        self.redraw();
    }

    /// Prints the first lines of a failed run's standard error.
    pub fn standard_error(&mut self, text: &str) {
        for line in text.lines().filter(|line| !line.trim().is_empty()).take(ERROR_LINES) {
            self.print(&format!("  assistant: {line}"));
        }
    }

    /// Stores the reason of a failure for the final summary.
    pub fn failure(&mut self, message: &str) {
        self.failure = Some(message.to_owned());
    }

    /// Removes the status line and prints the final summary.
    pub fn end(&mut self, summary: &FinalSummary) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        for line in summary.lines(self.failure.as_deref(), self.start.elapsed()) {
            self.print(&line);
        }
    }

    fn tool_call(&mut self, message: &AssistantMessage, call: &ToolUse) {
        // Older versions of the assistant call the tool `Task`.
        if matches!(call.name.as_str(), "Agent" | "Task") {
            let agent = call.argument("subagent_type").rsplit(':').next().unwrap_or_default().to_owned();
            self.print(&format!("    {agent}: {}", call.argument("description")));
            self.activity.clone_from(&agent);
            self.subagents.push((call.id.clone(), agent));
            return;
        }
        let parent = message.parent_tool_call.as_deref().unwrap_or_default();
        let agent = self.subagents.iter().find(|(id, _)| id == parent).map(|(_, agent)| agent.as_str());
        self.activity = match agent {
            Some(agent) => format!("{agent}: {}", tool(call)),
            None => tool(call),
        };
    }

    /// Reads phase and task from `state.json` and the tasks from `plan.json`, and prints the changes.
    fn read_files(&mut self) {
        let mut lines = Vec::new();
        self.read_tasks(&mut lines);
        let state: Value = untrusted::read_json(&self.workdir.join(STATE_JSON)).unwrap_or_default();
        let phase = text(&state, "phase");
        if !phase.is_empty() && phase != self.phase {
            phase.clone_into(&mut self.phase);
            lines.push(format!("  {phase}"));
        }
        let task: Option<CurrentTask> =
            state.get("task").and_then(|task| serde_json::from_value(task.clone()).ok());
        if let Some(task) = &task
            && self.task.as_ref() != Some(task)
        {
            lines.push(format!(
                "    Task {} of {}, {}: {}",
                task.current, task.total, task.id, task.description
            ));
        }
        self.task = task;
        lines.iter().for_each(|line| self.print(line));
    }

    fn read_tasks(&mut self, lines: &mut Vec<String>) {
        let Some(plan) = plan::read(&self.workdir) else { return };
        let tasks = |list: &str| plan.get(list).and_then(Value::as_array).into_iter().flatten();
        for task in tasks("completedTasks") {
            let id = text(task, "id");
            if self.done.insert(id.to_owned()) {
                lines.push(format!("    {id} is done"));
            }
        }
        let mut blocked = BTreeSet::new();
        for task in tasks("blockedTasks") {
            let id = text(task, "id");
            blocked.insert(id.to_owned());
            if !self.blocked.contains(id) {
                lines.push(format!("    {id} is blocked: {}", text(task, "reason")));
            }
        }
        self.blocked = blocked;
    }

    fn redraw(&self) {
        let Some(bar) = &self.bar else { return };
        let task = self.task.as_ref().map(|task| format!("task {}/{}", task.current, task.total));
        let iteration = match self.limits.max_iterations {
            0 => format!("iteration {}", self.iteration),
            max => format!("iteration {}/{max}", self.iteration),
        };
        let phase = self.phase.split_once(": ").map_or(self.phase.as_str(), |(_, name)| name);
        let parts =
            [Some(self.cost()), Some(iteration), Some(phase.to_owned()), task, Some(self.activity.clone())];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        bar.set_message(escape_control(&parts.join(SEPARATOR)));
    }

    fn iteration_name(&self) -> String {
        match (self.iteration, self.limits.max_iterations) {
            (number, 0) => format!("Iteration {number}"),
            (number, max) => format!("Iteration {number} of {max}"),
        }
    }

    fn cost(&self) -> String {
        let mut spent = self.limits.spent;
        spent += Usd::try_from(self.ledger.estimated_usd()).unwrap_or_default();
        match self.limits.max_spend {
            limit if limit.is_zero() => format!("${spent:.2}"),
            limit => format!("${spent:.2} of ${limit:.2}"),
        }
    }

    /// Prints a permanent line above the status line. Write errors are ignored: the loop does not need a
    /// reader.
    fn print(&self, line: &str) {
        // Task descriptions and file names come from the repository and may contain terminal escape
        // sequences.
        let line = escape_control(line.trim_end());
        match &self.bar {
            // indicatif prints nothing for an empty line.
            Some(bar) => bar.println(if line.is_empty() { " ".to_owned() } else { line }),
            None => drop(writeln!(io::stdout(), "{line}")),
        }
    }
}

fn status_line() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(REDRAW);
    bar
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
