//! Fan-out between the instances that share a PostgreSQL database, by `LISTEN` and `NOTIFY`.
//!
//! A notification inside a transaction would make all commits of the server wait for one lock. Topics are
//! therefore collected for some milliseconds and sent together, on a connection of their own.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sea_orm::sqlx::postgres::{PgListener, PgPool, PgPoolOptions};
use sea_orm::sqlx::{self, query};
use sea_orm::{DbErr, RuntimeErr};
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::{Bus, LocalBus, MAX_TOPIC_LEN, Topic, WokenDesktopsReceiver};

// Time in which further topics join a notification.
const COLLECT: Duration = Duration::from_millis(20);
// Topics that wait to be sent. More are lost, and readers find the change when they poll.
const BACKLOG: usize = 8192;
// Interval of empty notifications, by which a listener notices that its connection is dead.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
// Time without any notification after which the listener connects again.
const SILENCE: Duration = Duration::from_secs(15);
// Pause after a failure.
const RETRY: Duration = Duration::from_secs(1);
// Bytes of a notification; the server rejects 8,000.
const MAX_PAYLOAD: usize = 7_900;
// One connection listens and one sends; the others replace one that the server has not closed yet.
const CONNECTIONS: u32 = 4;

/// Wakes the readers of all instances.
#[derive(Debug)]
pub struct PostgresBus {
    local: Arc<LocalBus>,
    outgoing: mpsc::Sender<Topic>,
    end: CancellationToken,
    tasks: TaskTracker,
}

/// What both tasks need.
#[derive(Debug, Clone)]
struct Channel {
    pool: PgPool,
    name: String,
    instance: Uuid,
}

impl PostgresBus {
    /// Starts the tasks that send and receive. Instances with the same database and schema wake each other.
    ///
    /// # Errors
    /// Fails when the URL cannot be parsed.
    pub fn start(url: &str, schema: Option<&str>, instance: Uuid) -> Result<Self, DbErr> {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).connect_lazy(url);
        let pool = pool.map_err(|error| DbErr::Conn(RuntimeErr::SqlxError(Arc::new(error))))?;
        let channel = Channel { pool, name: channel_name(schema), instance };
        let (outgoing, topics) = mpsc::channel(BACKLOG);
        let bus = Self {
            local: Arc::default(),
            outgoing,
            end: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        bus.tasks.spawn(send(channel.clone(), topics, bus.end.clone()));
        let (local, end) = (Arc::clone(&bus.local), bus.end.clone());
        bus.tasks.spawn(async move {
            tokio::select! {
                () = end.cancelled() => {}
                () = listen(channel, &local) => {}
            }
        });
        Ok(bus)
    }
}

/// Returns the name of the channel of a schema. Channels belong to the database.
pub fn channel_name(schema: Option<&str>) -> String {
    let digest = Sha256::digest(schema.unwrap_or("public"));
    format!("loopgate_{}", hex::encode(&digest[..8]))
}

impl Bus for PostgresBus {
    fn publish(&self, topic: Topic) {
        self.local.publish(topic);
        if self.outgoing.try_send(topic).is_err() {
            tracing::debug!(?topic, "failed to notify the other instances");
        }
    }

    fn subscribe(&self, topic: Topic) -> watch::Receiver<()> {
        self.local.subscribe(topic)
    }

    fn desktops(&self) -> WokenDesktopsReceiver {
        self.local.desktops()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.end.cancel();
            self.tasks.close();
            self.tasks.wait().await;
        })
    }
}

/// Sends the topics until the end, and those that have been published until then.
async fn send(channel: Channel, mut topics: mpsc::Receiver<Topic>, end: CancellationToken) {
    let mut batch = HashSet::new();
    while !end.is_cancelled() {
        tokio::select! {
            () = end.cancelled() => {}
            () = sleep(KEEP_ALIVE) => {}
            topic = topics.recv() => {
                batch.extend(topic);
                sleep(COLLECT).await;
            }
        }
        while let Ok(topic) = topics.try_recv() {
            batch.insert(topic);
        }
        for payload in payloads(channel.instance, batch.drain()) {
            if let Err(error) = notify(&channel, &payload).await {
                tracing::warn!(%error, "failed to notify the other instances");
                sleep(RETRY).await;
            }
        }
    }
    // A connection that the server does not answer on must not delay the end.
    let _ = timeout(RETRY, channel.pool.close()).await;
}

