//! One run of a repository's tests: in a clean worktree, under a shim, within a time. A run that an earlier process of
//! Loopgate had started is waited for; one that got lost is done again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use loopgate_api::event::LoopEvent;
use loopgate_api::redact;
use loopgate_api::test_evidence::TestRun;
use loopgate_evidence::{CompletedRun, TestCommand, read_report, test_command};
use loopgate_home::{Directory, untrusted};
use loopgate_tools::shim::{self, Exit, ShimHandle, Spec};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::outcome::LoopOutcome;
use super::super::retry::{DeliveryError, ensure_not_cancelled, repeat};
use crate::jobs::store::OutboxMessage;
use crate::jobs::{Job, ProcessKind, ProcessRecord, TestRunRecord};
use crate::process::spawn;
use crate::workspace::worktree::SETUP_SCRIPT;

/// Bytes of a log; what is printed beyond is dropped.
pub(super) const MAX_LOG: u64 = 16 * 1024 * 1024;
const GRACE: Duration = Duration::from_secs(5);
const SWEEP_GRACE: Duration = Duration::from_secs(3);
const SCRIPT: &str = include_str!("run_tests.sh");

/// Which of the two commits is tested.
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

/// What a run says, and the command by which its tree is tested now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TestResult {
    #[serde(flatten)]
    pub completed: CompletedRun,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected: Option<TestCommand>,
}

/// How a run ended.
enum RunEnd {
    Exited(Exit),
    /// It did not come to its end; why, for a person.
    Failed(String),
}

/// Runs the tests of one repository of a loop.
pub(super) struct TestSite<'a> {
    pub outcome: &'a LoopOutcome<'a>,
    /// The loop's work directory: logs and exits go there.
    pub work_dir: PathBuf,
    pub clone: PathBuf,
    /// What the person agreed to.
    pub command: String,
    /// What the names of logs end with; empty for the loop's own repository.
    pub suffix: String,
}

