//! Browser keys that may sign commands for this desktop: `authorized_keys.json`.
//!
//! Only the user can authorize a key. The control plane can only remove keys and propose new ones. A file
//! that cannot be read authorizes no key, and is not replaced.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use loopgate_api::link::{BrowserPublicKey, Fingerprint, InvalidBrowserKey, InvalidFingerprint};
use loopgate_api::names::STATE_DIR;
use loopgate_api::time::now_iso;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::json_file::{JsonFile, JsonFileError};

const FILE_NAME: &str = "authorized_keys.json";
/// Version of the file format.
const VERSION: u64 = 1;

/// Origin of a browser key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeySource {
    /// From the organization's list. Removed when the list no longer contains it.
    Org,
    /// Added manually. Only removed manually.
    Manual,
    /// Not recorded, as by earlier versions, or not known to this version.
    #[default]
    #[serde(other)]
    Unknown,
}

/// A browser key and its owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserKey {
    /// Fingerprint of the public key.
    pub fingerprint: Fingerprint,
    /// Ed25519 public key, base64.
    pub public_key_base64: BrowserPublicKey,
    /// Name of the owner, as reported by the control plane.
    #[serde(default)]
    pub owner_name: String,
    /// E-mail address of the owner.
    #[serde(default)]
    pub owner_email: String,
    /// When the user authorized the key, ISO 8601; empty while it is pending.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub authorized_at: String,
    /// Whether the key comes from the organization's list.
    #[serde(default)]
    pub source: KeySource,
    /// Id of the key at the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_user_public_key_id: Option<String>,
    /// Unknown members, written by other versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl BrowserKey {
    /// Returns whether a signature of the text, in standard base64, was created with this key.
    #[must_use]
    pub fn verifies(&self, text: &str, signature: &str) -> bool {
        let signature = STANDARD.decode(signature).ok().and_then(|bytes| Signature::from_slice(&bytes).ok());
        let key = VerifyingKey::from_bytes(self.public_key_base64.as_bytes()).ok();
        let (Some(key), Some(signature)) = (key, signature) else { return false };
        // Strict verification rejects weak keys, for which one signature is valid for many texts.
        key.verify_strict(text.as_bytes(), &signature).is_ok()
    }

    fn has_matching_fingerprint(&self) -> bool {
        self.public_key_base64.fingerprint() == self.fingerprint
    }
}

/// Content of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyDocument {
    version: u64,
    keys: Vec<BrowserKey>,
    #[serde(default)]
    rejected_fingerprints: Vec<Fingerprint>,
    /// Keys that the control plane lists and the user has not decided on.
    #[serde(default)]
    pending_keys: Vec<BrowserKey>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Default for KeyDocument {
    fn default() -> Self {
        let (keys, rejected_fingerprints, pending_keys) = (Vec::new(), Vec::new(), Vec::new());
        Self { version: VERSION, keys, rejected_fingerprints, pending_keys, other: Map::new() }
    }
}

impl KeyDocument {
    fn checked(self) -> Result<Self, JsonFileError> {
        let malformed =
            |reason: &str| JsonFileError::Malformed { file: FILE_NAME.to_owned(), reason: reason.to_owned() };
        if self.version != VERSION {
            return Err(malformed("its version is not supported"));
        }
        // A mismatch could present the fingerprint of one key to the user and verify with another.
        if !self.keys.iter().all(BrowserKey::has_matching_fingerprint) {
            return Err(malformed("a fingerprint does not match its key"));
        }
        Ok(self)
    }
}

#[derive(Debug, Error)]
pub enum KeyDecisionError {
    /// The text is not a valid browser key.
    #[error(transparent)]
    Key(#[from] InvalidBrowserKey),
    /// The fingerprint belongs to another key.
    #[error("fingerprint mismatch")]
    FingerprintMismatch,
    /// The key is already authorized.
    #[error("duplicate key")]
    Duplicate,
    /// The text is not a valid fingerprint.
    #[error(transparent)]
    Fingerprint(#[from] InvalidFingerprint),
    /// No pending key has this fingerprint.
    #[error("no pending key has this fingerprint")]
    Unknown,
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] JsonFileError),
}

/// Store of authorized browser keys. All methods block on disk I/O.
#[derive(Debug, Clone)]
pub struct AuthorizedKeys {
    path: PathBuf,
}

