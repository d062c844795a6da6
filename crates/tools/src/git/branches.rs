//! The branches and worktrees of a repository, as a list to choose from.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::Remotes;

use super::{Git, GitError, Worktree, checked, time};

/// One line per ref, with fields separated by NUL, which no ref contains.
const FORMAT: &str =
    "--format=%(refname)%00%(symref)%00%(HEAD)%00%(committerdate:unix)%00%(committerdate:iso-strict)";
/// The default branch of a repository where neither the remote nor HEAD names one.
const FALLBACK_DEFAULT: &str = "main";

/// The branches and worktrees that can be selected from a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branches {
    /// Every worktree except the one of the request.
    pub worktrees: Vec<ListedWorktree>,
    /// The listing of the repository, which all its worktrees share.
    pub listing: Arc<BranchListing>,
}

/// The branches and worktrees of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BranchListing {
    /// The default branch of the base repository, else the current branch.
    pub default: String,
    /// The default branch first, then by commit date, newest first.
    pub branches: Vec<Branch>,
    /// Every worktree with its canonical path; empty when there are no linked worktrees. Canonical since the listing was
    /// made: a repository may have a thousand worktrees, and a cached listing serves many requests.
    worktrees: Vec<(PathBuf, ListedWorktree)>,
}

/// The parsed output of `git for-each-ref`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// Local branches, then branches of the base repository without a local one, then branches of other remotes with
    /// the remote's name as prefix. Symbolic refs are omitted.
    pub branches: Vec<Branch>,
    /// Default branch of the base repository, as recorded in the clone.
    pub default: Option<String>,
    /// The current branch; `None` when it has no commit.
    pub current: Option<String>,
}

/// A worktree that can be selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedWorktree {
    /// Absolute path of the working tree.
    pub path: PathBuf,
    /// Name of its branch; empty when HEAD is detached.
    pub branch: String,
    /// The ticket in the name of the directory or branch, such as `AB-12`.
    pub ticket: Option<String>,
}

/// A branch that can be selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Name of the branch, without the name of the remote.
    pub name: String,
    /// Whether the branch exists in the base repository but not locally.
    pub remote: bool,
    /// Date of its last commit, ISO 8601.
    pub last_commit: Option<String>,
    /// The same date as a Unix timestamp, for sorting: ISO 8601 dates have different offsets.
    seconds: Option<i64>,
}

/// Parses the output of `git for-each-ref` in [`FORMAT`]. `remote` is that of the base repository.
#[must_use]
pub fn parse_refs(printed: &[u8], remote: &str) -> Refs {
    // The prefix of remote-tracking branches, and the symbolic ref to the remote's default branch.
    let prefix = format!("refs/remotes/{remote}/");
    let head_of_remote = format!("{prefix}HEAD");
    let mut refs = Refs::default();
    let mut seen = HashSet::new();
    for line in printed.split(|byte| *byte == b'\n') {
        // A branch that no request can name. Its lossy name may be that of another one.
        let Ok(line) = str::from_utf8(line) else { continue };
        let mut fields = line.split('\0');
        let mut field = || fields.next();
        let (Some(full), Some(target), Some(head), Some(seconds), Some(date), None) =
            (field(), field(), field(), field(), field(), field())
        else {
            continue;
        };
        if full == head_of_remote {
            refs.default = target.strip_prefix(&prefix).map(str::to_owned);
        }
        if !target.is_empty() {
            continue;
        }
        let (name, remote) = match (full.strip_prefix("refs/heads/"), full.strip_prefix("refs/remotes/")) {
            (Some(local), _) => (local, false),
            (None, Some(name)) => match full.strip_prefix(&prefix) {
                Some(name) => (name, true),
                None => (name, false),
            },
            (None, None) => continue,
        };
        if head == "*" {
            refs.current = Some(name.to_owned());
        }
        if seen.insert(name.to_owned()) {
            let last_commit = Some(date.to_owned()).filter(|date| !date.is_empty());
            let (name, seconds) = (name.to_owned(), seconds.parse().ok());
            refs.branches.push(Branch { name, remote, last_commit, seconds });
        }
    }
    refs
}

