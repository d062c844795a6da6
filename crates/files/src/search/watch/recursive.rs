//! One recursive watch for the whole tree, based on the `notify` crate. Its events are delivered
//! asynchronously, shortly after the change.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::TreeChange;

/// Watch on a tree. Dropping the value removes it.
#[derive(Debug)]
pub(in crate::search) struct TreeWatch {
    /// Created when the root is added; `None` when that failed.
    watcher: OnceLock<Option<RecommendedWatcher>>,
    sender: Mutex<Option<std::sync::mpsc::Sender<notify::Result<notify::Event>>>>,
    events: Mutex<Receiver<notify::Result<notify::Event>>>,
}

impl TreeWatch {
    pub(in crate::search) fn new(_max_watches: usize) -> Self {
        let (sender, receiver) = channel();
        Self { watcher: OnceLock::new(), sender: Mutex::new(Some(sender)), events: Mutex::new(receiver) }
    }

    pub(in crate::search) fn add(&self, directory: &str, place: &Path) {
        if !directory.is_empty() {
            return;
        }
        self.watcher.get_or_init(|| {
            let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            let mut watcher = notify::recommended_watcher(move |event| {
                // The receiver is dropped only together with the watcher.
                let _ = sender.send(event);
            })
            .ok()?;
            watcher.watch(place, RecursiveMode::Recursive).ok()?;
            Some(watcher)
        });
    }

    pub(in crate::search) fn add_rules(&self, _: &str, _: &Path) {}

    pub(in crate::search) fn remove(&self, _: &str) {}

    pub(in crate::search) fn is_complete(&self) -> bool {
        matches!(self.watcher.get(), Some(Some(_)))
    }

    /// Any created or removed entry causes the whole tree to be walked again.
    pub(in crate::search) fn changes(&self) -> Vec<TreeChange> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let matters = |event: notify::Result<notify::Event>| match event {
            Ok(event) => {
                event.need_rescan()
                    || !matches!(
                        event.kind,
                        notify::EventKind::Access(_)
                            | notify::EventKind::Modify(notify::event::ModifyKind::Metadata(_))
                    )
            }
            Err(_) => true,
        };
        // `any` would short-circuit and leave events in the queue for the next search.
        let changed = events.try_iter().map(matters).fold(false, |any, one| any | one);
        if changed { vec![TreeChange::Everything] } else { Vec::new() }
    }
}
