//! Property tests of the loop state machine: whatever events a runner sends, in whatever order and however
//! often, the stored loop stays consistent.

use loopgate_api::job::LoopStatus;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sea_orm::QueryOrder;
use sea_orm::prelude::*;
use serde_json::{Value, json};

use super::TestApp;
use crate::loop_state::{self, ALL, TransitionResult};
use crate::store::entity::loop_event;

/// The next step of a simulated runner: a new event, a repeated earlier event, or a token refresh.
#[derive(Debug, Clone)]
enum RunnerStep {
    Send(&'static str),
    Repeat(usize),
    Refresh,
}

fn step() -> impl Strategy<Value = RunnerStep> {
    let kinds = ["started", "output", "progress", "completed", "error", "cancelled", "timed_out", "stopped"];
    prop_oneof![
        6 => prop::sample::select(kinds.to_vec()).prop_map(RunnerStep::Send),
        2 => (0_usize..8).prop_map(RunnerStep::Repeat),
        1 => Just(RunnerStep::Refresh),
    ]
}

fn body(kind: &str) -> Value {
    match kind {
        "output" => json!({"type": "output", "chunk": "x"}),
        "completed" => json!({"type": "completed", "result": {}, "tokensUsed": {"input": 1, "output": 1}}),
        "error" => json!({"type": "error", "code": "PROCESS_FAILED", "message": "x"}),
        "timed_out" => json!({"type": "error", "code": "TIMED_OUT", "message": "x"}),
        "stopped" => json!({"type": "error", "code": "CANCELLED", "message": "x"}),
        "cancelled" => json!({"type": "cancelled", "timestamp": "2026-05-11T08:30:00.000Z"}),
        other => json!({"type": other}),
    }
}

/// Runs a sequence of steps against one loop and checks the invariants after each step.
async fn run(plane: &TestApp, steps: Vec<RunnerStep>) {
    let (id, mut runner) = plane.running("PLAN").await;
    let mut sent: Vec<(Uuid, Value)> = Vec::new();
    for step in steps {
        let before = plane.row(id).await;
        match step {
            RunnerStep::Send(kind) => {
                let (nonce, body) = (Uuid::new_v4(), body(kind));
                let reply = runner.event_with(id, nonce, body.clone()).await;
                if reply.status == 200 && reply.data("ignored").is_null() {
                    sent.push((nonce, body));
                }
            }
            RunnerStep::Repeat(index) => {
                let Some((nonce, body)) = sent.get(index).cloned() else { continue };
                let reply = runner.event_with(id, nonce, body).await;
                assert!(reply.status == 409 || reply.status == 401, "{}", reply.text);
                let mut after = plane.row(id).await;
                if before.status.0.is_terminal() {
                    // The repeated terminal event may store its token's id again, so that the runner can
                    // retry. The loop does not change.
                    after.active_token_jti = before.active_token_jti;
                }
                assert_eq!(after, before, "a replay changes nothing");
            }
            RunnerStep::Refresh => {
                let reply = runner.post(&format!("/loops/{id}/refresh-token"), json!({})).await;
                if reply.status == 200 {
                    runner = runner.with_bearer(reply.data("token").as_str().unwrap());
                }
            }
        }
        check(plane, id, before.status.0, sent.len()).await;
    }
    close(plane, id).await;
}

async fn check(plane: &TestApp, id: Uuid, before: LoopStatus, accepted_events: usize) {
    let row = plane.row(id).await;
    let after = row.status.0;
    // A loop that ends before it has started receives its start time together with its end.
    assert!(before == after || before.may_become(after), "{before:?} → {after:?}");
    assert_eq!(after.is_terminal(), row.completed_at.is_some(), "{after:?}");
    assert!(after != LoopStatus::Completed || row.error.is_none());
    assert!(!after.is_terminal() || row.started_at.is_some());
    let events = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.eq(id))
        .order_by_asc(loop_event::Column::Sequence)
        .all(plane.app.store.reader())
        .await
        .unwrap();
    let sequences: Vec<i64> = events.iter().map(|event| event.sequence).collect();
    let expected: Vec<i64> = (1..=row.last_sequence).collect();
    assert_eq!(sequences, expected, "without gaps");
    let from_runner = events.iter().filter(|event| event.runner_nonce.is_some()).count();
    assert_eq!(from_runner, accepted_events, "each accepted event is one row");
    // Readers page by (time, id), so both must increase with the sequence.
    assert!(
        events.windows(2).all(|pair| pair[0].created_at <= pair[1].created_at && pair[0].id < pair[1].id)
    );
}

#[test]
fn loop_stays_consistent_under_arbitrary_events() {
    // One control plane serves all cases: starting one per case would dominate the run time.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let plane = runtime.block_on(TestApp::start());
    let config = ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() };
    let histories = prop::collection::vec(step(), 1..14);
    let outcome = TestRunner::new(config).run(&histories, |steps| {
        runtime.block_on(run(&plane, steps));
        Ok(())
    });
    outcome.unwrap();
}

#[tokio::test]
async fn transitions_follow_the_table() {
    let plane = TestApp::start().await;
    for from in ALL {
        for to in ALL {
            let id = loop_in(&plane, from).await;
            let tx = plane.app.store.begin().await.unwrap();
            let moved = loop_state::apply(&tx, id, to, |update| update).await.unwrap();
            tx.commit().await.unwrap();
            let expected =
                if from.may_become(to) { TransitionResult::Applied } else { TransitionResult::Refused(from) };
            assert_eq!(moved, expected, "{from:?} → {to:?}");
            let status = plane.row(id).await.status.0;
            assert_eq!(status, if moved == TransitionResult::Applied { to } else { from });
            close(&plane, id).await;
        }
    }
}

async fn loop_in(plane: &TestApp, status: LoopStatus) -> Uuid {
    use crate::store::column::StoredEnum;
    use crate::store::entity::agent_loop;
    use sea_orm::sea_query::Expr;
    let (id, _) = plane.running("PLAN").await;
    agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::Status, Expr::value(StoredEnum(status)))
        .filter(agent_loop::Column::Id.eq(id))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
    id
}

/// Deletes the loop, so that the user's limit of ten active loops is not reached.
async fn close(plane: &TestApp, id: Uuid) {
    use crate::store::entity::agent_loop;
    agent_loop::Entity::delete_by_id(id).exec(plane.app.store.writer()).await.unwrap();
}
