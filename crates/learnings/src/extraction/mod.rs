//! Extraction of pending learnings from a ticket's chat, as a background job.

mod assistant;

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::jobs::{BackgroundJobs, ended};
use crate::pending::{LearningSource, Pending};
use crate::programs::LearningPrograms;
use crate::status::{ExtractionStatus, State, StatusFile as _};
use crate::worktree::LearningCheckout;

/// Input of an extraction.
#[derive(Debug, Clone)]
pub struct TicketChat {
    /// Messages of the chat in their stored form.
    pub text: String,
    /// Origin of the learnings.
    pub source: LearningSource,
    /// Tab of the page that requested the extraction; repeated in the status.
    pub active_tab: Option<String>,
}

/// State of a background extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExtractionPhase {
    Running,
    /// The result is known and is being written.
    Ending,
}

/// Extraction jobs, at most one per work directory. Clones share them.
#[derive(Clone)]
pub struct Extractions {
    programs: Option<Arc<dyn LearningPrograms>>,
    jobs: BackgroundJobs<ExtractionPhase>,
}

impl Extractions {
    pub(crate) fn new(programs: Option<Arc<dyn LearningPrograms>>) -> Self {
        Self { programs, jobs: BackgroundJobs::default() }
    }

    /// Returns the status of an extraction. Performs blocking I/O.
    #[must_use]
    pub fn status(&self, work_dir: &Path) -> ExtractionStatus {
        match ExtractionStatus::read(work_dir, self.jobs.get(work_dir).is_some()) {
            ExtractionStatus { status: State::None, .. } => ExtractionStatus::none(),
            status => status,
        }
    }

    /// Starts an extraction, unless one is running.
    ///
    /// # Errors
    /// Fails without starting when no assistant is configured or the status cannot be written.
    pub async fn start(&self, worktree: LearningCheckout, chat: TicketChat) -> io::Result<()> {
        let Some(programs) = self.programs.clone() else {
            return Err(io::Error::other("no assistant is configured"));
        };
        let job = loop {
            // A job that only writes its result has read an older chat: wait for it, then extract the current
            // chat.
            match self.jobs.begin(&worktree.work_dir, ExtractionPhase::Running) {
                Ok(job) => break job,
                Err(running) if *running.borrow() == ExtractionPhase::Running => return Ok(()),
                Err(running) => ended(running).await,
            }
        };
        let started = ExtractionStatus {
            ticket_id: Some(chat.source.ticket.clone()),
            active_tab: chat.active_tab.clone(),
            ..ExtractionStatus::at(State::Processing, None)
        };
        let (status, work_dir) = (started.clone(), worktree.work_dir.clone());
        // Before the job is spawned, so that a client that polls right after this call sees `processing`.
        spawn_blocking(move || status.write(&work_dir)).await??;
        tokio::spawn(async move {
            let command = programs.assistant(&worktree.root).await;
            let answer = assistant::extract(command, &chat.text).await;
            job.publish(ExtractionPhase::Ending);
            let writing = spawn_blocking(move || {
                let result = answer.and_then(|learnings| write(&worktree.work_dir, &learnings, &chat.source));
                let final_status = match result {
                    Ok(count) => {
                        ExtractionStatus { count: Some(count), ..started.ended(State::Completed, None) }
                    }
                    Err(reason) => started.ended(State::Error, Some(loopgate_api::redact::cause(&reason))),
                };
                final_status.write_or_log(&worktree.work_dir);
                // Inside the blocking task: the job must not end before its result is on disk.
                drop(job);
            });
            // Fails only when the task panicked or the runtime shuts down. A later reader of the status then
            // reports an interruption.
            let _ = writing.await;
        });
        Ok(())
    }

    /// Waits until no extraction of the work directory is running.
    pub async fn wait_finished(&self, work_dir: &Path) {
        if let Some(state) = self.jobs.get(work_dir) {
            ended(state).await;
        }
    }
}

/// Writes one pending file per learning; returns their number.
fn write(
    work_dir: &Path,
    learnings: &[assistant::Learning],
    source: &LearningSource,
) -> Result<usize, String> {
    let pending = Pending::of(work_dir);
    for learning in learnings {
        let written = pending.write("chat", &learning.document(source));
        written.map_err(|error| format!("Failed to write a pending learning: {error}"))?;
    }
    Ok(learnings.len())
}
