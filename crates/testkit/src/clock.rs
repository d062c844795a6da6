//! Fakes the wall clock for the programs of a home, adjustable while they run.
//!
//! Preloads Debian's libfaketime, which reads the offset from a file at each clock call. The monotonic clock
//! is not faked: this simulates a machine that was suspended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::home::UserHome;
use crate::programs;

const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// Returns the environment variables that make a program use the home's clock. The home's assistant gets a wrapper,
/// because newer versions do not start with the shared memory of another program's libfaketime. Fails when libfaketime
/// is not installed.
pub fn environment(home: &UserHome) -> anyhow::Result<Vec<(&'static str, OsString)>> {
    let assistant = programs::assistant()?;
    home.script(
        "claude",
        &format!("#!/bin/sh\nunset FAKETIME_SHARED\nexec '{}' \"$@\"\n", assistant.display()),
    )?;
    let file = file(home.path());
    // Created before the programs start; `+0` is the real time.
    std::fs::write(&file, "+0").context("set the clock")?;
    Ok(vec![
        ("LD_PRELOAD", library()?.into()),
        // libfaketime re-reads the file only once in ten seconds by default. Without the cache, `advance`
        // takes effect at the next call.
        ("FAKETIME_TIMESTAMP_FILE", file.into()),
        ("FAKETIME_NO_CACHE", "1".into()),
        // The kernel's monotonic clock does not advance during a suspend either.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        // Without this, libfaketime also shifts the timestamps that stat(2) returns.
        ("NO_FAKE_STAT", "1".into()),
    ])
}

/// Sets the home's wall clock this many hours ahead of the system's.
pub fn advance(home: &Path, hours: u32) -> anyhow::Result<()> {
    std::fs::write(file(home), format!("+{hours}h")).context("set the clock")
}

fn file(home: &Path) -> PathBuf {
    home.join("clock")
}

fn library() -> anyhow::Result<PathBuf> {
    // Debian installs the library below the multiarch directory, such as /usr/lib/x86_64-linux-gnu.
    let directories = std::fs::read_dir("/usr/lib")?.flatten().map(|entry| entry.path());
    let library = directories.map(|directory| directory.join(LIBRARY)).find(|path| path.is_file());
    match library {
        Some(path) => Ok(path),
        None => bail!("libfaketime is not installed: `apt-get install libfaketime`"),
    }
}
