//! Malicious repositories: none of their programs run, no file outside of the sandbox is read or changed, no
//! request hangs, and memory stays bounded.

mod loops;
mod requests;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;

use crate::test_gateway::write;

/// Content of all files that must not be read.
const SECRET: &str = "SECRET-OF-ANOTHER-PLACE";
/// Upper bound of the peak memory in KiB. The largest inputs would exceed it if they were read completely.
const MAX_MEMORY_KIB: u64 = 200 * 1024;

/// Files outside of the sandbox, and a program that records its execution.
struct OutsideFiles {
    directory: PathBuf,
    mark_directory: PathBuf,
    before: BTreeMap<PathBuf, (u64, Vec<u8>)>,
}

impl OutsideFiles {
    /// Creates a repository with a secret outside of the sandbox. The home is a repository as well, so that a
    /// search upwards for `.git` would find it.
    fn create(home: &UserHome) -> Result<Self> {
        let (directory, mark_directory) = (home.path().join("outside"), home.path().join("marks"));
        let mark = mark_directory.join("mark");
        write(&mark, format!("#!/bin/sh\n: > '{}'/ran-\"$1\"\nexec cat\n", mark_directory.display()))?;
        std::fs::set_permissions(&mark, std::fs::Permissions::from_mode(0o755))?;
        let repository = directory.join("repository");
        write(&repository.join("secret"), SECRET)?;
        for directory in [repository.as_path(), home.path()] {
            git(directory, &["init", "--quiet", "--initial-branch=main"])?;
        }
        git(&repository, &["add", "--all"])?;
        git(&repository, &["commit", "--quiet", "-m", SECRET])?;
        write(&repository.join("secret"), format!("{SECRET} changed"))?;
        git(home.path(), &["commit", "--quiet", "--allow-empty", "-m", SECRET])?;
        let mut outside = Self { directory, mark_directory, before: BTreeMap::new() };
        outside.before = outside.files(home)?;
        Ok(outside)
    }

    fn secret(&self) -> PathBuf {
        self.directory.join("repository/secret")
    }

    fn mark(&self) -> PathBuf {
        self.mark_directory.join("mark")
    }

    fn files(&self, home: &UserHome) -> Result<BTreeMap<PathBuf, (u64, Vec<u8>)>> {
        let mut files = BTreeMap::new();
        let mut pending = vec![self.directory.clone(), home.path().join(".git")];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(directory)? {
                let path = entry?.path();
                let metadata = path.symlink_metadata()?;
                if metadata.is_dir() {
                    pending.push(path);
                } else {
                    files.insert(path.clone(), (metadata.ino(), std::fs::read(&path)?));
                }
            }
        }
        Ok(files)
    }

    /// Checks that the program did not run and that no file outside has changed.
    fn is_untouched(&self, home: &UserHome) -> Result<()> {
        let ran: Vec<_> =
            std::fs::read_dir(&self.mark_directory)?.flatten().map(|entry| entry.file_name()).collect();
        ensure!(ran == ["mark"], "programs ran: {ran:?}");
        let now = self.files(home)?;
        let changed: Vec<_> = now
            .iter()
            .filter(|(path, file)| self.before.get(*path) != Some(file))
            .map(|(path, _)| path)
            .collect();
        ensure!(changed.is_empty() && now.len() == self.before.len(), "changed outside: {changed:?}");
        Ok(())
    }
}

/// Returns the peak resident memory of a process in KiB.
fn peak_memory_kib(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Creates a malicious repository by its script.
async fn create(home: &UserHome, outside: &OutsideFiles, script: &Path, repository: &Path) -> Result<()> {
    std::fs::create_dir_all(repository)?;
    let prelude = script.with_file_name("prelude.sh");
    let output = home
        .command("sh")
        .args(["-c", ". \"$0\"; . \"$1\""])
        .args([&prelude, script])
        .current_dir(repository)
        .env("MARK", outside.mark())
        .env("OUTSIDE", &outside.directory)
        .output()
        .await?;
    ensure!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
    Ok(())
}
