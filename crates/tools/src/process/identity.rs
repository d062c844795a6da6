//! Identity of a process beyond its pid, which the system reuses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// On Linux, a start time is the boot time plus ticks since boot. The boot time changes when the clock is
/// adjusted, so two readings for one process may differ by this many milliseconds.
const TOLERANCE_MS: u64 = 2_000;

/// The start time of a process, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessStart(pub u64);

impl ProcessStart {
    /// Returns whether both are readings of the same start, within the tolerance.
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
