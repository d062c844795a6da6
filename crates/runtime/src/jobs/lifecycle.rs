//! The state machine of a job: its states, its events, and the table of allowed transitions.
//!
//! A status changes only through [`next`], and only [`crate::jobs::Job`] stores one. A terminal status is
//! final; only a new launch of the same loop replaces it, with a new record. A test compares the table with
//! the one in `docs/loops.md`.

use loopgate_api::job::JobStatus;
use thiserror::Error;

/// An event in the lifecycle of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobEvent {
    /// The launch was requested.
    StartRequested,
    /// The loop waits for capacity.
    Queued,
    /// The process was started.
    Spawned,
    /// The loop waits for an answer of the user.
    QuestionAsked,
    /// The user requested a stop.
    CancelRequested,
    /// The work is done and delivered.
    Completed,
    Failed,
    /// The loop ended after a cancellation.
    Cancelled,
    /// The process ended after the user had stopped it without cancelling the loop.
    Stopped,
    /// The process disappeared without an exit status.
    Vanished,
    /// The outcome is unknown.
    Lost,
}

use JobEvent as E;
use JobStatus as S;

const QUEUED: [Option<S>; 1] = [Some(S::Queued)];
const STARTING: [Option<S>; 1] = [Some(S::Starting)];
/// States before a process exists.
const NOT_STARTED: [Option<S>; 2] = [Some(S::Queued), Some(S::Starting)];
/// The process runs, or its result is being delivered.
const RUNNING: [Option<S>; 1] = [Some(S::Running)];
/// Active states without a cancel request.
const NOT_CANCELLED: [Option<S>; 3] = [Some(S::Queued), Some(S::Starting), Some(S::Running)];
/// Every state that is not terminal.
const ACTIVE: [Option<S>; 4] = [Some(S::Queued), Some(S::Starting), Some(S::Running), Some(S::CancelPending)];
const CANCELLING: [Option<S>; 1] = [Some(S::CancelPending)];
/// No record, or a terminal state.
const INACTIVE: [Option<S>; 8] = [
    None,
    Some(S::AwaitingUser),
    Some(S::Completed),
    Some(S::Failed),
    Some(S::Cancelled),
    Some(S::Stopped),
    Some(S::Unknown),
    Some(S::TimedOut),
];

/// Allowed transitions: states before the event, event, state after it.
pub const TABLE: [(&[Option<S>], E, S); 18] = [
    (&INACTIVE, E::StartRequested, S::Starting),
    // The queue has capacity for the loop.
    (&QUEUED, E::StartRequested, S::Starting),
    (&INACTIVE, E::Queued, S::Queued),
    // Loopgate terminated before the process was started; recovery requeues the loop.
    (&STARTING, E::Queued, S::Queued),
    (&NOT_STARTED, E::Spawned, S::Running),
    (&RUNNING, E::QuestionAsked, S::AwaitingUser),
    (&ACTIVE, E::CancelRequested, S::CancelPending),
    (&RUNNING, E::Completed, S::Completed),
    (&NOT_CANCELLED, E::Failed, S::Failed),
    (&RUNNING, E::Vanished, S::Stopped),
    (&NOT_CANCELLED, E::Lost, S::Unknown),
    (&CANCELLING, E::Cancelled, S::Cancelled),
    (&CANCELLING, E::Stopped, S::Stopped),
    // After a cancel request, every outcome counts as cancelled.
    (&CANCELLING, E::QuestionAsked, S::Cancelled),
    (&CANCELLING, E::Completed, S::Cancelled),
    (&CANCELLING, E::Failed, S::Cancelled),
    (&CANCELLING, E::Vanished, S::Cancelled),
    (&CANCELLING, E::Lost, S::Cancelled),
];

/// Error for an event that the current state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the event {event:?} is not allowed for a job in the state {from:?}")]
pub struct InvalidTransition {
    /// State of the job; `None` without a record.
    pub from: Option<JobStatus>,
    pub event: JobEvent,
}

