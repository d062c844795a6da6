//! What a Loopgate of a testbed left running: loops outlive it by design, a testbed does not.
//!
//! Processes are known by the home in their environment. Linux only: elsewhere none is found, and
//! they end by themselves when their servers are gone.

use std::path::Path;

/// A process that belongs to a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeProcess {
    /// Its id.
    pub pid: u32,
    /// Its command line, words joined by blanks.
    pub command: String,
}

/// Every living process whose environment names this home as its own.
#[must_use]
pub fn processes(home: &Path) -> Vec<HomeProcess> {
    let mark = format!("HOME={}", home.display());
    others(|pid, _| {
        // A process that has ended but was not waited for has an empty environment.
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    })
}

/// Kills all of them.
pub fn end(home: &Path) {
    kill(processes(home));
}

/// Kills every process whose command line names something below a directory.
pub fn end_below(directory: &Path) {
    let below = format!("{}/", directory.display());
    kill(others(|_, command| command.contains(&below)));
}

/// Living processes besides this one, by their ids and command lines.
fn others(wanted: impl Fn(u32, &str) -> bool) -> Vec<HomeProcess> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let found = pids.filter(|pid| *pid != std::process::id()).filter_map(|pid| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ").trim_end().to_owned();
        wanted(pid, &command).then_some(HomeProcess { pid, command })
    });
    found.collect()
}

fn kill(processes: Vec<HomeProcess>) {
    for process in processes {
        // It may have ended meanwhile.
        let _ = crate::loopgate::signal(process.pid, "KILL");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::home::UserHome;

    #[tokio::test]
    async fn process_of_the_home_is_found_and_ended() {
        let home = UserHome::temporary().unwrap();
        let mut command = home.command("cat");
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pid = child.id().unwrap();
        // Until the program is loaded, its environment is still the test's.
        child.stdin.as_mut().unwrap().write_all(b"x").await.unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).await.unwrap();
        assert_eq!(processes(home.path()), [HomeProcess { pid, command: "cat".to_owned() }]);
        end(home.path());
        assert!(!child.wait().await.unwrap().success());
        assert_eq!(processes(home.path()), []);
    }
}
