//! The data directory: its location, its permissions, and the lock that prevents a second process from using
//! it.
//!
//! It contains keys, so it must be owned by the user, contain no files of other users, and not overlap the
//! sandbox.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etcetera::BaseStrategy as _;
use loopgate_api::names::env;
use thiserror::Error;

use crate::files::{self, Audience};
use crate::path_resolution::canonical_form;

/// The only file that may be a symbolic link, so that users can keep it with their dotfiles. It is only read
/// or replaced.
const SETTINGS: &str = "settings.toml";
/// Directory of log files, to which lines are appended.
const LOGS: &str = "logs";
/// Directories in which files are replaced atomically, so that a killed process may leave temporary files:
/// the data directory itself and these below it.
const REPLACED_IN: [&str; 2] = ["", "queue"];
/// How long the lock may outlive a killed process: a child process that it was just starting inherits the
/// lock until it executes its program.
const EXEC_TIME: Duration = Duration::from_secs(2);
/// Interval between attempts to acquire such a lock; its release sends no notification.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug, Error)]
pub enum DataDirError {
    /// `--home` or the environment variable contains a relative path.
    #[error("--home or {} must be an absolute path, not \"{}\"", env::HOME, .0.display())]
    NotAbsolute(PathBuf),
    /// The platform reports no data directory for the user.
    #[error("no data directory is known for this user; set {} to an absolute path", env::HOME)]
    NoHome,
    /// Another process holds the lock.
    #[error("another Loopgate is running with the data directory {}; stop it first, or choose another with --home", .0.display())]
    InUse(PathBuf),
    /// Another user owns the directory, and could read and change everything in it.
    #[error(
        "the data directory {} belongs to another user of this machine; choose another with --home, or change \
         its owner with chown", .0.display()
    )]
    ForeignOwner(PathBuf),
    /// An entry is a symbolic link, a pipe or a device, or belongs to another user.
    #[error("{} {problem}, which is unsafe; move it elsewhere and start again", path.display())]
    Planted {
        /// Path of the entry.
        path: PathBuf,
        /// Predicate of the message, such as "is a symbolic link".
        problem: &'static str,
    },
    /// The data directory is in the sandbox, where repositories and loops could read the keys.
    #[error(
        "the data directory {} is in the sandbox {}, where repositories and loops could read the keys in it; \
         choose another sandbox with --sandbox, or another data directory with --home",
        data_dir.display(), sandbox.display()
    )]
    InSandbox {
        /// Path of the data directory.
        data_dir: PathBuf,
        /// Path of the sandbox base directory.
        sandbox: PathBuf,
    },
    /// The sandbox is in the data directory.
    #[error(
        "the sandbox {} is in the data directory {}, which contains keys; choose another \
         sandbox with --sandbox",
        sandbox.display(), data_dir.display()
    )]
    AroundSandbox {
        /// Path of the data directory.
        data_dir: PathBuf,
        /// Path of the sandbox base directory.
        sandbox: PathBuf,
    },
    /// The file system returned an error.
    #[error("cannot use the data directory {}: {source}", path.display())]
    Io {
        /// Path of the data directory.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
}

/// The data directory of this process. Holds the single-instance lock until it is dropped.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

/// Returns the default data directory: `LOOPGATE_HOME`, or the platform's directory for user data.
///
/// # Errors
/// Fails when `LOOPGATE_HOME` is a relative path, or the user has no home directory.
pub fn default_data_dir() -> Result<PathBuf, DataDirError> {
    if let Some(path) = std::env::var_os(env::HOME).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return if path.is_absolute() { Ok(path) } else { Err(DataDirError::NotAbsolute(path)) };
    }
    let strategy = etcetera::base_strategy::choose_native_strategy().map_err(|_| DataDirError::NoHome)?;
    Ok(strategy.data_dir().join("loopgate"))
}

