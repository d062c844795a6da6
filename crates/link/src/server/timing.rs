//! Time limits of the server's end.

use std::time::Duration;

/// Time limits of the server's end.
#[derive(Debug, Clone, Copy)]
pub struct ServerTiming {
    /// From the upgrade to the hello.
    pub hello: Duration,
    /// Between pings.
    pub ping: Duration,
    /// From a ping to its pong.
    pub pong: Duration,
    /// Time between presence updates to the host.
    pub touch: Duration,
    /// Each step of the registration.
    pub registration_step: Duration,
    /// Any other call of the host.
    pub host_call: Duration,
    /// For the last frames and the close to leave.
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
