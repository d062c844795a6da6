//! Who is calling a gateway route: the executor with the gateway token, or a page with a session
//! that belongs to its origin.

use http::header::ORIGIN;
use http::{HeaderMap, HeaderName};
use jiff::Timestamp;
use loopgate_api::names::{GATEWAY_TOKEN_HEADER, SESSION_TOKEN_HEADER};
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;

use super::origin::{OriginPolicy, named_origin};
use super::sessions::GatewaySessions;

const GATEWAY_TOKEN: HeaderName = HeaderName::from_static(GATEWAY_TOKEN_HEADER);
const SESSION_TOKEN: HeaderName = HeaderName::from_static(SESSION_TOKEN_HEADER);

/// Who was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Principal {
    /// Holds the gateway token: an executor of ours.
    Internal,
    /// A page with its session.
    Page,
    /// Anybody, because no token is configured.
    Anybody,
}

/// Decides who is let in.
pub(crate) struct Authenticator<'a> {
    pub(crate) gateway_token: Option<&'a SecretString>,
    pub(crate) origins: &'a OriginPolicy,
    pub(crate) production_only: bool,
    pub(crate) sessions: &'a GatewaySessions,
}

impl Authenticator<'_> {
    /// Lets a caller in, or says why not.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<Principal, &'static str> {
        if let (Some(token), Some(given)) = (self.gateway_token, headers.get(GATEWAY_TOKEN))
            && same_secret(token.expose_secret().as_bytes(), given.as_bytes())
        {
            return Ok(Principal::Internal);
        }
        if self.production_only && !self.origins.allows(headers.get(ORIGIN)) {
            return Err("origin not allowed in prod-origins-only mode");
        }
        if self.gateway_token.is_none() {
            return Ok(Principal::Anybody);
        }
        let session = headers.get(SESSION_TOKEN).and_then(|token| token.to_str().ok());
        match (session.filter(|token| !token.is_empty()), named_origin(headers)) {
            (Some(_), None) => Err("session token present but Origin header missing"),
            (Some(token), Some(origin)) if self.sessions.is_valid(token, origin, Timestamp::now()) => {
                Ok(Principal::Page)
            }
            (Some(_), Some(_)) => Err("invalid or expired session token, or origin mismatch"),
            (None, None) => Err("no credential provided"),
            (None, Some(_)) => Err("session token required for browser requests"),
        }
    }
}

/// Lengths may differ in the open; contents are compared in constant time.
fn same_secret(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && bool::from(one.ct_eq(other))
}
