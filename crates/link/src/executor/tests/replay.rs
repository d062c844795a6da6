//! Random sequences of reconnects, restarts, cancellations and responses: each command runs at most once, and
//! the server stores the events of its actual outcome once and in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::link::{CommandEvent, EventType, LinkCommand};
use proptest::prelude::*;
use serde_json::json;
use tokio::time::timeout;
use uuid::Uuid;

use super::{Call, ExecutorFixture, JSON, command};
use crate::executor::{ExecutorReport, InMemoryCommandLog};
use crate::server::SequenceCheck;

/// Number of commands: as many as run concurrently, so that none of them is queued.
const COMMANDS: usize = 2;

#[derive(Debug, Clone, Copy)]
enum ReplayStep {
    /// The server sends a command, possibly not for the first time.
    Send(usize),
    /// The gateway responds to the request of a command.
    Answer(usize),
    /// The server cancels a command.
    Cancel(usize),
    /// All pending events reach the server and are acknowledged.
    Deliver,
    /// The connection is lost with all frames in flight, and a new one is registered.
    Reconnect,
    /// The desktop's process exits, and a new one connects.
    Restart,
}

fn step() -> impl Strategy<Value = ReplayStep> {
    prop_oneof![
        4 => (0..COMMANDS).prop_map(ReplayStep::Send),
        3 => (0..COMMANDS).prop_map(ReplayStep::Answer),
        1 => (0..COMMANDS).prop_map(ReplayStep::Cancel),
        3 => Just(ReplayStep::Deliver),
        2 => Just(ReplayStep::Reconnect),
        2 => Just(ReplayStep::Restart),
    ]
}

/// Outcome that a command must have.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ExpectedOutcome {
    /// The command was never sent.
    Nothing,
    /// The request is in flight at the gateway.
    Running,
    /// The gateway has responded.
    Answered,
    /// The process exited while the command was running.
    Interrupted,
    Cancelled,
}

/// Both ends of the link, the gateway, and the expected outcomes.
struct Simulation {
    bench: ExecutorFixture,
    log: Arc<InMemoryCommandLog>,
    ids: Vec<String>,
    calls: BTreeMap<usize, Call>,
    runs: [u32; COMMANDS],
    expected: [ExpectedOutcome; COMMANDS],
    stored: BTreeMap<String, Vec<CommandEvent>>,
}

impl Simulation {
    fn start() -> Self {
        let log = Arc::<InMemoryCommandLog>::default();
        let bench = ExecutorFixture::with_log(log.clone());
        bench.executor.resume(&BTreeMap::new());
        Self {
            bench,
            log,
            ids: (0..COMMANDS).map(|_| Uuid::new_v4().to_string()).collect(),
            calls: BTreeMap::new(),
            runs: [0; COMMANDS],
            expected: [ExpectedOutcome::Nothing; COMMANDS],
            stored: BTreeMap::new(),
        }
    }

    fn command(&self, index: usize) -> LinkCommand {
        command(&self.ids[index])
    }

    /// Receives the requests that have reached the gateway.
    async fn take_calls(&mut self) {
        while let Ok(Some(call)) = timeout(Duration::from_millis(1), self.bench.calls.recv()).await {
            let id = call.request.headers()["x-desktop-command-id"].to_str().unwrap().to_owned();
            let index = self.ids.iter().position(|command_id| *command_id == id).unwrap();
            self.runs[index] += 1;
            assert_eq!(self.expected[index], ExpectedOutcome::Nothing, "the command runs only once");
            self.expected[index] = ExpectedOutcome::Running;
            self.calls.insert(index, call);
        }
    }

