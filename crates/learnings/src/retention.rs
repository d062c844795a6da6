//! Removal of old records of loops from a work directory.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use loopgate_home::{EntryKind, remove_tree, untrusted};

use crate::goals::plain_yaml;
use crate::pending::LEARNINGS_DIR;

const RETENTION: &str = "retention.yaml";
const RUNS: &str = "runs.log";
const LOGS: [&str; 3] = ["acknowledgments.log", "outcomes.log", "failures.log"];
/// Maximum size of a log that is shortened, in bytes; a larger one is left as it is.
const MAX_LOG_BYTES: u64 = 64 * 1024 * 1024;
const DAY: Duration = Duration::from_hours(24);

/// Content of a new `retention.yaml`.
pub(crate) const DEFAULT_RETENTION: &str = "max_runs: 100\nmax_sessions: 50\nmax_log_lines: 10000\n\
    max_archive_age_days: 30\nlock_stale_hours: 4\nprotected_window_minutes: 30\n";

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Lines of `runs.log`.
    pub max_runs: usize,
    /// Directories of runs.
    pub max_sessions: usize,
    /// Lines of each log.
    pub max_log_lines: usize,
    /// Age of archived learnings.
    pub max_archive_age: Duration,
    /// Age after which the lock of a loop counts as abandoned.
    pub lock_stale: Duration,
    /// Age below which a directory is kept in any case.
    pub protected_window: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            max_runs: 100,
            max_sessions: 50,
            max_log_lines: 10_000,
            max_archive_age: 30 * DAY,
            lock_stale: Duration::from_hours(4),
            protected_window: Duration::from_mins(30),
        }
    }
}

impl Retention {
    /// Reads the limits of a work directory; missing and invalid ones have their default. Performs blocking I/O.
    #[must_use]
    pub fn load(work_dir: &Path) -> Self {
        let text = untrusted::read_text(&work_dir.join(LEARNINGS_DIR).join(RETENTION)).unwrap_or_default();
        let values = plain_yaml(&text).unwrap_or_default();
        let number = |key: &str| values.get(key).and_then(|text| text.parse::<u32>().ok());
        let default = Self::default();
        let count = |key, default| number(key).map_or(default, |number| number as usize);
        Self {
            max_runs: count("max_runs", default.max_runs),
            max_sessions: count("max_sessions", default.max_sessions),
            max_log_lines: count("max_log_lines", default.max_log_lines),
            max_archive_age: number("max_archive_age_days")
                .map_or(default.max_archive_age, |days| days * DAY),
            lock_stale: number("lock_stale_hours")
                .map_or(default.lock_stale, |hours| Duration::from_hours(hours.into())),
            protected_window: number("protected_window_minutes")
                .map_or(default.protected_window, |minutes| Duration::from_mins(minutes.into())),
        }
    }
}

