//! The five external programs, and the keys under which settings and capabilities refer to them.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::path_resolution::leads_through;

/// An external program that the user installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Program {
    /// The AI coding assistant.
    #[serde(rename = "assistant")]
    Assistant,
    /// Command-line program of the code host.
    #[serde(rename = "codeHost")]
    CodeHost,
    /// The second AI program, which reviews.
    #[serde(rename = "reviewer")]
    Reviewer,
    #[serde(rename = "python3")]
    Python3,
    #[serde(rename = "git")]
    Git,
}

impl Program {
    /// Every program that settings can refer to.
    pub const ALL: [Self; 5] = [Self::Assistant, Self::CodeHost, Self::Reviewer, Self::Python3, Self::Git];

    /// Returns the key in settings and on the wire.
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

    /// Returns the name of the default executable.
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

    /// Returns how to install the program: a command or a URL, and the next step.
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

/// Path of a program that the user selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProgramPath {
    /// Runs whatever program is at this path.
    Plain(PathBuf),
    /// A path with symbolic links, valid only while it resolves to the same target as when it was selected.
    /// The path is kept because some programs depend on the name by which they are started.
    Pinned {
        /// Path that is executed.
        path: PathBuf,
        /// Canonical path of the file.
        target: PathBuf,
    },
}

impl ProgramPath {
    /// Creates a pinned path when `path` differs from its canonical form `target`.
    #[must_use]
    pub fn new(path: PathBuf, target: PathBuf) -> Self {
        if path == target { Self::Plain(path) } else { Self::Pinned { path, target } }
    }

    /// Returns the canonical path of the program.
    #[must_use]
    pub fn target(&self) -> &Path {
        match self {
            Self::Plain(target) | Self::Pinned { target, .. } => target,
        }
    }

    /// Returns whether the path or its target is in a directory, or resolves through it. Reads the disk.
    #[must_use]
    pub fn leads_through(&self, directory: &Path) -> bool {
        let path = match self {
            Self::Plain(path) | Self::Pinned { path, .. } => path,
        };
        // Write access to either of them is enough to replace the program.
        leads_through(path, directory) || leads_through(self.target(), directory)
    }

    /// Returns the path to execute; `None` when it no longer resolves to the pinned target. Reads the disk.
    #[must_use]
    pub fn resolve(&self) -> Option<&Path> {
        match self {
            Self::Plain(path) => Some(path),
            Self::Pinned { path, target } => {
                path.canonicalize().is_ok_and(|canonical| canonical == *target).then_some(path.as_path())
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
