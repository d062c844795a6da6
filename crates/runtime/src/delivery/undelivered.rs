//! Finds work of a loop that its delivery does not contain: ignored files, stashes, commits on other branches, other
//! worktrees, and files outside of the repositories.
//!
//! Stashes, branches and worktrees are shared with the user's clone. They are attributed to the loop only by evidence: its
//! branch, the reflog of its worktree, or the location. If a loop delivered nothing at all, everything that changed since
//! its start is listed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use loopgate_api::held_back::{generated_directory, is_secret_name, marked_directory};
use loopgate_api::undelivered::{UndeliveredPlace, UndeliveredWork};
use loopgate_home::{Directory, untrusted};
use loopgate_tools::git::{Git, GitError, IgnoreRule, is_loop_branch};
use serde_json::Value;

use super::early_push::own_commits;
use super::outcome::LoopOutcome;
use super::repository::RepositoryWork;
use crate::jobs::Job;
use crate::transcript::stream_file;

/// 64 MiB of a stream, far more than the calls of any loop need.
const MAX_SCAN: u64 = 64 * 1024 * 1024;
/// Maximum number of ignored files that are listed one by one; more are listed by directory.
const MAX_FILES: usize = 50;
/// Names of directories that tools write. Files in them are expected if a rule ignores the directory by its name.
const BUILD_DIRECTORIES: [&str; 20] = [
    ".cache",
    ".eggs",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".turbo",
    ".vite",
    "build",
    "coverage",
    "dist",
    "htmlcov",
    "obj",
    "out",
    "target",
    "tmp",
];
/// Ends of names of files that tools write.
const BUILD_FILES: [&str; 8] =
    [".DS_Store", ".class", ".coverage", ".log", ".o", ".pyc", ".swp", ".tsbuildinfo"];
/// Directory in which the assistant creates worktrees, relative to a clone.
const ASSISTANT_WORKTREES: &str = ".claude/worktrees";
/// Tools that write the file of their argument.
const WRITING_TOOLS: [&str; 4] = ["Edit", "MultiEdit", "NotebookEdit", "Write"];

/// What is attributed to the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribution {
    /// Only what the loop evidently left.
    Evident,
    /// Everything that changed since the start of the loop.
    SinceStart,
}

/// Returns the work in one repository that is not delivered. Errors of git are logged.
pub(super) async fn find(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    scope: Attribution,
) -> Vec<UndeliveredWork> {
    let usable = part.directory.as_deref().filter(|directory| directory.is_dir());
    let usable = usable.filter(|directory| outcome.finalizer.layout.allowed(directory).is_some());
    let (Some(directory), Some(spawned)) = (usable, job.spawned()) else { return Vec::new() };
    let search = UndeliveredSearch { outcome, part, directory, spawned, scope };
    let mut work = Vec::new();
    let places = [
        search.ignored_files().await,
        search.stashes().await,
        search.commits().await,
        search.submodules().await,
    ];
    for found in places {
        match found {
            Ok(found) => work.extend(found),
            Err(error) => {
                tracing::warn!(loop_id = %job.id, %error, "cannot list all work that is not delivered");
            }
        }
    }
    work.extend(search.worktrees().await);
    work
}

/// Returns the files outside of the loop's directories that the assistant's tools have written since its start.
pub(super) async fn files_outside(job: &Job) -> Vec<UndeliveredWork> {
    let (work_dir, start, spawned) = (job.work_dir(), job.transcript.stream_start, job.spawned());
    let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| &peer.dir);
    let own: Vec<PathBuf> =
        job.workspace.worktree_dir.iter().chain(peers).map(PathBuf::from).chain([work_dir.clone()]).collect();
    let read = move || {
        let is_outside = |path: &PathBuf| path.is_absolute() && !own.iter().any(|own| path.starts_with(own));
        let mut files = written_files(&work_dir, start).unwrap_or_default();
        files.retain(|path| is_outside(path) && is_changed_since(path, spawned));
        files
    };
    let files = tokio::task::spawn_blocking(read).await.unwrap_or_default();
    let outside = files.into_iter().map(|path| UndeliveredWork {
        name: path.to_string_lossy().into_owned(),
        place: UndeliveredPlace::Outside,
        detail: None,
    });
    outside.collect()
}

