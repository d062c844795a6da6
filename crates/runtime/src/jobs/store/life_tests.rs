//! Whatever happens to a job in whatever order, with the store closed and opened between any two
//! steps: its record goes the ways of the table and no others, and what was done once stays done.

use std::path::Path;

use loopgate_api::command::LoopCommand;
use loopgate_api::job::JobStatus;
use loopgate_home::DataDir;
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::jobs::lifecycle::tests::EVENTS;

/// A step in the life of a store with one loop.
#[derive(Debug, Clone, Copy)]
enum StoreStep {
    /// An event by its place in the list, and whether the same change is tried twice.
    Happens { event: usize, twice: bool },
    /// A change that fails after its event was applied.
    Fails { event: usize },
    /// A new order; taken back when the flag says so.
    Order { taken_back: bool },
    /// A writer with an old copy that takes the marks away.
    Forgets,
    /// What is first in the queue was delivered.
    Delivered,
    /// What is first in the queue will never be taken.
    Dropped,
    /// The process dies and a new one opens the store.
    Dies,
}

fn step() -> impl Strategy<Value = StoreStep> {
    let event = 2..EVENTS.len();
    prop_oneof![
        6 => (event.clone(), any::<bool>()).prop_map(|(event, twice)| StoreStep::Happens { event, twice }),
        1 => event.prop_map(|event| StoreStep::Fails { event }),
        2 => any::<bool>().prop_map(|taken_back| StoreStep::Order { taken_back }),
        1 => Just(StoreStep::Forgets),
        2 => Just(StoreStep::Delivered),
        1 => Just(StoreStep::Dropped),
        2 => Just(StoreStep::Dies),
    ]
}

/// What the table says of the job, and what was done once.
#[derive(Debug, Default, PartialEq)]
struct ExpectedRecord {
    status: Option<JobStatus>,
    marks: [bool; 3],
}

fn marks(job: &Job) -> [bool; 3] {
    let marks = [
        &job.report.artifacts_uploaded_at,
        &job.report.completed_event_posted_at,
        &job.report.cloud_finalized_at,
    ];
    marks.map(Option::is_some)
}

fn now_known(job: Option<&Job>) -> ExpectedRecord {
    ExpectedRecord { status: job.map(Job::status), marks: job.map(marks).unwrap_or_default() }
}

async fn opened(dir: &Path) -> (DataDir, JobStore) {
    let data = DataDir::open(dir).unwrap();
    let credentials = Arc::new(Credentials::open(&data).unwrap());
    let store = JobStore::open(&data.file("desktop.db"), credentials).await.unwrap();
    (data, store)
}

/// The change of an event; a terminal one enqueues the last message.
fn happens(now: &mut JobUpdate<'_>, event: JobEvent) -> Result<(), StoreError> {
    now.apply(event)?;
    if now.job.status().is_terminal() {
        now.send(OutboxMessage::new(MessageKind::Artifacts, &json!({})));
        now.send(OutboxMessage::new(MessageKind::Final, &json!({})));
    }
    Ok(())
}

async fn lives(steps: Vec<StoreStep>) {
    let dir = tempfile::tempdir().unwrap();
    let (mut data, mut store) = opened(dir.path()).await;
    let id = LoopId(Uuid::new_v4());
    let mut known = ExpectedRecord::default();
    for step in steps {
        match step {
            StoreStep::Happens { event, twice } => {
                let event = EVENTS[event].0;
                for _ in 0..=usize::from(twice) {
                    let after = store.change(id, |now| happens(now, event)).await;
                    // Without a record there is nothing to which it could happen.
                    let to = known.status.and_then(|from| lifecycle::next(Some(from), event).ok());
                    assert_eq!(after.ok().map(|job| job.status()), to);
                    known.status = to.or(known.status);
                }
            }
            StoreStep::Fails { event } => {
                let failed = store.change(id, |now| {
                    happens(now, EVENTS[event].0)?;
                    Err(StoreError::Seal)
                });
                assert!(failed.await.is_err());
            }
            StoreStep::Order { taken_back } => {
                let begun = store.create(&Job::starting(id, LoopCommand::Plan)).await;
                let free = lifecycle::next(known.status, JobEvent::StartRequested);
                assert_eq!(begun.is_ok(), free.is_ok());
                let Ok(previous) = begun else { continue };
                if taken_back {
                    store.abandon(id, &previous).await.unwrap();
                } else {
                    known = ExpectedRecord { status: free.ok(), ..ExpectedRecord::default() };
                }
            }
            StoreStep::Forgets => {
                let forgetting = store.update(id, |job| {
                    job.report.artifacts_uploaded_at = None;
                    job.report.completed_event_posted_at = None;
                    job.report.cloud_finalized_at = None;
                });
                assert_eq!(forgetting.await.is_ok(), known.status.is_some());
            }
            StoreStep::Delivered | StoreStep::Dropped => {
                let Some(row) = store.next_message(id).await.unwrap() else { continue };
                let last = row.outgoing.kind == MessageKind::Final;
                if matches!(step, StoreStep::Delivered) {
                    store.mark_delivered(id, &row).await.unwrap();
                    known.marks[if last { 1 } else { 0 }] = true;
                } else {
                    store.mark_rejected(id, &row, "HTTP 400").await.unwrap();
                }
                known.marks[2] |= last;
            }
            StoreStep::Dies => {
                drop((store, data));
                (data, store) = opened(dir.path()).await;
            }
        }
        let stored = store.job(id).await.unwrap();
        assert_eq!(now_known(stored.as_ref()), known, "after {step:?}");
        let active = store.active().await.unwrap();
        let ended = known.status.is_some_and(JobStatus::is_terminal);
        assert!(
            active.iter().all(|job| !job.status().is_terminal())
                && active.is_empty() != (known.status.is_some() && !ended)
        );
        // The end of a loop is reported or waits in the outbox.
        let unreported = !store.unreported().await.unwrap().is_empty();
        assert_eq!(unreported, ended && !known.marks[2]);
        assert!(!unreported || store.next_message(id).await.unwrap().is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn store_follows_the_transition_table(steps in proptest::collection::vec(step(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(lives(steps));
    }
}
