//! Usage and rate limits of assistant accounts, and when they end.
//!
//! One file in the data directory stores the limits by account. All loops of this machine share it, so a
//! limit outlives the process that reached it. After a limit has ended, one process at a time acquires the
//! [`Probe`] and checks whether the account can be used again. All methods block on disk I/O.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::json_file::{JsonFile, JsonFileError};

const FILE_NAME: &str = "assistant-limits.json";
/// Backoff after the first refusal without an end; it doubles with each further one.
const FIRST_BACKOFF: Duration = Duration::from_mins(5);
/// Upper bound of the backoff.
const LONGEST_BACKOFF: Duration = Duration::from_hours(1);
/// Backoffs are shortened by a random amount of up to one part in this many, so that machines that share an
/// account do not retry simultaneously.
const JITTER_PART: f64 = 10.0;

/// A limit that an account has reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantLimit {
    /// When the limit ends; if the end is unknown, when the next attempt is due.
    pub until: Timestamp,
    /// Message of the assistant that reported the limit.
    pub reason: String,
    /// Number of consecutive refusals without an end.
    #[serde(default)]
    pub backoffs: u32,
}

impl AssistantLimit {
    /// Returns the limit after another refusal at `now`. The later end wins. A refusal without an end in the
    /// future keeps the stored end if that is in the future, and otherwise starts a backoff.
    #[must_use]
    pub fn after_refusal(
        current: Option<&Self>,
        end: Option<Timestamp>,
        reason: &str,
        now: Timestamp,
    ) -> Self {
        let pending = current.filter(|current| current.until > now);
        match (end.filter(|end| *end > now), pending) {
            (Some(end), pending) if pending.is_none_or(|pending| end > pending.until) => {
                Self { until: end, reason: reason.to_owned(), backoffs: 0 }
            }
            (_, Some(pending)) => pending.clone(),
            (_, None) => {
                let backoffs = current.map_or(0, |current| current.backoffs);
                // The exponent is capped because the shift would overflow; ten doublings exceed the upper
                // bound by far.
                let wait = FIRST_BACKOFF.saturating_mul(1 << backoffs.min(10)).min(LONGEST_BACKOFF);
                let wait = wait.mul_f64(1.0 - rand::random::<f64>() / JITTER_PART);
                let until = now.checked_add(wait).unwrap_or(Timestamp::MAX);
                Self { until, reason: reason.to_owned(), backoffs: backoffs.saturating_add(1) }
            }
        }
    }
}

/// Content of the file: limits by account.
#[derive(Debug, Default, Serialize, Deserialize)]
struct AccountLimits {
    #[serde(default)]
    limits: BTreeMap<String, AssistantLimit>,
}

/// Store of the limits of this machine's accounts.
#[derive(Debug)]
pub struct AssistantLimits {
    file: JsonFile<AccountLimits>,
    data_dir: PathBuf,
}

/// Exclusive right to try an account after its limit. A file lock, so the kernel releases it when the process
/// exits.
#[derive(Debug)]
pub struct Probe {
    _lock: File,
}

impl AssistantLimits {
    /// Opens the store of a data directory. A malformed file counts as empty; the next change moves it aside.
    #[must_use]
    pub fn in_data_dir(data_dir: &Path) -> Self {
        let file = JsonFile::private(data_dir.join(FILE_NAME)).moving_malformed_aside();
        Self { file, data_dir: data_dir.to_owned() }
    }

