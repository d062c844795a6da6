//! Whether iterations still move anything: the loop's documents, or the files of its repositories.

/// Iterations in a row without any change after which the loop asks its user.
const IDLE_ITERATIONS: u32 = 2;
/// Compares the state after each iteration with that before it.
#[derive(Debug, Default)]
pub struct Progress {
    last: Option<String>,
    idle: u32,
}

impl Progress {
    /// Takes the state after an iteration; whether the loop stands still.
    pub fn stands_still(&mut self, fingerprint: Option<String>) -> bool {
        let same = fingerprint.is_some() && fingerprint == self.last;
        self.idle = if same { self.idle + 1 } else { 0 };
        self.last = fingerprint;
        self.idle >= IDLE_ITERATIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_iterations_without_a_change_are_standing_still() {
        let mut progress = Progress::default();
        let mut after = |state: Option<&str>| progress.stands_still(state.map(str::to_owned));
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
