//! Files that hold a secret. One that others can read is no secret, and one that others can write is
//! not the owner's: it is refused with the reason, and used in no case.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::files;
use crate::sandbox::Sandbox;

/// Bytes of such a file; every key and token is far shorter.
const MAX_BYTES: u64 = 64 * 1024;

/// Why a file with a secret is not used. Shows nothing of its content.
#[derive(Debug, Error)]
#[error("{} {problem}", path.display())]
pub struct SecretFileError {
    path: PathBuf,
    problem: SecretFileProblem,
}

#[derive(Debug, Error)]
enum SecretFileProblem {
    #[error("is a link; name the file that it leads to")]
    Link,
    #[error("is no regular file")]
    NotRegular,
    #[error("belongs to another user of this machine; whoever owns it could change it")]
    ForeignOwner,
    #[error("is open to other users of this machine (mode {0:03o}); close it with: chmod 600")]
    Open(u32),
    #[error("lies in the sandbox, where repositories and loops could read it; move it elsewhere")]
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

/// Reads a file with a secret, which only its owner may be able to read and write; `None` when there
/// is none. Never waits for what a pipe may bring.
///
/// # Errors
/// When it is not such a file, or is empty.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, SecretFileError> {
    match opened(path).and_then(content) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(SecretFileProblem::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(problem) => Err(SecretFileError { path: path.to_owned(), problem }),
    }
}

/// Reads a document as [`read`] does. One that makes no sense is [kept aside](files::keep_aside) with a
/// warning that names it, and counts as missing.
///
/// # Errors
/// As [`read`], but for an empty file.
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
            // Where it went wrong, and not what is there.
            let (line, column) = (error.line(), error.column());
            tracing::warn!(
                file = %path.display(), kept_as = %aside.display(), line, column,
                "a file with secrets could not be read; it was kept aside, and is made anew"
            );
            Ok(None)
        }
    }
}

/// Refuses a place for a secret that is in the sandbox, as it is written or as it is.
///
/// # Errors
/// When it does.
pub fn check_outside(path: &Path, sandbox: &Sandbox) -> Result<(), SecretFileError> {
    let inside = sandbox.contains(path);
    if inside {
        Err(SecretFileError { path: path.to_owned(), problem: SecretFileProblem::InSandbox })
    } else {
        Ok(())
    }
}

#[cfg(unix)]
fn opened(path: &Path) -> Result<File, SecretFileProblem> {
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

    use rustix::fs::OFlags;

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
        Err(SecretFileProblem::Open(mode))
    } else {
        Ok(file)
    }
}

/// Elsewhere the directory decides who may read.
#[cfg(not(unix))]
fn opened(path: &Path) -> Result<File, SecretFileProblem> {
    let metadata = path.symlink_metadata().map_err(SecretFileProblem::Io)?;
    if metadata.is_symlink() {
        Err(SecretFileProblem::Link)
    } else if metadata.is_file() {
        File::open(path).map_err(SecretFileProblem::Io)
    } else {
        Err(SecretFileProblem::NotRegular)
    }
}

fn content(file: File) -> Result<Vec<u8>, SecretFileProblem> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(SecretFileProblem::Io)?;
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
    fn secret_file_of_other_users_is_refused() {
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
        assert!(refusal(&link).contains("is a link"));
        assert!(refusal(dir.path()).contains("no regular file"));
    }

    #[test]
    fn pipe_a_device_and_an_empty_file_are_no_secrets() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(refusal(&pipe).contains("no regular file"));
        assert!(refusal(Path::new("/dev/zero")).contains("no regular file"));
        let (empty, large) = (dir.path().join("empty"), dir.path().join("large"));
        files::write_private(&empty, b" \n").unwrap();
        assert!(refusal(&empty).contains("is empty"));
        files::write_private(&large, &[b'x'; MAX_BYTES as usize + 1]).unwrap();
        assert!(refusal(&large).contains("larger"));
    }

    /// Only root can change the owner of a file; other users test with one of root's.
    #[test]
    fn file_of_another_user_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        files::write_private(&path, b"token").unwrap();
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
            let kept = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
            assert_eq!(std::fs::read_to_string(&kept).unwrap(), broken);
            std::fs::remove_file(kept).unwrap();
        }
    }

    #[test]
    fn secret_lies_outside_of_the_sandbox() {
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
            assert!(message.contains("lies in the sandbox"), "{message}");
        }
        for outside in ["token", "box-not/token", "box/../token"] {
            check_outside(&dir.path().join(outside), &sandbox).unwrap();
        }
    }
}
