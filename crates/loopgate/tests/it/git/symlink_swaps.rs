//! A program in the sandbox that swaps directories for links while they are looked at.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::act;
use crate::local::{Answer, Local, write};

/// Questions of each kind.
const QUESTIONS: usize = 150;
const SECRET: &str = "secret-of-another-place";

/// Puts a link in the place of a directory and takes it away again, until it is dropped.
struct LinkSwapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl LinkSwapper {
    fn of(place: PathBuf, target: PathBuf) -> Self {
        let (stop, swaps) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (stopped, counted) = (stop.clone(), swaps.clone());
        let swap = move || {
            let (real, link) = (place.with_extension("real"), place.with_extension("link"));
            let _ = std::os::unix::fs::symlink(&target, &link);
            while !stopped.load(Ordering::Relaxed) {
                let _ = std::fs::rename(&place, &real);
                let _ = std::fs::rename(&link, &place);
                let _ = std::fs::rename(&place, &link);
                let _ = std::fs::rename(&real, &place);
                counted.fetch_add(1, Ordering::Relaxed);
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

/// Asks so often, and counts the answers that were one.
async fn ask(what: &str, question: impl AsyncFn() -> Result<Answer>) -> Result<usize> {
    let mut answered = 0;
    for _ in 0..QUESTIONS {
        let answer = question().await?;
        ensure!(!answer.body.to_string().contains(SECRET), "{what}: {answer:?}");
        answered += usize::from(answer.status == 200);
    }
    Ok(answered)
}

async fn ask_everything(local: &Local, repo: &Path, file: &str) -> Result<()> {
    let place = repo.to_string_lossy();
    let diff = json!({"repoPath": repo, "filePath": file});
    let mut answered = 0;
    answered += ask("status", async || act(local, repo, "status", json!({})).await).await?;
    answered += ask("branches", async || local.get("git/branches", &[("repo", &place)]).await).await?;
    answered += ask("diff", async || local.post("git/diff", diff.clone()).await).await?;
    let search = [("repo", &*place), ("query", "secret"), ("base", "true")];
    answered += ask("search", async || local.get("files/search", &search).await).await?;
    let listing = [("path", &*place)];
    answered += ask("folders", async || local.get("directories", &listing).await).await?;
    ensure!(answered > 0, "nothing was answered at all");
    Ok(())
}

/// A repository outside of the sandbox, in which every name and every content is secret.
fn outside(local: &Local) -> Result<PathBuf> {
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
    let local = Local::new().await?;
    let outside = outside(&local)?;
    let repo = local.repository("r", &[("a", "1\n"), ("src/a", "1\n")])?;
    write(&repo.join("a"), "2\n")?;
    write(&repo.join("src/a"), "2\n")?;
    for (swapped, asked) in [(repo.clone(), "a"), (repo.join("src"), "src/a"), (repo.join(".git"), "a")] {
        let target = if swapped.ends_with(".git") { outside.join(".git") } else { outside.clone() };
        let swapper = LinkSwapper::of(swapped, target);
        ask_everything(&local, &repo, asked).await?;
        ensure!(swapper.swaps.load(Ordering::Relaxed) > QUESTIONS, "it was hardly swapped");
    }
    // All is back in its place, and answered as ever.
    let status: Value = super::status(&local, &repo).await?;
    ensure!(status["files"]["modified"] == json!(["a", "src/a"]), "{status}");
    Ok(())
}
