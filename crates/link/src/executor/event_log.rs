//! The events of one command, retained until the other end acknowledges them.
//!
//! Sequences run without a gap. What was sent but not acknowledged is sent again after a lost
//! connection, a gap that the server saw, or silence. Pure: no clock, no channel.

use std::collections::VecDeque;

use loopgate_api::link::{CommandEvent, EventType};
use serde_json::Value;

struct LoggedEvent {
    event: CommandEvent,
    bytes: usize,
}

/// Events of one command, oldest first.
pub(crate) struct EventLog {
    command_id: String,
    kept: VecDeque<LoggedEvent>,
    bytes: usize,
    /// Sequence of the last event.
    last: u64,
    /// Last sequence that the server is known to have.
    acked: u64,
    /// Last sequence that went out on the present connection.
    sent: u64,
    /// The event that ends the command is among them.
    ended: bool,
    /// Events that were under way when a gap was reported: the server reports each of them, and
    /// only the first report means something.
    pending_acks: Option<PendingAcks>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct PendingAcks {
    resumed_after: u64,
    left: u64,
}

impl EventLog {
    /// A log whose first event follows what the server has already.
    pub(crate) fn after(command_id: &str, last: u64) -> Self {
        Self {
            command_id: command_id.to_owned(),
            kept: VecDeque::new(),
            bytes: 0,
            last,
            acked: last,
            sent: last,
            ended: false,
            pending_acks: None,
        }
    }

    /// Adds an event. Nothing is added behind the one that ends the command.
    pub(crate) fn push(&mut self, event_type: EventType, data: Value, bytes: usize) {
        if self.ended {
            return;
        }
        self.last += 1;
        self.ended = event_type.is_terminal(&data);
        self.bytes += bytes;
        let event =
            CommandEvent { command_id: self.command_id.clone(), sequence: self.last, event_type, data };
        self.kept.push_back(LoggedEvent { event, bytes });
    }

    /// The next event to send on the present connection.
    pub(crate) fn take(&mut self) -> Option<CommandEvent> {
        let first = self.kept.front()?.event.sequence;
        let index = usize::try_from((self.sent + 1).checked_sub(first)?).ok()?;
        let event = self.kept.get(index)?.event.clone();
        self.sent = event.sequence;
        Some(event)
    }

    /// Whether [`EventLog::take`] would give one.
    pub(crate) fn has_unsent(&self) -> bool {
        self.kept.front().is_some_and(|first| self.sent + 1 >= first.event.sequence) && self.sent < self.last
    }

    /// Whether something was sent that is not acknowledged.
    pub(crate) const fn awaits_ack(&self) -> bool {
        self.sent > self.acked
    }

    /// The server has this event and every one before it. Says whether that is news.
    pub(crate) fn acknowledge(&mut self, sequence: u64) -> bool {
        if sequence <= self.acked || sequence > self.last {
            return false;
        }
        self.acked = sequence;
        self.sent = self.sent.max(sequence);
        self.pending_acks = None;
        self.forget();
        true
    }

    /// The server names the last event that it has; what follows is sent again.
    pub(crate) fn resume(&mut self, last: u64) {
        if let Some(pending_acks) = &mut self.pending_acks
            && pending_acks.resumed_after == last
            && pending_acks.left > 0
        {
            pending_acks.left -= 1;
            return;
        }
        // More than was ever sent from here: an earlier life of this desktop sent it.
        if last > self.last {
            self.last = last;
        }
        let under_way = self.sent.saturating_sub(last).saturating_sub(2);
        self.acked = self.acked.max(last);
        self.forget();
        self.sent = last;
        self.pending_acks = Some(PendingAcks { resumed_after: last, left: under_way });
    }

    /// A new connection: nothing of the former one is under way, the server has said what it has.
    pub(crate) fn reconnect(&mut self, last: u64) {
        self.pending_acks = None;
        self.sent = last;
        self.resume(last);
        self.pending_acks = None;
    }

    /// Sends what is not acknowledged once more.
    pub(crate) fn send_again(&mut self) {
        self.pending_acks = None;
        self.sent = self.acked;
    }

