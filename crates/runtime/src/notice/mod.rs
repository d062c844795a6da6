//! What a person wants to hear: that a loop is done, that it failed, that it or a request waits for
//! them.
//!
//! A notice of a loop is stored with the change that it tells of, and taken out before it is told. So nothing
//! is told twice, also not by the next process, and nothing is forgotten while none runs.

mod desktop;
mod held;
mod tell;

use loopgate_api::command::LoopCommand;
use loopgate_api::job::JobStatus;
use serde::{Deserialize, Serialize};

use crate::job::Job;

pub use held::HeldRequest;
pub(crate) use tell::AT_ONCE;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notice {
    /// The loop did its work.
    Completed,
    /// It ended badly.
    Failed,
    /// It goes on when a person has looked at it.
    #[serde(untagged)]
    NeedsAnswer(Need),
}

/// What a person is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Judge the plan.
    PlanReady,
    /// Answer a question.
    Question,
    /// See whether it is stuck.
    Stuck,
}

impl Notice {
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
            JobStatus::Completed if is_judged(now.command) => Some(Self::NeedsAnswer(Need::PlanReady)),
            JobStatus::Completed => Some(Self::Completed),
            JobStatus::Failed | JobStatus::Unknown | JobStatus::TimedOut => Some(Self::Failed),
            JobStatus::Stopped if !now.facts.stopped_by_person => Some(Self::Failed),
            JobStatus::AwaitingUser => Some(Self::NeedsAnswer(Need::Question)),
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
pub struct Standstill {
    /// For what.
    pub need: Need,
    /// Bytes that it had printed.
    pub printed: u64,
}

impl Job {
    /// Notes that the loop waits for a person in the midst of its run: once, until it has printed
    /// something again. Answers whether that is news.
    pub(crate) fn stands_still(&mut self, standstill: Standstill) -> bool {
        let is_news = self.facts.standstill.replace(standstill) != Some(standstill);
        if is_news {
            self.facts.notices.push(Notice::NeedsAnswer(standstill.need));
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use loopgate_api::ids::LoopId;
    use serde_json::json;

    use super::*;
    use crate::lifecycle::JobEvent as E;

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
    fn what_a_person_did_is_not_told() {
        for (command, events, notice) in [
            (LoopCommand::Plan, &[E::Spawned][..], None),
            (LoopCommand::Plan, &[E::Spawned, E::Completed], Some(Notice::NeedsAnswer(Need::PlanReady))),
            (LoopCommand::Execute, &[E::Spawned, E::Completed], Some(Notice::Completed)),
            (LoopCommand::Execute, &[E::Spawned, E::Asked], Some(Notice::NeedsAnswer(Need::Question))),
            (LoopCommand::Execute, &[E::Spawned, E::Failed], Some(Notice::Failed)),
            (LoopCommand::Execute, &[E::Spawned, E::Vanished], Some(Notice::Failed)),
            (LoopCommand::Execute, &[E::CancelRequested], None),
            (LoopCommand::Execute, &[E::CancelRequested, E::Cancelled], None),
        ] {
            let (before, job) = after(command, events);
            assert_eq!(Notice::of_change(before, &job), notice, "{command} {events:?}");
        }
        let (before, mut job) = after(LoopCommand::Execute, &[E::CancelRequested, E::Stopped]);
        job.facts.stopped_by_person = true;
        assert_eq!(Notice::of_change(before, &job), None);
    }

    #[test]
    fn a_standstill_is_told_once_until_the_loop_goes_on() {
        let (_, mut job) = after(LoopCommand::Execute, &[E::Spawned]);
        let at = |printed| Standstill { need: Need::Stuck, printed };
        assert!(job.stands_still(at(7)));
        let stored: Job = serde_json::from_value(json!(job)).unwrap();
        assert_eq!(stored, job, "a later process knows");
        assert!(!job.stands_still(at(7)));
        assert!(job.stands_still(at(8)));
        assert_eq!(job.facts.notices, [Notice::NeedsAnswer(Need::Stuck); 2]);
    }

    #[test]
    fn a_notice_is_a_word_in_the_record() {
        for (notice, word) in [
            (Notice::Completed, "completed"),
            (Notice::NeedsAnswer(Need::PlanReady), "plan-ready"),
            (Notice::NeedsAnswer(Need::Question), "question"),
        ] {
            assert_eq!(json!(notice), word);
            assert_eq!(serde_json::from_value::<Notice>(json!(word)).unwrap(), notice);
        }
    }
}