fn is_changed_since(path: &Path, instant: Option<SystemTime>) -> bool {
    let modified = untrusted::metadata(path).and_then(|metadata| metadata.modified()).ok();
    modified.zip(instant).is_some_and(|(modified, instant)| modified >= instant)
}

/// Returns a number with its noun; `None` for zero.
fn counted(count: u64, noun: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{count} {noun}s")),
    }
}

/// Returns the arguments of the writing tools in a stream, from an offset.
fn written_files(work_dir: &Path, start: u64) -> Option<BTreeSet<PathBuf>> {
    let mut file = untrusted::open(&stream_file::resolve(work_dir)?).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut files = BTreeSet::new();
    // Bounded: the stream is written by a process that works in an untrusted repository.
    for line in BufReader::new(file.take(MAX_SCAN)).lines().map_while(Result::ok) {
        let Ok(record) = serde_json::from_str::<Value>(&line) else { continue };
        let blocks = record.pointer("/message/content").and_then(Value::as_array);
        for block in blocks.into_iter().flatten() {
            let is_write =
                block.get("name").and_then(Value::as_str).is_some_and(|name| WRITING_TOOLS.contains(&name));
            let path = ["file_path", "notebook_path"]
                .iter()
                .find_map(|name| block.get("input")?.get(name)?.as_str());
            files.extend(path.filter(|_| is_write).map(PathBuf::from));
        }
    }
    Some(files)
}

/// The search in one worktree.
struct UndeliveredSearch<'a> {
    outcome: &'a LoopOutcome<'a>,
    part: &'a RepositoryWork,
    directory: &'a Path,
    /// Start of the loop's process.
    spawned: SystemTime,
    scope: Attribution,
}

