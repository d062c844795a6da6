//! Notifications of a loop. Stored in its record by the change that they report, and removed before they are
//! sent.

use loopgate_api::command::LoopCommand;
use loopgate_api::job::JobStatus;
use serde::{Deserialize, Serialize};

use super::Job;

/// An event that the user is notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notification {
    /// The loop completed its work.
    Completed,
    /// The loop failed, or its outcome is unknown.
    Failed,
    /// The loop needs an action of the user.
    #[serde(untagged)]
    NeedsAnswer(UserAction),
}

/// The action that is expected of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UserAction {
    /// Review the finished plan.
    PlanReady,
    /// Answer the loop's question.
    Question,
    /// Check whether the loop is stuck.
    Stuck,
}

impl Notification {
    /// Returns the event name that notification commands get.
    pub(crate) const fn event(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::NeedsAnswer(_) => "needs-answer",
        }
    }

    /// Returns the notification of a status change; `None` for changes that the user caused.
    pub(crate) fn of_change(before: JobStatus, now: &Job) -> Option<Self> {
        if before == now.status() {
            return None;
        }
        match now.status() {
            JobStatus::Completed if needs_review(now.command) => {
                Some(Self::NeedsAnswer(UserAction::PlanReady))
            }
            JobStatus::Completed => Some(Self::Completed),
            JobStatus::Failed | JobStatus::Unknown | JobStatus::TimedOut => Some(Self::Failed),
            JobStatus::Stopped if !now.run.stopped_by_person => Some(Self::Failed),
            JobStatus::AwaitingUser => Some(Self::NeedsAnswer(UserAction::Question)),
            _ => None,
        }
    }
}

/// Returns whether the user has to review the result of a command.
const fn needs_review(command: LoopCommand) -> bool {
    matches!(command, LoopCommand::Plan | LoopCommand::RequestChanges)
}

/// The action that a loop waits for, and the output position at which the wait started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitingUserSince {
    pub need: UserAction,
    /// Bytes that the loop had printed.
    pub printed: u64,
}

impl Job {
    /// Records that a running loop waits for the user and queues a notification, once until the loop prints
    /// again. Returns whether this wait is new.
    pub(crate) fn set_awaiting_user(&mut self, awaiting_user_since: AwaitingUserSince) -> bool {
        let is_new =
            self.progress.awaiting_user_since.replace(awaiting_user_since) != Some(awaiting_user_since);
        if is_new {
            self.progress.notifications.push(Notification::NeedsAnswer(awaiting_user_since.need));
        }
        is_new
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
        let restored: Job = serde_json::from_value(json!(job)).unwrap();
        assert_eq!(restored, job, "the wait survives a restart");
        assert!(!job.set_awaiting_user(at(7)));
        assert!(job.set_awaiting_user(at(8)));
        assert_eq!(job.progress.notifications, [Notification::NeedsAnswer(UserAction::Stuck); 2]);
    }

    #[test]
    fn notification_is_stored_by_name() {
        for (notification, name) in [
            (Notification::Completed, "completed"),
            (Notification::NeedsAnswer(UserAction::PlanReady), "plan-ready"),
            (Notification::NeedsAnswer(UserAction::Question), "question"),
        ] {
            assert_eq!(json!(notification), name);
            assert_eq!(serde_json::from_value::<Notification>(json!(name)).unwrap(), notification);
        }
    }
}
