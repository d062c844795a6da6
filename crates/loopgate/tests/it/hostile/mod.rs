//! Repositories that a person cloned and that mean harm: nothing of them runs, nothing outside of the
//! sandbox is read or changed, nothing hangs, and nothing takes the memory.

mod loops;
mod requests;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;

use crate::local::write;

/// Stands in every file that must not be read.
const SECRET: &str = "SECRET-OF-ANOTHER-PLACE";
/// Kilobytes that the program may have taken at its largest.
const MAX_MEMORY_KB: u64 = 200 * 1024;

/// What surrounds the sandbox, and the program that must not run.
struct Surroundings {
    directory: PathBuf,
    marks: PathBuf,
    before: BTreeMap<PathBuf, (u64, Vec<u8>)>,
}

impl Surroundings {
    /// A repository with a secret beside the sandbox. The home around both is a repository as well.
    fn make(home: &UserHome) -> Result<Self> {
        let (directory, marks) = (home.path().join("outside"), home.path().join("marks"));
        let mark = marks.join("mark");
        write(&mark, format!("#!/bin/sh\n: > '{}'/ran-\"$1\"\nexec cat\n", marks.display()))?;
        std::fs::set_permissions(&mark, std::fs::Permissions::from_mode(0o755))?;
        let repository = directory.join("repository");
        write(&repository.join("secret"), SECRET)?;
        for place in [repository.as_path(), home.path()] {
            git(place, &["init", "--quiet", "--initial-branch=main"])?;
        }
        git(&repository, &["add", "--all"])?;
        git(&repository, &["commit", "--quiet", "-m", SECRET])?;
        write(&repository.join("secret"), format!("{SECRET} changed"))?;
        git(home.path(), &["commit", "--quiet", "--allow-empty", "-m", SECRET])?;
        let mut outside = Self { directory, marks, before: BTreeMap::new() };
        outside.before = outside.files(home)?;
        Ok(outside)
    }

    fn mark(&self) -> PathBuf {
        self.marks.join("mark")
    }

    fn files(&self, home: &UserHome) -> Result<BTreeMap<PathBuf, (u64, Vec<u8>)>> {
        let mut files = BTreeMap::new();
        let mut waiting = vec![self.directory.clone(), home.path().join(".git")];
        while let Some(directory) = waiting.pop() {
            for entry in std::fs::read_dir(directory)? {
                let path = entry?.path();
                let metadata = path.symlink_metadata()?;
                if metadata.is_dir() {
                    waiting.push(path);
                } else {
                    files.insert(path.clone(), (metadata.ino(), std::fs::read(&path)?));
                }
            }
        }
        Ok(files)
    }

    /// Whether nothing ran, and nothing outside has changed.
    fn is_untouched(&self, home: &UserHome) -> Result<()> {
        let ran: Vec<_> = std::fs::read_dir(&self.marks)?.flatten().map(|entry| entry.file_name()).collect();
        ensure!(ran == ["mark"], "it ran: {ran:?}");
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

/// Kilobytes of memory that a process has taken at its largest.
fn most_memory_kb(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("its memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Makes one of the hostile repositories.
async fn make(home: &UserHome, outside: &Surroundings, script: &Path, repository: &Path) -> Result<()> {
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
