//! What was made of a file, for as long as the file stays as it is: pages ask again and again how a
//! ticket stands, and most of its files have not changed since.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Files of which something is remembered.
const MOST: usize = 64;
/// A file that changed this short a while ago may change again without telling so by its times.
const CLOCK_GRAIN: Duration = Duration::from_millis(100);

/// By which a file is known to be as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    const fn is_same_file(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }
}

/// What was made of some files, the latest at the end.
pub(super) struct Remembered<T>(Mutex<VecDeque<(Identity, T)>>);

impl<T: Clone> Remembered<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// What `make` makes of the file, or made of it before. Nothing is remembered of a failure.
    pub(super) fn of<E>(&self, file: &File, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let Ok(metadata) = file.metadata() else { return make() };
        let identity = Identity::of(&metadata);
        let known = self.known().iter().find(|(known, _)| *known == identity).map(|(_, made)| made.clone());
        if let Some(made) = known {
            return Ok(made);
        }
        let made = make()?;
        if is_settled(&metadata) {
            let mut known = self.known();
            known.retain(|(known, _)| !known.is_same_file(&identity));
            if known.len() == MOST {
                known.pop_front();
            }
            known.push_back((identity, made.clone()));
        }
        Ok(made)
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<(Identity, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_settled(metadata: &Metadata) -> bool {
    let age = metadata.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    age.is_some_and(|age| age > CLOCK_GRAIN)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    /// Reads a file and counts how often that was needed.
    fn read(remembered: &Remembered<String>, path: &std::path::Path, times: &Cell<u32>) -> String {
        let file = File::open(path).unwrap();
        let made = remembered.of(&file, || {
            times.set(times.get() + 1);
            Ok::<_, Infallible>(std::fs::read_to_string(path).unwrap())
        });
        made.unwrap()
    }

    fn write(path: &std::path::Path, text: &str, age: Duration) {
        std::fs::write(path, text).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    #[test]
    fn a_file_is_read_again_when_it_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        let (remembered, times) = (Remembered::new(), Cell::new(0));
        let long_ago = Duration::from_secs(60);
        write(&path, "one", long_ago);
        for _ in 0..2 {
            assert_eq!(read(&remembered, &path, &times), "one");
        }
        assert_eq!(times.get(), 1);
        write(&path, "two", long_ago);
        assert_eq!(read(&remembered, &path, &times), "two");
        assert_eq!(times.get(), 2);
        assert_eq!(remembered.known().len(), 1);
    }

    #[test]
    fn a_file_that_is_just_written_is_always_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        let (remembered, times) = (Remembered::new(), Cell::new(0));
        std::fs::write(&path, "one").unwrap();
        // However long the test takes, the file is younger.
        let later = SystemTime::now() + Duration::from_secs(3600);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        for _ in 0..2 {
            read(&remembered, &path, &times);
        }
        assert_eq!((times.get(), remembered.known().len()), (2, 0));
    }

    #[test]
    fn only_so_many_files_are_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let (remembered, times) = (Remembered::new(), Cell::new(0));
        for name in 0..=MOST {
            let path = dir.path().join(name.to_string());
            write(&path, "x", Duration::from_secs(60));
            read(&remembered, &path, &times);
        }
        assert_eq!(remembered.known().len(), MOST);
    }
}
