//! Derives the state of a change request, and what a person has to do, from its loops and its plan.

use loopgate_api::command::LoopCommand;
use loopgate_api::event::code;
use loopgate_api::job::LoopStatus;
use loopgate_api::review::VerdictKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::loops::activity::LoopActivity;

/// Stage of a change request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeStage {
    /// The request is written.
    Request,
    /// A plan is written, or waits for a decision.
    Plan,
    /// The plan is implemented.
    Execute,
    /// The changes are reviewed.
    Review,
    /// A pull request contains the changes.
    PullRequest,
}

/// State of a change request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeState {
    /// No loop has been started.
    NotStarted,
    /// A loop is being started on its desktop.
    Starting,
    /// A loop cannot start, because its desktop is offline.
    MachineOffline,
    /// A loop waits for the approval of its desktop's owner.
    WaitingForApproval,
    /// A loop is in the queue of its desktop.
    Queued,
    /// A loop waits for the reset of a usage limit of the assistant.
    WaitingForLimit,
    /// A loop is running.
    Running,
    /// A loop is running, but its program or model does not respond.
    Stalled,
    /// A loop needs an answer to continue.
    Question,
    /// The plan waits for a decision.
    PlanReady,
    /// A review requested changes.
    ChangesRequested,
    /// A review approved the changes.
    Reviewed,
    /// A pull request is open.
    PullRequestOpen,
    /// The loop completed without a pull request.
    Done,
    /// The loop reached a limit of iterations, time or spending.
    LimitReached,
    /// The work is done, but was not delivered.
    DeliveryFailed,
    /// The loop failed.
    Failed,
    /// A person stopped the loop.
    Stopped,
}

/// What a change request needs from a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    /// Judge the plan.
    Plan,
    /// Answer a question.
    Question,
    /// Approve the loop on its desktop.
    Approval,
    /// Deliver the work.
    Delivery,
    /// Decide about the findings of a review.
    Findings,
    /// Raise a limit, or stop.
    Limit,
    /// Start Loopgate on the desktop.
    MachineOffline,
    /// Decide what to do about a failure.
    Failure,
}

/// What a state is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateDetails {
    /// Number of open questions of the plan; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<usize>,
    /// What the loop waits for; absent when it does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<LoopActivity>,
    /// Error code of the loop; absent unless it ended with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A loop, as far as it determines the state.
#[derive(Debug, Clone)]
pub struct LoopFacts {
    pub command: LoopCommand,
    pub status: LoopStatus,
    /// Whether its desktop is offline. `false` when the loop is not assigned to a desktop.
    pub is_offline: bool,
    pub activity: Option<LoopActivity>,
    pub error_code: Option<String>,
    pub has_pull_request: bool,
    pub warnings: Vec<String>,
    /// Verdict of a review.
    pub verdict: Option<VerdictKind>,
}

impl LoopFacts {
    /// Returns whether the loop determines the state. Loops that only evaluate do so while they are active; a
    /// conversation never does.
    pub fn is_decisive(command: LoopCommand, status: LoopStatus) -> bool {
        match command {
            LoopCommand::Plan
            | LoopCommand::Execute
            | LoopCommand::RequestChanges
            | LoopCommand::RequestPrdChanges
            | LoopCommand::GeneratePrd
            | LoopCommand::CodeReview
            | LoopCommand::Manual => true,
            LoopCommand::Chat | LoopCommand::Explore => false,
            _ => !status.is_terminal() && status != LoopStatus::AwaitingUser,
        }
    }

    fn active_state(&self) -> ChangeState {
        let starts = matches!(self.status, LoopStatus::Pending | LoopStatus::Claimed);
        match &self.activity {
            _ if starts && self.is_offline => ChangeState::MachineOffline,
            Some(LoopActivity::Approval { .. }) => ChangeState::WaitingForApproval,
            Some(LoopActivity::Queue { .. }) => ChangeState::Queued,
            Some(LoopActivity::UsageLimit { .. }) => ChangeState::WaitingForLimit,
            Some(LoopActivity::Stuck { .. }) => ChangeState::Stalled,
            None if starts => ChangeState::Starting,
            None => ChangeState::Running,
        }
    }

    fn completed_state(&self) -> ChangeState {
        const NOT_DELIVERED: [&str; 2] = ["GIT_PUSH_FAILED", "WORK_NOT_DELIVERED"];
        match self.command {
            LoopCommand::Plan | LoopCommand::RequestChanges => ChangeState::PlanReady,
            LoopCommand::CodeReview if self.verdict == Some(VerdictKind::Approve) => ChangeState::Reviewed,
            LoopCommand::CodeReview => ChangeState::ChangesRequested,
            _ if self.warnings.iter().any(|warning| NOT_DELIVERED.contains(&warning.as_str())) => {
                ChangeState::DeliveryFailed
            }
            _ if self.has_pull_request => ChangeState::PullRequestOpen,
            _ => ChangeState::Done,
        }
    }

    fn failed_state(&self) -> ChangeState {
        match self.error_code.as_deref() {
            Some(code::ITERATION_LIMIT | code::SPENDING_LIMIT | code::TIMED_OUT) => ChangeState::LimitReached,
            Some(code::NOTHING_DELIVERED) => ChangeState::DeliveryFailed,
            _ if self.status == LoopStatus::TimedOut => ChangeState::LimitReached,
            _ => ChangeState::Failed,
        }
    }

