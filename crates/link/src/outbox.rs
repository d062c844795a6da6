//! What one end has yet to send: a queue with a limit in bytes, written by one writer in order.
//!
//! Producers never wait here: a server that cannot keep up ends the connection, a desktop asks
//! for room first. A close is the last thing that leaves.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{Sink, SinkExt as _};
use loopgate_api::link::Frame;
use tokio::sync::Notify;

/// Most bytes that wait for the wire on one side of a connection.
pub(crate) const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// Bytes after which a batch is flushed although more waits.
const MAX_BATCH_BYTES: usize = 64 * 1024;

/// One thing to put on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OutboundMessage {
    /// A text frame.
    Text(String),
    /// A protocol-level ping.
    Ping,
    /// The end of the connection.
    Close(CloseReason),
}

/// Why and how a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CloseReason {
    /// Close code.
    pub code: u16,
    /// For the log of the other end, at most 123 bytes.
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

/// The queue is full; what was pushed is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutboxFull;

#[derive(Default)]
struct OutboxState {
    queue: VecDeque<OutboundMessage>,
    /// Filled instead of `queue` until the handshake is answered, so that nothing overtakes it.
    held: Option<VecDeque<OutboundMessage>>,
    /// Bytes of every text that is queued, held or being written.
    bytes: usize,
    /// Nothing is taken any more.
    closed: bool,
}

/// The queue of one connection.
#[derive(Default)]
pub(crate) struct SendQueue {
    state: Mutex<OutboxState>,
    /// Woken when the writer has something to do.
    filled: Notify,
    /// Woken when something was written.
    written: Notify,
}

impl SendQueue {
    /// An outbox that keeps events back until [`SendQueue::release`].
    pub(crate) fn holding() -> Self {
        let outbox = Self::default();
        outbox.lock().held = Some(VecDeque::new());
        outbox
    }

    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a frame; after a close it is dropped silently.
    pub(crate) fn push(&self, frame: &Frame) -> Result<(), OutboxFull> {
        self.push_text(frame.to_text(), false)
    }

    /// Queues a text, past what is held back when that is wanted.
    pub(crate) fn push_text(&self, text: String, past_held: bool) -> Result<(), OutboxFull> {
        let mut state = self.lock();
        if state.closed {
            return Ok(());
        }
        // One message may always wait, whatever its size: it was checked against the message limit.
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

    /// Lets out what was held back, behind what is queued already.
    pub(crate) fn release(&self) {
        let mut state = self.lock();
        if let Some(held) = state.held.take() {
            state.queue.extend(held);
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Queues a ping, unless one waits already.
    pub(crate) fn ping(&self) {
        let mut state = self.lock();
        if !state.closed && !state.queue.contains(&OutboundMessage::Ping) {
            state.queue.push_back(OutboundMessage::Ping);
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Queues the end. With `at_once` everything that waits is dropped, otherwise it goes first.
    pub(crate) fn close(&self, closing: CloseReason, at_once: bool) {
        let mut state = self.lock();
        if !state.closed {
            state.closed = true;
            state.held = None;
            if at_once {
                state.queue.clear();
            }
            state.queue.push_back(OutboundMessage::Close(closing));
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Returns when a text of this length would be taken. For one waiter at a time.
    pub(crate) async fn room_for(&self, bytes: usize) {
        loop {
            let queued = self.lock().bytes;
            if queued == 0 || queued + bytes <= MAX_QUEUED_BYTES {
                return;
            }
            self.written.notified().await;
        }
    }

    /// Writes until a close was written or the sink refuses. For one writer.
    ///
    /// What waits together goes out together: one flush for many small frames.
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
                    let _ = sink.flush().await;
                    return;
                }
                let more = if bytes < MAX_BATCH_BYTES { self.pop() } else { None };
                match more {
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

    /// Texts of so many bytes are on the wire.
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
    async fn buffered_messages_follow_the_handshake() {
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
    async fn limit_counts_what_is_being_written() {
        let outbox = SendQueue::default();
        let big = frame(&"x".repeat(MAX_QUEUED_BYTES / 2));
        outbox.push(&big).unwrap();
        let OutboundMessage::Text(text) = outbox.next().await else { panic!("a text") };
        assert_eq!(outbox.push(&big), Err(OutboxFull));
        outbox.wrote(text.len());
        outbox.room_for(text.len()).await;
        assert_eq!(outbox.push(&big), Ok(()));
    }

    #[test]
    fn reason_is_cut_at_a_character() {
        assert_eq!(CloseReason::new(1000, &"ä".repeat(100)).reason, "ä".repeat(61));
    }
}
