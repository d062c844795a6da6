//! The branches of a repository and the worktrees they are checked out in, for a person to choose.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Git, GitError, checked, time};

/// One line a ref, fields parted by a byte that no ref holds.
const FORMAT: &str = "--format=%(refname)%00%(symref)%00%(committerdate:unix)%00%(committerdate:iso-strict)";
/// Branch that is taken for the default where nothing says which it is.
const USUAL_DEFAULT: &str = "main";

/// What there is to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branches {
    /// The default branch of `origin`, else the one that is checked out.
    pub default: String,
    /// Every worktree but the one that was asked about.
    pub worktrees: Vec<ListedWorktree>,
    /// The default one first, then by their last commit, the newest first.
    pub branches: Vec<Branch>,
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

/// Reads what `git for-each-ref` prints in our format: local branches, then those of `origin` that
/// are not here, then other remotes' under their whole names. Symbolic refs are no branches.
#[must_use]
pub fn parse_branches(printed: &[u8]) -> Vec<Branch> {
    let mut branches: Vec<Branch> = Vec::new();
    let mut seen = HashSet::new();
    for line in printed.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let fields: Vec<&str> = line.split('\0').collect();
        let [full, "", seconds, date] = fields[..] else { continue };
        let (name, remote) = match (full.strip_prefix("refs/heads/"), full.strip_prefix("refs/remotes/")) {
            (Some(local), _) => (local, false),
            (None, Some(name)) => match name.strip_prefix("origin/") {
                Some(name) => (name, true),
                None => (name, false),
            },
            (None, None) => continue,
        };
        if seen.insert(name.to_owned()) {
            let last_commit = Some(date).filter(|date| !date.is_empty()).map(str::to_owned);
            branches.push(Branch {
                name: name.to_owned(),
                remote,
                last_commit,
                seconds: seconds.parse().ok(),
            });
        }
    }
    branches
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
    pub async fn branches(&self, repository: &Path) -> Result<Branches, GitError> {
        let (default, worktrees, branches) = tokio::try_join!(
            async { known(self.default_branch(repository).await) },
            async { known(self.worktrees(repository).await) },
            async { known(self.refs(repository).await) },
        )?;
        let default = match default {
            Some(default) => default,
            None => known(self.current_branch(repository).await)?.unwrap_or_else(|| USUAL_DEFAULT.to_owned()),
        };
        let mut branches = branches;
        branches.sort_by_key(|branch| (branch.name != default, Reverse(branch.seconds)));
        let asked = real(repository).await;
        let mut listed = Vec::new();
        for worktree in worktrees {
            if real(&worktree.path).await != asked {
                let branch = worktree.branch.unwrap_or_default();
                let name = worktree.path.file_name().unwrap_or_default().to_string_lossy();
                let ticket = ticket_in(&name).or_else(|| ticket_in(&branch)).map(str::to_owned);
                listed.push(ListedWorktree { path: worktree.path, branch, ticket });
            }
        }
        Ok(Branches { default, worktrees: listed, branches })
    }

    async fn refs(&self, repository: &Path) -> Result<Vec<Branch>, GitError> {
        let args = ["for-each-ref", FORMAT, "refs/heads", "refs/remotes"];
        let output = checked(&args, self.output(repository, &args, time::LOCAL).await?)?;
        Ok(parse_branches(&output.stdout))
    }
}

/// Takes a refusal of git's for having nothing.
fn known<T: Default>(answer: Result<T, GitError>) -> Result<T, GitError> {
    match answer {
        Err(GitError::Failed { .. }) => Ok(T::default()),
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
    fn a_ticket_is_found_at_the_end_first() {
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
    fn a_branch_is_listed_once_and_a_symbolic_ref_never() {
        let printed = "refs/heads/main\0\x0020\0d20\nrefs/heads/x|HEAD\0\0\0\n\
            refs/remotes/fork/main\0\x0010\0d10\nrefs/remotes/origin/HEAD\0refs/remotes/origin/main\x0020\0d20\n\
            refs/remotes/origin/main\0\x0020\0d20\nrefs/remotes/origin/new\0\x0030\0d30\nrefs/tags/v1\0\x001\0d1\n";
        let branches = parse_branches(printed.as_bytes());
        let told: Vec<_> =
            branches.iter().map(|b| (b.name.as_str(), b.remote, b.last_commit.as_deref())).collect();
        let expected = [
            ("main", false, Some("d20")),
            ("x|HEAD", false, None),
            ("fork/main", false, Some("d10")),
            ("new", true, Some("d30")),
        ];
        assert_eq!(told, expected);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(printed in proptest::collection::vec(any::<u8>(), 0..300)) {
            let lines = printed.split(|byte| *byte == b'\n').count();
            prop_assert!(parse_branches(&printed).len() <= lines);
        }

        #[test]
        fn what_git_writes_is_read(
            refs in proptest::collection::btree_map("[^\0\n]{1,20}", proptest::option::of(any::<i64>()), 0..10)
        ) {
            let line = |(name, seconds): (&String, &Option<i64>)| {
                let seconds = seconds.map_or(String::new(), |seconds| seconds.to_string());
                format!("refs/heads/{name}\0\0{seconds}\0{seconds}\n")
            };
            let printed: String = refs.iter().map(line).collect();
            let read: std::collections::BTreeMap<_, _> =
                parse_branches(printed.as_bytes()).into_iter().map(|b| (b.name, b.seconds)).collect();
            prop_assert_eq!(read, refs);
        }

        #[test]
        fn a_ticket_has_letters_and_digits(name in "[A-Za-z0-9ü-]{0,20}") {
            if let Some(ticket) = ticket_in(&name) {
                let (letters, digits) = ticket.split_once('-').unwrap();
                prop_assert!(!letters.is_empty() && letters.bytes().all(|b| b.is_ascii_uppercase()));
                prop_assert!(!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
            }
        }
    }
}
