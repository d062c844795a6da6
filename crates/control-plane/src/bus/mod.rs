//! Wake-up notifications for readers of stored data.
//!
//! A notification carries no content. A subscriber that is woken reads the store from its last position, so a
//! lost, duplicated, late or reordered notification does no harm. Readers also poll.

mod local;
mod postgres;
mod wake_ups;

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use tokio::sync::watch;
use uuid::Uuid;

pub use local::LocalBus;
pub use postgres::PostgresBus;
#[cfg(test)]
pub use postgres::channel_name;
pub use wake_ups::{WokenDesktops, WokenDesktopsReceiver};

/// The subject of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Events of a loop.
    Loop(Uuid),
    /// Events of a desktop command.
    Command(Uuid),
    /// Lists of an organization: its change requests, loops and desktops.
    Organization(Uuid),
    /// What a desktop has to receive, or its connection: it has connected, or was removed.
    Desktop(Uuid),
    /// Revoked sessions and API keys.
    Credentials,
}

/// Fan-out from writers to readers.
pub trait Bus: Debug + Send + Sync {
    /// Wakes the subscribers of a topic. Call it after the commit, or they read the old state.
    fn publish(&self, topic: Topic);

    /// Subscribes to a topic. Subscribe before reading the store: a write between the two would otherwise go
    /// unnoticed.
    fn subscribe(&self, topic: Topic) -> watch::Receiver<()>;

    /// Subscribes to [`Topic::Desktop`] of all desktops.
    fn desktops(&self) -> WokenDesktopsReceiver;

    /// Sends what was published, and stops.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Characters of the longest text of a topic.
const MAX_TOPIC_LEN: usize = 33;

impl Topic {
    /// Returns the text of a topic in a notification: one letter, and the id without hyphens.
    fn to_text(self) -> String {
        match self {
            Self::Loop(id) => format!("l{}", id.simple()),
            Self::Command(id) => format!("c{}", id.simple()),
            Self::Organization(id) => format!("o{}", id.simple()),
            Self::Desktop(id) => format!("d{}", id.simple()),
            Self::Credentials => "k".to_owned(),
        }
    }

    /// Parses the text of a topic. `None` for one that this version does not know.
    fn of_text(text: &str) -> Option<Self> {
        let (kind, id) = text.split_at_checked(1)?;
        if (kind, id) == ("k", "") {
            return Some(Self::Credentials);
        }
        let id = Uuid::try_parse(id).ok()?;
        match kind {
            "l" => Some(Self::Loop(id)),
            "c" => Some(Self::Command(id)),
            "o" => Some(Self::Organization(id)),
            "d" => Some(Self::Desktop(id)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_have_a_text() {
        let id = Uuid::now_v7();
        let topics = [
            Topic::Loop(id),
            Topic::Command(id),
            Topic::Organization(id),
            Topic::Desktop(id),
            Topic::Credentials,
        ];
        for topic in topics {
            let text = topic.to_text();
            assert!(text.len() <= MAX_TOPIC_LEN, "{text}");
            assert_eq!(Topic::of_text(&text), Some(topic));
        }
        for unknown in ["", "k0", "l", "x0192f3c4a5b67890a1b2c3d4e5f60718", "é"] {
            assert_eq!(Topic::of_text(unknown), None, "{unknown}");
        }
    }
}
