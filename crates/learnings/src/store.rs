//! The patterns of the person: one text file for people and agents, and one of records beside it.
//!
//! Every change happens under the lock of the records, reads both files anew, and keeps what a person wrote:
//! edited rows keep their words and their confidence, removed ones are not learned again, and a learning
//! that contradicts a pattern is added beside it, both marked for review.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use loopgate_home::{JsonFile, files};

use crate::outcomes::LearningUse;
use crate::pattern::{Confidence, Pattern, SUMMARY_MOST, one_line};
use crate::pending::PendingLearning;
use crate::records::{LearningRecords, Record, fingerprint};
use crate::similarity::{Relation, relation, use_of};
use crate::toon::PatternFile;

const PATTERNS: &str = "org-patterns.toon";
const BACKUP: &str = "org-patterns.toon.bak";
const RECORDS: &str = "pattern-records.json";
/// Rows that are kept.
const PATTERNS_MOST: usize = 50;
/// Bytes of the patterns file.
const BYTES_MOST: u64 = 4 * 1024 * 1024;
/// Letters that count as one token.
const LETTERS_A_TOKEN: usize = 4;
const DROPPED_FIRST: [&str; 3] = ["[PRUNE]", "[STALE]", "[REVIEW]"];

/// What a merge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergeReport {
    /// New patterns.
    pub added: usize,
    /// Learnings that were known.
    pub merged: usize,
    /// New patterns that contradict an older one.
    pub conflicts: usize,
    /// Learnings that a person removed earlier.
    pub skipped: usize,
    /// Learnings that were not worth keeping.
    pub rejected: usize,
}

/// A pattern for a list, with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPattern {
    /// Its row; of a file in another form, its first line is the summary.
    pub pattern: Pattern,
    /// The source text.
    pub raw: String,
}

/// The two files. Everything here blocks on the disk.
#[derive(Debug, Clone)]
pub struct PatternStore {
    directory: PathBuf,
    older: Option<PathBuf>,
}

impl PatternStore {
    /// The patterns in a private directory; `older` is a file that is read when there is none.
    #[must_use]
    pub const fn new(directory: PathBuf, older: Option<PathBuf>) -> Self {
        Self { directory, older }
    }

    /// The patterns file.
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
            Ok(metadata) if metadata.len() > BYTES_MOST => {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
            }
            _ => {}
        }
        std::fs::read_to_string(path).map(Some)
    }

    /// Every pattern.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub fn list(&self) -> io::Result<Vec<ListedPattern>> {
        let older = || self.older.as_deref().map_or(Ok(None), Self::read);
        let Some(text) = Self::read(&self.path())?.map_or_else(older, |text| Ok(Some(text)))? else {
            return Ok(Vec::new());
        };
        let file = PatternFile::parse(&text);
        if !file.has_form() {
            return Ok(blocks(&text));
        }
        let listed = |row: &crate::toon::Row| {
            let mut pattern = row.pattern.clone();
            pattern.summary = pattern.summary.chars().take(SUMMARY_MOST).collect();
            ListedPattern { pattern, raw: row.text() }
        };
        Ok(file.rows().map(listed).collect())
    }

    /// Changes both files under the lock; the patterns file is left alone when it stays the same.
    fn update<R>(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut PatternFile, &mut LearningRecords) -> R,
    ) -> io::Result<R> {
        files::create_private_dir(&self.directory)?;
        self.records().update(|stored: &mut Option<LearningRecords>| {
            let text = Self::read(&self.path())?;
            let records = stored.get_or_insert_default();
            match &text {
                // Whoever deletes the file begins anew.
                None => records.patterns.clear(),
                Some(text) => notice_edits(&PatternFile::parse(text), records),
            }
            let mut file = PatternFile::parse(text.as_deref().unwrap_or_default());
            let result = change(&mut file, records);
            for pattern in file.patterns_mut() {
                if let Some(record) = records.patterns.get_mut(&pattern.id) {
                    record.apply_to(pattern, now);
                }
            }
            let changed = file.format();
            if text.as_deref() != Some(&changed) && !changed.is_empty() {
                if let Some(text) = &text {
                    files::write_private(&self.directory.join(BACKUP), text.as_bytes())?;
                }
                files::write_private(&self.path(), changed.as_bytes())?;
            }
            Ok(result)
        })
    }

    /// Adds what was learned.
    ///
    /// # Errors
    /// Any failure of the file system; nothing is changed then.
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

    /// Counts uses. Answers how many belonged to a pattern.
    ///
    /// # Errors
    /// Any failure of the file system; nothing is changed then.
    pub fn count_uses(&self, uses: &[LearningUse], now: Timestamp) -> io::Result<usize> {
        if Self::read(&self.path())?.is_none() {
            return Ok(0);
        }
        self.update(now, |file, records| {
            let mut counted = 0;
            for used in uses {
                let fits = file.patterns_mut().filter_map(|pattern| {
                    let share = use_of(&used.summary, &pattern.summary)?;
                    Some((share, pattern))
                });
                let Some((_, pattern)) = fits.max_by(|one, other| one.0.total_cmp(&other.0)) else {
                    continue;
                };
                pattern.seen_count += 1;
                let new = || Record::of_foreign(pattern, now);
                let record = records.patterns.entry(pattern.id.clone()).or_insert_with(new);
                record.uses += 1;
                record.verified += u64::from(used.verified);
                record.last_used_at = Some(now);
                counted += 1;
            }
            counted
        })
    }

    /// What a loop on a repository is told: the patterns that matter most, in at most so many tokens; `None`
    /// without any. A file that cannot be read teaches nothing.
    #[must_use]
    pub fn brief(&self, repo: &str, tokens: usize, now: Timestamp) -> Option<String> {
        let text = Self::read(&self.path()).ok().flatten()?;
        let records = self.records().read().ok().flatten().unwrap_or_default();
        let file = PatternFile::parse(&text);
        let score = |pattern: &Pattern| match records.patterns.get(&pattern.id) {
            Some(record) if !record.edited => record.score(now),
            _ => match pattern.confidence {
                Confidence::High => 0.85,
                Confidence::Medium => 0.55,
                Confidence::Low => 0.25,
            },
        };
        let matters = |pattern: &&Pattern| pattern.is_for_repo(repo) && pattern.flags != "[PRUNE]";
        let mut patterns: Vec<(f64, &Pattern)> =
            file.patterns().filter(matters).map(|pattern| (score(pattern), pattern)).collect();
        patterns.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut brief = String::from(BRIEF);
        let whole = brief.len();
        for (_, pattern) in patterns {
            let flags = Some(pattern.flags.as_str()).filter(|flags| !flags.is_empty());
            let flags = flags.map(|flags| format!(" {flags}")).unwrap_or_default();
            let summary = one_line(&pattern.summary, SUMMARY_MOST);
            let line = format!("- {} [{}]{flags} {summary}\n", pattern.id, pattern.confidence.as_str());
            if (brief.chars().count() + line.chars().count()).div_ceil(LETTERS_A_TOKEN) <= tokens {
                brief.push_str(&line);
            }
        }
        (brief.len() > whole).then_some(brief)
    }
}

