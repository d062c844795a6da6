//! The few questions that the driver asks git; an unanswered one is simply unknown.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::child::Invocation;

/// How long git may take to answer.
const LIMIT: Duration = Duration::from_secs(5);
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

    async fn ask(&self, args: &[&str]) -> Option<String> {
        let invocation = Invocation {
            program: "git".into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: self.dir.to_owned(),
            env: self.env.clone(),
            limit: LIMIT,
        };
        let bytes = invocation.capture(self.stop, ANSWER_CAP).await?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }
}
