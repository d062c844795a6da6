//! The data directory: where it lies, who may enter it, and the lock that keeps a second process out.
//!
//! It holds keys: it must be owned by the user, contain no files of other users, and be outside of every sandbox.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etcetera::BaseStrategy as _;
use loopgate_api::names::env;
use thiserror::Error;

use crate::files::{self, Audience};
use crate::path_resolution::canonical_form;

/// The one file that a person may keep elsewhere behind a link: it is read, and only ever replaced.
const SETTINGS: &str = "settings.toml";
/// Where log files are added to, below the directory.
const LOGS: &str = "logs";
/// Where files are replaced that a process may leave half-written when it is killed: the directory
/// itself, and these below it.
const WRITTEN: [&str; 2] = ["", "queue"];
/// How long the lock of a process that was killed may stay with a program that it was just starting.
const LAST_START: Duration = Duration::from_secs(2);
/// Between two looks at such a lock; the system does not tell when it is free.
const LOOK: Duration = Duration::from_millis(10);

/// Why the data directory cannot be used.
#[derive(Debug, Error)]
pub enum DataDirError {
    /// The variable or flag holds a relative path.
    #[error("--home or {} must be an absolute path, not \"{}\"", env::HOME, .0.display())]
    NotAbsolute(PathBuf),
    /// The system names no directory for the user's data.
    #[error("no data directory is known for this user; set {} to an absolute path", env::HOME)]
    NoHome,
    /// Another process holds the lock.
    #[error("another Loopgate is running with the data directory {}; stop it first, or choose another with --home", .0.display())]
    InUse(PathBuf),
    /// Another user could read and change everything in it.
    #[error(
        "the data directory {} belongs to another user of this machine; choose another with --home, or have it \
         given to you with chown", .0.display()
    )]
    ForeignOwner(PathBuf),
    /// An entry is a symlink, or belongs to another user.
    #[error("{} {problem}; Loopgate would write through it: move it away and start again", path.display())]
    Planted {
        /// The entry.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Repositories and loops could read the keys.
    #[error(
        "the data directory {} lies in the sandbox {}, where repositories and loops could read the keys in it; \
         choose another sandbox with --sandbox, or another data directory with --home",
        data_dir.display(), sandbox.display()
    )]
    InSandbox {
        /// The data directory.
        data_dir: PathBuf,
        /// The sandbox.
        sandbox: PathBuf,
    },
    /// As [`DataDirError::InSandbox`].
    #[error(
        "the sandbox {} lies in the data directory {}, which is for keys and records alone; choose another \
         sandbox with --sandbox",
        sandbox.display(), data_dir.display()
    )]
    AroundSandbox {
        /// The data directory.
        data_dir: PathBuf,
        /// The sandbox.
        sandbox: PathBuf,
    },
    /// The file system refused.
    #[error("cannot use the data directory {}: {source}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The data directory of the running process; holds the single-instance lock while it lives.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

/// The default directory: `LOOPGATE_HOME`, else the platform's place
/// for a user's data.
///
/// # Errors
/// A relative `LOOPGATE_HOME`, or a user without a home.
pub fn default_data_dir() -> Result<PathBuf, DataDirError> {
    if let Some(path) = std::env::var_os(env::HOME).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return if path.is_absolute() { Ok(path) } else { Err(DataDirError::NotAbsolute(path)) };
    }
    let strategy = etcetera::base_strategy::choose_native_strategy().map_err(|_| DataDirError::NoHome)?;
    Ok(strategy.data_dir().join("loopgate"))
}

impl DataDir {
    /// Makes the directory for the owner alone, takes its lock, and removes the temporary files that a
    /// killed process left.
    ///
    /// # Errors
    /// See [`DataDirError`].
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        if !path.is_absolute() {
            return Err(DataDirError::NotAbsolute(path.to_owned()));
        }
        let io = |source| DataDirError::Io { path: path.to_owned(), source };
        files::create_dirs(path, Audience::Owner).map_err(io)?;
        if !close_to_others(path).map_err(io)? {
            return Err(DataDirError::ForeignOwner(path.to_owned()));
        }
        for directory in [path.to_owned(), path.join(LOGS)] {
            check_entries(&directory).map_err(io)??;
        }
        match lock(&path.join("loopgate.lock")).map_err(io)? {
            Some(lock) => {
                remove_temporary_files(path).map_err(io)?;
                Ok(Self { path: path.to_owned(), _lock: lock })
            }
            None => Err(DataDirError::InUse(path.to_owned())),
        }
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where logs are written.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.path.join(LOGS)
    }

    /// Refuses a sandbox that holds this directory or is in it, also through links.
    ///
    /// # Errors
    /// [`DataDirError::InSandbox`], [`DataDirError::AroundSandbox`].
    pub fn keep_apart(&self, sandbox: &Path) -> Result<(), DataDirError> {
        let real = |path: &Path| canonical_form(path).unwrap_or_else(|| path.to_owned());
        let (data_dir, inner) = (self.path.clone(), real(sandbox));
        let own = real(&data_dir);
        let sandbox = sandbox.to_owned();
        if holds(&inner, &own) {
            Err(DataDirError::InSandbox { data_dir, sandbox })
        } else if holds(&own, &inner) {
            Err(DataDirError::AroundSandbox { data_dir, sandbox })
        } else {
            Ok(())
        }
    }

    /// A file directly in the directory.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Whether a directory is the other one or one above it, by whatever name.