    /// Returns the limit of an account, even after its end, until it is cleared.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn get(&self, account: &str) -> io::Result<Option<AssistantLimit>> {
        match self.file.read() {
            Ok(document) => Ok(document.and_then(|mut document| document.limits.remove(account))),
            Err(JsonFileError::Malformed { .. }) => Ok(None),
            Err(JsonFileError::Io(error)) => Err(error),
        }
    }

    /// Records a refusal; see [`AssistantLimit::after_refusal`].
    ///
    /// # Errors
    /// Any failure of the file system; nothing is stored.
    pub fn store(&self, account: &str, end: Option<Timestamp>, reason: &str) -> io::Result<AssistantLimit> {
        self.file.update(|document| {
            let limits = &mut document.get_or_insert_default().limits;
            let limit = AssistantLimit::after_refusal(limits.get(account), end, reason, Timestamp::now());
            limits.insert(account.to_owned(), limit.clone());
            Ok(limit)
        })
    }

    /// Removes the limit of an account that can be used again.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn clear(&self, account: &str) -> io::Result<()> {
        self.file.update(|document| {
            if let Some(document) = document {
                document.limits.remove(account);
            }
            Ok(())
        })
    }

    /// Acquires the probe of an account. Returns `None` while another process holds it.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn try_probe(&self, account: &str) -> io::Result<Option<Probe>> {
        let path = self.data_dir.join(format!("assistant-probe-{account}.lock"));
        files::create_private_dir(&self.data_dir)?;
        files::make_private(&path)?;
        // Opened for appending because it is only locked; the file has no content.
        let lock = File::options().append(true).open(&path)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Probe { _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(2_000_000_000 + seconds).unwrap()
    }

    fn soon(seconds: i64) -> Timestamp {
        Timestamp::from_second(Timestamp::now().as_second() + seconds).unwrap()
    }

    #[test]
    fn later_end_wins_and_unknown_end_backs_off() {
        let refuse = |current: Option<&AssistantLimit>, end: Option<i64>, now: i64| {
            AssistantLimit::after_refusal(current, end.map(at), "why", at(now))
        };
        let first = refuse(None, Some(100), 0);
        assert_eq!((first.until, first.backoffs), (at(100), 0));
        assert_eq!(refuse(Some(&first), Some(50), 1).until, at(100), "an earlier end");
        assert_eq!(refuse(Some(&first), Some(150), 1).until, at(150), "a later end");
        assert_eq!(refuse(Some(&first), None, 1), first, "no end in the refusal, while one is stored");
        assert_eq!(refuse(Some(&first), Some(200), 101).until, at(200), "refused again after the end");

        let mut limit = None;
        let mut now = 0;
        for minutes in [5, 10, 20, 40, 60, 60] {
            // An end that is not in the future counts as unknown.
            let next = refuse(limit.as_ref(), Some(now), now);
            let wait = next.until.as_second() - at(now).as_second();
            assert!((minutes * 54 - 1..=minutes * 60).contains(&wait), "{minutes} minutes: {wait} s");
            now += wait + 1;
            limit = Some(next);
        }
    }

    #[test]
    fn limits_are_stored_by_account_until_they_are_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = dir.path().join("data");
        let limits = AssistantLimits::in_data_dir(&data_dir);
        assert_eq!(limits.get("a").unwrap(), None);
        limits.store("a", Some(soon(60)), "five hours").unwrap();
        limits.store("b", Some(soon(90)), "a week").unwrap();
        let again = AssistantLimits::in_data_dir(&data_dir);
        assert_eq!(again.get("a").unwrap().unwrap().reason, "five hours");
        again.clear("a").unwrap();
        assert_eq!(limits.get("a").unwrap(), None);
        assert_eq!(limits.get("b").unwrap().unwrap().reason, "a week");
    }

    #[test]
    fn malformed_file_counts_as_empty_and_is_moved_aside() {
        let dir = tempfile::tempdir().unwrap();
        let limits = AssistantLimits::in_data_dir(dir.path());
        std::fs::write(dir.path().join(FILE_NAME), r#"{"limits": {"a": 7}}"#).unwrap();
        assert_eq!(limits.get("a").unwrap(), None);
        std::fs::write(dir.path().join(FILE_NAME), "[]").unwrap();
        assert_eq!(limits.get("a").unwrap(), None);
        limits.store("a", Some(soon(60)), "why").unwrap();
        assert_eq!(limits.get("a").unwrap().unwrap().reason, "why");
        let names = std::fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name());
        assert_eq!(names.filter(|name| name.to_string_lossy().contains(".corrupt-")).count(), 1);
    }

    #[test]
    fn probe_is_exclusive_per_account() {
        let dir = tempfile::tempdir().unwrap();
        let limits = AssistantLimits::in_data_dir(dir.path());
        let probe = limits.try_probe("a").unwrap();
        assert!(probe.is_some() && limits.try_probe("a").unwrap().is_none());
        assert!(limits.try_probe("b").unwrap().is_some());
        drop(probe);
        assert!(limits.try_probe("a").unwrap().is_some());
    }

    #[test]
    fn concurrent_refusals_are_all_stored() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let limits = AssistantLimits::in_data_dir(dir.path());
                scope.spawn(move || {
                    for seconds in 0..10 {
                        limits.store("shared", Some(soon(100 * writer + seconds + 10)), "why").unwrap();
                        limits.store(&format!("own-{writer}"), Some(soon(60)), "why").unwrap();
                    }
                });
            }
        });
        let limits = AssistantLimits::in_data_dir(dir.path());
        let until = limits.get("shared").unwrap().unwrap().until;
        assert!(until.as_second() >= soon(300).as_second(), "the latest end wins");
        for writer in 0..4 {
            assert!(limits.get(&format!("own-{writer}")).unwrap().is_some());
        }
    }
}
