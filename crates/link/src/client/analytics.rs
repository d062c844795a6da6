//! Analytics events: kept while there is no connection, and sent one after the other, each when the
//! server has answered the one before or has let its time pass.
//!
//! Nothing waits for them. A server that takes none is sent none for the rest of its connection.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use loopgate_api::link::{Analytics, Frame, ReportAck, event};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

/// Events that wait; the oldest go first.
const MAX_WAITING: usize = 200;
/// How long an event is worth sending.
const MAX_AGE: Duration = Duration::from_secs(15 * 60);
/// The answer of a server that takes none.
const DISABLED: &str = "feature_disabled";

/// Events that wait for a connection; they outlive each of them.
#[derive(Default)]
pub(super) struct AnalyticsQueue {
    events: Mutex<VecDeque<(Instant, Analytics)>>,
    grown: Notify,
}

impl AnalyticsQueue {
    pub(super) fn push(&self, analytics: Analytics) {
        let mut events = self.lock();
        if events.len() == MAX_WAITING {
            events.pop_front();
        }
        events.push_back((Instant::now(), analytics));
        drop(events);
        self.grown.notify_one();
    }

    /// The oldest that is still worth sending, as soon as there is one. Nothing is lost when the
    /// future is dropped.
    async fn next(&self) -> Analytics {
        loop {
            let oldest = {
                let mut events = self.lock();
                events.retain(|(since, _)| since.elapsed() < MAX_AGE);
                events.pop_front()
            };
            match oldest {
                Some((_, analytics)) => return analytics,
                None => self.grown.notified().await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, Analytics)>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one connection does with them.
pub(super) struct AnalyticsSender<'a> {
    waiting: &'a AnalyticsQueue,
    ack_time: Duration,
    /// The frame that is not answered yet, and until when an answer counts.
    open: Option<(String, Instant)>,
    /// The server takes none.
    disabled: bool,
}

impl<'a> AnalyticsSender<'a> {
    pub(super) const fn new(waiting: &'a AnalyticsQueue, ack_time: Duration) -> Self {
        Self { waiting, ack_time, open: None, disabled: false }
    }

    /// The next frame, when it may be sent. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Frame {
        if self.disabled {
            return std::future::pending().await;
        }
        if let Some((_, until)) = self.open {
            sleep_until(until).await;
            self.open = None;
        }
        let analytics = self.waiting.next().await;
        let (id, frame) = frame(&analytics);
        self.open = Some((id, Instant::now() + self.ack_time));
        frame
    }

    /// Every frame that waits, for the end of the program: no answer is awaited any more.
    pub(super) fn rest(&self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while !self.disabled
            && let Some(analytics) = self.waiting.next().now_or_never()
        {
            frames.push(frame(&analytics).1);
        }
        frames
    }

    /// Takes the answer to a frame; one that comes too late, or to something else, changes nothing.
    pub(super) fn answered(&mut self, frame: &Frame) {
        let is_awaited = |(id, _): &(String, Instant)| frame.ack.as_ref() == Some(id);
        if !self.open.as_ref().is_some_and(is_awaited) {
            return;
        }
        self.open = None;
        let Ok(ReportAck { accepted: false, reason }) = frame.payload::<ReportAck>() else { return };
        let reason = reason.unwrap_or_default();
        tracing::info!(reason, "the control plane does not take an analytics event");
        self.disabled = reason == DISABLED;
    }
}

/// A frame that asks for an answer, and its id.
fn frame(analytics: &Analytics) -> (String, Frame) {
    let id = Uuid::new_v4().simple().to_string();
    let frame = Frame::event(event::ANALYTICS, analytics).with_id(&id);
    (id, frame)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    const ACK_TIME: Duration = Duration::from_millis(1500);

    fn analytics(number: usize) -> Analytics {
        Analytics { event: number.to_string(), properties: Map::new(), occurred_at: None }
    }

    fn name(frame: &Frame) -> &str {
        frame.data["event"].as_str().unwrap()
    }

    fn answer(frame: &Frame, answer: &ReportAck) -> Frame {
        Frame::acknowledging(&frame.event, frame.id.as_deref().unwrap(), answer)
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_messages_are_bounded_in_number_and_age() {
        let waiting = AnalyticsQueue::default();
        (0..MAX_WAITING + 10).for_each(|number| waiting.push(analytics(number)));
        assert_eq!(waiting.next().await.event, "10");
        tokio::time::advance(MAX_AGE).await;
        waiting.push(analytics(1000));
        assert_eq!(waiting.next().await.event, "1000");
        assert!(waiting.next().now_or_never().is_none());
    }

    // CL-51
    #[tokio::test(start_paused = true)]
    async fn one_is_under_way_until_it_is_answered_or_its_time_has_passed() {
        let waiting = AnalyticsQueue::default();
        (0..4).for_each(|number| waiting.push(analytics(number)));
        let mut sender = AnalyticsSender::new(&waiting, ACK_TIME);
        let first = sender.next().await;
        assert_eq!(name(&first), "0");
        assert!(sender.next().now_or_never().is_none());
        sender.answered(&Frame::acknowledging(&first.event, "another", &ReportAck::no(DISABLED)));
        sender.answered(&answer(&first, &ReportAck::yes()));
        let second = sender.next().now_or_never().unwrap();
        assert_eq!(name(&second), "1");
        let start = Instant::now();
        let third = sender.next().await;
        assert_eq!((name(&third), start.elapsed()), ("2", ACK_TIME));
        // Too late to count.
        sender.answered(&answer(&second, &ReportAck::no(DISABLED)));
        sender.answered(&answer(&third, &ReportAck::no("rate_limited")));
        let fourth = sender.next().await;
        sender.answered(&answer(&fourth, &ReportAck::no(DISABLED)));
        waiting.push(analytics(5));
        assert!(sender.next().now_or_never().is_none());
        assert!(sender.rest().is_empty());
        assert_eq!(
            name(&AnalyticsSender::new(&waiting, ACK_TIME).next().await),
            "5",
            "on the next connection"
        );
    }

    #[tokio::test]
    async fn end_of_the_program_awaits_no_answer() {
        let waiting = AnalyticsQueue::default();
        (0..3).for_each(|number| waiting.push(analytics(number)));
        let mut sender = AnalyticsSender::new(&waiting, ACK_TIME);
        assert_eq!(name(&sender.next().await), "0");
        let rest = sender.rest();
        assert_eq!(rest.iter().map(name).collect::<Vec<_>>(), ["1", "2"]);
        assert!(rest[0].id.is_some() && rest[0].id != rest[1].id);
    }

    #[test]
    fn frame_holds_the_event_beside_its_envelope() {
        let mut sent = analytics(1);
        sent.properties.insert("k".to_owned(), json!(1));
        let frame = Frame::event(event::ANALYTICS, &sent);
        assert_eq!((&frame.data["event"], &frame.data["properties"]), (&json!("1"), &json!({"k": 1})));
    }
}
