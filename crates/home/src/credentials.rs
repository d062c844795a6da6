//! Identity and keys of this desktop: gateway id, API key and signing key.
//!
//! The vault encrypts keys before they are written to the disk, and they are never logged. An API key from
//! the environment is used only while none is stored.

use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, EncodePublicKey as _};
use ed25519_dalek::{Signer as _, SigningKey};
use loopgate_api::names::{POP_GATEWAY_HEADER, POP_SIGNATURE_HEADER, POP_TIMESTAMP_HEADER};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::data_dir::DataDir;
use crate::vault::Vault;
use crate::{files, secret_file};

/// Environment variables that may contain an API key. They are not passed on to child processes.
pub const API_KEY_VARIABLES: [&str; 2] = ["LOOPGATE_API_KEY", "ORCHESTRATOR_API_KEY"];

/// Origin of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Provenance {
    /// Created by a user.
    UserCreated,
    /// Issued to this desktop and bound to its signing key.
    DesktopManaged,
}

/// An API key for the control plane.
#[derive(Debug, Clone)]
pub struct ApiKey {
    pub secret: SecretString,
    /// Who created the key.
    pub provenance: Provenance,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IdentityFile {
    gateway_id: Uuid,
}

/// Content of `desktop-secrets.json`; encrypted values are base64.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SealedSecretsFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    encrypted_api_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_provenance: Option<Provenance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encrypted_signing_key: Option<String>,
}

/// Identity and keys of this desktop.
pub struct Credentials {
    gateway_id: Uuid,
    secrets_path: std::path::PathBuf,
    vault: Vault,
    signing_key: SigningKey,
    api_key: RwLock<Option<Arc<ApiKey>>>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("gateway_id", &self.gateway_id).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Reads identity and keys. Creates them on first use.
    ///
    /// # Errors
    /// Fails when a file cannot be read or written, when a file [is not secret](secret_file), or when the
    /// vault cannot decrypt the signing key, which is never replaced silently.
    pub fn open(dir: &DataDir) -> io::Result<Self> {
        let gateway_id = gateway_id(dir)?;
        let vault = Vault::open(&dir.file("vault.key"))?;
        let secrets_path = dir.file("desktop-secrets.json");
        let mut secrets = secret_file::read_json::<SealedSecretsFile>(&secrets_path)?.unwrap_or_default();
        let signing_key = match &secrets.encrypted_signing_key {
            Some(sealed) => open_signing_key(&vault, sealed)?,
            None => {
                let key = SigningKey::from_bytes(&rand::random());
                secrets.encrypted_signing_key = Some(seal_signing_key(&vault, &key)?);
                write_secrets(&secrets_path, &secrets)?;
                key
            }
        };
        let api_key = match &secrets.encrypted_api_key {
            // A stored key that cannot be decrypted must not fall back to the environment: the user would not
            // notice that another key is in use.
            Some(sealed) => open_text(&vault, sealed).map(|secret| {
                let provenance = secrets.api_key_provenance.unwrap_or(Provenance::UserCreated);
                Arc::new(ApiKey { secret, provenance })
            }),
            None => key_from_environment().map(Arc::new),
        };
        Ok(Self { gateway_id, secrets_path, vault, signing_key, api_key: RwLock::new(api_key) })
    }

    /// Returns the stable id of this installation.
    #[must_use]
    pub const fn gateway_id(&self) -> Uuid {
        self.gateway_id
    }

    /// Returns the public signing key as SPKI PEM.
    #[must_use]
    pub fn public_key_pem(&self) -> String {
        self.signing_key.verifying_key().to_public_key_pem(LineEnding::LF).unwrap_or_default()
    }

