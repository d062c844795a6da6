//! Stall detection: counts consecutive iterations that change neither the loop's documents nor its
//! repositories.

/// Consecutive unchanged iterations after which the loop stops for its user. A single one is normal: an
/// iteration may only have validated or reviewed.
const STALL_ITERATIONS: u32 = 2;

/// Compares the fingerprint after each iteration with the previous one.
#[derive(Debug, Default)]
pub struct Progress {
    last: Option<String>,
    idle: u32,
}

impl Progress {
    /// Records the fingerprint after an iteration. Returns whether the loop is stalled.
    pub fn is_stalled(&mut self, fingerprint: Option<String>) -> bool {
        // An unknown fingerprint (git failed) counts as a change: a stall must be proven.
        let same = fingerprint.is_some() && fingerprint == self.last;
        self.idle = if same { self.idle + 1 } else { 0 };
        self.last = fingerprint;
        self.idle >= STALL_ITERATIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_is_stalled_after_two_unchanged_iterations() {
        let mut progress = Progress::default();
        let mut after = |state: Option<&str>| progress.is_stalled(state.map(str::to_owned));
        let steps = [
            (Some("a"), false),
            (Some("b"), false),
            (Some("b"), false),
            (None, false),
            (Some("b"), false),
            (Some("b"), false),
            (Some("b"), true),
        ];
        for (number, (state, expected)) in steps.into_iter().enumerate() {
            assert_eq!(after(state), expected, "step {number}");
        }
    }
}