/// Extracts a ticket key from a name: upper-case letters, a dash, digits. Prefers one at the end of the name.
#[must_use]
pub fn ticket_in(name: &str) -> Option<&str> {
    let tokens = || {
        name.match_indices('-').filter_map(|(dash, _)| {
            let (before, after) = (name.get(..dash)?, name.get(dash + 1..)?);
            let letters = before.len() - before.trim_end_matches(|c: char| c.is_ascii_uppercase()).len();
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            (letters > 0 && digits > 0).then(|| (dash - letters, dash + 1 + digits))
        })
    };
    let last = tokens().find(|(_, end)| *end == name.len());
    let (start, end) = last.or_else(|| tokens().next())?;
    name.get(start..end)
}

impl Git {
    /// Lists branches and worktrees. Returns an empty listing outside a repository.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn listing(&self, repository: &Path) -> Result<BranchListing, GitError> {
        let git_dir = git_directory(repository).await;
        // From the repository's own files, without starting git: pages list branches often.
        let remote = match self.repository(repository).await {
            Ok(repository) => repository.remotes().base,
            Err(_) => Remotes::of(&[]).base,
        };
        let worktrees = async {
            match &git_dir {
                // Without `worktrees`, git would list only this directory, so its start is saved.
                Some(git_dir) if !exists(&git_dir.join("worktrees")).await => Ok(Vec::new()),
                _ => Ok(listed(or_default(self.worktrees(repository).await)?).await),
            }
        };
        let refs = async { or_default(self.refs(repository, &remote).await) };
        let (worktrees, refs) = tokio::try_join!(worktrees, refs)?;
        let Refs { mut branches, mut default, current } = refs;
        // A symbolic ref whose target does not exist is not printed by `for-each-ref`.
        let is_dangling = async {
            match &git_dir {
                Some(git_dir) => exists(&git_dir.join(format!("refs/remotes/{remote}/HEAD"))).await,
                None => true,
            }
        };
        if default.is_none() && is_dangling.await {
            default = or_default(self.default_branch(repository).await)?;
        }
        let default = match default.or(current) {
            Some(default) => default,
            None => or_default(self.current_branch(repository).await)?
                .unwrap_or_else(|| FALLBACK_DEFAULT.to_owned()),
        };
        branches.sort_by_key(|branch| (branch.name != default, Reverse(branch.seconds)));
        Ok(BranchListing { default, branches, worktrees })
    }

    async fn refs(&self, repository: &Path, remote: &str) -> Result<Refs, GitError> {
        let args = ["for-each-ref", FORMAT, "refs/heads", "refs/remotes"];
        let output = checked(&args, self.output(repository, &args, time::LOCAL).await?)?;
        Ok(parse_refs(&output.stdout, remote))
    }
}

impl Branches {
    /// Returns the listing as seen from this directory.
    pub async fn of(listing: Arc<BranchListing>, repository: &Path) -> Self {
        let mut worktrees = Vec::new();
        if !listing.worktrees.is_empty() {
            let current = canonical(repository.to_owned()).await;
            let others = listing.worktrees.iter().filter(|(path, _)| *path != current);
            worktrees.extend(others.map(|(_, worktree)| worktree.clone()));
        }
        Self { worktrees, listing }
    }
}

/// Adds the canonical paths of worktrees.
async fn listed(worktrees: Vec<Worktree>) -> Vec<(PathBuf, ListedWorktree)> {
    let worktrees = tokio::task::spawn_blocking(move || {
        let listed = |Worktree { path, branch, .. }: Worktree| {
            let branch = branch.unwrap_or_default();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ticket = ticket_in(&name).or_else(|| ticket_in(&branch)).map(str::to_owned);
            (canonical_or_same(&path), ListedWorktree { path, branch, ticket })
        };
        worktrees.into_iter().map(listed).collect()
    });
    worktrees.await.unwrap_or_default()
}

