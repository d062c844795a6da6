//! Property test of the store: random steps, with restarts in between, follow the transition table, and a
//! marker that was set stays set.

use std::path::Path;

use loopgate_api::command::LoopCommand;
use loopgate_api::job::JobStatus;
use loopgate_home::DataDir;
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::jobs::lifecycle::tests::EVENTS;

/// A step on a store with one loop.
#[derive(Debug, Clone, Copy)]
enum StoreStep {
    /// An event by its index in [`EVENTS`]; `twice` repeats the same change.
    Apply { event: usize, twice: bool },
    /// A change that fails after its event was applied.
    FailingChange { event: usize },
    /// Creates a new record, and abandons it again if `abandoned`.
    Create { abandoned: bool },
    /// An update by a writer whose old copy lacks the markers.
    StaleUpdate,
    /// The head of the queue was delivered.
    Deliver,
    /// The head of the queue was rejected permanently.
    Reject,
    /// The process crashes, and a new one opens the store.
    Reopen,
}

fn step() -> impl Strategy<Value = StoreStep> {
    let event = 2..EVENTS.len();
    prop_oneof![
        6 => (event.clone(), any::<bool>()).prop_map(|(event, twice)| StoreStep::Apply { event, twice }),
        1 => event.prop_map(|event| StoreStep::FailingChange { event }),
        2 => any::<bool>().prop_map(|abandoned| StoreStep::Create { abandoned }),
        1 => Just(StoreStep::StaleUpdate),
        2 => Just(StoreStep::Deliver),
        1 => Just(StoreStep::Reject),
        2 => Just(StoreStep::Reopen),
    ]
}

/// Status according to the table, and markers that must stay set.
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

fn record_state(job: Option<&Job>) -> ExpectedRecord {
    ExpectedRecord { status: job.map(Job::status), marks: job.map(marks).unwrap_or_default() }
}

async fn open_store(dir: &Path) -> (DataDir, JobStore) {
    let data = DataDir::open(dir).unwrap();
    let credentials = Arc::new(Credentials::open(&data).unwrap());
    let store = JobStore::open(&data.file("desktop.db"), credentials).await.unwrap();
    (data, store)
}

/// Applies an event; a terminal one queues the final messages.
fn apply_event(now: &mut JobUpdate<'_>, event: JobEvent) -> Result<(), StoreError> {
    now.apply(event)?;
    if now.job.status().is_terminal() {
        now.send(OutboxMessage::new(MessageKind::Artifacts, &json!({})));
        now.send(OutboxMessage::new(MessageKind::Final, &json!({})));
    }
    Ok(())
}

async fn run_steps(steps: Vec<StoreStep>) {
    let dir = tempfile::tempdir().unwrap();
    let (mut data, mut store) = open_store(dir.path()).await;
    let id = LoopId(Uuid::new_v4());
    let mut expected = ExpectedRecord::default();
    for step in steps {
        match step {
            StoreStep::Apply { event, twice } => {
                let event = EVENTS[event].0;
                for _ in 0..=usize::from(twice) {
                    let after = store.change(id, |now| apply_event(now, event)).await;
                    // Without a record, no event can be applied.
                    let to = expected.status.and_then(|from| lifecycle::next(Some(from), event).ok());
                    assert_eq!(after.ok().map(|job| job.status()), to);
                    expected.status = to.or(expected.status);
                }
            }
            StoreStep::FailingChange { event } => {
                let failed = store.change(id, |now| {
                    apply_event(now, EVENTS[event].0)?;
                    Err(StoreError::Seal)
                });
                assert!(failed.await.is_err());
            }
            StoreStep::Create { abandoned } => {
                let created = store.create(&Job::starting(id, LoopCommand::Plan)).await;
                let next_status = lifecycle::next(expected.status, JobEvent::StartRequested);
                assert_eq!(created.is_ok(), next_status.is_ok());
                let Ok(previous) = created else { continue };
                if abandoned {
                    store.abandon(id, &previous).await.unwrap();
                } else {
                    expected = ExpectedRecord { status: next_status.ok(), ..ExpectedRecord::default() };
                }
            }
            StoreStep::StaleUpdate => {
                let update = store.update(id, |job| {
                    job.report.artifacts_uploaded_at = None;
                    job.report.completed_event_posted_at = None;
                    job.report.cloud_finalized_at = None;
                });
                assert_eq!(update.await.is_ok(), expected.status.is_some());
            }
            StoreStep::Deliver | StoreStep::Reject => {
                let Some(row) = store.next_message(id).await.unwrap() else { continue };
                let last = row.outgoing.kind == MessageKind::Final;
                if matches!(step, StoreStep::Deliver) {
                    store.mark_delivered(id, &row).await.unwrap();
                    expected.marks[if last { 1 } else { 0 }] = true;
                } else {
                    store.mark_rejected(id, &row, "HTTP 400").await.unwrap();
                }
                expected.marks[2] |= last;
            }
            StoreStep::Reopen => {
                drop((store, data));
                (data, store) = open_store(dir.path()).await;
            }
        }
        let record = store.job(id).await.unwrap();
        assert_eq!(record_state(record.as_ref()), expected, "after {step:?}");
        let active = store.active().await.unwrap();
        let ended = expected.status.is_some_and(JobStatus::is_terminal);
        assert!(
            active.iter().all(|job| !job.status().is_terminal())
                && active.is_empty() != (expected.status.is_some() && !ended)
        );
        // The end of a loop is either acknowledged or still in the outbox.
        let unreported = !store.unreported().await.unwrap().is_empty();
        assert_eq!(unreported, ended && !expected.marks[2]);
        assert!(!unreported || store.next_message(id).await.unwrap().is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn store_follows_the_transition_table(steps in proptest::collection::vec(step(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run_steps(steps));
    }
}