fn holds(outer: &Path, inner: &Path) -> bool {
    inner.ancestors().any(|above| above == outer || same_file(above, outer))
}

#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    number(one).is_some_and(|found| number(other) == Some(found))
}

#[cfg(not(unix))]
fn same_file(_: &Path, _: &Path) -> bool {
    false
}

/// Removes the permissions of other users; `false` when another user owns the directory.
#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    // One handle for both: the name may be pointed elsewhere in between.
    let directory = File::open(path)?;
    let metadata = directory.metadata()?;
    if !metadata.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    if own {
        directory.set_permissions(std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(own)
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Whether everything in a directory is the owner's, and what it seems to be. A directory that is
/// missing, or no directory, is told by who uses it.
fn check_entries(directory: &Path) -> io::Result<Result<(), DataDirError>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Ok(()));
        }
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let problem = match entry.metadata() {
            // It went away meanwhile, as temporary files do.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            metadata => problem_of(&metadata?, entry.file_name() == SETTINGS),
        };
        if let Some(problem) = problem {
            return Ok(Err(DataDirError::Planted { path: entry.path(), problem }));
        }
    }
    Ok(Ok(()))
}

/// What is wrong with an entry, whose link was not followed.
#[cfg(unix)]
fn problem_of(entry: &std::fs::Metadata, link_allowed: bool) -> Option<&'static str> {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let kind = entry.file_type();
    if entry.uid() != rustix::process::geteuid().as_raw() {
        Some("belongs to another user of this machine")
    } else if kind.is_symlink() && !link_allowed {
        Some("is a link")
    } else if kind.is_fifo() || kind.is_block_device() || kind.is_char_device() {
        Some("is a pipe or a device")
    } else {
        None
    }
}

#[cfg(not(unix))]
fn problem_of(entry: &std::fs::Metadata, link_allowed: bool) -> Option<&'static str> {
    (entry.is_symlink() && !link_allowed).then_some("is a link")
}

