//! One test run of a repository: in a clean worktree, under a shim, with a time limit. A restarted runtime
//! waits for a run in progress and repeats a run whose result was lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use loopgate_api::event::LoopEvent;
use loopgate_api::redact;
use loopgate_api::test_evidence::{MAX_OUTPUT_BYTES, TestRun};
use loopgate_evidence::{CompletedRun, TestCommand, read_report, test_command};
use loopgate_home::{Directory, untrusted};
use loopgate_tools::shim::{self, Exit, ShimHandle, Spec};
use serde::{Deserialize, Serialize};

use super::super::outcome::LoopOutcome;
use super::super::retry::{DeliveryError, ensure_not_cancelled, repeat};
use crate::jobs::store::OutboxMessage;
use crate::jobs::{Job, ProcessKind, ProcessRecord, TestRunRecord};
use crate::process::spawn;
use crate::workspace::worktree::{SETUP_SCRIPT, complete};

// 16 MiB. Additional output is discarded by run_tests.sh, so that a noisy test suite cannot fill the disk.
pub(super) const MAX_LOG: u64 = 16 * 1024 * 1024;
const GRACE: Duration = Duration::from_secs(5);
const SWEEP_GRACE: Duration = Duration::from_secs(3);
const SCRIPT: &str = include_str!("run_tests.sh");

/// The commit that is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Base,
    Head,
}

impl Side {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Head => "head",
        }
    }

    const fn process(self) -> ProcessKind {
        match self {
            Self::Base => ProcessKind::BaseTests,
            Self::Head => ProcessKind::HeadTests,
        }
    }
}

/// Result of a run, and the test command that was detected in its tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TestResult {
    #[serde(flatten)]
    pub completed: CompletedRun,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected: Option<TestCommand>,
}

enum TestRunEnd {
    Exited(Exit),
    /// The run did not finish. Contains the reason.
    Failed(String),
}

/// Runs the tests of one repository of a loop.
pub(super) struct TestSite<'a> {
    pub outcome: &'a LoopOutcome<'a>,
    /// Work directory of the loop, which receives logs and exit files.
    pub work_dir: PathBuf,
    pub clone: PathBuf,
    /// Test command that the user trusts.
    pub command: String,
    /// Suffix of log file names; empty for the primary repository.
    pub suffix: String,
}

