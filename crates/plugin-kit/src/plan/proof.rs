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
use tokio_util::sync::CancellationToken;

use super::document::{self, PlanLock, tasks};
use super::paths::plan_path;
use super::scratch_copy::ScratchCopy;
use super::task_changes::{self, TreePair};
use super::test_run::{self, TestJob};
use crate::clock::now;
use crate::project_git::{BlockingGit, Trees};

/// File of the evidence, in the state directory of the work directory.
pub const EVIDENCE: &str = "task-evidence.json";
/// Last lines of a failed run in the copy that the proof contains.
const SHOWN_LINES: usize = 5;

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
    /// Files of the repositories during the run, by path.
    #[serde(default)]
    trees: Trees,
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
    let (git, stop) = (BlockingGit::new()?, test_run::stop()?);
    let pairs = task_changes::tree_pairs(&git, workdir, id)?;
    let project = pairs.first().ok_or("Error: the project is not a git repository")?;
    let number = read(workdir).get(id).map_or(0, |task| task.runs.len()) + 1;
    let job = TestJob {
        workdir,
        dir: &project.repository.path,
        command,
        tree: project.to.clone(),
        log: format!("{id}-run-{number}"),
        stop: &stop,
    };
    let completed = job.run(&[])?;
    let report = format!(
        "EXIT: {}\n{}\n{}",
        completed.run.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string()),
        workdir.join(&completed.run.log).display(),
        test_run::last_lines(workdir, &completed)
    );
    let trees = pairs.into_iter().map(|pair| (pair.repository.path, pair.to)).collect();
    let run = RecordedRun { command: command.to_owned(), completed, trees, at: now() };
    change(workdir, id, |task| task.runs.push(run))?;
    Ok(report)
}

/// Runs the tests of a task on the current files, and on the files as they were at its start with the changed test
/// files added. Records and returns the proof.
///
/// # Errors
/// Returns the line to print, also when no start of the task is recorded.
pub fn prove(workdir: &Path, id: &str) -> Result<String, String> {
    let (git, stop) = (BlockingGit::new()?, test_run::stop()?);
    let pairs = task_changes::tree_pairs(&git, workdir, id)?;
    let evidence = read(workdir).remove(id).unwrap_or_default();
    // The repository whose tests the task changed, else any repository that it changed.
    let with_tests = pairs.iter().find(|pair| changes_files(&git, pair, &pair.from, is_test_file));
    let changed = || pairs.iter().find(|pair| pair.from != pair.to);
    let pair = with_tests.or_else(changed).or(pairs.first());
    let pair = pair.ok_or("Error: the project is not a git repository")?;
    let planned = planned_command(workdir, id);
    let of_project = test_run::command_of(&git, &pair.repository.path);
    let of_task = planned.clone().or_else(|| Some(last_test(&evidence.runs)?.command.clone()));
    let is_of_task = of_task.is_some();
    let command = of_task.or_else(|| of_project.clone());
    let (verdict, detail) = match &command {
        None => {
            (ProofVerdict::NoTests, "the plan names no test, and no test command was detected".to_owned())
        }
        Some(command) => {
            let is_named = [&planned, &of_project].into_iter().flatten().any(|named| named == command);
            let (git, stop, pairs) = (&git, &stop, pairs.as_slice());
            let tests = TaskTests { git, stop, workdir, id, pairs, pair, command, is_of_task, is_named };
            tests.judge(&evidence.runs)?
        }
    };
    let proof = Proof { verdict, command: command.unwrap_or_default(), detail, at: now() };
    let report = format!("PROOF: {proof}");
    change(workdir, id, |task| task.proof = Some(proof))?;
    Ok(report)
}

/// Returns the last run of tests; if none is recognized, the last run.
fn last_test(runs: &[RecordedRun]) -> Option<&RecordedRun> {
    runs.iter().rev().find(|run| run.completed.report.is_some()).or(runs.last())
}

/// The tests of a task, and where they run.
struct TaskTests<'a> {
    git: &'a BlockingGit,
    stop: &'a CancellationToken,
    workdir: &'a Path,
    id: &'a str,
    pairs: &'a [TreePair],
    /// The repository in which the command runs.
    pair: &'a TreePair,
    command: &'a str,
    /// Whether the command runs tests of this task only, which all must pass.
    is_of_task: bool,
    /// Whether the plan or the project names the command as that of its tests.
    is_named: bool,
}

/// Runs of the tests on the current files, and on the files at the start of the task.
struct TaskRuns {
    after: CompletedRun,
    /// Why the tests were not compared, if they were not.
    before: Result<CompletedRun, String>,
}

