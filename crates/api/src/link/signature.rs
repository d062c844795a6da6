//! Signatures by a browser key over commands and over requests to start or cancel a loop.
//!
//! The browser signs a text, [`SignaturePayload`] as JSON. The server forwards text and signature without
//! storing them. The desktop compares the text with the command and verifies the signature with the keys that
//! its user authorized.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use utoipa::ToSchema;

use super::{LinkCommand, QueryValue};

/// A command about a browser key that the server sends on its own behalf, with method `POST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrowserKeyCommand {
    /// Operation id of the command.
    pub operation_id: &'static str,
    /// Request path of the command.
    pub path: &'static str,
}

/// Revokes an authorized browser key.
pub const REVOKE_KEY: BrowserKeyCommand = BrowserKeyCommand {
    operation_id: "browser_key_revoke",
    path: "/api/gateway/internal/browser-key/revoke",
};

/// Announces a browser key that awaits authorization by the desktop's user.
pub const REQUEST_KEY_APPROVAL: BrowserKeyCommand = BrowserKeyCommand {
    operation_id: "browser_key_approval_request",
    path: "/api/gateway/internal/browser-key/approval-request",
};

/// Prefix of all fingerprints.
const PREFIX: &str = "lg:";
/// Number of base64url characters of the digest in a fingerprint, 132 bits.
const DIGEST_CHARS: usize = 22;
/// Length of an Ed25519 public key in bytes.
const KEY_BYTES: usize = 32;

/// A raw Ed25519 public key of 32 bytes, in standard base64 on the wire. Not checked to be a point on the
/// curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BrowserPublicKey([u8; KEY_BYTES]);

/// Error for a text that is not a browser key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidBrowserKey {
    /// The text is not standard base64.
    #[error("invalid base64 public key")]
    Base64,
    /// The decoded key does not have 32 bytes.
    #[error("unsupported public key length")]
    Length,
}

impl BrowserPublicKey {
    /// Returns the raw bytes of the key.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Returns the fingerprint: `lg:` and 22 base64url characters of the key's SHA-256 digest.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(self.0));
        Fingerprint(format!("{PREFIX}{}", &digest[..DIGEST_CHARS]))
    }
}

impl From<[u8; KEY_BYTES]> for BrowserPublicKey {
    fn from(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }
}

impl FromStr for BrowserPublicKey {
    type Err = InvalidBrowserKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Standard base64 with padding, as `btoa` in the browser generates it.
        let bytes = STANDARD.decode(text).map_err(|_| InvalidBrowserKey::Base64)?;
        Ok(Self(bytes.try_into().map_err(|_| InvalidBrowserKey::Length)?))
    }
}

impl fmt::Display for BrowserPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl Serialize for BrowserPublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BrowserPublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Fingerprint of a browser key: `lg:` and 16 to 64 base64url characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
pub struct Fingerprint(String);

/// Error for a text that is not a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("invalid fingerprint")]
pub struct InvalidFingerprint;

impl Fingerprint {
    /// Returns the fingerprint as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Fingerprint {
    type Err = InvalidFingerprint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digest = text.strip_prefix(PREFIX).ok_or(InvalidFingerprint)?;
        let is_digest =
            digest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        // Wider than what `fingerprint` generates, so that a later version can use more characters of the
        // digest.
        if is_digest && (16..=64).contains(&digest.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidFingerprint)
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Content that a browser signs, serialized as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignaturePayload {
    /// UUID of version 7, generated by the browser.
    pub command_id: String,
    /// HTTP method in upper case.
    pub method: String,
    /// Request path without the query.
    pub path: String,
    /// Query parameters as pairs of name and value, sorted.
    pub query: Vec<(String, String)>,
    /// Hash of the signed body, see [`body_hash`].
    pub body_hash: String,
    /// Time of signing in seconds since the epoch.
    pub timestamp: i64,
    /// Random text against replay of the signature.
    pub nonce: String,
}

impl SignaturePayload {
    /// Returns the payload that a browser would sign for a command at a time.
    #[must_use]
    pub fn of(command: &LinkCommand, timestamp: i64, nonce: impl Into<String>) -> Self {
        let mut query = query_pairs(command);
        query.sort();
        Self {
            command_id: command.command_id.clone(),
            method: command.method.to_uppercase(),
            path: path(command).to_owned(),
            query,
            body_hash: body_hash(signed_body(command)),
            timestamp,
            nonce: nonce.into(),
        }
    }

