//! Address and user agent of a client.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use http::HeaderMap;
use http::header::USER_AGENT;
use http::request::Parts;

use crate::app::ControlPlaneState;
use crate::credentials::header::header;

// Each proxy appends the address of its peer, so the last entries are the trustworthy ones.
const FORWARDED_FOR: &str = "x-forwarded-for";
// Longer user agents are truncated, because the client chooses the text and it is stored with every session.
const USER_AGENT_LIMIT: usize = 300;

/// Address and user agent of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientInfo {
    /// Client address; `None` when the request did not arrive over TCP.
    pub address: Option<IpAddr>,
    /// `User-Agent` header, truncated to 300 characters.
    pub user_agent: Option<String>,
}

impl ClientInfo {
    pub fn address_text(&self) -> Option<String> {
        self.address.map(|address| address.to_string())
    }

    /// Returns the key for rate limits: the IPv4 address, or the /64 prefix of an IPv6 address, since a
    /// single client usually controls a whole /64.
    pub fn network(&self) -> String {
        match self.address {
            Some(IpAddr::V6(address)) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            Some(IpAddr::V4(address)) => address.to_string(),
            None => String::new(),
        }
    }
}

impl FromRequestParts<ControlPlaneState> for ClientInfo {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> Result<Self, Infallible> {
        Ok(Self::of(parts, app))
    }
}

impl ClientInfo {
    /// Returns the client of a request.
    pub fn of(parts: &Parts, app: &ControlPlaneState) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
        let address = peer.map(|peer| client_address(peer, &parts.headers, &app.config.trusted_proxies));
        let user_agent = header(&parts.headers, USER_AGENT.as_str());
        let user_agent = user_agent.map(|text| text.chars().take(USER_AGENT_LIMIT).collect());
        Self { address, user_agent }
    }
}

// Walks `X-Forwarded-For` from the right while the address is a trusted proxy. Entries further left may be
// forged by the client.
fn client_address(peer: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let forwarded = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let mut hops: Vec<&str> = forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
    // An IPv4 peer of a dual-stack listener appears as `::ffff:a.b.c.d`.
    let mut address = peer.to_canonical();
    while proxies.contains(&address) {
        let Some(Ok(previous)) = hops.pop().map(str::parse::<IpAddr>) else { break };
        address = previous.to_canonical();
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(peer: &str, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        let proxies = ["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()];
        client_address(peer.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn forwarded_for_is_used_only_from_trusted_proxies() {
        assert_eq!(address("192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(address("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        // A peer that is not a trusted proxy cannot forward for others.
        assert_eq!(address("::ffff:10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(address("10.0.0.1", &["203.0.113.9, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(address("10.0.0.1", &["203.0.113.9", "198.51.100.7, 10.0.0.2"]), "198.51.100.7");
        assert_eq!(address("10.0.0.1", &["nonsense"]), "10.0.0.1");
        assert_eq!(address("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn ipv6_clients_are_grouped_by_64_bit_prefix() {
        let network =
            |text: &str| ClientInfo { address: Some(text.parse().unwrap()), user_agent: None }.network();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), network("2001:db8:1:2::9"));
        assert_ne!(network("2001:db8:1:2::"), network("2001:db8:1:3::"));
        assert_eq!(network("192.0.2.1"), "192.0.2.1");
    }
}
