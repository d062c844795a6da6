//! Cache of test runs at base commits, in the data directory. Loops that start from the same base reuse them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_home::files::{create_private_dir, write_private};
use loopgate_home::untrusted;
use sha2::{Digest as _, Sha256};

use super::test_run::{MAX_LOG, TestResult};

// Directory below the data directory.
const DIRECTORY: &str = "test-runs";
// Maximum number of cached runs; the oldest ones are removed. With logs of at most 16 MiB each, the cache
// takes at most 1.6 GiB.
const MAX_RUNS: usize = 100;

/// Cache of test runs, one JSON file and one log per run.
pub(super) struct BaseRuns {
    directory: PathBuf,
}

impl BaseRuns {
    pub fn new(data_dir: &Path) -> Self {
        Self { directory: data_dir.join(DIRECTORY) }
    }

    /// Returns the cache key: a digest of everything that can change the result of a run, which includes the
    /// files of the repository that the user trusts.
    pub fn key(clone: &Path, commit: &str, command: &str, trusted: &BTreeSet<String>) -> String {
        let mut digest = Sha256::new();
        let parts = [clone.as_os_str().as_encoded_bytes(), commit.as_bytes(), command.as_bytes()];
        for part in parts.into_iter().chain(trusted.iter().map(String::as_bytes)) {
            // Prefix each part with its length: otherwise ("ab", "c") and ("a", "bc") have the same digest.
            digest.update(u64::try_from(part.len()).unwrap_or_default().to_be_bytes());
            digest.update(part);
        }
        hex::encode(digest.finalize())
    }

    /// Returns a cached run and copies its log to `log`.
    pub async fn load(&self, key: &str, log: &Path) -> Option<TestResult> {
        let (file, cached_log, log) = (self.file(key), self.file(key).with_extension("log"), log.to_owned());
        let read = move || {
            let run = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
            untrusted::write_private(&log, &std::fs::read(cached_log).ok()?).ok()?;
            Some(run)
        };
        tokio::task::spawn_blocking(read).await.ok().flatten()
    }

    /// Caches a run that finished. Best-effort: a run that is not cached is repeated by the next loop.
    pub async fn save(&self, key: &str, run: &TestResult, log: &Path) {
        // A timeout or a missing program may be temporary, so such runs are not cached.
        if run.completed.run.error.is_some() {
            return;
        }
        let (directory, file, run, log) =
            (self.directory.clone(), self.file(key), run.clone(), log.to_owned());
        let saved = tokio::task::spawn_blocking(move || {
            create_private_dir(&directory)?;
            // Write the log first: an entry exists only once its JSON file does.
            write_private(&file.with_extension("log"), &untrusted::read(&log, MAX_LOG)?)?;
            write_private(&file, &serde_json::to_vec(&run)?)?;
            remove_oldest(&directory)
        });
        if let Err(error) = saved.await.unwrap_or_else(|error| Err(io::Error::other(error))) {
            tracing::warn!(%error, "failed to cache a test run");
        }
    }

    fn file(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{key}.json"))
    }
}

fn remove_oldest(directory: &Path) -> io::Result<()> {
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            runs.push((path.metadata()?.modified()?, path));
        }
    }
    runs.sort();
    for (_, path) in runs.iter().rev().skip(MAX_RUNS) {
        std::fs::remove_file(path)?;
        // Best-effort: an orphaned log is overwritten by the next run with the same key.
        let _ = std::fs::remove_file(path.with_extension("log"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use loopgate_api::test_evidence::TestRun;
    use loopgate_evidence::CompletedRun;

    use super::*;

    fn run(error: Option<&str>) -> TestResult {
        let run = TestRun {
            commit: "c".into(),
            exit_code: Some(1),
            duration_ms: 7,
            counts: None,
            error: error.map(str::to_owned),
            log: "tests-base.log".into(),
            output: None,
        };
        TestResult { completed: CompletedRun { run, report: None }, detected: None }
    }

    #[tokio::test]
    async fn run_is_cached_with_its_log_unless_it_failed_to_finish() {
        let (data, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (runs, log) = (BaseRuns::new(data.path()), work.path().join("tests-base.log"));
        std::fs::write(&log, "printed").unwrap();
        let key = BaseRuns::key(Path::new("/src/shop"), "c", "npm test", &BTreeSet::new());
        assert_eq!(runs.load(&key, &log).await, None);
        runs.save(&key, &run(Some("timed out after 600s")), &log).await;
        assert_eq!(runs.load(&key, &log).await, None, "the next loop tries again");
        runs.save(&key, &run(None), &log).await;
        std::fs::remove_file(&log).unwrap();
        assert_eq!(runs.load(&key, &log).await, Some(run(None)));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "printed");
    }

    #[tokio::test]
    async fn oldest_runs_are_removed() {
        let (data, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (runs, log) = (BaseRuns::new(data.path()), work.path().join("log"));
        std::fs::write(&log, "").unwrap();
        for number in 0..MAX_RUNS + 3 {
            runs.save(&format!("{number}"), &run(None), &log).await;
        }
        let files = std::fs::read_dir(data.path().join(DIRECTORY)).unwrap().count();
        assert_eq!(files, 2 * MAX_RUNS, "each run with its log");
    }

    #[test]
    fn key_depends_on_everything_that_can_change_the_result() {
        let untrusted = BTreeSet::new();
        let trusted = BTreeSet::from(["1 file .loopgate/loops-setup.sh".to_owned()]);
        let clone = Path::new("/src/shop");
        let keys = [
            BaseRuns::key(clone, "c", "npm test", &untrusted),
            BaseRuns::key(Path::new("/src/other"), "c", "npm test", &untrusted),
            BaseRuns::key(clone, "d", "npm test", &untrusted),
            BaseRuns::key(clone, "c", "make test", &untrusted),
            BaseRuns::key(clone, "c", "npm test", &trusted),
            BaseRuns::key(clone, "cn", "pm test", &untrusted),
        ];
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    }
}
