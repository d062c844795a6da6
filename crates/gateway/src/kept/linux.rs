//! Watching with inotify: one queue for all answers, one watch a directory.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::sources::Interest;
use super::{Changes, Number};

/// What is heard of a directory and of the files in it.
const HEARD: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW);
/// Events by which names come and go.
const OF_ENTRIES: ReadFlags =
    ReadFlags::CREATE.union(ReadFlags::DELETE).union(ReadFlags::MOVED_FROM).union(ReadFlags::MOVED_TO);
/// Bytes of events that are read at once.
const BUFFER: usize = 4 * 1024;

/// The watches of all answers. They end with this value.
#[derive(Debug)]
pub(super) struct Watches {
    queue: OwnedFd,
    interests: HashMap<i32, Vec<(Interest, Number)>>,
}

impl Watches {
    /// `None` when the system gives none.
    pub(super) fn new() -> Option<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self { queue, interests: HashMap::new() })
    }

    /// Watches a directory for an answer. Whether that is possible.
    pub(super) fn add(&mut self, directory: &Path, interest: &Interest, number: Number) -> bool {
        let added = inotify::add_watch(&self.queue, directory, HEARD);
        let Ok(watch) = added else { return false };
        self.interests.entry(watch).or_default().push((interest.clone(), number));
        true
    }

    /// Ends what is watched for an answer alone.
    pub(super) fn remove(&mut self, number: Number) {
        let queue = &self.queue;
        self.interests.retain(|watch, interests| {
            interests.retain(|(_, of)| *of != number);
            if interests.is_empty() {
                // It may have ended with what it watched.
                let _ = inotify::remove_watch(queue, *watch);
            }
            !interests.is_empty()
        });
    }

    /// Everything that happened since the last call.
    pub(super) fn changes(&mut self) -> Changes {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut changed = Vec::new();
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => {
                    return Changes::Everything;
                }
                Ok(event) => {
                    let interests = self.interests.get(&event.wd()).into_iter().flatten();
                    let name = event.file_name().map(std::ffi::CStr::to_bytes);
                    let of = interests.filter(|(interest, _)| concerns(interest, event.events(), name));
                    changed.extend(of.map(|(_, number)| *number));
                }
                Err(Errno::AGAIN) => return Changes::Of(changed),
                Err(Errno::INTR) => {}
                Err(_) => return Changes::Everything,
            }
        }
    }
}

/// Whether an event is about what an answer depends on. One without a name is about the directory
/// itself.
fn concerns(interest: &Interest, event: ReadFlags, name: Option<&[u8]>) -> bool {
    match (interest, name) {
        (_, None) => true,
        (Interest::Entries, Some(_)) => event.intersects(OF_ENTRIES),
        (Interest::Name(wanted), Some(name)) => wanted.as_encoded_bytes() == name,
    }
}
