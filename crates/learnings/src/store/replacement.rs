//! Replacement of patterns by a list that was merged outside of this program.

use std::io;

use jiff::Timestamp;
use serde::Deserialize;

use super::{DROP_ORDER, MAX_PATTERNS, PatternStore};
use crate::hostile::is_hostile;
use crate::pattern::{ALL, Confidence, Pattern, PatternCategory};
use crate::records::Record;
use crate::similarity::{Relation, relation};

/// Flags that a row may have.
const FLAGS: [&str; 5] = ["", "[UNTESTED]", "[REVIEW]", "[STALE]", "[PRUNE]"];
/// Format version of the document.
const VERSION: &str = "1.0";

/// Patterns that were merged outside of this program, with all members as texts.
#[derive(Debug, Clone, Deserialize)]
pub struct MergeResult {
    schema_version: String,
    patterns: Vec<MergedPattern>,
}

#[derive(Debug, Clone, Deserialize)]
struct MergedPattern {
    id: String,
    category: String,
    summary: String,
    confidence: String,
    seen_count: TextOrNumber,
    success_rate: TextOrNumber,
    flags: String,
    applies_to: String,
    context: String,
    repo: String,
}

/// A number or a text: models write both.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum TextOrNumber {
    Text(String),
    Number(serde_json::Number),
}

impl TextOrNumber {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.trim().to_owned(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Reason for which nothing was replaced.
#[derive(Debug)]
pub enum ReplacementError {
    /// Faults of the patterns, one per line.
    Invalid(Vec<String>),
    /// The files cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for ReplacementError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl PatternStore {
    /// Adds the patterns of a list, and replaces those with the same id. Rows that the user wrote, edited or deleted stay
    /// as they are, and a new pattern applies to its own repository only. Returns the number of patterns that were
    /// dropped because of the limit.
    ///
    /// # Errors
    /// Fails without a change if one pattern is invalid, and on I/O errors.
    pub fn replace(&self, result: &MergeResult, now: Timestamp) -> Result<usize, ReplacementError> {
        let mut patterns = result.validated()?;
        if patterns.is_empty() {
            return Ok(0);
        }
        patterns.sort_by_key(|pattern| {
            let tier = DROP_ORDER.iter().position(|flag| *flag == pattern.flags);
            (std::cmp::Reverse(tier.unwrap_or(DROP_ORDER.len())), std::cmp::Reverse(pattern.seen_count))
        });
        let dropped = patterns.len().saturating_sub(MAX_PATTERNS);
        patterns.truncate(MAX_PATTERNS);
        self.update(now, |file, records| {
            for mut pattern in patterns {
                let mut removed = records.patterns.values().filter(|record| record.removed);
                if removed.any(|record| relation(&record.summary, &pattern.summary) == Relation::Same) {
                    continue;
                }
                match records.patterns.get_mut(&pattern.id) {
                    Some(record) if record.edited || record.removed => continue,
                    Some(record) => {
                        let Some(row) = file.patterns_mut().find(|row| row.id == pattern.id) else {
                            continue;
                        };
                        // Only an agreement makes a pattern one for all repositories.
                        pattern.repo.clone_from(&row.repo);
                        *row = pattern;
                        record.written = crate::records::fingerprint(row);
                    }
                    None if file.patterns().any(|row| row.id == pattern.id) => {}
                    None => {
                        let record = Record { proposed: pattern.repo == ALL, ..Record::new(&pattern, now) };
                        records.patterns.insert(pattern.id.clone(), record);
                        file.push(pattern);
                    }
                }
            }
            super::cap(file, records);
        })?;
        Ok(dropped)
    }
}

impl MergeResult {
    /// Checks the patterns.
    ///
    /// # Errors
    /// Returns all faults.
    pub fn check(&self) -> Result<(), ReplacementError> {
        self.validated().map(drop)
    }

    /// Returns whether the list has no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    fn validated(&self) -> Result<Vec<Pattern>, ReplacementError> {
        let mut faults = Vec::new();
        if self.schema_version != VERSION {
            faults.push(format!("schema_version is {}, not {VERSION}", self.schema_version));
        }
        let mut patterns = Vec::new();
        for merged in &self.patterns {
            match merged.pattern() {
                Ok(pattern) => patterns.push(pattern),
                Err(fault) => faults.push(format!("{}: {fault}", merged.id)),
            }
        }
        if faults.is_empty() { Ok(patterns) } else { Err(ReplacementError::Invalid(faults)) }
    }
}

impl MergedPattern {
    fn pattern(&self) -> Result<Pattern, String> {
        let digits = self.id.strip_prefix("P-").unwrap_or_default();
        if digits.len() < 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("the id is not P- and at least three digits".to_owned());
        }
        let category = serde_json::from_value::<PatternCategory>(self.category.as_str().into());
        let category = category.map_err(|_| format!("the category {} is unknown", self.category))?;
        let confidence: Result<Confidence, ()> = self.confidence.parse();
        let confidence = confidence.map_err(|()| format!("the confidence {} is unknown", self.confidence))?;
        let seen = self.seen_count.text();
        let seen_count = seen.parse().map_err(|_| format!("seen_count {seen} is not a number"))?;
        let rate = self.success_rate.text();
        let success_rate = match rate.as_str() {
            "" => None,
            text => Some(text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate)))
                .map(|rate: Option<f64>| rate.ok_or_else(|| format!("success_rate {text} is not 0 to 1")))
                .transpose()?,
        };
        if !FLAGS.contains(&self.flags.as_str()) {
            return Err(format!("the flag {} is unknown", self.flags));
        }
        if self.summary.trim().is_empty() || is_hostile(&self.summary) {
            return Err("the summary is empty or would act on agents".to_owned());
        }
        let parts = |text: &str| -> Vec<String> {
            text.split('|').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        Ok(Pattern {
            id: self.id.clone(),
            category: category.as_str().to_owned(),
            summary: crate::pattern::one_line(&self.summary, crate::pattern::MAX_SUMMARY_CHARS),
            confidence,
            seen_count,
            success_rate,
            flags: self.flags.clone(),
            applies_to: parts(&self.applies_to),
            context: parts(&self.context),
            repo: Some(self.repo.trim()).filter(|repo| !repo.is_empty()).unwrap_or(ALL).to_owned(),
        })
    }
}
