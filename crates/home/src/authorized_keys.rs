//! Which browser keys may sign commands for this desktop: `authorized_keys.json`.
//!
//! A key enters by the user's hand alone. The control plane can only take keys away, and name those that ask. A file
//! that cannot be read authorizes nobody, and is not replaced.

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

/// Name of the file in the state directory below the user's home.
const FILE: &str = "authorized_keys.json";
/// The version of the file that is read and written.
const VERSION: u64 = 1;

/// Where a key came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeySource {
    /// The organization's list; goes when it is listed no more.
    Org,
    /// Entered by hand; only goes by hand.
    Manual,
    /// An older file does not tell.
    #[default]
    #[serde(other)]
    Unknown,
}

/// A key with what is known of its owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserKey {
    /// Names the key.
    pub fingerprint: Fingerprint,
    /// The key.
    pub public_key_base64: BrowserPublicKey,
    /// Whose it is, as the control plane says.
    #[serde(default)]
    pub owner_name: String,
    /// Their address.
    #[serde(default)]
    pub owner_email: String,
    /// When the user authorized it, ISO 8601; empty while it only asks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub authorized_at: String,
    /// Where it came from.
    #[serde(default)]
    pub source: KeySource,
    /// Its id at the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_user_public_key_id: Option<String>,
    /// Members of other versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl BrowserKey {
    /// Whether the key made a signature, in standard base64, over a text.
    #[must_use]
    pub fn verifies(&self, text: &str, signature: &str) -> bool {
        let signature = STANDARD.decode(signature).ok().and_then(|bytes| Signature::from_slice(&bytes).ok());
        let key = VerifyingKey::from_bytes(self.public_key_base64.as_bytes()).ok();
        let (Some(key), Some(signature)) = (key, signature) else { return false };
        key.verify_strict(text.as_bytes(), &signature).is_ok()
    }

    fn names_itself(&self) -> bool {
        self.public_key_base64.fingerprint() == self.fingerprint
    }
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyDocument {
    version: u64,
    keys: Vec<BrowserKey>,
    #[serde(default)]
    rejected_fingerprints: Vec<Fingerprint>,
    /// Keys that the control plane lists and the user has not decided about.
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
            |reason: &str| JsonFileError::Malformed { file: FILE.to_owned(), reason: reason.to_owned() };
        if self.version != VERSION {
            return Err(malformed("its version is not 1"));
        }
        if !self.keys.iter().all(BrowserKey::names_itself) {
            return Err(malformed("a fingerprint does not match its key"));
        }
        Ok(self)
    }
}

/// Why a key was not authorized or rejected.
#[derive(Debug, Error)]
pub enum KeyDecisionError {
    /// It is no browser key.
    #[error(transparent)]
    Key(#[from] InvalidBrowserKey),
    /// Its fingerprint is that of another key.
    #[error("fingerprint mismatch")]
    FingerprintMismatch,
    /// It is authorized already.
    #[error("duplicate key")]
    Duplicate,
    /// The text is no fingerprint.
    #[error(transparent)]
    Fingerprint(#[from] InvalidFingerprint),
    /// No key with this fingerprint asks.
    #[error("no such key asks to be authorized")]
    Unknown,
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] JsonFileError),
}

/// The file. Everything here blocks on the disk.
#[derive(Debug, Clone)]
pub struct AuthorizedKeys {
    path: PathBuf,
}

impl AuthorizedKeys {
    /// The file in the state directory of a user's home; neither need exist.
    #[must_use]
    pub fn of_home(home: &Path) -> Self {
        Self { path: home.join(STATE_DIR).join(FILE) }
    }

    /// Where the file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The keys that may sign; none when the file cannot be read, which is logged.
    #[must_use]
    pub fn usable(&self) -> Vec<BrowserKey> {
        self.authorized().unwrap_or_else(|error| {
            tracing::error!(file = %self.path.display(), %error, "no browser key is authorized");
            Vec::new()
        })
    }

