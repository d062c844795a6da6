//! The clock on the wall of a home's programs, which a test can set while they run.
//!
//! Debian's libfaketime is between the programs and the system's clock. It leaves the monotonic clock
//! alone, as a sleep of the machine does, and reads how far the clock is ahead from a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// Variables with which a program follows the clock of a home.
///
/// # Errors
/// When the library is not installed.
pub fn environment(home: &Path) -> anyhow::Result<Vec<(&'static str, OsString)>> {
    let file = file(home);
    std::fs::write(&file, "+0").context("set the clock")?;
    Ok(vec![
        ("LD_PRELOAD", library()?.into()),
        ("FAKETIME_TIMESTAMP_FILE", file.into()),
        ("FAKETIME_NO_CACHE", "1".into()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ("NO_FAKE_STAT", "1".into()),
    ])
}

/// Sets the clock of a home hours ahead of the system's.
///
/// # Errors
/// When the file cannot be written.
pub fn advance(home: &Path, hours: u32) -> anyhow::Result<()> {
    std::fs::write(file(home), format!("+{hours}h")).context("set the clock")
}

fn file(home: &Path) -> PathBuf {
    home.join("clock")
}

fn library() -> anyhow::Result<PathBuf> {
    let directories = std::fs::read_dir("/usr/lib")?.flatten().map(|entry| entry.path());
    let found = directories.map(|directory| directory.join(LIBRARY)).find(|path| path.is_file());
    match found {
        Some(path) => Ok(path),
        None => bail!("libfaketime is not installed: `apt-get install libfaketime`"),
    }
}
