//! The directories of one repository that are watched, and what happened in them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_home::{Deaf, Hear, WatchId, Watches, What};

/// Which of the directories that belong to a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The working tree.
    Tree,
    /// The records of this working tree alone.
    Own,
    /// The records that all working trees share.
    Common,
}

/// A watched directory: its part, and its path in there.
pub(super) type Place = (Part, PathBuf);

/// Something that happened to an entry of a watched directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) place: Place,
    pub(super) name: OsString,
    pub(super) what: What,
    /// Whether the entry is a directory.
    pub(super) directory: bool,
}

/// Watches on the directories of a repository. They end with this value.
#[derive(Debug)]
pub(super) struct Watch {
    watches: Watches,
    places: HashMap<WatchId, Place>,
}

impl Watch {
    /// Nothing is watched yet.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { watches: Watches::new()?, places: HashMap::new() })
    }

    /// Begins to watch a directory. `false` when there is none at that path.
    pub(super) fn add(&mut self, part: Part, path: &Path, absolute: &Path) -> io::Result<bool> {
        let begun = self.watches.begin(absolute, Hear::Everything)?;
        Ok(begun.map(|watch| self.places.insert(watch, (part, path.to_owned()))).is_some())
    }

    /// Ends the watches on a directory and on those below it.
    pub(super) fn remove(&mut self, part: Part, path: &Path) {
        let watches = &self.watches;
        self.places.retain(|watch, (of, place)| {
            let stays = *of != part || !place.starts_with(path);
            if !stays {
                watches.end(*watch);
            }
            stays
        });
    }

    /// How many directories are watched.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Takes what happened since the last call.
    pub(super) fn take(&mut self) -> Result<Vec<Event>, Deaf> {
        let places = &mut self.places;
        let (mut events, mut lost_root) = (Vec::new(), false);
        self.watches.take(|event| {
            if event.what == What::Ended {
                places.remove(&event.watch);
                return;
            }
            let Some(place) = places.get(&event.watch) else { return };
            let (what, directory) = (event.what, event.directory);
            match event.name {
                Some(name) => {
                    events.push(Event { place: place.clone(), name: name.to_owned(), what, directory });
                }
                // The directory itself. Unless it is the topmost, its parent tells as well.
                None => lost_root |= place.1.as_os_str().is_empty(),
            }
        })?;
        if lost_root { Err(Deaf) } else { Ok(events) }
    }
}