    /// Returns whether the payload matches a command. The order of query parameters is ignored: browsers sort
    /// by locale. A command whose path contains a query or a fragment never matches: the gateway would read
    /// them, but the payload has no place for them.
    #[must_use]
    pub fn matches(&self, command: &LinkCommand) -> bool {
        if command.path.contains(['?', '#']) {
            return false;
        }
        let mut signed = self.clone();
        signed.query.sort();
        signed == Self::of(command, self.timestamp, self.nonce.clone())
    }
}

/// Returns the part of a command's body that its signature covers.
///
/// For start and cancellation of a loop, this is only the user's intent: the server adds the other members,
/// such as credentials, after the browser has signed.
fn signed_body(command: &LinkCommand) -> Option<&Value> {
    const LOOP_PATHS: [&str; 2] = ["/api/gateway/orchestrator/loop", "/api/gateway/orchestrator/loop/kill"];
    let body = command.body.as_ref()?;
    let intent = body.get(USER_INTENT).filter(|_| LOOP_PATHS.contains(&path(command)));
    Some(intent.unwrap_or(body))
}

/// Member with the signed intent of the user, in the body of the routes that start or cancel a loop.
pub const USER_INTENT: &str = "userIntent";

fn path(command: &LinkCommand) -> &str {
    command.path.split_once('?').map_or(&command.path, |(path, _)| path)
}

fn query_pairs(command: &LinkCommand) -> Vec<(String, String)> {
    let pairs = |(name, value): (&String, &QueryValue)| {
        let name = name.clone();
        value.values().iter().map(move |value| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    command.query.iter().flat_map(pairs).collect()
}

/// Returns canonical JSON as of RFC 8785: keys sorted by UTF-16 code units, no whitespace, numbers as in
/// JavaScript.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    // Fails only for numbers without a JSON representation (NaN, infinity), which a `Value` cannot have.
    serde_json_canonicalizer::to_string(value).unwrap_or_default()
}

/// Returns the base64url SHA-256 of a body's canonical JSON; an absent body counts as `null`.
#[must_use]
pub fn body_hash(body: Option<&Value>) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(canonical_json(body.unwrap_or(&Value::Null))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_json_matches_javascript() {
        let cases = [
            (json!(null), "null"),
            (json!([1.0, 0.1, -0.0, 1e21, 1e-7, 123_456_789]), "[1,0.1,0,1e+21,1e-7,123456789]"),
            (json!({"b": 1, "a": {"d": [], "c": null}}), r#"{"a":{"c":null,"d":[]},"b":1}"#),
            // The surrogate pair of U+1F600 sorts before U+FB33: its first code unit is U+D83D.
            (json!({"\u{fb33}": 1, "\u{1f600}": 2, "é": 3}), "{\"é\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}"),
            (json!("a\"\\\u{8}\n\u{1f}/é"), r#""a\"\\\b\n\u001f/é""#),
        ];
        for (value, expected) in cases {
            assert_eq!(canonical_json(&value), expected);
        }
    }

    #[test]
    fn fingerprint_is_derived_from_digest() {
        let key: BrowserPublicKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=".parse().unwrap();
        assert_eq!(key.fingerprint().as_str(), "lg:If4x36FUomFia_hUBG_SJx");
        assert_eq!("AAAA".parse::<BrowserPublicKey>(), Err(InvalidBrowserKey::Length));
        assert_eq!("?".parse::<BrowserPublicKey>(), Err(InvalidBrowserKey::Base64));
        for invalid in ["", "lg:", "lg:short", "xx:aaaaaaaaaaaaaaaaaaaa", "lg:aaaaaaaaaaaaaaaa/a"] {
            assert!(invalid.parse::<Fingerprint>().is_err(), "{invalid}");
        }
    }

    #[test]
    fn payload_matches_only_its_own_command() {
        let mut command = LinkCommand {
            command_id: "c".into(),
            method: "post".into(),
            path: "/api/gateway/git".into(),
            body: Some(json!({"a": 1})),
            ..LinkCommand::default()
        };
        command.query.insert("b".into(), QueryValue::Many(vec!["2".into(), "1".into()]));
        command.query.insert("a".into(), QueryValue::One("x".into()));
        let mut payload = SignaturePayload::of(&command, 1, "n");
        assert_eq!(
            serde_json::to_value(&payload).unwrap()["query"],
            json!([["a", "x"], ["b", "1"], ["b", "2"]])
        );
        assert!(payload.matches(&command));
        payload.query.reverse();
        assert!(payload.matches(&command), "query order is ignored");
        for change in [
            |command: &mut LinkCommand| command.command_id = "d".into(),
            |command: &mut LinkCommand| command.method = "PUT".into(),
            |command: &mut LinkCommand| command.path = "/api/gateway/files".into(),
            |command: &mut LinkCommand| command.body = None,
            |command: &mut LinkCommand| _ = command.query.remove("a"),
        ] {
            let mut other = command.clone();
            change(&mut other);
            assert!(!payload.matches(&other), "{other:?}");
        }
    }

    #[test]
    fn signature_of_loop_covers_only_user_intent() {
        let mut command = LinkCommand {
            method: "POST".into(),
            path: "/api/gateway/orchestrator/loop".into(),
            body: Some(json!({"loopId": "1", "userIntent": {"command": "plan"}})),
            ..LinkCommand::default()
        };
        let payload = SignaturePayload::of(&command, 1, "n");
        assert_eq!(payload.body_hash, body_hash(Some(&json!({"command": "plan"}))));
        command.path = "/api/gateway/git".into();
        assert!(!payload.matches(&command), "other paths sign the whole body");
    }
}
