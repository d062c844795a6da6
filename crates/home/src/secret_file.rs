//! Files that contain a secret. A file that other users can read or write is rejected with the reason and
//! never used.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::files;
use crate::sandbox::Sandbox;

/// Maximum size in bytes; keys and tokens are far shorter.
const MAX_BYTES: u64 = 64 * 1024;

/// Why a secret file is rejected. The message contains nothing of its content.
#[derive(Debug, Error)]
#[error("{} {problem}", path.display())]
pub struct SecretFileError {
    path: PathBuf,
    problem: SecretFileProblem,
}

#[derive(Debug, Error)]
enum SecretFileProblem {
    #[error("is a symbolic link; use the path of its target")]
    Link,
    #[error("is not a regular file")]
    NotRegular,
    #[error("belongs to another user of this machine, who could change it")]
    ForeignOwner,
    #[error("is accessible to other users of this machine (mode {0:03o}); restrict it with: chmod 600")]
    Accessible(u32),
    #[error("is in the sandbox, where repositories and loops could read it; move it elsewhere")]
    InSandbox,
    #[error("is empty")]
    Empty,
    #[error("is larger than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("could not be read: {0}")]
    Io(io::Error),
}

impl From<SecretFileError> for io::Error {
    fn from(error: SecretFileError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// Reads a secret file, which only its owner may be able to read and write. Returns `None` when it does not
/// exist. Does not block on a pipe.
///
/// # Errors
/// Fails with [`SecretFileError`] when the file is not regular, is accessible to other users, is empty, or
/// has more than 64 KiB.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, SecretFileError> {
    match open(path).and_then(read_to_end) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(SecretFileProblem::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(problem) => Err(SecretFileError { path: path.to_owned(), problem }),
    }
}

/// Reads a JSON document as [`read`] does. A malformed one is [renamed](files::rename_corrupt), logged, and
/// counts as missing.
///
/// # Errors
/// As [`read`], except that an empty file counts as malformed.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, SecretFileError> {
    let bytes = match read(path) {
        Err(SecretFileError { problem: SecretFileProblem::Empty, .. }) => Some(Vec::new()),
        read => read?,
    };
    let Some(bytes) = bytes else { return Ok(None) };
    match serde_json::from_slice(&bytes) {
        Ok(document) => Ok(Some(document)),
        Err(error) => {
            let aside = files::rename_corrupt(path).map_err(|error| SecretFileError {
                path: path.to_owned(),
                problem: SecretFileProblem::Io(error),
            })?;
            // Log the position only: the message of the parser may quote the secret.
            let (line, column) = (error.line(), error.column());
            tracing::warn!(
                file = %path.display(), moved_to = %aside.display(), line, column,
                "malformed secret file moved aside; a new one is created"
            );
            Ok(None)
        }
    }
}

/// Rejects a path for a secret that is in the sandbox, as written or with symbolic links resolved.
///
/// # Errors
/// Fails with [`SecretFileError`] when the path is in the sandbox.
pub fn check_outside(path: &Path, sandbox: &Sandbox) -> Result<(), SecretFileError> {
    let inside = sandbox.contains(path);
    if inside {
        Err(SecretFileError { path: path.to_owned(), problem: SecretFileProblem::InSandbox })
    } else {
        Ok(())
    }
}

#[cfg(unix)]
fn open(path: &Path) -> Result<File, SecretFileProblem> {
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

    use rustix::fs::OFlags;

    // `NONBLOCK` because opening a pipe would wait for a writer. The checks below use the open file, which
    // cannot be swapped.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits() as i32).open(path);
    let file = file.map_err(|error| match error.raw_os_error() {
        Some(number) if number == rustix::io::Errno::LOOP.raw_os_error() => SecretFileProblem::Link,
        _ => SecretFileProblem::Io(error),
    })?;
    let metadata = file.metadata().map_err(SecretFileProblem::Io)?;
    let mode = metadata.mode() & 0o777;
    if !metadata.is_file() {
        Err(SecretFileProblem::NotRegular)
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        Err(SecretFileProblem::ForeignOwner)
    } else if mode & 0o077 != 0 {
        Err(SecretFileProblem::Accessible(mode))
    } else {
        Ok(file)
    }
}

