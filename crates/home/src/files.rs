//! Atomic writes of files, and private files that only the user can read.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A temporary file is named so, with random letters and digits between.
const TEMPORARY: (&str, &str) = (".loopgate-", ".part");
/// As files were named before [`TEMPORARY`], and temporary ones of other programs are.
const FORMER_TEMPORARY: (&str, &str) = (".tmp", "");
/// Letters and digits in such a name.
const RANDOM: usize = 6;
/// How long a lock is waited for. Its holders write a few small files each.
pub const LOCK_TIME: Duration = Duration::from_secs(5);
/// Pause between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Who may read a file, or enter a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    Everybody,
    Owner,
}

/// Replaces a file in one step: temporary file in the same directory, sync, rename, sync of the directory.
/// Missing parent directories are made.
///
/// # Errors
/// Any failure of the file system; what is in the file's place is whole then, and most likely the old content.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, Audience::Everybody)
}

/// As [`write_atomic`], readable by the owner alone.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, Audience::Owner)
}

/// Takes the lock of an open file; it is held until the file is closed. `path` is for the message.
///
/// # Errors
/// `TimedOut` when another program holds it for longer than `limit`; any failure of the file system.
#[expect(
    clippy::disallowed_methods,
    reason = "a lock gives no signal, and one that is waited for cannot be given up"
)]
pub fn lock(file: &File, path: &Path, limit: Duration) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= limit => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let text = format!(
                    "another program holds the lock {name} for more than {limit:?}; end it and try again"
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
        }
    }
}

/// Makes a directory that only the owner may enter, as the parents that are made with it.
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

/// Makes a file that another will fill for the owner alone, before it would be made for everybody. What
/// is there already stays, and is for the owner alone from now on.
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

/// Renames a file whose content cannot be used, so that nothing takes its place unseen; answers its
/// new name, which says that it is corrupt and since when.
///
/// # Errors
/// Any failure of the file system.
pub fn rename_corrupt(path: &Path) -> io::Result<PathBuf> {
    let renamed = path.with_file_name(corrupt_name(path.file_name().unwrap_or_default()));
    std::fs::rename(path, &renamed)?;
    sync_directory(parent(path))?;
    Ok(renamed)
}

/// The name under which a file with unusable content is kept.
pub(crate) fn corrupt_name(name: &OsStr) -> OsString {
    let mut corrupt = name.to_owned();
    corrupt.push(format!(".corrupt-{}", jiff::Timestamp::now().as_millisecond()));
    corrupt
}

/// Whether a name is one that [`write_atomic`] gives a file before it is whole. A process that was
/// killed in between leaves it.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let named = |(prefix, suffix): (&str, &str)| {
        let random = name.to_str()?.strip_prefix(prefix)?.strip_suffix(suffix)?;
        Some(random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    [TEMPORARY, FORMER_TEMPORARY].into_iter().any(|scheme| named(scheme) == Some(true))
}

/// Makes a directory with its parents, where they are missing.
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
    temporary.prefix(prefix).suffix(suffix).rand_bytes(RANDOM);
    // The temporary file is made with mode 0600. Its own errors would name its path, which is
    // nobody's business where errors are answered.
    let mut file = temporary.tempfile_in(parent).map_err(|error| io::Error::from(error.kind()))?;
    file.as_file_mut().write_all(bytes)?;
    if audience == Audience::Everybody {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_directory(parent)
}

/// The directory that holds a file.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a directory outlive a loss of power: a rename is on the disk only when its
/// directory is.
///
/// # Errors
/// Any failure of the file system.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return sync_names(File::open(path)?);
    // Elsewhere a directory cannot be opened to be flushed.
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

/// As [`sync_directory`], of one that is open. Some file systems cannot, and say so.
#[cfg(unix)]
pub(crate) fn sync_names(directory: impl std::os::fd::AsFd) -> io::Result<()> {
    use rustix::io::Errno;
    match rustix::fs::fsync(directory) {
        Err(error) if error != Errno::INVAL && error != Errno::NOTSUP => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_file_is_for_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/secret");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
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
    fn held_lock_times_out_with_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("repos.lock");
        let (theirs, ours) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        theirs.lock().unwrap();
        let error = lock(&ours, &path, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains("repos.lock"), "{error}");
        drop(theirs);
        lock(&ours, &path, Duration::ZERO).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn directories_made_for_a_private_file_are_private_too() {
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
    fn temporary_files_are_known_by_their_names() {
        for name in [".loopgate-a1B2c3.part", ".tmpXyZ012"] {
            assert!(is_temporary(name.as_ref()), "{name}");
        }
        for name in [".loopgate-a1B2c3", ".tmp", ".tmpXyZ0123", ".tmp-yZ012", "tmpXyZ012", "settings.toml"] {
            assert!(!is_temporary(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn corrupt_file_is_kept_under_a_name_that_says_so() {
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
    fn existing_file_is_made_private_and_keeps_its_content() {
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