    /// Returns the next event to send, if there is one.
    async fn next_event(&self) -> Option<CommandEvent> {
        loop {
            match timeout(Duration::from_millis(1), self.bench.executor.next_report()).await {
                Ok(ExecutorReport::Event(event)) => return Some(event),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    async fn deliver(&mut self) {
        while let Some(event) = self.next_event().await {
            let stored = self.stored.entry(event.command_id.clone()).or_default();
            match SequenceCheck::of(event.sequence, stored.len() as u64) {
                SequenceCheck::Next => stored.push(event.clone()),
                SequenceCheck::Duplicate => {}
                SequenceCheck::Gap => panic!("{event:?} after {stored:?}"),
            }
            self.bench.ack(&event);
        }
    }

    /// Returns the last stored sequence of each command without a terminal event.
    fn resume(&self) -> BTreeMap<String, u64> {
        let open = |id: &&String| {
            self.stored.get(*id).and_then(|events| events.last()).is_none_or(|last| !last.is_terminal())
        };
        let last = |id: &String| self.stored.get(id).map_or(0, |events| events.len() as u64);
        self.ids.iter().filter(open).map(|id| (id.clone(), last(id))).collect()
    }

    async fn apply(&mut self, step: ReplayStep) {
        match step {
            ReplayStep::Send(index) => self.bench.accept(self.command(index)).await,
            ReplayStep::Answer(index) => {
                if let Some(call) = self.calls.remove(&index) {
                    call.answer(200, JSON, json!({"answer": index}).to_string());
                    self.expected[index] = ExpectedOutcome::Answered;
                }
            }
            ReplayStep::Cancel(index) => {
                self.bench.cancel(&self.ids[index], None).await;
                if matches!(self.expected[index], ExpectedOutcome::Nothing | ExpectedOutcome::Running) {
                    self.calls.remove(&index);
                    self.expected[index] = ExpectedOutcome::Cancelled;
                }
            }
            ReplayStep::Deliver => self.deliver().await,
            ReplayStep::Reconnect => {
                self.bench.executor.disconnected();
                self.bench.executor.resume(&self.resume());
            }
            ReplayStep::Restart => {
                self.bench.executor.shutdown().await;
                for expected in &mut self.expected {
                    if *expected == ExpectedOutcome::Running {
                        *expected = ExpectedOutcome::Interrupted;
                    }
                }
                self.calls.clear();
                self.bench = ExecutorFixture::with_log(self.log.clone());
                self.bench.executor.resume(&self.resume());
            }
        }
        self.take_calls().await;
    }

    /// Sends all unfinished commands again, responds to them, and delivers all events.
    async fn settle(&mut self) {
        for index in 0..COMMANDS {
            if self.resume().contains_key(&self.ids[index]) {
                self.apply(ReplayStep::Send(index)).await;
            }
            self.apply(ReplayStep::Answer(index)).await;
        }
        self.deliver().await;
    }

    fn check(&self) {
        for (index, id) in self.ids.iter().enumerate() {
            let events = &self.stored[id];
            assert!(self.runs[index] <= 1, "the command ran {} times", self.runs[index]);
            let terminal = events.iter().filter(|event| event.is_terminal()).count();
            assert!(terminal == 1 && events[events.len() - 1].is_terminal(), "{events:?}");
            let last = &events[events.len() - 1];
            let results: Vec<_> =
                events.iter().filter(|event| event.event_type == EventType::Result).collect();
            match self.expected[index] {
                ExpectedOutcome::Answered => {
                    assert_eq!(last.data, json!({"type": "done"}));
                    assert_eq!(results.len(), 1, "{events:?}");
                    assert_eq!(results[0].data["data"], json!({"answer": index}));
                }
                ExpectedOutcome::Interrupted => assert_eq!(last.data["code"], "interrupted", "{events:?}"),
                ExpectedOutcome::Cancelled => assert_eq!(last.data["cancelled"], true, "{events:?}"),
                other => panic!("{other:?} at the end"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // CL-13, CL-26
    #[test]
    fn each_command_runs_once_and_its_outcome_is_stored_once(
        steps in prop::collection::vec(step(), 0..40),
    ) {
        // Paused time: the timeouts in `take_calls` and `next_event` elapse as soon as all tasks are idle.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let mut simulation = Simulation::start();
            for step in steps {
                simulation.apply(step).await;
            }
            simulation.settle().await;
            simulation.check();
        });
    }
}