impl TestSite<'_> {
    /// Where the output of a run is kept.
    pub fn log(&self, side: Side) -> PathBuf {
        self.work_dir.join(self.log_name(side))
    }

    fn log_name(&self, side: Side) -> String {
        format!("tests-{}{}.log", side.as_str(), self.suffix)
    }

    /// Runs the tests at a commit, or takes up the run that is under way. Its worktree is removed.
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
        let cancelled = ensure_not_cancelled(self.outcome).await;
        let run = self.read(side, commit, end, &record).await;
        self.clean_up(&record).await?;
        cancelled.map(|()| run)
    }

    async fn job(&self) -> Result<Job, DeliveryError> {
        let job = self.outcome.finalizer.jobs.store.job(self.outcome.id).await?;
        job.ok_or(DeliveryError::Cancelled)
    }

    /// The end of a run that an earlier process had started; `None` when nobody knows it.
    async fn resume(&self, process: &ProcessRecord, record: &TestRunRecord) -> Option<RunEnd> {
        let (socket, exit_file) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
        if let Some(shim) = shim::attach(&socket, &exit_file).await {
            return Some(self.wait(&shim, record.started_ms).await);
        }
        let exit = tokio::task::spawn_blocking(move || Exit::read(&exit_file)).await.ok().flatten();
        if exit.is_none() {
            shim::reap(self.outcome.id, SWEEP_GRACE).await;
        }
        exit.map(RunEnd::Exited)
    }

    async fn start(
        &self,
        side: Side,
        commit: &str,
        process: &ProcessRecord,
        job: &Job,
    ) -> Result<(RunEnd, TestRunRecord), DeliveryError> {
        if let Some(left) = job.test_run() {
            self.outcome.finalizer.workspaces.remove_test_worktree(left).await;
        }
        let record = self.make_worktree(commit).await?;
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
                let (traces, written) = (self.work_dir.clone(), state);
                let _ = tokio::task::spawn_blocking(move || spawn::write_pid_files(&traces, &written)).await;
                let now = self.outcome.finalizer.jobs.change(self.outcome.id, |now| {
                    (now.job.run.pid, now.job.run.pid_started_at) = (Some(pid.0), pid.1);
                    Ok(())
                });
                if now.await?.is_cancelled() {
                    let _ = shim.kill(GRACE).await;
                }
                self.wait(&shim, record.started_ms).await
            }
            Err(error) => RunEnd::Failed(redact::cause(&error.to_string())),
        };
        Ok((end, record))
    }

    /// Makes the worktree. It is in the record before it is on the disk, so that a later process removes it.
    async fn make_worktree(&self, commit: &str) -> Result<TestRunRecord, DeliveryError> {
        let finalizer = self.outcome.finalizer;
        let refused = |path: &Path| {
            std::io::Error::other(format!("the sandbox does not allow a worktree at {}", path.display()))
        };
        let clone = finalizer.layout.allowed(&self.clone).ok_or_else(|| refused(&self.clone))?;
        let name = format!("{}-loop-tests-{}", clone.base_name(), self.outcome.id.short());
        let place = finalizer.layout.for_new(&clone, &name).map_err(|path| refused(&path))?;
        let record = TestRunRecord {
            worktree: place.as_path().to_owned(),
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
        repeat(self.outcome, "making a worktree for the tests", add).await?;
        Ok(record)
    }

    /// Records the process before it is started, and tells of it. `None` when the loop is to end.
    async fn announce(
        &self,
        side: Side,
        process: &ProcessRecord,
        record: &TestRunRecord,
    ) -> Result<Option<TestRunRecord>, DeliveryError> {
        let commit = record.commit.get(..10).unwrap_or(&record.commit);
        let text = format!("Running the tests at the {} ({commit}): {}", side.as_str(), self.command);
        let event = LoopEvent::new("output", &json!({"data": {"chunk": text}}));
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

    /// What is started: the repository's set-up script, where the person trusts it, and then the tests. They get the
    /// environment of an assistant, in which git runs nothing of a repository that is not trusted.
    async fn spec(&self, side: Side, process: &ProcessRecord, worktree: &Path) -> Spec {
        let finalizer = self.outcome.finalizer;
        let (mut env, guard) = finalizer.environment.guarded(&[worktree]).await;
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

    async fn wait(&self, shim: &ShimHandle, started_ms: i64) -> RunEnd {
        let limit = Duration::from_secs(self.outcome.finalizer.settings.get().test_time_limit_seconds.into());
        let passed = u64::try_from(Timestamp::now().as_millisecond() - started_ms).unwrap_or_default();
        let left = limit.saturating_sub(Duration::from_millis(passed));
        match tokio::time::timeout(left, shim.wait()).await {
            Ok(Ok(exit)) => RunEnd::Exited(exit),
            Ok(Err(error)) => {
                shim::reap(self.outcome.id, SWEEP_GRACE).await;
                RunEnd::Failed(error.to_string())
            }
            Err(_) => {
                let _ = shim.kill(GRACE).await;
                RunEnd::Failed(format!(
                    "they took longer than {} seconds (test_time_limit_seconds in the settings)",
                    limit.as_secs()
                ))
            }
        }
    }

    /// What the files say of a run that is over.
    async fn read(&self, side: Side, commit: &str, end: RunEnd, record: &TestRunRecord) -> TestResult {
        let (log, tree) = (self.log(side), record.worktree.clone());
        let looked = tokio::task::spawn_blocking(move || {
            // One byte more than is kept tells a log that was cut.
            let output = untrusted::read(&log, MAX_LOG).unwrap_or_default();
            let is_whole = u64::try_from(output.len()).is_ok_and(|length| length < MAX_LOG);
            let report = is_whole.then(|| read_report(&output)).flatten();
            (report, Directory::of(&tree).ok().and_then(|tree| test_command(&tree)))
        });
        let (report, detected) = looked.await.unwrap_or_default();
        let (exit_code, error, ended) = match end {
            RunEnd::Exited(exit) => (exit.code, error_of(&exit), exit.ended_at.parse().ok()),
            RunEnd::Failed(reason) => (None, Some(reason), None),
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
        };
        TestResult { completed: CompletedRun { run, report }, detected }
    }

    async fn clean_up(&self, record: &TestRunRecord) -> Result<(), DeliveryError> {
        let finalizer = self.outcome.finalizer;
        finalizer.workspaces.remove_test_worktree(record).await;
        let cleared = finalizer.jobs.store.update(self.outcome.id, |job| {
            if let Some(delivery) = &mut job.delivery {
                delivery.test_run = None;
            }
        });
        cleared.await.map(drop).map_err(Into::into)
    }
}

/// Why a command that ended did not run the tests: a shell's code for that, or a signal.
fn error_of(exit: &Exit) -> Option<String> {
    let reason = match (exit.code, exit.signal) {
        (Some(125), _) => {
            "the set-up script failed, or the command could not begin (exit code 125)".to_owned()
        }
        (Some(126), _) => "a program of the command cannot be executed (exit code 126)".to_owned(),
        (Some(127), _) => format!(
            "a program of the command was not found (exit code 127); {SETUP_SCRIPT} can install what it needs"
        ),
        (Some(_), _) => return None,
        (None, Some(signal)) => format!("they were ended by signal {signal}"),
        (None, None) => "how they ended is not known".to_owned(),
    };
    Some(reason)
}
