//! Timeouts of the control plane's end.

use std::time::Duration;

/// Timeouts of the control plane's end.
#[derive(Debug, Clone, Copy)]
pub struct ServerTiming {
    /// Maximum time from the upgrade to the hello.
    pub hello: Duration,
    /// Interval between pings to the desktop.
    pub ping: Duration,
    /// Maximum time from a ping to its pong.
    pub pong: Duration,
    /// Interval between heartbeats that are reported to the host.
    pub touch: Duration,
    /// Timeout of each host call during the registration.
    pub registration_step: Duration,
    /// Timeout of any other host call.
    pub host_call: Duration,
    /// Time for queued frames and the close handshake before the socket is dropped.
    pub close: Duration,
}

impl Default for ServerTiming {
    fn default() -> Self {
        Self {
            hello: Duration::from_secs(30),
            ping: Duration::from_secs(25),
            pong: Duration::from_secs(20),
            touch: Duration::from_secs(30),
            registration_step: Duration::from_secs(5),
            host_call: Duration::from_secs(10),
            close: Duration::from_secs(5),
        }
    }
}
