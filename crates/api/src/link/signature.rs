//! Signatures of a browser's key over commands and over the wish to start or end a loop.
//!
//! The browser signs a text, [`SignaturePayload`] as JSON; the server passes text and signature on without storing
//! them, and the desktop holds both against the command and against the keys that its user authorized.

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

/// A command that the server itself sends, about a browser key. Its method is `POST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrowserKeyCommand {
    /// Its operation.
    pub operation_id: &'static str,
    /// Its path.
    pub path: &'static str,
}

/// Takes a key away.
pub const REVOKE_KEY: BrowserKeyCommand = BrowserKeyCommand {
    operation_id: "browser_key_revoke",
    path: "/api/gateway/internal/browser-key/revoke",
};

/// Tells of a key that asks to be authorized.
pub const REQUEST_KEY_APPROVAL: BrowserKeyCommand = BrowserKeyCommand {
    operation_id: "browser_key_approval_request",
    path: "/api/gateway/internal/browser-key/approval-request",
};

/// What every fingerprint begins with.
const PREFIX: &str = "lg:";
/// Characters of the digest in a fingerprint.
const DIGEST_CHARS: usize = 22;
/// Bytes of an Ed25519 public key.
const KEY_BYTES: usize = 32;

/// A raw Ed25519 public key, 32 bytes; travels in standard base64. Not every such key is a point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BrowserPublicKey([u8; KEY_BYTES]);

/// A text that is no browser key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidBrowserKey {
    /// It is no standard base64.
    #[error("invalid base64 public key")]
    Base64,
    /// It has not 32 bytes.
    #[error("unsupported public key length")]
    Length,
}

impl BrowserPublicKey {
    /// The raw key.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// What names the key: `lg:` and 22 characters of the digest.
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

/// Name of a browser key: `lg:` and 16 to 64 characters of base64url.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
pub struct Fingerprint(String);

/// A text that is no fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("invalid fingerprint")]
pub struct InvalidFingerprint;

impl Fingerprint {
    /// The text.
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

/// What a browser signs, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignaturePayload {
    /// UUID of version 7, chosen by the browser.
    pub command_id: String,
    /// Upper case.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Pairs of name and value, sorted.
    pub query: Vec<(String, String)>,
    /// See [`body_hash`].
    pub body_hash: String,
    /// Seconds since the epoch.
    pub timestamp: i64,
    /// Random.
    pub nonce: String,
}

impl SignaturePayload {
    /// What a browser would sign for a command at a moment.
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

    /// Whether this is about a command. Queries are compared without their order: it depends on the browser's locale.
    #[must_use]
    pub fn is_about(&self, command: &LinkCommand) -> bool {
        let mut signed = self.clone();
        signed.query.sort();
        signed == Self::of(command, self.timestamp, self.nonce.clone())
    }
}

/// The part of a command's body that its signature covers: of the start and the end of a loop what the person wished,
/// because the rest is the server's.
fn signed_body(command: &LinkCommand) -> Option<&Value> {
    const LOOP_PATHS: [&str; 2] = ["/api/gateway/orchestrator/loop", "/api/gateway/orchestrator/loop/kill"];
    let body = command.body.as_ref()?;
    let intent = body.get(USER_INTENT).filter(|_| LOOP_PATHS.contains(&path(command)));
    Some(intent.unwrap_or(body))
}

/// Member of the body that starts or ends a loop and holds what the person signed.
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

/// Canonical JSON by RFC 8785: keys sorted by UTF-16 code unit, no blanks, numbers as JavaScript writes them.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    // It fails for numbers without a JSON form only, and a `Value` holds none.
    serde_json_canonicalizer::to_string(value).unwrap_or_default()
}

/// base64url SHA-256 of the canonical JSON of a body; an absent one counts as `null`.
#[must_use]
pub fn body_hash(body: Option<&Value>) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(canonical_json(body.unwrap_or(&Value::Null))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_json_is_what_javascript_makes() {
        let cases = [
            (json!(null), "null"),
            (json!([1.0, 0.1, -0.0, 1e21, 1e-7, 123_456_789]), "[1,0.1,0,1e+21,1e-7,123456789]"),
            (json!({"b": 1, "a": {"d": [], "c": null}}), r#"{"a":{"c":null,"d":[]},"b":1}"#),
            // By code unit the pair of surrogates of U+1F600 sorts before U+FB33.
            (json!({"\u{fb33}": 1, "\u{1f600}": 2, "é": 3}), "{\"é\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}"),
            (json!("a\"\\\u{8}\n\u{1f}/é"), r#""a\"\\\b\n\u001f/é""#),
        ];
        for (value, expected) in cases {
            assert_eq!(canonical_json(&value), expected);
        }
    }

    #[test]
    fn key_is_named_by_its_digest() {
        let key: BrowserPublicKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=".parse().unwrap();
        assert_eq!(key.fingerprint().as_str(), "lg:If4x36FUomFia_hUBG_SJx");
        assert_eq!("AAAA".parse::<BrowserPublicKey>(), Err(InvalidBrowserKey::Length));
        assert_eq!("?".parse::<BrowserPublicKey>(), Err(InvalidBrowserKey::Base64));
        for bad in ["", "lg:", "lg:short", "xx:aaaaaaaaaaaaaaaaaaaa", "lg:aaaaaaaaaaaaaaaa/a"] {
            assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
        }
    }

    #[test]
    fn payload_is_about_one_command_only() {
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
        assert!(payload.is_about(&command));
        payload.query.reverse();
        assert!(payload.is_about(&command), "in any order");
        for change in [
            |command: &mut LinkCommand| command.command_id = "d".into(),
            |command: &mut LinkCommand| command.method = "PUT".into(),
            |command: &mut LinkCommand| command.path = "/api/gateway/files".into(),
            |command: &mut LinkCommand| command.body = None,
            |command: &mut LinkCommand| _ = command.query.remove("a"),
        ] {
            let mut other = command.clone();
            change(&mut other);
            assert!(!payload.is_about(&other), "{other:?}");
        }
    }

    #[test]
    fn wish_of_a_loop_is_signed_without_what_the_server_adds() {
        let mut command = LinkCommand {
            method: "POST".into(),
            path: "/api/gateway/orchestrator/loop".into(),
            body: Some(json!({"loopId": "1", "userIntent": {"command": "plan"}})),
            ..LinkCommand::default()
        };
        let payload = SignaturePayload::of(&command, 1, "n");
        assert_eq!(payload.body_hash, body_hash(Some(&json!({"command": "plan"}))));
        command.path = "/api/gateway/git".into();
        assert!(!payload.is_about(&command), "elsewhere the whole body counts");
    }
}
