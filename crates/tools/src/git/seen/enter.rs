//! Which directories of a repository are watched: those of the records that matter, and those of
//! the working tree that git does not ignore. Where something could change unheard, none.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::heard::Heard;
use super::repository::{GIT, INFO, Repository, WORKTREES};
use super::watch::Part;
use super::{REST, Refusal};

/// Where git records what refs mean, in files or, otherwise, in tables.
const REFS: &str = "refs";
const REF_TABLES: &str = "reftable";

impl Repository {
    pub(super) fn enter_records(&self, heard: &mut Heard) -> Result<(), Refusal> {
        for (part, root) in [(Part::Common, &self.common), (Part::Own, &self.own)] {
            if part == Part::Own && self.own == self.common {
                break;
            }
            for name in ["HEAD", "index", "config", "config.worktree", "packed-refs"] {
                if is_link(&root.join(name)) {
                    return Err(Refusal::Unusual("a record is a link"));
                }
            }
            if root.join(REF_TABLES).exists() {
                return Err(Refusal::Unusual("refs are kept in tables"));
            }
            heard.add((part, PathBuf::new()), root)?;
            for name in [REFS, INFO, WORKTREES] {
                self.enter_record(heard, part, Path::new(name))?;
            }
        }
        Ok(())
    }

    /// Watches a directory of the records with those below it that matter.
    pub(super) fn enter_record(&self, heard: &mut Heard, part: Part, from: &Path) -> Result<(), Refusal> {
        let mut waiting = vec![from.to_owned()];
        while let Some(place) = waiting.pop() {
            let absolute = self.root(part).join(&place);
            if is_link(&absolute) {
                return Err(Refusal::Unusual("a directory of records is a link"));
            }
            if !self.is_watched_record(part, &place) || !heard.add((part, place.clone()), &absolute)? {
                continue;
            }
            for entry in entries(&absolute)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_symlink() {
                    return Err(Refusal::Unusual("a record is a link"));
                }
                if kind.is_dir() {
                    waiting.push(place.join(entry.file_name()));
                }
            }
        }
        Ok(())
    }

    pub(super) fn is_watched_record(&self, part: Part, place: &Path) -> bool {
        // The own records have a watch of their own.
        let own = part == Part::Common && self.root(part).join(place) == self.own;
        let another = place == Path::new(WORKTREES) || place.parent() == Some(Path::new(WORKTREES));
        !own && (place.starts_with(REFS) || place == Path::new(INFO) || another)
    }

    /// Watches a directory of the working tree with all below it; when that cannot be done, the
    /// whole tree is given up.
    pub(super) fn enter_or_leave_tree(&self, heard: &mut Heard, from: &Path) {
        if let Err(refusal) = self.enter_tree(heard, from) {
            tracing::debug!(%refusal, "a working tree is not watched");
            heard.watch.remove(Part::Tree, Path::new(""));
            heard.no_tree_until = Some(Instant::now() + REST);
        }
    }

    fn enter_tree(&self, heard: &mut Heard, from: &Path) -> Result<(), Refusal> {
        if heard.no_tree_until.is_some() {
            return Ok(());
        }
        let mut waiting = vec![from.to_owned()];
        while let Some(place) = waiting.pop() {
            let absolute = self.directory.join(&place);
            if heard.ignored.contains(&place) || !heard.add((Part::Tree, place.clone()), &absolute)? {
                continue;
            }
            for entry in entries(&absolute)? {
                let entry = entry?;
                let name = entry.file_name();
                if name == GIT {
                    if place.as_os_str().is_empty() && !entry.file_type()?.is_symlink() {
                        continue;
                    }
                    return Err(Refusal::Unusual("there is a repository in the repository"));
                }
                let found = match entry.metadata() {
                    Ok(found) => found,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error.into()),
                };
                if found.is_dir() {
                    if found.dev() != heard.device {
                        return Err(Refusal::Unusual("another file system lies in the tree"));
                    }
                    waiting.push(place.join(name));
                } else if found.is_file() && found.nlink() > 1 {
                    return Err(Refusal::Unusual("a file has another name, outside perhaps"));
                }
            }
        }
        Ok(())
    }

    fn root(&self, part: Part) -> &Path {
        match part {
            Part::Tree => &self.directory,
            Part::Own => &self.own,
            Part::Common => &self.common,
        }
    }
}

/// The entries of a directory; one that has gone meanwhile has none.
fn entries(directory: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<std::fs::DirEntry>>>> {
    match directory.read_dir() {
        Ok(entries) => Ok(Box::new(entries)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Box::new(std::iter::empty()))
        }
        Err(error) => Err(error),
    }
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}
