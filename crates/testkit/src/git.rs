//! Bare git repositories that are where the code host keeps its own.
//!
//! One folder holds `<owner>/<name>.git`. Programs reach them through the ssh command and the URL
//! rewriting that [`crate::home::UserHome`] sets up, so remotes keep the code host's own URLs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use tempfile::TempDir;

/// A folder of bare repositories. Clones share it; it is removed with the last one.
#[derive(Debug, Clone)]
pub struct GitRemotes {
    root: PathBuf,
    /// Holds a throw-away folder for as long as somebody uses it.
    _temporary: Option<Arc<TempDir>>,
}

/// A commit as a test looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Full hash.
    pub sha: String,
    /// First line of the message.
    pub subject: String,
    /// The whole message.
    pub message: String,
    /// Author's name.
    pub author: String,
    /// Author's address.
    pub email: String,
    /// Committer's date, ISO 8601.
    pub date: String,
}

/// A changed file between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Path in the newer commit.
    pub path: String,
    /// Path before a rename.
    pub previous: Option<String>,
    /// `added`, `modified`, `removed`, `renamed` or `copied`.
    pub status: &'static str,
    /// Added lines.
    pub additions: u64,
    /// Removed lines.
    pub deletions: u64,
}

impl GitRemotes {
    /// A throw-away folder.
    ///
    /// # Errors
    /// When no temporary directory can be made.
    pub fn temporary() -> anyhow::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("loopgate-remotes-").tempdir()?;
        let root = temporary.path().canonicalize()?;
        Ok(Self { root, _temporary: Some(Arc::new(temporary)) })
    }

    /// A folder that stays.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn at(root: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(root)?;
        Ok(Self { root: root.canonicalize()?, _temporary: None })
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The bare repository of `<owner>/<name>`.
    #[must_use]
    pub fn bare(&self, full_name: &str) -> PathBuf {
        self.root.join(format!("{full_name}.git"))
    }

    /// The URL by which programs clone it.
    #[must_use]
    pub fn url(full_name: &str) -> String {
        format!("git@github.com:{full_name}.git")
    }

    /// Makes a repository whose branch `main` holds these files in one commit.
    ///
    /// # Errors
    /// When it exists already, or git refuses.
    pub fn create(&self, full_name: &str, files: &[(&str, &str)]) -> anyhow::Result<PathBuf> {
        let bare = self.bare(full_name);
        if bare.exists() {
            bail!("{full_name} exists already");
        }
        std::fs::create_dir_all(&bare)?;
        git(&bare, &["init", "--quiet", "--bare", "--initial-branch=main", "."])?;
        self.commit(full_name, "main", "Begin", files)?;
        Ok(bare)
    }

    /// Adds a commit to a branch, which starts at `main` when it is new. Answers the commit's hash.
    ///
    /// # Errors
    /// When git refuses.
    pub fn commit(
        &self,
        full_name: &str,
        branch: &str,
        message: &str,
        files: &[(&str, &str)],
    ) -> anyhow::Result<String> {
        let work = tempfile::tempdir()?;
        let bare = self.bare(full_name);
        let dir = work.path();
        git(dir, &["clone", "--quiet", &bare.to_string_lossy(), "."])?;
        let known = git(dir, &["rev-parse", "--verify", "--quiet", &format!("origin/{branch}")]);
        match known {
            Ok(_) => git(dir, &["checkout", "--quiet", "-B", branch, &format!("origin/{branch}")])?,
            Err(_) => git(dir, &["checkout", "--quiet", "-B", branch])?,
        };
        for (path, content) in files {
            let path = dir.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, content)?;
        }
        git(dir, &["add", "--all"])?;
        git(dir, &["commit", "--quiet", "--allow-empty", "-m", message])?;
        git(dir, &["push", "--quiet", "origin", &format!("HEAD:{branch}")])?;
        Ok(git(dir, &["rev-parse", "HEAD"])?.trim().to_owned())
    }

    /// Branches and the commits that they point at.
    ///
    /// # Errors
    /// When the repository does not exist.
    pub fn branches(&self, full_name: &str) -> anyhow::Result<BTreeMap<String, String>> {
        let format = "--format=%(refname:short) %(objectname)";
        let out = git(&self.bare(full_name), &["for-each-ref", format, "refs/heads"])?;
        Ok(out
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, sha)| (name.to_owned(), sha.to_owned()))
            .collect())
    }

    /// Commits of `head` that `base` lacks, oldest first.
    ///
    /// # Errors
    /// When one of the two does not exist.
    pub fn commits(&self, full_name: &str, base: &str, head: &str) -> anyhow::Result<Vec<Commit>> {
        let range = format!("{base}..{head}");
        let format = "--format=%H%x1f%s%x1f%B%x1f%an%x1f%ae%x1f%cI%x1e";
        let out = git(&self.bare(full_name), &["log", "--reverse", format, &range, "--"])?;
        Ok(out.split('\u{1e}').filter_map(parse_commit).collect())
    }

    /// Files that differ between the merge base of both and `head`.
    ///
    /// # Errors
    /// When one of the two does not exist.
    pub fn changes(&self, full_name: &str, base: &str, head: &str) -> anyhow::Result<Vec<FileChange>> {
        let range = format!("{base}...{head}");
        let bare = self.bare(full_name);
        let names = git(&bare, &["diff", "--name-status", "-M", "-z", &range, "--"])?;
        let counts = git(&bare, &["diff", "--numstat", "--no-renames", &range, "--"])?;
        let mut changes = parse_names(&names);
        for change in &mut changes {
            let counted = counts.lines().find(|line| line.split('\t').nth(2) == Some(change.path.as_str()));
            let mut numbers = counted.unwrap_or_default().split('\t').map(|n| n.parse().unwrap_or(0));
            change.additions = numbers.next().unwrap_or(0);
            change.deletions = numbers.next().unwrap_or(0);
        }
        Ok(changes)
    }

    /// The changes between the merge base of both and `head`, as a patch.
    ///
    /// # Errors
    /// When one of the two does not exist.
    pub fn patch(&self, full_name: &str, base: &str, head: &str) -> anyhow::Result<String> {
        git(&self.bare(full_name), &["diff", "-M", &format!("{base}...{head}"), "--"])
    }

    /// The text of a file on a branch.
    ///
    /// # Errors
    /// When branch or file do not exist.
    pub fn file(&self, full_name: &str, branch: &str, path: &str) -> anyhow::Result<String> {
        git(&self.bare(full_name), &["show", &format!("{branch}:{path}")])
    }

    /// Clones a repository to a folder, with the remote URL that programs expect.
    ///
    /// # Errors
    /// When git refuses.
    pub fn clone_to(&self, full_name: &str, folder: &Path) -> anyhow::Result<()> {
        let parent = folder.parent().context("a folder to clone into has a parent")?;
        std::fs::create_dir_all(parent)?;
        git(
            parent,
            &["clone", "--quiet", &self.bare(full_name).to_string_lossy(), &folder.to_string_lossy()],
        )?;
        git(folder, &["remote", "set-url", "origin", &Self::url(full_name)])?;
        Ok(())
    }
}

