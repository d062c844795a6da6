//! Watching with what the system has, for the whole tree at once.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::Change;

/// A watch on a tree. It ends with this value.
#[derive(Debug)]
pub(in crate::search) struct Watch {
    /// Begun with the root; the error of that beginning is deafness.
    watcher: OnceLock<Option<RecommendedWatcher>>,
    begin: Mutex<Option<std::sync::mpsc::Sender<notify::Result<notify::Event>>>>,
    events: Mutex<Receiver<notify::Result<notify::Event>>>,
}

impl Watch {
    /// One watch hears of the whole tree; the system limits what that takes.
    pub(in crate::search) fn new(_most: usize) -> Self {
        let (tell, told) = channel();
        Self { watcher: OnceLock::new(), begin: Mutex::new(Some(tell)), events: Mutex::new(told) }
    }

    pub(in crate::search) fn add(&self, directory: &str, place: &Path) {
        if !directory.is_empty() {
            return;
        }
        self.watcher.get_or_init(|| {
            let tell = self.begin.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            let mut watcher = notify::recommended_watcher(move |event| {
                let _ = tell.send(event);
            })
            .ok()?;
            watcher.watch(place, RecursiveMode::Recursive).ok()?;
            Some(watcher)
        });
    }

    pub(in crate::search) fn add_rules(&self, _: &str, _: &Path) {}

    pub(in crate::search) fn remove(&self, _: &str) {}

    pub(in crate::search) fn hears_all(&self) -> bool {
        matches!(self.watcher.get(), Some(Some(_)))
    }

    /// Names that came or went make the whole tree be read again.
    pub(in crate::search) fn changes(&self) -> Vec<Change> {
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
        // All of them are taken, so that none is left for the next question.
        let changed = events.try_iter().map(matters).fold(false, |any, one| any | one);
        if changed { vec![Change::Everything] } else { Vec::new() }
    }
}
