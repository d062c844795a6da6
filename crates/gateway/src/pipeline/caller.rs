//! Where a request comes from.

use std::net::IpAddr;

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestSource {
    /// Over the listener.
    Network(IpAddr),
    /// From this process; has no host and no address.
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

    /// Address of the other side.
    pub(crate) const fn peer(self) -> Option<IpAddr> {
        match self {
            Self::Network(address) => Some(address),
            Self::InProcess => None,
        }
    }
}
