//! Nonzero exit codes of the driver.

use std::io;

use loopgate_home::disk;

/// The loop failed or reached one of its limits.
pub const FAILED: u8 = 1;
/// The loop was interrupted and can be resumed. The value is 128 + SIGINT, as shells report it.
pub const INTERRUPTED: u8 = 130;

/// Returns the exit code of a driver that fails with an error before it can report a failure.
pub fn of_error(error: &io::Error) -> u8 {
    if disk::is_full(error) { disk::DISK_FULL_EXIT } else { FAILED }
}