/// Runs git with an identity and without the machine's settings; answers its standard output.
///
/// # Errors
/// When git is missing or exits with an error; the text holds what it printed.
pub fn git(dir: &Path, args: &[&str]) -> anyhow::Result<String> {
    #[expect(clippy::disallowed_methods, reason = "prepares a test; the product's runner is what is tested")]
    let output = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .envs([("GIT_AUTHOR_NAME", "Sam Sample"), ("GIT_AUTHOR_EMAIL", "sam@example.com")])
        .envs([("GIT_COMMITTER_NAME", "Sam Sample"), ("GIT_COMMITTER_EMAIL", "sam@example.com")])
        .stdin(Stdio::null())
        .output()
        .context("start git")?;
    if !output.status.success() {
        bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn parse_commit(record: &str) -> Option<Commit> {
    let mut fields = record.trim_start_matches('\n').split('\u{1f}').map(str::to_owned);
    Some(Commit {
        sha: fields.next().filter(|sha| !sha.is_empty())?,
        subject: fields.next()?,
        message: fields.next()?.trim_end().to_owned(),
        author: fields.next()?,
        email: fields.next()?,
        date: fields.next()?,
    })
}

fn parse_names(listing: &str) -> Vec<FileChange> {
    let mut fields = listing.split('\0').filter(|field| !field.is_empty()).map(str::to_owned);
    let mut changes = Vec::new();
    while let Some(letter) = fields.next() {
        let status = match letter.chars().next() {
            Some('A') => "added",
            Some('D') => "removed",
            Some('R') => "renamed",
            Some('C') => "copied",
            _ => "modified",
        };
        let previous = if matches!(status, "renamed" | "copied") { fields.next() } else { None };
        let Some(path) = fields.next() else { break };
        changes.push(FileChange { path, previous, status, additions: 0, deletions: 0 });
    }
    changes
}
