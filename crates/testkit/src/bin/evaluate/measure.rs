//! One task: its plan, its implementation, and what is to be seen in the repository afterwards.

use std::path::Path;

use anyhow::Context as _;
use loopgate_api::ledger::Ledger;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::{command, git};
use crate::task::Task;

/// Where the loop has its files.
const WORK_DIR: &str = ".loopgate/work";

/// How loops are run.
pub struct LoopOptions<'a> {
    /// The loopgate binary.
    pub binary: &'a Path,
    /// The plugin with the prompts.
    pub plugin: &'a Path,
    /// The assistant.
    pub assistant: &'a str,
    /// Limit of a loop.
    pub max_spend_usd: &'a str,
    /// Limit of a loop.
    pub max_iterations: u32,
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// The loop says that the plan is done.
    pub completed: bool,
    /// The check that the assistant did not see passes.
    pub fulfilled: bool,
    /// The tests of the repository pass, those that were added included.
    pub tests_pass: bool,
    /// The tests that were there before fail with the change: they were changed to pass, or they fail.
    pub tests_weakened: bool,
    /// Changed files that have nothing to do with the task.
    pub drift: Vec<String>,
    /// Runs of the assistant, plan and implementation together.
    pub iterations: usize,
    /// What both cost.
    pub cost_usd: f64,
}

/// Plans and implements a task in a repository of its own.
///
/// # Errors
/// When a program cannot be started or a file cannot be read. What the assistant does wrong is no error.
pub fn task(task: &Task, options: &LoopOptions<'_>) -> anyhow::Result<Figures> {
    let dir = tempfile::Builder::new().prefix("loopgate-evaluation-").tempdir()?;
    let root = task.repository.create(dir.path())?;
    let work = root.join(WORK_DIR);
    std::fs::create_dir_all(&work)?;
    std::fs::write(work.join("prd.md"), format!("{}\n", task.wish))?;
    let planned = run_loop("PLAN", &root, options)?;
    let completed = planned && run_loop("EXECUTE", &root, options)? && state(&work) == "COMPLETED";

    let changed = changed_files(&root)?;
    let fulfilled = task.check.passes(&root)?;
    let tests_pass = task.repository.tests_pass(&root)?;
    let (iterations, cost_usd) = (iterations(&work), cost(&work)?);
    task.repository.restore_tests(&root)?;
    let tests_weakened = tests_pass && !task.repository.tests_pass(&root)?;
    let drift = changed.into_iter().filter(|path| !task.covers(path)).collect();
    Ok(Figures { completed, fulfilled, tests_pass, tests_weakened, drift, iterations, cost_usd })
}

/// Whether the loop ended well.
fn run_loop(name: &str, root: &Path, options: &LoopOptions<'_>) -> anyhow::Result<bool> {
    let iterations = options.max_iterations.to_string();
    let binary = options.binary.to_str().context("the binary's path is no text")?;
    let status = command(binary, root)
        .args(["loop", "run", WORK_DIR, "--prd", &format!("{WORK_DIR}/prd.md"), "--progress", "plain"])
        .args(["--max-iterations", &iterations, "--max-spend-usd", options.max_spend_usd])
        .env("LOOPGATE_COMMAND", name)
        .env("LOOPGATE_PLUGIN_DIR", options.plugin)
        .env("LOOPGATE_ASSISTANT_BIN", options.assistant)
        .status()
        .with_context(|| format!("start {binary}"))?;
    Ok(status.success())
}

fn state(work: &Path) -> String {
    let text = std::fs::read_to_string(work.join("state.json")).unwrap_or_default();
    let state: Value = serde_json::from_str(&text).unwrap_or_default();
    state["status"].as_str().unwrap_or_default().to_owned()
}

/// Files that differ from the first commit, or are new.
fn changed_files(root: &Path) -> anyhow::Result<Vec<String>> {
    git(&["add", "--all"], root)?;
    let first = git(&["rev-list", "--max-parents=0", "HEAD"], root)?;
    let names = git(&["diff", "--cached", "--name-only", "-z", first.trim()], root)?;
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty() && !name.starts_with(".loopgate/"))
        .map(str::to_owned)
        .collect())
}

/// Runs of the assistant for plan and implementation; reviews have an activity of their own.
fn iterations(work: &Path) -> usize {
    let text = std::fs::read_to_string(work.join("perf.jsonl")).unwrap_or_default();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["event"] == "iteration" && !event["assistant_exit_code"].is_null()).count()
}

/// What the streams of the work directory say that they cost.
fn cost(work: &Path) -> anyhow::Result<f64> {
    let mut usd = 0.0;
    for entry in std::fs::read_dir(work)? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != "jsonl") || path.ends_with("perf.jsonl") {
            continue;
        }
        let mut ledger = Ledger::default();
        for line in std::fs::read_to_string(&path)?.lines() {
            if let Ok(record) = serde_json::from_str(line) {
                ledger.feed(&record);
            }
        }
        usd += ledger.estimated_usd();
    }
    Ok(usd)
}