    /// Returns the state of a change request that this loop determines.
    pub fn state(&self) -> ChangeState {
        match self.status {
            LoopStatus::Pending | LoopStatus::Claimed | LoopStatus::Running => self.active_state(),
            LoopStatus::AwaitingUser => ChangeState::Question,
            LoopStatus::Completed => self.completed_state(),
            LoopStatus::Failed | LoopStatus::TimedOut => self.failed_state(),
            LoopStatus::Cancelled => ChangeState::Stopped,
        }
    }
}

impl ChangeState {
    /// Returns what a person has to do in this state.
    pub const fn attention(self) -> Option<Attention> {
        match self {
            Self::PlanReady => Some(Attention::Plan),
            Self::Question => Some(Attention::Question),
            Self::WaitingForApproval => Some(Attention::Approval),
            Self::DeliveryFailed => Some(Attention::Delivery),
            Self::ChangesRequested => Some(Attention::Findings),
            Self::LimitReached => Some(Attention::Limit),
            Self::MachineOffline => Some(Attention::MachineOffline),
            Self::Failed => Some(Attention::Failure),
            Self::NotStarted
            | Self::Starting
            | Self::Queued
            | Self::WaitingForLimit
            | Self::Running
            | Self::Stalled
            | Self::Reviewed
            | Self::PullRequestOpen
            | Self::Done
            | Self::Stopped => None,
        }
    }

    /// Returns the stage of a change request in this state. `command` is the command of the loop that determines the
    /// state.
    pub const fn stage(self, command: Option<LoopCommand>) -> ChangeStage {
        match (self, command) {
            (Self::PullRequestOpen, _) => ChangeStage::PullRequest,
            (_, Some(LoopCommand::CodeReview)) => ChangeStage::Review,
            (_, Some(LoopCommand::Execute | LoopCommand::EvaluateCode)) => ChangeStage::Execute,
            (_, Some(LoopCommand::Plan | LoopCommand::RequestChanges | LoopCommand::EvaluatePlan)) => {
                ChangeStage::Plan
            }
            _ => ChangeStage::Request,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(command: LoopCommand, status: LoopStatus) -> LoopFacts {
        LoopFacts {
            command,
            status,
            is_offline: false,
            activity: None,
            error_code: None,
            has_pull_request: false,
            warnings: Vec::new(),
            verdict: None,
        }
    }

    #[test]
    fn held_loop_is_never_starting_or_running() {
        let approval = LoopActivity::Approval {
            id: "7f".to_owned(),
            command: "loopgate approve 7f".to_owned(),
            waits_until: "2026-05-11T08:30:00Z".to_owned(),
        };
        let held = LoopFacts { activity: Some(approval), ..facts(LoopCommand::Execute, LoopStatus::Claimed) };
        assert_eq!(held.state(), ChangeState::WaitingForApproval);
        assert_eq!(held.state().attention(), Some(Attention::Approval));
    }

    #[test]
    fn offline_machine_needs_attention_only_before_the_start() {
        let of = |status| LoopFacts { is_offline: true, ..facts(LoopCommand::Plan, status) }.state();
        assert_eq!(of(LoopStatus::Pending), ChangeState::MachineOffline);
        assert_eq!(of(LoopStatus::Claimed), ChangeState::MachineOffline);
        assert_eq!(of(LoopStatus::Running), ChangeState::Running);
    }

    #[test]
    fn completed_loop_with_work_that_was_not_delivered_needs_attention() {
        let warnings = vec!["GIT_PUSH_FAILED".to_owned()];
        let execute = facts(LoopCommand::Execute, LoopStatus::Completed);
        assert_eq!(execute.state(), ChangeState::Done);
        let delivered = LoopFacts { has_pull_request: true, ..execute.clone() };
        assert_eq!(delivered.state(), ChangeState::PullRequestOpen);
        assert_eq!(delivered.state().stage(Some(LoopCommand::Execute)), ChangeStage::PullRequest);
        let held_back = LoopFacts { warnings, ..execute };
        assert_eq!(held_back.state().attention(), Some(Attention::Delivery));
    }

    #[test]
    fn failure_is_told_from_a_limit_and_from_a_stop() {
        let failed = |code: &str| LoopFacts {
            error_code: Some(code.to_owned()),
            ..facts(LoopCommand::Execute, LoopStatus::Failed)
        };
        assert_eq!(failed(code::SPENDING_LIMIT).state(), ChangeState::LimitReached);
        assert_eq!(failed(code::NOTHING_DELIVERED).state(), ChangeState::DeliveryFailed);
        assert_eq!(failed(code::PROCESS_FAILED).state(), ChangeState::Failed);
        assert_eq!(facts(LoopCommand::Plan, LoopStatus::TimedOut).state(), ChangeState::LimitReached);
        assert_eq!(facts(LoopCommand::Plan, LoopStatus::Cancelled).state().attention(), None);
    }

    #[test]
    fn evaluation_determines_the_state_while_it_runs() {
        assert!(LoopFacts::is_decisive(LoopCommand::EvaluatePlan, LoopStatus::Running));
        assert!(!LoopFacts::is_decisive(LoopCommand::EvaluatePlan, LoopStatus::Completed));
        assert!(!LoopFacts::is_decisive(LoopCommand::Chat, LoopStatus::Running));
    }

    #[test]
    fn review_without_approval_requests_changes() {
        let review = facts(LoopCommand::CodeReview, LoopStatus::Completed);
        assert_eq!(review.state(), ChangeState::ChangesRequested);
        let approved = LoopFacts { verdict: Some(VerdictKind::Approve), ..review };
        assert_eq!(approved.state(), ChangeState::Reviewed);
    }
}
