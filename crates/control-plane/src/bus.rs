//! Tells readers that something was appended.
//!
//! The bus carries no content: a subscriber is woken and reads the store from where it stands, so
//! nothing can be lost, doubled or reordered by it. In one process these are watch channels.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use uuid::Uuid;

/// Subject of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Events of a loop.
    Loop(Uuid),
    /// Events of a desktop command.
    Command(Uuid),
    /// Desktops of an organization going on and off line.
    Targets(Uuid),
    /// Sessions that were signed out, and keys that were revoked.
    Credentials,
}

/// The fan-out between the writers and the readers of this process.
#[derive(Debug, Clone, Default)]
pub struct Bus {
    topics: Arc<Mutex<HashMap<Topic, watch::Sender<()>>>>,
}

impl Bus {
    /// Wakes the subscribers of a topic. Called after the commit.
    pub fn publish(&self, topic: Topic) {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = topics.get(&topic)
            && sender.send(()).is_err()
        {
            topics.remove(&topic);
        }
    }

    /// A wake-up channel; subscribe first, then read the store.
    pub fn subscribe(&self, topic: Topic) -> watch::Receiver<()> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        // Readers that have gone leave their topic behind.
        topics.retain(|_, sender| sender.receiver_count() > 0);
        topics.entry(topic).or_insert_with(|| watch::channel(()).0).subscribe()
    }
}
