//! Usage and rate limits of the assistant's account. A loop waits for the end of a limit instead of failing.
//!
//! The limit is stored in the data directory, where every loop of the account reads it, including loops that
//! start later. After its end, one loop acquires the probe and tries the account; with the first answer of
//! the model it clears the limit, and the other loops resume one after the other. The waits use the wall
//! clock, so that a machine that was suspended resumes at once.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use loopgate_home::{AssistantLimit, AssistantLimits, Probe};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::failure::KnownFailure;
use crate::console::print_error;

/// Prompt that resumes an interrupted session.
pub const CONTINUE_PROMPT: &str = "A usage limit interrupted you. It has ended. Continue where you were, and \
    complete the original request in full, including its last line.";
/// Hexadecimal digits of an account's key in the store.
const ACCOUNT_DIGITS: usize = 16;
/// Credential variables in the order of the assistant's precedence; each identifies an account.
const CREDENTIALS: [&str; 3] = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];
const SERVICE: &str = "ANTHROPIC_BASE_URL";

/// Result of waiting for an account.
#[derive(Debug)]
pub enum AccountState {
    /// The assistant may run. With the probe, this loop is the first one to try the account after a limit.
    Usable(Option<Probe>),
    /// The driver was stopped during the wait.
    Stopped,
}

/// Rate limits of the account that the assistant uses.
#[derive(Debug)]
pub struct LimitTracker {
    /// `None` when the user has no data directory.
    store: Option<AssistantLimits>,
    account: String,
    /// The assistant's configuration file, which identifies the signed-in account, and its modification time.
    sign_in: (PathBuf, Option<SystemTime>),
    /// The last limit of this process, used when the store is unavailable.
    last: Option<AssistantLimit>,
}

impl LimitTracker {
    /// Creates the limits of the account that a program with this environment uses.
    #[must_use]
    pub fn of_environment(env: &BTreeMap<OsString, OsString>) -> Self {
        let store = loopgate_home::default_data_dir().ok().map(|dir| AssistantLimits::in_data_dir(&dir));
        let file = sign_in_file(env);
        let modified = modified(&file);
        Self { store, account: account(env, &file), sign_in: (file, modified), last: None }
    }

    /// Returns the current limit. A limit that has ended is returned until a loop has probed the account.
    pub fn current(&mut self, env: &BTreeMap<OsString, OsString>) -> Option<AssistantLimit> {
        // The user may sign in to another account while a loop waits; then this account's limit no longer
        // applies.
        let modified = modified(&self.sign_in.0);
        if modified != self.sign_in.1 {
            self.sign_in.1 = modified;
            self.account = account(env, &self.sign_in.0);
        }
        match self.store.as_ref().map(|store| store.get(&self.account)) {
            Some(Ok(limit)) => limit,
            _ => self.last.clone(),
        }
    }

    /// Stores a limit that the assistant reported.
    pub fn store(&mut self, failure: &KnownFailure) {
        let result =
            self.store.as_ref().map(|store| store.store(&self.account, failure.resets_at, &failure.message));
        let in_memory = || {
            AssistantLimit::after_refusal(
                self.last.as_ref(),
                failure.resets_at,
                &failure.message,
                Timestamp::now(),
            )
        };
        let limit = match result {
            Some(Ok(limit)) => limit,
            Some(Err(error)) => {
                print_error(format!("Warning: cannot store the limit for other loops: {error}"));
                in_memory()
            }
            None => in_memory(),
        };
        self.last = Some(limit);
    }

    /// Clears the limit, then releases the probe. The order matters: a loop that acquires the probe next must
    /// not see the old limit.
    pub fn pass(&mut self, probe: &mut Option<Probe>) {
        // Bound to the end of the function, so that the lock outlives the update of the store.
        let Some(_probe) = probe.take() else { return };
        self.last = None;
        if let Some(Err(error)) = self.store.as_ref().map(|store| store.clear(&self.account)) {
            print_error(format!("Warning: cannot clear the limit for other loops: {error}"));
        }
    }

    /// Tries to acquire the probe. The outer `None` means that another loop holds it; without a store there
    /// is nothing to acquire, and the account counts as usable.
    pub fn try_probe(&self) -> Option<Option<Probe>> {
        match self.store.as_ref().map(|store| store.try_probe(&self.account)) {
            Some(Ok(probe)) => probe.map(Some),
            // A broken store must not block the account forever; then every loop probes for itself.
            Some(Err(_)) | None => Some(None),
        }
    }
}

/// Awaits a future and measures the time it takes.
pub async fn timed<T>(wait: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    (wait.await, start.elapsed())
}

/// Computes the key of an account in the store: a hash of the service and of the credential, or of the
/// signed-in account. A hash, because the store must not contain credentials.
fn account(env: &BTreeMap<OsString, OsString>, sign_in_file: &Path) -> String {
    let value = |name: &str| env.get(OsStr::new(name)).filter(|value| !value.is_empty());
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        // The separator keeps ("ab", "c") and ("a", "bc") apart.
        hash.update(bytes);
        hash.update([0]);
    };
    add(value(SERVICE).map_or(b"", |service| service.as_encoded_bytes()));
    match CREDENTIALS.iter().find_map(|name| value(name)) {
        Some(credential) => add(credential.as_encoded_bytes()),
        None => {
            add(sign_in_file.as_os_str().as_encoded_bytes());
            // The ids of account and organization identify the subscription; other members of the file change
            // constantly.
            let text = std::fs::read_to_string(sign_in_file).unwrap_or_default();
            let document: Value = serde_json::from_str(&text).unwrap_or_default();
            for member in ["accountUuid", "organizationUuid"] {
                let id = document.pointer(&format!("/oauthAccount/{member}")).and_then(Value::as_str);
                add(id.unwrap_or_default().as_bytes());
            }
        }
    }
    let mut name = hex::encode(hash.finalize());
    name.truncate(ACCOUNT_DIGITS);
    name
}

/// Returns the path of the assistant's configuration file.
fn sign_in_file(env: &BTreeMap<OsString, OsString>) -> PathBuf {
    let directory = ["CLAUDE_CONFIG_DIR", "HOME"].iter().find_map(|name| env.get(OsStr::new(name)));
    directory.map(PathBuf::from).unwrap_or_default().join(".claude.json")
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn account_of(variables: &[(&str, &str)]) -> String {
        let env = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        account(&env, &sign_in_file(&env))
    }

    #[test]
    fn account_depends_on_credential_service_and_sign_in() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().to_str().unwrap();
        let key = account_of(&[("ANTHROPIC_API_KEY", "one")]);
        assert_eq!(
            key,
            account_of(&[("ANTHROPIC_API_KEY", "one"), ("HOME", home)]),
            "a credential takes precedence over the sign-in"
        );
        let others = [
            account_of(&[("ANTHROPIC_API_KEY", "two")]),
            account_of(&[("ANTHROPIC_API_KEY", "one"), (SERVICE, "http://127.0.0.1")]),
            account_of(&[("HOME", home)]),
        ];
        assert!(!others.contains(&key) && key.len() == ACCOUNT_DIGITS);
        let signed_in = |account: &str| {
            let document = json!({"oauthAccount": {"accountUuid": account}});
            std::fs::write(Path::new(home).join(".claude.json"), document.to_string()).unwrap();
            account_of(&[("HOME", home)])
        };
        let (first, second) = (signed_in("first"), signed_in("second"));
        assert!(first != second && first != others[2]);
    }
}
