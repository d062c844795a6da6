//! The directories that answers depend on: one queue for all answers, one watch a directory.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use loopgate_home::{Hear, WatchId, Watches, What};

use super::sources::Interest;
use super::{Changes, Number};

/// The watches of all answers. They end with this value.
#[derive(Debug)]
pub(super) struct Watched {
    watches: Watches,
    interests: HashMap<WatchId, Vec<(Interest, Number)>>,
}

impl Watched {
    /// `None` when the system gives none.
    pub(super) fn new() -> Option<Self> {
        Some(Self { watches: Watches::new().ok()?, interests: HashMap::new() })
    }

    /// Watches a directory for an answer. Whether that is possible.
    pub(super) fn add(&mut self, directory: &Path, interest: &Interest, number: Number) -> bool {
        let Ok(Some(watch)) = self.watches.begin(directory, Hear::Everything) else { return false };
        self.interests.entry(watch).or_default().push((interest.clone(), number));
        true
    }

    /// Ends what is watched for an answer alone.
    pub(super) fn remove(&mut self, number: Number) {
        let watches = &self.watches;
        self.interests.retain(|watch, interests| {
            interests.retain(|(_, of)| *of != number);
            if interests.is_empty() {
                watches.end(*watch);
            }
            !interests.is_empty()
        });
    }

    /// Whether nothing happened since the last call of [`Watched::changes`].
    pub(super) fn are_silent(&self) -> bool {
        self.watches.are_silent()
    }

    /// Everything that happened since the last call.
    pub(super) fn changes(&mut self) -> Changes {
        let mut changed = Vec::new();
        let taken = self.watches.take(|event| {
            let interests = self.interests.get(&event.watch).into_iter().flatten();
            let of = interests.filter(|(interest, _)| concerns(interest, event.what, event.name));
            changed.extend(of.map(|(_, number)| *number));
        });
        taken.map_or(Changes::Everything, |()| Changes::Of(changed))
    }
}

/// Whether an event is about what an answer depends on. One without a name is about the directory
/// itself.
fn concerns(interest: &Interest, what: What, name: Option<&OsStr>) -> bool {
    match (interest, name) {
        (_, None) => true,
        (Interest::Entries, Some(_)) => matches!(what, What::Came | What::Deleted | What::MovedAway),
        (Interest::Name(wanted), Some(name)) => wanted == name,
    }
}
