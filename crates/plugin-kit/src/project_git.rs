//! Git queries of the driver and the plan commands. A failed query returns `None`, which means unknown.
//!
//! Trees are compared with `git diff-tree`, which, unlike `git diff`, follows no configuration for the display of
//! differences and starts no programs for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::held_back::{GENERATED_DIRECTORIES, generated_directory};
use loopgate_home::{Remotes, parse_config_list};
use loopgate_tools::process::Output;
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::loop_run::child::Invocation;

/// Time limit of a query on the repository's metadata.
const QUERY_LIMIT: Duration = Duration::from_secs(5);
/// Time limit of a query that reads the whole working tree.
const TREE_LIMIT: Duration = Duration::from_mins(1);
/// Maximum number of files on one command line, far below the limits of the operating systems.
const MAX_ARGUMENTS: usize = 500;
/// Upper bound of an answer in bytes.
const ANSWER_CAP: usize = 4 * 1024 * 1024;

/// Comparison of two trees, with the few options that `git diff-tree` reads from the configuration.
const COMPARE: [&str; 9] = [
    "-c",
    "core.abbrev=auto",
    "-c",
    "core.quotePath=true",
    "-c",
    "diff.suppressBlankEmpty=false",
    "diff-tree",
    "-r",
    "--ignore-submodules=none",
];
/// `minimal` compares seconds, but git decides by nanoseconds whether the index may be out of date: a change of equal
/// size in the second of the last one would be missed.
const EXACT: [&str; 2] = ["-c", "core.checkStat=default"];
/// Maximum number of commits that a query lists.
const MAX_COMMITS: usize = 50;

/// Time limit and largest output of the comparison that a code review reads.
const CHANGE_LIMIT: Duration = Duration::from_mins(2);
const CHANGE_CAP: usize = 64 * 1024 * 1024;
/// The parts of a change that a code review reads. Without the user's tools and the settings of attributes for display.
const CHANGE: [&str; 11] = [
    "-r",
    "-z",
    "--raw",
    "--numstat",
    "--patch",
    "--find-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// Branches that changes are usually compared with, for a repository whose remote names none.
const USUAL_BASES: [&str; 4] = ["origin/main", "origin/master", "main", "master"];

/// The newer side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeSide {
    /// The files that the next commit contains.
    Index,
    /// The files of a tree.
    Tree(String),
}

/// A stash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StashEntry {
    pub commit: String,
    /// Commit that was checked out when it was created.
    pub base: String,
    /// Message, by default with the branch: `WIP on <branch>: …` or `On <branch>: …`.
    pub subject: String,
}

/// A value in the configuration of git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSetting {
    /// Name in lower case.
    pub name: String,
    pub value: String,
    /// Whether the repository sets it, and not the user or the system.
    pub is_of_repository: bool,
}

/// Ids of trees, by the directory of their repository.
pub type Trees = BTreeMap<PathBuf, String>;

/// Git queries in one directory.
#[derive(Debug, Clone)]
pub struct ProjectGit<'a> {
    dir: &'a Path,
    env: &'a BTreeMap<OsString, OsString>,
    stop: &'a CancellationToken,
}

impl<'a> ProjectGit<'a> {
    /// Creates queries for a directory, which may be outside any repository.
    pub const fn at(
        dir: &'a Path,
        env: &'a BTreeMap<OsString, OsString>,
        stop: &'a CancellationToken,
    ) -> Self {
        Self { dir, env, stop }
    }

