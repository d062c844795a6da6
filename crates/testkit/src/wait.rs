//! Waits for files that change and processes that end.
//!
//! A condition is checked again after the system has reported an event, never because some time has
//! passed.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

/// Nothing takes this long unless it hangs.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Changes in some directories, from now on.
#[derive(Debug)]
pub struct Changes {
    events: watch::Receiver<()>,
    _watcher: RecommendedWatcher,
}

impl Changes {
    /// Watches these directories, which must exist, without those below them.
    ///
    /// # Errors
    /// When one of them cannot be watched.
    pub fn of(directories: &[&Path]) -> anyhow::Result<Self> {
        Self::watch(directories, RecursiveMode::NonRecursive)
    }

    /// Watches this directory and all below it.
    ///
    /// # Errors
    /// When it cannot be watched.
    pub fn below(directory: &Path) -> anyhow::Result<Self> {
        Self::watch(&[directory], RecursiveMode::Recursive)
    }

    fn watch(directories: &[&Path], mode: RecursiveMode) -> anyhow::Result<Self> {
        let (sender, events) = watch::channel(());
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading changes nothing.
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

    /// Waits for the next change; those since the last call count as one.
    ///
    /// # Errors
    /// When the watcher has ended.
    pub async fn next(&mut self) -> anyhow::Result<()> {
        self.events.changed().await.context("the file watcher has ended")
    }
}

/// Calls a function now, and after each change in the directory, until it answers something.
///
/// # Errors
/// After a minute, or when the directory cannot be watched.
pub async fn seen<T>(directory: &Path, mut look: impl AsyncFnMut() -> Option<T>) -> anyhow::Result<T> {
    let mut changes = Changes::of(&[directory])?;
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return anyhow::Ok(found);
            }
            changes.next().await?;
        }
    };
    match tokio::time::timeout(LIMIT, looking).await {
        Ok(found) => found,
        Err(_) => bail!("it was not seen in {} within {LIMIT:?}", directory.display()),
    }
}

/// Waits until something is at a place; its directory must be there.
///
/// # Errors
/// See [`seen`].
pub async fn appears(path: &Path) -> anyhow::Result<()> {
    let directory = path.parent().context("a path has a directory")?;
    let found = seen(directory, async || path.symlink_metadata().is_ok().then_some(())).await;
    found.with_context(|| format!("wait for {}", path.display()))
}

/// Waits until nothing is at a place any more.
///
/// # Errors
/// See [`seen`].
pub async fn vanishes(path: &Path) -> anyhow::Result<()> {
    let directory = path.parent().context("a path has a directory")?;
    let gone = seen(directory, async || path.symlink_metadata().is_err().then_some(())).await;
    gone.with_context(|| format!("wait until {} is gone", path.display()))
}

/// Waits until a file holds whole lines, and answers them without the last end of line.
///
/// # Errors
/// See [`seen`].
pub async fn lines_of(path: &Path) -> anyhow::Result<String> {
    let directory = path.parent().context("a path has a directory")?;
    let whole = async || {
        let text = std::fs::read_to_string(path).ok()?;
        text.strip_suffix('\n').map(str::to_owned)
    };
    seen(directory, whole).await.with_context(|| format!("wait for the text of {}", path.display()))
}

/// Waits until a process has ended, whoever started it.
///
/// # Errors
/// When the system cannot tell.
#[cfg(target_os = "linux")]
pub async fn end_of(pid: u32) -> anyhow::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let id = i32::try_from(pid).ok().and_then(Pid::from_raw).context("a process has an id")?;
    let process = match pidfd_open(id, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(()),
        opened => opened?,
    };
    // It can be read from once the process has ended.
    let waiting = tokio::task::spawn_blocking(move || {
        let limit = Timespec::try_from(LIMIT).ok();
        poll(&mut [PollFd::new(&process, PollFlags::IN)], limit.as_ref())
    });
    if waiting.await?? == 0 { bail!("process {pid} does not end") } else { Ok(()) }
}

/// Waits until a process has ended, whoever started it.
///
/// # Errors
/// Always: only Linux tells of processes that one has not started.
#[cfg(not(target_os = "linux"))]
pub async fn end_of(pid: u32) -> anyhow::Result<()> {
    bail!("nobody tells when process {pid} ends")
}

/// Waits until no process is found any more. It is looked for again when those that were found have
/// ended.
///
/// # Errors
/// See [`end_of`].
pub async fn all_end(find: impl Fn() -> Vec<u32>) -> anyhow::Result<()> {
    loop {
        let found = find();
        if found.is_empty() {
            return Ok(());
        }
        for pid in found {
            end_of(pid).await?;
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
        let (here, there) = (dir.path().join("here"), dir.path().join("there"));
        std::fs::write(&here, "one\ntwo").unwrap();
        let moving = async { std::fs::rename(&here, &there) };
        let (gone, come, moved) = tokio::join!(vanishes(&here), appears(&there), moving);
        gone.and(come).unwrap();
        moved.unwrap();
        let ending = async { std::fs::write(&there, "one\ntwo\n") };
        let (lines, ended) = tokio::join!(lines_of(&there), ending);
        ended.unwrap();
        assert_eq!(lines.unwrap(), "one\ntwo");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn end_of_a_process_is_seen() {
        let home = UserHome::temporary().unwrap();
        let mut child = home.command("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = child.id().unwrap();
        let ending = async { drop(child.stdin.take()) };
        let (ended, ()) = tokio::join!(end_of(pid), ending);
        ended.unwrap();
        child.wait().await.unwrap();
        end_of(pid).await.unwrap();
        all_end(Vec::new).await.unwrap();
    }
}
