//! `git status` of a checkout: HEAD and the changed files, from a single command.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::Repository;

use super::{DropPolicy, Git, GitError, checked, finish, time};

/// Mode of an entry that does not exist.
const NO_MODE: &str = "000000";

/// The status of a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// The commit of HEAD; `None` on an unborn branch.
    pub commit: Option<String>,
    /// The current branch, also when it has no commit yet; `None` when HEAD is detached, for example during a
    /// rebase.
    pub branch: Option<String>,
    /// Changed paths, in git's order.
    pub changes: Vec<StatusChange>,
}

/// A changed path. Paths are bytes, because file names need not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusChange {
    /// Status letter of the index, as in `git status --porcelain`; a space when unchanged.
    pub index: char,
    /// Status letter of the working tree; `?` for an untracked and `!` for an ignored file.
    pub tree: char,
    /// Path relative to the root of the working tree; a directory ends with a slash.
    pub path: Vec<u8>,
    /// Path before a rename or copy.
    pub from: Option<Vec<u8>>,
    /// The entry of HEAD at this path, or our side of a conflict; `None` when there is none.
    pub before: Option<TreeEntry>,
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Mode in octal, such as `100644`.
    pub mode: String,
    /// Full hash of the object.
    pub id: String,
}

impl TreeEntry {
    /// Returns whether the entry is a submodule. Its id is a commit, which this repository does not contain.
    #[must_use]
    pub fn is_submodule(&self) -> bool {
        self.mode == "160000"
    }

    /// Returns whether the entry is a symbolic link, whose content is its target.
    #[must_use]
    pub fn is_link(&self) -> bool {
        self.mode == "120000"
    }
}

/// Changed paths by kind. Names that are not UTF-8 contain replacement characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangedFiles {
    /// Modified, renamed or conflicted files.
    pub modified: Vec<String>,
    /// New files, including untracked ones.
    pub created: Vec<String>,
    /// Files that were removed from the index or the working tree.
    pub deleted: Vec<String>,
    /// Files with changes in the index.
    pub staged: Vec<String>,
}

impl Status {
    /// Groups the changes by kind. A path may be in several lists.
    #[must_use]
    pub fn files(&self) -> ChangedFiles {
        let mut files = ChangedFiles::default();
        for change in &self.changes {
            let is = |letters: &[char]| [change.index, change.tree].iter().any(|l| letters.contains(l));
            let lists = [
                // Renames and copies are listed under their new name. Conflicts are listed so that the user
                // sees them.
                (is(&['M', 'R', 'C', 'T', 'U']), &mut files.modified),
                (is(&['A', '?']), &mut files.created),
                (is(&['D']), &mut files.deleted),
                (!matches!(change.index, ' ' | '?'), &mut files.staged),
            ];
            for (_, list) in lists.into_iter().filter(|(belongs, _)| *belongs) {
                list.push(change.name());
            }
        }
        files
    }
}

impl StatusChange {
    /// Returns whether the file has conflicts. Both sides may have added or deleted it.
    #[must_use]
    pub fn is_unmerged(&self) -> bool {
        matches!((self.index, self.tree), ('U', _) | (_, 'U') | ('A', 'A') | ('D', 'D'))
    }

    /// Returns the path as text, with invalid UTF-8 replaced.
    #[must_use]
    pub fn name(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }
}

/// Parses `git status --porcelain=v2 -z`, with or without `--branch`.
#[must_use]
pub fn parse_status(printed: &[u8]) -> Status {
    let mut status = Status::default();
    let mut records = printed.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        let Some((kind, rest)) = record.split_at_checked(2) else { continue };
        let change = match kind {
            b"# " => {
                status.take_header(rest);
                None
            }
            b"1 " => tracked(rest, 8, Some((2, 5)), None),
            b"2 " => tracked(rest, 9, None, records.next()),
            // Stage 2 of an unmerged entry is our side.
            b"u " => tracked(rest, 10, Some((3, 7)), None),
            b"? " => Some(untracked('?', rest)),
            b"! " => Some(untracked('!', rest)),
            _ => None,
        };
        status.changes.extend(change);
    }
    status
}

