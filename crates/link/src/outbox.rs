//! Send queue of one connection: bounded in bytes, drained in order by a single writer.
//!
//! `push` never blocks: the server closes a connection whose queue is full, the desktop waits for
//! [`SendQueue::room_for`] before it pushes events. A close frame is always the last message written.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{Sink, SinkExt as _};
use loopgate_api::link::Frame;
use tokio::sync::Notify;

/// Upper bound of the text bytes that one connection has queued or in flight to the socket.
pub(crate) const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// A batch is flushed once it has this many bytes, even if more messages are queued. Bounds the time for
/// which the first message of a batch stays in the sink's buffer.
const MAX_BATCH_BYTES: usize = 64 * 1024;

/// A message to be written to the socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OutboundMessage {
    Text(String),
    Ping,
    Close(CloseReason),
}

/// Close code and reason of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CloseReason {
    pub code: u16,
    /// Shown in the log of the peer. At most 123 bytes: a control frame carries 125, of which the code takes
    /// two.
    pub reason: String,
}

impl CloseReason {
    pub(crate) fn new(code: u16, reason: &str) -> Self {
        const MAX_REASON_BYTES: usize = 123;
        let mut end = reason.len().min(MAX_REASON_BYTES);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        Self { code, reason: reason[..end].to_owned() }
    }
}

/// Error of [`SendQueue::push`]: the queue is full and the message was not added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutboxFull;

#[derive(Default)]
struct OutboxState {
    queue: VecDeque<OutboundMessage>,
    /// Receives messages instead of `queue` until the hello is acknowledged, so that none is sent before it.
    held: Option<VecDeque<OutboundMessage>>,
    /// Text bytes that are queued, held back or passed to the sink but not flushed.
    bytes: usize,
    /// A close frame was queued; later messages are dropped.
    closed: bool,
}

/// Outgoing messages of one connection.
#[derive(Default)]
pub(crate) struct SendQueue {
    state: Mutex<OutboxState>,
    /// Notified when a message was queued.
    filled: Notify,
    /// Notified when a batch was flushed.
    written: Notify,
}

impl SendQueue {
    /// Returns a queue that holds events back until [`SendQueue::release`].
    pub(crate) fn holding() -> Self {
        let outbox = Self::default();
        outbox.lock().held = Some(VecDeque::new());
        outbox
    }

    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a frame. Dropped without an error after [`SendQueue::close`].
    pub(crate) fn push(&self, frame: &Frame) -> Result<(), OutboxFull> {
        self.push_text(frame.to_text(), false)
    }

    /// Queues a text. With `past_held`, it is not held back before [`SendQueue::release`].
    pub(crate) fn push_text(&self, text: String, past_held: bool) -> Result<(), OutboxFull> {
        let mut state = self.lock();
        if state.closed {
            return Ok(());
        }
        // A single message is always accepted, however large: its size was checked against the message limit.
        if state.bytes > 0 && state.bytes + text.len() > MAX_QUEUED_BYTES {
            return Err(OutboxFull);
        }
        state.bytes += text.len();
        match &mut state.held {
            Some(held) if !past_held => held.push_back(OutboundMessage::Text(text)),
            _ => state.queue.push_back(OutboundMessage::Text(text)),
        }
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Appends the messages that were held back to the queue.
    pub(crate) fn release(&self) {
        let mut state = self.lock();
        if let Some(held) = state.held.take() {
            state.queue.extend(held);
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Queues a ping. No-op while another ping is queued: a socket that is not drained needs only one.
    pub(crate) fn ping(&self) {
        let mut state = self.lock();
        if !state.closed && !state.queue.contains(&OutboundMessage::Ping) {
            state.queue.push_back(OutboundMessage::Ping);
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Queues the close frame. With `at_once`, messages that are still queued are dropped.
    pub(crate) fn close(&self, closing: CloseReason, at_once: bool) {
        let mut state = self.lock();
        if !state.closed {
            state.closed = true;
            // The handshake has failed, so events that were held back must not be sent.
            state.held = None;
            if at_once {
                state.queue.clear();
            }
            state.queue.push_back(OutboundMessage::Close(closing));
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Waits until a text of this length would be accepted. Supports one waiter at a time.
    pub(crate) async fn room_for(&self, bytes: usize) {
        loop {
            let queued = self.lock().bytes;
            if queued == 0 || queued + bytes <= MAX_QUEUED_BYTES {
                return;
            }
            self.written.notified().await;
        }
    }

    /// Writes messages until a close frame was written or the sink fails. Supports one writer at a time.
    ///
    /// Messages that are queued together share one flush.
    pub(crate) async fn write_to<S, M>(&self, mut sink: S, message: impl Fn(OutboundMessage) -> M)
    where
        S: Sink<M> + Unpin,
    {
        loop {
            let mut outgoing = self.next().await;
            let mut bytes = 0;
            loop {
                if let OutboundMessage::Text(text) = &outgoing {
                    bytes += text.len();
                }
                let last = matches!(outgoing, OutboundMessage::Close(_));
                if sink.feed(message(outgoing)).await.is_err() {
                    return;
                }
                if last {
                    // Best-effort: the connection ends either way.
                    let _ = sink.flush().await;
                    return;
                }
                let next = if bytes < MAX_BATCH_BYTES { self.pop() } else { None };
                match next {
                    Some(next) => outgoing = next,
                    None => break,
                }
            }
            if sink.flush().await.is_err() {
                return;
            }
            self.wrote(bytes);
        }
    }

    async fn next(&self) -> OutboundMessage {
        loop {
            match self.pop() {
                Some(outgoing) => return outgoing,
                None => self.filled.notified().await,
            }
        }
    }

    fn pop(&self) -> Option<OutboundMessage> {
        self.lock().queue.pop_front()
    }

    /// Releases the bytes of a flushed batch.
    fn wrote(&self, bytes: usize) {
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        drop(state);
        self.written.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn frame(text: &str) -> Frame {
        Frame { event: text.to_owned(), id: None, ack: None, data: json!({}) }
    }

    #[tokio::test]
    async fn held_messages_are_sent_after_the_handshake() {
        let outbox = SendQueue::holding();
        outbox.push(&frame("command")).unwrap();
        outbox.push_text(frame("ack").to_text(), true).unwrap();
        outbox.release();
        outbox.close(CloseReason::new(1000, ""), false);
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(outbox.next().await);
        }
        assert_eq!(seen[0], OutboundMessage::Text(frame("ack").to_text()));
        assert_eq!(seen[1], OutboundMessage::Text(frame("command").to_text()));
        assert!(matches!(seen[2], OutboundMessage::Close(_)));
    }

    #[tokio::test]
    async fn limit_includes_messages_that_are_not_flushed() {
        let outbox = SendQueue::default();
        let big = frame(&"x".repeat(MAX_QUEUED_BYTES / 2));
        outbox.push(&big).unwrap();
        let OutboundMessage::Text(text) = outbox.next().await else { panic!("a text") };
        // The text was taken out of the queue but not flushed, so its bytes still count.
        assert_eq!(outbox.push(&big), Err(OutboxFull));
        outbox.wrote(text.len());
        outbox.room_for(text.len()).await;
        assert_eq!(outbox.push(&big), Ok(()));
    }

    #[test]
    fn reason_is_truncated_at_a_character_boundary() {
        assert_eq!(CloseReason::new(1000, &"ä".repeat(100)).reason, "ä".repeat(61));
    }
}
