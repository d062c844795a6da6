//! Watches based on inotify.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::{EventKind, EventsLost, WatchEvent, WatchId, WatchLimits, WatchMask};

const ENTRIES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW)
    .union(WatchFlags::EXCL_UNLINK);
const EVERYTHING: WatchFlags =
    ENTRIES.union(WatchFlags::MODIFY).union(WatchFlags::CLOSE_WRITE).union(WatchFlags::ATTRIB);
const WRITES: WatchFlags = WatchFlags::CLOSE_WRITE.union(WatchFlags::MODIFY).union(WatchFlags::DONT_FOLLOW);
/// Size in bytes of the read buffer; a few hundred events.
const BUFFER: usize = 16 * 1024;
/// Magic numbers of file systems on which every change passes through this kernel: ext2/3/4, xfs, btrfs,
/// tmpfs, overlayfs, f2fs, zfs, bcachefs.
const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e];

/// Defaults of old kernels, for systems that do not show the limits.
const DEFAULT_LIMITS: WatchLimits = WatchLimits { watches: 8192, instances: 128 };

/// Watches with a common event queue. Dropping the value removes them.
#[derive(Debug)]
pub struct Watches(OwnedFd);

impl Watches {
    /// Creates an empty event queue.
    ///
    /// # Errors
    /// Fails when the limit of queues (`fs.inotify.max_user_instances`) is reached.
    pub fn new() -> io::Result<Self> {
        Ok(Self(inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?))
    }

    /// Returns the user's limits. Reads the disk.
    #[must_use]
    pub fn limits() -> WatchLimits {
        let limit = |name: &str| {
            let text = std::fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(name)).ok()?;
            text.trim().parse().ok()
        };
        WatchLimits {
            watches: limit("max_user_watches").unwrap_or(DEFAULT_LIMITS.watches),
            instances: limit("max_user_instances").unwrap_or(DEFAULT_LIMITS.instances),
        }
    }

    /// Returns whether an error means that a limit of the user is reached.
    #[must_use]
    pub fn is_limit_reached(error: &io::Error) -> bool {
        [Errno::NOSPC, Errno::MFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    }

    /// Returns whether events cover every change below a directory. On a network file system, changes by
    /// other machines are not reported.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn are_complete_on(directory: &Path) -> io::Result<bool> {
        let kind = rustix::fs::statfs(directory)?.f_type;
        #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "its type depends on the machine")]
        Ok(LOCAL.contains(&(kind as u64 & 0xffff_ffff)))
    }

    /// Watches a path. Returns `None` when it does not exist or has the wrong type. A path that is already
    /// watched keeps its id and gets the new mask.
    ///
    /// # Errors
    /// Fails when the limit of watches (`fs.inotify.max_user_watches`) is reached, and on any other failure
    /// of the system.
    pub fn add(&self, path: &Path, mask: WatchMask) -> io::Result<Option<WatchId>> {
        let flags = match mask {
            WatchMask::Entries => ENTRIES,
            WatchMask::Everything => EVERYTHING,
            WatchMask::Writes => WRITES,
        };
        match inotify::add_watch(&self.0, path, flags) {
            Ok(watch) => Ok(Some(WatchId(watch))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a watch. No-op when it was removed together with the watched path.
    pub fn remove(&self, watch: WatchId) {
        let _ = inotify::remove_watch(&self.0, watch.0);
    }

    /// Passes all queued events to `each` in order, without waiting for more.
    ///
    /// # Errors
    /// Fails with [`EventsLost`] when the queue overflowed or a watched file system was unmounted.
    pub fn drain(&self, mut each: impl FnMut(WatchEvent<'_>)) -> Result<(), EventsLost> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.0, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let flags = event.events();
                    if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                        return Err(EventsLost);
                    }
                    each(WatchEvent {
                        watch: WatchId(event.wd()),
                        name: event.file_name().map(|name| OsStr::from_bytes(name.to_bytes())),
                        kind: kind(flags),
                        is_directory: flags.contains(ReadFlags::ISDIR),
                    });
                }
                // The queue is non-blocking: `EAGAIN` means that it is empty.
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(_) => return Err(EventsLost),
            }
        }
    }
}

fn kind(flags: ReadFlags) -> EventKind {
    if flags.contains(ReadFlags::IGNORED) {
        EventKind::WatchRemoved
    } else if flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
        EventKind::Created
    } else if flags.contains(ReadFlags::DELETE) {
        EventKind::Deleted
    } else if flags.contains(ReadFlags::MOVED_FROM) {
        EventKind::MovedAway
    } else {
        EventKind::Modified
    }
}
