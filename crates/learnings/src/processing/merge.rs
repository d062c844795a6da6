//! Merging of one work directory's pending learnings into the patterns; runs in the script's process.

use std::path::Path;

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
    let pending = Pending::of(work_dir);
    let (names, candidates): (Vec<_>, Vec<_>) = pending.take(checkout).into_iter().unzip();
    let report = merge(candidates, store, classify);
    match &report {
        Ok(_) => {
            // Removed only after the merge is on disk. After a crash in between, the source keys prevent a
            // second merge.
            names.iter().for_each(|name| pending.remove(name));
            let processed = Some(names.len());
            ProcessingStatus { processed, ..ProcessingStatus::at(State::Completed, None) }
                .write_or_log(work_dir);
        }
        Err(message) => {
            ProcessingStatus::at(State::Error, Some(redact::cause(message))).write_or_log(work_dir)
        }
    }
    report
}

fn merge(
    candidates: Vec<PendingLearning>,
    store: &PatternStore,
    classify: impl FnOnce(&[UnclassifiedLearning]) -> Result<Vec<Classification>, String>,
) -> Result<MergeReport, String> {
    let count = candidates.len();
    let without_category = unclassified(&candidates);
    let classifications =
        if without_category.is_empty() { Ok(Vec::new()) } else { classify(&without_category) };
    let classifications =
        classifications.map_err(|reason| format!("Failed to classify the learnings: {reason}"))?;
    let candidates = apply(candidates, &classifications);
    let rejected = count - candidates.len();
    if candidates.is_empty() {
        return Ok(MergeReport { rejected, ..MergeReport::default() });
    }
    let report = store.merge(&candidates, Timestamp::now());
    let report = report.map_err(|error| format!("Failed to write the patterns: {error}"))?;
    Ok(MergeReport { rejected, ..report })
}
