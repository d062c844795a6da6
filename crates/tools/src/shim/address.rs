//! Sockets at paths of any length: the system takes about a hundred bytes.
//!
//! A longer path is reached through a short name of its directory, which exists only as long as the
//! value made from it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// The shortest limit among the supported systems, with its terminating zero.
const LIMIT: usize = 100;

/// A path short enough for a socket.
pub(super) struct ShortPath {
    path: PathBuf,
    /// Keeps the short name valid.
    _directory: Option<OwnedFd>,
    /// A link that stands for the directory where directories have no names as descriptors.
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
    fn long_path_is_bound_and_found_either_way() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("long".repeat(40)).join("deeper".repeat(20));
        std::fs::create_dir_all(&deep).unwrap();
        let ways: [fn(&Path, &Path) -> io::Result<ShortPath>; 2] =
            [ShortPath::by_link, |directory, name| ShortPath::of(&directory.join(name))];
        for (number, way) in ways.into_iter().enumerate() {
            let name = PathBuf::from(format!("{number}.sock"));
            let short = way(&deep, &name).unwrap();
            assert!(short.as_path().as_os_str().len() < LIMIT);
            let _listener = UnixListener::bind(short.as_path()).unwrap();
            let kept = short.as_path().to_owned();
            drop(short);
            assert!(deep.join(&name).exists());
            assert!(!kept.exists(), "the short name is gone");
            UnixStream::connect(ShortPath::of(&deep.join(&name)).unwrap().as_path()).unwrap();
        }
    }

    #[test]
    fn short_path_stays_as_it_is() {
        let path = Path::new("/run/x.sock");
        assert_eq!(ShortPath::of(path).unwrap().as_path(), path);
    }
}
