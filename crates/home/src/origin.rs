//! Origins of the relay, the API and the web app: scheme, host and port only.

use thiserror::Error;
use url::{Host, Url};

/// Why a text is not a usable origin. The message begins with its subject.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidOrigin {
    #[error("{0} is required")]
    Missing(&'static str),
    #[error("{0} must be a valid URL")]
    NotAUrl(&'static str),
    /// Unencrypted HTTP to a host that is not loopback.
    #[error("{0} must use https (http is allowed only for localhost/127.0.0.1 in local development)")]
    NotSecure(&'static str),
}

/// Reduces a URL to its origin. `subject` starts the error message, for example `Origin`.
///
/// # Errors
/// Fails with [`InvalidOrigin`] when the text is blank, not a URL, or uses plain HTTP to another machine.
pub fn normalize_origin(text: &str, subject: &'static str) -> Result<String, InvalidOrigin> {
    let text = text.trim();
    if text.is_empty() {
        return Err(InvalidOrigin::Missing(subject));
    }
    let url = Url::parse(text).map_err(|_| InvalidOrigin::NotAUrl(subject))?;
    let host = url.host().ok_or(InvalidOrigin::NotAUrl(subject))?;
    let loopback = match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    match url.scheme() {
        "https" => {}
        "http" if loopback => {}
        _ => return Err(InvalidOrigin::NotSecure(subject)),
    }
    Ok(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_is_reduced_to_its_origin() {
        let origin = |text| normalize_origin(text, "Origin").unwrap();
        assert_eq!(origin(" https://app.example.test:443/path?x "), "https://app.example.test");
        assert_eq!(origin("http://127.0.0.1:8080/"), "http://127.0.0.1:8080");
        assert_eq!(origin("http://[::1]:1"), "http://[::1]:1");
    }

    #[test]
    fn plain_http_is_refused_except_on_loopback() {
        assert_eq!(
            normalize_origin("http://app.example.test", "Origin"),
            Err(InvalidOrigin::NotSecure("Origin"))
        );
        assert_eq!(
            normalize_origin("", "Web app origin").unwrap_err().to_string(),
            "Web app origin is required"
        );
    }
}