impl UndeliveredSearch<'_> {
    const fn git(&self) -> &Git {
        &self.outcome.finalizer.git
    }

    /// Returns whether an instant, in seconds since the epoch, is after the start of the loop.
    fn is_since_start(&self, seconds: i64) -> bool {
        let started = self.spawned.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(started.as_secs()).is_ok_and(|started| seconds >= started)
    }

    async fn ignored_files(&self) -> Result<Vec<UndeliveredWork>, GitError> {
        let ignored = self.git().ignored_files(self.directory).await?;
        let (root, spawned) = (self.directory.to_owned(), self.spawned);
        let changed = move || {
            // Relative to a handle: the working tree is untrusted and may contain links and pipes.
            let root = Directory::of(&root).ok()?;
            let caches: Vec<Vec<u8>> = ignored
                .iter()
                .filter_map(|path| Some(marked_directory(&text(path))?.as_bytes().to_vec()))
                .collect();
            let is_candidate = |path: &Vec<u8>| {
                generated_directory(&text(path)).is_none()
                    && !caches.iter().any(|cache| path.starts_with(cache))
                    && is_written_since(&root, path, spawned)
            };
            Some(ignored.iter().filter(|path| is_candidate(path)).cloned().collect::<Vec<_>>())
        };
        let changed = tokio::task::spawn_blocking(changed).await.ok().flatten().unwrap_or_default();
        let rules = self.git().ignore_rules(self.directory, &changed).await?;
        let mut files: BTreeMap<String, IgnoreRule> = BTreeMap::new();
        for (path, rule) in rules {
            let path = text(&path);
            if self.scope == Attribution::SinceStart || !is_expected(&path, &rule) {
                files.insert(path, rule);
            }
        }
        let work = listed(files).into_iter().map(|(name, rule)| UndeliveredWork {
            name,
            place: UndeliveredPlace::Ignored,
            detail: Some(rule.to_string()),
        });
        Ok(work.collect())
    }

    async fn stashes(&self) -> Result<Vec<UndeliveredWork>, GitError> {
        let branch = self.part.branch.as_deref().unwrap_or_default();
        let own = ["WIP on", "On"].map(|kind| format!("{kind} {branch}:"));
        let stashes = self.git().stashes(self.directory).await?;
        let new = stashes.into_iter().enumerate().filter(|(_, stash)| {
            let is_own = own.iter().any(|own| stash.subject.starts_with(own));
            (is_own || self.scope == Attribution::SinceStart) && self.is_since_start(stash.stored_at)
        });
        let work = new.map(|(position, stash)| UndeliveredWork {
            name: format!("stash@{{{position}}}"),
            place: UndeliveredPlace::Stash,
            detail: Some(stash.subject),
        });
        Ok(work.collect())
    }

    /// Returns the repositories inside of the working tree whose work a pull request of this one cannot contain.
    async fn submodules(&self) -> Result<Vec<UndeliveredWork>, GitError> {
        let git = self.git();
        let mut work = Vec::new();
        for directory in git.submodule_roots(self.directory).await? {
            let files = git.changed_files(&directory).await?.len() as u64;
            let commits = git.commits_on_no_remote(&directory).await?;
            let counts = [counted(files, "changed file"), counted(commits, "commit")];
            let detail: Vec<String> = counts.into_iter().flatten().collect();
            if !detail.is_empty() {
                work.push(UndeliveredWork {
                    name: directory
                        .strip_prefix(self.directory)
                        .unwrap_or(&directory)
                        .to_string_lossy()
                        .into_owned(),
                    place: UndeliveredPlace::Submodule,
                    detail: Some(detail.join(", ")),
                });
            }
        }
        Ok(work)
    }

    /// Returns the other branches with commits of the loop, and the last commit that is on no branch.
    async fn commits(&self) -> Result<Vec<UndeliveredWork>, GitError> {
        let git = self.git();
        let own = own_commits(self.outcome, self.part).await?;
        let own_set: HashSet<&str> = own.iter().map(String::as_str).collect();
        let current = git.current_branch(self.directory).await?;
        let mut work = Vec::new();
        for tip in git.branch_tips(self.directory).await? {
            let is_delivered =
                [&current, &self.part.branch].into_iter().flatten().any(|name| *name == tip.name);
            // Other loops of the same clone work on branches of their own.
            let is_recent = self.scope == Attribution::SinceStart
                && self.is_since_start(tip.committed_at)
                && !is_loop_branch(&tip.name);
            if is_delivered || !(own_set.contains(tip.commit.as_str()) || is_recent) {
                continue;
            }
            let count = git.commits_only_on(self.directory, &tip.commit).await?;
            if count > 0 {
                let detail = counted(count, "commit");
                work.push(UndeliveredWork { name: tip.name, place: UndeliveredPlace::Branch, detail });
            }
        }
        // Otherwise it is most likely an earlier version of a delivered commit.
        if let Some(commit) = own.first().filter(|_| self.scope == Attribution::SinceStart && work.is_empty())
            && git.commits_only_on(self.directory, commit).await? > 0
        {
            let name = commit.get(..10).unwrap_or(commit).to_owned();
            work.push(UndeliveredWork { name, place: UndeliveredPlace::Detached, detail: None });
        }
        Ok(work)
    }

    /// Returns worktrees with work that were created during the loop. The user and other loops create worktrees as
    /// well, so only the locations of the assistant's are evident.
    async fn worktrees(&self) -> Vec<UndeliveredWork> {
        let git = self.git();
        let assistants = [Some(self.directory), self.part.repository.as_deref()]
            .map(|root| Some(root?.join(ASSISTANT_WORKTREES)));
        let mut work = Vec::new();
        for worktree in git.worktrees(self.directory).await.unwrap_or_default() {
            let is_assistants = assistants.iter().flatten().any(|parent| worktree.path.starts_with(parent))
                || worktree.path.starts_with(self.directory);
            let is_of_loop = worktree.branch.as_deref().is_some_and(is_loop_branch);
            let is_candidate = is_assistants || (self.scope == Attribution::SinceStart && !is_of_loop);
            let (link, spawned) = (worktree.path.join(".git"), self.spawned);
            if worktree.main || worktree.path == self.directory || !is_candidate {
                continue;
            }
            let is_new = tokio::task::spawn_blocking(move || is_changed_since(&link, Some(spawned)));
            if !is_new.await.unwrap_or(false) {
                continue;
            }
            let changes = git.changes(&worktree.path).await.map_or(true, |changes| !changes.is_empty());
            let commits = match &worktree.head {
                Some(head) => git.commits_only_on(self.directory, head).await.unwrap_or(0),
                None => 0,
            };
            if changes || commits > 0 {
                work.push(UndeliveredWork {
                    name: worktree.path.to_string_lossy().into_owned(),
                    place: UndeliveredPlace::Worktree,
                    detail: worktree.branch.map(|branch| format!("branch {branch}")),
                });
            }
        }
        work
    }
}

