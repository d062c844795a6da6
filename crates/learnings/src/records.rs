//! Records of patterns: their sources, their uses, and the last content that Loopgate wrote.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::pattern::{ALL, Confidence, Pattern};
use crate::pending::LearningSource;

/// Days without a use after which the score is halved.
const HALF_LIFE_DAYS: f64 = 180.0;
/// Days without a use after which a used pattern is flagged as stale.
const STALE_DAYS: f64 = 180.0;
/// Minimum number of uses before a mostly unsuccessful pattern can be pruned.
const PRUNE_USES: u64 = 20;
// Score thresholds. A new pattern starts at 0.5, which is medium.
const HIGH: f64 = 0.70;
const MEDIUM: f64 = 0.40;
const SECONDS_PER_DAY: f64 = 86_400.0;
/// Maximum number of sources per pattern; older ones are dropped.
const MAX_SOURCES: usize = 20;
/// Maximum number of keys of uses per pattern; older ones are dropped.
const MAX_USE_KEYS: usize = 100;

/// All records by pattern id.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LearningRecords {
    pub(crate) patterns: BTreeMap<String, Record>,
}

/// Record of one pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Record {
    pub(crate) summary: String,
    /// Origins of the pattern, oldest first.
    pub(crate) sources: Vec<LearningSource>,
    pub(crate) learned_at: Timestamp,
    pub(crate) uses: u64,
    /// Number of successful uses.
    pub(crate) verified: u64,
    pub(crate) last_used_at: Option<Timestamp>,
    /// Ids of contradicting patterns.
    pub(crate) conflicts_with: Vec<String>,
    /// Fingerprint of the row that Loopgate wrote last; a different one means that the user edited the row.
    pub(crate) written: String,
    /// The user edited the row, so its text and confidence are preserved.
    pub(crate) edited: bool,
    /// The user removed the row, so it is not learned again.
    pub(crate) removed: bool,
    /// The assistant considers the pattern true for other repositories too.
    pub(crate) proposed: bool,
    /// Agreement of a person that the pattern applies to all repositories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agreement: Option<PatternAgreement>,
    /// Number of agents that received the pattern.
    pub(crate) shown: u64,
    /// Keys of the latest uses, by which a use is counted at most once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) use_keys: Vec<String>,
}

/// Agreement of a person that a pattern applies to all repositories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternAgreement {
    /// The person, or [`IN_THE_FILE`].
    pub by: String,
    /// Time of the agreement.
    pub at: Timestamp,
    /// Text to which the person agreed.
    pub summary: String,
    /// Repository of the pattern before.
    pub repo: String,
}

/// `by` of an agreement that a person gave by writing `*` into the patterns file.
pub(crate) const IN_THE_FILE: &str = "edit of the patterns file";

impl Default for Record {
    fn default() -> Self {
        Self {
            summary: String::new(),
            sources: Vec::new(),
            learned_at: Timestamp::UNIX_EPOCH,
            uses: 0,
            verified: 0,
            last_used_at: None,
            conflicts_with: Vec::new(),
            written: String::new(),
            edited: false,
            removed: false,
            proposed: false,
            agreement: None,
            shown: 0,
            use_keys: Vec::new(),
        }
    }
}

impl Record {
    /// Creates the record of a new pattern.
    pub(crate) fn new(pattern: &Pattern, now: Timestamp) -> Self {
        let mut record = Self { summary: pattern.summary.clone(), learned_at: now, ..Self::default() };
        record.written = fingerprint(pattern);
        record
    }

    /// Creates the record of a row that the user wrote.
    pub(crate) fn user_written(pattern: &Pattern, now: Timestamp) -> Self {
        Self { edited: true, ..Self::new(pattern, now) }
    }

    pub(crate) fn add_source(&mut self, source: LearningSource) {
        self.sources.push(source);
        let excess = self.sources.len().saturating_sub(MAX_SOURCES);
        self.sources.drain(..excess);
    }

    pub(crate) fn has_source(&self, source: &LearningSource) -> bool {
        !source.key.is_empty() && self.sources.iter().any(|existing| existing.key == source.key)
    }

    /// Records the key of a use. Returns `false` if the use is recorded already.
    pub(crate) fn is_new_use(&mut self, key: &str) -> bool {
        if key.is_empty() {
            return true;
        }
        if self.use_keys.iter().any(|known| known == key) {
            return false;
        }
        self.use_keys.push(key.to_owned());
        let excess = self.use_keys.len().saturating_sub(MAX_USE_KEYS);
        self.use_keys.drain(..excess);
        true
    }

    /// Returns whether the person who edits the patterns file has made the pattern one for all repositories.
    pub(crate) fn is_generalized_in_file(&self, pattern: &Pattern) -> bool {
        // The repository is the last line of the fingerprint.
        let was_general = self.written.rsplit('\n').next().is_some_and(|repo| repo == ALL || repo.is_empty());
        let is_own = self.edited && self.sources.is_empty();
        pattern.is_general() && (is_own || (!was_general && fingerprint(pattern) != self.written))
    }

