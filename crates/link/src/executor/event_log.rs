//! Events of one command, retained until the server acknowledges them.
//!
//! Sequences are consecutive. Events that were sent but not acknowledged are sent again after a reconnect,
//! after a gap that the server reports, and after a timeout. Pure state machine: no clock, no channel.

use std::collections::VecDeque;

use loopgate_api::link::{CommandEvent, EventType};
use serde_json::Value;

struct LoggedEvent {
    event: CommandEvent,
    bytes: usize,
}

/// Retained events of one command, oldest first.
pub(crate) struct EventLog {
    command_id: String,
    events: VecDeque<LoggedEvent>,
    bytes: usize,
    /// Sequence of the latest event.
    last: u64,
    /// Highest sequence that the server has acknowledged.
    acked: u64,
    /// Highest sequence sent on the current connection.
    sent: u64,
    /// The log contains the terminal event.
    ended: bool,
    /// Further reports expected for the same gap: the server reports it once per event in flight, and only
    /// the first report may cause a replay.
    gap_reports: Option<GapReports>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct GapReports {
    resumed_after: u64,
    left: u64,
}

impl EventLog {
    /// Creates a log whose first event follows the last one stored by the server.
    pub(crate) fn after(command_id: &str, last: u64) -> Self {
        Self {
            command_id: command_id.to_owned(),
            events: VecDeque::new(),
            bytes: 0,
            last,
            acked: last,
            sent: last,
            ended: false,
            gap_reports: None,
        }
    }

    /// Appends an event. Ignored after the terminal event.
    pub(crate) fn push(&mut self, event_type: EventType, data: Value, bytes: usize) {
        if self.ended {
            return;
        }
        self.last += 1;
        self.ended = event_type.is_terminal(&data);
        self.bytes += bytes;
        let event =
            CommandEvent { command_id: self.command_id.clone(), sequence: self.last, event_type, data };
        self.events.push_back(LoggedEvent { event, bytes });
    }

    /// Returns the next event to send on the current connection.
    pub(crate) fn take(&mut self) -> Option<CommandEvent> {
        let first = self.events.front()?.event.sequence;
        let index = usize::try_from((self.sent + 1).checked_sub(first)?).ok()?;
        let event = self.events.get(index)?.event.clone();
        self.sent = event.sequence;
        Some(event)
    }

    /// Returns whether [`EventLog::take`] would return an event.
    pub(crate) fn has_unsent(&self) -> bool {
        self.events.front().is_some_and(|first| self.sent + 1 >= first.event.sequence)
            && self.sent < self.last
    }

    /// Returns whether sent events are unacknowledged.
    pub(crate) const fn awaits_ack(&self) -> bool {
        self.sent > self.acked
    }

    /// Marks this event and all earlier ones as acknowledged. Returns `false` if they were already.
    pub(crate) fn acknowledge(&mut self, sequence: u64) -> bool {
        if sequence <= self.acked || sequence > self.last {
            return false;
        }
        self.acked = sequence;
        self.sent = self.sent.max(sequence);
        self.gap_reports = None;
        self.drop_acknowledged();
        true
    }

    /// Handles the last sequence that the server has: events after it are sent again.
    pub(crate) fn resume(&mut self, last: u64) {
        if let Some(gap_reports) = &mut self.gap_reports
            && gap_reports.resumed_after == last
            && gap_reports.left > 0
        {
            gap_reports.left -= 1;
            return;
        }
        // Higher than any sequence of this log: an earlier process sent those events.
        if last > self.last {
            self.last = last;
        }
        // Of the events sent after `last`, one was lost and one caused this report. Each of the others is in
        // flight and causes another report of the same gap.
        let in_flight = self.sent.saturating_sub(last).saturating_sub(2);
        self.acked = self.acked.max(last);
        self.drop_acknowledged();
        self.sent = last;
        self.gap_reports = Some(GapReports { resumed_after: last, left: in_flight });
    }

    /// Resumes on a new connection: no event is in flight, and the server has reported what it has.
    pub(crate) fn reconnect(&mut self, last: u64) {
        self.gap_reports = None;
        self.sent = last;
        self.resume(last);
        self.gap_reports = None;
    }

