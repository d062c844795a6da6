use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use crate::store::entity::agent_loop;
use crate::store::now;
use crate::tests::plane::shop;
use crate::tests::{TestApp, TestClient};

fn completed(input: u64) -> Value {
    json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": input, "output": input}})
}

fn success() -> Value {
    json!({"status": "success", "fullName": "acme/shop", "prUrl": "https://github.com/acme/shop/pull/7",
        "prNumber": 7, "branchName": "orchestrator/plan-1", "baseBranch": "main", "hasChanges": true})
}

// CP-26
#[tokio::test]
async fn event_nonce_is_required_and_accepted_once() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let path = format!("/loops/{id}/events");
    let body = json!({"type": "started"});
    assert_eq!(runner.post(&path, body.clone()).await.refused(), (401, "Missing runner event nonce"));
    // The second nonce has no hyphens; only the canonical form is accepted, so that one nonce has one
    // spelling.
    for nonce in ["x", "0190a5f3c8b97f00a1b2c3d4e5f60718"] {
        let bad = runner.with_header("x-loop-event-nonce", nonce);
        assert_eq!(bad.post(&path, body.clone()).await.refused(), (400, "Invalid runner event nonce"));
    }
    let nonce = Uuid::now_v7();
    let first = runner.event_with(id, nonce, body.clone()).await;
    assert_eq!(first.json, json!({"success": true, "data": {"received": true}}));
    let again = runner.event_with(id, nonce, body).await;
    assert_eq!(again.failure(), (409, "Replay detected", "replay_detected"));
}

// CP-50
#[tokio::test]
async fn replay_is_detected_after_token_refresh() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let nonce = Uuid::new_v4();
    let body = json!({"type": "output", "chunk": "hello"});
    assert_eq!(runner.event_with(id, nonce, body.clone()).await.status, 200);
    let refreshed = runner.post(&format!("/loops/{id}/refresh-token"), json!({})).await;
    let runner = runner.with_bearer(refreshed.data("token").as_str().unwrap());
    assert_eq!(runner.event_with(id, nonce, body).await.refused(), (409, "Replay detected"));
    let outputs = plane.owner().await.get(&format!("/loops/{id}/events?type=output")).await;
    assert_eq!(outputs.data("total"), 1);
}

#[tokio::test]
async fn concurrent_requests_with_one_nonce_store_one_event() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let nonce = Uuid::new_v4();
    let posts = (0..8).map(|_| {
        let runner = runner.clone();
        tokio::spawn(async move {
            runner.event_with(id, nonce, json!({"type": "output", "chunk": "x"})).await.status
        })
    });
    let statuses = futures_util::future::join_all(posts).await;
    let accepted = statuses.iter().filter(|status| *status.as_ref().unwrap() == 200).count();
    assert_eq!(accepted, 1, "{statuses:?}");
    let outputs = plane.owner().await.get(&format!("/loops/{id}/events?type=output")).await;
    assert_eq!(outputs.data("total"), 1);
}

// CP-27
#[tokio::test]
async fn loop_starts_reports_and_completes() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Pending);
    assert_eq!(runner.event(id, json!({"type": "started", "sessionId": "s1"})).await.status, 200);
    let row = plane.row(id).await;
    assert_eq!((row.status.0, row.session_id.as_deref()), (LoopStatus::Running, Some("s1")));
    assert!(row.started_at.is_some());

    let usage = |input: u64| json!({"type": "output", "data": {"chunk": "x", "tokenUsage": {"inputTokens": input, "outputTokens": 2}}});
    runner.event(id, usage(10)).await;
    runner.event(id, usage(4)).await;
    assert_eq!(plane.row(id).await.tokens_input, 10, "counters only rise");

    let end = json!({"type": "completed", "result": {"exitCode": 0, "branchName": "orchestrator/plan-1", "sessionId": "s2"},
        "tokensUsed": {"input": 1_000_000, "output": 0}, "tokensByModel": {"m": {"input": 1_000_000, "output": 0}},
        "warnings": ["GIT_PUSH_FAILED"]});
    assert_eq!(runner.event(id, end).await.status, 200);
    let shown = plane.owner().await.get(&format!("/loops/{id}")).await;
    assert_eq!(shown.data("status"), "COMPLETED");
    assert_eq!(shown.data("branchName"), "orchestrator/plan-1");
    assert_eq!(shown.data("sessionId"), "s2");
    assert_eq!(shown.data("estimatedCost"), 3.0);
    assert_eq!(shown.data("metadata")["warnings"], json!(["GIT_PUSH_FAILED"]));
    let late = runner.event(id, json!({"type": "output", "chunk": "late"})).await;
    assert_eq!(late.refused(), (401, "jti_mismatch"), "completion invalidates the token");
}

