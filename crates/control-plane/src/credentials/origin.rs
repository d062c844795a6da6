//! Which pages and host names are trusted.

use http::{HeaderMap, Uri};
use url::Url;

/// Origins that pages may come from, and host names under which we answer.
#[derive(Debug, Clone)]
pub struct TrustedOrigins {
    trusted: Vec<String>,
    /// Host names that a request may name; `None` when we are not on loopback, where a reverse
    /// proxy decides.
    hosts: Option<Vec<String>>,
}

const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

impl TrustedOrigins {
    /// Trusts the API's and the web app's origin and the extra ones; on loopback also the other
    /// spellings of this machine with the same port.
    pub fn new(api_origin: &str, web_origin: &str, extra: &[String]) -> Self {
        let mut trusted = vec![bare(api_origin), bare(web_origin)];
        trusted.extend(extra.iter().map(|origin| bare(origin)));
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
            let own = LOOPBACK_HOSTS.iter().map(ToString::to_string);
            own.chain([api_host]).chain(web_host).collect()
        });
        Self { trusted, hosts }
    }

    /// Whether an origin is trusted; only the bare form `scheme://host[:port]` ever is.
    pub fn trusts(&self, origin: &str) -> bool {
        self.trusted.iter().any(|trusted| trusted == origin)
    }

    /// Whether the `Host` of a request is one of ours. A page of a foreign site that has pointed
    /// its own name at this machine is refused here.
    pub fn accepts_host(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let Some(hosts) = &self.hosts else { return true };
        let host = headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
        let authority = uri.authority().map(http::uri::Authority::as_str);
        [host, authority].into_iter().flatten().all(|host| hosts.iter().any(|own| own == without_port(host)))
            && (host.is_some() || authority.is_some())
    }
}

fn bare(origin: &str) -> String {
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
    fn only_bare_forms_of_this_machine_are_trusted() {
        let origins = TrustedOrigins::new("http://127.0.0.1:19440", "http://127.0.0.1:19440", &[]);
        assert!(origins.trusts("http://localhost:19440") && origins.trusts("http://[::1]:19440"));
        for foreign in
            ["http://localhost:19441", "http://localhost:19440/", "https://127.0.0.1:19440", "null"]
        {
            assert!(!origins.trusts(foreign), "{foreign}");
        }
    }

    #[test]
    fn foreign_host_is_refused_on_loopback() {
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
