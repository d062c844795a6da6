//! Evidence about the tests of a task: recorded runs, and the proof that they fail without the task's change and pass with
//! it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_api::test_evidence::TestOutcome;
use loopgate_evidence::{CompletedRun, compare, is_test_file};
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::{self, PlanLock, tasks};
use super::paths::plan_path;
use super::task_changes::{self, TreePair};
use super::test_run::{self, TestJob};
use crate::clock::now;
use crate::project_git::BlockingGit;

/// File of the evidence, in the state directory of the work directory.
pub const EVIDENCE: &str = "task-evidence.json";
/// Directories of installed dependencies. They are not part of a tree, and tests need them.
const DEPENDENCIES: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];

/// Result of comparing the tests of a task before and after its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProofVerdict {
    /// The tests fail without the change and pass with it.
    Proven,
    /// The tests pass with the change, but nothing shows that they would fail without it.
    Unproven,
    /// Tests fail with the change that did not fail without it.
    Failing,
    /// No command runs the tests of the task.
    NoTests,
}

/// Proof of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    verdict: ProofVerdict,
    /// Command that was run; empty without tests.
    command: String,
    /// What was compared, for the reader.
    detail: String,
    at: String,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = serde_json::to_value(self.verdict).unwrap_or_default();
        write!(f, "{}: {}", verdict.as_str().unwrap_or_default(), self.detail)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedRun {
    command: String,
    #[serde(flatten)]
    completed: CompletedRun,
    at: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TaskEvidence {
    #[serde(default)]
    runs: Vec<RecordedRun>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
}

/// Runs a command for a task and records its exit code and output.
///
/// # Errors
/// Returns the line to print, also when no start of the task is recorded.
pub fn run(workdir: &Path, id: &str, command: &str) -> Result<String, String> {
    let git = BlockingGit::new()?;
    let pairs = task_changes::tree_pairs(&git, workdir, id)?;
    let project = pairs.first().ok_or("Error: the project is not a git repository")?;
    let number = read(workdir).get(id).map_or(0, |task| task.runs.len()) + 1;
    let job = TestJob {
        workdir,
        dir: &project.repository.path,
        command,
        tree: project.to.clone(),
        log: format!("{id}-run-{number}"),
    };
    let completed = job.run(&[])?;
    let report = format!(
        "EXIT: {}\n{}\n{}",
        completed.run.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string()),
        workdir.join(&completed.run.log).display(),
        test_run::last_lines(workdir, &completed)
    );
    let run = RecordedRun { command: command.to_owned(), completed, at: now() };
    change(workdir, id, |task| task.runs.push(run))?;
    Ok(report)
}

/// Runs the tests of a task on the files as they were at its start, with the changed test files added, and on the
/// current files. Records and returns the proof.
///
/// # Errors
/// Returns the line to print, also when no start of the task is recorded.
pub fn prove(workdir: &Path, id: &str) -> Result<String, String> {
    let git = BlockingGit::new()?;
    let pairs = task_changes::tree_pairs(&git, workdir, id)?;
    let evidence = read(workdir).remove(id).unwrap_or_default();
    // The command of the task runs in the project; without one, the changed repository decides.
    let changed = pairs.iter().find(|pair| pair.from != pair.to).or(pairs.first());
    let pair = changed.ok_or("Error: the project is not a git repository")?;
    let of_task =
        planned_command(workdir, id).or_else(|| evidence.runs.last().map(|run| run.command.clone()));
    let is_of_task = of_task.is_some();
    let command = of_task.or_else(|| test_run::command_of(&git, &pair.repository.path));
    let (verdict, detail) = match &command {
        None => {
            (ProofVerdict::NoTests, "the plan names no test, and no test command was detected".to_owned())
        }
        Some(command) => compared(&git, workdir, id, pair, command, is_of_task, &evidence.runs)?,
    };
    let proof = Proof { verdict, command: command.unwrap_or_default(), detail, at: now() };
    let report = format!("PROOF: {proof}");
    change(workdir, id, |task| task.proof = Some(proof))?;
    Ok(report)
}