/// Returns whether a file was created or changed since an instant. A program can set the time of modification, but not
/// that of the last change of the inode.
fn is_written_since(root: &Directory, path: &[u8], instant: SystemTime) -> bool {
    let Ok(metadata) = root.open_file(Path::new(OsStr::from_bytes(path))).and_then(|file| file.metadata())
    else {
        return false;
    };
    let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
    let nanos = u32::try_from(metadata.ctime_nsec()).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos) >= instant
}

/// Returns whether users do not miss an ignored file in a pull request: a secret, or the output of a tool.
fn is_expected(path: &str, rule: &IgnoreRule) -> bool {
    if is_secret_name(path) || BUILD_FILES.iter().any(|end| path.ends_with(end)) {
        return true;
    }
    // A rule such as `*` also ignores sources in a directory of this name.
    let named = rule.pattern.split('/').rfind(|part| !part.is_empty() && !part.chars().all(|c| c == '*'));
    named.is_some_and(|named| {
        BUILD_DIRECTORIES.contains(&named)
            && path.split('/').rev().skip(1).any(|directory| directory == named)
    })
}

/// Replaces files by their directories if there are too many to list. A directory ends with a slash.
fn listed(mut files: BTreeMap<String, IgnoreRule>) -> BTreeMap<String, IgnoreRule> {
    while files.len() > MAX_FILES {
        let parent = |path: &str| {
            let end = path.trim_end_matches('/').rfind('/');
            end.map_or_else(|| path.to_owned(), |end| path[..=end].to_owned())
        };
        let parents: BTreeMap<String, IgnoreRule> =
            files.iter().map(|(path, rule)| (parent(path), rule.clone())).collect();
        if parents.len() == files.len() {
            break;
        }
        files = parents;
    }
    files
}

fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pattern: &str) -> IgnoreRule {
        IgnoreRule { source: ".gitignore".to_owned(), line: "1".to_owned(), pattern: pattern.to_owned() }
    }

    #[test]
    fn output_of_tools_is_expected_if_its_rule_names_it() {
        for (path, pattern) in [
            ("dist/a.js", "dist/"),
            ("web/dist/x/a.js", "/web/dist"),
            ("target/debug/a", "**/target/**"),
            ("a/b.pyc", "*"),
            (".env", "*"),
        ] {
            assert!(is_expected(path, &rule(pattern)), "{path} {pattern}");
        }
        for (path, pattern) in
            [("notes.txt", "*.txt"), ("build/a.rs", "*"), ("dist", "dist"), ("docs/x", "docs/")]
        {
            assert!(!is_expected(path, &rule(pattern)), "{path} {pattern}");
        }
    }

    #[test]
    fn many_files_are_listed_by_directory() {
        let files: BTreeMap<String, IgnoreRule> =
            (0..MAX_FILES + 1).map(|n| (format!("a/{}/{n}.txt", n % 2), rule("*.txt"))).collect();
        assert_eq!(listed(files).into_keys().collect::<Vec<_>>(), ["a/0/", "a/1/"]);
        let flat: BTreeMap<String, IgnoreRule> =
            (0..MAX_FILES + 1).map(|n| (format!("{n}.txt"), rule("*.txt"))).collect();
        assert_eq!(listed(flat).len(), MAX_FILES + 1);
    }

    #[test]
    fn arguments_of_writing_tools_are_read_from_the_stream() {
        let dir = tempfile::tempdir().unwrap();
        let call = |tool: &str, path: &str| {
            serde_json::json!({"type": "assistant", "message": {"content": [
                {"type": "tool_use", "name": tool, "input": {"file_path": path}}]}})
            .to_string()
        };
        let earlier = call("Write", "/earlier");
        let text = [earlier.clone(), call("Write", "/a"), call("Read", "/b"), call("Edit", "/c")].join("\n");
        std::fs::write(dir.path().join("assistant-output.jsonl"), text).unwrap();
        let start = u64::try_from(earlier.len() + 1).unwrap();
        let files = written_files(dir.path(), start).unwrap();
        assert_eq!(files, ["/a", "/c"].map(PathBuf::from).into());
    }
}