/// Removes what a process left that was killed while it replaced a file. Call it with the lock.
fn remove_temporary_files(path: &Path) -> io::Result<()> {
    for directory in WRITTEN.map(|below| path.join(below)) {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries {
            let entry = entry?;
            if files::is_temporary(&entry.file_name()) && entry.file_type()?.is_file() {
                std::fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

/// Takes the lock and writes the own pid into its file; `None` while another process holds it.
#[expect(clippy::disallowed_methods, reason = "there is no signal to wait for")]
fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    let mut file = options.open(path)?;
    let begun = Instant::now();
    while let Err(error) = file.try_lock() {
        match error {
            TryLockError::Error(error) => return Err(error),
            TryLockError::WouldBlock if holder_lives(path) || begun.elapsed() > LAST_START => {
                return Ok(None);
            }
            TryLockError::WouldBlock => std::thread::sleep(LOOK),
        }
    }
    file.set_len(0)?;
    file.write_all(std::process::id().to_string().as_bytes())?;
    Ok(Some(file))
}

/// Whether the process that took the lock still runs. One of which nothing is known does.
#[cfg(unix)]
fn holder_lives(path: &Path) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_string(&mut text));
    let pid = read.ok().and_then(|_| text.parse().ok()).and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn holder_lives(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a child process does that was being started when its parent was killed.
    #[cfg(unix)]
    #[test]
    fn lock_of_a_dead_process_is_awaited() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("loopgate.lock");
        let first = DataDir::open(dir.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), std::process::id().to_string());
        // No process has this one.
        std::fs::write(&path, i32::MAX.to_string()).unwrap();
        let second = std::thread::spawn({
            let dir = dir.path().to_owned();
            move || DataDir::open(&dir).map(drop)
        });
        drop(first);
        second.join().unwrap().unwrap();
    }

    #[cfg(unix)]
    fn mode_of(path: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[cfg(unix)]
    #[test]
    fn directory_is_made_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some/data");
        drop(DataDir::open(&path).unwrap());
        assert_eq!((mode_of(&path), mode_of(path.parent().unwrap())), (0o700, 0o700));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        let opened = DataDir::open(&path).unwrap();
        assert_eq!(mode_of(&path), 0o700);
        // As anything does that is written while it is gone.
        std::fs::remove_dir_all(&path).unwrap();
        files::write_private(&opened.file("some.json"), b"{}").unwrap();
        assert_eq!(mode_of(&path), 0o700);
    }

    /// Only root can change the owner of a directory; other users test with one of root's.
    #[cfg(unix)]
    #[test]
    fn directory_or_file_of_another_user_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let nobody = |path: &Path| std::os::unix::fs::chown(path, Some(65_534), None);
        let Ok(()) = nobody(dir.path()) else {
            let refused = close_to_others(Path::new("/")).unwrap();
            return assert!(!refused, "it is root's");
        };
        let message = DataDir::open(dir.path()).unwrap_err().to_string();
        assert!(message.contains("belongs to another user"), "{message}");
        let own = dir.path().join("own");
        drop(DataDir::open(&own).unwrap());
        std::fs::write(own.join("desktop.db"), "").unwrap();
        nobody(&own.join("desktop.db")).unwrap();
        let message = DataDir::open(&own).unwrap_err().to_string();
        assert!(message.contains("desktop.db belongs to another user"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn planted_links_and_pipes_are_refused_and_not_followed() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let (target, logs) = (dir.path().join("target"), dir.path().join("data/logs"));
        std::fs::create_dir_all(&logs).unwrap();
        std::fs::write(&target, "precious").unwrap();
        let data = dir.path().join("data");
        for name in ["loopgate.lock", "desktop.db", "control-plane.db-wal", "vault.key", "logs/loopgate.log"]
        {
            symlink(&target, data.join(name)).unwrap();
            let message = DataDir::open(&data).unwrap_err().to_string();
            assert!(message.contains(&format!("{name} is a link")), "{message}");
            std::fs::remove_file(data.join(name)).unwrap();
        }
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let pipe = data.join("desktop.db");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(DataDir::open(&data).unwrap_err().to_string().contains("pipe"));
        std::fs::remove_file(pipe).unwrap();
        // A person may keep the settings with others.
        symlink(&target, data.join("settings.toml")).unwrap();
        drop(DataDir::open(&data).unwrap());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    }

    #[test]
    fn only_stale_temporary_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (mut left, mut kept) = (Vec::new(), Vec::new());
        for below in WRITTEN {
            std::fs::create_dir_all(dir.path().join(below)).unwrap();
            left.extend(
                [".loopgate-a1B2c3.part", ".tmpa1B2c3"].map(|name| dir.path().join(below).join(name)),
            );
            kept.extend(["some.part", ".tmp", ".loopgate"].map(|name| dir.path().join(below).join(name)));
        }
        for file in left.iter().chain(&kept) {
            std::fs::write(file, "half").unwrap();
        }
        drop(DataDir::open(dir.path()).unwrap());
        assert!(left.iter().all(|file| !file.exists()), "{left:?}");
        assert!(kept.iter().all(|file| file.exists()), "{kept:?}");
    }

    #[test]
    fn sandbox_and_data_directory_lie_apart() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("home/src")).unwrap();
        let data = DataDir::open(&at("home/data")).unwrap();
        for apart in ["home/src", "home/data-not", "home/missing", "home/data/../src"] {
            data.keep_apart(&at(apart)).unwrap();
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("home"), at("around")).unwrap();
            std::os::unix::fs::symlink("data", at("home/inside")).unwrap();
        }
        for around in [
            "home",
            "home/src/..",
            "",
            "home/data",
            #[cfg(unix)]
            "around",
        ] {
            let message = data.keep_apart(&at(around)).unwrap_err().to_string();
            assert!(message.contains("lies in the sandbox") && message.contains("home/data"), "{message}");
        }
        for inside in [
            "home/data/src",
            "home/data/missing/src",
            #[cfg(unix)]
            "home/inside/src",
        ] {
            let message = data.keep_apart(&at(inside)).unwrap_err().to_string();
            assert!(message.contains("lies in the data directory"), "{message}");
        }
    }

    #[test]
    fn second_process_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataDir::open(dir.path()).unwrap();
        assert!(matches!(DataDir::open(dir.path()), Err(DataDirError::InUse(_))));
        drop(first);
        DataDir::open(dir.path()).unwrap();
    }

    #[test]
    fn relative_path_is_refused_by_name() {
        let error = DataDir::open(Path::new("relative")).unwrap_err().to_string();
        assert!(error.contains("LOOPGATE_HOME"), "{error}");
    }
}
