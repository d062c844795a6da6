//! The life of a job: every state, every event, and the one table that says what may follow.
//!
//! All changes of a status go through [`next`]. A terminal status is final; only a new request for
//! the same loop starts over, and that makes a new record.

use loopgate_api::job::JobStatus;
use thiserror::Error;

/// Something that happens to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobEvent {
    /// Its process runs.
    Spawned,
    /// It waits for a person.
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
    /// The control plane has given it up.
    TimedOut,
}

impl JobEvent {
    /// Every event.
    pub const ALL: [Self; 10] = [
        Self::Spawned,
        Self::Asked,
        Self::CancelRequested,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::Stopped,
        Self::Vanished,
        Self::Lost,
        Self::TimedOut,
    ];
}

/// An event that cannot happen to a job in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a job that is {from:?} cannot be {event:?}")]
pub struct Refused {
    /// Its state.
    pub from: JobStatus,
    /// What was tried.
    pub event: JobEvent,
}

/// The state that follows.
///
/// # Errors
/// [`Refused`] for every pair that the table does not hold.
pub const fn next(from: JobStatus, event: JobEvent) -> Result<JobStatus, Refused> {
    use JobEvent as E;
    use JobStatus as S;
    let to = match (from, event) {
        (S::Queued | S::Starting | S::Running, E::Spawned) => S::Running,
        (S::Running | S::AwaitingUser, E::Asked) => S::AwaitingUser,
        (S::Queued | S::Starting | S::Running | S::AwaitingUser | S::CancelPending, E::CancelRequested) => {
            S::CancelPending
        }
        (S::Running | S::AwaitingUser, E::Completed) => S::Completed,
        (S::Queued | S::Starting | S::Running | S::AwaitingUser, E::Failed) => S::Failed,
        // Whatever became of the process, a person had asked for its end.
        (S::CancelPending, E::Cancelled | E::Failed | E::Vanished | E::Lost | E::Completed) => S::Cancelled,
        (S::CancelPending, E::Stopped) | (S::Running | S::AwaitingUser, E::Vanished) => S::Stopped,
        (S::Queued | S::Starting | S::Running | S::AwaitingUser, E::Lost) => S::Unknown,
        (S::Queued | S::Starting | S::Running | S::AwaitingUser | S::CancelPending, E::TimedOut) => {
            S::TimedOut
        }
        _ => return Err(Refused { from, event }),
    };
    Ok(to)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATES: [JobStatus; 11] = [
        JobStatus::Queued,
        JobStatus::Starting,
        JobStatus::Running,
        JobStatus::AwaitingUser,
        JobStatus::CancelPending,
        JobStatus::Completed,
        JobStatus::Failed,
        JobStatus::Cancelled,
        JobStatus::Stopped,
        JobStatus::Unknown,
        JobStatus::TimedOut,
    ];

    #[test]
    fn a_terminal_state_is_final() {
        for state in STATES.into_iter().filter(|state| state.is_terminal()) {
            for event in JobEvent::ALL {
                assert!(next(state, event).is_err(), "{state:?} {event:?}");
            }
        }
    }

    #[test]
    fn every_active_state_has_a_way_out() {
        for state in STATES.into_iter().filter(|state| !state.is_terminal()) {
            assert!(next(state, JobEvent::TimedOut).unwrap().is_terminal());
            assert!(next(state, JobEvent::Lost).unwrap().is_terminal());
        }
    }

    proptest! {
        #[test]
        fn a_cancelled_job_never_completes(events in proptest::collection::vec(0usize..10, 0..12)) {
            let mut state = next(JobStatus::Running, JobEvent::CancelRequested).unwrap();
            for event in events {
                if let Ok(to) = next(state, JobEvent::ALL[event]) {
                    state = to;
                }
                prop_assert!(matches!(
                    state,
                    JobStatus::CancelPending
                        | JobStatus::Cancelled
                        | JobStatus::Stopped
                        | JobStatus::TimedOut
                ));
            }
        }

        #[test]
        fn nothing_leaves_the_terminal_states(start in 0usize..11, events in proptest::collection::vec(0usize..10, 0..12)) {
            let mut state = STATES[start];
            let mut ended = state.is_terminal().then_some(state);
            for event in events {
                if let Ok(to) = next(state, JobEvent::ALL[event]) {
                    state = to;
                }
                if let Some(ended) = ended {
                    prop_assert_eq!(state, ended);
                }
                ended = ended.or_else(|| state.is_terminal().then_some(state));
            }
        }
    }
}
