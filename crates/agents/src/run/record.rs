//! Files of a run, in a private directory that is removed at its end.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::provider::ProviderId;
use loopgate_home::files::{create_private_dir, write_private};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Kind of conversation runs. Also the default for records without a kind.
pub(crate) const CHAT_KIND: &str = "chat";

/// Persisted record from which the next process recovers a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProviderRun {
    #[serde(default)]
    pub(super) provider: ProviderId,
    /// Kind of the run, which selects the store factory.
    #[serde(default = "conversation")]
    pub(super) kind: String,
    /// Deadline in seconds since the epoch.
    #[serde(default = "never")]
    pub(super) deadline: i64,
    /// Directories that the run concerns.
    #[serde(default)]
    #[serde(rename = "about")]
    pub(super) directories: Vec<PathBuf>,
    /// Data with which the store factory reopens the store.
    #[serde(flatten)]
    pub(super) owner: serde_json::Map<String, Value>,
}

fn conversation() -> String {
    CHAT_KIND.to_owned()
}

const fn never() -> i64 {
    i64::MAX
}

impl ProviderRun {
    /// Returns the time until the deadline, at most a day.
    pub(super) fn time_left(&self) -> Duration {
        let seconds = self.deadline.saturating_sub(jiff::Timestamp::now().as_second());
        // The deadline is wall-clock time; the limit bounds the run if the clock was set back.
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).min(Duration::from_hours(24))
    }
}

/// Private directory with the files of a run.
#[derive(Debug, Clone)]
pub(super) struct RunDirectory(pub(super) PathBuf);

impl RunDirectory {
    const RECORD: &str = "run.json";

    pub(super) fn prompt(&self, attempt: u32) -> PathBuf {
        self.attempt("prompt", attempt, "txt")
    }

    pub(super) fn output(&self, attempt: u32) -> PathBuf {
        self.attempt("output", attempt, "jsonl")
    }

    pub(super) fn stderr(&self, attempt: u32) -> PathBuf {
        self.attempt("stderr", attempt, "log")
    }

    pub(super) fn exit(&self, attempt: u32) -> PathBuf {
        self.attempt("exit", attempt, "json")
    }

    fn attempt(&self, name: &str, attempt: u32, extension: &str) -> PathBuf {
        match attempt {
            0 => self.0.join(format!("{name}.{extension}")),
            _ => self.0.join(format!("{name}-{attempt}.{extension}")),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn read_record(&self) -> Option<ProviderRun> {
        serde_json::from_slice(&std::fs::read(self.0.join(Self::RECORD)).ok()?).ok()
    }

    /// Returns the number of the last started attempt.
    pub(super) fn last_attempt(&self) -> u32 {
        u32::from(self.output(1).exists())
    }

    /// Creates the directory with the prompt, an empty output file and the record.
    pub(super) fn create(&self, record: &ProviderRun, prompt: &str) -> io::Result<()> {
        create_private_dir(&self.0)?;
        self.begin_attempt(0, prompt)?;
        // Last, because recovery discards a directory without a record.
        write_private(&self.0.join(Self::RECORD), &serde_json::to_vec(record)?)
    }

    pub(super) fn begin_attempt(&self, attempt: u32, prompt: &str) -> io::Result<()> {
        create_file(&self.prompt(attempt))?.write_all(prompt.as_bytes())?;
        // Streams may open the output before the program has created it.
        create_file(&self.output(attempt)).map(drop)
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        std::fs::remove_dir_all(&self.0)
    }
}

/// Creates an empty file with mode 0600. Not synced, which would delay the start of the program: only the
/// program reads these files, and it does not survive a power failure either.
fn create_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}
