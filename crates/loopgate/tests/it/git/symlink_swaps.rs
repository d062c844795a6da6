//! Time-of-check to time-of-use: a process in the sandbox replaces directories by symlinks during requests.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::act;
use crate::test_gateway::{Answer, TestGateway, write};

/// Requests per route; enough for many of them to overlap with a swap.
const REQUESTS: usize = 150;
const SECRET: &str = "secret-of-another-place";

/// Thread that exchanges a directory and a symlink until it is dropped.
struct LinkSwapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl LinkSwapper {
    fn of(directory: PathBuf, target: PathBuf) -> Self {
        let (stop, swaps) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (stopped, counter) = (stop.clone(), swaps.clone());
        let swap = move || {
            let (real, link) = (directory.with_extension("real"), directory.with_extension("link"));
            let _ = std::os::unix::fs::symlink(&target, &link);
            while !stopped.load(Ordering::Relaxed) {
                // A failed rename is harmless: the next round restores the directory.
                let _ = std::fs::rename(&directory, &real);
                let _ = std::fs::rename(&link, &directory);
                let _ = std::fs::rename(&directory, &link);
                let _ = std::fs::rename(&real, &directory);
                counter.fetch_add(1, Ordering::Relaxed);
            }
        };
        Self { stop, swaps, thread: Some(std::thread::spawn(swap)) }
    }
}

impl Drop for LinkSwapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

/// Repeats a request, checks that no response contains the secret, and returns the number of successful ones.
async fn repeat(route: &str, request: impl AsyncFn() -> Result<Answer>) -> Result<usize> {
    let mut successes = 0;
    for _ in 0..REQUESTS {
        let answer = request().await?;
        ensure!(!answer.body.to_string().contains(SECRET), "{route}: {answer:?}");
        successes += usize::from(answer.status == 200);
    }
    Ok(successes)
}

async fn send_all_requests(local: &TestGateway, repo: &Path, file: &str) -> Result<()> {
    let directory = repo.to_string_lossy();
    let diff = json!({"repoPath": repo, "filePath": file});
    let mut successes = 0;
    successes += repeat("status", async || act(local, repo, "status", json!({})).await).await?;
    successes +=
        repeat("branches", async || local.get("git/branches", &[("repo", &directory)]).await).await?;
    successes += repeat("diff", async || local.post("git/diff", diff.clone()).await).await?;
    let search = [("repo", &*directory), ("query", "secret"), ("base", "true")];
    successes += repeat("search", async || local.get("files/search", &search).await).await?;
    let listing = [("path", &*directory)];
    successes += repeat("folders", async || local.get("directories", &listing).await).await?;
    ensure!(successes > 0, "all requests failed");
    Ok(())
}

/// Creates a repository outside of the sandbox whose names and contents are all secret.
fn outside(local: &TestGateway) -> Result<PathBuf> {
    let outside = local.home.path().join("outside");
    write(&outside.join(format!("{SECRET}.txt")), SECRET)?;
    write(&outside.join(format!("{SECRET}/a")), SECRET)?;
    write(&outside.join("a"), SECRET)?;
    git(&outside, &["init", "--quiet", "--initial-branch", SECRET])?;
    git(&outside, &["add", "a"])?;
    git(&outside, &["commit", "--quiet", "-m", SECRET])?;
    write(&outside.join("a"), format!("{SECRET} again"))?;
    Ok(outside)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapped_symlink_is_never_followed() -> Result<()> {
    let local = TestGateway::new().await?;
    let outside = outside(&local)?;
    let repo = local.repository("r", &[("a", "1\n"), ("src/a", "1\n")])?;
    write(&repo.join("a"), "2\n")?;
    write(&repo.join("src/a"), "2\n")?;
    for (swapped, file) in [(repo.clone(), "a"), (repo.join("src"), "src/a"), (repo.join(".git"), "a")] {
        let target = if swapped.ends_with(".git") { outside.join(".git") } else { outside.clone() };
        let swapper = LinkSwapper::of(swapped, target);
        send_all_requests(&local, &repo, file).await?;
        ensure!(swapper.swaps.load(Ordering::Relaxed) > REQUESTS, "too few swaps");
    }
    // The directories are restored, so requests succeed again.
    let status: Value = super::status(&local, &repo).await?;
    ensure!(status["files"]["modified"] == json!(["a", "src/a"]), "{status}");
    Ok(())
}