impl Status {
    fn take_header(&mut self, header: &[u8]) {
        let Ok(header) = str::from_utf8(header) else { return };
        match header.split_once(' ') {
            Some(("branch.oid", commit)) if commit != "(initial)" => self.commit = Some(commit.to_owned()),
            Some(("branch.head", branch)) if branch != "(detached)" => self.branch = Some(branch.to_owned()),
            _ => {}
        }
    }
}

/// Parses a record with this number of fields, of which the path is the last. `before` names the fields with
/// HEAD's mode and hash. They are not used for a rename, where they describe the old path.
fn tracked(
    record: &[u8],
    fields: usize,
    before: Option<(usize, usize)>,
    from: Option<&[u8]>,
) -> Option<StatusChange> {
    let parts: Vec<&[u8]> = record.splitn(fields, |byte| *byte == b' ').collect();
    if parts.len() != fields {
        return None;
    }
    let [index, tree] = parts.first()? else { return None };
    let letter = |byte: &u8| if *byte == b'.' { ' ' } else { char::from(*byte) };
    let text = |at: usize| parts.get(at).map(|part| String::from_utf8_lossy(part).into_owned());
    let before = before.and_then(|(mode, id)| Some(TreeEntry { mode: text(mode)?, id: text(id)? }));
    Some(StatusChange {
        index: letter(index),
        tree: letter(tree),
        path: parts.last()?.to_vec(),
        from: from.map(<[u8]>::to_vec),
        before: before.filter(|object| object.mode != NO_MODE),
    })
}

fn untracked(letter: char, path: &[u8]) -> StatusChange {
    StatusChange { index: letter, tree: letter, path: path.to_vec(), from: None, before: None }
}

impl Git {
    /// Returns HEAD and the changed files. An untracked directory is a single entry.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a working tree.
    pub async fn status(&self, directory: &Path) -> Result<Status, GitError> {
        self.status_of(directory, &[]).await
    }

    /// As [`Git::status`], together with the directories that are ignored as a whole, relative to the root of
    /// the working tree.
    ///
    /// # Errors
    /// Fails as [`Git::status`] does.
    pub async fn status_with_ignored(
        &self,
        directory: &Path,
    ) -> Result<(Status, BTreeSet<PathBuf>), GitError> {
        let mut status = self.status_of(directory, &["--ignored=matching"]).await?;
        let ignored = status.changes.extract_if(.., |change| change.tree == '!');
        let directories = ignored
            .filter_map(|change| Some(PathBuf::from(OsStr::from_bytes(change.path.strip_suffix(b"/")?))));
        let directories = directories.collect();
        Ok((status, directories))
    }

    async fn status_of(&self, directory: &Path, more: &[&str]) -> Result<Status, GitError> {
        let repository = self.repository(directory).await?;
        let command = self.status_command(&repository).await?;
        let command = command.args(["--branch", "--no-ahead-behind", "--untracked-files=normal"]).args(more);
        let args = ["status"];
        let output = checked(&args, finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?)?;
        Ok(self.status_from(&repository, &output.stdout).await)
    }