    /// Sends all retained events again.
    pub(crate) fn send_all_again(&mut self) {
        if let Some(first) = self.kept.front() {
            self.pending_acks = None;
            self.sent = first.event.sequence - 1;
        }
    }

    fn forget(&mut self) {
        // An ended command keeps its events for the case that it is asked for again.
        if self.ended {
            return;
        }
        while self.kept.front().is_some_and(|first| first.event.sequence <= self.acked) {
            if let Some(first) = self.kept.pop_front() {
                self.bytes -= first.bytes;
            }
        }
    }

    /// The event that ends the command is in the log.
    pub(crate) const fn ended(&self) -> bool {
        self.ended
    }

    /// Every event is acknowledged.
    pub(crate) const fn settled(&self) -> bool {
        self.acked == self.last
    }

    /// Sequence of the last event.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// Events that are not acknowledged.
    pub(crate) const fn unacknowledged(&self) -> u64 {
        self.last - self.acked
    }

    /// Bytes of the retained events.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The events that are not acknowledged.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = &CommandEvent> {
        self.kept.iter().map(|kept| &kept.event).filter(|event| event.sequence > self.acked)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::server::SequenceCheck;

    /// What happens on the way between the log and the server.
    #[derive(Debug, Clone)]
    enum WireStep {
        /// The command produces an event.
        Produce,
        /// The desktop puts up to so many events on the wire.
        Send(usize),
        /// The server handles up to so many frames.
        Serve(usize),
        /// The server fails to store the next frame and stays silent.
        Stumble,
        /// The desktop handles up to so many answers.
        Hear(usize),
        /// The connection is lost with everything on it, and a new one registered.
        Reconnect,
        /// The desktop waited in vain.
        Silence,
        /// The command is asked for again.
        Asked,
    }

    fn step() -> impl Strategy<Value = WireStep> {
        prop_oneof![
            4 => Just(WireStep::Produce),
            4 => (1_usize..6).prop_map(WireStep::Send),
            4 => (1_usize..6).prop_map(WireStep::Serve),
            1 => Just(WireStep::Stumble),
            4 => (1_usize..6).prop_map(WireStep::Hear),
            1 => Just(WireStep::Reconnect),
            1 => Just(WireStep::Silence),
            1 => Just(WireStep::Asked),
        ]
    }

    enum WireAnswer {
        Ack(u64),
        Resume(u64),
    }

    /// Both ends and the wire between them.
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

        fn hear_one(&mut self) -> bool {
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
                WireStep::Stumble => {
                    self.to_server.pop_front();
                }
                WireStep::Hear(most) => while_true(*most, || self.hear_one()),
                WireStep::Reconnect => {
                    self.to_server.clear();
                    self.to_desktop.clear();
                    self.log.reconnect(self.stored.len() as u64);
                }
                WireStep::Silence => self.log.send_again(),
                WireStep::Asked => self.log.send_all_again(),
            }
            assert!(self.log.acked <= self.stored.len() as u64, "nothing is taken for stored too early");
        }

        /// A quiet line: everything gets through, silence is answered by sending again.
        fn settle(&mut self) -> usize {
            let mut frames = 0;
            loop {
                while self.send_one() || self.serve_one() || self.hear_one() {
                    frames += 1;
                    assert!(frames < 100_000, "the two ends never come to rest");
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
    fn gap_is_filled_once_however_often_it_is_reported() {
        let mut simulation = LogSimulation::new();
        for _ in 0..100 {
            simulation.produce(false);
        }
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
        assert_eq!(log.take().unwrap().sequence, 3, "an ended command keeps what it has");
    }

    #[test]
    fn nothing_follows_the_end() {
        let mut log = EventLog::after("c", 4);
        log.push(EventType::Error, json!({"terminal": true}), 1);
        log.push(EventType::Chunk, json!(1), 1);
        assert_eq!(log.take().map(|event| event.sequence), Some(5));
        assert_eq!(log.take(), None);
    }
}