// CP-28, CP-29
#[tokio::test]
async fn late_events_are_ignored_except_completed_work() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let timed_out = json!({"type": "error", "code": "TIMED_OUT", "message": "too long"});
    assert_eq!(runner.event(id, timed_out).await.status, 200);
    assert_eq!(plane.row(id).await.status.0, LoopStatus::TimedOut);

    let ignored = json!({"success": true, "data": {"received": true, "ignored": true}});
    assert_eq!(runner.event(id, json!({"type": "output", "chunk": "late"})).await.json, ignored);
    let failed = json!({"type": "error", "code": "PROCESS_FAILED", "message": "x"});
    assert_eq!(runner.event(id, failed).await.json, ignored);
    // Support bundles are uploaded after the loop has ended, so their event is accepted late.
    let bundle = json!({"type": "support_bundle_uploaded", "keys": ["a"]});
    assert_eq!(runner.event(id, bundle).await.json["data"], json!({"received": true}));

    assert_eq!(runner.event(id, completed(5)).await.status, 200);
    let row = plane.row(id).await;
    assert_eq!((row.status.0, row.error), (LoopStatus::Completed, None));
}

// CP-30
#[tokio::test]
async fn execute_without_tokens_fails() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("EXECUTE").await;
    runner.event(id, json!({"type": "started"})).await;
    assert_eq!(runner.event(id, completed(0)).await.status, 200);
    let shown = plane.owner().await.get(&format!("/loops/{id}")).await;
    assert_eq!(shown.data("status"), "FAILED");
    assert_eq!(shown.data("error")["code"], "NO_WORK_PRODUCED");
    assert_eq!(shown.data("error")["message"], "EXECUTE loop completed with 0 tokens -- no work was done");
    let events = plane.owner().await.get(&format!("/loops/{id}/events?type=error")).await;
    assert_eq!(events.json["data"]["data"][0]["code"], "NO_WORK_PRODUCED");
}

#[tokio::test]
async fn errors_keep_their_reason_and_cancelled_errors_cancel_the_loop() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let error = json!({"type": "error", "code": "RUNNER_ERROR", "message": "stuck", "logTail": "é".repeat(9000),
        "result": {"subcode": "PENDING_TASKS_AT_COMPLETION"}, "branchName": "b", "diagnosticsVersion": "2"});
    runner.event(id, error).await;
    let shown = plane.owner().await.get(&format!("/loops/{id}")).await;
    assert_eq!(
        shown.data("error"),
        &json!({"code": "RUNNER_ERROR", "message": "stuck", "result": {"subcode": "PENDING_TASKS_AT_COMPLETION"}})
    );
    let events = plane.owner().await.get(&format!("/loops/{id}/events?type=error")).await;
    // 9000 two-byte characters: the cut at 8192 bytes must not split one.
    assert!(events.json["data"]["data"][0]["logTail"].as_str().unwrap().len() <= 8192);

    for body in [
        json!({"type": "error", "code": "CANCELLED", "message": "stopped"}),
        json!({"type": "cancelled", "reason": "stopped", "timestamp": "2026-05-11T08:30:00.000Z"}),
    ] {
        let (id, runner) = plane.running("PLAN").await;
        runner.event(id, json!({"type": "started"})).await;
        assert_eq!(runner.event(id, body).await.status, 200);
        assert_eq!(plane.row(id).await.status.0, LoopStatus::Cancelled);
        let events = plane.owner().await.get(&format!("/loops/{id}/events?type=cancelled")).await;
        assert_eq!(events.json["data"]["data"][0]["reason"], "stopped");
    }
}

/// The user cancels while the loop delivers its work; the runner reports the delivery before or after that.
#[tokio::test]
async fn cancelled_loop_shows_its_delivery() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    for stopped_first in [false, true] {
        let (id, runner) = plane.running("EXECUTE").await;
        runner.event(id, json!({"type": "started"})).await;
        if stopped_first {
            assert_eq!(owner.post(&format!("/loops/{id}/cancel"), json!({})).await.status, 200);
        }
        let result = json!({"prUrl": success()["prUrl"], "prNumber": 7, "branchName": "orchestrator/plan-1"});
        let cancelled_with = |entry: Value| {
            json!({"type": "error", "code": "CANCELLED", "message": "Loop cancelled", "result": result,
                "results": [entry]})
        };
        let mut foreign = success();
        foreign["fullName"] = json!("evil/shop");
        assert_eq!(runner.event(id, cancelled_with(foreign)).await.status, 400);
        assert_eq!(runner.event(id, cancelled_with(success())).await.status, 200);
        let shown = owner.get(&format!("/loops/{id}")).await;
        assert_eq!(shown.data("status"), "CANCELLED");
        assert_eq!(shown.data("prUrl"), &success()["prUrl"]);
        assert_eq!(shown.data("results"), &json!([success()]));
        let events = owner.get(&format!("/loops/{id}/events?type=cancelled")).await;
        assert_eq!(events.data("total"), 1, "the loop is cancelled once");
    }
}