impl TestSite<'_> {
    /// Returns the path of a run's log.
    pub fn log(&self, side: Side) -> PathBuf {
        self.work_dir.join(self.log_name(side))
    }

    fn log_name(&self, side: Side) -> String {
        format!("tests-{}{}.log", side.as_str(), self.suffix)
    }

    /// Runs the tests at a commit, or waits for the recorded run if it is the same. Removes the worktree
    /// afterwards.
    pub async fn run(&self, side: Side, commit: &str) -> Result<TestResult, DeliveryError> {
        ensure_not_cancelled(self.outcome).await?;
        let job = self.job().await?;
        let process =
            ProcessRecord::new(&self.outcome.finalizer.shims, job.id, side.process(), &self.work_dir);
        let earlier = job.test_run().filter(|run| {
            run.commit == commit && run.repository == self.clone && job.run.process.as_ref() == Some(&process)
        });
        let resumed = match earlier {
            Some(record) => self.resume(&process, record).await.map(|end| (end, record.clone())),
            None => None,
        };
        let (end, record) = match resumed {
            Some(resumed) => resumed,
            None => self.start(side, commit, &process, &job).await?,
        };
        // Read before the worktree is removed. A cancellation is returned only after the cleanup.
        let cancelled = ensure_not_cancelled(self.outcome).await;
        let run = self.read(side, commit, end, &record).await;
        self.clean_up(&record).await?;
        cancelled.map(|()| run)
    }

    async fn job(&self) -> Result<Job, DeliveryError> {
        let job = self.outcome.finalizer.jobs.store.job(self.outcome.id).await?;
        job.ok_or(DeliveryError::Cancelled)
    }

    /// Waits for a run that a previous runtime process started; `None` when its result is unknown.
    async fn resume(&self, process: &ProcessRecord, record: &TestRunRecord) -> Option<TestRunEnd> {
        let (socket, exit_file) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
        if let Some(shim) = shim::attach(&socket, &exit_file).await {
            return Some(self.wait(&shim, record.started_ms).await);
        }
        let exit = tokio::task::spawn_blocking(move || Exit::read(&exit_file)).await.ok().flatten();
        // The shim was killed before it wrote the exit file; terminate what it left running.
        if exit.is_none() {
            shim::reap(self.outcome.id, SWEEP_GRACE).await;
        }
        exit.map(TestRunEnd::Exited)
    }

    async fn start(
        &self,
        side: Side,
        commit: &str,
        process: &ProcessRecord,
        job: &Job,
    ) -> Result<(TestRunEnd, TestRunRecord), DeliveryError> {
        if let Some(stale) = job.test_run() {
            self.outcome.finalizer.workspaces.remove_test_worktree(stale).await;
        }
        let record = self.create_worktree(commit).await?;
        // The shim appends to the log. Errors are ignored: usually the file does not exist.
        for file in [PathBuf::from(&process.exit_file), self.log(side)] {
            let _ = tokio::task::spawn_blocking(move || untrusted::remove(&file)).await;
        }
        let record = match self.announce(side, process, &record).await? {
            Some(started) => started,
            None => {
                self.clean_up(&record).await?;
                return Err(DeliveryError::Cancelled);
            }
        };
        let spec = self.spec(side, process, &record.worktree).await;
        let shims = &self.outcome.finalizer.shims;
        let end = match shims.spawn(&spec).await {
            Ok((shim, state)) => {
                let pid = (state.pid, state.started.map(|started| started.0));
                let (work_dir, written) = (self.work_dir.clone(), state);
                // Best-effort: the pid files only help other programs.
                let _ =
                    tokio::task::spawn_blocking(move || spawn::write_pid_files(&work_dir, &written)).await;
                let now = self.outcome.finalizer.jobs.change(self.outcome.id, |now| {
                    (now.job.run.pid, now.job.run.pid_started_at) = (Some(pid.0), pid.1);
                    Ok(())
                });
                // A cancellation that arrived before the pid was stored could not signal the process.
                if now.await?.is_cancelled() {
                    let _ = shim.kill(GRACE).await;
                }
                self.wait(&shim, record.started_ms).await
            }
            Err(error) => TestRunEnd::Failed(redact::cause(&error.to_string())),
        };
        Ok((end, record))
    }

    /// Creates the worktree. It is recorded first, so that a restarted runtime removes it after a crash.
    async fn create_worktree(&self, commit: &str) -> Result<TestRunRecord, DeliveryError> {
        let finalizer = self.outcome.finalizer;
        let not_allowed = |path: &Path| {
            std::io::Error::other(format!("the sandbox does not allow a worktree at {}", path.display()))
        };
        let clone = finalizer.layout.allowed(&self.clone).ok_or_else(|| not_allowed(&self.clone))?;
        let name = format!("{}-loop-tests-{}", clone.base_name(), self.outcome.id.short());
        let worktree = finalizer.layout.for_new(&clone, &name).map_err(|path| not_allowed(&path))?;
        let record = TestRunRecord {
            worktree: worktree.as_path().to_owned(),
            repository: self.clone.clone(),
            commit: commit.to_owned(),
            started_ms: Timestamp::now().as_millisecond(),
        };
        let recorded = record.clone();
        finalizer
            .jobs
            .store
            .update(self.outcome.id, |job| {
                if let Some(delivery) = &mut job.delivery {
                    delivery.test_run = Some(recorded);
                }
            })
            .await?;
        let add =
            async || Ok(finalizer.git.worktree_add_detached(&self.clone, &record.worktree, commit).await?);
        repeat(self.outcome, "creating a worktree for the tests", add).await?;
        complete(&finalizer.git, &record.worktree).await;
        Ok(record)
    }

    /// Records the process before it is spawned, and reports it. Returns `None` when the loop has been
    /// cancelled.
    async fn announce(
        &self,
        side: Side,
        process: &ProcessRecord,
        record: &TestRunRecord,
    ) -> Result<Option<TestRunRecord>, DeliveryError> {
        let commit = record.commit.get(..10).unwrap_or(&record.commit);
        let text = format!("Running the tests at the {} ({commit}): {}", side.as_str(), self.command);
        let event = LoopEvent::note(&text);
        let started = TestRunRecord { started_ms: Timestamp::now().as_millisecond(), ..record.clone() };
        let recorded = started.clone();
        let change = self.outcome.finalizer.jobs.change(self.outcome.id, |now| {
            if !now.job.is_cancelled() {
                now.job.run.process = Some(process.clone());
                now.job.progress.live_activity = Some(text.clone());
                if let Some(delivery) = &mut now.job.delivery {
                    delivery.test_run = Some(recorded);
                }
                now.send(OutboxMessage::event(&event));
            }
            Ok(())
        });
        Ok((!change.await?.is_cancelled()).then_some(started))
    }

    /// Returns the process to spawn: the repository's setup script, if the user trusts it, followed by the
    /// tests. Both get the environment of the assistant, in which git runs no hooks of untrusted
    /// repositories.
    async fn spec(&self, side: Side, process: &ProcessRecord, worktree: &Path) -> Spec {
        let finalizer = self.outcome.finalizer;
        let (mut env, guard) = finalizer.environment.guarded(&[worktree]).await;
        // Test runners disable watch mode and prompts when CI is set.
        env.insert("CI".into(), "true".into());
        let script = worktree.join(SETUP_SCRIPT);
        let has_script = tokio::task::spawn_blocking(move || untrusted::is_file(&script)).await;
        let set_up = guard.is_trusted() && has_script.unwrap_or(false);
        let set_up = if set_up { SETUP_SCRIPT } else { "" };
        let args = ["-c", SCRIPT, "loopgate-tests", set_up, &self.command, &MAX_LOG.to_string()];
        let log = self.log(side);
        Spec {
            program: PathBuf::from("bash"),
            args: args.map(Into::into).into(),
            cwd: worktree.to_owned(),
            env,
            stdin_file: None,
            stdout: log.clone(),
            stderr: log,
            jsonl: None,
            exit_file: PathBuf::from(&process.exit_file),
            socket: PathBuf::from(&process.socket),
            loop_id: self.outcome.id,
        }
    }

    async fn wait(&self, shim: &ShimHandle, started_ms: i64) -> TestRunEnd {
        // Measured from the recorded start, so that a restart of the runtime does not extend the limit.
        let limit = Duration::from_secs(self.outcome.finalizer.settings.get().test_time_limit_seconds.into());
        let elapsed = u64::try_from(Timestamp::now().as_millisecond() - started_ms).unwrap_or_default();
        let remaining = limit.saturating_sub(Duration::from_millis(elapsed));
        match tokio::time::timeout(remaining, shim.wait()).await {
            Ok(Ok(exit)) => TestRunEnd::Exited(exit),
            Ok(Err(error)) => {
                shim::reap(self.outcome.id, SWEEP_GRACE).await;
                TestRunEnd::Failed(error.to_string())
            }
            Err(_) => {
                let _ = shim.kill(GRACE).await;
                TestRunEnd::Failed(format!(
                    "timed out after {}s (test_time_limit_seconds in the settings)",
                    limit.as_secs()
                ))
            }
        }
    }

    /// Reads the report of a finished run from its log.
    async fn read(&self, side: Side, commit: &str, end: TestRunEnd, record: &TestRunRecord) -> TestResult {
        let (log, tree) = (self.log(side), record.worktree.clone());
        let parsed = tokio::task::spawn_blocking(move || {
            // A log of the maximum size was truncated. Its summary is missing, so it must not be parsed.
            let output = untrusted::read(&log, MAX_LOG).unwrap_or_default();
            let is_whole = u64::try_from(output.len()).is_ok_and(|length| length < MAX_LOG);
            let report = is_whole.then(|| read_report(&output)).flatten();
            // More than the end, because cleaning removes terminal sequences.
            let start = output.len().saturating_sub(4 * MAX_OUTPUT_BYTES);
            let end = redact::tail(&String::from_utf8_lossy(&output[start..]), MAX_OUTPUT_BYTES, usize::MAX);
            (report, end, Directory::of(&tree).ok().and_then(|tree| test_command(&tree)))
        });
        let (report, end_of_output, detected) = parsed.await.unwrap_or_default();
        let (exit_code, error, ended) = match end {
            TestRunEnd::Exited(exit) => (exit.code, error_of(&exit), exit.ended_at.parse().ok()),
            TestRunEnd::Failed(reason) => (None, Some(reason), None),
        };
        let ended: Timestamp = ended.unwrap_or_else(Timestamp::now);
        let duration = ended.as_millisecond().saturating_sub(record.started_ms);
        let run = TestRun {
            commit: commit.to_owned(),
            exit_code,
            duration_ms: u64::try_from(duration).unwrap_or_default(),
            counts: report.as_ref().map(|report| report.counts),
            error,
            log: self.log_name(side),
            output: None,
        };
        let output = end_of_output.filter(|_| !run.passed());
        let run = TestRun { output, ..run };
        TestResult { completed: CompletedRun { run, report }, detected }
    }

    async fn clean_up(&self, record: &TestRunRecord) -> Result<(), DeliveryError> {
        let finalizer = self.outcome.finalizer;
        finalizer.workspaces.remove_test_worktree(record).await;
        let update = finalizer.jobs.store.update(self.outcome.id, |job| {
            if let Some(delivery) = &mut job.delivery {
                delivery.test_run = None;
            }
        });
        update.await.map(drop).map_err(Into::into)
    }
}

/// Returns why the tests did not run: a reserved exit code of the shell or of run_tests.sh, or a signal.
/// Returns `None` for other exit codes, which are those of the tests.
fn error_of(exit: &Exit) -> Option<String> {
    let reason = match (exit.code, exit.signal) {
        (Some(125), _) => {
            "the setup script failed or the test command could not be started (exit code 125)".to_owned()
        }
        (Some(126), _) => "a program in the test command is not executable (exit code 126)".to_owned(),
        (Some(127), _) => format!(
            "a program in the test command was not found (exit code 127); {SETUP_SCRIPT} can install it"
        ),
        (Some(_), _) => return None,
        (None, Some(signal)) => format!("terminated by signal {signal}"),
        (None, None) => "the exit status is unknown".to_owned(),
    };
    Some(reason)
}
