//! Wake-up notifications for readers of append-only data.
//!
//! The bus carries no payload. A subscriber that is woken reads the store from its last position, so a lost,
//! duplicated or reordered notification does no harm. Delivery covers one process (watch channels); readers
//! poll as well, to see rows that another instance wrote.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use uuid::Uuid;

/// The subject of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Events of a loop.
    Loop(Uuid),
    /// Events of a desktop command.
    Command(Uuid),
    /// Lists of an organization: its change requests, loops and desktops.
    Organization(Uuid),
    /// Revoked sessions and API keys.
    Credentials,
}

/// Fan-out from the writers to the readers of this process.
#[derive(Debug, Clone, Default)]
pub struct Bus {
    topics: Arc<Mutex<HashMap<Topic, watch::Sender<()>>>>,
}

impl Bus {
    /// Wakes the subscribers of a topic. Call it after the commit, or they read the old state.
    pub fn publish(&self, topic: Topic) {
        // A panic under this lock leaves the map consistent, so a poisoned lock is usable.
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = topics.get(&topic)
            && sender.send(()).is_err()
        {
            topics.remove(&topic);
        }
    }

    /// Subscribes to a topic. Subscribe before reading the store: a write between the two would otherwise go
    /// unnoticed.
    pub fn subscribe(&self, topic: Topic) -> watch::Receiver<()> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        // Receivers are dropped without notice, so drop topics without receivers here, or the map grows with
        // every loop.
        topics.retain(|_, sender| sender.receiver_count() > 0);
        topics.entry(topic).or_insert_with(|| watch::channel(()).0).subscribe()
    }
}