/// Returns the state after an event; `from` is `None` for a loop without a record.
///
/// # Errors
/// Fails with [`InvalidTransition`] for a transition that is not in the table.
pub fn next(from: Option<JobStatus>, event: JobEvent) -> Result<JobStatus, InvalidTransition> {
    let row = TABLE.iter().find(|(states, on, _)| *on == event && states.contains(&from));
    row.map(|(_, _, to)| *to).ok_or(InvalidTransition { from, event })
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every event with its description in `docs/loops.md`, in the order of that page.
    pub(crate) const EVENTS: [(JobEvent, &str); 11] = [
        (E::StartRequested, "the launch is requested"),
        (E::Queued, "it waits for capacity"),
        (E::Spawned, "its process is started"),
        (E::QuestionAsked, "it waits for an answer of the user"),
        (E::CancelRequested, "the user requests a stop"),
        (E::Completed, "its work is done and delivered"),
        (E::Failed, "it fails"),
        (E::Cancelled, "it ends after a cancellation"),
        (E::Stopped, "it ends after the user stopped only its process"),
        (E::Vanished, "its process disappears without an exit status"),
        (E::Lost, "its outcome is unknown"),
    ];

    const STATES: [Option<S>; 12] = [
        None,
        Some(S::Queued),
        Some(S::Starting),
        Some(S::Running),
        Some(S::AwaitingUser),
        Some(S::CancelPending),
        Some(S::Completed),
        Some(S::Failed),
        Some(S::Cancelled),
        Some(S::Stopped),
        Some(S::Unknown),
        Some(S::TimedOut),
    ];

    fn name(state: Option<S>) -> String {
        let name = |state: S| serde_json::to_value(state).unwrap().as_str().unwrap().to_owned();
        state.map_or_else(|| "none".to_owned(), |state| format!("`{}`", name(state)))
    }

    #[test]
    fn documented_transitions_match_the_table() {
        let page = include_str!("../../../../docs/loops.md");
        let mut table = "| in the state | when | becomes |\n|---|---|---|\n".to_owned();
        for (from, event, to) in TABLE {
            let from: Vec<String> = from.iter().map(|state| name(*state)).collect();
            let (_, when) = EVENTS.iter().find(|(candidate, _)| *candidate == event).unwrap();
            table.push_str(&format!("| {} | {when} | {} |\n", from.join(", "), name(Some(to))));
        }
        assert!(page.contains(&table), "docs/loops.md lacks this table:\n{table}");
    }

    #[test]
    fn transitions_are_unique() {
        for state in STATES {
            for (event, _) in EVENTS {
                let rows = TABLE.iter().filter(|(from, on, _)| *on == event && from.contains(&state));
                assert!(rows.count() <= 1, "{state:?} {event:?}");
            }
        }
    }

    #[test]
    fn terminal_state_is_final_until_the_next_start_request() {
        for state in STATES.into_iter().flatten() {
            for (event, _) in EVENTS {
                let is_allowed = next(Some(state), event).is_ok();
                let is_launch = matches!(event, E::StartRequested | E::Queued);
                assert!(!state.is_terminal() || is_allowed == is_launch, "{state:?} {event:?}");
            }
            let can_start = state.is_terminal() || state == S::Queued;
            assert_eq!(next(Some(state), E::StartRequested).is_ok(), can_start, "{state:?}");
        }
    }

    #[test]
    fn every_active_state_can_end() {
        for state in STATES.into_iter().flatten().filter(|state| !state.is_terminal()) {
            assert!(next(Some(state), E::Lost).unwrap().is_terminal());
        }
    }

    proptest! {
        #[test]
        fn cancelled_job_never_completes(events in proptest::collection::vec(2..EVENTS.len(), 0..12)) {
            let mut state = next(Some(S::Running), E::CancelRequested).unwrap();
            for event in events {
                state = next(Some(state), EVENTS[event].0).unwrap_or(state);
                prop_assert!(matches!(state, S::CancelPending | S::Cancelled | S::Stopped));
            }
        }
    }
}
