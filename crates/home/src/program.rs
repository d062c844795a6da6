//! The five external programs, by the keys under which settings and capabilities name them.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::path_resolution::leads_through;

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

    /// How a person gets it: a command, or a page, and what to do then.
    #[must_use]
    pub const fn installation(self) -> &'static str {
        match self {
            Self::Assistant => "npm install -g @anthropic-ai/claude-code, then run: claude",
            Self::CodeHost => "https://cli.github.com, then run: gh auth login",
            Self::Reviewer => "npm install -g @openai/codex, then run: codex login",
            Self::Python3 => "https://www.python.org/downloads, 3.10 or newer",
            Self::Git => "https://git-scm.com/downloads",
        }
    }
}

/// Where a program is that a person chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProgramPath {
    /// Whatever is there is meant.
    Plain(PathBuf),
    /// A way through links, which counts only while it leads where it led when it was chosen. The
    /// way matters too: some programs look at the name by which they were started.
    Pinned {
        /// What is started.
        path: PathBuf,
        /// The file behind the links.
        target: PathBuf,
    },
}

impl ProgramPath {
    /// The way that leads to this file.
    #[must_use]
    pub fn new(path: PathBuf, target: PathBuf) -> Self {
        if path == target { Self::Plain(path) } else { Self::Pinned { path, target } }
    }

    /// The file that is meant.
    #[must_use]
    pub fn target(&self) -> &Path {
        match self {
            Self::Plain(target) | Self::Pinned { target, .. } => target,
        }
    }

    /// Whether the way or the file is in a directory, or leads through it. Looks at the disk.
    #[must_use]
    pub fn leads_through(&self, directory: &Path) -> bool {
        let way = match self {
            Self::Plain(path) | Self::Pinned { path, .. } => path,
        };
        leads_through(way, directory) || leads_through(self.target(), directory)
    }

    /// What is to be started; `None` when the way leads elsewhere by now. Looks at the disk.
    #[must_use]
    pub fn way(&self) -> Option<&Path> {
        match self {
            Self::Plain(path) => Some(path),
            Self::Pinned { path, target } => {
                path.canonicalize().is_ok_and(|found| found == *target).then_some(path.as_path())
            }
        }
    }
}

impl From<PathBuf> for ProgramPath {
    fn from(path: PathBuf) -> Self {
        Self::Plain(path)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}
