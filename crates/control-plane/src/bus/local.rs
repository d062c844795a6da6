//! Fan-out within this process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::watch;

use super::wake_ups::WokenDesktopsSender;
use super::{Bus, Topic, WokenDesktopsReceiver};

/// Wakes the readers of this process.
#[derive(Debug, Default)]
pub struct LocalBus {
    topics: Mutex<HashMap<Topic, watch::Sender<()>>>,
    desktops: WokenDesktopsSender,
}

impl LocalBus {
    /// Wakes all subscribers, because notifications may have been lost.
    pub(super) fn publish_all(&self) {
        self.desktops.send(None);
        self.lock().retain(|_, sender| sender.send(()).is_ok());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Topic, watch::Sender<()>>> {
        // A panic under this lock leaves the map consistent, so a poisoned lock is usable.
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bus for LocalBus {
    fn publish(&self, topic: Topic) {
        if let Topic::Desktop(id) = topic {
            self.desktops.send(Some(id));
            return;
        }
        let mut topics = self.lock();
        if let Some(sender) = topics.get(&topic)
            && sender.send(()).is_err()
        {
            topics.remove(&topic);
        }
    }

    fn subscribe(&self, topic: Topic) -> watch::Receiver<()> {
        let mut topics = self.lock();
        // Receivers are dropped without notice, so drop topics without receivers here, or the map grows with
        // every loop.
        topics.retain(|_, sender| sender.receiver_count() > 0);
        topics.entry(topic).or_insert_with(|| watch::channel(()).0).subscribe()
    }

    fn desktops(&self) -> WokenDesktopsReceiver {
        self.desktops.subscribe()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
