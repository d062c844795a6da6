//! The user's patterns: a text file for users and agents, and a JSON file with a record per pattern.
//!
//! Each change holds the lock of the records, reads both files again, and preserves edits by the user: edited
//! rows keep their text and confidence, and removed rows are not learned again. A learning that contradicts a
//! pattern is added, and both are marked for review.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use loopgate_home::{JsonFile, files};

use crate::outcomes::LearningUse;
use crate::pattern::{Confidence, MAX_SUMMARY_CHARS, Pattern, one_line};
use crate::pending::PendingLearning;
use crate::records::{LearningRecords, Record, fingerprint};
use crate::similarity::{Relation, relation, use_of};
use crate::toon::PatternFile;

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

/// A pattern with its source text, for lists.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPattern {
    /// The row; for a file in another format, its summary is the block's first line.
    pub pattern: Pattern,
    /// Source text of the row or block.
    pub raw: String,
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
        let listed = |row: &crate::toon::Row| {
            let mut pattern = row.pattern.clone();
            pattern.summary = pattern.summary.chars().take(MAX_SUMMARY_CHARS).collect();
            ListedPattern { pattern, raw: row.text() }
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
                Some(text) => detect_edits(&PatternFile::parse(text), records),
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
                    let share = use_of(&learning_use.summary, &pattern.summary)?;
                    Some((share, pattern))
                });
                let Some((_, pattern)) = matches.max_by(|one, other| one.0.total_cmp(&other.0)) else {
                    continue;
                };
                pattern.seen_count += 1;
                let new = || Record::user_written(pattern, now);
                let record = records.patterns.entry(pattern.id.clone()).or_insert_with(new);
                record.uses += 1;
                record.verified += u64::from(learning_use.verified);
                record.last_used_at = Some(now);
                matched += 1;
            }
            matched
        })
    }

    /// Returns the text for a loop's prompt: the most relevant patterns for a repository, within a token
    /// budget.
    ///
    /// Returns `None` without patterns, and when the file cannot be read: learnings are best-effort and must
    /// not fail a loop.
    #[must_use]
    pub fn brief(&self, repo: &str, tokens: usize, now: Timestamp) -> Option<String> {
        let text = Self::read(&self.path()).ok().flatten()?;
        let records = self.records().read().ok().flatten().unwrap_or_default();
        let file = PatternFile::parse(&text);
        let score = |pattern: &Pattern| match records.patterns.get(&pattern.id) {
            Some(record) if !record.edited => record.score(now),
            _ => match pattern.confidence {
                // The user's confidence overrides the score: the middle of each level's range.
                Confidence::High => 0.85,
                Confidence::Medium => 0.55,
                Confidence::Low => 0.25,
            },
        };
        let is_relevant = |pattern: &&Pattern| pattern.is_for_repo(repo) && pattern.flags != "[PRUNE]";
        let mut patterns: Vec<(f64, &Pattern)> =
            file.patterns().filter(is_relevant).map(|pattern| (score(pattern), pattern)).collect();
        patterns.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut brief = String::from(BRIEF);
        let heading_len = brief.len();
        for (_, pattern) in patterns {
            let flags = Some(pattern.flags.as_str()).filter(|flags| !flags.is_empty());
            let flags = flags.map(|flags| format!(" {flags}")).unwrap_or_default();
            let summary = one_line(&pattern.summary, MAX_SUMMARY_CHARS);
            let line = format!("- {} [{}]{flags} {summary}\n", pattern.id, pattern.confidence.as_str());
            // A long row is skipped, so that shorter rows after it can use the budget.
            if (brief.chars().count() + line.chars().count()).div_ceil(CHARS_PER_TOKEN) <= tokens {
                brief.push_str(&line);
            }
        }
        (brief.len() > heading_len).then_some(brief)
    }
}

const BRIEF: &str = "# Learnings from earlier loops\n\n\
    Notes, not orders: use those that fit, check them against the code, and let the task decide.\n\n";

