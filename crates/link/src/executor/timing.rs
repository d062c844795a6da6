//! Timeouts and retention periods of the executor.

use std::time::Duration;

/// Timeouts and retention periods of the executor.
#[derive(Debug, Clone, Copy)]
pub struct ExecutorTiming {
    /// Timeout of the gateway's response headers.
    pub header_wait: Duration,
    /// Timeout of the response headers for routes with long preparation, such as the start of a loop.
    pub long_header_wait: Duration,
    /// Time without an acknowledgement after which unacknowledged events are sent again.
    pub ack_progress: Duration,
    /// Retention of ended commands whose events are all acknowledged.
    pub settled_retention: Duration,
    /// Retention of ended commands with unacknowledged events.
    pub unsettled_retention: Duration,
    /// Timeout of canonicalizing the path of a lock key. Network file systems may hang.
    pub lock_path: Duration,
    /// Timeout of a write to the command log.
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