/// Returns the `.git` directory; `None` when `.git` is a file, as in a linked worktree.
async fn git_directory(repository: &Path) -> Option<PathBuf> {
    let git_dir = repository.join(".git");
    let metadata = tokio::fs::symlink_metadata(&git_dir).await;
    metadata.is_ok_and(|metadata| metadata.is_dir()).then_some(git_dir)
}

async fn exists(path: &Path) -> bool {
    !matches!(tokio::fs::symlink_metadata(path).await, Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}

/// Maps a command that git refused to an empty value.
fn or_default<T: Default>(answer: Result<T, GitError>) -> Result<T, GitError> {
    match answer {
        Err(error) if error.is_not_found() => Ok(T::default()),
        other => other,
    }
}

async fn canonical(path: PathBuf) -> PathBuf {
    let canonical = path.clone();
    tokio::task::spawn_blocking(move || canonical_or_same(&canonical)).await.unwrap_or(path)
}

fn canonical_or_same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticket_at_the_end_is_preferred() {
        for (name, ticket) in [
            ("widget-AB-12", Some("AB-12")),
            ("AB-1-widget-CD-2", Some("CD-2")),
            ("feature/AB-12-fix", Some("AB-12")),
            ("XAB-3x-CD-4x", Some("XAB-3")),
            ("widget-12", None),
            ("AB-", None),
            ("ab-12", None),
            ("größe-ÄB-7", Some("B-7")),
        ] {
            assert_eq!(ticket_in(name), ticket, "{name}");
        }
    }

    #[test]
    fn branch_is_listed_once_and_symbolic_refs_are_omitted() {
        let printed = "refs/heads/main|||-5|1969-12-31T23:59:55Z\nrefs/heads/x#HEAD||*|40|d40\n\
            refs/remotes/fork/main|| |10|d10\nrefs/remotes/origin/HEAD|refs/remotes/origin/main| |20|d20\n\
            refs/remotes/origin/main|| |20|d20\nrefs/remotes/origin/new|| ||\nrefs/tags/v1|| |1|d1\n";
        let Refs { branches, default, current } = parse_refs(printed.replace('|', "\0").as_bytes(), "origin");
        assert_eq!((default.as_deref(), current.as_deref()), (Some("main"), Some("x#HEAD")));
        let parsed: Vec<_> = branches
            .iter()
            .map(|branch| {
                (branch.name.as_str(), branch.remote, branch.seconds.zip(branch.last_commit.as_deref()))
            })
            .collect();
        let expected = [
            ("main", false, Some((-5, "1969-12-31T23:59:55Z"))),
            ("x#HEAD", false, Some((40, "d40"))),
            ("fork/main", false, Some((10, "d10"))),
            ("new", true, None),
        ];
        assert_eq!(parsed, expected);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(printed in proptest::collection::vec(any::<u8>(), 0..300)) {
            let lines = printed.split(|byte| *byte == b'\n').count();
            prop_assert!(parse_refs(&printed, "origin").branches.len() <= lines);
        }

        #[test]
        fn git_output_is_parsed(
            refs in proptest::collection::btree_map("[^\0\n]{1,20}", "[0-9TZ:+-]{1,30}", 0..10)
        ) {
            let line = |(name, date): (&String, &String)| format!("refs/heads/{name}\0\0 \x001\0{date}\n");
            let printed: String = refs.iter().map(line).collect();
            let parsed_refs: std::collections::BTreeMap<_, _> =
                parse_refs(printed.as_bytes(), "origin").branches.into_iter().map(|b| (b.name, b.last_commit.unwrap())).collect();
            prop_assert_eq!(parsed_refs, refs);
        }

        #[test]
        fn ticket_has_letters_and_digits(name in "[A-Za-z0-9ü-]{0,20}") {
            if let Some(ticket) = ticket_in(&name) {
                let (letters, digits) = ticket.split_once('-').unwrap();
                prop_assert!(!letters.is_empty() && letters.bytes().all(|b| b.is_ascii_uppercase()));
                prop_assert!(!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
            }
        }
    }
}