/// Detects rows that the user edited or removed since the last write.
fn detect_edits(file: &PatternFile, records: &mut LearningRecords) {
    for (id, record) in &mut records.patterns {
        match file.patterns().find(|pattern| pattern.id == *id) {
            Some(pattern) => {
                record.edited |= fingerprint(pattern) != record.written;
                record.removed = false;
            }
            None => record.removed = true,
        }
    }
}

fn merge_one(
    file: &mut PatternFile,
    records: &mut LearningRecords,
    candidate: &PendingLearning,
    now: Timestamp,
    report: &mut MergeReport,
) {
    if records.patterns.values().any(|record| record.has_source(&candidate.source)) {
        return;
    }
    let mut removed = records.patterns.values().filter(|record| record.removed);
    if removed.any(|record| relation(&record.summary, &candidate.summary) == Relation::Same) {
        report.skipped += 1;
        return;
    }
    // Patterns of two different repositories may contradict each other without a conflict.
    let overlaps = |repo: &str| repo == "*" || candidate.repo == "*" || repo == candidate.repo;
    let mut conflicts = Vec::new();
    for pattern in file.patterns_mut().filter(|pattern| overlaps(&pattern.repo)) {
        match relation(&pattern.summary, &candidate.summary) {
            Relation::Same => {
                pattern.seen_count += 1;
                let new = || Record::user_written(pattern, now);
                let record = records.patterns.entry(pattern.id.clone()).or_insert_with(new);
                record.add_source(candidate.source.clone());
                // Learning it again resets the idle time.
                record.learned_at = record.learned_at.max(now);
                report.merged += 1;
                return;
            }
            Relation::Conflict => conflicts.push(pattern.clone()),
            Relation::Different => {}
        }
    }
    // Ids of removed rows are not reused: users and logs may refer to them.
    let in_file = file.patterns().map(Pattern::number).max().unwrap_or(0);
    let in_records = records.patterns.keys().filter_map(|id| id.strip_prefix("P-")?.parse().ok()).max();
    let number = in_file.max(in_records.unwrap_or(0)) + 1;
    let pattern = Pattern {
        id: format!("P-{number:03}"),
        category: candidate.category.clone(),
        summary: candidate.summary.clone(),
        confidence: Confidence::Medium,
        seen_count: 1,
        success_rate: None,
        flags: "[UNTESTED]".to_owned(),
        applies_to: candidate.applies_to.clone(),
        context: candidate.context.clone(),
        repo: candidate.repo.clone(),
    };
    let mut record = Record::new(&pattern, now);
    record.add_source(candidate.source.clone());
    for other in &conflicts {
        let new = || Record::user_written(other, now);
        let other_record = records.patterns.entry(other.id.clone()).or_insert_with(new);
        other_record.conflicts_with.push(pattern.id.clone());
        record.conflicts_with.push(other.id.clone());
    }
    report.conflicts += usize::from(!conflicts.is_empty());
    report.added += 1;
    records.patterns.insert(pattern.id.clone(), record);
    file.push(pattern);
}

/// Drops the least valuable rows until the limit is met. Rows written or edited by the user are preserved.
fn cap(file: &mut PatternFile, records: &mut LearningRecords) {
    let excess = file.rows().count().saturating_sub(MAX_PATTERNS);
    let is_removable =
        |pattern: &&Pattern| records.patterns.get(&pattern.id).is_some_and(|record| !record.edited);
    let worth = |pattern: &Pattern| {
        let tier = DROP_ORDER.iter().position(|flag| *flag == pattern.flags);
        (tier.unwrap_or(DROP_ORDER.len()), pattern.seen_count, pattern.number())
    };
    let mut removable: Vec<(_, String)> =
        file.patterns().filter(is_removable).map(|pattern| (worth(pattern), pattern.id.clone())).collect();
    removable.sort_unstable();
    for (_, id) in removable.into_iter().take(excess) {
        file.remove(&id);
        records.patterns.remove(&id);
    }
    for record in records.patterns.values_mut().filter(|record| !record.removed) {
        let exists = |id: &String| file.patterns().any(|pattern| pattern.id == *id);
        record.conflicts_with.retain(exists);
    }
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
        ListedPattern { pattern, raw: block.to_owned() }
    };
    blocks.enumerate().map(listed).collect()
}

#[cfg(test)]
mod tests;
