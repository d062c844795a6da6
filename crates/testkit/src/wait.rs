//! Waits for file changes and for the exit of processes.
//!
//! Conditions are checked again after an event of the system (inotify, pidfd), never after a sleep.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

/// Upper bound of every wait. Far above the slowest step on a loaded machine: only a hang reaches it.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Change notifications of some directories since the watcher was created.
#[derive(Debug)]
pub struct Changes {
    events: watch::Receiver<()>,
    _watcher: RecommendedWatcher,
}

impl Changes {
    /// Watches existing directories, not recursively.
    pub fn of(directories: &[&Path]) -> anyhow::Result<Self> {
        Self::watch(directories, RecursiveMode::NonRecursive)
    }

    /// Watches a directory recursively.
    pub fn below(directory: &Path) -> anyhow::Result<Self> {
        Self::watch(&[directory], RecursiveMode::Recursive)
    }

    fn watch(directories: &[&Path], mode: RecursiveMode) -> anyhow::Result<Self> {
        // A watch channel keeps one pending notification, which is all that a re-check needs.
        let (sender, events) = watch::channel(());
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // inotify also reports reads. A condition reads the files that it checks, so these events would
            // cause a busy loop.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                sender.send_replace(());
            }
        })?;
        for directory in directories {
            let watched = watcher.watch(directory, mode);
            watched.with_context(|| format!("watch {}", directory.display()))?;
        }
        Ok(Self { events, _watcher: watcher })
    }

    /// Waits for the next change. Changes since the last call are coalesced into one.
    pub async fn next(&mut self) -> anyhow::Result<()> {
        self.events.changed().await.context("the file watcher has ended")
    }
}

/// Calls a function now and after each change in the directory, until it returns a value. Fails after
/// [`LIMIT`].
pub async fn until<T>(directory: &Path, mut condition: impl AsyncFnMut() -> Option<T>) -> anyhow::Result<T> {
    // The watcher starts before the first check, so that no change between the two is missed.
    let mut changes = Changes::of(&[directory])?;
    let poll = async {
        loop {
            if let Some(value) = condition().await {
                return anyhow::Ok(value);
            }
            changes.next().await?;
        }
    };
    match tokio::time::timeout(LIMIT, poll).await {
        Ok(result) => result,
        Err(_) => bail!("the condition was not met by the files in {} within {LIMIT:?}", directory.display()),
    }
}

/// Waits until the path exists. Its parent directory must exist already.
pub async fn until_exists(path: &Path) -> anyhow::Result<()> {
    let directory = path.parent().context("the path has no parent directory")?;
    let result = until(directory, async || path.symlink_metadata().is_ok().then_some(())).await;
    result.with_context(|| format!("wait for {}", path.display()))
}

/// Waits until the path no longer exists.
pub async fn until_removed(path: &Path) -> anyhow::Result<()> {
    let directory = path.parent().context("the path has no parent directory")?;
    let result = until(directory, async || path.symlink_metadata().is_err().then_some(())).await;
    result.with_context(|| format!("wait until {} is removed", path.display()))
}

/// Waits until the file ends with a newline, and returns its text without that newline.
pub async fn lines_of(path: &Path) -> anyhow::Result<String> {
    let directory = path.parent().context("the path has no parent directory")?;
    let complete_text = async || {
        let text = std::fs::read_to_string(path).ok()?;
        text.strip_suffix('\n').map(str::to_owned)
    };
    until(directory, complete_text).await.with_context(|| format!("wait for the text of {}", path.display()))
}

/// Waits until a process has exited. It does not have to be a child of this process.
#[cfg(target_os = "linux")]
pub async fn until_exited(pid: u32) -> anyhow::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, retry_on_intr};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let id = i32::try_from(pid).ok().and_then(Pid::from_raw).context("the process id is out of range")?;
    // A pidfd refers to this process even if its id is reused while waiting.
    let process = match pidfd_open(id, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(()),
        opened => opened?,
    };
    // A pidfd becomes readable when the process exits.
    // poll(2) blocks, so it must not run on a worker thread of the runtime.
    let poll_result = tokio::task::spawn_blocking(move || {
        let limit = Timespec::try_from(LIMIT).ok();
        // Unlike most calls, poll(2) is not restarted after a signal handler, here that of SIGCHLD.
        retry_on_intr(|| poll(&mut [PollFd::new(&process, PollFlags::IN)], limit.as_ref()))
    });
    if poll_result.await?? == 0 { bail!("process {pid} did not exit within {LIMIT:?}") } else { Ok(()) }
}

/// Always fails: waiting for a process that is not a child needs a pidfd, which only Linux has.
#[cfg(not(target_os = "linux"))]
pub async fn until_exited(pid: u32) -> anyhow::Result<()> {
    bail!(
        "cannot wait for process {pid}: waiting for a process that is not a child is only supported on Linux"
    )
}

/// Waits until `find` returns no process. It is called again each time the processes of the last call have
/// exited.
pub async fn all_end(find: impl Fn() -> Vec<u32>) -> anyhow::Result<()> {
    loop {
        let pids = find();
        if pids.is_empty() {
            return Ok(());
        }
        for pid in pids {
            until_exited(pid).await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::UserHome;

    #[tokio::test]
    async fn file_creation_and_removal_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let (source, target) = (dir.path().join("source"), dir.path().join("target"));
        std::fs::write(&source, "one\ntwo").unwrap();
        let moving = async { std::fs::rename(&source, &target) };
        let (vanished, appeared, moved) = tokio::join!(until_removed(&source), until_exists(&target), moving);
        // Both waits start before the rename: it is the only event that can complete them.
        vanished.and(appeared).unwrap();
        moved.unwrap();
        let ending = async { std::fs::write(&target, "one\ntwo\n") };
        // The write that adds the final newline completes the wait.
        let (lines, ended) = tokio::join!(lines_of(&target), ending);
        ended.unwrap();
        assert_eq!(lines.unwrap(), "one\ntwo");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn until_exited_returns_when_the_process_exits() {
        let home = UserHome::temporary().unwrap();
        let mut child = home.command("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = child.id().unwrap();
        let ending = async { drop(child.stdin.take()) };
        let (ended, ()) = tokio::join!(until_exited(pid), ending);
        ended.unwrap();
        child.wait().await.unwrap();
        // A process that has been reaped already counts as exited.
        until_exited(pid).await.unwrap();
        all_end(Vec::new).await.unwrap();
    }
}