impl TaskTests<'_> {
    fn judge(&self, recorded: &[RecordedRun]) -> Result<(ProofVerdict, String), String> {
        let command = self.command;
        let TaskRuns { after, before } = self.run()?;
        let log = |run: &CompletedRun| self.workdir.join(&run.run.log).display().to_string();
        if self.is_of_task && !after.run.passed() {
            let failed = after.report.iter().flat_map(|report| &report.failed).map(String::as_str);
            let failed = failed.collect::<Vec<_>>().join(", ");
            let tests = if failed.is_empty() { failed } else { format!(": {failed}") };
            let detail = format!("`{command}` fails{tests}; log: {}", log(&after));
            return Ok((ProofVerdict::Failing, detail));
        }
        let reason = match &before {
            Err(reason) => format!("`{command}` cannot be compared: {reason}; log: {}", log(&after)),
            Ok(before) => {
                let logs = format!("logs: {} and {}", log(before), log(&after));
                let at_end = compare(command, before, &after);
                if !matches!(at_end.outcome, TestOutcome::Passed | TestOutcome::FailedBefore) {
                    let failures = at_end.new_failures.join(", ");
                    return Ok((ProofVerdict::Failing, format!("`{command}` fails: {failures}; {logs}")));
                }
                // With the sides exchanged, a new failure is a test that the change makes pass.
                let at_start = compare(command, &after, before);
                if at_start.outcome != TestOutcome::NewFailures || !could_run(before) {
                    format!("`{command}` has the same result without the change; {logs}")
                } else if self.runs_tests(&after) {
                    let tests = at_start.new_failures.join(", ");
                    let detail = format!("fails without the change and passes with it: {tests}; {logs}");
                    return Ok((ProofVerdict::Proven, detail));
                } else {
                    format!("nothing shows that `{command}` runs tests; {logs}")
                }
            }
        };
        // Tests inside of source files cannot be added to the old files. Then a recorded failure counts.
        let failed = recorded.iter().find(|run| self.shows_failure(run));
        if let Some(failed) = failed.filter(|_| after.run.passed() && self.runs_tests(&after)) {
            let detail = format!(
                "`{command}` failed at {}, and passes now; logs: {} and {}",
                failed.at,
                log(&failed.completed),
                log(&after)
            );
            return Ok((ProofVerdict::Proven, detail));
        }
        Ok((ProofVerdict::Unproven, reason))
    }

    /// Runs the tests in a copy: on the current files and, if the result is the same as in the project, on the old ones.
    /// Otherwise a failure would be one of the copy, not of the missing change.
    fn run(&self) -> Result<TaskRuns, String> {
        let TreePair { repository, from, to } = self.pair;
        let project = repository.path.as_path();
        let job = |dir, tree: &str, name| TestJob {
            workdir: self.workdir,
            dir,
            command: self.command,
            tree: tree.to_owned(),
            log: format!("{}-{name}", self.id),
            stop: self.stop,
        };
        let in_project = || job(project, to, "project").run(&[]);
        if !changes_files(self.git, self.pair, from, |path| !is_test_file(path)) {
            let reason = "the task changed no files other than tests".to_owned();
            return Ok(TaskRuns { after: in_project()?, before: Err(reason) });
        }
        let copy = match ScratchCopy::create(self.git, project, self.workdir, self.stop) {
            Ok(copy) => copy,
            Err(reason) => return Ok(TaskRuns { after: in_project()?, before: Err(reason) }),
        };
        let (dir, target) = (copy.directory(), project.join("target"));
        // Cargo would otherwise compile all dependencies again.
        let is_shared = target.is_dir() && !dir.join("target").exists();
        let variables: &[(&str, &Path)] = if is_shared { &[("CARGO_TARGET_DIR", &target)] } else { &[] };
        let in_copy = job(&dir, to, "after").run(variables)?;
        let after = if in_copy.run.passed() {
            in_copy
        } else {
            let after = in_project()?;
            if compare(self.command, &after, &in_copy).outcome != TestOutcome::FailedBefore {
                return Ok(TaskRuns { before: Err(self.difference(&copy, &in_copy)), after });
            }
            if self.is_of_task {
                return Ok(TaskRuns { before: Err("it fails".to_owned()), after });
            }
            after
        };
        copy.put_back(self.git, self.pair)?;
        let before = job(&dir, from, "before").run(variables)?;
        Ok(TaskRuns { after, before: Ok(before) })
    }

    /// Explains a failure in the copy that the project does not have.
    fn difference(&self, copy: &ScratchCopy, in_copy: &CompletedRun) -> String {
        let left_out: Vec<String> = copy.left_out().iter().map(|path| path.display().to_string()).collect();
        let without = match left_out.as_slice() {
            [] => String::new(),
            left_out => format!(" without {}", left_out.join(", ")),
        };
        let lines = test_run::last_lines(self.workdir, in_copy);
        let lines: Vec<&str> = lines.lines().filter(|line| !line.trim().is_empty()).collect();
        let lines = lines[lines.len().saturating_sub(SHOWN_LINES)..].join(" | ");
        format!(
            "it fails in a copy of the current files{without}: {lines}; log of the copy: {}",
            self.workdir.join(&in_copy.run.log).display()
        )
    }

    /// Returns whether the command runs tests: its output shows that some passed, the plan or the project says so, or the
    /// task changed test files, which a program with an unknown output may run. A check such as `test -f` does not count.
    fn runs_tests(&self, after: &CompletedRun) -> bool {
        let has_passed = after.report.as_ref().is_some_and(|report| report.counts.passed > 0);
        has_passed || self.is_named || changes_files(self.git, self.pair, &self.pair.from, is_test_file)
    }

    /// Returns whether a recorded run failed before the change: the command could run, and files other than tests have
    /// changed since. A failure and a success on the same files, or by a correction of the test, prove nothing.
    fn shows_failure(&self, run: &RecordedRun) -> bool {
        let changed_since = |pair: &TreePair| {
            let tree = run.trees.get(&pair.repository.path);
            tree.is_some_and(|tree| changes_files(self.git, pair, tree, |path| !is_test_file(path)))
        };
        run.command == self.command
            && !run.completed.run.passed()
            && could_run(&run.completed)
            && self.pairs.iter().any(changed_since)
    }
}

/// Returns whether one of the files that differ from a tree meets the condition.
fn changes_files(git: &BlockingGit, pair: &TreePair, from: &str, condition: impl Fn(&str) -> bool) -> bool {
    let changed = git.changed_between(&pair.repository.path, from, &pair.to).unwrap_or_default();
    changed.iter().filter_map(|line| line.split_once('\t')).any(|(_, path)| condition(path))
}

/// Returns whether the programs of a command were found, and it ended by itself. The codes are those of the shell.
fn could_run(run: &CompletedRun) -> bool {
    run.run.error.is_none() && !matches!(run.run.exit_code, Some(126 | 127))
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
