//! Watching with inotify: one watch a directory, and one a file of rules.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::{Change, below, parent};
use crate::search::walk::{GIT, RULES_FILE};

/// What is heard of a directory: which names come and go, not what is written.
const OF_DIRECTORY: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW)
    .union(WatchFlags::EXCL_UNLINK);
/// What is heard of a file of rules: that it was written.
const OF_RULES: WatchFlags = WatchFlags::CLOSE_WRITE.union(WatchFlags::MODIFY).union(WatchFlags::DONT_FOLLOW);
/// Bytes of events that are read at once.
const BUFFER: usize = 16 * 1024;

/// Watches on a tree. They end with this value.
#[derive(Debug)]
pub(in crate::search) struct Watch {
    queue: OwnedFd,
    known: Mutex<Known>,
    /// A directory could not be watched, so silence means nothing.
    deaf: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    by_watch: HashMap<i32, Watched>,
    /// Watches of a directory: its own, and that of its rules.
    by_directory: HashMap<Box<str>, Vec<i32>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Watched {
    Directory(Box<str>),
    /// The file of rules in this directory.
    Rules(Box<str>),
}

impl Watch {
    /// `None` when the system gives none.
    pub(in crate::search) fn new() -> Option<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self { queue, known: Mutex::default(), deaf: AtomicBool::new(false) })
    }

    /// Begins to watch a directory of the tree; from now on its changes are told.
    pub(in crate::search) fn add(&self, directory: &str, place: &Path) {
        match inotify::add_watch(&self.queue, place, OF_DIRECTORY) {
            Ok(watch) => self.known().insert(watch, Watched::Directory(directory.into())),
            // It went away: its parent tells.
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(_) => self.deaf.store(true, Ordering::Relaxed),
        }
    }

    /// Begins to watch the rules of a directory, which is watched already.
    pub(in crate::search) fn add_rules(&self, directory: &str, place: &Path) {
        if let Ok(watch) = inotify::add_watch(&self.queue, place.join(RULES_FILE), OF_RULES) {
            self.known().insert(watch, Watched::Rules(directory.into()));
        }
    }

    /// Ends the watches of a directory.
    pub(in crate::search) fn remove(&self, directory: &str) {
        let mut known = self.known();
        for watch in known.by_directory.remove(directory).unwrap_or_default() {
            known.by_watch.remove(&watch);
            // It may have ended with what it watched.
            let _ = inotify::remove_watch(&self.queue, watch);
        }
    }

    /// Whether every change is heard.
    pub(in crate::search) fn hears_all(&self) -> bool {
        !self.deaf.load(Ordering::Relaxed)
    }

    /// Everything that happened since the last call.
    pub(in crate::search) fn changes(&self) -> Vec<Change> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut changes = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                    self.read(event.wd(), event.events(), name.as_deref(), &mut changes);
                }
                Err(Errno::AGAIN) => return changes,
                Err(Errno::INTR) => {}
                Err(_) => {
                    changes.push(Change::Everything);
                    return changes;
                }
            }
        }
    }

    fn read(&self, watch: i32, event: ReadFlags, name: Option<&str>, changes: &mut Vec<Change>) {
        if event.contains(ReadFlags::QUEUE_OVERFLOW) {
            return changes.push(Change::Everything);
        }
        let mut known = self.known();
        let gone = event.intersects(ReadFlags::IGNORED | ReadFlags::UNMOUNT);
        let watched = if gone { known.forget(watch) } else { known.by_watch.get(&watch).cloned() };
        let Some(watched) = watched else { return };
        drop(known);
        match (watched, name) {
            (Watched::Rules(directory), _) => changes.push(Change::Directory(directory)),
            (Watched::Directory(directory), Some(GIT | RULES_FILE)) => {
                changes.push(Change::Directory(directory));
            }
            (Watched::Directory(directory), Some(name)) => {
                if event.contains(ReadFlags::ISDIR) {
                    changes.push(Change::Directory(below(&directory, name)));
                } else {
                    changes.push(Change::Entries(directory));
                }
            }
            // The directory itself: it is gone, or no longer where it was.
            (Watched::Directory(directory), None) => changes.push(match parent(&directory) {
                Some(_) => Change::Directory(directory),
                None => Change::Everything,
            }),
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn insert(&mut self, watch: i32, watched: Watched) {
        let (Watched::Directory(directory) | Watched::Rules(directory)) = &watched;
        let watches = self.by_directory.entry(directory.clone()).or_default();
        if !watches.contains(&watch) {
            watches.push(watch);
        }
        self.by_watch.insert(watch, watched);
    }

    fn forget(&mut self, watch: i32) -> Option<Watched> {
        let watched = self.by_watch.remove(&watch)?;
        let (Watched::Directory(directory) | Watched::Rules(directory)) = &watched;
        if let Some(watches) = self.by_directory.get_mut(directory) {
            watches.retain(|known| *known != watch);
        }
        Some(watched)
    }
}