    /// Returns the commit that is checked out.
    pub async fn head(&self) -> Option<String> {
        self.query(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await
    }

    /// Returns the branch that is checked out.
    pub async fn branch(&self) -> Option<String> {
        self.query(&["rev-parse", "--abbrev-ref", "HEAD"]).await
    }

    /// Returns the full name of the branch that is checked out. `None` for a detached HEAD.
    pub async fn branch_ref(&self) -> Option<String> {
        self.query(&["symbolic-ref", "--quiet", "HEAD"]).await
    }

    /// Returns whether the history of a reference contains a commit.
    pub async fn contains(&self, reference: &str, commit: &str) -> bool {
        self.query(&["merge-base", "--is-ancestor", commit, reference]).await.is_some()
    }

    /// Returns the commits of another history that HEAD has neither itself nor as a commit with the same changes, newest
    /// first and without merges.
    pub async fn missing_commits(&self, other: &str) -> Option<Vec<String>> {
        let listed = self.query_within(&["cherry", "HEAD", other], TREE_LIMIT).await?;
        let missing = listed.lines().rev().filter_map(|line| line.strip_prefix("+ "));
        Some(missing.take(MAX_COMMITS).map(str::to_owned).collect())
    }

    /// Returns the stashes of the clone, newest first.
    pub async fn stashes(&self) -> Option<Vec<StashEntry>> {
        let args = ["stash", "list", "--no-show-signature", "--format=%H %P%x00%gs"];
        let listed = self.query(&args).await?;
        let stash = |line: &str| {
            let (commits, subject) = line.split_once('\0')?;
            let mut commits = commits.split(' ');
            let (commit, base) = (commits.next()?.to_owned(), commits.next()?.to_owned());
            Some(StashEntry { commit, base, subject: subject.to_owned() })
        };
        Some(listed.lines().filter_map(stash).collect())
    }

    /// Returns the values of these settings, and of all aliases. `None` also if there are none.
    pub async fn settings(&self, names: &[&str]) -> Option<Vec<GitSetting>> {
        let pattern = format!("^({}|alias\\..*)$", names.join("|").replace('.', "\\."));
        let listed = self.query(&["config", "--null", "--show-scope", "--get-regexp", &pattern]).await?;
        let fields: Vec<&str> = listed.split('\0').collect();
        let settings = fields.chunks_exact(2).filter(|fields| fields[0] != "command").map(|fields| {
            let (name, value) = fields[1].split_once('\n').unwrap_or((fields[1], ""));
            GitSetting {
                name: name.to_owned(),
                value: value.to_owned(),
                is_of_repository: ["local", "worktree"].contains(&fields[0]),
            }
        });
        Some(settings.collect())
    }

    /// Returns the file with the ignore rules of the clone.
    pub async fn exclude_file(&self) -> Option<PathBuf> {
        let path = self.query(&["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"]).await?;
        Some(PathBuf::from(path))
    }

    /// Returns the untracked files and directories that these rules ignore and no `.gitignore` does, without generated
    /// directories.
    pub async fn only_ignored_by(&self, rules: &[&str]) -> Option<Vec<String>> {
        if rules.is_empty() {
            return Some(Vec::new());
        }
        let args = ["ls-files", "--others", "--ignored", "--directory", "-z"];
        let rules: Vec<String> = rules.iter().map(|rule| format!("--exclude={rule}")).collect();
        let by_rules: Vec<&str> = args.into_iter().chain(rules.iter().map(String::as_str)).collect();
        let by_files: Vec<&str> = args.into_iter().chain(["--exclude-per-directory=.gitignore"]).collect();
        let ignored = self.query_within(&by_rules, TREE_LIMIT).await?;
        let others = self.query_within(&by_files, TREE_LIMIT).await?;
        let others: Vec<&str> = others.split('\0').collect();
        let files = ignored.split('\0').filter(|file| !file.is_empty() && !others.contains(file));
        Some(files.filter(|file| generated_directory(file).is_none()).map(str::to_owned).collect())
    }

    /// Returns the names of the files that differ between two trees.
    pub async fn changed_names(&self, from: &str, to: &str) -> Option<BTreeSet<String>> {
        let names =
            self.query_within(&["diff", "--name-only", "--no-renames", "-z", from, to], TREE_LIMIT).await?;
        Some(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Returns the names of the files in a tree.
    pub async fn names(&self, tree: &str) -> Option<Vec<String>> {
        let names = self
            .query_within(&["ls-tree", "-r", "--name-only", "--full-tree", "-z", tree], TREE_LIMIT)
            .await?;
        Some(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Returns the files of this directory and those below it: tracked ones, and others that no rule ignores. Relative to
    /// this directory.
    pub async fn files(&self) -> Option<Vec<String>> {
        let args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
        let listed = self.invocation(&args, TREE_LIMIT).capture(self.stop, CHANGE_CAP).await?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Some(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Returns the directory of git that all worktrees of the clone share.
    pub async fn common_dir(&self) -> Option<PathBuf> {
        self.query(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).await.map(PathBuf::from)
    }

    /// Returns the root directory of the clone, also from one of its worktrees. `None` for a bare repository.
    pub async fn clone_root(&self) -> Option<PathBuf> {
        let common = self.common_dir().await?;
        let name = common.file_name()?;
        if name == ".git" { common.parent().map(Path::to_owned) } else { None }
    }

    /// Returns the URL of the base repository's remote.
    pub async fn base_url(&self) -> Option<String> {
        let printed = self.query(&["config", "--null", "--get-regexp", "^remote\\."]).await?;
        Remotes::of(&parse_config_list(printed.as_bytes()).ok()?).base_url
    }

    /// Returns the value of an alias of git.
    pub async fn alias(&self, name: &str) -> Option<String> {
        self.query(&["config", "--get", &format!("alias.{name}")]).await.filter(|value| !value.is_empty())
    }

    /// Returns whether the commit that is checked out contains this directory, and so files in it.
    pub async fn contains_directory(&self) -> bool {
        self.query(&["rev-parse", "--verify", "--quiet", "HEAD:./"]).await.is_some()
    }

    /// Returns the files that differ from a commit, new files included; sorted. `None` without a commit.
    pub async fn changed_since(&self, sha: &str) -> Option<Vec<String>> {
        let tree = if sha.is_empty() { None } else { self.snapshot().await }?;
        // `-z` disables the quoting of unusual file names.
        let names = self.compare(&["--name-only", "--no-renames", "-z", sha, &tree]).await?;
        Some(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Writes the current files as a git tree and returns its id: tracked and untracked files, without
    /// ignored files and generated directories. The index, the branch and the files of the project are not
    /// changed.
    pub async fn snapshot(&self) -> Option<String> {
        Some(self.write_tree().await?.0)
    }

    /// Writes the current files as git trees, by directory: those of this repository, and those of each repository inside
    /// of it, such as a submodule, whose files differ from its commit. The tree of a repository contains only the commits
    /// of the repositories inside of it.
    pub async fn snapshots(&self) -> Option<Trees> {
        let mut trees = Trees::new();
        let mut remaining = vec![self.dir.to_owned()];
        while let Some(dir) = remaining.pop() {
            let git = ProjectGit { dir: &dir, ..*self };
            let (tree, index) = git.write_tree().await?;
            let mut env = self.env.clone();
            env.insert("GIT_INDEX_FILE".into(), index.as_os_str().to_owned());
            let changed = ProjectGit { dir: &dir, env: &env, stop: self.stop };
            remaining.extend(changed.changed_repositories().await?);
            trees.insert(dir, tree);
        }
        Some(trees)
    }

    /// Lists the repositories inside of this one whose files differ from the commit in the index.
    async fn changed_repositories(&self) -> Option<Vec<PathBuf>> {
        let args = ["diff-files", "--raw", "-z", "--ignore-submodules=none"];
        let entries = self.query_within(&args, TREE_LIMIT).await?;
        if entries.is_empty() {
            return Some(Vec::new());
        }
        let root = PathBuf::from(self.query(&["rev-parse", "--show-toplevel"]).await?);
        // Each entry, `:<mode> <mode> <hash> <hash> <status>`, is followed by its path.
        let parts: Vec<&str> = entries.split('\0').collect();
        let repositories = parts.chunks(2).filter(|entry| entry[0].starts_with(":160000 160000"));
        Some(repositories.filter_map(|entry| Some(root.join(entry.get(1)?))).collect())
    }

    /// Writes the current files as a git tree. Returns its id, and the index that contains it.
    async fn write_tree(&self) -> Option<(String, tempfile::TempPath)> {
        // A copy of the index lets `git add` reuse the stored file times, so that only changed files are
        // hashed.
        let index = tempfile::NamedTempFile::new().ok()?.into_temp_path();
        let current = self.query(&["rev-parse", "--path-format=absolute", "--git-path", "index"]).await?;
        // A repository without commits has no index. Git accepts a missing file as GIT_INDEX_FILE, but not an
        // empty one.
        if copy_index(&current, &index).is_err() {
            std::fs::remove_file(&index).ok()?;
        }
        let mut env = self.env.clone();
        env.insert("GIT_INDEX_FILE".into(), index.as_os_str().to_owned());
        let git = ProjectGit { dir: self.dir, env: &env, stop: self.stop };
        // Directories that package managers and builds fill are excluded even when git does not ignore them.
        let excluded: Vec<String> =
            GENERATED_DIRECTORIES.iter().map(|name| format!(":(top,exclude,glob)**/{name}/**")).collect();
        let mut add = vec!["-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", ":/"];
        add.extend(excluded.iter().map(String::as_str));
        // Writes blobs into the object database; git's garbage collection removes them later.
        git.query_within(&add, TREE_LIMIT).await?;
        Some((git.query_within(&["write-tree"], TREE_LIMIT).await?, index))
    }

    /// Retains a tree under a reference of this worktree, until another tree takes its name.
    pub async fn retain(&self, tree: &str, name: &str) -> Option<()> {
        // References below `refs/worktree` belong to one worktree, are never pushed, and are removed with it.
        let reference = format!("refs/worktree/loopgate/{name}");
        self.query(&["update-ref", &reference, tree]).await.map(drop)
    }

    /// Restores files in the working tree from a tree: all of them, or those below `paths`.
    pub async fn restore(&self, tree: &str, paths: &[String]) -> Option<()> {
        let source = format!("--source={tree}");
        let all = [":/".to_owned()];
        let paths = if paths.is_empty() { &all } else { paths };
        let args: Vec<&str> = ["restore", "--no-recurse-submodules", &source, "--worktree", "--"]
            .into_iter()
            .chain(paths.iter().map(String::as_str))
            .collect();
        self.query_within(&args, TREE_LIMIT).await.map(drop)
    }

    /// Returns the root directory of the working tree, and the path of this directory in it.
    pub async fn position(&self) -> Option<(PathBuf, PathBuf)> {
        let root = self.query(&["rev-parse", "--show-toplevel"]).await?;
        Some((root.into(), self.query(&["rev-parse", "--show-prefix"]).await?.into()))
    }

    /// Lists what a [snapshot](Self::snapshot) of the root directory leaves out: ignored files and directories, and
    /// generated directories. A directory stands for all files in it.
    pub async fn ignored(&self) -> Option<Vec<PathBuf>> {
        let generated: Vec<String> =
            GENERATED_DIRECTORIES.iter().map(|name| format!("--exclude={name}/")).collect();
        let mut args = vec!["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        args.extend(generated.iter().map(String::as_str));
        let names = self.query_within(&args, TREE_LIMIT).await?;
        Some(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
    }

    /// Writes some files of a tree into a directory. Existing files are replaced.
    pub async fn export(&self, tree: &str, paths: &[&str], target: &Path) -> Option<()> {
        // Git accepts a missing file as GIT_INDEX_FILE, but not an empty one.
        let directory = tempfile::tempdir().ok()?;
        let mut env = self.env.clone();
        env.insert("GIT_INDEX_FILE".into(), directory.path().join("index").into());
        let git = ProjectGit { dir: self.dir, env: &env, stop: self.stop };
        git.query_within(&["read-tree", tree], TREE_LIMIT).await?;
        let prefix = format!("--prefix={}/", target.display());
        for paths in paths.chunks(MAX_ARGUMENTS) {
            let args = [&["checkout-index", "--force", &prefix, "--"], paths].concat();
            git.query_within(&args, TREE_LIMIT).await?;
        }
        Some(())
    }

    /// Gives a copy of the working tree its own repository: the same branches, tags, index and checked-out commit, no
    /// remote. The objects stay in this repository, which is not changed.
    pub async fn copy_repository(&self, copy: &Path) -> Option<()> {
        let repository = copy.join(".git");
        let (source, target) = (self.dir.to_str()?, repository.to_str()?);
        // The settings for a checkout that the user does not trust may disable local transports. This one reads
        // only the checkout itself.
        let protocol = "protocol.file.allow=always";
        let clone = ["-c", protocol, "clone", "--bare", "--shared", "--quiet", "--template=", source, target];
        self.query_within(&clone, TREE_LIMIT).await?;
        let index = self.query(&["rev-parse", "--path-format=absolute", "--git-path", "index"]).await?;
        // A repository without commits has no index.
        let _ = copy_index(&index, &repository.join("index"));
        let git = ProjectGit { dir: copy, env: self.env, stop: self.stop };
        git.query(&["remote", "remove", "origin"]).await?;
        git.query(&["config", "core.bare", "false"]).await.map(drop)
    }

    /// Lists the differences of two trees, one line per file: status letter, tab, path.
    pub async fn changed_between(&self, from: &str, to: &str) -> Option<Vec<String>> {
        // `-z` disables the quoting of unusual file names, and separates status and path as well.
        let names = self.compare(&["--name-status", "--no-renames", "-z", from, to]).await?;
        let mut parts = names.split('\0').filter(|part| !part.is_empty());
        Some(std::iter::from_fn(|| Some(format!("{}\t{}", parts.next()?, parts.next()?))).collect())
    }

    /// Returns the patch between two trees.
    pub async fn patch_between(&self, from: &str, to: &str) -> Option<String> {
        self.compare(&["--patch", "--find-renames", from, to]).await
    }

    /// Returns the tree of the last commit, or the empty tree in a repository without commits.
    pub async fn head_tree(&self) -> Option<String> {
        match self.query(&["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]).await {
            Some(tree) => Some(tree),
            None => self.query(&["hash-object", "-t", "tree", "--stdin"]).await,
        }
    }

    /// Returns the commit with which a review compares the working tree: that at which HEAD left a base, or the base
    /// itself if both have no common history. A name that is unknown here is looked up at `origin`.
    pub async fn review_base(&self, base: &str) -> Option<String> {
        let commit = self.known_commit(base).await?;
        Some(self.merge_base(&commit, "HEAD").await.unwrap_or(commit))
    }

    /// Returns the commit that a name denotes here or, if it is unknown here, at `origin`.
    pub async fn known_commit(&self, name: &str) -> Option<String> {
        match self.commit_of(name).await {
            Some(commit) => Some(commit),
            None => self.commit_of(&format!("refs/remotes/origin/{name}")).await,
        }
    }

    /// Returns a file of a commit as text, without white space around it. `path` is relative to this directory.
    pub async fn file_at(&self, commit: &str, path: &str) -> Option<String> {
        self.query(&["cat-file", "blob", &format!("{commit}:./{path}")]).await
    }

    /// Returns the names of the files directly in a directory of a commit. `path` is relative to this directory.
    pub async fn names_at(&self, commit: &str, path: &str) -> Option<Vec<String>> {
        let names = self.query(&["ls-tree", "--name-only", "-z", &format!("{commit}:./{path}")]).await?;
        Some(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Returns git's list of changed files, their numbers of lines, and the patch with `context` unchanged lines around
    /// each change. `None` also if the output is larger than a review reads.
    pub async fn change_output(
        &self,
        from: &str,
        side: &ChangeSide,
        context: u32,
        paths: &[String],
    ) -> Option<Vec<u8>> {
        let unified = format!("--unified={context}");
        let mut args = match side {
            ChangeSide::Index => vec!["diff-index", "--cached"],
            ChangeSide::Tree(_) => vec!["diff-tree"],
        };
        args.extend(CHANGE);
        args.extend([unified.as_str(), from]);
        if let ChangeSide::Tree(tree) = side {
            args.push(tree);
        }
        args.push("--");
        // Not patterns: a name may contain their characters.
        let literal: Vec<String> = paths.iter().map(|path| format!(":(top,literal){path}")).collect();
        args.extend(literal.iter().map(String::as_str));
        self.invocation(&args, CHANGE_LIMIT).capture(self.stop, CHANGE_CAP).await
    }

    /// Returns the branch that changes are compared with by default: the default branch of the remote, else a usual name
    /// that exists.
    pub async fn default_base(&self) -> Option<String> {
        let head = ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"];
        let remote = self.query(&head).await;
        for name in remote.iter().map(String::as_str).chain(USUAL_BASES) {
            if self.commit_of(name).await.is_some() {
                return Some(name.to_owned());
            }
        }
        None
    }

    /// Returns the commit of a name, such as a branch or an id. `None` for a name that git would take for an option.
    pub async fn commit_of(&self, name: &str) -> Option<String> {
        if name.starts_with('-') {
            return None;
        }
        self.query(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]).await
    }

    /// Returns the commit at which a history left another one.
    pub async fn merge_base(&self, one: &str, other: &str) -> Option<String> {
        self.query(&["merge-base", one, other]).await
    }

    /// Fetches a reference from `origin`.
    pub async fn fetch(&self, reference: &str) -> Option<()> {
        let args = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "origin", reference];
        self.query_within(&args, TREE_LIMIT).await.map(drop)
    }

    /// Returns the subjects of the commits after a commit, newest first and at most 50.
    pub async fn subjects(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let (range, count) = (format!("{from}..{to}"), format!("--max-count={MAX_COMMITS}"));
        let listed = self.query(&["log", "--no-show-signature", "--format=%s", &count, &range]).await?;
        Some(listed.lines().map(str::to_owned).collect())
    }

    /// Returns the content of a regular file in a commit or tree; `None` also for one that is too large.
    pub async fn content_of(&self, tree: &str, path: &str) -> Option<Vec<u8>> {
        let object = format!("{tree}:{path}");
        self.invocation(&["cat-file", "blob", &object], QUERY_LIMIT).capture(self.stop, ANSWER_CAP).await
    }

    /// Returns those of the paths, which are relative to this directory, that rules of git ignore, also if the files are
    /// tracked.
    pub async fn ignored_among(&self, paths: &[&str]) -> Option<BTreeSet<String>> {
        if paths.is_empty() {
            return Some(BTreeSet::new());
        }
        let input: Vec<u8> = paths.iter().flat_map(|path| path.bytes().chain([0])).collect();
        let invocation = self.invocation(&["check-ignore", "--no-index", "-z", "--stdin"], TREE_LIMIT);
        let output = invocation.output_for(input, self.stop, ANSWER_CAP).await?;
        // 1: no path is ignored.
        matches!(output.status.code(), Some(0 | 1)).then(|| {
            output.stdout_text().split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
        })
    }

    async fn compare(&self, args: &[&str]) -> Option<String> {
        self.query_within(&[COMPARE.as_slice(), args].concat(), TREE_LIMIT).await
    }

    async fn query(&self, args: &[&str]) -> Option<String> {
        self.query_within(args, QUERY_LIMIT).await
    }

    async fn query_within(&self, args: &[&str], limit: Duration) -> Option<String> {
        let bytes = self.invocation(args, limit).capture(self.stop, ANSWER_CAP).await?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn invocation(&self, args: &[&str], limit: Duration) -> Invocation {
        Invocation {
            program: "git".into(),
            args: EXACT.iter().chain(args).map(OsString::from).collect(),
            cwd: self.dir.to_owned(),
            env: self.env.clone(),
            limit,
        }
    }
}

/// Git queries for commands without an async runtime; see [`ProjectGit`].
pub struct BlockingGit {
    env: BTreeMap<OsString, OsString>,
    stop: CancellationToken,
    runtime: Runtime,
}

impl BlockingGit {
    /// Creates queries with the environment of this process.
    ///
    /// # Errors
    /// Returns the line to print when no async runtime can be created.
    pub fn new() -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("Error: cannot start git: {error}"))?;
        Ok(Self { env: std::env::vars_os().collect(), stop: CancellationToken::new(), runtime })
    }

    pub fn head(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).head())
    }

    pub fn branch(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).branch())
    }

    pub fn contains_directory(&self, dir: &Path) -> bool {
        self.runtime.block_on(self.at(dir).contains_directory())
    }

    pub fn base_url(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).base_url())
    }

    pub fn clone_root(&self, dir: &Path) -> Option<PathBuf> {
        self.runtime.block_on(self.at(dir).clone_root())
    }

    pub fn alias(&self, dir: &Path, name: &str) -> Option<String> {
        self.runtime.block_on(self.at(dir).alias(name))
    }

    pub fn snapshot(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).snapshot())
    }

    pub fn snapshots(&self, dir: &Path) -> Option<Trees> {
        self.runtime.block_on(self.at(dir).snapshots())
    }

    /// Returns the tree of the commit of a repository, at `path`, that the tree of the repository around it contains.
    pub fn tree_of_nested(&self, dir: &Path, tree: &str, path: &Path) -> Option<String> {
        self.runtime.block_on(async {
            let root = PathBuf::from(self.at(dir).query(&["rev-parse", "--show-toplevel"]).await?);
            let name = path.strip_prefix(root).ok()?.to_str()?;
            let commit = self.at(dir).query(&["rev-parse", &format!("{tree}:{name}")]).await?;
            self.at(path).query(&["rev-parse", &format!("{commit}^{{tree}}")]).await
        })
    }

    pub fn retain(&self, dir: &Path, tree: &str, name: &str) -> Option<()> {
        self.runtime.block_on(self.at(dir).retain(tree, name))
    }

    pub fn restore(&self, dir: &Path, tree: &str, paths: &[String]) -> Option<()> {
        self.runtime.block_on(self.at(dir).restore(tree, paths))
    }

    pub fn position(&self, dir: &Path) -> Option<(PathBuf, PathBuf)> {
        self.runtime.block_on(self.at(dir).position())
    }

    pub fn ignored(&self, dir: &Path) -> Option<Vec<PathBuf>> {
        self.runtime.block_on(self.at(dir).ignored())
    }

    pub fn export(&self, dir: &Path, tree: &str, paths: &[&str], target: &Path) -> Option<()> {
        self.runtime.block_on(self.at(dir).export(tree, paths, target))
    }

    pub fn copy_repository(&self, dir: &Path, copy: &Path) -> Option<()> {
        self.runtime.block_on(self.at(dir).copy_repository(copy))
    }

    pub fn changed_between(&self, dir: &Path, from: &str, to: &str) -> Option<Vec<String>> {
        self.runtime.block_on(self.at(dir).changed_between(from, to))
    }

    pub fn changed_names(&self, dir: &Path, from: &str, to: &str) -> Option<BTreeSet<String>> {
        self.runtime.block_on(self.at(dir).changed_names(from, to))
    }

    pub fn patch_between(&self, dir: &Path, from: &str, to: &str) -> Option<String> {
        self.runtime.block_on(self.at(dir).patch_between(from, to))
    }

    pub fn head_tree(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).head_tree())
    }

    pub fn known_commit(&self, dir: &Path, name: &str) -> Option<String> {
        self.runtime.block_on(self.at(dir).known_commit(name))
    }

    pub fn file_at(&self, dir: &Path, commit: &str, path: &str) -> Option<String> {
        self.runtime.block_on(self.at(dir).file_at(commit, path))
    }

    pub fn names_at(&self, dir: &Path, commit: &str, path: &str) -> Option<Vec<String>> {
        self.runtime.block_on(self.at(dir).names_at(commit, path))
    }

    pub fn review_base(&self, dir: &Path, base: &str) -> Option<String> {
        self.runtime.block_on(self.at(dir).review_base(base))
    }

    pub fn contains(&self, dir: &Path, reference: &str, commit: &str) -> bool {
        self.runtime.block_on(self.at(dir).contains(reference, commit))
    }

    pub fn change_output(
        &self,
        dir: &Path,
        from: &str,
        side: &ChangeSide,
        context: u32,
        paths: &[String],
    ) -> Option<Vec<u8>> {
        self.runtime.block_on(self.at(dir).change_output(from, side, context, paths))
    }

    pub fn default_base(&self, dir: &Path) -> Option<String> {
        self.runtime.block_on(self.at(dir).default_base())
    }

    pub fn commit_of(&self, dir: &Path, name: &str) -> Option<String> {
        self.runtime.block_on(self.at(dir).commit_of(name))
    }

    pub fn merge_base(&self, dir: &Path, one: &str, other: &str) -> Option<String> {
        self.runtime.block_on(self.at(dir).merge_base(one, other))
    }

    pub fn fetch(&self, dir: &Path, reference: &str) -> Option<()> {
        self.runtime.block_on(self.at(dir).fetch(reference))
    }

    pub fn subjects(&self, dir: &Path, from: &str, to: &str) -> Option<Vec<String>> {
        self.runtime.block_on(self.at(dir).subjects(from, to))
    }

    pub fn content_of(&self, dir: &Path, tree: &str, path: &str) -> Option<Vec<u8>> {
        self.runtime.block_on(self.at(dir).content_of(tree, path))
    }

    /// Runs another program in a directory, with the environment of this process. `None` when it cannot be started or
    /// exceeds a limit.
    pub fn program_output(
        &self,
        dir: &Path,
        program: &str,
        args: &[&str],
        limit: Duration,
    ) -> Option<Output> {
        let invocation = Invocation {
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: dir.to_owned(),
            env: self.env.clone(),
            limit,
        };
        self.runtime.block_on(invocation.output_for(Vec::new(), &self.stop, ANSWER_CAP))
    }

    pub fn ignored_among(&self, dir: &Path, paths: &[&str]) -> Option<BTreeSet<String>> {
        self.runtime.block_on(self.at(dir).ignored_among(paths))
    }

    const fn at<'a>(&'a self, dir: &'a Path) -> ProjectGit<'a> {
        ProjectGit::at(dir, &self.env, &self.stop)
    }
}

/// Copies an index with its modification time. Git compares that time with the times of files to decide whether a file may
/// have changed in the second in which the index was written: with a later time, it would miss such a change.
fn copy_index(index: impl AsRef<Path>, copy: &Path) -> std::io::Result<()> {
    let modified = std::fs::metadata(&index)?.modified()?;
    std::fs::copy(index, copy)?;
    std::fs::File::options().write(true).open(copy)?.set_modified(modified)
}

#[cfg(test)]
mod tests {
    use loopgate_testkit::git::git;

