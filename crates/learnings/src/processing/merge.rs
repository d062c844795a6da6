//! What the script does: merges the pending learnings of one work directory into the patterns.

use std::io;
use std::path::Path;

use jiff::Timestamp;

use crate::pending::Pending;
use crate::status::{ProcessingStatus, State, StatusFile as _};
use crate::store::{MergeReport, PatternStore};

/// Merges the pending learnings of a work directory into the patterns, and notes how that went. Blocks on the
/// disk.
///
/// # Errors
/// Any failure of the file system; what is pending stays then.
pub fn process(work_dir: &Path, store: &PatternStore) -> io::Result<MergeReport> {
    ProcessingStatus::at(State::Processing, None).note(work_dir);
    let pending = Pending::of(work_dir);
    let (names, candidates): (Vec<_>, Vec<_>) = pending.take().into_iter().unzip();
    let merged = if candidates.is_empty() {
        Ok(MergeReport::default())
    } else {
        store.merge(&candidates, Timestamp::now())
    };
    match &merged {
        Ok(_) => {
            names.iter().for_each(|name| pending.remove(name));
            let processed = Some(names.len());
            ProcessingStatus { processed, ..ProcessingStatus::at(State::Completed, None) }.note(work_dir);
        }
        Err(error) => {
            let message = format!("The patterns cannot be written: {error}");
            ProcessingStatus::at(State::Error, Some(loopgate_api::redact::cause(&message))).note(work_dir);
        }
    }
    merged
}
