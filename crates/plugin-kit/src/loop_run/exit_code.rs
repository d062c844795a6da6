//! Nonzero exit codes of the driver.

/// The loop failed or reached one of its limits.
pub const FAILED: u8 = 1;
/// The loop was interrupted and can be resumed. The value is 128 + SIGINT, as shells report it.
pub const INTERRUPTED: u8 = 130;
