//! The session cookie, and the cookie of a pending OpenID sign-in.
//!
//! Browsers send a cookie to all ports of a host. The cookie's name therefore contains an id of the
//! installation, which separates several installations on one host, and its value alone does not
//! authenticate: see [`super::session`].

use std::sync::{Arc, OnceLock};

use hmac::{Hmac, KeyInit, Mac};
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

use super::secret::random_secret;

/// Common part of the cookie's name, between the `__Host-` prefix and the installation's id.
pub const NAME: &str = "loopgate_session";
// Hex digits of the installation's id; enough to distinguish installations on one host.
const INSTALLATION_LENGTH: usize = 8;

/// Name and attributes of the session cookie of one installation.
#[derive(Debug, Clone)]
pub struct SessionCookie {
    name: String,
    attributes: &'static str,
}

impl SessionCookie {
    /// Derives the installation's id from its secret. Set `secure` when the web app is served over https.
    pub fn new(secret: &SecretString, secure: bool) -> Self {
        // A MAC, so that the name does not reveal the secret.
        let installation = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
            .map(|mac| hex::encode(mac.chain_update(NAME).finalize().into_bytes()))
            .unwrap_or_default();
        let installation: String = installation.chars().take(INSTALLATION_LENGTH).collect();
        let (prefix, attributes) = if secure {
            // `__Host-` requires `Secure`, which browsers reject on plain http.
            ("__Host-", "Path=/; HttpOnly; SameSite=Strict; Secure")
        } else {
            ("", "Path=/; HttpOnly; SameSite=Strict")
        };
        Self { name: format!("{prefix}{NAME}_{installation}"), attributes }
    }

    /// Returns the cookie's value in a request.
    pub fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        read(headers, &self.name)
    }

    /// Returns the `Set-Cookie` header for a session with a lifetime in milliseconds.
    pub fn set(&self, value: &str, lifetime: i64) -> String {
        format!("{}={value}; {}; Max-Age={}", self.name, self.attributes, lifetime / 1000)
    }

    /// Returns the `Set-Cookie` header that removes the cookie.
    pub fn clear(&self) -> String {
        self.set("", 0)
    }
}

/// The cookie of a browser that has presented the password of an account. Its attempts have a limit of their own,
/// so that failed attempts of others cannot lock the account's owner out.
#[derive(Debug, Clone)]
pub struct KnownBrowserCookie {
    secret: SecretString,
    attributes: &'static str,
}

impl KnownBrowserCookie {
    const NAME: &'static str = "loopgate_known_browser";
    // One year in seconds.
    const LIFETIME: u32 = 365 * 24 * 3600;

    /// Creates the cookie. Set `secure` when the web app is served over https.
    pub fn new(secret: &SecretString, secure: bool) -> Self {
        let attributes = if secure {
            "Path=/auth; HttpOnly; SameSite=Strict; Secure"
        } else {
            "Path=/auth; HttpOnly; SameSite=Strict"
        };
        Self { secret: secret.clone(), attributes }
    }

    /// Returns the `Set-Cookie` header for a browser that has signed in to an account.
    pub fn set(&self, account: &str) -> String {
        let id = hex::encode(random_secret());
        let tag = hex::encode(self.mac(account, &id).finalize().into_bytes());
        format!("{}={id}.{tag}; {}; Max-Age={}", Self::NAME, self.attributes, Self::LIFETIME)
    }

    /// Returns the id of the browser, if its cookie is for the account.
    pub fn read(&self, headers: &HeaderMap, account: &str) -> Option<String> {
        let (id, tag) = read(headers, Self::NAME)?.split_once('.')?;
        self.mac(account, id).verify_slice(&hex::decode(tag).ok()?).ok()?;
        Some(id.to_owned())
    }

    fn mac(&self, account: &str, id: &str) -> Hmac<Sha256> {
        let key = self.secret.expose_secret().as_bytes();
        // HMAC accepts keys of any length.
        let mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| unreachable!("any length"));
        mac.chain_update(Self::NAME)
            .chain_update([0])
            .chain_update(id)
            .chain_update([0])
            .chain_update(account)
    }
}

/// The cookie that binds a sign-in at an OpenID provider, and the link that completes it, to the browser that
/// started it. `SameSite=Lax`, because the callback is a navigation from the provider's site.
#[derive(Debug, Clone)]
pub struct OidcCookie {
    secure: &'static str,
}

impl OidcCookie {
    const NAME: &'static str = "loopgate_oidc";
    // Time to authenticate at the provider, in seconds; equals the lifetime of a pending sign-in.
    const LIFETIME: u32 = 600;

    /// Creates the cookie. Set `secure` when this server is reached over https.
    pub const fn new(secure: bool) -> Self {
        Self { secure: if secure { "; Secure" } else { "" } }
    }

    /// Returns the cookie's value in a request.
    pub fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        read(headers, Self::NAME)
    }

    /// Returns the `Set-Cookie` header of a new sign-in.
    pub fn set(&self, value: &str) -> String {
        self.header(value, Self::LIFETIME)
    }

    /// Returns the `Set-Cookie` header that removes the cookie.
    pub fn clear(&self) -> String {
        self.header("", 0)
    }

    fn header(&self, value: &str, lifetime: u32) -> String {
        let (name, secure) = (Self::NAME, self.secure);
        format!("{name}={value}; Path=/auth; HttpOnly; SameSite=Lax; Max-Age={lifetime}{secure}")
    }
}

// Browsers may send several `Cookie` headers over HTTP/2.
fn read<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, value)| *key == name && !value.is_empty())
        .map(|(_, value)| value)
}

/// Passes a renewed cookie from the session extractor to the middleware, through the request's extensions.
#[derive(Debug, Clone, Default)]
pub struct RenewedCookie(Arc<OnceLock<HeaderValue>>);

impl RenewedCookie {
    /// Sets the cookie to send with the response.
    pub fn put(&self, cookie: &str) {
        if let Ok(value) = HeaderValue::from_str(cookie) {
            // Already set: the extractor may run twice for a request, and the first value is as good.
            let _ = self.0.set(value);
        }
    }

    /// Returns the cookie to send, if any.
    pub fn get(&self) -> Option<&HeaderValue> {
        self.0.get()
    }
}