impl AuthorizedKeys {
    /// Refers to the file in the state directory of a user's home; neither need exist.
    #[must_use]
    pub fn of_home(home: &Path) -> Self {
        Self { path: home.join(STATE_DIR).join(FILE_NAME) }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the keys that may sign. An unreadable file is logged and yields none.
    #[must_use]
    pub fn usable(&self) -> Vec<BrowserKey> {
        self.authorized().unwrap_or_else(|error| {
            tracing::error!(file = %self.path.display(), %error, "cannot read authorized browser keys; no key is authorized");
            Vec::new()
        })
    }

    /// Returns the keys that may sign.
    ///
    /// # Errors
    /// Fails when the file exists and cannot be read.
    pub fn authorized(&self) -> Result<Vec<BrowserKey>, JsonFileError> {
        Ok(self.read()?.keys)
    }

    /// Returns the keys that await the user's decision.
    ///
    /// # Errors
    /// As [`AuthorizedKeys::authorized`].
    pub fn pending(&self) -> Result<Vec<BrowserKey>, JsonFileError> {
        Ok(self.read()?.pending_keys)
    }

    /// Authorizes a key that the user entered. Withdraws an earlier rejection.
    ///
    /// # Errors
    /// Fails with [`KeyDecisionError`]; the file is unchanged.
    pub fn authorize(
        &self,
        public_key: &str,
        fingerprint: &str,
        owner_name: &str,
    ) -> Result<(), KeyDecisionError> {
        let public_key: BrowserPublicKey = public_key.parse()?;
        if public_key.fingerprint().as_str() != fingerprint {
            return Err(KeyDecisionError::FingerprintMismatch);
        }
        let key = BrowserKey {
            fingerprint: public_key.fingerprint(),
            public_key_base64: public_key,
            owner_name: owner_name.to_owned(),
            owner_email: String::new(),
            authorized_at: String::new(),
            source: KeySource::Manual,
            source_user_public_key_id: None,
            other: Map::new(),
        };
        self.change(|document| add(document, key))
    }

    /// Authorizes a pending key.
    ///
    /// # Errors
    /// Fails with [`KeyDecisionError`]; the file is unchanged.
    pub fn authorize_pending(&self, fingerprint: &str) -> Result<BrowserKey, KeyDecisionError> {
        let fingerprint: Fingerprint = fingerprint.parse()?;
        self.change(|document| {
            if document.keys.iter().any(|key| key.fingerprint == fingerprint) {
                return Err(KeyDecisionError::Duplicate);
            }
            let pending = document.pending_keys.iter().find(|key| key.fingerprint == fingerprint);
            let key = pending.cloned().ok_or(KeyDecisionError::Unknown)?;
            add(document, key.clone())?;
            Ok(key)
        })
    }

    /// Rejects a key: it may not sign, and does not become pending again.
    ///
    /// # Errors
    /// Fails with [`KeyDecisionError`]; the file is unchanged.
    pub fn reject(&self, fingerprint: &str) -> Result<(), KeyDecisionError> {
        let fingerprint: Fingerprint = fingerprint.parse()?;
        self.change(|document| {
            document.keys.retain(|key| key.fingerprint != fingerprint);
            document.pending_keys.retain(|key| key.fingerprint != fingerprint);
            if !document.rejected_fingerprints.contains(&fingerprint) {
                document.rejected_fingerprints.push(fingerprint);
            }
            Ok(())
        })
    }

    /// Removes a key. Returns `false` when it was not authorized.
    ///
    /// # Errors
    /// Fails when the file cannot be read or written.
    pub fn remove(&self, fingerprint: &Fingerprint) -> Result<bool, KeyDecisionError> {
        // An update would create the state directory and a lock file for a no-op.
        if !self.path.exists() {
            return Ok(false);
        }
        self.change(|document| {
            let before = document.keys.len();
            document.keys.retain(|key| key.fingerprint != *fingerprint);
            document.pending_keys.retain(|key| key.fingerprint != *fingerprint);
            Ok(document.keys.len() != before)
        })
    }

    /// Reconciles the file with the keys that the control plane lists for this desktop: removes keys of the
    /// organization that are no longer listed, and makes new ones pending. Returns the fingerprints of keys
    /// that were not pending before.
    ///
    /// # Errors
    /// Fails when the file cannot be read or written.
    pub fn reconcile(&self, listed: Vec<BrowserKey>) -> Result<Vec<Fingerprint>, KeyDecisionError> {
        let listed: Vec<BrowserKey> =
            listed.into_iter().filter(BrowserKey::has_matching_fingerprint).collect();
        if listed.is_empty() && !self.path.exists() {
            return Ok(Vec::new());
        }
        self.change(|document| {
            let is_listed =
                |key: &BrowserKey| listed.iter().any(|listed| listed.fingerprint == key.fingerprint);
            document.keys.retain(|key| key.source != KeySource::Org || is_listed(key));
            // Earlier versions recorded no source. A listed key comes from the organization; the source of
            // the others stays unknown, so they are never removed here.
            for key in &mut document.keys {
                if key.source == KeySource::Unknown && is_listed(key) {
                    key.source = KeySource::Org;
                }
            }
            let authorized: Vec<Fingerprint> =
                document.keys.iter().map(|key| key.fingerprint.clone()).collect();
            let rejected = &document.rejected_fingerprints;
            let is_decided = |key: &BrowserKey| {
                authorized.contains(&key.fingerprint) || rejected.contains(&key.fingerprint)
            };
            let pending: Vec<BrowserKey> = listed.iter().filter(|key| !is_decided(key)).cloned().collect();
            let before = std::mem::replace(&mut document.pending_keys, pending);
            let was_pending =
                |key: &&BrowserKey| before.iter().any(|before| before.fingerprint == key.fingerprint);
            let new = document.pending_keys.iter().filter(|key| !was_pending(key));
            Ok(new.map(|key| key.fingerprint.clone()).collect())
        })
    }

    fn file(&self) -> JsonFile<KeyDocument> {
        JsonFile::private(self.path.clone())
    }

    fn read(&self) -> Result<KeyDocument, JsonFileError> {
        self.file().read()?.unwrap_or_default().checked()
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut KeyDocument) -> Result<T, KeyDecisionError>,
    ) -> Result<T, KeyDecisionError> {
        self.file().update(|stored| {
            let document = stored.take().unwrap_or_default().checked()?;
            change(stored.insert(document))
        })
    }
}

