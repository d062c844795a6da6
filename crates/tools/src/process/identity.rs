//! Telling a process from a later one that got the same pid.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Two readings of one process may differ by this much when the clock was set in between.
const TOLERANCE_MS: u64 = 2_000;

/// When a process started, in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessStart(pub u64);

impl ProcessStart {
    /// Whether both are readings of one process.
    #[must_use]
    pub const fn matches(self, other: Self) -> bool {
        self.0.abs_diff(other.0) <= TOLERANCE_MS
    }
}

impl fmt::Display for ProcessStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ProcessStart {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse().map(Self)
    }
}
