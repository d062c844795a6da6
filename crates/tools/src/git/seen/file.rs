//! What a status tells of one file.

use std::os::unix::ffi::OsStrExt as _;

use crate::git::FilePath;
use crate::git::status::{Change, Object, Status};

/// How a file stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileStatus {
    /// As it was.
    Unchanged,
    /// Changed; with what HEAD has at its path.
    Changed(Option<Object>),
    /// The status does not tell: the file counts as part of another entry.
    Unknown,
}

impl FileStatus {
    /// How this file stands in a status of the whole working tree.
    pub(super) fn of(status: &Status, path: &FilePath) -> Self {
        let path = path.as_path().as_os_str().as_bytes();
        let mut changed = None;
        for change in &status.changes {
            if is_part_of(path, change) {
                return Self::Unknown;
            }
            if change.path == path {
                let before = changed.get_or_insert(None);
                *before = before.take().or_else(|| change.before.clone());
            }
        }
        changed.map_or(Self::Unchanged, Self::Changed)
    }
}

/// Whether an entry tells of a file together with others: as one side of a rename, or within a
/// directory of which git knows nothing.
fn is_part_of(path: &[u8], change: &Change) -> bool {
    let renamed = change.from.as_deref().is_some_and(|from| from == path || change.path == path);
    renamed || (change.path.ends_with(b"/") && path.starts_with(&change.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::parse_status;

    #[test]
    fn a_file_is_told_by_its_own_entry_alone() {
        let printed = "1 .M N... 100644 100644 100644 aa bb changed\0\
            1 D. N... 100644 000000 000000 cc 00 back\0\
            2 R. N... 100644 100644 100644 dd dd R100 to\0from\0\
            ? back\0? new\0? directory/\0";
        let status = parse_status(printed.as_bytes());
        let of = |path: &str| FileStatus::of(&status, &FilePath::parse(path).unwrap());
        let before =
            |id: &str| FileStatus::Changed(Some(Object { mode: "100644".to_owned(), id: id.to_owned() }));
        assert_eq!(of("changed"), before("aa"));
        assert_eq!(of("back"), before("cc"));
        assert_eq!(of("new"), FileStatus::Changed(None));
        for unchanged in ["same", "directory", "changed/no", "directory.txt"] {
            assert_eq!(of(unchanged), FileStatus::Unchanged, "{unchanged}");
        }
        for unknown in ["to", "from", "directory/file"] {
            assert_eq!(of(unknown), FileStatus::Unknown, "{unknown}");
        }
    }
}
