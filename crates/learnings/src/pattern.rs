//! One pattern: what was learned, in the form that people read and agents are given.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Characters of a summary at least.
pub(crate) const SUMMARY_LEAST: usize = 20;
/// Characters of a summary; longer ones are cut.
pub(crate) const SUMMARY_MOST: usize = 240;

/// How far a pattern can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Often without effect, or not used for long.
    Low,
    /// New, or mixed.
    Medium,
    /// Confirmed by use.
    High,
}

impl Confidence {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl FromStr for Confidence {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|level| level.as_str() == text).ok_or(())
    }
}

/// What kind a learning is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PatternCategory {
    /// Something that went wrong.
    Mistake,
    /// Something that worked.
    Pattern,
    /// How things are done here.
    Convention,
    /// Something that is not obvious.
    Insight,
}

impl PatternCategory {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Mistake => "mistake",
            Self::Pattern => "pattern",
            Self::Convention => "convention",
            Self::Insight => "insight",
        }
    }
}

/// One row of the patterns file.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// `P-` and at least three digits.
    pub id: String,
    /// `pattern`, `mistake`, `convention` or `insight`; another word when a person wrote one.
    pub category: String,
    /// One sentence.
    pub summary: String,
    /// How far it can be relied on.
    pub confidence: Confidence,
    /// How often it was learned or used.
    pub seen_count: u64,
    /// Share of uses that held, 0 to 1; none without a use.
    pub success_rate: Option<f64>,
    /// `[UNTESTED]`, `[REVIEW]`, `[STALE]`, `[PRUNE]`, or empty.
    pub flags: String,
    /// Agents that it is meant for; `*` is all.
    pub applies_to: Vec<String>,
    /// Words that say when it matters.
    pub context: Vec<String>,
    /// Name of the repository; `*` is all.
    pub repo: String,
}

impl Pattern {
    /// Number of its id.
    pub(crate) fn number(&self) -> u64 {
        self.id.strip_prefix("P-").and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Whether it matters to work in a repository.
    #[must_use]
    pub fn is_for_repo(&self, repo: &str) -> bool {
        self.repo.is_empty() || self.repo == "*" || self.repo == repo
    }
}

/// One line of at most [`SUMMARY_MOST`] characters: control characters become blanks, and blanks one.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(most).collect();
    line.trim_end().to_owned()
}
