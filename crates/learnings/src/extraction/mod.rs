//! Extraction: a ticket's chat becomes pending learnings, in the background.

mod assistant;

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::jobs::{BackgroundJobs, ended};
use crate::pending::{LearningSource, Pending};
use crate::programs::LearningPrograms;
use crate::status::{ExtractionStatus, State, StatusFile as _};
use crate::worktree::Worktree;

/// What is extracted from.
#[derive(Debug, Clone)]
pub struct TicketChat {
    /// Its messages, in whatever form they are stored.
    pub text: String,
    /// Where it is from.
    pub source: LearningSource,
    /// Tab of the page that asked.
    pub active_tab: Option<String>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExtractionPhase {
    Running,
    /// Only its result is still to be written.
    Ending,
}

/// Extractions, at most one a work directory. Clones share them.
#[derive(Clone)]
pub struct Extractions {
    programs: Option<Arc<dyn LearningPrograms>>,
    jobs: BackgroundJobs<ExtractionPhase>,
}

impl Extractions {
    pub(crate) fn new(programs: Option<Arc<dyn LearningPrograms>>) -> Self {
        Self { programs, jobs: BackgroundJobs::default() }
    }

    /// How the extraction stands. Blocks on the disk.
    #[must_use]
    pub fn status(&self, work_dir: &Path) -> ExtractionStatus {
        match ExtractionStatus::read(work_dir, self.jobs.get(work_dir).is_some()) {
            ExtractionStatus { status: State::None, .. } => ExtractionStatus::none(),
            status => status,
        }
    }

    /// Begins to extract, unless that goes on already.
    ///
    /// # Errors
    /// When there is no assistant, or the status cannot be written; nothing is begun then.
    pub async fn start(&self, worktree: Worktree, chat: TicketChat) -> io::Result<()> {
        let Some(programs) = self.programs.clone() else {
            return Err(io::Error::other("no assistant is configured"));
        };
        let job = loop {
            match self.jobs.begin(&worktree.work_dir, ExtractionPhase::Running) {
                Ok(job) => break job,
                Err(other) if *other.borrow() == ExtractionPhase::Running => return Ok(()),
                Err(other) => ended(other).await,
            }
        };
        let started = ExtractionStatus {
            ticket_id: Some(chat.source.ticket.clone()),
            active_tab: chat.active_tab.clone(),
            ..ExtractionStatus::at(State::Processing, None)
        };
        let (status, work_dir) = (started.clone(), worktree.work_dir.clone());
        spawn_blocking(move || status.write(&work_dir)).await??;
        tokio::spawn(async move {
            let command = programs.assistant(&worktree.root).await;
            let answer = assistant::extract(command, &chat.text).await;
            job.publish(ExtractionPhase::Ending);
            let writing = spawn_blocking(move || {
                let result = answer.and_then(|learnings| write(&worktree.work_dir, &learnings, &chat.source));
                let end = match result {
                    Ok(count) => {
                        ExtractionStatus { count: Some(count), ..started.ended(State::Completed, None) }
                    }
                    Err(reason) => started.ended(State::Error, Some(loopgate_api::redact::cause(&reason))),
                };
                end.note(&worktree.work_dir);
                drop(job);
            });
            let _ = writing.await;
        });
        Ok(())
    }

    /// Waits for the extraction that goes on; returns at once when there is none.
    pub async fn ended(&self, work_dir: &Path) {
        if let Some(state) = self.jobs.get(work_dir) {
            ended(state).await;
        }
    }
}

/// Leaves one pending file a learning, and counts them.
fn write(
    work_dir: &Path,
    learnings: &[assistant::Learning],
    source: &LearningSource,
) -> Result<usize, String> {
    let pending = Pending::of(work_dir);
    for learning in learnings {
        let written = pending.write(&learning.document(source));
        written.map_err(|error| format!("A learning cannot be written: {error}"))?;
    }
    Ok(learnings.len())
}
