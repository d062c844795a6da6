//! Derives the state of a change request, and what a person has to do, from its loops, its plan and its pull requests.

use loopgate_api::command::LoopCommand;
use loopgate_api::deployment::DeploymentState;
use loopgate_api::event::{code, subcode, warning};
use loopgate_api::event_body::TaskCounts;
use loopgate_api::job::LoopStatus;
use loopgate_api::pull_request::{PullRequestState, ReportedStanding, ReviewDecision};
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
    /// The changes are deployed on the machine that made them.
    Deploy,
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
    /// The changes wait for a person's approval before their pull request is opened.
    ChangesReady,
    /// A loop ended without an answer to some comments of a review.
    CommentsUnanswered,
    /// Findings of a review wait for a decision.
    FindingsOpen,
    /// A review requested changes, or a reviewer of a pull request did.
    ChangesRequested,
    /// A review approved the changes.
    Reviewed,
    /// A pull request is open.
    PullRequestOpen,
    /// A check of an open pull request has failed.
    ChecksFailing,
    /// An open pull request conflicts with its base branch.
    Conflicting,
    /// The pull requests are merged, or some of them merged and the others closed.
    Merged,
    /// The pull requests were closed without being merged.
    Closed,
    /// The loop completed without a pull request.
    Done,
    /// The loop reached a limit of iterations, time or spending.
    LimitReached,
    /// The work is done, but was not delivered.
    DeliveryFailed,
    /// The loop ended with tasks that wait for answers to open questions.
    Blocked,
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
    /// Answer the questions that block tasks.
    Blocked,
    /// Approve the loop on its desktop.
    Approval,
    /// Deliver the work.
    Delivery,
    /// Approve the changes, or request others.
    Changes,
    /// Decide about the findings of a review.
    Findings,
    /// Fix the failed checks of a pull request.
    Checks,
    /// Resolve the conflicts of a pull request with its base branch.
    Conflicts,
    /// Read and answer comments: those on a pull request, or those that a loop has not answered.
    Comments,
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
    /// Number of comments of a review without an answer; absent in other states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<u64>,
    /// What the loop waits for; absent when it does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<LoopActivity>,
    /// Number of findings of reviews without a decision; absent in other states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<u64>,
    /// Number of failed checks of the open pull requests; absent unless one has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_checks: Option<u64>,
    /// Error code of the loop; absent unless it ended with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// How far the work on a change request has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkProgress {
    /// Stages that the work has reached, in their order. A review is optional.
    pub stages: Vec<ChangeStage>,
    /// Tasks of the execution of the current plan.
    pub tasks: Option<TaskCounts>,
    /// State of the deployment of the changes. Rows of earlier versions have none.
    #[serde(default)]
    pub deployment: Option<DeploymentState>,
}

impl WorkProgress {
    /// Derives the progress from the loops on a change request, newest first.
    pub fn of(
        has_plan: bool,
        has_pull_request: bool,
        deployment: Option<DeploymentState>,
        loops: &[LoopProgress],
    ) -> Self {
        use LoopCommand::{CodeReview, Execute, Plan, RequestChanges};
        let any = |commands: &[LoopCommand]| loops.iter().any(|row| commands.contains(&row.command));
        let reached = [
            (ChangeStage::Request, true),
            (ChangeStage::Plan, has_plan || any(&[Plan, RequestChanges])),
            (ChangeStage::Execute, any(&[Execute])),
            (ChangeStage::Review, any(&[CodeReview])),
            (ChangeStage::PullRequest, has_pull_request),
            (ChangeStage::Deploy, deployment.is_some()),
        ];
        // The tasks of an execution belong to its plan, which these commands replace.
        let of_plan = loops.iter().take_while(|row| !matches!(row.command, Plan | RequestChanges));
        Self {
            stages: reached
                .into_iter()
                .filter(|(_, is_reached)| *is_reached)
                .map(|(stage, _)| stage)
                .collect(),
            tasks: of_plan.filter(|row| row.command == Execute).find_map(|row| row.tasks.clone()),
            deployment,
        }
    }
}

