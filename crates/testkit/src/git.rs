//! Bare git repositories that act as the code host's remotes.
//!
//! A root folder contains `<owner>/<name>.git`. Programs reach them through the ssh command and the URL
//! rewriting that [`crate::home::UserHome`] configures, so remotes keep the code host's URLs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use tempfile::TempDir;

/// A folder of bare repositories. A temporary one is removed when its last clone is dropped.
#[derive(Debug, Clone)]
pub struct GitRemotes {
    root: PathBuf,
    _temporary: Option<Arc<TempDir>>,
}

/// A commit of a bare repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub sha: String,
    /// Subject line of the message.
    pub subject: String,
    /// Message with subject and body.
    pub message: String,
    pub author: String,
    /// Email address of the author.
    pub email: String,
    /// Committer date in ISO 8601.
    pub date: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: String,
    /// Path before a rename or copy.
    pub previous: Option<String>,
    /// `added`, `modified`, `removed`, `renamed` or `copied`.
    pub status: &'static str,
    pub additions: u64,
    pub deletions: u64,
}

impl GitRemotes {
    /// Creates a temporary folder.
    pub fn temporary() -> anyhow::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("loopgate-remotes-").tempdir()?;
        // On macOS, the temporary directory is below a symlink.
        let root = temporary.path().canonicalize()?;
        Ok(Self { root, _temporary: Some(Arc::new(temporary)) })
    }

    /// Opens or creates a folder that is not removed.
    pub fn at(root: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(root)?;
        Ok(Self { root: root.canonicalize()?, _temporary: None })
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of the bare repository of `<owner>/<name>`.
    #[must_use]
    pub fn bare(&self, full_name: &str) -> PathBuf {
        self.root.join(format!("{full_name}.git"))
    }

    /// Returns the URL of the repository at the code host, as configured in clones.
    #[must_use]
    pub fn url(full_name: &str) -> String {
        format!("git@github.com:{full_name}.git")
    }

    /// Creates a repository whose branch `main` has one commit with these files. Fails when it exists
    /// already.
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

    /// Creates a fork: a repository with the branches and commits of another one.
    pub fn fork(&self, full_name: &str, fork: &str) -> anyhow::Result<PathBuf> {
        let bare = self.bare(fork);
        let parent = bare.parent().context("the bare repository has no parent directory")?;
        std::fs::create_dir_all(parent)?;
        let (from, to) = (self.bare(full_name), bare.to_string_lossy().into_owned());
        git(parent, &["clone", "--quiet", "--bare", &from.to_string_lossy(), &to])?;
        Ok(bare)
    }

    /// Adds a commit to a branch, which is created from `main` if it does not exist. Returns the commit's
    /// hash.
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
        // A bare repository has no working tree: commit in a temporary clone and push.
        git(dir, &["clone", "--quiet", &bare.to_string_lossy(), "."])?;
        let branch_tip = git(dir, &["rev-parse", "--verify", "--quiet", &format!("origin/{branch}")]);
        match branch_tip {
            // An existing branch is continued, a new one starts at the clone's HEAD.
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
        // Tests also add empty commits, to move a branch without changing files.
        git(dir, &["commit", "--quiet", "--allow-empty", "-m", message])?;
        git(dir, &["push", "--quiet", "origin", &format!("HEAD:{branch}")])?;
        Ok(git(dir, &["rev-parse", "HEAD"])?.trim().to_owned())
    }

    /// Maps each branch to the hash of its tip.
    pub fn branches(&self, full_name: &str) -> anyhow::Result<BTreeMap<String, String>> {
        let format = "--format=%(refname:short) %(objectname)";
        let out = git(&self.bare(full_name), &["for-each-ref", format, "refs/heads"])?;
        Ok(out
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, sha)| (name.to_owned(), sha.to_owned()))
            .collect())
    }

    /// Returns the commits of `head` that are not in `base`, oldest first.
    pub fn commits(&self, full_name: &str, base: &str, head: &str) -> anyhow::Result<Vec<Commit>> {
        let range = format!("{base}..{head}");
        // ASCII unit and record separators: messages may contain every printable character and newlines.
        // `%B` may span lines, so records are separated by %x1e instead of newlines.
        let format = "--format=%H%x1f%s%x1f%B%x1f%an%x1f%ae%x1f%cI%x1e";
        let out = git(&self.bare(full_name), &["log", "--reverse", format, &range, "--"])?;
        Ok(out.split('\u{1e}').filter_map(parse_commit).collect())
    }

    /// Returns the files that differ between the merge base and `head`.
    pub fn changes(&self, full_name: &str, base: &str, head: &str) -> anyhow::Result<Vec<FileChange>> {
        let range = format!("{base}...{head}");
        let bare = self.bare(full_name);
        let names = git(&bare, &["diff", "--name-status", "-M", "-z", &range, "--"])?;
        // With rename detection, `--numstat` prints `{old => new}` paths, which would not match the names
        // above.
        let counts = git(&bare, &["diff", "--numstat", "--no-renames", &range, "--"])?;
        let mut changes = parse_names(&names);
        for change in &mut changes {
            let count = counts.lines().find(|line| line.split('\t').nth(2) == Some(change.path.as_str()));
            let mut numbers = count.unwrap_or_default().split('\t').map(|n| n.parse().unwrap_or(0));
            change.additions = numbers.next().unwrap_or(0);
            change.deletions = numbers.next().unwrap_or(0);
        }
        Ok(changes)
    }

    /// Returns the diff between the merge base and `head`.
    pub fn patch(&self, full_name: &str, base: &str, head: &str) -> anyhow::Result<String> {
        git(&self.bare(full_name), &["diff", "-M", &format!("{base}...{head}"), "--"])
    }

    /// Returns the hunks of a file in that diff; `None` for a binary file.
    pub fn hunks(
        &self,
        full_name: &str,
        base: &str,
        head: &str,
        path: &str,
    ) -> anyhow::Result<Option<String>> {
        let range = format!("{base}...{head}");
        let args = ["--literal-pathspecs", "diff", "--no-renames", &range, "--", path];
        let patch = git(&self.bare(full_name), &args)?;
        Ok(patch.find("\n@@ ").map(|at| patch[at + 1..].trim_end().to_owned()))
    }

    /// Returns whether a branch can be merged into another one without conflicts.
    #[must_use]
    pub fn merges_cleanly(&self, full_name: &str, base: &str, head: &str) -> bool {
        git(&self.bare(full_name), &["merge-tree", "--write-tree", base, head]).is_ok()
    }

    /// Adds the commits of a ref to a branch in the way of a merge method, `merge`, `squash` or `rebase`. Fails on
    /// conflicts. Returns the previous commit of the branch.
    pub fn merge(
        &self,
        full_name: &str,
        (head, branch): (&str, &str),
        method: &str,
        message: &str,
    ) -> anyhow::Result<String> {
        let work = tempfile::tempdir()?;
        let (dir, bare) = (work.path(), self.bare(full_name));
        git(dir, &["clone", "--quiet", "--no-checkout", &bare.to_string_lossy(), "."])?;
        git(dir, &["fetch", "--quiet", "origin", head])?;
        let onto = format!("origin/{branch}");
        let before = git(dir, &["rev-parse", &onto])?.trim().to_owned();
        match method {
            "squash" => {
                git(dir, &["checkout", "--quiet", "--detach", &onto])?;
                git(dir, &["merge", "--quiet", "--squash", "FETCH_HEAD"])?;
                git(dir, &["commit", "--quiet", "-m", message])?;
            }
            "rebase" => {
                git(dir, &["checkout", "--quiet", "--detach", "FETCH_HEAD"])?;
                git(dir, &["rebase", "--quiet", &onto])?;
            }
            _ => {
                git(dir, &["checkout", "--quiet", "--detach", &onto])?;
                git(dir, &["merge", "--quiet", "--no-ff", "-m", message, "FETCH_HEAD"])?;
            }
        }
        git(dir, &["push", "--quiet", "origin", &format!("HEAD:refs/heads/{branch}")])?;
        Ok(before)
    }

    /// Returns the text of a file on a branch.
    pub fn file(&self, full_name: &str, branch: &str, path: &str) -> anyhow::Result<String> {
        git(&self.bare(full_name), &["show", &format!("{branch}:{path}")])
    }

    /// Clones a repository and sets `origin` to the code host's URL.
    pub fn clone_to(&self, full_name: &str, folder: &Path) -> anyhow::Result<()> {
        let parent = folder.parent().context("the folder to clone into has no parent")?;
        std::fs::create_dir_all(parent)?;
        // Cloned by path: `git` ignores the home's configuration, which redirects the code host's URL.
        git(
            parent,
            &["clone", "--quiet", &self.bare(full_name).to_string_lossy(), &folder.to_string_lossy()],
        )?;
        git(folder, &["remote", "set-url", "origin", &Self::url(full_name)])?;
        Ok(())
    }
}

/// Runs git with a fixed identity and without the user's and the system's configuration. Returns its standard
/// output; the error contains its standard error.
pub fn git(dir: &Path, args: &[&str]) -> anyhow::Result<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "prepares a test independently of the product's git runner"
    )]
    let output = Command::new("git")
        .args(args)
        .current_dir(dir)
        // The developer's configuration may sign commits or install hooks.
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
        // Renames and copies have two paths in `-z` output: the source first.
        let previous = if matches!(status, "renamed" | "copied") { fields.next() } else { None };
        let Some(path) = fields.next() else { break };
        changes.push(FileChange { path, previous, status, additions: 0, deletions: 0 });
    }
    changes
}