    /// Returns the API key for the control plane, if any.
    #[must_use]
    pub fn api_key(&self) -> Option<Arc<ApiKey>> {
        self.api_key.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores an API key that was issued to this desktop.
    ///
    /// # Errors
    /// Any failure of the file system; the previous key stays in use.
    pub fn store_managed_key(&self, secret: SecretString) -> io::Result<()> {
        let mut secrets =
            secret_file::read_json::<SealedSecretsFile>(&self.secrets_path)?.unwrap_or_default();
        // The file may have been removed while the process runs. Write the signing key in use too, or the
        // next start would create another one.
        secrets.encrypted_signing_key = Some(seal_signing_key(&self.vault, &self.signing_key)?);
        let sealed = self.vault.seal(secret.expose_secret().as_bytes()).ok_or_else(cannot_seal)?;
        secrets.encrypted_api_key = Some(STANDARD.encode(sealed));
        secrets.api_key_provenance = Some(Provenance::DesktopManaged);
        write_secrets(&self.secrets_path, &secrets)?;
        let key = Arc::new(ApiKey { secret, provenance: Provenance::DesktopManaged });
        *self.api_key.write().unwrap_or_else(PoisonError::into_inner) = Some(key);
        Ok(())
    }

    /// Returns the proof-of-possession headers for a request; `None` when the API key is not bound to this
    /// desktop. `path` is the path of the URL without the query.
    #[must_use]
    pub fn pop_headers(&self, method: &str, path: &str) -> Option<[(&'static str, String); 3]> {
        self.api_key().filter(|key| key.provenance == Provenance::DesktopManaged)?;
        let path = if path.is_empty() { "/" } else { path };
        let timestamp = jiff::Timestamp::now().as_second();
        // Must equal the text that the control plane rebuilds from the request.
        let payload = format!("{}\n{path}\n{timestamp}\n{}", method.to_uppercase(), self.gateway_id);
        let signature = self.signing_key.sign(payload.as_bytes());
        Some([
            (POP_GATEWAY_HEADER, self.gateway_id.to_string()),
            (POP_TIMESTAMP_HEADER, timestamp.to_string()),
            (POP_SIGNATURE_HEADER, URL_SAFE_NO_PAD.encode(signature.to_bytes())),
        ])
    }

    /// Encrypts a small secret for storage.
    #[must_use]
    pub fn seal(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.vault.seal(plain)
    }

    /// Decrypts the output of [`Credentials::seal`]. Returns `None` for anything else.
    #[must_use]
    pub fn open_sealed(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        self.vault.open_sealed(sealed)
    }
}

fn gateway_id(dir: &DataDir) -> io::Result<Uuid> {
    let path = dir.file("gateway-identity.json");
    if let Some(identity) = secret_file::read_json::<IdentityFile>(&path)? {
        return Ok(identity.gateway_id);
    }
    let identity = IdentityFile { gateway_id: Uuid::new_v4() };
    files::write_private(&path, &serde_json::to_vec(&identity)?)?;
    Ok(identity.gateway_id)
}

fn write_secrets(path: &std::path::Path, secrets: &SealedSecretsFile) -> io::Result<()> {
    files::write_private(path, &serde_json::to_vec_pretty(secrets)?)
}

fn key_from_environment() -> Option<ApiKey> {
    let secret = API_KEY_VARIABLES
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .map(|value| value.trim().to_owned())
        .find(|value| !value.is_empty())?;
    Some(ApiKey { secret: secret.into(), provenance: Provenance::UserCreated })
}

fn open_text(vault: &Vault, sealed: &str) -> Option<SecretString> {
    let plain = vault.open_sealed(&STANDARD.decode(sealed).ok()?)?;
    String::from_utf8(plain).ok().map(SecretString::from)
}

fn seal_signing_key(vault: &Vault, key: &SigningKey) -> io::Result<String> {
    let pem = key.to_pkcs8_pem(LineEnding::LF).map_err(io::Error::other)?;
    Ok(STANDARD.encode(vault.seal(pem.as_bytes()).ok_or_else(cannot_seal)?))
}

fn open_signing_key(vault: &Vault, sealed: &str) -> io::Result<SigningKey> {
    let pem = open_text(vault, sealed).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "the signing key cannot be decrypted with vault.key; restore that file, or remove \
             desktop-secrets.json and connect this desktop again",
        )
    })?;
    SigningKey::from_pkcs8_pem(pem.expose_secret()).map_err(io::Error::other)
}

