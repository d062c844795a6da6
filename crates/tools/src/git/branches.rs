//! The branches of a repository and the worktrees they are checked out in, for a person to choose.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Git, GitError, Worktree, checked, time};

/// One line a ref, fields separated by a byte that no ref holds.
const FORMAT: &str =
    "--format=%(refname)%00%(symref)%00%(HEAD)%00%(committerdate:unix)%00%(committerdate:iso-strict)";
/// What the remote says is its default branch, and how such branches are called.
const ORIGIN_HEAD: &str = "refs/remotes/origin/HEAD";
const OF_ORIGIN: &str = "refs/remotes/origin/";
/// Branch that is taken for the default where nothing says which it is.
const USUAL_DEFAULT: &str = "main";

/// What there is to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branches {
    /// Every worktree but the one that was asked about.
    pub worktrees: Vec<ListedWorktree>,
    /// The rest.
    pub listing: Arc<BranchListing>,
}

/// Branches and worktrees, as git lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BranchListing {
    /// The default branch of `origin`, else the one that is checked out.
    pub default: String,
    /// The default one first, then by their last commit, the newest first.
    pub branches: Vec<Branch>,
    /// Every worktree; nothing when there is only the one that was asked about.
    worktrees: Vec<Worktree>,
}

/// What the refs of a repository tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// Local branches, then those of `origin` that are not here, then other remotes' under their
    /// whole names. Symbolic refs are no branches.
    pub branches: Vec<Branch>,
    /// The default branch of `origin`.
    pub default: Option<String>,
    /// The branch that is checked out, unless it has no commit.
    pub current: Option<String>,
}

/// A worktree to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedWorktree {
    /// Its directory.
    pub path: PathBuf,
    /// Its branch; empty when it is on none.
    pub branch: String,
    /// The ticket that its name or branch tells of.
    pub ticket: Option<String>,
}

/// A branch to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Its name, without `origin/`.
    pub name: String,
    /// It is at `origin` and not here.
    pub remote: bool,
    /// Date of its last commit, ISO 8601.
    pub last_commit: Option<String>,
    /// The same in seconds, to sort by.
    seconds: Option<i64>,
}

/// Reads what `git for-each-ref` prints in our format.
#[must_use]
pub fn parse_refs(printed: &[u8]) -> Refs {
    let mut refs = Refs::default();
    let mut seen = HashSet::new();
    for line in printed.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let mut fields = line.split('\0');
        let mut field = || fields.next();
        let (Some(full), Some(target), Some(head), Some(seconds), Some(date), None) =
            (field(), field(), field(), field(), field(), field())
        else {
            continue;
        };
        if full == ORIGIN_HEAD {
            refs.default = target.strip_prefix(OF_ORIGIN).map(str::to_owned);
        }
        if !target.is_empty() {
            continue;
        }
        let (name, remote) = match (full.strip_prefix("refs/heads/"), full.strip_prefix("refs/remotes/")) {
            (Some(local), _) => (local, false),
            (None, Some(name)) => match name.strip_prefix("origin/") {
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

/// The ticket that a name tells of: capital letters, a dash, digits; at its end, else anywhere.
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
    /// Lists branches and worktrees; a directory that is no repository has none.
    ///
    /// # Errors
    /// [`GitError`] when git could not be asked.
    pub async fn listing(&self, repository: &Path) -> Result<BranchListing, GitError> {
        let records = records_of(repository).await;
        let worktrees = async {
            match &records {
                // Git would name this directory alone.
                Some(records) if !exists(&records.join("worktrees")).await => Ok(Vec::new()),
                _ => known(self.worktrees(repository).await),
            }
        };
        let refs = async { known(self.refs(repository).await) };
        let (worktrees, refs) = tokio::try_join!(worktrees, refs)?;
        let Refs { mut branches, mut default, current } = refs;
        // A default branch that is not there is not among the refs.
        let hidden = async {
            match &records {
                Some(records) => exists(&records.join(ORIGIN_HEAD)).await,
                None => true,
            }
        };
        if default.is_none() && hidden.await {
            default = known(self.default_branch(repository).await)?;
        }
        let default = match default.or(current) {
            Some(default) => default,
            None => known(self.current_branch(repository).await)?.unwrap_or_else(|| USUAL_DEFAULT.to_owned()),
        };
        branches.sort_by_key(|branch| (branch.name != default, Reverse(branch.seconds)));
        Ok(BranchListing { default, branches, worktrees })
    }

    async fn refs(&self, repository: &Path) -> Result<Refs, GitError> {
        let args = ["for-each-ref", FORMAT, "refs/heads", "refs/remotes"];
        let output = checked(&args, self.output(repository, &args, time::LOCAL).await?)?;
        Ok(parse_refs(&output.stdout))
    }
}

impl Branches {
    /// The listing for a request about this directory.
    pub async fn of(listing: Arc<BranchListing>, repository: &Path) -> Self {
        let mut worktrees = Vec::new();
        if !listing.worktrees.is_empty() {
            let asked = real(repository).await;
            for Worktree { path, branch, .. } in &listing.worktrees {
                if real(path).await != asked {
                    let branch = branch.clone().unwrap_or_default();
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    let ticket = ticket_in(&name).or_else(|| ticket_in(&branch)).map(str::to_owned);
                    worktrees.push(ListedWorktree { path: path.clone(), branch, ticket });
                }
            }
        }
        Self { worktrees, listing }
    }
}

/// The records of a clone, where they are in it as a directory.
async fn records_of(repository: &Path) -> Option<PathBuf> {
    let records = repository.join(".git");
    let found = tokio::fs::symlink_metadata(&records).await;
    found.is_ok_and(|found| found.is_dir()).then_some(records)
}

async fn exists(path: &Path) -> bool {
    !matches!(tokio::fs::symlink_metadata(path).await, Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}

/// Takes a refusal of git's for having nothing.
fn known<T: Default>(answer: Result<T, GitError>) -> Result<T, GitError> {
    match answer {
        Err(error) if error.is_refusal_of_git() => Ok(T::default()),
        other => other,
    }
}

async fn real(path: &Path) -> PathBuf {
    tokio::fs::canonicalize(path).await.unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticket_is_found_at_the_end_first() {
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
    fn branch_is_listed_once_and_a_symbolic_ref_never() {
        let printed = "refs/heads/main|||-5|1969-12-31T23:59:55Z\nrefs/heads/x#HEAD||*|40|d40\n\
            refs/remotes/fork/main|| |10|d10\nrefs/remotes/origin/HEAD|refs/remotes/origin/main| |20|d20\n\
            refs/remotes/origin/main|| |20|d20\nrefs/remotes/origin/new|| ||\nrefs/tags/v1|| |1|d1\n";
        let Refs { branches, default, current } = parse_refs(printed.replace('|', "\0").as_bytes());
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
            prop_assert!(parse_refs(&printed).branches.len() <= lines);
        }

        #[test]
        fn git_output_is_parsed(
            refs in proptest::collection::btree_map("[^\0\n]{1,20}", "[0-9TZ:+-]{1,30}", 0..10)
        ) {
            let line = |(name, date): (&String, &String)| format!("refs/heads/{name}\0\0 \x001\0{date}\n");
            let printed: String = refs.iter().map(line).collect();
            let read: std::collections::BTreeMap<_, _> =
                parse_refs(printed.as_bytes()).branches.into_iter().map(|b| (b.name, b.last_commit.unwrap())).collect();
            prop_assert_eq!(read, refs);
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