// CP-31
#[tokio::test]
async fn invalid_events_change_nothing() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("EXECUTE").await;
    runner.event(id, json!({"type": "started"})).await;
    let with = |entry: Value| {
        let mut body = completed(5);
        body["results"] = json!([entry]);
        body
    };
    let mut foreign_url = success();
    foreign_url["prUrl"] = json!("https://github.com/evil/shop/pull/7");
    let refused = runner.event(id, with(foreign_url)).await;
    assert_eq!(refused.refused(), (400, "results.0.prUrl: prUrl does not match canonical format"));
    let foreign = json!({"status": "skipped", "fullName": "evil/shop", "reason": "no_changes"});
    let refused = runner.event(id, with(foreign)).await;
    assert_eq!(refused.refused(), (400, "results.0.fullName: fullName not in authorized repo set"));
    for body in [
        json!({"type": "token_refreshed"}),
        json!({"type": "tokens_cleared"}),
        json!({"type": "reap_reversed"}),
        json!([]),
    ] {
        assert_eq!(runner.event(id, body).await.status, 400);
    }
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Running);
    assert_eq!(plane.row(id).await.last_sequence, 1, "no event was stored");
}

#[tokio::test]
async fn pending_loop_cannot_complete() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let refused = runner.event(id, completed(5)).await;
    assert_eq!(refused.refused(), (409, "Invalid status transition from PENDING"));
}

/// Completes a loop and returns the `results` of its view.
async fn results(plane: &TestApp, end: Value, uploaded: Option<Value>) -> Value {
    let (id, runner) = plane.running("EXECUTE").await;
    runner.event(id, json!({"type": "started"})).await;
    if let Some(file) = uploaded {
        runner
            .post(&format!("/loops/{id}/upload-artifacts"), json!({"artifacts": {"executionResult": file}}))
            .await;
    }
    let reply = runner.event(id, end).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    plane.owner().await.get(&format!("/loops/{id}")).await.data("results").clone()
}

// CP-32
#[tokio::test]
async fn completions_of_both_schemas_have_the_same_view() {
    let plane = TestApp::start().await;
    let mut v2 = completed(5);
    v2["results"] = json!([success()]);
    let mut v1 = completed(5);
    v1["result"] = json!({"exitCode": 0, "has_changes": true, "prUrl": "https://github.com/acme/shop/pull/7",
        "prNumber": 7, "branchName": "orchestrator/plan-1"});
    let file = json!({"has_changes": true, "pr_url": "https://github.com/acme/shop/pull/7", "pr_number": "7",
        "branch_name": "orchestrator/plan-1", "base_ref": "origin/main"});
    let expected = json!([success()]);
    assert_eq!(results(&plane, v2, None).await, expected);
    assert_eq!(results(&plane, v1, None).await, expected);
    assert_eq!(results(&plane, completed(5), Some(file)).await, expected);
    let nothing = json!([{"status": "skipped", "fullName": "acme/shop", "reason": "no_changes"}]);
    assert_eq!(results(&plane, completed(5), None).await, nothing);
}

// CP-33
#[tokio::test]
async fn token_must_belong_to_the_loop_and_be_valid() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let (other, _) = plane.running("PLAN").await;
    let body = json!({"type": "started"});
    assert_eq!(runner.event(other, body.clone()).await.refused(), (403, "Token does not match loop"));
    let anonymous = plane.anonymous();
    assert_eq!(anonymous.event(id, body.clone()).await.refused(), (401, "Missing runner token"));
    let forged = anonymous.with_bearer("a.b.c");
    assert_eq!(forged.event(id, body.clone()).await.refused(), (401, "Invalid or expired runner token"));
    let old = plane.app.runner_tokens.issue(id, plane.owner.organization_id, 0).unwrap();
    let old = secrecy::ExposeSecret::expose_secret(&old.token).to_owned();
    assert_eq!(anonymous.with_bearer(&old).event(id, body.clone()).await.refused().0, 401);
    let missing = plane.app.runner_tokens.issue(Uuid::new_v4(), plane.owner.organization_id, now()).unwrap();
    let missing_id =
        plane.app.runner_tokens.read(secrecy::ExposeSecret::expose_secret(&missing.token)).unwrap().sub;
    let missing = anonymous.with_bearer(secrecy::ExposeSecret::expose_secret(&missing.token));
    assert_eq!(missing.event(missing_id, body).await.refused(), (403, "Loop not found"));
}

