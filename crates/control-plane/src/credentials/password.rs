//! Passwords of local accounts, hashed with Argon2id.
//!
//! Hashing takes memory and time on purpose. So it runs apart from the async threads, a few at a
//! time, and refuses work when too much of it waits.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use http::StatusCode;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::error::{ApiError, ApiResult, ValidationIssues};

/// Characters of a password; the upper bound keeps requests small.
const LENGTH: std::ops::RangeInclusive<usize> = 12..=256;
/// Hashes that are computed at once, each with 19 MiB.
const RUNNING: usize = 2;
/// Hashes that are computed or wait.
const ADMITTED: usize = 64;
/// Memory in KiB, passes and lanes, as OWASP recommends for Argon2id.
const COST: (u32, u32, u32) = (19 * 1024, 2, 1);

/// Hashes and verifies passwords.
pub struct Passwords {
    admitted: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { admitted: Arc::new(Semaphore::new(ADMITTED)), running: Arc::new(Semaphore::new(RUNNING)) }
    }
}

/// Adds an issue for a password that is too short or too long.
pub fn check_new(issues: &mut ValidationIssues, path: &str, password: &SecretString) {
    issues.length(path, password.expose_secret(), *LENGTH.start(), *LENGTH.end());
}

impl Passwords {
    /// The hash to store, a PHC string with a salt of its own.
    ///
    /// # Errors
    /// 503 while too many others wait.
    pub async fn hash(&self, password: SecretString) -> ApiResult<String> {
        self.run(move || {
            let hash: PasswordHash = argon2()?.hash_password(password.expose_secret().as_bytes())?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Whether a password belongs to a stored hash. Without one it does the same work, and it is not.
    ///
    /// # Errors
    /// 503 while too many others wait.
    pub async fn verify(&self, password: SecretString, stored: Option<String>) -> ApiResult<bool> {
        self.run(move || {
            let password = password.expose_secret().as_bytes();
            let Some(stored) = stored else {
                let _: PasswordHash = argon2()?.hash_password(password)?;
                return Ok(false);
            };
            match argon2()?.verify_password(password, &PasswordHash::new(&stored)?) {
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
            let text = "Too many passwords are being checked. Try again in a moment.";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, text)
        };
        let admitted = Arc::clone(&self.admitted).try_acquire_owned().map_err(|_| busy())?;
        let running = Arc::clone(&self.running).acquire_owned().await.map_err(ApiError::internal)?;
        // The work goes on when its request is gone, and so do its permits.
        let hashed = tokio::task::spawn_blocking(move || {
            let _permits = (admitted, running);
            work()
        });
        hashed.await.map_err(ApiError::internal)?.map_err(ApiError::internal)
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
    async fn hash_is_salted_and_belongs_to_one_password() {
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
    async fn work_that_piles_up_is_refused() {
        let passwords = Passwords::default();
        let waiting = Arc::clone(&passwords.admitted).acquire_many_owned(64).await.unwrap();
        let refused = passwords.hash(SecretString::from("x")).await.unwrap_err();
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
        drop(waiting);
        passwords.hash(SecretString::from("x")).await.unwrap();
    }
}