    /// Sends unacknowledged events again.
    pub(crate) fn send_again(&mut self) {
        self.gap_reports = None;
        self.sent = self.acked;
    }

    /// Sends all retained events again, including acknowledged ones.
    pub(crate) fn send_all_again(&mut self) {
        if let Some(first) = self.events.front() {
            self.gap_reports = None;
            self.sent = first.event.sequence - 1;
        }
    }

    fn drop_acknowledged(&mut self) {
        // An ended command retains its events until it is pruned, for a repeated command after the end.
        if self.ended {
            return;
        }
        while self.events.front().is_some_and(|first| first.event.sequence <= self.acked) {
            if let Some(first) = self.events.pop_front() {
                self.bytes -= first.bytes;
            }
        }
    }

    /// Returns whether the log contains the terminal event.
    pub(crate) const fn ended(&self) -> bool {
        self.ended
    }

    /// Returns whether every event is acknowledged.
    pub(crate) const fn settled(&self) -> bool {
        self.acked == self.last
    }

    /// Returns the sequence of the latest event.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// Returns the number of unacknowledged events.
    pub(crate) const fn unacknowledged(&self) -> u64 {
        self.last - self.acked
    }

    /// Returns the bytes of the retained events.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Iterates over the unacknowledged events.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = &CommandEvent> {
        self.events.iter().map(|logged| &logged.event).filter(|event| event.sequence > self.acked)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::server::SequenceCheck;

    /// A step of the simulated exchange between the log and the server.
    #[derive(Debug, Clone)]
    enum WireStep {
        /// The command emits an event.
        Produce,
        /// The desktop sends up to this many events.
        Send(usize),
        /// The server handles up to this many frames.
        Serve(usize),
        /// The server fails to store the next frame and does not reply.
        FailStorage,
        /// The desktop handles up to this many replies.
        Receive(usize),
        /// The connection is lost with all frames in flight, and a new one is registered.
        Reconnect,
        /// The acknowledgement timeout expires on the desktop.
        AckTimeout,
        /// The server sends the command again.
        RepeatCommand,
    }

    fn step() -> impl Strategy<Value = WireStep> {
        prop_oneof![
            4 => Just(WireStep::Produce),
            4 => (1_usize..6).prop_map(WireStep::Send),
            4 => (1_usize..6).prop_map(WireStep::Serve),
            1 => Just(WireStep::FailStorage),
            4 => (1_usize..6).prop_map(WireStep::Receive),
            1 => Just(WireStep::Reconnect),
            1 => Just(WireStep::AckTimeout),
            1 => Just(WireStep::RepeatCommand),
        ]
    }

    enum WireAnswer {
        Ack(u64),
        Resume(u64),
    }

    /// Both ends, with the frames in flight between them.
    struct LogSimulation {
        log: EventLog,
        produced: u64,
        to_server: VecDeque<CommandEvent>,
        to_desktop: VecDeque<WireAnswer>,
        stored: Vec<CommandEvent>,
    }

    impl LogSimulation {
        fn new() -> Self {
            Self {
                log: EventLog::after("c", 0),
                produced: 0,
                to_server: VecDeque::new(),
                to_desktop: VecDeque::new(),
                stored: Vec::new(),
            }
        }

        fn produce(&mut self, last: bool) {
            self.produced += 1;
            let kind = if last { EventType::Done } else { EventType::Chunk };
            self.log.push(kind, json!(self.produced), 1);
        }

        fn serve_one(&mut self) -> bool {
            let Some(event) = self.to_server.pop_front() else { return false };
            let last = self.stored.len() as u64;
            self.to_desktop.push_back(match SequenceCheck::of(event.sequence, last) {
                SequenceCheck::Duplicate => WireAnswer::Ack(event.sequence),
                SequenceCheck::Gap => WireAnswer::Resume(last),
                SequenceCheck::Next => {
                    let sequence = event.sequence;
                    self.stored.push(event);
                    WireAnswer::Ack(sequence)
                }
            });
            true
        }

