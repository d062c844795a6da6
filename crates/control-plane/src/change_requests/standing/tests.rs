use loopgate_api::deployment::DeploymentState;
use loopgate_api::event_body::ApprovalDetails;

use super::*;

fn facts(command: LoopCommand, status: LoopStatus) -> LoopFacts {
    LoopFacts {
        command,
        status,
        is_offline: false,
        activity: None,
        error_code: None,
        error_subcode: None,
        has_pull_request: false,
        warnings: Vec::new(),
        verdict: None,
        ended_at: None,
        pulls: Vec::new(),
        seen_at: None,
        unanswered: 0,
        open_findings: 0,
    }
}

#[test]
fn held_loop_is_never_starting_or_running() {
    let approval = LoopActivity::Approval(ApprovalDetails {
        id: "7f".to_owned(),
        command: "loopgate approve 7f".to_owned(),
        waits_until: "2026-05-11T08:30:00Z".to_owned(),
    });
    let held = LoopFacts { activity: Some(approval), ..facts(LoopCommand::Execute, LoopStatus::Claimed) };
    assert_eq!(held.state(), ChangeState::WaitingForApproval);
    assert_eq!(held.attention(), Some(Attention::Approval));
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
    let warnings = vec![warning::GIT_PUSH_FAILED.to_owned()];
    let execute = facts(LoopCommand::Execute, LoopStatus::Completed);
    assert_eq!(execute.state(), ChangeState::Done);
    let delivered = LoopFacts { has_pull_request: true, ..execute.clone() };
    assert_eq!(delivered.state(), ChangeState::PullRequestOpen);
    assert_eq!(delivered.state().stage(Some(LoopCommand::Execute)), ChangeStage::PullRequest);
    let held_back = LoopFacts { warnings, ..execute };
    assert_eq!(held_back.attention(), Some(Attention::Delivery));
}

#[test]
fn loop_without_a_plan_has_failed() {
    let of = |command| LoopFacts {
        warnings: vec![warning::REQUIRED_OUTPUT_MISSING.to_owned()],
        ..facts(command, LoopStatus::Completed)
    };
    for command in [LoopCommand::Plan, LoopCommand::RequestChanges] {
        assert_eq!(of(command).attention(), Some(Attention::Failure));
    }
}

#[test]
fn open_findings_need_a_person_until_the_work_is_merged_or_continued() {
    let reviewed = LoopFacts { open_findings: 2, ..delivered(vec![Some(pull(PullRequestState::Open))]) };
    assert_eq!(
        (reviewed.state(), reviewed.attention()),
        (ChangeState::FindingsOpen, Some(Attention::Findings))
    );
    assert_eq!(reviewed.state().stage(Some(reviewed.command)), ChangeStage::Review);
    let merged = LoopFacts { pulls: vec![Some(pull(PullRequestState::Merged))], ..reviewed.clone() };
    assert_eq!(merged.attention(), None);
    let again = LoopFacts { status: LoopStatus::Running, ..reviewed };
    assert_eq!(again.attention(), None);
}

#[test]
fn held_pull_request_waits_for_a_person() {
    let execute = facts(LoopCommand::Execute, LoopStatus::Completed);
    let held = LoopFacts { warnings: vec![warning::PULL_REQUEST_HELD.to_owned()], ..execute };
    assert_eq!(held.state(), ChangeState::ChangesReady);
    assert_eq!(held.state().attention(), Some(Attention::Changes));
    let silent = LoopFacts { unanswered: 1, ..held };
    assert_eq!(silent.state(), ChangeState::CommentsUnanswered);
}

