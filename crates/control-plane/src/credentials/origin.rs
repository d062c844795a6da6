//! Trusted origins and host names.

use http::{HeaderMap, Uri};
use url::Url;

/// Origins that pages may send requests from, and host names that this server accepts.
#[derive(Debug, Clone)]
pub struct TrustedOrigins {
    trusted: Vec<String>,
    /// Accepted host names; `None` when this server is not on loopback, where a reverse proxy checks them.
    hosts: Option<Vec<String>>,
}

const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

impl TrustedOrigins {
    /// Trusts the origins of the API and the web app, and `extra`. For origins on loopback, also trusts the
    /// other names of this machine with the same port.
    pub fn new(api_origin: &str, web_origin: &str, extra: &[String]) -> Self {
        let mut trusted = vec![without_trailing_slash(api_origin), without_trailing_slash(web_origin)];
        trusted.extend(extra.iter().map(|origin| without_trailing_slash(origin)));
        for origin in [api_origin, web_origin] {
            let Some((scheme, host, port)) = parts(origin) else { continue };
            if is_loopback(&host) {
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                trusted.extend(LOOPBACK_HOSTS.iter().map(|host| format!("{scheme}://{host}{port}")));
            }
        }
        let api_host = parts(api_origin).map(|(_, host, _)| host).unwrap_or_default();
        let hosts = is_loopback(&api_host).then(|| {
            let web_host = parts(web_origin).map(|(_, host, _)| host);
            let loopback = LOOPBACK_HOSTS.iter().map(ToString::to_string);
            loopback.chain([api_host]).chain(web_host).collect()
        });
        Self { trusted, hosts }
    }

    /// Returns whether an origin is trusted, in the form that browsers send: `scheme://host[:port]`.
    pub fn trusts(&self, origin: &str) -> bool {
        self.trusted.iter().any(|trusted| trusted == origin)
    }

    /// Returns whether the `Host` of a request is accepted. Prevents DNS rebinding, where a foreign host name
    /// resolves to this machine.
    pub fn accepts_host(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let Some(hosts) = &self.hosts else { return true };
        let host = headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
        let authority = uri.authority().map(http::uri::Authority::as_str);
        // HTTP/2 sends the host as the authority of the URI, HTTP/1.1 as a header. Check both when both
        // exist.
        [host, authority]
            .into_iter()
            .flatten()
            .all(|host| hosts.iter().any(|accepted| accepted == without_port(host)))
            && (host.is_some() || authority.is_some())
    }
}

fn without_trailing_slash(origin: &str) -> String {
    origin.trim_end_matches('/').to_owned()
}

fn parts(origin: &str) -> Option<(String, String, Option<u16>)> {
    let url = Url::parse(origin).ok()?;
    Some((url.scheme().to_owned(), url.host_str()?.to_owned(), url.port()))
}

fn is_loopback(host: &str) -> bool {
    LOOPBACK_HOSTS.contains(&host)
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port))
            // Without brackets, the last group of an IPv6 address must not be taken for a port.
            if port.bytes().all(|c| c.is_ascii_digit()) && (!host.contains(':') || host.ends_with(']')) =>
        {
            host
        }
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_origins_of_this_machine_without_path_are_trusted() {
        let origins = TrustedOrigins::new("http://127.0.0.1:19440", "http://127.0.0.1:19440", &[]);
        assert!(origins.trusts("http://localhost:19440") && origins.trusts("http://[::1]:19440"));
        for foreign in
            ["http://localhost:19441", "http://localhost:19440/", "https://127.0.0.1:19440", "null"]
        {
            assert!(!origins.trusts(foreign), "{foreign}");
        }
    }

    #[test]
    fn unknown_host_is_rejected_on_loopback() {
        let origins = TrustedOrigins::new("http://127.0.0.1:19440", "http://127.0.0.1:19440", &[]);
        let accepts = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("host", host.parse().unwrap());
            origins.accepts_host(&headers, &"/health".parse().unwrap())
        };
        assert!(accepts("127.0.0.1:19440") && accepts("localhost") && accepts("[::1]:1"));
        assert!(!accepts("evil.example") && !accepts("127.0.0.1.evil.example:19440") && !accepts("::1"));
    }
}