/// Removes what exceeds the limits, unless a loop holds the lock of the work directory. `protected_run` is the id of a run
/// whose directory is kept in any case. Returns the number of removed directories and files. Performs blocking I/O.
///
/// # Errors
/// Fails on the first I/O error.
pub fn prune(work_dir: &Path, retention: Retention, protected_run: Option<&str>) -> io::Result<usize> {
    let directory = work_dir.join(LEARNINGS_DIR);
    let is_locked = untrusted::metadata(&directory.join(".lock"))
        .and_then(|lock| lock.modified())
        .is_ok_and(|at| age(at) < retention.lock_stale);
    if is_locked {
        return Ok(0);
    }
    let mut removed = prune_sessions(&directory.join("sessions"), retention, protected_run)?;
    for name in LOGS {
        shorten(&directory.join(name), retention.max_log_lines)?;
    }
    // The runs have their own limit: their directories are removed earlier, and the history would be lost with them.
    shorten(&work_dir.join(RUNS), retention.max_runs)?;
    let archive = directory.join("pending/archived");
    for entry in untrusted::entries(&archive) {
        let path = archive.join(&entry.name);
        let is_old = untrusted::metadata(&path)
            .and_then(|file| file.modified())
            .is_ok_and(|at| age(at) > retention.max_archive_age);
        if entry.kind == EntryKind::File && is_old {
            untrusted::remove(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn prune_sessions(sessions: &Path, retention: Retention, protected_run: Option<&str>) -> io::Result<usize> {
    let entries = untrusted::entries(sessions).into_iter();
    let runs = entries.filter(|entry| entry.kind == EntryKind::Directory);
    let mut runs: Vec<(SystemTime, String)> = runs
        .filter_map(|entry| {
            let name = entry.name.into_string().ok()?;
            // An unreadable time counts as now, so that the directory is kept.
            let modified = sessions.join(&name).symlink_metadata().and_then(|run| run.modified());
            Some((modified.unwrap_or_else(|_| SystemTime::now()), name))
        })
        .collect();
    let mut excess = runs.len().saturating_sub(retention.max_sessions);
    runs.sort();
    let mut removed = 0;
    for (modified, name) in runs {
        if excess == 0 {
            break;
        }
        let is_protected = protected_run.is_some_and(|run| name.strip_prefix("run-") == Some(run));
        if !is_protected && age(modified) > retention.protected_window {
            remove_tree(&sessions.join(&name))?;
            excess -= 1;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Cuts a log to its last lines.
fn shorten(path: &Path, max_lines: usize) -> io::Result<()> {
    let Ok(bytes) = untrusted::read(path, MAX_LOG_BYTES) else { return Ok(()) };
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let excess = lines.len().saturating_sub(max_lines);
    if excess == 0 { Ok(()) } else { untrusted::write(path, &lines[excess..].concat()) }
}

fn age(at: SystemTime) -> Duration {
    SystemTime::now().duration_since(at).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work_dir(runs: u64) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..runs {
            let run = dir.path().join(LEARNINGS_DIR).join(format!("sessions/run-{number}"));
            std::fs::create_dir_all(&run).unwrap();
            // Run 0 is the oldest; all are older than the window.
            let at = SystemTime::now() - Duration::from_mins(60 + runs - number);
            std::fs::File::open(&run).unwrap().set_modified(at).unwrap();
        }
        dir
    }

    fn runs(dir: &Path) -> usize {
        std::fs::read_dir(dir.join(LEARNINGS_DIR).join("sessions")).unwrap().count()
    }

    // PR-36
    #[test]
    fn oldest_runs_are_removed_and_the_protected_one_is_kept() {
        let dir = work_dir(52);
        let lock = dir.path().join(LEARNINGS_DIR).join(".lock");
        std::fs::write(&lock, "run_id=0").unwrap();
        assert_eq!(prune(dir.path(), Retention::default(), Some("0")).unwrap(), 0);
        assert_eq!(runs(dir.path()), 52, "a fresh lock keeps everything");
        std::fs::remove_file(lock).unwrap();
        assert_eq!(prune(dir.path(), Retention::default(), Some("0")).unwrap(), 2);
        assert_eq!(runs(dir.path()), 50);
        let sessions = dir.path().join(LEARNINGS_DIR).join("sessions");
        let exists = |number: u32| sessions.join(format!("run-{number}")).exists();
        assert!(exists(0) && !exists(1) && !exists(2) && exists(3));
    }

    #[test]
    fn logs_are_cut_to_their_last_lines_and_young_runs_stay() {
        let dir = work_dir(1);
        let learnings = dir.path().join(LEARNINGS_DIR);
        std::fs::create_dir_all(learnings.join("sessions/run-young")).unwrap();
        std::fs::write(learnings.join(RETENTION), "max_log_lines: 2\nmax_sessions: 0\nmax_runs: 1\nx: [\n")
            .unwrap();
        std::fs::write(learnings.join("outcomes.log"), "a\nb\nc\n").unwrap();
        std::fs::write(dir.path().join(RUNS), "a\nb\n").unwrap();
        let retention = Retention::load(dir.path());
        assert_eq!((retention.max_log_lines, retention.lock_stale), (2, Duration::from_hours(4)));
        assert_eq!(prune(dir.path(), retention, None).unwrap(), 1);
        assert!(learnings.join("sessions/run-young").exists());
        assert_eq!(std::fs::read_to_string(learnings.join("outcomes.log")).unwrap(), "b\nc\n");
        assert_eq!(std::fs::read_to_string(dir.path().join(RUNS)).unwrap(), "b\n");
    }
}