// CP-34
#[tokio::test]
async fn refreshed_token_invalidates_the_previous_one() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let path = format!("/loops/{id}/refresh-token");
    assert_eq!(runner.post(&path, json!({})).await.failure().2, "NOT_RUNNING");
    runner.event(id, json!({"type": "started"})).await;
    let refreshed = runner.with_header("idempotency-key", "k1").post(&path, json!({})).await;
    assert_eq!(refreshed.status, 200, "{}", refreshed.text);
    let fresh = runner.with_bearer(refreshed.data("token").as_str().unwrap());
    let output = json!({"type": "output", "chunk": "x"});
    assert_eq!(runner.event(id, output.clone()).await.failure(), (401, "jti_mismatch", "jti_mismatch"));
    assert_eq!(fresh.event(id, output).await.status, 200);
    assert_eq!(runner.post(&path, json!({})).await.failure().2, "JTI_ALREADY_USED");
    let events = plane.owner().await.get(&format!("/loops/{id}/events?type=token_refreshed")).await;
    assert_eq!(events.json["data"]["data"][0]["idempotencyKey"], "k1");
    assert!(!events.text.contains("eyJ"), "no token is stored");
}

#[tokio::test]
async fn token_refresh_is_limited_to_six_per_minute() {
    let plane = TestApp::start().await;
    let (id, mut runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let path = format!("/loops/{id}/refresh-token");
    for _ in 0..6 {
        let reply = runner.post(&path, json!({})).await;
        runner = runner.with_bearer(reply.data("token").as_str().unwrap());
    }
    // The window of the limit is one minute, so this assumes that the six requests took less.
    let limited = runner.post(&path, json!({})).await;
    assert_eq!((limited.status.as_u16(), limited.failure().2), (429, "RATE_LIMITED"));
    let output = json!({"type": "output", "chunk": "x"});
    assert_eq!(runner.event(id, output).await.status, 200, "the current token stays valid");
}

async fn set_last_heartbeat(plane: &TestApp, id: Uuid, at: i64) {
    agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::LastRunnerHeartbeatAt, Expr::value(at))
        .filter(agent_loop::Column::Id.eq(id))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
}

#[tokio::test]
async fn heartbeats_are_throttled_and_rejected_after_the_loop_ends() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let beat = async |runner: &TestClient| runner.post(&format!("/loops/{id}/heartbeat"), json!({})).await;
    assert_eq!(beat(&runner).await.failure(), (403, "Forbidden", "NOT_RUNNING"));
    runner.event(id, json!({"type": "started"})).await;
    assert_eq!(beat(&runner).await.data("bumped"), false, "the event counts as a heartbeat");
    // Heartbeats are stored only when the stored one is a few minutes old, to save writes.
    set_last_heartbeat(&plane, id, now() - 270_000).await;
    assert_eq!(beat(&runner).await.data("bumped"), true);
    plane.owner().await.post(&format!("/loops/{id}/cancel"), json!({})).await;
    assert_eq!(beat(&runner).await.failure(), (410, "Loop is no longer running", "TERMINAL_LOOP"));
}

#[tokio::test]
async fn uploaded_artifacts_are_merged_by_member() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let path = format!("/loops/{id}/upload-artifacts");
    let first = json!({"artifacts": {"plan": {"content": "# A"}}, "metadata": {"command": "plan"}});
    assert_eq!(runner.post(&path, first).await.json["data"], json!({"stored": true}));
    runner
        .post(&path, json!({"artifacts": {"openQuestions": "1. Why?"}, "metadata": {"sessionId": "s"}}))
        .await;
    let shown = plane.owner().await.get(&format!("/loops/{id}")).await;
    assert_eq!(
        shown.data("uploadedArtifacts"),
        &json!({"plan": {"content": "# A"}, "openQuestions": "1. Why?"})
    );
    assert_eq!(shown.data("metadata"), &json!({"command": "plan", "sessionId": "s"}));
    assert_eq!(runner.post(&path, json!({"artifacts": 5})).await.status, 400);
}

// CP-48
#[tokio::test]
async fn verdict_is_shown_even_when_null() {
    let plane = TestApp::start().await;
    for verdict in [json!({"verdict": "decline", "reason": "tests are missing"}), Value::Null] {
        let body = json!({"command": "CODE_REVIEW", "repo": shop()});
        let created = plane.owner().await.post("/loops", body).await;
        let id: Uuid = created.data("loopId").as_str().unwrap().parse().unwrap();
        let runner = plane.runner(id).await;
        runner.event(id, json!({"type": "started"})).await;
        let mut end = completed(3);
        end["result"]["verdict"] = verdict.clone();
        runner.event(id, end).await;
        let shown = plane.owner().await.get(&format!("/loops/{id}")).await;
        assert_eq!(
            (shown.data("status"), &shown.data("metadata")["verdict"]),
            (&json!("COMPLETED"), &verdict)
        );
        assert!(shown.data("metadata").as_object().unwrap().contains_key("verdict"));
    }
}
