//! Decisions of a person about a pattern: that it applies to all repositories, that it does not, and its deletion.

use std::io;

use jiff::Timestamp;

use super::{PatternStore, shown_summary};
use crate::pattern::{ALL, Pattern};
use crate::records::{IN_THE_FILE, LearningRecords, PatternAgreement, Record};
use crate::toon::PatternFile;

/// Reason for which a decision about a pattern was not stored.
#[derive(Debug)]
pub enum AgreementError {
    /// There is no pattern with this id.
    Unknown,
    /// The text of the pattern differs from the one that the person has seen.
    Changed,
    /// The files cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for AgreementError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl PatternStore {
    /// Stores that a person has agreed that a pattern, with this summary, applies to all repositories.
    ///
    /// # Errors
    /// Fails for an unknown or changed pattern, and on I/O errors.
    pub fn agree(&self, id: &str, summary: &str, by: &str, now: Timestamp) -> Result<(), AgreementError> {
        self.decide(id, summary, now, |pattern, record| {
            let repo = if pattern.is_general() { origin(record) } else { pattern.repo.clone() };
            record.agreement =
                Some(PatternAgreement { by: by.to_owned(), at: now, summary: pattern.summary.clone(), repo });
            ALL.clone_into(&mut pattern.repo);
        })
    }

    /// Takes back an agreement: the pattern applies to its own repository only.
    ///
    /// # Errors
    /// Fails for an unknown or changed pattern, and on I/O errors.
    pub fn withdraw(&self, id: &str, summary: &str, now: Timestamp) -> Result<(), AgreementError> {
        self.decide(id, summary, now, |pattern, record| {
            let before = record.agreement.take().map(|agreement| agreement.repo);
            if pattern.is_general() {
                pattern.repo = before.filter(|repo| !repo.is_empty()).unwrap_or_else(|| origin(record));
            }
        })
    }

    /// Deletes a pattern for good: it is not learned again.
    ///
    /// # Errors
    /// Fails for an unknown or changed pattern, and on I/O errors.
    pub fn delete(&self, id: &str, summary: &str, now: Timestamp) -> Result<(), AgreementError> {
        self.update(now, |file, records| {
            find(file, id, summary)?;
            record_of(file, records, id, now).ok_or(AgreementError::Unknown)?.removed = true;
            file.remove(id);
            Ok(())
        })?
    }

    fn decide(
        &self,
        id: &str,
        summary: &str,
        now: Timestamp,
        decision: impl FnOnce(&mut Pattern, &mut Record),
    ) -> Result<(), AgreementError> {
        // An update would create an empty patterns file, which hides that of an earlier installation.
        if Self::read(&self.path())?.is_none() {
            return Err(AgreementError::Unknown);
        }
        self.update(now, |file, records| {
            find(file, id, summary)?;
            let record = record_of(file, records, id, now).ok_or(AgreementError::Unknown)?;
            let pattern = file.patterns_mut().find(|pattern| pattern.id == id);
            decision(pattern.ok_or(AgreementError::Unknown)?, record);
            Ok(())
        })?
    }
}

/// Returns the agreement of a person who wrote `*` into the file.
pub(super) fn in_file(record: &Record, pattern: &Pattern, now: Timestamp) -> PatternAgreement {
    let repo = record.written.rsplit('\n').next().unwrap_or_default();
    let repo = if repo == ALL { String::new() } else { repo.to_owned() };
    PatternAgreement { by: IN_THE_FILE.to_owned(), at: now, summary: pattern.summary.clone(), repo }
}

/// Returns the repository in which a pattern was learned last.
fn origin(record: &Record) -> String {
    let repos = record.sources.iter().rev().map(|source| &source.repo);
    // Without a source nothing is known. A name that no repository has keeps the pattern from all of them.
    repos.into_iter().find(|repo| !repo.is_empty()).map_or_else(|| "none".to_owned(), Clone::clone)
}

fn find(file: &PatternFile, id: &str, summary: &str) -> Result<(), AgreementError> {
    let pattern = file.patterns().find(|pattern| pattern.id == id).ok_or(AgreementError::Unknown)?;
    if shown_summary(pattern) == summary { Ok(()) } else { Err(AgreementError::Changed) }
}

fn record_of<'a>(
    file: &PatternFile,
    records: &'a mut LearningRecords,
    id: &str,
    now: Timestamp,
) -> Option<&'a mut Record> {
    let pattern = file.patterns().find(|pattern| pattern.id == id)?;
    Some(records.patterns.entry(id.to_owned()).or_insert_with(|| Record::user_written(pattern, now)))
}
