//! Wake-ups of all desktops, for the tasks that serve those that are connected to this process.

use std::collections::HashSet;
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::sleep;
use uuid::Uuid;

// Ids that a receiver may be behind.
const BACKLOG: usize = 1024;
// Time in which further ids join a batch, so that a burst of them costs one read of the store.
const COLLECT: Duration = Duration::from_millis(20);

/// Desktops that something has changed for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WokenDesktops {
    /// These.
    Some(HashSet<Uuid>),
    /// Possibly every desktop, because notifications were lost.
    All,
}

/// Source of [`WokenDesktopsReceiver`]s. `None` stands for every desktop.
#[derive(Debug, Clone)]
pub(super) struct WokenDesktopsSender(broadcast::Sender<Option<Uuid>>);

impl Default for WokenDesktopsSender {
    fn default() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }
}

impl WokenDesktopsSender {
    pub(super) fn send(&self, id: Option<Uuid>) {
        // An error means that there are no receivers.
        let _ = self.0.send(id);
    }

    pub(super) fn subscribe(&self) -> WokenDesktopsReceiver {
        WokenDesktopsReceiver(self.0.subscribe())
    }
}

/// Receives the ids of desktops, in batches.
#[derive(Debug)]
pub struct WokenDesktopsReceiver(broadcast::Receiver<Option<Uuid>>);

impl WokenDesktopsReceiver {
    /// Waits for the next batch. Never returns when the bus was dropped.
    pub async fn next(&mut self) -> WokenDesktops {
        let mut woken = WokenDesktops::Some(HashSet::new());
        match self.0.recv().await {
            Ok(id) => woken.add(id),
            Err(RecvError::Lagged(_)) => woken.add(None),
            Err(RecvError::Closed) => std::future::pending().await,
        }
        sleep(COLLECT).await;
        loop {
            match self.0.try_recv() {
                Ok(id) => woken.add(id),
                Err(TryRecvError::Lagged(_)) => woken.add(None),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return woken,
            }
        }
    }
}

impl WokenDesktops {
    /// Returns whether a desktop may be one of these.
    pub fn contains(&self, id: Uuid) -> bool {
        match self {
            Self::Some(ids) => ids.contains(&id),
            Self::All => true,
        }
    }

    fn add(&mut self, id: Option<Uuid>) {
        match (self, id) {
            (Self::Some(ids), Some(id)) => drop(ids.insert(id)),
            (woken, None) => *woken = Self::All,
            (Self::All, Some(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ids_are_collected_and_a_receiver_that_lags_reads_everything() {
        let sender = WokenDesktopsSender::default();
        let mut receiver = sender.subscribe();
        let (first, second) = (Uuid::now_v7(), Uuid::now_v7());
        for id in [first, second, first] {
            sender.send(Some(id));
        }
        assert_eq!(receiver.next().await, WokenDesktops::Some(HashSet::from([first, second])));
        sender.send(Some(first));
        sender.send(None);
        assert_eq!(receiver.next().await, WokenDesktops::All);
        for _ in 0..=BACKLOG {
            sender.send(Some(first));
        }
        assert_eq!(receiver.next().await, WokenDesktops::All);
        sender.send(Some(second));
        assert_eq!(receiver.next().await, WokenDesktops::Some(HashSet::from([second])));
    }
}