fn compared(
    git: &BlockingGit,
    workdir: &Path,
    id: &str,
    pair: &TreePair,
    command: &str,
    is_of_task: bool,
    runs: &[RecordedRun],
) -> Result<(ProofVerdict, String), String> {
    let dir = pair.repository.path.as_path();
    let job = |dir, tree: &str, name| TestJob {
        workdir,
        dir,
        command,
        tree: tree.to_owned(),
        log: format!("{id}-{name}"),
    };
    let after = job(dir, &pair.to, "after").run(&[])?;
    let scratch = scratch_copy(git, pair)?;
    let target = dir.join("target");
    // Cargo would otherwise compile all dependencies again.
    let variables: &[(&str, &Path)] = if target.is_dir() { &[("CARGO_TARGET_DIR", &target)] } else { &[] };
    let before = job(scratch.path(), &pair.from, "before").run(variables)?;
    let logs = format!(
        "logs: {} and {}",
        workdir.join(&before.run.log).display(),
        workdir.join(&after.run.log).display()
    );
    let at_end = compare(command, &before, &after);
    // The tests of the task itself must pass; of the whole project, only those that passed before.
    let may_have_failed_before = !is_of_task && at_end.outcome == TestOutcome::FailedBefore;
    if at_end.outcome != TestOutcome::Passed && !may_have_failed_before {
        let failures = at_end.new_failures.join(", ");
        return Ok((ProofVerdict::Failing, format!("`{command}` fails: {failures}; {logs}")));
    }
    // With the sides exchanged, a new failure is a test that the change makes pass.
    let at_start = compare(command, &after, &before);
    if at_start.outcome == TestOutcome::NewFailures {
        let tests = at_start.new_failures.join(", ");
        return Ok((
            ProofVerdict::Proven,
            format!("fails without the change and passes with it: {tests}; {logs}"),
        ));
    }
    // Tests inside of source files cannot be added to the old files. Then a recorded failure counts.
    let failed = runs.iter().find(|run| run.command == command && !run.completed.run.passed());
    if let Some(failed) = failed.filter(|_| after.run.passed()) {
        let log = workdir.join(&failed.completed.run.log);
        let detail = format!(
            "`{command}` failed at {}, and passes now; logs: {} and {}",
            failed.at,
            log.display(),
            workdir.join(&after.run.log).display()
        );
        return Ok((ProofVerdict::Proven, detail));
    }
    Ok((ProofVerdict::Unproven, format!("`{command}` has the same result without the change; {logs}")))
}

/// Creates a copy of the files at the start of a task, with the test files that the task added or changed.
fn scratch_copy(git: &BlockingGit, pair: &TreePair) -> Result<tempfile::TempDir, String> {
    let dir = pair.repository.path.as_path();
    let cannot =
        |error: std::io::Error| format!("Error: cannot copy the files of {}: {error}", dir.display());
    let scratch = tempfile::Builder::new().prefix("loopgate-proof-").tempdir().map_err(cannot)?;
    git.export(dir, &pair.from, scratch.path())
        .ok_or_else(|| format!("Error: git cannot copy the files of {}", dir.display()))?;
    let changed = git
        .changed_between(dir, &pair.from, &pair.to)
        .ok_or_else(|| format!("Error: git cannot compare {}", dir.display()))?;
    let paths = changed.iter().filter_map(|line| line.split_once('\t')).filter(|(status, _)| *status != "D");
    for path in paths.map(|(_, path)| path).filter(|path| is_test_file(path)) {
        // A link may dangle, or lead out of the project.
        if !untrusted::is_file(&dir.join(path)) {
            continue;
        }
        let copy = scratch.path().join(path);
        copy.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(cannot)?;
        std::fs::copy(dir.join(path), copy).map_err(cannot)?;
    }
    for name in DEPENDENCIES {
        let (source, link) = (dir.join(name), scratch.path().join(name));
        if source.is_dir() && !link.exists() {
            link_directory(&source, &link).map_err(cannot)?;
        }
    }
    Ok(scratch)
}

#[cfg(unix)]
fn link_directory(source: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(source, link)
}

#[cfg(windows)]
fn link_directory(source: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(source, link)
}

/// Returns the proof of a task.
#[must_use]
pub fn of_task(workdir: &Path, id: &str) -> Option<Proof> {
    read(workdir).remove(id)?.proof
}

/// Returns the command of a task's tests if they failed at the last proof.
#[must_use]
pub fn failing_now(workdir: &Path, id: &str) -> Option<String> {
    of_task(workdir, id).filter(|proof| proof.verdict == ProofVerdict::Failing).map(|proof| proof.command)
}

/// Returns the path of the record; a new loop deletes it.
#[must_use]
pub fn record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join(EVIDENCE)
}

fn planned_command(workdir: &Path, id: &str) -> Option<String> {
    let plan = document::read(&plan_path(workdir)).ok()?;
    let mut all = ["pendingTasks", "completedTasks"].iter().flat_map(|list| tasks(&plan, list));
    let task = all.find(|task| task.get("id").and_then(Value::as_str) == Some(id))?;
    Some(task.pointer("/details/test")?.as_str()?.to_owned())
}

fn read(workdir: &Path) -> BTreeMap<String, TaskEvidence> {
    untrusted::read_json(&record(workdir)).unwrap_or_default()
}

fn change(workdir: &Path, id: &str, edit: impl FnOnce(&mut TaskEvidence)) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    let mut all = read(workdir);
    edit(all.entry(id.to_owned()).or_default());
    let text = serde_json::to_vec(&all).map_err(|error| format!("Error: {error}"))?;
    untrusted::write(&record(workdir), &text)
        .map_err(|error| format!("Error: cannot record the evidence of {id}: {error}"))
}
