//! Random secrets, their hashes, and constant-time comparison.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Generates a random secret of 256 bits.
pub fn random_secret() -> [u8; 32] {
    rand::random()
}

/// Returns the SHA-256 of a text in lower-case hex. Secrets are stored in this form; a fast hash suffices,
/// because they are random.
pub fn sha256_hex(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// Compares two texts in a time that does not depend on the position of the first difference.
pub fn constant_time_eq(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}
