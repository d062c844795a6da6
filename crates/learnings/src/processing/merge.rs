//! What the script does: merges the pending learnings of one work directory into the patterns.

use std::path::Path;

use jiff::Timestamp;
use loopgate_api::redact;

use crate::classification::{Classification, UnclassifiedLearning, apply, unclassified};
use crate::pending::{LearningSource, Pending, PendingLearning};
use crate::status::{ProcessingStatus, State, StatusFile as _};
use crate::store::{MergeReport, PatternStore};

/// Merges the pending learnings of a work directory into the patterns, and notes how that went. What agents left
/// is given to `classify` first; `checkout` says where it was learned. Blocks on the disk.
///
/// # Errors
/// Why nothing was merged, for a person; what is pending stays then.
pub fn process(
    work_dir: &Path,
    store: &PatternStore,
    checkout: &LearningSource,
    classify: impl FnOnce(&[UnclassifiedLearning]) -> Result<Vec<Classification>, String>,
) -> Result<MergeReport, String> {
    ProcessingStatus::at(State::Processing, None).note(work_dir);
    let pending = Pending::of(work_dir);
    let (names, candidates): (Vec<_>, Vec<_>) = pending.take(checkout).into_iter().unzip();
    let merged = merge(candidates, store, classify);
    match &merged {
        Ok(_) => {
            names.iter().for_each(|name| pending.remove(name));
            let processed = Some(names.len());
            ProcessingStatus { processed, ..ProcessingStatus::at(State::Completed, None) }.note(work_dir);
        }
        Err(message) => ProcessingStatus::at(State::Error, Some(redact::cause(message))).note(work_dir),
    }
    merged
}

fn merge(
    candidates: Vec<PendingLearning>,
    store: &PatternStore,
    classify: impl FnOnce(&[UnclassifiedLearning]) -> Result<Vec<Classification>, String>,
) -> Result<MergeReport, String> {
    let count = candidates.len();
    let open = unclassified(&candidates);
    let classifications = if open.is_empty() { Ok(Vec::new()) } else { classify(&open) };
    let classifications =
        classifications.map_err(|reason| format!("The learnings cannot be classified: {reason}"))?;
    let candidates = apply(candidates, &classifications);
    let rejected = count - candidates.len();
    if candidates.is_empty() {
        return Ok(MergeReport { rejected, ..MergeReport::default() });
    }
    let merged = store.merge(&candidates, Timestamp::now());
    let merged = merged.map_err(|error| format!("The patterns cannot be written: {error}"))?;
    Ok(MergeReport { rejected, ..merged })
}