impl DataDir {
    /// Creates the directory with mode 0700, acquires its lock, and removes temporary files that a killed
    /// process left behind.
    ///
    /// # Errors
    /// Fails with [`DataDirError`] when the directory is unsafe, in use, or cannot be accessed.
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
                // Only the holder of the lock may do this: the files could belong to a running process.
                remove_temporary_files(path).map_err(io)?;
                Ok(Self { path: path.to_owned(), _lock: lock })
            }
            None => Err(DataDirError::InUse(path.to_owned())),
        }
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory of log files.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.path.join(LOGS)
    }

    /// Checks that the sandbox and this directory do not overlap, with symbolic links resolved.
    ///
    /// # Errors
    /// Fails with [`DataDirError::InSandbox`] when this directory is in the sandbox, and with
    /// [`DataDirError::AroundSandbox`] when it contains the sandbox.
    pub fn check_no_overlap(&self, sandbox: &Path) -> Result<(), DataDirError> {
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

    /// Returns the path of a file directly in the directory.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Returns whether a directory is the other one or one of its ancestors. Compares inodes too, because a bind
/// mount gives a directory a second path.
fn holds(outer: &Path, inner: &Path) -> bool {
    inner.ancestors().any(|above| above == outer || same_file(above, outer))
}

#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let inode = |path: &Path| path.metadata().map(|metadata| (metadata.dev(), metadata.ino())).ok();
    inode(one).is_some_and(|inode_of_one| inode(other) == Some(inode_of_one))
}

#[cfg(not(unix))]
fn same_file(_: &Path, _: &Path) -> bool {
    false
}

/// Removes the permissions of other users. Returns `false` when another user owns the directory.
#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    // One handle for check and change: the path could be redirected in between.
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

/// Checks that all entries of a directory belong to the user and are no links, pipes or devices. A missing
/// directory, or another file in its place, is reported by its user.
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
            // Removed since it was listed, as temporary files are.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            metadata => problem_of(&metadata?, entry.file_name() == SETTINGS),
        };
        if let Some(problem) = problem {
            return Ok(Err(DataDirError::Planted { path: entry.path(), problem }));
        }
    }
    Ok(Ok(()))
}

/// Returns why an entry is unsafe. The metadata are those of the entry itself, not of a link's target.
#[cfg(unix)]
fn problem_of(entry: &std::fs::Metadata, link_allowed: bool) -> Option<&'static str> {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let kind = entry.file_type();
    if entry.uid() != rustix::process::geteuid().as_raw() {
        Some("belongs to another user of this machine")
    } else if kind.is_symlink() && !link_allowed {
        Some("is a symbolic link")
    } else if kind.is_fifo() || kind.is_block_device() || kind.is_char_device() {
        Some("is a pipe or a device")
    } else {
        None
    }
}

#[cfg(not(unix))]
fn problem_of(entry: &std::fs::Metadata, link_allowed: bool) -> Option<&'static str> {
    (entry.is_symlink() && !link_allowed).then_some("is a symbolic link")
}

