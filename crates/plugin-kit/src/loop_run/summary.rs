//! Final summary of a loop for a user: the result, where to find it, and the next steps.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::names::{PLAN_MD, STATE_JSON};
use loopgate_api::usd::Usd;
use loopgate_home::untrusted;
use serde_json::Value;

use super::loop_end::LoopEnd;
use super::state_file::LoopState;
use crate::plan;
use crate::quoting::quote;

/// Open tasks listed by id.
const LISTED_TASKS: usize = 5;

/// Data of the final summary.
#[derive(Debug)]
pub struct FinalSummary {
    /// Outcome of the loop.
    pub end: LoopEnd,
    /// State of the loop at its end.
    pub state: LoopState,
    /// Branch that is checked out in the project.
    pub branch: Option<String>,
    /// Number of files that are new or differ from the start commit; `None` when git fails.
    pub changed_files: Option<u64>,
    /// Root directory of the project.
    pub project_root: PathBuf,
}

impl FinalSummary {
    /// Returns the lines to print. `failure` is the reason of a failed loop.
    #[must_use]
    pub fn lines(&self, failure: Option<&str>, elapsed: Duration) -> Vec<String> {
        let plan = Plan::read(&self.state.workdir);
        let mut lines = vec![String::new()];
        lines.extend(self.heading(&plan, failure).lines().map(str::to_owned));
        lines.push(String::new());
        lines.extend(self.facts(&plan, elapsed).into_iter().map(|(name, text)| fact(name, &text)));
        lines.push(String::new());
        lines.push("What to do next:".to_owned());
        lines.extend(self.next_steps(&plan).into_iter().map(|step| format!("  - {step}")));
        lines
    }

    fn heading(&self, plan: &Plan, failure: Option<&str>) -> String {
        match self.end {
            LoopEnd::Completed if plan.done > 0 && plan.open.is_empty() => {
                "Done: every task is implemented.".to_owned()
            }
            LoopEnd::Completed => "Done.".to_owned(),
            LoopEnd::Waiting => format!("The loop waits for you: {}", self.question()),
            LoopEnd::Interrupted => "The loop was interrupted and can be resumed.".to_owned(),
            LoopEnd::MaxIterations | LoopEnd::SpendingLimit | LoopEnd::Failed => {
                format!("Not finished: {}", failure.unwrap_or("the loop failed"))
            }
        }
    }

    fn question(&self) -> String {
        let state: Value = untrusted::read_json(&self.state.workdir.join(STATE_JSON)).unwrap_or_default();
        let action = state.pointer("/userAction/description").and_then(Value::as_str);
        action.unwrap_or("see state.json in the work directory").to_owned()
    }

    fn facts(&self, plan: &Plan, elapsed: Duration) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        if plan.exists {
            facts.push(("Tasks", plan.tasks()));
            facts.push(("Plan", self.shown(&self.state.workdir.join(PLAN_MD))));
        }
        if let Some(count) = self.changed_files {
            let branch = self.branch.as_deref().unwrap_or("HEAD");
            facts.push((
                "Changes",
                format!("{}, on branch {branch}, not committed by the loop", counted(count, "file")),
            ));
        }
        facts.push(("Work dir", self.shown(&self.state.workdir)));
        let iterations = counted(self.state.iteration, "iteration");
        let limit = match self.state.max_spend {
            limit if limit == Usd::default() => String::new(),
            limit => format!(" of ${limit:.2}"),
        };
        facts.push(("Used", format!("{iterations}, {}, ${:.2}{limit}", duration(elapsed), self.state.spent)));
        facts
    }

    fn next_steps(&self, plan: &Plan) -> Vec<String> {
        let again = self.command("");
        let plan_file = self.shown(&self.state.workdir.join(PLAN_MD));
        let answer_file = self.shown(&self.state.workdir.join("prompt.md"));
        match self.end {
            LoopEnd::Completed => match self.changed_files {
                Some(0) | None => {
                    vec![format!("Read the loop's results in {}.", self.shown(&self.state.workdir))]
                }
                Some(_) => {
                    vec!["Look at the changes with git diff and git status, and commit them.".to_owned()]
                }
            },
            LoopEnd::Waiting if plan.questions > 0 => vec![
                format!("Read {plan_file} and answer its {}.", counted(plan.questions, "open question")),
                format!("Then run: {again}"),
            ],
            LoopEnd::Waiting if plan.done == 0 && plan.blocked == 0 => vec![
                format!("Read {plan_file}; change what should be different."),
                format!("Then run: {again}"),
            ],
            LoopEnd::Waiting => {
                vec![format!("Write your answer into {answer_file}."), format!("Then run: {again}")]
            }
            LoopEnd::MaxIterations => {
                vec![format!(
                    "Continue with: {}",
                    self.command(&format!(" --max-iterations {}", 2 * self.state.max_iterations))
                )]
            }
            LoopEnd::SpendingLimit => {
                vec![format!(
                    "Continue with a budget of the same size: {}",
                    self.command(&format!(" --max-spend-usd {:.2}", self.state.max_spend))
                )]
            }
            LoopEnd::Interrupted => vec!["Resume with: loopgate loop run".to_owned()],
            LoopEnd::Failed => vec![
                format!(
                    "Look at the last lines of the assistant's output in {}.",
                    self.shown(&self.state.workdir)
                ),
                format!("Then run again: {again}"),
            ],
        }
    }

    /// Builds the command line that starts the next loop on the work directory.
    fn command(&self, options: &str) -> String {
        let prd = match self.state.prd_file.as_str() {
            "" => String::new(),
            prd => format!(" --prd {}", word(prd)),
        };
        format!("loopgate loop run {}{prd}{options}", word(&self.shown(&self.state.workdir)))
    }

    /// Shortens a path of the project; see [`shown`].
    fn shown(&self, path: &Path) -> String {
        shown(&self.project_root, path)
    }
}

/// Counts from the plan of a work directory.
#[derive(Debug, Default)]
struct Plan {
    exists: bool,
    done: usize,
    open: Vec<String>,
    blocked: usize,
    questions: u64,
}

impl Plan {
    fn read(workdir: &Path) -> Self {
        let Some(plan) = plan::read(workdir) else {
            return Self::default();
        };
        let list =
            |name: &str| plan.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let id = |task: &Value| task.get("id").and_then(Value::as_str).unwrap_or("?").to_owned();
        Self {
            exists: true,
            done: list("completedTasks").len(),
            open: list("pendingTasks").iter().map(id).collect(),
            blocked: list("blockedTasks").len(),
            questions: list("openQuestions").len() as u64,
        }
    }

    fn tasks(&self) -> String {
        let mut text = format!("{} of {} done", self.done, self.done + self.open.len());
        if self.blocked > 0 {
            text.push_str(&format!(", {} blocked", self.blocked));
        }
        if !self.open.is_empty() {
            let listed = self.open.iter().take(LISTED_TASKS).cloned().collect::<Vec<_>>().join(", ");
            let more = if self.open.len() > LISTED_TASKS { ", …" } else { "" };
            text.push_str(&format!("; open: {listed}{more}"));
        }
        text
    }
}

/// Formats a line with a label and a value.
pub fn fact(name: &str, text: &str) -> String {
    format!("  {name:<10} {text}")
}

/// Formats a path, relative to the project if it is inside.
pub fn shown(project_root: &Path, path: &Path) -> String {
    path.strip_prefix(project_root).unwrap_or(path).display().to_string()
}

/// Formats a number with its noun in singular or plural.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Quotes an argument for a shell if necessary.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { quote(text) }
}
