//! The user's patterns: a text file for users and agents, and a JSON file with a record per pattern.
//!
//! Each change holds the lock of the records, reads both files again, and preserves edits by the user: edited
//! rows keep their text and confidence, and removed rows are not learned again. A learning that contradicts a
//! pattern is added, and both are marked for review.

mod agreement;
mod merging;
mod notes;
mod replacement;

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use loopgate_home::{JsonFile, files};

use crate::outcomes::{LearningUse, UseEffect};
use crate::pattern::{Confidence, MAX_SUMMARY_CHARS, Pattern, one_line};
use crate::pending::{LearningSource, PendingLearning};
use crate::records::{LearningRecords, PatternAgreement, Record, fingerprint};
use crate::similarity::use_of;
use crate::toon::PatternFile;
use merging::{cap, merge_one};

pub use agreement::AgreementError;
pub use notes::{Note, NoteQuery, Notes, Relevance, ToolSubject};
pub use replacement::{MergeResult, ReplacementError};

const PATTERNS: &str = "org-patterns.toon";
const BACKUP: &str = "org-patterns.toon.bak";
const RECORDS: &str = "pattern-records.json";
/// Maximum number of rows. A prompt has room for fewer rows, so additional ones would never be used.
const MAX_PATTERNS: usize = 50;
/// Maximum size of the patterns file in bytes; users edit it, so it can have any size.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Characters per token, a common estimate for English text.
const CHARS_PER_TOKEN: usize = 4;
// Flags in the order in which their rows are dropped.
const DROP_ORDER: [&str; 3] = ["[PRUNE]", "[STALE]", "[REVIEW]"];

/// Result of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergeReport {
    /// Number of new patterns.
    pub added: usize,
    /// Number of learnings that matched an existing pattern.
    pub merged: usize,
    /// Number of new patterns that contradict an existing one.
    pub conflicts: usize,
    /// Number of learnings that the user removed earlier.
    pub skipped: usize,
    /// Number of learnings rejected by the classification.
    pub rejected: usize,
}

/// A pattern with its source text and its history, for lists.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPattern {
    /// The row; for a file in another format, its summary is the block's first line.
    pub pattern: Pattern,
    /// Source text of the row or block.
    pub raw: String,
    /// Origin and effect; empty for a row that the user wrote.
    pub history: PatternHistory,
}

/// Where a pattern came from, who agreed to it, and what it did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PatternHistory {
    /// Origins, oldest first; at most 20.
    pub sources: Vec<LearningSource>,
    /// Whether the assistant considers the pattern true for other repositories too.
    pub proposed: bool,
    /// Agreement of a person that it applies to all repositories.
    pub agreement: Option<PatternAgreement>,
    /// Whether the pattern applies nowhere until a person agrees.
    pub needs_agreement: bool,
    /// Number of agents that received it.
    pub shown: u64,
    /// Number of uses.
    pub uses: u64,
    /// Number of uses that proved correct.
    pub verified: u64,
    /// Time of the last use.
    pub last_used_at: Option<Timestamp>,
    /// Ids of contradicting patterns.
    pub conflicts_with: Vec<String>,
}

impl PatternHistory {
    fn of(record: &Record, pattern: &Pattern) -> Self {
        Self {
            sources: record.sources.clone(),
            proposed: record.proposed,
            agreement: record.agreement.clone().filter(|_| record.is_agreed(pattern)),
            needs_agreement: pattern.is_general() && !record.is_agreed(pattern),
            shown: record.shown,
            uses: record.uses,
            verified: record.verified,
            last_used_at: record.last_used_at,
            conflicts_with: record.conflicts_with.clone(),
        }
    }
}

/// The files with patterns and records. All methods perform blocking I/O.
#[derive(Debug, Clone)]
pub struct PatternStore {
    directory: PathBuf,
    fallback: Option<PathBuf>,
}

impl PatternStore {
    /// Creates a store in a private directory; `fallback` is read when there is no patterns file.
    #[must_use]
    pub const fn new(directory: PathBuf, fallback: Option<PathBuf>) -> Self {
        Self { directory, fallback }
    }

