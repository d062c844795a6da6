//! Unix sockets at paths of any length, which the system limits to about a hundred bytes.
//!
//! A socket with a longer path is reached through a short alias of its directory, which is valid only as long
//! as the [`ShortPath`].

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Length of `sun_path` is 108 bytes on Linux and 104 on macOS, including the terminating zero; rounded down.
const LIMIT: usize = 100;

/// A path that fits into a socket address.
pub(super) struct ShortPath {
    path: PathBuf,
    /// The open directory to which the path under `/proc/self/fd` refers.
    _directory: Option<OwnedFd>,
    /// A symbolic link to the directory, for systems without `/proc/self/fd`. Removed on drop.
    link: Option<PathBuf>,
}

impl ShortPath {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() < LIMIT {
            return Ok(Self { path: path.to_owned(), _directory: None, link: None });
        }
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if cfg!(target_os = "linux") {
            Self::by_descriptor(directory, name.as_ref())
        } else {
            Self::by_link(directory, name.as_ref())
        }
    }

    fn by_descriptor(directory: &Path, name: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd as _;

        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(directory, flags, Mode::empty())?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
        Ok(Self { path, _directory: Some(directory), link: None })
    }

    fn by_link(directory: &Path, name: &Path) -> io::Result<Self> {
        // In /tmp, because the per-user temporary directory of macOS has a long path itself.
        let link = PathBuf::from(format!("/tmp/.loopgate-{:016x}", rand::random::<u64>()));
        std::os::unix::fs::symlink(directory, &link)?;
        Ok(Self { path: link.join(name), _directory: None, link: Some(link) })
    }

    pub(super) fn as_path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ShortPath {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            let _ = std::fs::remove_file(link);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn long_path_can_be_bound_and_connected() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("long".repeat(40)).join("deeper".repeat(20));
        std::fs::create_dir_all(&deep).unwrap();
        let constructors: [fn(&Path, &Path) -> io::Result<ShortPath>; 2] =
            [ShortPath::by_link, |directory, name| ShortPath::of(&directory.join(name))];
        for (number, construct) in constructors.into_iter().enumerate() {
            let name = PathBuf::from(format!("{number}.sock"));
            let short = construct(&deep, &name).unwrap();
            assert!(short.as_path().as_os_str().len() < LIMIT);
            let _listener = UnixListener::bind(short.as_path()).unwrap();
            let alias = short.as_path().to_owned();
            drop(short);
            assert!(deep.join(&name).exists());
            assert!(!alias.exists(), "the alias is removed on drop");
            UnixStream::connect(ShortPath::of(&deep.join(&name)).unwrap().as_path()).unwrap();
        }
    }

    #[test]
    fn short_path_is_unchanged() {
        let path = Path::new("/run/x.sock");
        assert_eq!(ShortPath::of(path).unwrap().as_path(), path);
    }
}
