//! Queue of analytics events, which also buffers them while there is no connection.
//!
//! One event is in flight at a time: the next one is sent after the acknowledgement or its timeout. Analytics
//! never delay commands. After the reply `feature_disabled`, none are sent on the rest of the connection.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use loopgate_api::link::{Analytics, Frame, ReportAck, event};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

/// Queued events. Above it the oldest are dropped.
const MAX_WAITING: usize = 200;
/// Age above which a queued event is dropped: a late event would distort the statistics more than a missing
/// one.
const MAX_AGE: Duration = Duration::from_secs(15 * 60);
/// Rejection reason of a server that does not accept analytics.
const DISABLED: &str = "feature_disabled";

/// Queued events of the process, independent of any connection.
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

    /// Waits for an event and returns the oldest that has not expired. Cancel-safe.
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

/// Sends queued events on one connection.
pub(super) struct AnalyticsSender<'a> {
    queue: &'a AnalyticsQueue,
    ack_time: Duration,
    /// Id of the frame in flight, and the deadline of its acknowledgement.
    in_flight: Option<(String, Instant)>,
    /// The server does not accept analytics.
    disabled: bool,
}

impl<'a> AnalyticsSender<'a> {
    pub(super) const fn new(queue: &'a AnalyticsQueue, ack_time: Duration) -> Self {
        Self { queue, ack_time, in_flight: None, disabled: false }
    }

    /// Waits until the next frame may be sent, and returns it. Cancel-safe.
    pub(super) async fn next(&mut self) -> Frame {
        if self.disabled {
            return std::future::pending().await;
        }
        if let Some((_, until)) = self.in_flight {
            sleep_until(until).await;
            self.in_flight = None;
        }
        let analytics = self.queue.next().await;
        let (id, frame) = frame(&analytics);
        self.in_flight = Some((id, Instant::now() + self.ack_time));
        frame
    }

    /// Returns all queued frames. Called on shutdown, where acknowledgements are not awaited.
    pub(super) fn drain(&self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while !self.disabled
            && let Some(analytics) = self.queue.next().now_or_never()
        {
            frames.push(frame(&analytics).1);
        }
        frames
    }

    /// Handles the acknowledgement of a frame. Ignored when it is late or acknowledges another frame.
    pub(super) fn acknowledged(&mut self, frame: &Frame) {
        let is_awaited = |(id, _): &(String, Instant)| frame.ack.as_ref() == Some(id);
        if !self.in_flight.as_ref().is_some_and(is_awaited) {
            return;
        }
        self.in_flight = None;
        let Ok(ReportAck { accepted: false, reason }) = frame.payload::<ReportAck>() else { return };
        let reason = reason.unwrap_or_default();
        tracing::info!(reason, "analytics event rejected by the control plane");
        self.disabled = reason == DISABLED;
    }
}

/// Creates a frame that requests an acknowledgement, and returns its id with it.
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
    async fn queue_is_bounded_in_number_and_age() {
        let queue = AnalyticsQueue::default();
        (0..MAX_WAITING + 10).for_each(|number| queue.push(analytics(number)));
        assert_eq!(queue.next().await.event, "10");
        tokio::time::advance(MAX_AGE).await;
        queue.push(analytics(1000));
        assert_eq!(queue.next().await.event, "1000");
        assert!(queue.next().now_or_never().is_none());
    }

    // CL-51
    #[tokio::test(start_paused = true)]
    async fn one_event_is_in_flight_until_its_ack_or_timeout() {
        let queue = AnalyticsQueue::default();
        (0..4).for_each(|number| queue.push(analytics(number)));
        let mut sender = AnalyticsSender::new(&queue, ACK_TIME);
        let first = sender.next().await;
        assert_eq!(name(&first), "0");
        assert!(sender.next().now_or_never().is_none());
        sender.acknowledged(&Frame::acknowledging(&first.event, "another", &ReportAck::rejected(DISABLED)));
        sender.acknowledged(&answer(&first, &ReportAck::accepted()));
        let second = sender.next().now_or_never().unwrap();
        assert_eq!(name(&second), "1");
        let start = Instant::now();
        let third = sender.next().await;
        assert_eq!((name(&third), start.elapsed()), ("2", ACK_TIME));
        // The acknowledgement of the second frame arrives after its timeout and is ignored.
        sender.acknowledged(&answer(&second, &ReportAck::rejected(DISABLED)));
        sender.acknowledged(&answer(&third, &ReportAck::rejected("rate_limited")));
        let fourth = sender.next().await;
        sender.acknowledged(&answer(&fourth, &ReportAck::rejected(DISABLED)));
        queue.push(analytics(5));
        assert!(sender.next().now_or_never().is_none());
        assert!(sender.drain().is_empty());
        assert_eq!(name(&AnalyticsSender::new(&queue, ACK_TIME).next().await), "5", "on the next connection");
    }

    #[tokio::test]
    async fn drain_returns_queued_events_without_an_ack() {
        let queue = AnalyticsQueue::default();
        (0..3).for_each(|number| queue.push(analytics(number)));
        let mut sender = AnalyticsSender::new(&queue, ACK_TIME);
        assert_eq!(name(&sender.next().await), "0");
        let drained = sender.drain();
        assert_eq!(drained.iter().map(name).collect::<Vec<_>>(), ["1", "2"]);
        assert!(drained[0].id.is_some() && drained[0].id != drained[1].id);
    }

    #[test]
    fn frame_data_contains_event_name_and_properties() {
        let mut sent = analytics(1);
        sent.properties.insert("k".to_owned(), json!(1));
        let frame = Frame::event(event::ANALYTICS, &sent);
        assert_eq!((&frame.data["event"], &frame.data["properties"]), (&json!("1"), &json!({"k": 1})));
    }
}
