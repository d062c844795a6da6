//! URLs that a health check may request: loopback only, because the settings come from a repository.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

/// A URL whose host is a loopback address or name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopbackUrl(Url);

impl LoopbackUrl {
    /// Parses a URL. Returns `None` unless it is an `http`, `https` or `tcp` URL with a loopback host and
    /// without credentials.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_supported = match url.scheme() {
            "http" | "https" => true,
            "tcp" => url.port().is_some(),
            _ => false,
        };
        let is_loopback = match url.host()? {
            Host::Domain(name) => is_local(name),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address == Ipv6Addr::LOCALHOST,
        };
        let is_anonymous = url.username().is_empty() && url.password().is_none();
        (is_supported && is_loopback && is_anonymous).then_some(Self(url))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Returns whether the URL is an HTTP URL.
    #[must_use]
    pub fn is_http(&self) -> bool {
        !self.is_tcp()
    }

    /// Returns the URL of a port of this machine.
    pub(crate) fn of_port(scheme: &str, port: u16) -> Option<Self> {
        Self::parse(&format!("{scheme}://localhost:{port}"))
    }

    /// Returns whether the check is a TCP connect only.
    pub(crate) fn is_tcp(&self) -> bool {
        self.0.scheme() == "tcp"
    }

    /// Returns the port, also when it is the default of the scheme.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Returns the socket addresses. Names are not resolved: they denote the loopback addresses, whatever DNS
    /// returns.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let addresses = match self.0.host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            _ => vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)],
        };
        addresses.into_iter().map(|address| SocketAddr::new(address, self.port())).collect()
    }
}

/// Also accepts IP addresses: the URL parser does not parse hosts of `tcp` URLs as addresses.
fn is_local(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let numeric = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    numeric || name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_urls_are_parsed() {
        for allowed in [
            "http://localhost:3000/a?b",
            "https://LOCALHOST",
            "http://app.localhost:1/",
            "http://127.9.9.9",
            "http://[::1]:3000",
            "http://0x7f.1/",
            "tcp://localhost:5432",
            "tcp://127.0.0.1:5432",
        ] {
            assert!(LoopbackUrl::parse(allowed).is_some(), "{allowed}");
        }
        for rejected in [
            "",
            "localhost:3000",
            "ftp://localhost/",
            "http://user@localhost/",
            "http://:pw@localhost/",
            "http://169.254.169.254/",
            "http://10.0.0.1/",
            "http://[fe80::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://0.0.0.0/",
            "http://example.test/",
            "http://localhost.example.test/",
            "http://notlocalhost/",
            "http://2852039166/",
            "tcp://localhost",
            "tcp://example.test:80",
            "file:///etc/passwd",
        ] {
            assert_eq!(LoopbackUrl::parse(rejected), None, "{rejected}");
        }
    }
}
