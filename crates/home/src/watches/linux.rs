//! Watching with inotify.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::{Deaf, Event, Hear, WatchId, What};

const NAMES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW)
    .union(WatchFlags::EXCL_UNLINK);
const EVERYTHING: WatchFlags =
    NAMES.union(WatchFlags::MODIFY).union(WatchFlags::CLOSE_WRITE).union(WatchFlags::ATTRIB);
const WRITING: WatchFlags = WatchFlags::CLOSE_WRITE.union(WatchFlags::MODIFY).union(WatchFlags::DONT_FOLLOW);
/// Bytes of events that are read at once.
const BUFFER: usize = 16 * 1024;
/// File systems on which every change is made through this kernel: ext, xfs, btrfs, tmpfs,
/// overlayfs, f2fs, zfs, bcachefs.
const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e];

/// Watches with one queue for what they hear. They end with this value.
#[derive(Debug)]
pub struct Watches(OwnedFd);

impl Watches {
    /// Nothing is watched yet.
    ///
    /// # Errors
    /// The system gives no more queues.
    pub fn new() -> io::Result<Self> {
        Ok(Self(inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?))
    }

    /// Whether everything that changes below a directory can be heard: other machines' changes to a
    /// shared file system cannot.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn hear_all_on(directory: &Path) -> io::Result<bool> {
        let kind = rustix::fs::statfs(directory)?.f_type;
        #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "its type depends on the machine")]
        Ok(LOCAL.contains(&(kind as u64 & 0xffff_ffff)))
    }

    /// Begins to watch a place; from now on its changes are heard. `None` when nothing is there that
    /// could be watched so. A place that is watched already keeps its watch, and hears what was
    /// asked for last.
    ///
    /// # Errors
    /// The system refuses, or has no watches left.
    pub fn begin(&self, place: &Path, hear: Hear) -> io::Result<Option<WatchId>> {
        let flags = match hear {
            Hear::Names => NAMES,
            Hear::Everything => EVERYTHING,
            Hear::Writing => WRITING,
        };
        match inotify::add_watch(&self.0, place, flags) {
            Ok(watch) => Ok(Some(WatchId(watch))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a watch, unless it has ended with what it watched.
    pub fn end(&self, watch: WatchId) {
        let _ = inotify::remove_watch(&self.0, watch.0);
    }

    /// Whether nothing happened since the last call of [`Watches::take`].
    #[must_use]
    pub fn are_silent(&self) -> bool {
        rustix::io::ioctl_fionread(&self.0).is_ok_and(|waiting| waiting == 0)
    }

    /// Hands on everything that happened since the last call, in its order.
    ///
    /// # Errors
    /// [`Deaf`] when not everything was heard, or a file system was taken away.
    pub fn take(&self, mut each: impl FnMut(Event<'_>)) -> Result<(), Deaf> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.0, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let flags = event.events();
                    if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                        return Err(Deaf);
                    }
                    each(Event {
                        watch: WatchId(event.wd()),
                        name: event.file_name().map(|name| OsStr::from_bytes(name.to_bytes())),
                        what: what(flags),
                        directory: flags.contains(ReadFlags::ISDIR),
                    });
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Deaf),
            }
        }
    }
}

fn what(flags: ReadFlags) -> What {
    if flags.contains(ReadFlags::IGNORED) {
        What::Ended
    } else if flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
        What::Came
    } else if flags.contains(ReadFlags::DELETE) {
        What::Deleted
    } else if flags.contains(ReadFlags::MOVED_FROM) {
        What::MovedAway
    } else {
        What::Changed
    }
}