    use super::*;

    /// Returns what the queries report about changes of every kind, with a configuration of the user.
    async fn reported(configuration: &str) -> Vec<String> {
        let temporary = tempfile::tempdir().unwrap();
        let (home, dir) = (temporary.path().join("home"), temporary.path().join("r"));
        for directory in [&home, &dir.join("sub")] {
            std::fs::create_dir_all(directory).unwrap();
        }
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
        git(&dir, &["init", "--quiet", "--initial-branch=main"]).unwrap();
        write("old", "1\n\n2\n3\n");
        write("one", "1\n\n2\n");
        git(&dir, &["add", "-A"]).unwrap();
        git(&dir, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "First"])
            .unwrap();
        let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        env.insert("GIT_CONFIG_GLOBAL".into(), home.join("config").into());
        std::fs::write(home.join("config"), configuration).unwrap();
        let (stop, sub) = (CancellationToken::new(), dir.join("sub"));
        let queries = ProjectGit::at(&sub, &env, &stop);
        let before = queries.snapshot().await.unwrap();
        write("one", "2\n\n2\n");
        write("sub/größe", "new\n");
        std::fs::rename(dir.join("old"), dir.join("moved")).unwrap();
        let after = queries.snapshot().await.unwrap();
        let head = queries.head().await.unwrap();
        vec![
            queries.changed_since(&head).await.unwrap().join(" "),
            queries.changed_between(&before, &after).await.unwrap().join(" "),
            queries.patch_between(&before, &after).await.unwrap(),
            after,
        ]
    }

