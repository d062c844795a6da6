//! Authentication of gateway routes: by the gateway token, or by a session token that is bound to an origin.

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Principal {
    /// Presented the gateway token: the executor or another of the owner's programs.
    Internal,
    /// Presented a session token with its origin.
    Page,
    /// Unauthenticated, because no gateway token is configured.
    Unauthenticated,
}

/// The configuration that authentication depends on.
pub(crate) struct Authenticator<'a> {
    pub(crate) gateway_token: Option<&'a SecretString>,
    pub(crate) origins: &'a OriginPolicy,
    pub(crate) production_only: bool,
    pub(crate) sessions: &'a GatewaySessions,
}

impl Authenticator<'_> {
    /// Authenticates a caller by its headers.
    ///
    /// # Errors
    /// Fails with the reason for the 401 response.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<Principal, &'static str> {
        if let (Some(token), Some(presented)) = (self.gateway_token, headers.get(GATEWAY_TOKEN))
            && same_secret(token.expose_secret().as_bytes(), presented.as_bytes())
        {
            return Ok(Principal::Internal);
        }
        if self.production_only && !self.origins.allows(headers.get(ORIGIN)) {
            return Err("origin not allowed in prod-origins-only mode");
        }
        if self.gateway_token.is_none() {
            return Ok(Principal::Unauthenticated);
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

/// Compares in constant time. Only the length may leak.
fn same_secret(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && bool::from(one.ct_eq(other))
}