        fn receive_one(&mut self) -> bool {
            match self.to_desktop.pop_front() {
                Some(WireAnswer::Ack(sequence)) => {
                    self.log.acknowledge(sequence);
                    true
                }
                Some(WireAnswer::Resume(last)) => {
                    self.log.resume(last);
                    true
                }
                None => false,
            }
        }

        fn send_one(&mut self) -> bool {
            assert_eq!(self.log.has_unsent(), {
                let before = self.log.sent;
                let any = self.log.take().is_some();
                self.log.sent = before;
                any
            });
            match self.log.take() {
                Some(event) => {
                    self.to_server.push_back(event);
                    true
                }
                None => false,
            }
        }

        fn apply(&mut self, step: &WireStep) {
            match step {
                WireStep::Produce => self.produce(false),
                WireStep::Send(most) => while_true(*most, || self.send_one()),
                WireStep::Serve(most) => while_true(*most, || self.serve_one()),
                WireStep::FailStorage => {
                    self.to_server.pop_front();
                }
                WireStep::Receive(most) => while_true(*most, || self.receive_one()),
                WireStep::Reconnect => {
                    self.to_server.clear();
                    self.to_desktop.clear();
                    self.log.reconnect(self.stored.len() as u64);
                }
                WireStep::AckTimeout => self.log.send_again(),
                WireStep::RepeatCommand => self.log.send_all_again(),
            }
            assert!(
                self.log.acked <= self.stored.len() as u64,
                "an event is acknowledged before it is stored"
            );
        }

        /// Delivers all frames without loss and replays on timeout, until every event is acknowledged.
        fn settle(&mut self) -> usize {
            let mut frames = 0;
            loop {
                while self.send_one() || self.serve_one() || self.receive_one() {
                    frames += 1;
                    assert!(frames < 100_000, "the exchange does not terminate");
                }
                if self.log.settled() {
                    return frames;
                }
                self.log.send_again();
                frames += 1;
            }
        }
    }

    fn while_true(most: usize, mut act: impl FnMut() -> bool) {
        for _ in 0..most {
            if !act() {
                return;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn every_event_is_stored_once_and_in_order(steps in prop::collection::vec(step(), 0..120)) {
            let mut simulation = LogSimulation::new();
            for step in &steps {
                simulation.apply(step);
            }
            simulation.produce(true);
            simulation.settle();
            let stored: Vec<Value> = simulation.stored.iter().map(|event| event.data.clone()).collect();
            let produced: Vec<Value> = (1..=simulation.produced).map(Value::from).collect();
            prop_assert_eq!(stored, produced);
            prop_assert!(simulation.log.ended() && simulation.log.settled());
        }
    }

    #[test]
    fn gap_causes_one_replay_although_it_is_reported_repeatedly() {
        let mut simulation = LogSimulation::new();
        for _ in 0..100 {
            simulation.produce(false);
        }
        // Lose the first event in flight: each of the other 99 causes a report of the same gap.
        while simulation.send_one() {}
        simulation.to_server.pop_front();
        let frames = simulation.settle();
        assert_eq!(simulation.stored.len(), 100);
        assert!(frames < 100 + 100 + 100 + 100 + 100, "{frames} frames for 100 events and one loss");
    }

    #[test]
    fn acknowledged_events_of_a_running_command_are_dropped() {
        let mut log = EventLog::after("c", 0);
        for n in 0..3 {
            log.push(EventType::Chunk, json!(n), 10);
            log.take();
        }
        assert!(log.acknowledge(2));
        assert!(!log.acknowledge(2) && !log.acknowledge(9));
        assert_eq!((log.bytes(), log.unacknowledged()), (10, 1));
        log.push(EventType::Done, json!({}), 1);
        log.acknowledge(4);
        log.send_all_again();
        assert_eq!(log.take().unwrap().sequence, 3, "an ended command retains its events");
    }

    #[test]
    fn events_after_the_terminal_event_are_ignored() {
        let mut log = EventLog::after("c", 4);
        log.push(EventType::Error, json!({"terminal": true}), 1);
        log.push(EventType::Chunk, json!(1), 1);
        assert_eq!(log.take().map(|event| event.sequence), Some(5));
        assert_eq!(log.take(), None);
    }
}