    /// Returns the path of the patterns file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.join(PATTERNS)
    }

    fn records(&self) -> JsonFile<LearningRecords> {
        JsonFile::private(self.directory.join(RECORDS))
    }

    fn read(path: &Path) -> io::Result<Option<String>> {
        match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(metadata) if metadata.len() > MAX_BYTES => {
                return Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    "the patterns file is larger than 4 MiB",
                ));
            }
            _ => {}
        }
        std::fs::read_to_string(path).map(Some)
    }

    /// Returns all patterns.
    ///
    /// # Errors
    /// Fails when an existing file cannot be read.
    pub fn list(&self) -> io::Result<Vec<ListedPattern>> {
        let fallback = || self.fallback.as_deref().map_or(Ok(None), Self::read);
        let Some(text) = Self::read(&self.path())?.map_or_else(fallback, |text| Ok(Some(text)))? else {
            return Ok(Vec::new());
        };
        // A file in another format is shown block by block instead of as an empty list.
        let file = PatternFile::parse(&text);
        if !file.is_toon() {
            return Ok(blocks(&text));
        }
        // The file is the list; without readable records, it is shown without its history.
        let records = self.records().read().ok().flatten().unwrap_or_default();
        let listed = |row: &crate::toon::Row| {
            let mut pattern = row.pattern.clone();
            let record = records.patterns.get(&pattern.id);
            let history = record.map(|record| PatternHistory::of(record, &pattern)).unwrap_or_default();
            pattern.summary = shown_summary(&pattern);
            ListedPattern { pattern, raw: row.text(), history }
        };
        Ok(file.rows().map(listed).collect())
    }

    /// Changes both files under the lock; the patterns file is only written when its content changed.
    fn update<R>(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut PatternFile, &mut LearningRecords) -> R,
    ) -> io::Result<R> {
        files::create_private_dir(&self.directory)?;
        self.records().update(|records: &mut Option<LearningRecords>| {
            let text = Self::read(&self.path())?;
            let records = records.get_or_insert_default();
            match &text {
                // Deleting the file resets all learnings, including the records of removed rows.
                None => records.patterns.clear(),
                Some(text) => detect_edits(&PatternFile::parse(text), records, now),
            }
            let mut file = PatternFile::parse(text.as_deref().unwrap_or_default());
            let result = change(&mut file, records);
            for pattern in file.patterns_mut() {
                if let Some(record) = records.patterns.get_mut(&pattern.id) {
                    record.apply_to(pattern, now);
                }
            }
            let new_text = file.format();
            // The records are written after this closure. A crash in between leaves rows without a record,
            // which are treated like rows of the user.
            if text.as_deref() != Some(&new_text) && !new_text.is_empty() {
                if let Some(text) = &text {
                    files::write_private(&self.directory.join(BACKUP), text.as_bytes())?;
                }
                files::write_private(&self.path(), new_text.as_bytes())?;
            }
            Ok(result)
        })
    }

    /// Merges new learnings into the patterns.
    ///
    /// # Errors
    /// Fails on I/O errors, without changing the patterns.
    pub(crate) fn merge(&self, candidates: &[PendingLearning], now: Timestamp) -> io::Result<MergeReport> {
        self.update(now, |file, records| {
            let mut report = MergeReport::default();
            for candidate in candidates {
                merge_one(file, records, candidate, now, &mut report);
            }
            cap(file, records);
            report
        })
    }

    /// Records uses; returns the number of uses that matched a pattern.
    ///
    /// # Errors
    /// Fails on I/O errors, without changing the patterns.
    pub fn count_uses(&self, uses: &[LearningUse], now: Timestamp) -> io::Result<usize> {
        // Creating an empty patterns file would hide the older one.
        if Self::read(&self.path())?.is_none() {
            return Ok(0);
        }
        self.update(now, |file, records| {
            let mut matched = 0;
            for learning_use in uses {
                let matches = file.patterns_mut().filter_map(|pattern| {
                    let share = match &learning_use.id {
                        Some(id) => (*id == pattern.id).then_some(1.0)?,
                        None => use_of(&learning_use.summary, &pattern.summary)?,
                    };
                    Some((share, pattern))
                });
                let Some((_, pattern)) = matches.max_by(|one, other| one.0.total_cmp(&other.0)) else {
                    continue;
                };
                let new = || Record::user_written(pattern, now);
                let record = records.patterns.entry(pattern.id.clone()).or_insert_with(new);
                if !record.is_new_use(&learning_use.key) {
                    continue;
                }
                matched += 1;
                if learning_use.effect == UseEffect::Shown {
                    record.shown += 1;
                    continue;
                }
                pattern.seen_count += 1;
                record.uses += 1;
                record.verified += u64::from(learning_use.effect == UseEffect::Verified);
                record.last_used_at = Some(now);
            }
            matched
        })
    }
}

/// Detects rows that the user edited or removed since the last write.
fn detect_edits(file: &PatternFile, records: &mut LearningRecords, now: Timestamp) {
    for (id, record) in &mut records.patterns {
        match file.patterns().find(|pattern| pattern.id == *id) {
            Some(pattern) => {
                if record.agreement.is_none() && record.is_generalized_in_file(pattern) {
                    record.agreement = Some(agreement::in_file(record, pattern, now));
                }
                record.edited |= fingerprint(pattern) != record.written;
                record.removed = false;
            }
            None => record.removed = true,
        }
    }
}

/// Returns the summary as lists show it.
fn shown_summary(pattern: &Pattern) -> String {
    pattern.summary.chars().take(MAX_SUMMARY_CHARS).collect()
}

/// Splits a file in another format into blocks separated by blank lines, one entry each.
fn blocks(text: &str) -> Vec<ListedPattern> {
    let text = text.replace("\r\n", "\n");
    let blocks = text.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let listed = |(at, block): (usize, &str)| {
        let first = block.lines().next().unwrap_or_default();
        let summary =
            first.trim_start_matches(|letter: char| "-*#".contains(letter) || letter.is_whitespace());
        let pattern = Pattern {
            id: format!("pattern-{}", at + 1),
            category: "insight".to_owned(),
            summary: one_line(summary, MAX_SUMMARY_CHARS),
            confidence: Confidence::Medium,
            seen_count: 0,
            success_rate: None,
            flags: String::new(),
            applies_to: Vec::new(),
            context: Vec::new(),
            repo: "*".to_owned(),
        };
        ListedPattern { pattern, raw: block.to_owned(), history: PatternHistory::default() }
    };
    blocks.enumerate().map(listed).collect()
}

#[cfg(test)]
mod tests;
