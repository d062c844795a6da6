//! Who asks: one extractor for each class of caller.
//!
//! [`Session`] is a signed-in browser, [`ApiKey`] a key, [`Any`] either of them, [`AnyAdmin`] either
//! one with the administrator's role, [`Runner`] the token of one loop. A handler that takes one
//! of them runs only for such a caller.

pub mod api_key;
mod caller;
pub mod challenge;
pub mod cookie;
pub mod origin;
pub mod proof;
pub mod runner;
pub mod session;

pub use caller::{Any, AnyAdmin, ApiKey, Caller, Session, verify_key};
pub use runner::Runner;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A fresh secret of 256 bits.
pub fn random_secret() -> [u8; 32] {
    rand::random()
}

/// Lower-case hex of the SHA-256 of a text; the form in which secrets are stored.
pub fn sha256_hex(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// Compares without telling how far the texts agree.
pub fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

/// The bearer credential of a request.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// A header that is text.
pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