/// A loop, as far as it determines the progress.
#[derive(Debug, Clone)]
pub struct LoopProgress {
    pub command: LoopCommand,
    pub tasks: Option<TaskCounts>,
}

/// Returns whether a pull request is open, or nothing is reported about it.
pub fn is_open(standing: Option<&ReportedStanding>) -> bool {
    standing.is_none_or(|standing| standing.state == PullRequestState::Open)
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
    /// More specific code of a failure.
    pub error_subcode: Option<String>,
    pub has_pull_request: bool,
    pub warnings: Vec<String>,
    /// Verdict of a review.
    pub verdict: Option<VerdictKind>,
    /// Time of its end.
    pub ended_at: Option<i64>,
    /// Newest pull request of each repository of the change request, as far as it is reported.
    pub pulls: Vec<Option<ReportedStanding>>,
    /// When the person whose attention is derived has seen the change request.
    pub seen_at: Option<i64>,
    /// Number of comments of a review that the loop has not answered.
    pub unanswered: u64,
    /// Number of findings about the changes of the loop that wait for a decision.
    pub open_findings: u64,
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
            Some(LoopActivity::Approval(_)) => ChangeState::WaitingForApproval,
            Some(LoopActivity::Queue(_)) => ChangeState::Queued,
            Some(LoopActivity::UsageLimit { .. }) => ChangeState::WaitingForLimit,
            Some(LoopActivity::Stuck { .. }) => ChangeState::Stalled,
            None if starts => ChangeState::Starting,
            None => ChangeState::Running,
        }
    }

    fn warns(&self, code: &str) -> bool {
        self.warnings.iter().any(|warning| warning == code)
    }

    fn completed_state(&self) -> ChangeState {
        match self.command {
            // The loop has ended without another plan.
            LoopCommand::Plan | LoopCommand::RequestChanges
                if self.warns(warning::REQUIRED_OUTPUT_MISSING) =>
            {
                ChangeState::Failed
            }
            LoopCommand::Plan | LoopCommand::RequestChanges => ChangeState::PlanReady,
            LoopCommand::CodeReview if self.is_settled() => self.delivered_state(),
            LoopCommand::CodeReview if self.verdict == Some(VerdictKind::Approve) => ChangeState::Reviewed,
            LoopCommand::CodeReview => ChangeState::ChangesRequested,
            _ if self.warns(warning::GIT_PUSH_FAILED) || self.warns(warning::WORK_NOT_DELIVERED) => {
                ChangeState::DeliveryFailed
            }
            _ if self.has_pull_request && self.is_settled() => self.delivered_state(),
            _ if self.unanswered > 0 => ChangeState::CommentsUnanswered,
            _ if self.open_findings > 0 => ChangeState::FindingsOpen,
            _ if self.warns(warning::PULL_REQUEST_HELD) => ChangeState::ChangesReady,
            _ if self.has_pull_request => self.delivered_state(),
            _ => ChangeState::Done,
        }
    }

    fn open_pulls(&self) -> impl Iterator<Item = &ReportedStanding> {
        self.pulls.iter().flatten().filter(|pull| is_open(Some(pull)))
    }

    /// Returns whether all pull requests are merged or closed.
    fn is_settled(&self) -> bool {
        !self.pulls.is_empty() && !self.pulls.iter().any(|pull| is_open(pull.as_ref()))
    }

    fn delivered_state(&self) -> ChangeState {
        let is_merged = |pull: &ReportedStanding| pull.state == PullRequestState::Merged;
        let requests_changes =
            |pull: &ReportedStanding| pull.review_decision == Some(ReviewDecision::ChangesRequested);
        if self.is_settled() {
            let any_merged = self.pulls.iter().flatten().any(is_merged);
            if any_merged { ChangeState::Merged } else { ChangeState::Closed }
        } else if self.open_pulls().any(|pull| pull.has_conflicts) {
            // First, because the code host runs no checks of a pull request that cannot be merged.
            ChangeState::Conflicting
        } else if self.failing_checks() > 0 {
            ChangeState::ChecksFailing
        } else if self.open_pulls().any(requests_changes) {
            ChangeState::ChangesRequested
        } else {
            ChangeState::PullRequestOpen
        }
    }

    /// Returns the number of failed checks of the open pull requests.
    pub fn failing_checks(&self) -> u64 {
        self.open_pulls().map(|pull| pull.failing_checks).sum()
    }

    /// Returns whether another account has commented on an open pull request after a time.
    fn has_comments_after(&self, time: Option<i64>) -> bool {
        let comments = self.open_pulls().filter_map(|pull| pull.last_comment_at.as_ref()?.parse().ok());
        comments.map(jiff::Timestamp::as_millisecond).max() > time
    }

    fn failed_state(&self) -> ChangeState {
        match self.error_code.as_deref() {
            Some(code::ITERATION_LIMIT | code::SPENDING_LIMIT | code::TIMED_OUT) => ChangeState::LimitReached,
            Some(code::NOTHING_DELIVERED) => ChangeState::DeliveryFailed,
            _ if self.status == LoopStatus::TimedOut => ChangeState::LimitReached,
            _ if self.error_subcode.as_deref() == Some(subcode::BLOCKED_BY_QUESTIONS) => ChangeState::Blocked,
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

impl LoopFacts {
    /// Returns what a person has to do.
    pub fn attention(&self) -> Option<Attention> {
        match self.state() {
            // At the code host. Comments that the last loop could answer need no person.
            ChangeState::ChangesRequested if self.command != LoopCommand::CodeReview => {
                self.has_comments_after(self.ended_at).then_some(Attention::Comments)
            }
            ChangeState::PullRequestOpen => {
                self.has_comments_after(self.seen_at).then_some(Attention::Comments)
            }
            state => state.attention(),
        }
    }
}

impl ChangeState {
    /// Returns the name of the state in JSON.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Returns what a person has to do in this state.
    const fn attention(self) -> Option<Attention> {
        match self {
            Self::PlanReady => Some(Attention::Plan),
            Self::Question => Some(Attention::Question),
            Self::Blocked => Some(Attention::Blocked),
            Self::WaitingForApproval => Some(Attention::Approval),
            Self::DeliveryFailed => Some(Attention::Delivery),
            Self::ChangesReady => Some(Attention::Changes),
            Self::ChangesRequested | Self::FindingsOpen => Some(Attention::Findings),
            Self::ChecksFailing => Some(Attention::Checks),
            Self::Conflicting => Some(Attention::Conflicts),
            Self::CommentsUnanswered => Some(Attention::Comments),
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
            | Self::Merged
            | Self::Closed
            | Self::Done
            | Self::Stopped => None,
        }
    }

    /// Returns the stage of a change request in this state. `command` is the command of the loop that determines the
    /// state.
    pub const fn stage(self, command: Option<LoopCommand>) -> ChangeStage {
        match (self, command) {
            (
                Self::PullRequestOpen | Self::ChecksFailing | Self::Conflicting | Self::Merged | Self::Closed,
                _,
            ) => ChangeStage::PullRequest,
            (Self::FindingsOpen, _) | (_, Some(LoopCommand::CodeReview)) => ChangeStage::Review,
            (Self::ChangesRequested, Some(_)) => ChangeStage::PullRequest,
            (_, Some(LoopCommand::Execute | LoopCommand::EvaluateCode)) => ChangeStage::Execute,
            (_, Some(LoopCommand::Plan | LoopCommand::RequestChanges | LoopCommand::EvaluatePlan)) => {
                ChangeStage::Plan
            }
            _ => ChangeStage::Request,
        }
    }
}

#[cfg(test)]
mod tests;
