//! Usage and rate limits of the assistant's account: they are waited out, not failures of the loop.
//!
//! The limit is stored in the data directory, where every loop of the account finds it, also one that starts
//! later. Once it has ended, the loop that takes the probe tries the account; with the first answer of the model
//! the limit is forgotten, and the others go on one after the other. The waits follow the wall clock, so that a
//! machine that slept goes on at once.

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

/// What an interrupted session is asked.
pub const CONTINUE_PROMPT: &str = "A usage limit interrupted you. It has ended. Go on where you were, and do what \
    you were asked for in full, including its last line.";
/// Hexadecimal digits of an account's name in the store.
const ACCOUNT_DIGITS: usize = 16;
/// Variables that name the account, in the order in which the assistant uses them, and its service.
const CREDENTIALS: [&str; 3] = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];
const SERVICE: &str = "ANTHROPIC_BASE_URL";

/// What comes after a wait.
#[derive(Debug)]
pub enum AccountState {
    /// The assistant may run. With the probe, it is the first one after a limit.
    Usable(Option<Probe>),
    /// The driver is asked to stop.
    Stopped,
}

/// The limits of the account that the assistant uses.
#[derive(Debug)]
pub struct AccountLimits {
    /// None where the user has no data directory.
    stored: Option<AssistantLimits>,
    account: String,
    /// The assistant's file that names who is signed in, and when it was changed last.
    sign_in: (PathBuf, Option<SystemTime>),
    /// The last refusal, for a store that cannot be used.
    own: Option<AssistantLimit>,
}

impl AccountLimits {
    /// The limits of the account that a program with this environment uses.
    #[must_use]
    pub fn of_environment(env: &BTreeMap<OsString, OsString>) -> Self {
        let stored = loopgate_home::default_data_dir().ok().map(|dir| AssistantLimits::in_data_dir(&dir));
        let file = sign_in_file(env);
        let modified = modified(&file);
        Self { stored, account: account(env, &file), sign_in: (file, modified), own: None }
    }

    /// The limit that holds, or has ended and was not tried since.
    pub fn current(&mut self, env: &BTreeMap<OsString, OsString>) -> Option<AssistantLimit> {
        let modified = modified(&self.sign_in.0);
        if modified != self.sign_in.1 {
            self.sign_in.1 = modified;
            self.account = account(env, &self.sign_in.0);
        }
        match self.stored.as_ref().map(|stored| stored.get(&self.account)) {
            Some(Ok(limit)) => limit,
            _ => self.own.clone(),
        }
    }

    /// Stores a refusal.
    pub fn store(&mut self, failure: &KnownFailure) {
        let stored = self
            .stored
            .as_ref()
            .map(|stored| stored.store(&self.account, failure.resets_at, &failure.message));
        let own = || {
            AssistantLimit::after_refusal(
                self.own.as_ref(),
                failure.resets_at,
                &failure.message,
                Timestamp::now(),
            )
        };
        let limit = match stored {
            Some(Ok(limit)) => limit,
            Some(Err(error)) => {
                print_error(format!("Warning: other loops are not told of the limit: {error}"));
                own()
            }
            None => own(),
        };
        self.own = Some(limit);
    }

    /// Forgets the limit, and then gives the probe back.
    pub fn pass(&mut self, probe: &mut Option<Probe>) {
        let Some(_probe) = probe.take() else { return };
        self.own = None;
        if let Some(Err(error)) = self.stored.as_ref().map(|stored| stored.clear(&self.account)) {
            print_error(format!("Warning: other loops are not told that the limit has ended: {error}"));
        }
    }

    /// Takes the probe; the outer `None` while another loop has it. Without a store there is none to take.
    pub fn try_probe(&self) -> Option<Option<Probe>> {
        match self.stored.as_ref().map(|stored| stored.try_probe(&self.account)) {
            Some(Ok(probe)) => probe.map(Some),
            Some(Err(_)) | None => Some(None),
        }
    }
}

/// Measures the waits of a run.
pub async fn timed<T>(wait: impl Future<Output = T>) -> (T, Duration) {
    let begun = Instant::now();
    (wait.await, begun.elapsed())
}

/// The name of an account in the store: a hash of the service and of the key, else of who is signed in.
fn account(env: &BTreeMap<OsString, OsString>, sign_in_file: &Path) -> String {
    let value = |name: &str| env.get(OsStr::new(name)).filter(|value| !value.is_empty());
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update(bytes);
        hash.update([0]);
    };
    add(value(SERVICE).map_or(b"", |service| service.as_encoded_bytes()));
    match CREDENTIALS.iter().find_map(|name| value(name)) {
        Some(credential) => add(credential.as_encoded_bytes()),
        None => {
            add(sign_in_file.as_os_str().as_encoded_bytes());
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

/// The assistant's file that names who is signed in.
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
    fn accounts_are_told_apart_by_key_service_and_sign_in() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().to_str().unwrap();
        let key = account_of(&[("ANTHROPIC_API_KEY", "one")]);
        assert_eq!(key, account_of(&[("ANTHROPIC_API_KEY", "one"), ("HOME", home)]), "a key is an account");
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
