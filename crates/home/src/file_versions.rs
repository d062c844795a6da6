//! Metadata of files, to detect later changes of their content without reading it again.
//!
//! Files are compared by their metadata, as git compares files with its index. A file that changed within the
//! resolution of its timestamps is not compared: a second change could leave the same timestamp ("racy git").

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Margin for timestamps on file systems that store nanoseconds. They advance with the kernel's timer tick,
/// at most every 10 ms.
const FINE_RESOLUTION: Duration = Duration::from_millis(100);
/// Margin for timestamps on file systems that store seconds or, like FAT, two seconds.
const COARSE_RESOLUTION: Duration = Duration::from_secs(2);

/// Paths with the metadata that their files had.
#[derive(Debug)]
pub struct FileVersions(Vec<(PathBuf, Option<FileVersion>)>);

/// Metadata that changes together with the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    device_and_inode: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileVersions {
    /// Reads the metadata of these files, which need not exist. Returns `None` when a file changed so recently that
    /// its next change might not be visible in the metadata. Follows symbolic links.
    ///
    /// # Errors
    /// Any failure of the file system, other than a missing file.
    pub fn read(files: impl IntoIterator<Item = PathBuf>) -> io::Result<Option<Self>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut versions = Vec::new();
        for path in files {
            let version = FileVersion::of(&path)?;
            if version.is_some_and(|version| version.is_recent(now)) {
                return Ok(None);
            }
            versions.push((path, version));
        }
        Ok(Some(Self(versions)))
    }

    /// Returns whether the metadata of all files is unchanged. Reads the disk.
    #[must_use]
    pub fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(path, before)| FileVersion::of(path).is_ok_and(|current| current == *before))
    }
}

impl FileVersion {
    /// Returns `None` when the file does not exist. Follows symbolic links.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        match path.metadata() {
            Ok(metadata) => Ok(Some(Self {
                device_and_inode: (metadata.dev(), metadata.ino()),
                size: metadata.size(),
                modified: (metadata.mtime(), metadata.mtime_nsec()),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
            })),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn is_recent(&self, now: Duration) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let resolution = if nanoseconds == 0 { COARSE_RESOLUTION } else { FINE_RESOLUTION };
        // A negative time is before 1970, hence not recent.
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u32::try_from(nanoseconds)) else {
            return false;
        };
        // A time in the future counts as recent.
        now < Duration::new(seconds, nanoseconds) + resolution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_detected_and_recent_files_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let (recent, absent) = (dir.path().join("recent"), dir.path().join("absent"));
        std::fs::write(&recent, "1").unwrap();
        assert!(FileVersions::read([recent]).unwrap().is_none(), "written just now");
        let files = FileVersions::read([PathBuf::from("/"), absent.clone()]).unwrap().unwrap();
        assert!(files.are_unchanged());
        std::fs::write(&absent, "").unwrap();
        assert!(!files.are_unchanged());
    }

    #[test]
    fn recent_depends_on_the_resolution_of_the_timestamp() {
        let changed_at = |nanoseconds| FileVersion {
            device_and_inode: (1, 1),
            size: 1,
            modified: (1, 0),
            changed: (1000, nanoseconds),
        };
        let at = |millis: u64| Duration::from_millis(millis);
        assert!(changed_at(1).is_recent(at(1_000_050)) && !changed_at(1).is_recent(at(1_000_200)));
        assert!(changed_at(0).is_recent(at(1_001_500)) && !changed_at(0).is_recent(at(1_002_500)));
        assert!(changed_at(1).is_recent(at(900_000)), "in the future");
    }
}
