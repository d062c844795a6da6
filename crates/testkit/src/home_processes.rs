//! Finds and kills the processes that a Loopgate left running. Loops outlive it by design, but must not
//! outlive their testbed.
//!
//! A process is attributed to a home by `HOME` in its environment. This reads `/proc` and is therefore Linux
//! only. On other systems no process is found; the programs exit when their servers disconnect.

use std::path::Path;

/// A process whose environment has the home as `HOME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeProcess {
    pub pid: u32,
    /// Command line, arguments joined by spaces.
    pub command: String,
}

/// Returns all running processes whose `HOME` is this home.
#[must_use]
pub fn processes(home: &Path) -> Vec<HomeProcess> {
    let home_variable = format!("HOME={}", home.display());
    find_others(|pid, _| {
        // The environment of a zombie process reads as empty, so zombies are not matched.
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == home_variable.as_bytes())
    })
}

/// Kills all processes of a home.
pub fn end(home: &Path) {
    kill(processes(home));
}

/// Kills every process whose command line contains a path below this directory.
pub fn end_below(directory: &Path) {
    let below = format!("{}/", directory.display());
    kill(find_others(|_, command| command.contains(&below)));
}

/// Returns the processes that match a predicate on id and command line, without this process.
fn find_others(predicate: impl Fn(u32, &str) -> bool) -> Vec<HomeProcess> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let matches = pids.filter(|pid| *pid != std::process::id()).filter_map(|pid| {
        // The process may exit between the directory listing and this read: an empty command line is
        // harmless.
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ").trim_end().to_owned();
        predicate(pid, &command).then_some(HomeProcess { pid, command })
    });
    matches.collect()
}

fn kill(processes: Vec<HomeProcess>) {
    for process in processes {
        // The process may have exited since it was listed.
        let _ = crate::loopgate::signal(process.pid, "KILL");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::home::UserHome;

    #[tokio::test]
    async fn processes_of_the_home_are_found_and_killed() {
        let home = UserHome::temporary().unwrap();
        let mut command = home.command("cat");
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pid = child.id().unwrap();
        // Between fork and exec, /proc shows the environment of the test. One echoed byte proves that exec
        // has happened.
        child.stdin.as_mut().unwrap().write_all(b"x").await.unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).await.unwrap();
        assert_eq!(processes(home.path()), [HomeProcess { pid, command: "cat".to_owned() }]);
        end(home.path());
        assert!(!child.wait().await.unwrap().success());
        assert_eq!(processes(home.path()), []);
    }
}
