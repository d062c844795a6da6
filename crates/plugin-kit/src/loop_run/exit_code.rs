//! Exit codes of the driver beside 0.

/// The loop failed.
pub const FAILED: u8 = 1;
/// The loop was interrupted, and can be resumed.
pub const INTERRUPTED: u8 = 130;
