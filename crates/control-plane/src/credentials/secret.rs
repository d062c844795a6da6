//! Random secrets, their stored form, and comparing them.

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

/// Compares in a time that does not depend on where the texts differ.
pub fn constant_time_eq(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}
