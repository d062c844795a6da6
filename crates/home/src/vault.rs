//! Encryption at rest for keys and tokens: XChaCha20-Poly1305 with a key from a separate file that only its
//! owner can read.

use std::io;
use std::path::Path;

use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::{files, secret_file};

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;

/// Encrypts and decrypts small secrets.
pub struct Vault {
    cipher: XChaCha20Poly1305,
}

impl Vault {
    /// Opens the vault. Creates its key on first use.
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
            let text = format!(
                "{} does not contain a key of {KEY_BYTES} bytes; restore it from a backup",
                key_file.display()
            );
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        Ok(Self { cipher })
    }

    /// Encrypts. The random nonce is stored before the ciphertext; 24 bytes are enough to never repeat one.
    pub fn seal(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), plain).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    /// Decrypts the output of [`Vault::seal`]. Returns `None` when it was modified or encrypted with another
    /// key.
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
        // The authentication tag covers every byte.
        let mut modified = sealed;
        *modified.last_mut().unwrap() ^= 1;
        assert_eq!(again.open_sealed(&modified), None);
    }
}
