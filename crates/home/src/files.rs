//! Atomic writes, file locks, and files and directories that only their owner can access.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Prefix and suffix of temporary files; random alphanumeric characters are in between.
const TEMPORARY: (&str, &str) = (".loopgate-", ".part");
/// Names that earlier versions used, and that `tempfile` uses by default.
const LEGACY_TEMPORARY: (&str, &str) = (".tmp", "");
/// Number of random characters in the name of a temporary file.
const RANDOM_CHARS: usize = 6;
/// How long to wait for a lock. Holders write a few small files, which takes milliseconds.
pub const LOCK_TIME: Duration = Duration::from_secs(5);
/// Interval between attempts to acquire a lock.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Who may read a file or enter a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    Everybody,
    Owner,
}

/// Replaces a file atomically and durably: temporary file in the same directory, fsync, rename, fsync of the
/// directory. Missing parent directories are created.
///
/// # Errors
/// Any failure of the file system. The old file is intact then, except when only the final sync of the
/// directory failed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, Audience::Everybody)
}

/// As [`write_atomic`], with mode 0600. Created parent directories have mode 0700.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, Audience::Owner)
}

/// Locks an open file until it is closed. `path` is used in the error message.
///
/// # Errors
/// Fails with `TimedOut` when another process holds the lock for longer than `limit`, and on any failure of
/// the file system.
#[expect(
    clippy::disallowed_methods,
    reason = "a blocking lock has no timeout, and the release of a lock sends no notification"
)]
pub fn lock(file: &File, path: &Path, limit: Duration) -> io::Result<()> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if started.elapsed() >= limit => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let text = format!(
                    "timed out after {limit:?} waiting for {name}, which another process has locked; stop that process and retry"
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
        }
    }
}

/// Creates a directory with mode 0700; its missing parents get the same mode.
///
/// # Errors
/// Any failure of the file system.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    create_dirs(path, Audience::Owner)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Creates a file with mode 0600, or restricts an existing file to it and keeps its content. Call it before
/// another library writes the file, which would create it with the default mode.
///
/// # Errors
/// Any failure of the file system.
pub fn make_private(path: &Path) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        options.mode(0o600).open(path)?.set_permissions(std::fs::Permissions::from_mode(0o600))
    }
    #[cfg(not(unix))]
    options.open(path).map(drop)
}

/// Renames a file with unusable content to `<name>.corrupt-<milliseconds>`, so that it is not overwritten.
/// Returns the new path.
///
/// # Errors
/// Any failure of the file system.
pub fn rename_corrupt(path: &Path) -> io::Result<PathBuf> {
    let renamed = path.with_file_name(corrupt_name(path.file_name().unwrap_or_default()));
    std::fs::rename(path, &renamed)?;
    sync_directory(parent(path))?;
    Ok(renamed)
}

/// Returns the name under which a file with unusable content is preserved.
pub(crate) fn corrupt_name(name: &OsStr) -> OsString {
    let mut corrupt = name.to_owned();
    corrupt.push(format!(".corrupt-{}", jiff::Timestamp::now().as_millisecond()));
    corrupt
}

/// Returns whether a name is that of a temporary file of [`write_atomic`]. A process that was killed during a
/// write leaves one behind.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let matches = |(prefix, suffix): (&str, &str)| {
        let random = name.to_str()?.strip_prefix(prefix)?.strip_suffix(suffix)?;
        Some(random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    [TEMPORARY, LEGACY_TEMPORARY].into_iter().any(|scheme| matches(scheme) == Some(true))
}

/// Creates a directory and its missing parents.
pub(crate) fn create_dirs(path: &Path, audience: Audience) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    if audience == Audience::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = audience;
    builder.recursive(true).create(path)
}

fn write(path: &Path, bytes: &[u8], audience: Audience) -> io::Result<()> {
    let parent = parent(path);
    create_dirs(parent, audience)?;
    let (prefix, suffix) = TEMPORARY;
    let mut temporary = tempfile::Builder::new();
    temporary.prefix(prefix).suffix(suffix).rand_bytes(RANDOM_CHARS);
    // `tempfile` creates the file with mode 0600. Its errors contain the path of the temporary file, which
    // must not reach an HTTP response, so only the kind is passed on.
    let mut file = temporary.tempfile_in(parent).map_err(|error| io::Error::from(error.kind()))?;
    file.as_file_mut().write_all(bytes)?;
    if audience == Audience::Everybody {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
    }
    // Otherwise a power failure could leave the new name with incomplete content.
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_directory(parent)
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs a directory, which makes renames and new entries in it survive a power failure.
///
/// # Errors
/// Any failure of the file system.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return sync_names(File::open(path)?);
    // Windows cannot open a directory for syncing.
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

/// As [`sync_directory`], for an open directory. Ignores file systems that cannot sync directories.
#[cfg(unix)]
pub(crate) fn sync_names(directory: impl std::os::fd::AsFd) -> io::Result<()> {
    use rustix::io::Errno;
    match rustix::io::retry_on_intr(|| rustix::fs::fsync(&directory)) {
        Err(error) if error != Errno::INVAL && error != Errno::NOTSUP => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_file_has_mode_0600() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/secret");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        // The mode must hold after the second write too, which replaces the file.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "no temporary file is left"
        );
    }

    #[test]
    fn held_lock_times_out_and_error_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("repos.lock");
        let (holder, waiter) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        holder.lock().unwrap();
        let error = lock(&waiter, &path, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains("repos.lock"), "{error}");
        drop(holder);
        lock(&waiter, &path, Duration::ZERO).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn parent_directories_of_private_file_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        write_private(&dir.path().join("a/b/secret"), b"one").unwrap();
        create_private_dir(&dir.path().join("c/d")).unwrap();
        for name in ["a", "a/b", "c", "c/d"] {
            let mode = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{name}");
        }
    }

    #[test]
    fn temporary_files_are_recognized_by_name() {
        for name in [".loopgate-a1B2c3.part", ".tmpXyZ012"] {
            assert!(is_temporary(name.as_ref()), "{name}");
        }
        for name in [".loopgate-a1B2c3", ".tmp", ".tmpXyZ0123", ".tmp-yZ012", "tmpXyZ012", "settings.toml"] {
            assert!(!is_temporary(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn corrupt_file_is_renamed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys.json");
        std::fs::write(&path, "{").unwrap();
        let renamed = rename_corrupt(&path).unwrap();
        assert!(renamed.to_string_lossy().contains("keys.json.corrupt-"), "{}", renamed.display());
        assert!(!path.exists());
        assert_eq!(std::fs::read(&renamed).unwrap(), b"{");
    }

    #[cfg(unix)]
    #[test]
    fn make_private_keeps_existing_content() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        write_atomic(&old, b"text").unwrap();
        for (path, text) in [(&old, "text"), (&new, "")] {
            make_private(path).unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), text);
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
