//! Time limits of the executor.

use std::time::Duration;

/// Time limits of the executor.
#[derive(Debug, Clone, Copy)]
pub struct ExecutorTiming {
    /// For the head of an answer.
    pub header_wait: Duration,
    /// For the head of an answer that needs long preparation.
    pub long_header_wait: Duration,
    /// For an acknowledgement of what was sent; then it is sent again.
    pub ack_progress: Duration,
    /// How long an ended command with every event acknowledged is kept.
    pub settled_retention: Duration,
    /// How long any other ended command is kept.
    pub unsettled_retention: Duration,
    /// For the disk to tell the true form of a path.
    pub lock_path: Duration,
    /// For the command log to be written.
    pub command_log: Duration,
}

impl Default for ExecutorTiming {
    fn default() -> Self {
        Self {
            header_wait: Duration::from_secs(60),
            long_header_wait: Duration::from_secs(600),
            ack_progress: Duration::from_secs(10),
            settled_retention: Duration::from_secs(600),
            unsettled_retention: Duration::from_secs(24 * 3600),
            lock_path: Duration::from_secs(2),
            command_log: Duration::from_secs(5),
        }
    }
}
