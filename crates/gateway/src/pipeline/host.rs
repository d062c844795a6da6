//! Validates the `Host` header. This defeats DNS rebinding, where a page of another site resolves its own
//! name to 127.0.0.1.

use http::header::HOST;
use http::{HeaderMap, Uri};

/// Values of `Host` that address this listener.
#[derive(Debug, Clone)]
pub(crate) struct OwnHosts([String; 3]);

impl OwnHosts {
    pub(crate) fn new(port: u16) -> Self {
        Self([format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")])
    }

    /// Accepts exactly one `Host` header with one of our names. The authority of an absolute target must
    /// match, too.
    pub(crate) fn accept(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        self.is_own(host.as_bytes())
            && uri.authority().is_none_or(|authority| self.is_own(authority.as_str().as_bytes()))
    }

    fn is_own(&self, host: &[u8]) -> bool {
        self.0.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_loopback_names_with_our_port_are_accepted() {
        let hosts = OwnHosts::new(19432);
        let accept = |target: &str, host: &'static str| {
            let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
            hosts.accept(&target.parse().unwrap(), &headers)
        };
        for host in ["127.0.0.1:19432", "LocalHost:19432", "[::1]:19432"] {
            assert!(accept("/health", host), "{host}");
        }
        for host in ["127.0.0.1", "127.0.0.1:80", "evil.test:19432", "127.0.0.1:19432.evil.test", ""] {
            assert!(!accept("/health", host), "{host}");
        }
        assert!(accept("http://localhost:19432/health", "localhost:19432"));
        assert!(!accept("http://evil.test/health", "localhost:19432"));
        assert!(!hosts.accept(&"/health".parse().unwrap(), &HeaderMap::new()));
    }
}
