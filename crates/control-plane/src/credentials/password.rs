//! Passwords of local accounts, hashed with Argon2id.
//!
//! Hashing is slow and needs memory by design. It runs on blocking threads, a few hashes at a time, and is
//! rejected when too many are queued.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use http::StatusCode;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::error::{ApiError, ApiResult, ValidationIssues};

// Length in characters. OWASP recommends at least 12; the upper bound limits the work per request.
const LENGTH: std::ops::RangeInclusive<usize> = 12..=256;
// Concurrent hashes; each uses 19 MiB and one core.
const CONCURRENT_HASHES: usize = 2;
// Hashes that run or are queued; further ones are rejected with 503.
const QUEUE_LIMIT: usize = 64;
// Memory in KiB, passes and lanes: the minimum that OWASP recommends for Argon2id.
const COST: (u32, u32, u32) = (19 * 1024, 2, 1);

/// Hashes and verifies passwords with bounded concurrency.
pub struct Passwords {
    admitted: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            admitted: Arc::new(Semaphore::new(QUEUE_LIMIT)),
            running: Arc::new(Semaphore::new(CONCURRENT_HASHES)),
        }
    }
}

/// Adds an issue when a new password is too short or too long.
pub fn check_new(issues: &mut ValidationIssues, path: &str, password: &SecretString) {
    issues.length(path, password.expose_secret(), *LENGTH.start(), *LENGTH.end());
}

impl Passwords {
    /// Hashes a password with a random salt. Returns a PHC string.
    ///
    /// # Errors
    /// Fails with 503 when too many hashes are queued.
    pub async fn hash(&self, password: SecretString) -> ApiResult<String> {
        self.run(move || {
            let hash: PasswordHash = argon2()?.hash_password(password.expose_secret().as_bytes())?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Verifies a password. Without a stored hash, does the same amount of work and returns `false`.
    ///
    /// # Errors
    /// Fails with 503 when too many hashes are queued.
    pub async fn verify(&self, password: SecretString, stored_hash: Option<String>) -> ApiResult<bool> {
        self.run(move || {
            let password = password.expose_secret().as_bytes();
            let Some(stored_hash) = stored_hash else {
                // Dummy work, so that the response time does not reveal whether the account exists.
                let _: PasswordHash = argon2()?.hash_password(password)?;
                return Ok(false);
            };
            match argon2()?.verify_password(password, &PasswordHash::new(&stored_hash)?) {
                Ok(()) => Ok(true),
                Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
                Err(error) => Err(error),
            }
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> argon2::password_hash::Result<T> + Send + 'static,
    ) -> ApiResult<T> {
        let busy = || {
            let text = "Too many concurrent password checks. Try again in a moment.";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, text)
        };
        let admitted = Arc::clone(&self.admitted).try_acquire_owned().map_err(|_| busy())?;
        let running = Arc::clone(&self.running).acquire_owned().await.map_err(ApiError::internal)?;
        // A blocking task cannot be cancelled. It owns the permits, so that it counts until it ends even when
        // its request has been dropped.
        let task = tokio::task::spawn_blocking(move || {
            let _permits = (admitted, running);
            work()
        });
        task.await.map_err(ApiError::internal)?.map_err(ApiError::internal)
    }
}

fn argon2() -> argon2::password_hash::Result<Argon2<'static>> {
    let (memory, passes, lanes) = COST;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(memory, passes, lanes, None)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hash_is_salted_and_verifies_only_its_password() {
        let passwords = Passwords::default();
        let secret = || SecretString::from("correct horse battery");
        let (one, other) = (passwords.hash(secret()).await.unwrap(), passwords.hash(secret()).await.unwrap());
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other);
        assert!(passwords.verify(secret(), Some(one.clone())).await.unwrap());
        assert!(!passwords.verify(SecretString::from("wrong"), Some(one)).await.unwrap());
        assert!(!passwords.verify(secret(), None).await.unwrap());
    }

    #[tokio::test]
    async fn hashing_is_rejected_when_queue_is_full() {
        let passwords = Passwords::default();
        let permits = Arc::clone(&passwords.admitted).acquire_many_owned(64).await.unwrap();
        let error = passwords.hash(SecretString::from("x")).await.unwrap_err();
        assert_eq!(error.status, StatusCode::SERVICE_UNAVAILABLE);
        drop(permits);
        passwords.hash(SecretString::from("x")).await.unwrap();
    }
}