    /// The keys that may sign.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn authorized(&self) -> Result<Vec<BrowserKey>, JsonFileError> {
        Ok(self.read()?.keys)
    }

    /// The keys that ask.
    ///
    /// # Errors
    /// As [`AuthorizedKeys::authorized`].
    pub fn pending(&self) -> Result<Vec<BrowserKey>, JsonFileError> {
        Ok(self.read()?.pending_keys)
    }

    /// Lets a key sign that its owner handed over. It is rejected no longer.
    ///
    /// # Errors
    /// [`KeyDecisionError`]; the file is unchanged then.
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

    /// Lets a key sign that asks.
    ///
    /// # Errors
    /// [`KeyDecisionError`]; the file is unchanged then.
    pub fn authorize_pending(&self, fingerprint: &str) -> Result<BrowserKey, KeyDecisionError> {
        let fingerprint: Fingerprint = fingerprint.parse()?;
        self.change(|document| {
            if document.keys.iter().any(|key| key.fingerprint == fingerprint) {
                return Err(KeyDecisionError::Duplicate);
            }
            let asking = document.pending_keys.iter().find(|key| key.fingerprint == fingerprint);
            let key = asking.cloned().ok_or(KeyDecisionError::Unknown)?;
            add(document, key.clone())?;
            Ok(key)
        })
    }

    /// Notes that a key shall not sign, and need not be asked about again.
    ///
    /// # Errors
    /// [`KeyDecisionError`]; the file is unchanged then.
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

    /// Takes a key out; `false` when it was not in.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn remove(&self, fingerprint: &Fingerprint) -> Result<bool, KeyDecisionError> {
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

    /// Holds the file against the keys that the control plane lists for this desktop: keys of the organization that
    /// are listed no more go, and new ones ask. Answers the fingerprints of those that did not ask before.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn reconcile(&self, listed: Vec<BrowserKey>) -> Result<Vec<Fingerprint>, KeyDecisionError> {
        let listed: Vec<BrowserKey> = listed.into_iter().filter(BrowserKey::names_itself).collect();
        if listed.is_empty() && !self.path.exists() {
            return Ok(Vec::new());
        }
        self.change(|document| {
            let is_listed =
                |key: &BrowserKey| listed.iter().any(|listed| listed.fingerprint == key.fingerprint);
            document.keys.retain(|key| key.source != KeySource::Org || is_listed(key));
            for key in &mut document.keys {
                if key.source == KeySource::Unknown && is_listed(key) {
                    key.source = KeySource::Org;
                }
            }
            let known: Vec<Fingerprint> = document.keys.iter().map(|key| key.fingerprint.clone()).collect();
            let rejected = &document.rejected_fingerprints;
            let is_decided =
                |key: &BrowserKey| known.contains(&key.fingerprint) || rejected.contains(&key.fingerprint);
            let asking: Vec<BrowserKey> = listed.iter().filter(|key| !is_decided(key)).cloned().collect();
            let before = std::mem::replace(&mut document.pending_keys, asking);
            let asked = |key: &&BrowserKey| before.iter().any(|before| before.fingerprint == key.fingerprint);
            let new = document.pending_keys.iter().filter(|key| !asked(key));
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
    if document.keys.iter().any(|known| known.fingerprint == key.fingerprint) {
        return Err(KeyDecisionError::Duplicate);
    }
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
    fn listed_key_asks_and_signs_once_the_user_says_so() {
        let home = tempfile::tempdir().unwrap();
        let keys = AuthorizedKeys::of_home(home.path());
        let (signing, ada) = key(1);
        let name = ada.fingerprint.clone();
        assert_eq!(keys.reconcile(Vec::new()).unwrap(), []);
        assert!(!keys.path().exists(), "nothing to write down");
        assert_eq!(keys.reconcile(vec![ada.clone()]).unwrap(), std::slice::from_ref(&name));
        assert_eq!(keys.reconcile(vec![ada]).unwrap(), [], "it has asked before");
        assert_eq!(keys.authorized().unwrap(), [], "the control plane authorizes nobody");
        keys.authorize_pending(name.as_str()).unwrap();
        let authorized = keys.authorized().unwrap();
        assert_eq!((authorized[0].owner_name.as_str(), authorized[0].source), ("Ada", KeySource::Org));
        assert_eq!(keys.pending().unwrap(), []);
        let signature = STANDARD.encode(signing.sign(b"text").to_bytes());
        assert!(authorized[0].verifies("text", &signature));
        assert!(!authorized[0].verifies("texts", &signature) && !authorized[0].verifies("text", "c2hvcnQ="));
        assert!(matches!(keys.authorize_pending(name.as_str()), Err(KeyDecisionError::Duplicate)));
        assert_eq!(keys.reconcile(Vec::new()).unwrap(), []);
        assert_eq!(keys.authorized().unwrap(), [], "it went with the organization's list");
    }

    #[test]
    fn rejected_key_does_not_ask_again_until_it_is_authorized() {
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
        assert_eq!(keys.authorized().unwrap().len(), 1, "what was entered by hand stays");
        assert!(keys.remove(&ada.fingerprint).unwrap() && !keys.remove(&ada.fingerprint).unwrap());
    }

    #[test]
    fn key_that_does_not_fit_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let keys = AuthorizedKeys::of_home(home.path());
        let (public, name) = (key(1).1.public_key_base64.to_string(), key(2).1.fingerprint);
        let refused = |key: &str| keys.authorize(key, name.as_str(), "").unwrap_err().to_string();
        assert_eq!(refused("no key"), "invalid base64 public key");
        assert_eq!(refused("AAAA"), "unsupported public key length");
        assert_eq!(refused(&public), "fingerprint mismatch");
        assert_eq!(keys.reject("Ada").unwrap_err().to_string(), "invalid fingerprint");
        let unknown = keys.authorize_pending(name.as_str()).unwrap_err();
        assert_eq!(unknown.to_string(), "no such key asks to be authorized");
        assert!(!keys.path().exists());
    }

    #[test]
    fn older_file_is_read_and_its_listed_keys_become_the_organizations() {
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
    fn file_that_cannot_be_read_authorizes_nobody_and_stays() {
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