    /// Parses the output of `git status`. Git opens directories of the working tree by name, and a directory
    /// may be replaced by a symbolic link at that moment. Untracked files are therefore reported only if they
    /// exist below the directory handle that was checked.
    async fn status_from(&self, repository: &Arc<Repository>, printed: &[u8]) -> Status {
        let mut status = parse_status(printed);
        if status.changes.iter().any(|change| change.tree == '?') {
            let repository = repository.clone();
            let retain_existing = move || {
                let exists = |path: &[u8]| {
                    let path = Path::new(OsStr::from_bytes(path));
                    repository.handles.root.kind(path).is_some()
                };
                status.changes.retain(|change| change.tree != '?' || exists(&change.path));
                status
            };
            return tokio::task::spawn_blocking(retain_existing).await.unwrap_or_default();
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Prints a status in git's format.
    fn printed(status: &Status) -> Vec<u8> {
        let mut out = format!("# branch.oid {}\0", status.commit.as_deref().unwrap_or("(initial)"));
        out += &format!("# branch.head {}\0", status.branch.as_deref().unwrap_or("(detached)"));
        out += "# branch.upstream origin/main\0# branch.ab +1 -2\0";
        let mut out = out.into_bytes();
        for change in &status.changes {
            let letters: String = [change.index, change.tree].into_iter().map(dotted).collect();
            let before = change.before.clone();
            let TreeEntry { mode, id } =
                before.unwrap_or_else(|| TreeEntry { mode: NO_MODE.to_owned(), id: "0".repeat(40) });
            let head = match (change.tree, &change.from) {
                ('?' | '!', _) => format!("{} ", change.tree),
                ('U', _) => format!("u {letters} N... 100644 {mode} 100644 100644 1 {id} 3 "),
                (_, None) => format!("1 {letters} S.MU {mode} 100644 100644 {id} 2222 "),
                (_, Some(_)) => format!("2 {letters} N... 100644 100644 100644 1111 2222 R87 "),
            };
            out.extend_from_slice(head.as_bytes());
            out.extend_from_slice(&change.path);
            out.push(0);
            if let Some(from) = &change.from {
                out.extend_from_slice(from);
                out.push(0);
            }
        }
        out
    }

    fn dotted(letter: char) -> char {
        if letter == ' ' { '.' } else { letter }
    }

    fn path() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(1..=u8::MAX, 1..20)
    }

    fn letter(of: &'static str) -> impl Strategy<Value = char> {
        proptest::sample::select(of.chars().collect::<Vec<_>>())
    }

    fn change() -> impl Strategy<Value = StatusChange> {
        let object =
            ("(100644|100755|120000|160000)", "[0-9a-f]{40}").prop_map(|(mode, id)| TreeEntry { mode, id });
        let before = proptest::option::of(object);
        let plain = (letter(" MADT"), letter(" MADTU"), path(), before)
            .prop_map(|(index, tree, path, before)| StatusChange { index, tree, path, from: None, before });
        let moved = (letter("RC"), letter(" MD"), path(), path()).prop_map(|(index, tree, path, from)| {
            StatusChange { index, tree, path, from: Some(from), before: None }
        });
        let untracked = (letter("?!"), path()).prop_map(|(letter, path)| super::untracked(letter, &path));
        prop_oneof![plain, moved, untracked]
    }

    fn status() -> impl Strategy<Value = Status> {
        let commit = proptest::option::of("[0-9a-f]{40}");
        let branch = proptest::option::of("[a-zü/.#-]{1,20}");
        (commit, branch, proptest::collection::vec(change(), 0..10))
            .prop_map(|(commit, branch, changes)| Status { commit, branch, changes })
    }

    proptest! {
        #[test]
        fn git_output_is_parsed(status in status()) {
            prop_assert_eq!(parse_status(&printed(&status)), status);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(printed in proptest::collection::vec(any::<u8>(), 0..200)) {
            let records = printed.split(|byte| *byte == 0).count();
            prop_assert!(parse_status(&printed).changes.len() <= records);
        }

        #[test]
        fn truncated_output_is_parsed(status in status(), at in any::<proptest::sample::Index>()) {
            let printed = printed(&status);
            let cut = &printed[..at.index(printed.len())];
            prop_assert!(parse_status(cut).changes.len() <= status.changes.len());
        }
    }

    #[test]
    fn path_is_listed_under_each_of_its_kinds() {
        let change = |index, tree, path: &[u8]| StatusChange {
            index,
            tree,
            path: path.to_vec(),
            from: None,
            before: None,
        };
        let changes = vec![
            change(' ', 'M', b"edited"),
            change('A', 'M', b"added"),
            change('R', ' ', b"moved"),
            change('D', ' ', b"gone"),
            change(' ', 'T', b"link"),
            change('U', 'U', b"conflict"),
            change('?', '?', b"caf\xe9/"),
        ];
        let files = Status { changes, ..Status::default() }.files();
        assert_eq!(files.modified, ["edited", "added", "moved", "link", "conflict"]);
        assert_eq!(files.created, ["added", "caf\u{fffd}/"]);
        assert_eq!(files.deleted, ["gone"]);
        assert_eq!(files.staged, ["added", "moved", "gone", "conflict"]);
    }
}
