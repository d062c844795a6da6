//! A pattern: a merged learning in the form that users edit and agents receive.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Minimum length of a summary in characters, the `minLength` of the schemas that the assistant receives.
pub(crate) const MIN_SUMMARY_CHARS: usize = 20;
/// Maximum length of a summary in characters, their `maxLength`; longer ones are truncated.
pub(crate) const MAX_SUMMARY_CHARS: usize = 240;

/// Stands for all repositories or all agents.
pub(crate) const ALL: &str = "*";

/// Confidence in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Often unsuccessful, or unused for a long time.
    Low,
    /// New, or used with mixed results.
    Medium,
    /// Confirmed by successful uses.
    High,
}

impl Confidence {
    /// Returns the form used in the patterns file.
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

/// Category of a learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PatternCategory {
    /// An error that should not be repeated.
    Mistake,
    /// An approach that works.
    Pattern,
    /// A convention of the repository.
    Convention,
    /// A fact that is not obvious from the code.
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
    /// `pattern`, `mistake`, `convention`, `insight`, or another word written by the user.
    pub category: String,
    /// The learning in one sentence.
    pub summary: String,
    /// Confidence derived from the record, or set by the user.
    pub confidence: Confidence,
    /// Number of times that it was learned or used.
    pub seen_count: u64,
    /// Share of successful uses, 0 to 1; `None` without a use.
    pub success_rate: Option<f64>,
    /// `[UNTESTED]`, `[REVIEW]`, `[STALE]`, `[PRUNE]`, or empty.
    pub flags: String,
    /// Agents for which it is intended; `*` for all.
    pub applies_to: Vec<String>,
    /// Keywords for situations to which it applies.
    pub context: Vec<String>,
    /// Owner and name of the repository; `*` for all, which requires an agreement.
    pub repo: String,
}

impl Pattern {
    /// Returns the number in the id.
    pub(crate) fn number(&self) -> u64 {
        self.id.strip_prefix("P-").and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Returns whether the pattern is about all repositories.
    pub(crate) fn is_general(&self) -> bool {
        self.repo.is_empty() || self.repo == ALL
    }

    /// Returns whether the pattern is intended for an agent, by its short or its full name.
    pub(crate) fn is_for_agent(&self, agent: &str) -> bool {
        let short = agent.rsplit(':').next().unwrap_or(agent);
        let is_named = |name: &String| name == ALL || name.is_empty() || name == agent || name == short;
        self.applies_to.is_empty() || self.applies_to.iter().any(is_named)
    }
}

/// Converts a text to one line of at most `max_chars` characters; control characters and runs of whitespace
/// become one space.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(max_chars).collect();
    line.trim_end().to_owned()
}