    /// Returns whether a person has agreed that the pattern, with its present text, applies to all repositories.
    pub(crate) fn is_agreed(&self, pattern: &Pattern) -> bool {
        let agreed = self.agreement.as_ref().is_some_and(|agreement| agreement.summary == pattern.summary);
        agreed || self.is_generalized_in_file(pattern)
    }

    /// Returns the share of successful uses.
    pub(crate) fn success_rate(&self) -> Option<f64> {
        (self.uses > 0).then(|| ratio(self.verified, self.uses))
    }

    /// Returns the score of the pattern, 0 to 1: raised by successful uses, lowered by failures and by idle
    /// time.
    pub(crate) fn score(&self, now: Timestamp) -> f64 {
        // Laplace's rule of succession: without a use the score is 0.5, and one use does not make it 0 or 1.
        let trust = ratio(self.verified + 1, self.uses + 2);
        trust * 0.5_f64.powf(self.idle_days(now) / HALF_LIFE_DAYS)
    }

    fn idle_days(&self, now: Timestamp) -> f64 {
        let since = self.last_used_at.unwrap_or(self.learned_at).max(self.learned_at);
        (now.duration_since(since).as_secs_f64() / SECONDS_PER_DAY).max(0.0)
    }

    fn flags(&self, now: Timestamp) -> &'static str {
        let fails = self.success_rate().is_some_and(|rate| rate < MEDIUM);
        if !self.conflicts_with.is_empty() {
            "[REVIEW]"
        } else if self.uses == 0 {
            "[UNTESTED]"
        } else if self.uses > PRUNE_USES && fails {
            "[PRUNE]"
        } else if self.idle_days(now) >= STALE_DAYS {
            "[STALE]"
        } else if fails {
            "[REVIEW]"
        } else {
            ""
        }
    }

    /// Updates a row from the record. Confidence and flags of an edited row are preserved.
    pub(crate) fn apply_to(&mut self, pattern: &mut Pattern, now: Timestamp) {
        if let Some(rate) = self.success_rate() {
            pattern.success_rate = Some((rate * 100.0).round() / 100.0);
        }
        if !self.edited {
            pattern.confidence = level(self.score(now));
            self.flags(now).clone_into(&mut pattern.flags);
            self.written = fingerprint(pattern);
        }
        self.summary.clone_from(&pattern.summary);
    }
}

pub(crate) fn level(score: f64) -> Confidence {
    if score >= HIGH {
        Confidence::High
    } else if score >= MEDIUM {
        Confidence::Medium
    } else {
        Confidence::Low
    }
}

/// Returns all members of a row that a user can edit, as one comparable text. Counters are not included.
pub(crate) fn fingerprint(pattern: &Pattern) -> String {
    [
        pattern.category.as_str(),
        &pattern.summary,
        pattern.confidence.as_str(),
        &pattern.flags,
        &pattern.applies_to.join("|"),
        &pattern.context.join("|"),
        &pattern.repo,
    ]
    .join("\n")
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use proptest::prelude::*;

    use super::*;

    fn at(days: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + (days * 24).hours()
    }

    fn record_with_uses(uses: u64, verified: u64, last: i64) -> Record {
        Record { uses, verified, last_used_at: Some(at(last)), ..Record::default() }
    }

    #[test]
    fn confidence_and_flags_depend_on_uses_and_idle_time() {
        let new = Record { learned_at: at(0), ..Record::default() };
        for (record, now, confidence, flags) in [
            (new.clone(), 0, Confidence::Medium, "[UNTESTED]"),
            (new, 90, Confidence::Low, "[UNTESTED]"),
            (record_with_uses(4, 4, 10), 10, Confidence::High, ""),
            (record_with_uses(4, 4, 10), 100, Confidence::Medium, ""),
            (record_with_uses(4, 4, 10), 400, Confidence::Low, "[STALE]"),
            (record_with_uses(4, 1, 10), 10, Confidence::Low, "[REVIEW]"),
            (record_with_uses(21, 3, 10), 10, Confidence::Low, "[PRUNE]"),
        ] {
            assert_eq!(
                (level(record.score(at(now))), record.flags(at(now))),
                (confidence, flags),
                "{record:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn success_raises_score_and_idle_time_lowers_it(uses in 0u64..50, share in 0.0..=1.0f64, idle in 0i64..1000, more in 1i64..1000) {
            let verified = (uses as f64 * share) as u64;
            let record = record_with_uses(uses, verified, 0);
            let now = record.score(at(idle));
            prop_assert!((0.0..=1.0).contains(&now));
            prop_assert!(record.score(at(idle + more)) < now);
            prop_assert!(record_with_uses(uses + 1, verified + 1, 0).score(at(idle)) > now);
            prop_assert!(record_with_uses(uses + 1, verified, 0).score(at(idle)) < now);
        }
    }
}
