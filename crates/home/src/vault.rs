//! Encryption at rest for keys and tokens: XChaCha20-Poly1305 under a key that is in a file of
//! its own, readable by the owner alone.

use std::io;
use std::path::Path;

use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::{files, secret_file};

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;

/// Seals and opens small secrets.
pub struct Vault {
    cipher: XChaCha20Poly1305,
}

impl Vault {
    /// Opens the vault, making its key the first time.
    pub fn open(key_file: &Path) -> io::Result<Self> {
        let key = match secret_file::read(key_file)? {
            Some(key) => key,
            None => {
                let key: [u8; KEY_BYTES] = rand::random();
                files::write_private(key_file, &key)?;
                key.to_vec()
            }
        };
        let cipher = XChaCha20Poly1305::new_from_slice(&key).map_err(|_| {
            let text = format!("{} does not hold a key of {KEY_BYTES} bytes", key_file.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        Ok(Self { cipher })
    }

    /// Encrypts; the nonce is before the sealed bytes.
    pub fn seal(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), plain).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    /// Decrypts what [`Vault::seal`] made; `None` for anything else.
    pub fn open_sealed(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        self.cipher.decrypt(&XNonce::from(*nonce), sealed).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_secret_needs_its_key() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(&dir.path().join("a.key")).unwrap();
        let sealed = vault.seal(b"token").unwrap();
        let again = Vault::open(&dir.path().join("a.key")).unwrap();
        assert_eq!(again.open_sealed(&sealed).as_deref(), Some(b"token".as_slice()));
        let other = Vault::open(&dir.path().join("b.key")).unwrap();
        assert_eq!(other.open_sealed(&sealed), None);
        assert_eq!(again.open_sealed(b"short"), None);
        let mut bent = sealed;
        *bent.last_mut().unwrap() ^= 1;
        assert_eq!(again.open_sealed(&bent), None);
    }
}
