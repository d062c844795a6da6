//! URLs that a health check may request: those of this machine only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

/// A URL whose host is this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopbackUrl(Url);

impl LoopbackUrl {
    /// Parses a URL; `None` when it is no `http`, `https` or `tcp` URL of this machine, or holds credentials.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_known = match url.scheme() {
            "http" | "https" => true,
            "tcp" => url.port().is_some(),
            _ => false,
        };
        let is_here = match url.host()? {
            Host::Domain(name) => is_local(name),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address == Ipv6Addr::LOCALHOST,
        };
        let is_anonymous = url.username().is_empty() && url.password().is_none();
        (is_known && is_here && is_anonymous).then_some(Self(url))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Whether it is an HTTP URL.
    #[must_use]
    pub fn is_http(&self) -> bool {
        !self.is_tcp()
    }

    /// Whether a TCP connection is the whole check.
    pub(crate) fn is_tcp(&self) -> bool {
        self.0.scheme() == "tcp"
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Its socket addresses. Names are not looked up: they are the loopback addresses.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let addresses = match self.0.host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            _ => vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)],
        };
        addresses.into_iter().map(|address| SocketAddr::new(address, self.port())).collect()
    }
}

/// Hosts of `tcp` URLs are not parsed as addresses, so a domain may be one here.
fn is_local(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let numeric = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    numeric || name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_this_machine_are_parsed() {
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
        for refused in [
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
            assert_eq!(LoopbackUrl::parse(refused), None, "{refused}");
        }
    }
}
