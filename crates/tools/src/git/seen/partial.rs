//! A status brought up to date by asking git for a few paths alone.
//!
//! In a large repository that is a small part of the work. It is done only while the index, HEAD and
//! all rules are the same, and where the answer for a path cannot hang on another path.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::git::status::{Change, Status};
use crate::git::{Caller, Git, GitError, checked, finish, time};

impl Git {
    /// The status of which these files may have changed since `known`; `None` when git has to be
    /// asked for all of it.
    pub(super) async fn status_since(
        &self,
        directory: &Path,
        known: &Status,
        files: &[PathBuf],
    ) -> Result<Option<Status>, GitError> {
        let repository = self.repository(directory).await?;
        let command = self.status_command(&repository).await?.env("GIT_LITERAL_PATHSPECS", "1");
        let command = command.args(["--branch", "--no-ahead-behind", "--untracked-files=normal", "--"]);
        let (command, args) = (command.args(files), ["status"]);
        let output = checked(&args, finish(&command, &args, time::LOCAL, Caller::Needed).await?)?;
        let found = self.status_told(&repository, &output.stdout).await;
        let mut there = BTreeSet::new();
        for file in files {
            if tokio::fs::symlink_metadata(directory.join(file)).await.is_ok() {
                there.insert(file.as_os_str().as_bytes());
            }
        }
        let files = files.iter().map(|file| file.as_os_str().as_bytes()).collect();
        Ok(merged(known, &found, &files, &there))
    }
}

/// What was known, with what was found of these files; some of them are `there`.
fn merged(
    known: &Status,
    found: &Status,
    files: &BTreeSet<&[u8]>,
    there: &BTreeSet<&[u8]>,
) -> Option<Status> {
    if (&known.commit, &known.branch) != (&found.commit, &found.branch) {
        return None;
    }
    let is_moved = |change: &Change| {
        let from = change.from.as_deref().is_some_and(|from| files.contains(from));
        change.from.is_some() && (from || files.contains(change.path.as_slice()))
    };
    // Files that are only intended to be added are looked for among those that are gone.
    let is_intended = |change: &Change| matches!(change.tree, 'A' | 'R' | 'C');
    if known.changes.iter().any(|change| is_moved(change) || is_intended(change))
        || found.changes.iter().any(|change| change.from.is_some() || is_intended(change))
    {
        return None;
    }
    let (unknown, tracked): (Vec<_>, Vec<_>) = found.changes.iter().partition(|change| change.tree == '?');
    // Directories of which git knows nothing count as one each.
    let whole = known.changes.iter().filter(|change| change.tree == '?' && change.path.ends_with(b"/"));
    let whole: Vec<&[u8]> = whole.map(|change| change.path.as_slice()).collect();
    let mut left = Vec::new();
    for file in files {
        if whole.iter().any(|directory| file.starts_with(directory)) {
            // The last file takes the directory along.
            if !there.contains(file) {
                return None;
            }
            left.push(*file);
        }
    }
    for change in &unknown {
        let file = change.path.as_slice();
        let listed = || known.changes.iter().any(|known| known.tree == '?' && known.path == file);
        // Of a new one it is not known which directory it makes one that git does not know.
        if !files.contains(file) || !left.contains(&file) && file.contains(&b'/') && !listed() {
            return None;
        }
    }
    let stays = |change: &&Change| !files.contains(change.path.as_slice());
    let mut changes: Vec<Change> = known.changes.iter().filter(stays).cloned().collect();
    let new = unknown.into_iter().filter(|change| !left.contains(&change.path.as_slice()));
    changes.extend(tracked.into_iter().chain(new).cloned());
    changes.sort_by(|one, other| (section(one), &one.path).cmp(&(section(other), &other.path)));
    Some(Status { changes, ..known.clone() })
}

/// Git lists conflicts after other changes, and last what it does not know.
fn section(change: &Change) -> u8 {
    match (change.index, change.tree) {
        ('?', _) => 2,
        ('U', _) | (_, 'U') | ('A', 'A') | ('D', 'D') => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(changes: &[(&str, &str)]) -> Status {
        let change = |(letters, path): &(&str, &str)| {
            let mut letters = letters.chars();
            let (index, tree) = (letters.next().unwrap(), letters.next().unwrap());
            let (path, from) = match path.split_once("<-") {
                Some((path, from)) => (path, Some(from.into())),
                None => (*path, None),
            };
            Change { index, tree, path: path.into(), from, before: None }
        };
        Status { changes: changes.iter().map(change).collect(), ..Status::default() }
    }

    fn merge(known: &Status, found: &[(&str, &str)], files: &[&str], there: &[&str]) -> Option<Status> {
        let set = |of: &[&str]| of.iter().map(|file| file.as_bytes().to_vec()).collect::<BTreeSet<_>>();
        let (files, there) = (set(files), set(there));
        let borrowed = |of: &BTreeSet<Vec<u8>>| of.iter().cloned().collect::<Vec<_>>();
        let (files, there) = (borrowed(&files), borrowed(&there));
        let files = files.iter().map(Vec::as_slice).collect();
        merged(known, &status(found), &files, &there.iter().map(Vec::as_slice).collect())
    }

    #[test]
    fn a_few_files_are_told_anew() {
        let known = status(&[(" M", "a"), ("M ", "c"), ("UU", "b"), ("??", "new/"), ("??", "x")]);
        let told = merge(&known, &[(" M", "d"), ("MM", "c")], &["a", "c", "d", "x"], &["c", "d"]);
        let expected = status(&[("MM", "c"), (" M", "d"), ("UU", "b"), ("??", "new/")]);
        assert_eq!(told, Some(expected));
        assert_eq!(merge(&known, &[], &["new/y"], &["new/y"]), Some(known.clone()));
        assert_eq!(merge(&known, &[("??", "new/y")], &["new/y"], &["new/y"]), Some(known.clone()));
        assert_eq!(merge(&known, &[("??", "w")], &["w"], &["w"]).unwrap().changes[4].path, b"w");
    }

    #[test]
    fn what_hangs_on_other_files_is_not_told() {
        let known = status(&[("R ", "to<-from"), ("??", "new/")]);
        for (found, file) in [
            (vec![], "new/y"),
            (vec![("D ", "from")], "from"),
            (vec![("A ", "to")], "to"),
            (vec![("??", "src/y")], "src/y"),
            (vec![("??", "src/")], "src/y"),
            (vec![(" A", "y")], "y"),
        ] {
            assert_eq!(merge(&known, &found, &[file], &[]), None, "{file}");
        }
        assert_eq!(merge(&status(&[(" A", "intended")]), &[], &["y"], &[]), None);
    }
}
