//! Processing of all worktrees, one at a time.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use loopgate_home::{files, untrusted};
use loopgate_tools::process::{Output, StartError};
use tokio::task::spawn_blocking;

use super::Processing;
use crate::pending::pending_count;
use crate::programs::LearningPrograms;
use crate::status::{BatchStatus, INTERRUPTED, OwnedStatus, State};
use crate::worktree::LearningCheckout;

const STATUS: &str = "batch-processing-status.json";
const LOG: &str = "batch-process-learnings.log";

/// Result of a request to process all worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchStart {
    /// A batch is already running.
    AlreadyProcessing(BatchStatus),
    /// No worktree has pending learnings.
    NothingPending,
    /// No plugin provides the script.
    NoScript,
    /// The batch was started in this process.
    Started {
        /// Number of worktrees with pending learnings.
        worktree_count: usize,
    },
}

/// The desktop's batch, of which at most one runs. Clones share it.
#[derive(Clone)]
pub struct Batch {
    directory: PathBuf,
    processing: Processing,
    /// Whether a batch of this process is running.
    running: Arc<Mutex<bool>>,
}

impl Batch {
    pub(crate) fn new(directory: PathBuf, processing: Processing) -> Self {
        Self { directory, processing, running: Arc::default() }
    }

    /// Returns the status; a batch whose process has exited counts as failed. Performs blocking I/O.
    #[must_use]
    pub fn status(&self) -> BatchStatus {
        let running = *self.lock();
        self.read(running)
    }

    /// Starts processing the worktrees that have pending learnings. Performs blocking I/O.
    ///
    /// # Errors
    /// Fails when the status cannot be written.
    pub fn start(&self, worktrees: Vec<LearningCheckout>) -> io::Result<BatchStart> {
        // The lock is held until the status is written: two concurrent requests must not start two batches.
        let mut running = self.lock();
        let current = self.read(*running);
        if current.status == State::Processing {
            return Ok(BatchStart::AlreadyProcessing(current));
        }
        let with_counts = worktrees.into_iter().map(|worktree| (pending_count(&worktree.work_dir), worktree));
        let (counts, worktrees): (Vec<_>, Vec<_>) = with_counts.filter(|(count, _)| *count > 0).unzip();
        if worktrees.is_empty() {
            return Ok(BatchStart::NothingPending);
        }
        let script = self.processing.plugins.processing_script();
        let (Some(script), Some(programs)) = (script, self.processing.programs.clone()) else {
            return Ok(BatchStart::NoScript);
        };
        let worktree_count = worktrees.len();
        let status = BatchStatus {
            status: State::Processing,
            worktree_count: Some(worktree_count),
            total_pending: Some(counts.iter().sum()),
            processed_worktrees: Some(0),
            started_at: Some(Timestamp::now()),
            ..BatchStatus::default()
        };
        self.write(&status)?;
        *running = true;
        tokio::spawn(self.clone().run(worktrees, script, programs, status));
        Ok(BatchStart::Started { worktree_count })
    }

    async fn run(
        self,
        worktrees: Vec<LearningCheckout>,
        script: PathBuf,
        programs: Arc<dyn LearningPrograms>,
        mut status: BatchStatus,
    ) {
        for (done, worktree) in (1..).zip(worktrees) {
            let output = self.processing.run(&worktree, &script, &*programs).await;
            status.processed_worktrees = Some(done);
            let (batch, status) = (self.clone(), status.clone());
            let write = spawn_blocking(move || {
                if let Err(error) = batch.log(&worktree, output).and_then(|()| batch.write(&status)) {
                    tracing::warn!(%error, "failed to write progress of learnings batch");
                }
            });
            // A panic in the blocking task only loses one progress report; the batch continues.
            let _ = write.await;
        }
        status.status = State::Completed;
        status.completed_at = Some(Timestamp::now());
        let write = spawn_blocking(move || {
            let mut running = self.lock();
            if let Err(error) = self.write(&status) {
                tracing::warn!(%error, "failed to write final status of learnings batch");
            }
            // Under the same lock as the status, so that `status` never reads one without the other.
            *running = false;
        });
        let _ = write.await;
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the status file; the caller holds the lock.
    fn read(&self, running: bool) -> BatchStatus {
        let text = std::fs::read(self.directory.join(STATUS)).unwrap_or_default();
        let file: OwnedStatus<BatchStatus> = serde_json::from_slice(&text).unwrap_or_default();
        // The batch may run in another process that uses the same data directory.
        let is_running = file.is_owner_running(running).unwrap_or(false);
        let status = file.status;
        if status.status != State::Processing || is_running {
            return status;
        }
        let error = Some(INTERRUPTED.to_owned());
        BatchStatus { status: State::Error, error, completed_at: Some(Timestamp::now()), ..status }
    }

    fn write(&self, status: &BatchStatus) -> io::Result<()> {
        let file = OwnedStatus::new(status, status.status == State::Processing);
        files::create_private_dir(&self.directory)?;
        files::write_private(&self.directory.join(STATUS), &serde_json::to_vec(&file)?)
    }

    fn log(&self, worktree: &LearningCheckout, output: Result<Output, StartError>) -> io::Result<()> {
        let mut text = format!("== {}\n", worktree.work_dir.display()).into_bytes();
        match output {
            Ok(output) => text.extend([output.stdout, output.stderr].concat()),
            Err(error) => text.extend(format!("{error}\n").into_bytes()),
        }
        untrusted::append(&self.directory.join(LOG))?.write_all(&text)
    }
}
