//! The origin of a request: the network or this process.

use std::net::IpAddr;

/// How a request reached the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestSource {
    /// Through the listener, from this peer address.
    Network(IpAddr),
    /// By a call in this process. Such a request has neither a `Host` header nor a peer address.
    InProcess,
}

impl RequestSource {
    pub(crate) const fn is_loopback(self) -> bool {
        match self {
            Self::Network(IpAddr::V4(address)) => address.is_loopback(),
            Self::Network(IpAddr::V6(address)) => {
                address.is_loopback()
                    || matches!(address.to_ipv4_mapped(), Some(mapped) if mapped.is_loopback())
            }
            Self::InProcess => true,
        }
    }

    /// Returns the address of the peer.
    pub(crate) const fn peer(self) -> Option<IpAddr> {
        match self {
            Self::Network(address) => Some(address),
            Self::InProcess => None,
        }
    }
}