    #[tokio::test]
    async fn change_in_the_second_of_the_index_is_seen_in_a_later_second() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = temporary.path();
        let file = dir.join("one");
        let second = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_900_000_000);
        let write = |text: &str| {
            std::fs::write(&file, text).unwrap();
            std::fs::File::options().write(true).open(&file).unwrap().set_modified(second).unwrap();
        };
        git(dir, &["init", "--quiet"]).unwrap();
        write("1\n");
        // The time of the last change of the inode cannot be set, and would show the change.
        git(dir, &["config", "core.trustctime", "false"]).unwrap();
        git(dir, &["add", "-A"]).unwrap();
        let index = std::fs::File::options().write(true).open(dir.join(".git/index")).unwrap();
        index.set_modified(second).unwrap();
        let (env, stop) = (std::env::vars_os().collect(), CancellationToken::new());
        let queries = ProjectGit::at(dir, &env, &stop);
        let before = queries.snapshot().await.unwrap();
        write("2\n");
        let after = queries.snapshot().await.unwrap();
        assert_eq!(queries.changed_between(&before, &after).await.unwrap(), ["M\tone"]);
    }

    #[tokio::test]
    async fn answers_do_not_depend_on_the_configuration_of_the_user() {
        let expected = reported("").await;
        assert_eq!(expected[0], "moved old one sub/größe");
        let files = tempfile::tempdir().unwrap();
        for configuration in loopgate_testkit::git_options::configurations(files.path()).unwrap() {
            assert_eq!(reported(&configuration).await, expected);
        }
    }
}
