//! Origins of the relay, the API and the web app: scheme, host and port, nothing else.

use thiserror::Error;
use url::{Host, Url};

/// A text that is no usable origin; the message names its subject.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidOrigin {
    /// Blank.
    #[error("{0} is required")]
    Missing(&'static str),
    /// Not a URL.
    #[error("{0} must be a valid URL")]
    NotAUrl(&'static str),
    /// Plain HTTP to another machine.
    #[error("{0} must use https (http is allowed only for localhost/127.0.0.1 in local development)")]
    NotSecure(&'static str),
}

/// Reduces a URL to its origin. `subject` begins the message of an error, for example `Origin`.
///
/// # Errors
/// See [`InvalidOrigin`].
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
    fn only_the_origin_is_kept() {
        let kept = |text| normalize_origin(text, "Origin").unwrap();
        assert_eq!(kept(" https://app.example.test:443/path?x "), "https://app.example.test");
        assert_eq!(kept("http://127.0.0.1:8080/"), "http://127.0.0.1:8080");
        assert_eq!(kept("http://[::1]:1"), "http://[::1]:1");
    }

    #[test]
    fn plain_http_stays_on_this_machine() {
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