#[cfg(not(unix))]
fn open(path: &Path) -> Result<File, SecretFileProblem> {
    // Without Unix permissions the access rights of the directory apply.
    let metadata = path.symlink_metadata().map_err(SecretFileProblem::Io)?;
    if metadata.is_symlink() {
        Err(SecretFileProblem::Link)
    } else if metadata.is_file() {
        File::open(path).map_err(SecretFileProblem::Io)
    } else {
        Err(SecretFileProblem::NotRegular)
    }
}

fn read_to_end(file: File) -> Result<Vec<u8>, SecretFileProblem> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(SecretFileProblem::Io)?;
    // An empty file is usually one that was created but never filled; it must not count as an empty secret.
    if bytes.trim_ascii().is_empty() {
        Err(SecretFileProblem::Empty)
    } else if bytes.len() as u64 > MAX_BYTES {
        Err(SecretFileProblem::TooLarge)
    } else {
        Ok(bytes)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::sync::Arc;

    use super::*;
    use crate::settings::{Overrides, SettingsStore};

    fn refusal(path: &Path) -> String {
        read(path).unwrap_err().to_string()
    }

    #[test]
    fn secret_file_accessible_to_others_is_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        assert!(read(&path).unwrap().is_none());
        files::write_private(&path, b"token").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"token");
        for mode in [0o640, 0o604, 0o620, 0o602, 0o601, 0o644, 0o777] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let message = refusal(&path);
            assert!(message.contains(&format!("{mode:o}")) && message.contains("chmod 600"), "{message}");
            assert!(message.contains("/token"), "{message}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
        assert!(read(&path).is_ok());
        let link = dir.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(refusal(&link).contains("is a symbolic link"));
        assert!(refusal(dir.path()).contains("not a regular file"));
    }

    #[test]
    fn pipe_device_and_empty_file_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(refusal(&pipe).contains("not a regular file"));
        assert!(refusal(Path::new("/dev/zero")).contains("not a regular file"));
        let (empty, large) = (dir.path().join("empty"), dir.path().join("large"));
        files::write_private(&empty, b" \n").unwrap();
        assert!(refusal(&empty).contains("is empty"));
        files::write_private(&large, &[b'x'; MAX_BYTES as usize + 1]).unwrap();
        assert!(refusal(&large).contains("larger"));
    }

    #[test]
    fn secret_file_of_another_user_is_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        files::write_private(&path, b"token").unwrap();
        // Only root can change the owner of a file. Other users test with a file that root owns.
        let foreign = if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
            path
        } else {
            PathBuf::from("/etc/passwd")
        };
        assert!(refusal(&foreign).contains("another user"), "{}", refusal(&foreign));
    }

    #[test]
    fn malformed_document_is_moved_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys.json");
        for broken in ["{\"sealed\":", "", "[1]"] {
            files::write_private(&path, broken.as_bytes()).unwrap();
            assert!(read_json::<std::collections::BTreeMap<String, String>>(&path).unwrap().is_none());
            let renamed = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
            assert_eq!(std::fs::read_to_string(&renamed).unwrap(), broken);
            std::fs::remove_file(renamed).unwrap();
        }
    }

    #[test]
    fn secret_file_in_the_sandbox_is_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("box");
        std::fs::create_dir(&base).unwrap();
        symlink(&base, dir.path().join("link")).unwrap();
        symlink(dir.path(), base.join("out")).unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base), ..Overrides::default() };
        let settings = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        let sandbox = Sandbox::new(Arc::new(settings), &dir.path().join("data"));
        for inside in ["box/token", "link/token", "box/out/token", "box/missing/token", "x/../box/token"] {
            let message = check_outside(&dir.path().join(inside), &sandbox).unwrap_err().to_string();
            assert!(message.contains("is in the sandbox"), "{message}");
        }
        for outside in ["token", "box-not/token", "box/../token"] {
            check_outside(&dir.path().join(outside), &sandbox).unwrap();
        }
    }
}