/// Removes temporary files of killed processes. The caller holds the lock.
fn remove_temporary_files(path: &Path) -> io::Result<()> {
    for directory in REPLACED_IN.map(|below| path.join(below)) {
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

/// Acquires the lock and writes the process id to its file. Returns `None` while another process holds the
/// lock.
#[expect(clippy::disallowed_methods, reason = "the release of a lock sends no notification")]
fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    // A planted link would make the lock truncate another file of the user.
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    let mut file = options.open(path)?;
    let started = Instant::now();
    while let Err(error) = file.try_lock() {
        match error {
            TryLockError::Error(error) => return Err(error),
            TryLockError::WouldBlock if holder_is_running(path) || started.elapsed() > EXEC_TIME => {
                return Ok(None);
            }
            TryLockError::WouldBlock => std::thread::sleep(LOCK_PAUSE),
        }
    }
    // Only with the lock: until then the file contains the process id of its holder.
    file.set_len(0)?;
    file.write_all(std::process::id().to_string().as_bytes())?;
    Ok(Some(file))
}

/// Returns whether the process that acquired the lock is running. An unreadable process id counts as running.
#[cfg(unix)]
fn holder_is_running(path: &Path) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_string(&mut text));
    let pid = read.ok().and_then(|_| text.parse().ok()).and_then(Pid::from_raw);
    // `ESRCH` is the only proof; `EPERM` means that the process exists.
    pid.is_none_or(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn holder_is_running(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lock of a killed parent remains held while a child process that it was starting has not executed
    /// its program.
    #[cfg(unix)]
    #[test]
    fn lock_of_killed_process_is_awaited() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("loopgate.lock");
        let first = DataDir::open(dir.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), std::process::id().to_string());
        // No process has this id: it exceeds the maximum of Linux (4,194,304).
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
        // A write while the process runs creates a missing directory again, which must be private too.
        std::fs::remove_dir_all(&path).unwrap();
        files::write_private(&opened.file("some.json"), b"{}").unwrap();
        assert_eq!(mode_of(&path), 0o700);
    }

    // Only root can change the owner of a directory. Other users test with a directory that root owns.
    #[cfg(unix)]
    #[test]
    fn directory_or_file_of_another_user_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let change_owner = |path: &Path| std::os::unix::fs::chown(path, Some(65_534), None);
        let Ok(()) = change_owner(dir.path()) else {
            let is_own = close_to_others(Path::new("/")).unwrap();
            return assert!(!is_own, "owned by root");
        };
        let message = DataDir::open(dir.path()).unwrap_err().to_string();
        assert!(message.contains("belongs to another user"), "{message}");
        let own = dir.path().join("own");
        drop(DataDir::open(&own).unwrap());
        std::fs::write(own.join("desktop.db"), "").unwrap();
        change_owner(&own.join("desktop.db")).unwrap();
        let message = DataDir::open(&own).unwrap_err().to_string();
        assert!(message.contains("desktop.db belongs to another user"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_in_data_directory_are_refused() {
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
            assert!(message.contains(&format!("{name} is a symbolic link")), "{message}");
            std::fs::remove_file(data.join(name)).unwrap();
        }
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let pipe = data.join("desktop.db");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(DataDir::open(&data).unwrap_err().to_string().contains("pipe"));
        std::fs::remove_file(pipe).unwrap();
        // Users may keep the settings with their dotfiles.
        symlink(&target, data.join("settings.toml")).unwrap();
        drop(DataDir::open(&data).unwrap());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    }

    #[test]
    fn only_stale_temporary_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (mut stale, mut others) = (Vec::new(), Vec::new());
        for below in REPLACED_IN {
            std::fs::create_dir_all(dir.path().join(below)).unwrap();
            stale.extend(
                [".loopgate-a1B2c3.part", ".tmpa1B2c3"].map(|name| dir.path().join(below).join(name)),
            );
            others.extend(["some.part", ".tmp", ".loopgate"].map(|name| dir.path().join(below).join(name)));
        }
        for file in stale.iter().chain(&others) {
            std::fs::write(file, "half").unwrap();
        }
        drop(DataDir::open(dir.path()).unwrap());
        assert!(stale.iter().all(|file| !file.exists()), "{stale:?}");
        assert!(others.iter().all(|file| file.exists()), "{others:?}");
    }

    #[test]
    fn data_directory_and_sandbox_must_not_overlap() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("home/src")).unwrap();
        let data = DataDir::open(&at("home/data")).unwrap();
        for apart in ["home/src", "home/data-not", "home/missing", "home/data/../src"] {
            data.check_no_overlap(&at(apart)).unwrap();
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
            let message = data.check_no_overlap(&at(around)).unwrap_err().to_string();
            assert!(message.contains("is in the sandbox") && message.contains("home/data"), "{message}");
        }
        for inside in [
            "home/data/src",
            "home/data/missing/src",
            #[cfg(unix)]
            "home/inside/src",
        ] {
            let message = data.check_no_overlap(&at(inside)).unwrap_err().to_string();
            assert!(message.contains("is in the data directory"), "{message}");
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
    fn relative_path_is_refused() {
        let error = DataDir::open(Path::new("relative")).unwrap_err().to_string();
        assert!(error.contains("LOOPGATE_HOME"), "{error}");
    }
}
