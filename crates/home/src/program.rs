//! The five external programs, by the keys under which settings and capabilities name them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the five programs that the user brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Program {
    /// The coding assistant.
    #[serde(rename = "assistant")]
    Assistant,
    /// The code host's command line.
    #[serde(rename = "codeHost")]
    CodeHost,
    /// The second tool, which reviews.
    #[serde(rename = "reviewer")]
    Reviewer,
    /// Python 3.
    #[serde(rename = "python3")]
    Python3,
    /// Git.
    #[serde(rename = "git")]
    Git,
}

impl Program {
    /// Every program.
    pub const ALL: [Self; 5] = [Self::Assistant, Self::CodeHost, Self::Reviewer, Self::Python3, Self::Git];

    /// The key in settings and on the wire.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::CodeHost => "codeHost",
            Self::Reviewer => "reviewer",
            Self::Python3 => "python3",
            Self::Git => "git",
        }
    }

    /// The default executable.
    #[must_use]
    pub const fn executable(self) -> &'static str {
        match self {
            Self::Assistant => "claude",
            Self::CodeHost => "gh",
            Self::Reviewer => "codex",
            Self::Python3 => "python3",
            Self::Git => "git",
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}
