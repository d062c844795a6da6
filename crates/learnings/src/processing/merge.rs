//! Merging of one work directory's pending learnings into the patterns; runs in the script's process.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use loopgate_api::redact;

use crate::classification::{Classification, UnclassifiedLearning, apply, unclassified};
use crate::pending::{LearningSource, Pending, PendingLearning};
use crate::status::{ProcessingStatus, State, StatusFile as _};
use crate::store::{MergeReport, PatternStore};

/// Merges the pending learnings of a work directory into the patterns and writes the processing status.
///
/// Learnings of agents are passed to `classify` first. `checkout` is the origin of learnings that do not
/// state it. Performs blocking I/O.
///
/// # Errors
/// Returns an error message for the user; the pending files are then left in place.
pub fn process(
    work_dir: &Path,
    store: &PatternStore,
    checkout: &LearningSource,
    classify: impl FnOnce(&[UnclassifiedLearning]) -> Result<Vec<Classification>, String>,
) -> Result<MergeReport, String> {
    ProcessingStatus::at(State::Processing, None).write_or_log(work_dir);
    let batch = PendingBatch::take(work_dir, checkout);
    let unclassified = batch.unclassified();
    let classifications = if unclassified.is_empty() { Ok(Vec::new()) } else { classify(&unclassified) };
    batch.merge(store, classifications)
}

/// Pending learnings of a work directory that are merged together.
#[derive(Debug)]
pub struct PendingBatch {
    work_dir: PathBuf,
    names: Vec<String>,
    candidates: Vec<PendingLearning>,
}

impl PendingBatch {
    /// Reads the pending learnings. Performs blocking I/O.
    #[must_use]
    pub fn take(work_dir: &Path, checkout: &LearningSource) -> Self {
        let (names, candidates) = Pending::of(work_dir).take(checkout).into_iter().unzip();
        Self { work_dir: work_dir.to_owned(), names, candidates }
    }

    /// Returns whether there is nothing to merge.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Returns the learnings that have to be classified before they are merged.
    #[must_use]
    pub fn unclassified(&self) -> Vec<UnclassifiedLearning> {
        unclassified(&self.candidates)
    }

    /// Merges the learnings into the patterns, removes their files and writes the processing status. Performs blocking
    /// I/O.
    ///
    /// # Errors
    /// Returns an error message for the user; the pending files are then left in place.
    pub fn merge(
        self,
        store: &PatternStore,
        classifications: Result<Vec<Classification>, String>,
    ) -> Result<MergeReport, String> {
        let report = classifications
            .map_err(|reason| format!("Failed to classify the learnings: {reason}"))
            .and_then(|classifications| merge(self.candidates, store, &classifications));
        match &report {
            Ok(_) => {
                // Removed only after the merge is on disk. After a crash in between, the source keys prevent a
                // second merge.
                let pending = Pending::of(&self.work_dir);
                self.names.iter().for_each(|name| pending.remove(name));
                let processed = Some(self.names.len());
                ProcessingStatus { processed, ..ProcessingStatus::at(State::Completed, None) }
                    .write_or_log(&self.work_dir);
            }
            Err(message) => {
                ProcessingStatus::at(State::Error, Some(redact::cause(message))).write_or_log(&self.work_dir)
            }
        }
        report
    }
}

fn merge(
    candidates: Vec<PendingLearning>,
    store: &PatternStore,
    classifications: &[Classification],
) -> Result<MergeReport, String> {
    let count = candidates.len();
    let candidates = apply(candidates, classifications);
    let rejected = count - candidates.len();
    if candidates.is_empty() {
        return Ok(MergeReport { rejected, ..MergeReport::default() });
    }
    let report = store.merge(&candidates, Timestamp::now());
    let report = report.map_err(|error| format!("Failed to write the patterns: {error}"))?;
    Ok(MergeReport { rejected: rejected + report.rejected, ..report })
}