async fn notify(channel: &Channel, payload: &str) -> Result<(), sqlx::Error> {
    query("SELECT pg_notify($1, $2)").bind(&channel.name).bind(payload).execute(&channel.pool).await.map(drop)
}

/// Returns the notifications of topics: the sender's id, and texts of topics. There is at least one.
fn payloads(instance: Uuid, topics: impl Iterator<Item = Topic>) -> Vec<String> {
    let start = instance.simple().to_string();
    let mut payloads = vec![start.clone()];
    for topic in topics {
        if payloads.last().is_none_or(|payload| payload.len() + 1 + MAX_TOPIC_LEN > MAX_PAYLOAD) {
            payloads.push(start.clone());
        }
        if let Some(payload) = payloads.last_mut() {
            payload.push(' ');
            payload.push_str(&topic.to_text());
        }
    }
    payloads
}

/// Publishes what other instances send.
async fn listen(channel: Channel, local: &LocalBus) {
    loop {
        if let Err(error) = receive(&channel, local).await {
            tracing::warn!(%error, "failed to receive notifications of the other instances");
        }
        sleep(RETRY).await;
    }
}

/// Receives until the connection is lost, and cannot be opened again.
async fn receive(channel: &Channel, local: &LocalBus) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(&channel.pool).await?;
    listener.listen(&channel.name).await?;
    // What was sent before is lost.
    local.publish_all();
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(Ok(Some(notification))) => publish(notification.payload(), channel.instance, local),
            // The connection was lost and has been opened again.
            Ok(Ok(None)) => local.publish_all(),
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                tracing::warn!("no notification arrived for {} seconds, connecting again", SILENCE.as_secs());
                return Ok(());
            }
        }
    }
}

/// Publishes the topics of another instance's notification. A newer version may have topics that this one does not know.
fn publish(payload: &str, instance: Uuid, local: &LocalBus) {
    let mut words = payload.split(' ');
    if words.next().and_then(|sender| Uuid::try_parse(sender).ok()) == Some(instance) {
        return;
    }
    words.filter_map(Topic::of_text).for_each(|topic| local.publish(topic));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_divided_into_notifications_that_the_server_accepts() {
        let (own, other) = (Uuid::now_v7(), Uuid::now_v7());
        assert_eq!(payloads(own, std::iter::empty()), [own.simple().to_string()]);
        let topics: Vec<Topic> = (0..600).map(|_| Topic::Loop(Uuid::now_v7())).collect();
        let payloads = payloads(own, topics.iter().copied());
        assert_eq!(payloads.len(), 3);
        assert!(payloads.iter().all(|payload| payload.len() <= MAX_PAYLOAD));
        let local = LocalBus::default();
        let wakes: Vec<_> = topics.iter().map(|topic| local.subscribe(*topic)).collect();
        payloads.iter().for_each(|payload| publish(payload, own, &local));
        assert!(wakes.iter().all(|wake| !wake.has_changed().unwrap()), "own topics were published before");
        payloads.iter().for_each(|payload| publish(payload, other, &local));
        assert!(wakes.iter().all(|wake| wake.has_changed().unwrap()));
    }

    #[test]
    fn unreadable_notifications_are_ignored() {
        let local = LocalBus::default();
        let wake = local.subscribe(Topic::Credentials);
        for payload in ["", " ", "x", "x y z", "- k0"] {
            publish(payload, Uuid::now_v7(), &local);
        }
        assert!(!wake.has_changed().unwrap());
        publish("x future k", Uuid::now_v7(), &local);
        assert!(wake.has_changed().unwrap());
    }
}
