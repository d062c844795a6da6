//! The session cookie.
//!
//! A browser sends a cookie to every port of the host that set it. So its name carries the
//! installation, which keeps several Loopgates on one host apart, and its value alone signs nobody
//! in: see [`super::session`].

use std::sync::{Arc, OnceLock};

use hmac::{Hmac, KeyInit, Mac};
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// What every name begins with, behind the prefix that browsers know.
pub const NAME: &str = "loopgate_session";
/// Hex digits of the installation.
const INSTALLATION_LENGTH: usize = 8;

/// Reads and writes the session cookie of one installation.
#[derive(Debug, Clone)]
pub struct SessionCookie {
    name: String,
    attributes: &'static str,
}

impl SessionCookie {
    /// Derives the installation from a secret that only this installation has. `secure` when the
    /// web app is served over https.
    pub fn new(secret: &SecretString, secure: bool) -> Self {
        let installation = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
            .map(|mac| hex::encode(mac.chain_update(NAME).finalize().into_bytes()))
            .unwrap_or_default();
        let installation: String = installation.chars().take(INSTALLATION_LENGTH).collect();
        let (prefix, attributes) = if secure {
            ("__Host-", "Path=/; HttpOnly; SameSite=Strict; Secure")
        } else {
            ("", "Path=/; HttpOnly; SameSite=Strict")
        };
        Self { name: format!("{prefix}{NAME}_{installation}"), attributes }
    }

    /// The value that a request carries.
    pub fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        read(headers, &self.name)
    }

    /// The `Set-Cookie` of a session that lives for so many more milliseconds.
    pub fn set(&self, value: &str, lifetime: i64) -> String {
        format!("{}={value}; {}; Max-Age={}", self.name, self.attributes, lifetime / 1000)
    }

    /// The `Set-Cookie` that removes it.
    pub fn clear(&self) -> String {
        self.set("", 0)
    }
}

/// The cookie that ties a sign-in at an OpenID provider to the browser that began it. It comes back from the
/// provider's site, so it is not strict.
#[derive(Debug, Clone)]
pub struct OidcCookie {
    secure: &'static str,
}

impl OidcCookie {
    const NAME: &'static str = "loopgate_oidc";
    /// Seconds that a person may spend at the provider.
    const LIFETIME: u32 = 600;

    /// `secure` when we are served over https.
    pub const fn new(secure: bool) -> Self {
        Self { secure: if secure { "; Secure" } else { "" } }
    }

    /// The value that a request carries.
    pub fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        read(headers, Self::NAME)
    }

    /// The `Set-Cookie` of a sign-in that begins.
    pub fn set(&self, value: &str) -> String {
        self.header(value, Self::LIFETIME)
    }

    /// The `Set-Cookie` that removes it.
    pub fn clear(&self) -> String {
        self.header("", 0)
    }

    fn header(&self, value: &str, lifetime: u32) -> String {
        let (name, secure) = (Self::NAME, self.secure);
        format!("{name}={value}; Path=/auth/oidc; HttpOnly; SameSite=Lax; Max-Age={lifetime}{secure}")
    }
}

/// The value of a cookie in a request.
fn read<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(own, value)| *own == name && !value.is_empty())
        .map(|(_, value)| value)
}

/// A renewed cookie on its way from the extractor of a session to the answer.
#[derive(Debug, Clone, Default)]
pub struct RenewedCookie(Arc<OnceLock<HeaderValue>>);

impl RenewedCookie {
    /// Sends a cookie with the answer.
    pub fn put(&self, cookie: &str) {
        if let Ok(value) = HeaderValue::from_str(cookie) {
            let _ = self.0.set(value);
        }
    }

    /// The cookie to send, if there is one.
    pub fn get(&self) -> Option<&HeaderValue> {
        self.0.get()
    }
}