fn cannot_seal() -> io::Error {
    io::Error::other("the secret could not be encrypted")
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::pkcs8::DecodePublicKey as _;
    use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};

    use super::*;

    #[test]
    fn keys_survive_a_restart_and_are_encrypted_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let (id, pem) = {
            let data = DataDir::open(dir.path()).unwrap();
            let credentials = Credentials::open(&data).unwrap();
            credentials.store_managed_key(SecretString::from("lgk_live_secret")).unwrap();
            (credentials.gateway_id(), credentials.public_key_pem())
        };
        let data = DataDir::open(dir.path()).unwrap();
        let again = Credentials::open(&data).unwrap();
        assert_eq!(again.gateway_id(), id);
        assert_eq!(again.public_key_pem(), pem);
        assert_eq!(again.api_key().unwrap().secret.expose_secret(), "lgk_live_secret");
        let stored = std::fs::read_to_string(dir.path().join("desktop-secrets.json")).unwrap();
        assert!(!stored.contains("secret\"") && !stored.contains("lgk_live"), "{stored}");
    }

    #[test]
    fn malformed_files_are_moved_aside_before_they_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::open(dir.path()).unwrap();
        let before = Credentials::open(&data).unwrap();
        for name in ["gateway-identity.json", "desktop-secrets.json"] {
            files::write_private(&data.file(name), b"{\"half\":").unwrap();
        }
        let after = Credentials::open(&data).unwrap();
        // Neither identity can be read any more, so both are created again.
        assert_ne!(after.gateway_id(), before.gateway_id());
        assert_ne!(after.public_key_pem(), before.public_key_pem());
        let entries = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let backups: Vec<_> = entries.filter(|path| path.to_string_lossy().contains(".corrupt-")).collect();
        assert_eq!(backups.len(), 2, "{backups:?}");
        assert!(backups.iter().all(|path| std::fs::read(path).unwrap() == b"{\"half\":"));
    }

    #[test]
    fn storing_a_key_preserves_the_signing_key() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::open(dir.path()).unwrap();
        let credentials = Credentials::open(&data).unwrap();
        std::fs::remove_file(data.file("desktop-secrets.json")).unwrap();
        credentials.store_managed_key(SecretString::from("lgk_live_secret")).unwrap();
        assert_eq!(Credentials::open(&data).unwrap().public_key_pem(), credentials.public_key_pem());
    }

    #[cfg(unix)]
    #[test]
    fn key_file_readable_by_others_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::open(dir.path()).unwrap();
        drop(Credentials::open(&data).unwrap());
        for name in ["gateway-identity.json", "desktop-secrets.json", "vault.key"] {
            let mode =
                |mode| std::fs::set_permissions(data.file(name), std::fs::Permissions::from_mode(mode));
            mode(0o644).unwrap();
            let message = Credentials::open(&data).unwrap_err().to_string();
            assert!(message.contains(name) && message.contains("chmod 600"), "{message}");
            mode(0o600).unwrap();
        }
        std::fs::write(data.file("vault.key"), "").unwrap();
        let message = Credentials::open(&data).unwrap_err().to_string();
        assert!(message.contains("vault.key") && message.contains("empty"), "{message}");
    }

    #[test]
    fn signature_covers_method_path_time_and_gateway() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::open(dir.path()).unwrap();
        let credentials = Credentials::open(&data).unwrap();
        credentials.store_managed_key(SecretString::from("lgk_live_secret")).unwrap();
        let [(_, gateway), (_, timestamp), (_, signature)] = credentials.pop_headers("post", "/a").unwrap();
        let key = VerifyingKey::from_public_key_pem(&credentials.public_key_pem()).unwrap();
        let bytes: [u8; 64] = URL_SAFE_NO_PAD.decode(signature).unwrap().try_into().unwrap();
        let text = format!("POST\n/a\n{timestamp}\n{gateway}");
        key.verify(text.as_bytes(), &Signature::from_bytes(&bytes)).unwrap();
    }
}
