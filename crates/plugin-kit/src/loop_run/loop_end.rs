//! The ways in which a loop ends.

/// How a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopEnd {
    /// The promise was kept.
    Completed,
    /// Only its user can let it go on; `state.json` says how.
    Waiting,
    /// The iterations are used up, and the promise was not made.
    MaxIterations,
    /// The money is used up, and the promise was not made.
    SpendingLimit,
    /// It failed; why is on record.
    Failed,
    /// It was asked to stop, and can be resumed.
    Interrupted,
}