const BRIEF: &str = "# Learnings from earlier loops\n\n\
    Notes, not orders: use those that fit, check them against the code, and let the task decide.\n\n";

/// Finds out what a person did to the rows since they were written.
fn notice_edits(file: &PatternFile, records: &mut LearningRecords) {
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
    if records.patterns.values().any(|record| record.knows_source(&candidate.source)) {
        return;
    }
    let mut removed = records.patterns.values().filter(|record| record.removed);
    if removed.any(|record| relation(&record.summary, &candidate.summary) == Relation::Same) {
        report.skipped += 1;
        return;
    }
    let overlaps = |repo: &str| repo == "*" || candidate.repo == "*" || repo == candidate.repo;
    let mut conflicts = Vec::new();
    for pattern in file.patterns_mut().filter(|pattern| overlaps(&pattern.repo)) {
        match relation(&pattern.summary, &candidate.summary) {
            Relation::Same => {
                pattern.seen_count += 1;
                let new = || Record::of_foreign(pattern, now);
                let record = records.patterns.entry(pattern.id.clone()).or_insert_with(new);
                record.add_source(candidate.source.clone());
                // Learned again is as good as new.
                record.learned_at = record.learned_at.max(now);
                report.merged += 1;
                return;
            }
            Relation::Conflict => conflicts.push(pattern.clone()),
            Relation::Different => {}
        }
    }
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
        let new = || Record::of_foreign(other, now);
        let of_other = records.patterns.entry(other.id.clone()).or_insert_with(new);
        of_other.conflicts_with.push(pattern.id.clone());
        record.conflicts_with.push(other.id.clone());
    }
    report.conflicts += usize::from(!conflicts.is_empty());
    report.added += 1;
    records.patterns.insert(pattern.id.clone(), record);
    file.push(pattern);
}

/// Drops what is worth least until the file is small enough. What a person wrote stays.
fn cap(file: &mut PatternFile, records: &mut LearningRecords) {
    let surplus = file.rows().count().saturating_sub(PATTERNS_MOST);
    let own = |pattern: &&Pattern| records.patterns.get(&pattern.id).is_some_and(|record| !record.edited);
    let worth = |pattern: &Pattern| {
        let tier = DROPPED_FIRST.iter().position(|flag| *flag == pattern.flags);
        (tier.unwrap_or(DROPPED_FIRST.len()), pattern.seen_count, pattern.number())
    };
    let mut own: Vec<(_, String)> =
        file.patterns().filter(own).map(|pattern| (worth(pattern), pattern.id.clone())).collect();
    own.sort_unstable();
    for (_, id) in own.into_iter().take(surplus) {
        file.remove(&id);
        records.patterns.remove(&id);
    }
    for record in records.patterns.values_mut().filter(|record| !record.removed) {
        let is_there = |id: &String| file.patterns().any(|pattern| pattern.id == *id);
        record.conflicts_with.retain(is_there);
    }
}

/// One entry a block of a file in another form.
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
            summary: one_line(summary, SUMMARY_MOST),
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
