//! The few questions that driver and plan tools ask git; an unanswered one is simply unknown.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use loopgate_api::held_back::GENERATED_DIRECTORIES;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::loop_run::child::Invocation;

/// How long git may take to answer.
const LIMIT: Duration = Duration::from_secs(5);
/// How long git may take to read a whole working tree.
const TREE_LIMIT: Duration = Duration::from_mins(1);
/// Longest answer that is read.
const ANSWER_CAP: usize = 4 * 1024 * 1024;

/// Asks in one directory.
#[derive(Debug, Clone)]
pub struct ProjectGit<'a> {
    dir: &'a Path,
    env: &'a BTreeMap<OsString, OsString>,
    stop: &'a CancellationToken,
}

impl<'a> ProjectGit<'a> {
    /// For a directory inside a repository, or not.
    pub const fn at(
        dir: &'a Path,
        env: &'a BTreeMap<OsString, OsString>,
        stop: &'a CancellationToken,
    ) -> Self {
        Self { dir, env, stop }
    }

    /// Commit that is checked out.
    pub async fn head(&self) -> Option<String> {
        self.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await
    }

    /// Branch that is checked out.
    pub async fn branch(&self) -> Option<String> {
        self.ask(&["rev-parse", "--abbrev-ref", "HEAD"]).await
    }

    /// URL of the remote `origin`.
    pub async fn origin(&self) -> Option<String> {
        self.ask(&["config", "--get", "remote.origin.url"]).await
    }

    /// Tracked files that differ from a commit: committed since, changed or staged; sorted.
    pub async fn changed_since(&self, sha: &str) -> Option<Vec<String>> {
        let mut files = std::collections::BTreeSet::new();
        for range in [&[sha, "HEAD"][..], &["HEAD"], &["--cached"]] {
            let args: Vec<&str> = ["diff", "--name-only", "-z"].iter().chain(range).copied().collect();
            let names = self.ask(&args).await?;
            files.extend(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned));
        }
        Some(files.into_iter().collect())
    }

    /// Id of a git tree with the files as they are now: tracked or not, without those that git ignores and
    /// without directories that programs fill. Index, branch and files of the project stay as they are.
    pub async fn snapshot(&self) -> Option<String> {
        let index = tempfile::NamedTempFile::new().ok()?;
        let current = self.ask(&["rev-parse", "--path-format=absolute", "--git-path", "index"]).await?;
        // Without an index there is nothing in it; git takes an absent file, not an empty one.
        if std::fs::copy(&current, index.path()).is_err() {
            std::fs::remove_file(index.path()).ok()?;
        }
        let mut env = self.env.clone();
        env.insert("GIT_INDEX_FILE".into(), index.path().into());
        let git = ProjectGit { dir: self.dir, env: &env, stop: self.stop };
        let excluded: Vec<String> =
            GENERATED_DIRECTORIES.iter().map(|name| format!(":(top,exclude,glob)**/{name}/**")).collect();
        let mut add = vec!["-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", ":/"];
        add.extend(excluded.iter().map(String::as_str));
        git.ask_within(&add, TREE_LIMIT).await?;
        git.ask_within(&["write-tree"], TREE_LIMIT).await
    }

    /// What differs between two trees: a line a file, its status letter and a tabulator before its path.
    pub async fn changed_between(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let names = self.ask(&["diff", "--name-status", "--no-renames", from, to]).await?;
        Some(names.lines().map(str::to_owned).collect())
    }

    /// The patch between two trees.
    pub async fn patch_between(&self, from: &str, to: &str) -> Option<String> {
        self.ask_within(&["diff", "--no-ext-diff", "--no-color", from, to], TREE_LIMIT).await
    }

    /// How many files differ from a commit, those included that git does not track; `None` without a commit.
    pub async fn count_changed_since(&self, sha: &str) -> Option<u64> {
        let tree = if sha.is_empty() { None } else { self.snapshot().await }?;
        Some(self.changed_between(sha, &tree).await?.len() as u64)
    }

    async fn ask(&self, args: &[&str]) -> Option<String> {
        self.ask_within(args, LIMIT).await
    }

    async fn ask_within(&self, args: &[&str], limit: Duration) -> Option<String> {
        let invocation = Invocation {
            program: "git".into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: self.dir.to_owned(),
            env: self.env.clone(),
            limit,
        };
        let bytes = invocation.capture(self.stop, ANSWER_CAP).await?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }
}

/// Asks git from a command that has no async runtime.
pub struct BlockingGit {
    env: BTreeMap<OsString, OsString>,
    stop: CancellationToken,
    runtime: Runtime,
}

impl BlockingGit {
    /// With the environment of this process.
    ///
    /// # Errors
    /// The line to print when the system refuses a runtime.
    pub fn new() -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("Error: cannot start git: {error}"))?;
        Ok(Self { env: std::env::vars_os().collect(), stop: CancellationToken::new(), runtime })
    }

    /// See [`ProjectGit::head`].
    pub fn head(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).head())
    }

    /// See [`ProjectGit::branch`].
    pub fn branch(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).branch())
    }

    /// See [`ProjectGit::origin`].
    pub fn origin(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).origin())
    }

    /// See [`ProjectGit::snapshot`].
    pub fn snapshot(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).snapshot())
    }

    /// See [`ProjectGit::changed_between`].
    pub fn changed_between(&self, dir: &Path, from: &str, to: &str) -> Option<Vec<String>> {
        self.runtime.block_on(self.at(dir).changed_between(from, to))
    }

    /// See [`ProjectGit::patch_between`].
    pub fn patch_between(&self, dir: &Path, from: &str, to: &str) -> Option<String> {
        self.runtime.block_on(self.at(dir).patch_between(from, to))
    }

    const fn at<'a>(&'a self, dir: &'a Path) -> ProjectGit<'a> {
        ProjectGit::at(dir, &self.env, &self.stop)
    }
}