#[test]
fn loop_that_leaves_comments_unanswered_is_not_done() {
    let execute = facts(LoopCommand::Execute, LoopStatus::Completed);
    let silent = LoopFacts { unanswered: 1, has_pull_request: true, ..execute };
    assert_eq!(silent.state(), ChangeState::CommentsUnanswered);
    assert_eq!(silent.state().attention(), Some(Attention::Comments));
    let running = LoopFacts { status: LoopStatus::Running, ..silent };
    assert_eq!(running.state(), ChangeState::Running);
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
    let blocked = LoopFacts {
        error_subcode: Some(subcode::BLOCKED_BY_QUESTIONS.to_owned()),
        ..failed(code::PROCESS_FAILED)
    };
    assert_eq!((blocked.state(), blocked.attention()), (ChangeState::Blocked, Some(Attention::Blocked)));
    assert_eq!(facts(LoopCommand::Plan, LoopStatus::TimedOut).state(), ChangeState::LimitReached);
    assert_eq!(facts(LoopCommand::Plan, LoopStatus::Cancelled).attention(), None);
}

#[test]
fn evaluation_determines_the_state_while_it_runs() {
    assert!(LoopFacts::is_decisive(LoopCommand::EvaluatePlan, LoopStatus::Running));
    assert!(!LoopFacts::is_decisive(LoopCommand::EvaluatePlan, LoopStatus::Completed));
    assert!(!LoopFacts::is_decisive(LoopCommand::Chat, LoopStatus::Running));
}

#[test]
fn stage_without_a_loop_of_its_own_is_not_reached() {
    let row = |command| LoopProgress { command, tasks: None };
    let delivered = WorkProgress::of(true, true, None, &[row(LoopCommand::Execute), row(LoopCommand::Plan)]);
    use ChangeStage::{Deploy, Execute, Plan, PullRequest, Request};
    assert_eq!(delivered.stages, [Request, Plan, Execute, PullRequest], "there was no review");
    assert_eq!(WorkProgress::of(false, false, None, &[]).stages, [Request]);
    let planning = WorkProgress::of(false, false, None, &[row(LoopCommand::Plan)]);
    assert_eq!(planning.stages, [Request, Plan]);
    let failed = Some(DeploymentState::Failed);
    let deployed = WorkProgress::of(true, false, failed, &[row(LoopCommand::Execute)]);
    assert_eq!((deployed.stages, deployed.deployment), (vec![Request, Plan, Execute, Deploy], failed));
}

#[test]
fn tasks_are_those_of_the_last_execution_of_the_current_plan() {
    let counts = |completed| Some(TaskCounts { completed, total: 7, current: None });
    let row = |command, tasks| LoopProgress { command, tasks };
    let executions = [
        row(LoopCommand::Execute, None),
        row(LoopCommand::Execute, counts(3)),
        row(LoopCommand::Plan, counts(0)),
    ];
    assert_eq!(
        WorkProgress::of(true, false, None, &executions).tasks,
        counts(3),
        "the newest has not reported any"
    );
    let replaced = [row(LoopCommand::RequestChanges, counts(0)), row(LoopCommand::Execute, counts(7))];
    assert_eq!(WorkProgress::of(true, false, None, &replaced).tasks, None);
}

#[test]
fn review_without_approval_requests_changes() {
    let review = facts(LoopCommand::CodeReview, LoopStatus::Completed);
    assert_eq!(review.state(), ChangeState::ChangesRequested);
    let approved = LoopFacts { verdict: Some(VerdictKind::Approve), ..review };
    assert_eq!(approved.state(), ChangeState::Reviewed);
}

const MINUTE: i64 = 60_000;

fn pull(state: PullRequestState) -> ReportedStanding {
    ReportedStanding {
        state,
        is_draft: false,
        failing_checks: 0,
        pending_checks: 0,
        has_conflicts: false,
        review_decision: None,
        unresolved_threads: 0,
        last_comment_at: None,
        settled_at: None,
        merged_by: None,
    }
}

fn delivered(pulls: Vec<Option<ReportedStanding>>) -> LoopFacts {
    LoopFacts { has_pull_request: true, pulls, ..facts(LoopCommand::Execute, LoopStatus::Completed) }
}

