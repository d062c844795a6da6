//! The life of a job: every state, every event, and the one table that says what may follow.
//!
//! A status changes only through [`next`], and only [`crate::jobs::Job`] can hold one. A terminal
//! status is final; only a new order for the same loop starts over, and that makes a new record.
//! The table stands in `docs/loops.md` as well; a test holds the page against it.

use loopgate_api::job::JobStatus;
use thiserror::Error;

/// Something that happens to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobEvent {
    /// Its start was requested.
    Ordered,
    /// It must wait for its turn.
    Queued,
    /// Its process runs.
    Spawned,
    /// It waits for the answer of a person.
    Asked,
    /// A person wants it to stop.
    CancelRequested,
    /// Its work is done and delivered.
    Completed,
    /// It ended badly.
    Failed,
    /// It ended after somebody had asked it to.
    Cancelled,
    /// It ended after a person had stopped its process, not the loop.
    Stopped,
    /// Its process vanished and left no word.
    Vanished,
    /// Nobody can tell how it ended.
    Lost,
}

use JobEvent as E;
use JobStatus as S;

/// The state of a job that was just ordered.
pub const ORDERED: JobStatus = S::Starting;

/// The state of a job that waits for its turn.
pub const WAITS: JobStatus = S::Queued;

const QUEUED: [Option<S>; 1] = [Some(S::Queued)];
const BEGINNING: [Option<S>; 1] = [Some(S::Starting)];
/// States in which nothing was started.
const WAITING: [Option<S>; 2] = [Some(S::Queued), Some(S::Starting)];
/// The process runs, or its end is being worked on.
const WORKING: [Option<S>; 1] = [Some(S::Running)];
/// States that nobody has asked to end.
const WANTED: [Option<S>; 3] = [Some(S::Queued), Some(S::Starting), Some(S::Running)];
/// Every state that is not terminal.
const ACTIVE: [Option<S>; 4] = [Some(S::Queued), Some(S::Starting), Some(S::Running), Some(S::CancelPending)];
const CANCELLING: [Option<S>; 1] = [Some(S::CancelPending)];
/// No record, or one that is over.
const FREE: [Option<S>; 8] = [
    None,
    Some(S::AwaitingUser),
    Some(S::Completed),
    Some(S::Failed),
    Some(S::Cancelled),
    Some(S::Stopped),
    Some(S::Unknown),
    Some(S::TimedOut),
];

/// What may follow: in one of these states, on this event, that state. What is not in it cannot
/// happen.
pub const TABLE: [(&[Option<S>], E, S); 18] = [
    (&FREE, E::Ordered, ORDERED),
    // Its turn has come.
    (&QUEUED, E::Ordered, ORDERED),
    (&FREE, E::Queued, WAITS),
    // Loopgate died before there was a process.
    (&BEGINNING, E::Queued, WAITS),
    (&WAITING, E::Spawned, S::Running),
    (&WORKING, E::Asked, S::AwaitingUser),
    (&ACTIVE, E::CancelRequested, S::CancelPending),
    (&WORKING, E::Completed, S::Completed),
    (&WANTED, E::Failed, S::Failed),
    (&WORKING, E::Vanished, S::Stopped),
    (&WANTED, E::Lost, S::Unknown),
    (&CANCELLING, E::Cancelled, S::Cancelled),
    (&CANCELLING, E::Stopped, S::Stopped),
    // Whatever became of the process, a person had asked for its end.
    (&CANCELLING, E::Asked, S::Cancelled),
    (&CANCELLING, E::Completed, S::Cancelled),
    (&CANCELLING, E::Failed, S::Cancelled),
    (&CANCELLING, E::Vanished, S::Cancelled),
    (&CANCELLING, E::Lost, S::Cancelled),
];

/// An event that cannot happen to a job in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{event:?} cannot happen to a job whose state is {from:?}")]
pub struct InvalidTransition {
    /// Its state; `None` when there is no such job.
    pub from: Option<JobStatus>,
    /// What was tried.
    pub event: JobEvent,
}

/// The state that follows; `from` is `None` for a loop without a record.
///
/// # Errors
/// [`InvalidTransition`] for every pair that the table does not hold.
pub fn next(from: Option<JobStatus>, event: JobEvent) -> Result<JobStatus, InvalidTransition> {
    let row = TABLE.iter().find(|(states, on, _)| *on == event && states.contains(&from));
    row.map(|(_, _, to)| *to).ok_or(InvalidTransition { from, event })
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every event, in the order in which the page explains them.
    pub(crate) const EVENTS: [(JobEvent, &str); 11] = [
        (E::Ordered, "it is ordered"),
        (E::Queued, "it must wait for its turn"),
        (E::Spawned, "its process runs"),
        (E::Asked, "it waits for a person"),
        (E::CancelRequested, "a person wants it to stop"),
        (E::Completed, "its work is done and delivered"),
        (E::Failed, "it ended badly"),
        (E::Cancelled, "it ended as a person had asked"),
        (E::Stopped, "it ended and a person had stopped its process alone"),
        (E::Vanished, "its process vanished"),
        (E::Lost, "nobody can tell how it ended"),
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
    fn the_page_has_the_table() {
        let page = include_str!("../../../../docs/loops.md");
        let mut table = "| in the state | when | becomes |\n|---|---|---|\n".to_owned();
        for (from, event, to) in TABLE {
            let from: Vec<String> = from.iter().map(|state| name(*state)).collect();
            let (_, when) = EVENTS.iter().find(|(known, _)| *known == event).unwrap();
            table.push_str(&format!("| {} | {when} | {} |\n", from.join(", "), name(Some(to))));
        }
        assert!(page.contains(&table), "docs/loops.md lacks this table:\n{table}");
    }

    #[test]
    fn no_pair_stands_in_the_table_twice() {
        for state in STATES {
            for (event, _) in EVENTS {
                let rows = TABLE.iter().filter(|(from, on, _)| *on == event && from.contains(&state));
                assert!(rows.count() <= 1, "{state:?} {event:?}");
            }
        }
    }

    #[test]
    fn a_terminal_state_is_final_until_the_loop_is_ordered_again() {
        for state in STATES.into_iter().flatten() {
            for (event, _) in EVENTS {
                let moves = next(Some(state), event).is_ok();
                let again = matches!(event, E::Ordered | E::Queued);
                assert!(!state.is_terminal() || moves == again, "{state:?} {event:?}");
            }
            let free = state.is_terminal() || state == S::Queued;
            assert_eq!(next(Some(state), E::Ordered).is_ok(), free, "{state:?}");
        }
    }

    #[test]
    fn every_active_state_has_a_way_out() {
        for state in STATES.into_iter().flatten().filter(|state| !state.is_terminal()) {
            assert!(next(Some(state), E::Lost).unwrap().is_terminal());
        }
    }

    proptest! {
        #[test]
        fn a_cancelled_job_never_completes(events in proptest::collection::vec(2..EVENTS.len(), 0..12)) {
            let mut state = next(Some(S::Running), E::CancelRequested).unwrap();
            for event in events {
                state = next(Some(state), EVENTS[event].0).unwrap_or(state);
                prop_assert!(matches!(state, S::CancelPending | S::Cancelled | S::Stopped));
            }
        }
    }
}