fn add(document: &mut KeyDocument, mut key: BrowserKey) -> Result<(), KeyDecisionError> {
    if document.keys.iter().any(|existing| existing.fingerprint == key.fingerprint) {
        return Err(KeyDecisionError::Duplicate);
    }
    // An explicit authorization overrides an earlier rejection.
    document.rejected_fingerprints.retain(|rejected| *rejected != key.fingerprint);
    document.pending_keys.retain(|pending| pending.fingerprint != key.fingerprint);
    key.authorized_at = now_iso();
    document.keys.push(key);
    Ok(())
}

impl From<KeyDecisionError> for io::Error {
    fn from(error: KeyDecisionError) -> Self {
        match error {
            KeyDecisionError::File(error) => error.into(),
            other => Self::new(io::ErrorKind::InvalidInput, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signer as _, SigningKey};
    use serde_json::json;

    use super::*;

    fn key(seed: u8) -> (SigningKey, BrowserKey) {
        let signing = SigningKey::from_bytes(&[seed; 32]);
        let public = BrowserPublicKey::from(signing.verifying_key().to_bytes());
        let key = json!({"fingerprint": public.fingerprint(), "publicKeyBase64": public, "source": "org",
            "ownerName": "Ada", "ownerEmail": "ada@example.org", "sourceUserPublicKeyId": "7"});
        (signing, serde_json::from_value(key).unwrap())
    }

    fn fingerprints(keys: &[BrowserKey]) -> Vec<&str> {
        keys.iter().map(|key| key.fingerprint.as_str()).collect()
    }

    #[test]
    fn listed_key_is_pending_until_the_user_authorizes_it() {
        let home = tempfile::tempdir().unwrap();
        let keys = AuthorizedKeys::of_home(home.path());
        let (signing, ada) = key(1);
        let name = ada.fingerprint.clone();
        assert_eq!(keys.reconcile(Vec::new()).unwrap(), []);
        assert!(!keys.path().exists(), "an empty list creates no file");
        assert_eq!(keys.reconcile(vec![ada.clone()]).unwrap(), std::slice::from_ref(&name));
        assert_eq!(keys.reconcile(vec![ada]).unwrap(), [], "it is already pending");
        assert_eq!(keys.authorized().unwrap(), [], "the control plane cannot authorize a key");
        keys.authorize_pending(name.as_str()).unwrap();
        let authorized = keys.authorized().unwrap();
        assert_eq!((authorized[0].owner_name.as_str(), authorized[0].source), ("Ada", KeySource::Org));
        assert_eq!(keys.pending().unwrap(), []);
        let signature = STANDARD.encode(signing.sign(b"text").to_bytes());
        assert!(authorized[0].verifies("text", &signature));
        assert!(!authorized[0].verifies("texts", &signature) && !authorized[0].verifies("text", "c2hvcnQ="));
        assert!(matches!(keys.authorize_pending(name.as_str()), Err(KeyDecisionError::Duplicate)));
        assert_eq!(keys.reconcile(Vec::new()).unwrap(), []);
        assert_eq!(keys.authorized().unwrap(), [], "it is no longer in the organization's list");
    }

    #[test]
    fn rejected_key_does_not_become_pending_again() {
        let home = tempfile::tempdir().unwrap();
        let keys = AuthorizedKeys::of_home(home.path());
        let (_, ada) = key(1);
        keys.reconcile(vec![ada.clone()]).unwrap();
        keys.reject(ada.fingerprint.as_str()).unwrap();
        assert_eq!(keys.reconcile(vec![ada.clone()]).unwrap(), []);
        assert_eq!(keys.pending().unwrap(), []);
        let public = ada.public_key_base64.to_string();
        keys.authorize(&public, ada.fingerprint.as_str(), "Ada").unwrap();
        assert_eq!(fingerprints(&keys.authorized().unwrap()), [ada.fingerprint.as_str()]);
        keys.reconcile(Vec::new()).unwrap();
        assert_eq!(keys.authorized().unwrap().len(), 1, "a key that was added manually stays");
        assert!(keys.remove(&ada.fingerprint).unwrap() && !keys.remove(&ada.fingerprint).unwrap());
    }

    #[test]
    fn invalid_key_or_fingerprint_is_rejected() {
        let home = tempfile::tempdir().unwrap();
        let keys = AuthorizedKeys::of_home(home.path());
        let (public, name) = (key(1).1.public_key_base64.to_string(), key(2).1.fingerprint);
        let error_of = |key: &str| keys.authorize(key, name.as_str(), "").unwrap_err().to_string();
        assert_eq!(error_of("no key"), "invalid base64 public key");
        assert_eq!(error_of("AAAA"), "unsupported public key length");
        assert_eq!(error_of(&public), "fingerprint mismatch");
        assert_eq!(keys.reject("Ada").unwrap_err().to_string(), "invalid fingerprint");
        let unknown = keys.authorize_pending(name.as_str()).unwrap_err();
        assert_eq!(unknown.to_string(), "no pending key has this fingerprint");
        assert!(!keys.path().exists());
    }

    #[test]
    fn listed_keys_of_older_file_get_the_source_org() {
        let home = tempfile::tempdir().unwrap();
        let keys = AuthorizedKeys::of_home(home.path());
        let (_, ada) = key(1);
        let older = json!({"version": 1, "more": 1, "keys": [{"fingerprint": ada.fingerprint,
            "publicKeyBase64": ada.public_key_base64, "ownerName": "Ada", "source": "file", "note": 2}]});
        std::fs::create_dir_all(keys.path().parent().unwrap()).unwrap();
        std::fs::write(keys.path(), older.to_string()).unwrap();
        assert_eq!(keys.authorized().unwrap()[0].source, KeySource::Unknown);
        keys.reconcile(vec![ada]).unwrap();
        let written: Value = serde_json::from_str(&std::fs::read_to_string(keys.path()).unwrap()).unwrap();
        assert_eq!((&written["more"], &written["keys"][0]["note"]), (&json!(1), &json!(2)));
        assert_eq!(written["keys"][0]["source"], "org");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(keys.path()).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn unreadable_file_authorizes_no_key_and_is_not_replaced() {
        let home = tempfile::tempdir().unwrap();
        let keys = AuthorizedKeys::of_home(home.path());
        std::fs::create_dir_all(keys.path().parent().unwrap()).unwrap();
        let (one, other) = (key(1).1, key(2).1);
        let swapped = json!({"version": 1, "keys": [{"fingerprint": one.fingerprint,
            "publicKeyBase64": other.public_key_base64}]});
        let newer = json!({"version": 2, "keys": []});
        let nameless = json!({"version": 1, "keys": [{"fingerprint": "Ada", "publicKeyBase64": "AAAA"}]});
        for broken in ["{".to_owned(), swapped.to_string(), newer.to_string(), nameless.to_string()] {
            std::fs::write(keys.path(), &broken).unwrap();
            assert_eq!(keys.usable(), [], "{broken}");
            assert!(keys.reject(one.fingerprint.as_str()).is_err());
            assert_eq!(std::fs::read_to_string(keys.path()).unwrap(), broken);
        }
    }
}
