//! Full disks: recognizes errors of writes that found no space, and describes what is missing.

use std::io;
use std::path::Path;

use rustix::fs::{StatVfs, statvfs};
use rustix::io::Errno;

/// Exit code of a driver whose failure could not be stored because the disk was full: `EX_IOERR` of sysexits.h. The code
/// needs no space, unlike every file in which the driver could report the reason.
pub const DISK_FULL_EXIT: u8 = 74;

const MIB: u64 = 1024 * 1024;
/// Space in MiB below which a disk is described as full: room for the output, the commits and the records of a loop.
const NEEDED_MIB: u64 = 256;

/// Returns whether a write failed because the disk is full, or because a quota or the limit of a file's size is reached.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    // Compared as numbers: the kind of `EFBIG` is also that of a document that is too large to be read.
    Errno::from_io_error(error)
        .is_some_and(|error| [Errno::NOSPC, Errno::DQUOT, Errno::FBIG].contains(&error))
}

/// Describes the disk of a path at which a write found no space. A sentence without a full stop; the path may be missing.
#[must_use]
pub fn describe_full(path: &Path) -> String {
    shortage(path).unwrap_or_else(|| {
        let path = path.display();
        format!("The disk of {path} was full, or a quota or the limit of a file's size was reached")
    })
}

/// Describes what the disk of a path lacks and what the user can do; `None` when it has enough space. A sentence without a
/// full stop; the path may be missing.
#[must_use]
pub fn shortage(path: &Path) -> Option<String> {
    describe(path, &path.ancestors().find_map(|path| statvfs(path).ok())?)
}

fn describe(path: &Path, disk: &StatVfs) -> Option<String> {
    let path = path.display();
    let free = disk.f_bavail.saturating_mul(disk.f_frsize) / MIB;
    if free < NEEDED_MIB {
        let missing = NEEDED_MIB - free;
        return Some(format!(
            "The disk of {path} is full: {free} MiB of at least {NEEDED_MIB} MiB are available; free {missing} MiB or more"
        ));
    }
    // Some file systems have no fixed number of inodes and report 0.
    (disk.f_files > 0 && disk.f_favail == 0)
        .then(|| format!("The disk of {path} has no free inodes; remove files"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disks_quotas_and_file_limits_are_recognized() {
        for error in [Errno::NOSPC, Errno::DQUOT, Errno::FBIG] {
            assert!(is_full(&error.into()), "{error}");
        }
        for error in [Errno::ACCESS.into(), io::ErrorKind::FileTooLarge.into(), io::Error::other("full")] {
            assert!(!is_full(&error), "{error}");
        }
    }

    #[test]
    fn shortage_names_the_path_and_the_missing_space() {
        let mut disk = statvfs("/").unwrap();
        let path = Path::new("/work tree");
        (disk.f_frsize, disk.f_bavail, disk.f_files, disk.f_favail) = (4096, 512, 10, 5);
        assert_eq!(
            describe(path, &disk).unwrap(),
            "The disk of /work tree is full: 2 MiB of at least 256 MiB are available; free 254 MiB or more"
        );
        (disk.f_bavail, disk.f_favail) = (1024 * 1024, 0);
        assert!(describe(path, &disk).unwrap().contains("no free inodes"));
        disk.f_files = 0;
        assert_eq!(describe(path, &disk), None);
        assert!(describe_full(Path::new("/missing/work")).contains("/missing/work"));
    }
}
