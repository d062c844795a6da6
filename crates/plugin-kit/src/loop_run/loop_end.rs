//! Terminal outcomes of a loop.

/// Terminal outcome of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopEnd {
    /// The assistant kept its completion promise.
    Completed,
    /// The loop needs its user before it can continue; `state.json` states the requested action.
    Waiting,
    /// The iteration limit is reached without a promise.
    MaxIterations,
    /// The spending limit is reached without a promise.
    SpendingLimit,
    /// The loop failed; the failure marker and `runs.log` record the reason.
    Failed,
    /// The loop was stopped from outside and can be resumed.
    Interrupted,
}
