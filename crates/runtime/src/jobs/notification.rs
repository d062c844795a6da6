//! What a person is to hear of a loop. Stored in the record by the change that it reports, and removed
//! before it is sent.

use loopgate_api::command::LoopCommand;
use loopgate_api::job::JobStatus;
use serde::{Deserialize, Serialize};

use super::Job;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notification {
    /// The loop did its work.
    Completed,
    /// It ended badly.
    Failed,
    /// It goes on when a person has looked at it.
    #[serde(untagged)]
    NeedsAnswer(UserAction),
}

/// What a person is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UserAction {
    /// Judge the plan.
    PlanReady,
    /// Answer a question.
    Question,
    /// See whether it is stuck.
    Stuck,
}

impl Notification {
    /// The event, as commands know it.
    pub(crate) const fn event(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::NeedsAnswer(_) => "needs-answer",
        }
    }

    /// What is worth telling of a change of status; nothing of what the person did.
    pub(crate) fn of_change(before: JobStatus, now: &Job) -> Option<Self> {
        if before == now.status() {
            return None;
        }
        match now.status() {
            JobStatus::Completed if is_judged(now.command) => Some(Self::NeedsAnswer(UserAction::PlanReady)),
            JobStatus::Completed => Some(Self::Completed),
            JobStatus::Failed | JobStatus::Unknown | JobStatus::TimedOut => Some(Self::Failed),
            JobStatus::Stopped if !now.run.stopped_by_person => Some(Self::Failed),
            JobStatus::AwaitingUser => Some(Self::NeedsAnswer(UserAction::Question)),
            _ => None,
        }
    }
}

/// Whether nothing goes on before a person has judged what it left.
const fn is_judged(command: LoopCommand) -> bool {
    matches!(command, LoopCommand::Plan | LoopCommand::RequestChanges)
}

/// Where a loop stood when it began to wait for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitingUserSince {
    /// For what.
    pub need: UserAction,
    /// Bytes that it had printed.
    pub printed: u64,
}

impl Job {
    /// Notes that the loop waits for a person in the midst of its run: once, until it has printed
    /// something again. Returns whether it is new.
    pub(crate) fn set_awaiting_user(&mut self, awaiting_user_since: AwaitingUserSince) -> bool {
        let is_news =
            self.progress.awaiting_user_since.replace(awaiting_user_since) != Some(awaiting_user_since);
        if is_news {
            self.progress.notifications.push(Notification::NeedsAnswer(awaiting_user_since.need));
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use loopgate_api::ids::LoopId;
    use serde_json::json;

    use super::*;
    use crate::jobs::lifecycle::JobEvent as E;

    fn after(command: LoopCommand, events: &[E]) -> (JobStatus, Job) {
        let mut job = Job::starting(LoopId(uuid::Uuid::nil()), command);
        let mut before = job.status();
        for event in events {
            before = job.status();
            job.apply(*event).unwrap();
        }
        (before, job)
    }

    #[test]
    fn notifications_skip_what_the_user_did() {
        for (command, events, notification) in [
            (LoopCommand::Plan, &[E::Spawned][..], None),
            (
                LoopCommand::Plan,
                &[E::Spawned, E::Completed],
                Some(Notification::NeedsAnswer(UserAction::PlanReady)),
            ),
            (LoopCommand::Execute, &[E::Spawned, E::Completed], Some(Notification::Completed)),
            (
                LoopCommand::Execute,
                &[E::Spawned, E::QuestionAsked],
                Some(Notification::NeedsAnswer(UserAction::Question)),
            ),
            (LoopCommand::Execute, &[E::Spawned, E::Failed], Some(Notification::Failed)),
            (LoopCommand::Execute, &[E::Spawned, E::Vanished], Some(Notification::Failed)),
            (LoopCommand::Execute, &[E::CancelRequested], None),
            (LoopCommand::Execute, &[E::CancelRequested, E::Cancelled], None),
        ] {
            let (before, job) = after(command, events);
            assert_eq!(Notification::of_change(before, &job), notification, "{command} {events:?}");
        }
        let (before, mut job) = after(LoopCommand::Execute, &[E::CancelRequested, E::Stopped]);
        job.run.stopped_by_person = true;
        assert_eq!(Notification::of_change(before, &job), None);
    }

    #[test]
    fn waiting_loop_notifies_once_until_it_continues() {
        let (_, mut job) = after(LoopCommand::Execute, &[E::Spawned]);
        let at = |printed| AwaitingUserSince { need: UserAction::Stuck, printed };
        assert!(job.set_awaiting_user(at(7)));
        let stored: Job = serde_json::from_value(json!(job)).unwrap();
        assert_eq!(stored, job, "a later process knows");
        assert!(!job.set_awaiting_user(at(7)));
        assert!(job.set_awaiting_user(at(8)));
        assert_eq!(job.progress.notifications, [Notification::NeedsAnswer(UserAction::Stuck); 2]);
    }

    #[test]
    fn notification_is_stored_by_name() {
        for (notification, word) in [
            (Notification::Completed, "completed"),
            (Notification::NeedsAnswer(UserAction::PlanReady), "plan-ready"),
            (Notification::NeedsAnswer(UserAction::Question), "question"),
        ] {
            assert_eq!(json!(notification), word);
            assert_eq!(serde_json::from_value::<Notification>(json!(word)).unwrap(), notification);
        }
    }
}
