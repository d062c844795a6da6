//! How far a run of a chat is.

/// Where a run stands.
#[derive(Debug, Clone, Default)]
pub(super) struct RunProgress {
    /// Pid of the program, once it runs.
    pub(super) pid: Option<u32>,
    /// Counts what was read of the output, so that readers wake.
    pub(super) reads: u64,
    /// Everything is over, and the answer is kept.
    pub(super) outcome: Option<RunOutcome>,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(super) struct RunOutcome {
    /// What went wrong, when the output does not say so.
    pub(super) error: Option<String>,
    /// Whether the program ended well; `None` when it never ran.
    pub(super) success: Option<bool>,
}
