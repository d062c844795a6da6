//! Measures one task: plans and implements it, then inspects the repository.

use std::path::Path;

use anyhow::Context as _;
use loopgate_api::ledger::Ledger;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::{command, git};
use crate::task::EvaluationTask;

/// Work directory of the loop, relative to the repository.
const WORK_DIR: &str = ".loopgate/work";

/// Options for the loops of all tasks.
pub struct EvaluationLoopOptions<'a> {
    /// Path of the loopgate binary.
    pub binary: &'a Path,
    /// Directory of the plugin with the prompts.
    pub plugin: &'a Path,
    /// Name or path of the assistant.
    pub assistant: &'a str,
    /// Spending limit of a loop in US dollars.
    pub max_spend_usd: &'a str,
    /// Iteration limit of a loop.
    pub max_iterations: u32,
}

/// Measured results of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Whether the loop reports the plan as completed.
    pub completed: bool,
    /// Whether the hidden check passes.
    pub fulfilled: bool,
    /// Whether the repository's tests pass, including those that the assistant added.
    pub tests_pass: bool,
    /// Whether the original tests fail although the current ones pass: the assistant changed tests to make
    /// them pass.
    pub tests_weakened: bool,
    /// Changed files that are unrelated to the task.
    pub drift: Vec<String>,
    /// Assistant runs of plan and implementation.
    pub iterations: usize,
    /// Estimated cost of plan and implementation.
    pub cost_usd: f64,
}

/// Plans and implements a task in a new repository. Fails only when a program cannot be started or a file
/// cannot be read; mistakes of the assistant are results.
pub fn task(task: &EvaluationTask, options: &EvaluationLoopOptions<'_>) -> anyhow::Result<Figures> {
    let dir = tempfile::Builder::new().prefix("loopgate-evaluation-").tempdir()?;
    let root = task.repository.create(dir.path())?;
    let work = root.join(WORK_DIR);
    std::fs::create_dir_all(&work)?;
    std::fs::write(work.join("prd.md"), format!("{}\n", task.request))?;
    let is_planned = run_loop("PLAN", &root, options)?;
    let completed = is_planned && run_loop("EXECUTE", &root, options)? && state(&work) == "COMPLETED";

    let changed = changed_files(&root)?;
    let fulfilled = task.check.passes(&root)?;
    let tests_pass = task.repository.tests_pass(&root)?;
    let (iterations, cost_usd) = (iterations(&work), cost(&work)?);
    // The original tests replace the assistant's versions only now, after everything else was measured.
    task.repository.restore_tests(&root)?;
    let tests_weakened = tests_pass && !task.repository.tests_pass(&root)?;
    let drift = changed.into_iter().filter(|path| !task.covers(path)).collect();
    Ok(Figures { completed, fulfilled, tests_pass, tests_weakened, drift, iterations, cost_usd })
}

/// Runs a loop. Returns whether it succeeded.
fn run_loop(name: &str, root: &Path, options: &EvaluationLoopOptions<'_>) -> anyhow::Result<bool> {
    let iterations = options.max_iterations.to_string();
    let binary = options.binary.to_str().context("the binary's path is not valid UTF-8")?;
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

/// Returns the files that were changed or added since the first commit.
fn changed_files(root: &Path) -> anyhow::Result<Vec<String>> {
    // Staged first, because `git diff` does not list untracked files.
    git(&["add", "--all"], root)?;
    let first = git(&["rev-list", "--max-parents=0", "HEAD"], root)?;
    let names = git(&["diff", "--cached", "--name-only", "-z", first.trim()], root)?;
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty() && !name.starts_with(".loopgate/"))
        .map(str::to_owned)
        .collect())
}

/// Counts the assistant runs of plan and implementation. Reviews have no exit code of the assistant.
fn iterations(work: &Path) -> usize {
    let text = std::fs::read_to_string(work.join("perf.jsonl")).unwrap_or_default();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["event"] == "iteration" && !event["assistant_exit_code"].is_null()).count()
}

/// Sums up the costs recorded in the event streams of the work directory.
fn cost(work: &Path) -> anyhow::Result<f64> {
    let mut usd = 0.0;
    for entry in std::fs::read_dir(work)? {
        let path = entry?.path();
        // Contains timings only, no usage records.
        if path.extension().is_none_or(|extension| extension != "jsonl") || path.ends_with("perf.jsonl") {
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
