//! Watching with inotify, one watch a directory.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::{Deaf, Event, Part, Place, What};

/// What is heard of a directory. The end of a writing is heard because writing through memory is
/// not.
const HEARD: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW)
    .union(WatchFlags::EXCL_UNLINK);
/// Bytes of events that are read at once.
const BUFFER: usize = 16 * 1024;
/// File systems on which every change is made through this kernel: ext, xfs, btrfs, tmpfs,
/// overlayfs, f2fs, zfs, bcachefs.
const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e];

/// Watches on directories. They end with this value.
#[derive(Debug)]
pub(in crate::git::seen) struct Watch {
    queue: OwnedFd,
    places: HashMap<i32, Place>,
}

impl Watch {
    /// Nothing is watched yet.
    pub(in crate::git::seen) fn new() -> io::Result<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self { queue, places: HashMap::new() })
    }

    /// Whether everything that changes below a directory can be heard.
    pub(in crate::git::seen) fn hears_on(directory: &Path) -> io::Result<bool> {
        let kind = rustix::fs::statfs(directory)?.f_type;
        #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "its type depends on the machine")]
        Ok(LOCAL.contains(&(kind as u64 & 0xffff_ffff)))
    }

    /// Begins to watch a directory. `false` when there is none at that path.
    pub(in crate::git::seen) fn add(&mut self, part: Part, path: &Path, absolute: &Path) -> io::Result<bool> {
        match inotify::add_watch(&self.queue, absolute, HEARD) {
            Ok(watch) => {
                self.places.insert(watch, (part, path.to_owned()));
                Ok(true)
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the watches on a directory and on those below it.
    pub(in crate::git::seen) fn remove(&mut self, part: Part, path: &Path) {
        self.places.retain(|watch, (of, place)| {
            let stays = *of != part || !place.starts_with(path);
            if !stays {
                // It may have ended with what it watched.
                let _ = inotify::remove_watch(&self.queue, *watch);
            }
            stays
        });
    }

    /// How many directories are watched.
    pub(in crate::git::seen) fn len(&self) -> usize {
        self.places.len()
    }

    /// Takes what happened since the last call.
    pub(in crate::git::seen) fn take(&mut self) -> Result<Vec<Event>, Deaf> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut events = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => {
                    let flags = event.events();
                    if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                        return Err(Deaf);
                    }
                    if flags.contains(ReadFlags::IGNORED) {
                        self.places.remove(&event.wd());
                        continue;
                    }
                    let Some(place) = self.places.get(&event.wd()) else { continue };
                    let Some(name) = event.file_name() else {
                        // The directory itself. Unless it is the topmost, its parent tells as well.
                        if place.1.as_os_str().is_empty() {
                            return Err(Deaf);
                        }
                        continue;
                    };
                    let what = if flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                        What::Came
                    } else if flags.contains(ReadFlags::DELETE) {
                        What::Deleted
                    } else if flags.contains(ReadFlags::MOVED_FROM) {
                        What::MovedAway
                    } else {
                        What::Changed
                    };
                    let name = OsStr::from_bytes(name.to_bytes()).to_owned();
                    let directory = flags.contains(ReadFlags::ISDIR);
                    events.push(Event { place: place.clone(), name, what, directory });
                }
                Err(Errno::AGAIN) => return Ok(events),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Deaf),
            }
        }
    }
}