#[test]
fn delivered_work_is_merged_when_no_pull_request_is_open() {
    use PullRequestState::{Closed, Merged, Open};
    let of = |states: &[PullRequestState]| {
        delivered(states.iter().map(|state| Some(pull(*state))).collect()).state()
    };
    for (states, expected) in [
        (&[Open, Merged][..], ChangeState::PullRequestOpen),
        (&[Merged, Merged], ChangeState::Merged),
        (&[Merged, Closed], ChangeState::Merged),
        (&[Closed], ChangeState::Closed),
    ] {
        assert_eq!(of(states), expected, "{states:?}");
        assert_eq!(expected.stage(Some(LoopCommand::Execute)), ChangeStage::PullRequest);
    }
    assert_eq!(delivered(vec![Some(pull(Merged)), None]).state(), ChangeState::PullRequestOpen);
    let review = LoopFacts { command: LoopCommand::CodeReview, ..delivered(vec![Some(pull(Merged))]) };
    assert_eq!(review.state(), ChangeState::Merged);
    let again = LoopFacts { status: LoopStatus::Running, ..delivered(vec![Some(pull(Merged))]) };
    assert_eq!(again.state(), ChangeState::Running, "a later loop decides while it runs");
}

#[test]
fn failed_checks_of_open_pull_requests_need_attention() {
    let failing = |state| Some(ReportedStanding { failing_checks: 2, ..pull(state) });
    let facts = delivered(vec![failing(PullRequestState::Open), failing(PullRequestState::Merged)]);
    assert_eq!((facts.state(), facts.failing_checks()), (ChangeState::ChecksFailing, 2));
    assert_eq!(facts.attention(), Some(Attention::Checks));
    assert_eq!(delivered(vec![failing(PullRequestState::Closed)]).attention(), None);
}

#[test]
fn conflicts_of_open_pull_requests_need_attention() {
    let conflicting =
        |state| Some(ReportedStanding { has_conflicts: true, failing_checks: 1, ..pull(state) });
    let facts = delivered(vec![conflicting(PullRequestState::Open), None]);
    assert_eq!((facts.state(), facts.attention()), (ChangeState::Conflicting, Some(Attention::Conflicts)));
    assert_eq!(facts.state().stage(Some(facts.command)), ChangeStage::PullRequest);
    assert_eq!(delivered(vec![conflicting(PullRequestState::Merged)]).attention(), None);
}

#[test]
fn comments_need_attention_until_they_are_seen() {
    let commented = |at: &str| {
        let last_comment_at = Some(at.to_owned());
        vec![Some(ReportedStanding { last_comment_at, ..pull(PullRequestState::Open) })]
    };
    let unseen = delivered(commented("1970-01-01T00:02:00Z"));
    assert_eq!(
        (unseen.state(), unseen.attention()),
        (ChangeState::PullRequestOpen, Some(Attention::Comments))
    );
    let seen = |minute: i64| LoopFacts { seen_at: Some(minute * MINUTE), ..unseen.clone() }.attention();
    assert_eq!((seen(1), seen(2)), (Some(Attention::Comments), None));
    assert_eq!(delivered(commented("yesterday")).attention(), None);
    assert_eq!(delivered(vec![Some(pull(PullRequestState::Open)), None]).attention(), None);
}

#[test]
fn requested_changes_need_attention_until_a_loop_has_answered_them() {
    let requested = Some(ReportedStanding {
        review_decision: Some(ReviewDecision::ChangesRequested),
        last_comment_at: Some("1970-01-01T00:02:00Z".to_owned()),
        ..pull(PullRequestState::Open)
    });
    let of = |ended: i64| LoopFacts { ended_at: Some(ended * MINUTE), ..delivered(vec![requested.clone()]) };
    let stage = |facts: &LoopFacts| facts.state().stage(Some(facts.command));
    assert_eq!((of(1).state(), stage(&of(1))), (ChangeState::ChangesRequested, ChangeStage::PullRequest));
    assert_eq!((of(1).attention(), of(3).attention()), (Some(Attention::Comments), None));
}
