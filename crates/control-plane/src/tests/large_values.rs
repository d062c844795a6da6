//! Large values of loops, long lists, and the usage of many loops.

use loopgate_api::job::LoopStatus;
use sea_orm::ActiveValue::Set;
use sea_orm::QuerySelect;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use super::plane::shop;
use super::{TestApp, TestClient};
use crate::store::column::StoredEnum;
use crate::store::entity::loop_event::{self, EventSource};
use crate::store::entity::{agent_loop, document, loop_artifact, usage_day};
use crate::store::now;

const MARKER: &str = "large-value";

fn large() -> String {
    format!("{MARKER} ").repeat(100_000)
}

/// Runs a PLAN loop on the document of a ticket, with a large prompt, metadata, plan and result.
async fn planned(plane: &TestApp) -> (String, Uuid) {
    let owner = plane.owner().await;
    let ticket = owner.post("/tickets", json!({"title": "Cart", "body": "A cart.", "repo": shop()})).await;
    let ticket = ticket.data("id").as_str().unwrap().to_owned();
    let prompt = format!("{MARKER} ").repeat(8_000);
    let body = json!({"command": "PLAN", "documentId": ticket, "repo": shop(), "prompt": prompt});
    let id: Uuid = owner.post("/loops", body).await.data("loopId").as_str().unwrap().parse().unwrap();
    let runner = plane.runner(id).await;
    runner.event(id, json!({"type": "started"})).await;
    let artifacts = json!({"plan": {"content": large(), "raw": {"text": large()}}, "notes": large()});
    let metadata = json!({"notes": format!("{MARKER} ").repeat(50_000)});
    let upload = json!({"artifacts": artifacts, "metadata": metadata});
    assert_eq!(runner.post(&format!("/loops/{id}/upload-artifacts"), upload).await.status, 200);
    let end = json!({"type": "completed", "result": {"verdict": large()}, "apiKeySource": "none",
        "cost": {"totalUsd": 1.5}, "tokensUsed": {"input": 1, "output": 1},
        "tokensByModel": {large(): {"input": 1, "output": 1}}});
    assert_eq!(runner.event(id, end).await.status, 200);
    (ticket, id)
}

#[tokio::test]
async fn lists_contain_no_large_values() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (ticket, id) = planned(&plane).await;
    let excerpt = format!("{MARKER} ").repeat(8_000).chars().take(200).collect::<String>();
    let plan = owner.get(&format!("/tickets/{ticket}")).await;
    let plan = plan.data("plan")["slug"].as_str().unwrap().to_owned();
    let lists = ["/loops", "/documents", "/tickets"].map(str::to_owned).into_iter().chain([
        format!("/tickets/{ticket}"),
        format!("/documents/{ticket}"),
        format!("/documents/{plan}/versions"),
    ]);
    for list in lists {
        let reply = owner.get(&list).await;
        assert_eq!(reply.status, 200, "{list}");
        let rest = reply.text.replacen(&excerpt, "", 2);
        assert!(!rest.contains(MARKER) && rest.len() < 5_000, "{list}: {} bytes", reply.text.len());
    }
    let listed = owner.get("/loops").await;
    let listed = &listed.json["data"][0];
    assert_eq!(listed["promptExcerpt"], excerpt);
    assert_eq!((&listed["reportedCost"], &listed["apiKeySource"]), (&json!(1.5), &json!("none")));

    let shown = owner.get(&format!("/loops/{id}")).await;
    assert_eq!(shown.data("prompt").as_str().unwrap().len(), 96_000);
    assert_eq!(shown.data("uploadedArtifacts")["plan"]["content"], large());
    assert_eq!(shown.data("metadata")["verdict"], large());
    assert!(shown.data("tokensByModel").as_object().unwrap().contains_key(&large()));
    // The versions of a document are read one by one.
    let version = owner.get(&format!("/documents/{plan}/versions/1")).await;
    assert_eq!((version.data("content"), version.data("raw")), (&json!(large()), &json!({"text": large()})));
    assert_eq!(owner.get(&format!("/documents/{plan}")).await.data("content"), &json!(large()));
}

/// Every event updates the row of its loop, and both databases write or read a row completely.
#[tokio::test]
async fn rows_of_loops_stay_small() {
    let plane = TestApp::start().await;
    let (_, id) = planned(&plane).await;
    let row = format!("{:?}", plane.row(id).await);
    assert!(row.len() < 4_000, "{} bytes", row.len());

    let (failed, runner) = plane.running("PLAN").await;
    runner.event(failed, json!({"type": "started", "sessionId": large()})).await;
    let error =
        json!({"type": "error", "code": "PROCESS_FAILED", "message": large(), "result": {"text": large()}});
    assert_eq!(runner.event(failed, error).await.status, 200);
    let row = format!("{:?}", plane.row(failed).await);
    assert!(row.len() < 10_000, "{} bytes", row.len());
}

#[tokio::test]
async fn uploads_are_limited_by_their_sum_and_kept_as_they_are() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, runner) = plane.running("PLAN").await;
    let upload = async |artifacts: Value| {
        runner.post(&format!("/loops/{id}/upload-artifacts"), json!({"artifacts": artifacts})).await
    };
    let part = "x".repeat(11_000_000);
    assert_eq!(upload(json!({"plan": part})).await.status, 200);
    let refused = upload(json!({"notes": part})).await;
    assert_eq!((refused.status.as_u16(), refused.failure().2), (413, "artifacts_too_large"));
    // An artifact of the same name is replaced, so it does not count twice.
    assert_eq!(upload(json!({"plan": part})).await.status, 200);
    let values =
        json!({"plan": {"nested": [1, null, true, "\u{fffd}", {"a": 1.5}]}, "flag": false, "none": null});
    assert_eq!(upload(values.clone()).await.status, 200);
    assert_eq!(owner.get(&format!("/loops/{id}")).await.data("uploadedArtifacts"), &values);
    let stored: Vec<i64> = loop_artifact::Entity::find()
        .select_only()
        .column(loop_artifact::Column::Bytes)
        .filter(loop_artifact::Column::Name.eq("flag"))
        .into_tuple()
        .all(plane.app.store.reader())
        .await
        .unwrap();
    assert_eq!(stored, [9]);
}

#[tokio::test]
async fn requests_do_not_wait_for_waiting_uploads() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let permit = plane.app.uploads.acquire().await.unwrap();
    let body = json!({"artifacts": {"plan": {"content": "# Plan"}}});
    let path = format!("/loops/{id}/upload-artifacts");
    let upload = runner.post(&path, body);
    tokio::pin!(upload);
    let event = tokio::select! {
        biased;
        reply = &mut upload => panic!("stored during another upload: {}", reply.text),
        reply = runner.event(id, json!({"type": "output", "chunk": "x"})) => reply,
    };
    assert_eq!(event.status, 200);
    drop(permit);
    assert_eq!(upload.await.status, 200);
}

async fn pages(owner: &TestClient, list: &str) -> Vec<String> {
    let mut slugs = Vec::new();
    let mut position = String::new();
    loop {
        let page = owner.get(&format!("{list}?limit=2{position}")).await;
        let rows = page.json["data"].as_array().unwrap_or_else(|| panic!("{}", page.text));
        let Some(last) = rows.last() else { return slugs };
        let text = |name: &str| last[name].as_str().unwrap().to_owned();
        position = format!("&before={}&beforeId={}", text("updatedAt"), text("id"));
        slugs.extend(rows.iter().map(|row| row["slug"].as_str().unwrap().to_owned()));
    }
}

#[tokio::test]
async fn documents_and_tickets_are_paginated_by_cursor() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    for number in 1..=55 {
        let created = owner.post("/tickets", json!({"title": format!("T{number}"), "body": "x"})).await;
        assert_eq!(created.status, 200);
    }
    for list in ["/documents", "/tickets"] {
        let count = async |query: &str| {
            owner.get(&format!("{list}{query}")).await.json["data"].as_array().unwrap().len()
        };
        assert_eq!((count("").await, count("?limit=200").await), (50, 55), "{list}");
        for query in ["limit=0", "limit=201", "before=yesterday", "beforeId=x"] {
            let refused = owner.get(&format!("{list}?{query}")).await;
            assert!(refused.refused().1.starts_with("Invalid query parameters: "), "{list}?{query}");
        }
        let lone = format!("{list}?beforeId={}", Uuid::nil());
        assert_eq!(
            owner.get(&lone).await.refused(),
            (400, "Invalid query parameters: beforeId requires before")
        );
    }
    // Three documents changed in the same millisecond, so that the id is the tie-break.
    document::Entity::update_many()
        .col_expr(document::Column::UpdatedAt, Expr::value(1_700_000_000_000_i64))
        .filter(document::Column::Number.lte(3))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
    for (list, prefix) in [("/documents", "feature"), ("/tickets", "ticket")] {
        let slugs = pages(&owner, list).await;
        let expected: Vec<String> = (1..=55).rev().map(|number| format!("{prefix}-{number}")).collect();
        assert_eq!(slugs[52..], expected[52..], "{list}");
        assert_eq!(slugs.iter().collect::<std::collections::HashSet<_>>().len(), 55, "{list}");
        assert_eq!(slugs.len(), 55, "{list}");
    }
}

#[tokio::test]
async fn events_are_limited_without_a_query() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, _) = plane.running("PLAN").await;
    for sequence in 1..=501_i64 {
        let row = loop_event::ActiveModel {
            id: Set(Uuid::now_v7()),
            loop_id: Set(id),
            sequence: Set(sequence),
            kind: Set("output".to_owned()),
            source: Set(StoredEnum(EventSource::Internal)),
            event_id: Set(sequence.to_string()),
            data: Set(json!({"chunk": "x"})),
            runner_token_jti: Set(None),
            runner_nonce: Set(None),
            created_at: Set(now()),
        };
        loop_event::Entity::insert(row).exec_without_returning(plane.app.store.writer()).await.unwrap();
    }
    let path = format!("/loops/{id}/events");
    let first = owner.get(&path).await;
    let first = first.json["data"].as_array().unwrap();
    assert_eq!((first.len(), &first[499]["sequence"]), (500, &json!(500)));
    let rest = owner.get(&format!("{path}?after=500")).await;
    assert_eq!(rest.json["data"][0]["sequence"], 501);
    assert_eq!(owner.get(&format!("{path}?after=501")).await.json["data"], json!([]));
    assert_eq!(owner.get(&format!("{path}?after=3&limit=1")).await.json["data"][0]["sequence"], 4);
}

fn completed(input: u64) -> Value {
    json!({"type": "completed", "result": {}, "tokensUsed": {"input": input, "output": 1},
        "tokensByModel": {"sonnet": {"input": input, "output": 1, "cacheRead": 2}}})
}

async fn input_tokens(owner: &TestClient) -> (i64, i64) {
    let usage = owner.get("/loops/usage").await;
    let number = |name: &str| usage.data(name).as_i64().unwrap_or_else(|| panic!("{}", usage.text));
    (number("totalLoops"), number("totalTokensInput"))
}

#[tokio::test]
async fn usage_counts_each_loop_once_whatever_happens_to_it() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (resumed, runner) = plane.running("PLAN").await;
    runner.event(resumed, json!({"type": "started"})).await;
    let output = json!({"type": "output", "chunk": "x", "tokenUsage": {"inputTokens": 5, "outputTokens": 1}});
    runner.event(resumed, output.clone()).await;
    assert_eq!(input_tokens(&owner).await, (1, 5), "an active loop counts");
    // The reaper ends the loop, its runner resumes it, and completes it.
    let sequence = async |kind: LoopStatus| {
        let tx = plane.app.store.begin().await.unwrap();
        let members = json!({"reaper": {"reason": "desktop_heartbeat_stale"}});
        crate::loop_state::end(&tx, resumed, kind, json!({"code": "TIMED_OUT"}), members).await.unwrap();
        tx.commit().await.unwrap();
    };
    sequence(LoopStatus::TimedOut).await;
    assert_eq!(input_tokens(&owner).await, (1, 5));
    runner.event(resumed, output).await;
    assert_eq!(plane.row(resumed).await.status.0, LoopStatus::Running);
    assert_eq!(input_tokens(&owner).await, (1, 5));
    assert_eq!(runner.event(resumed, completed(9)).await.status, 200);
    assert_eq!(input_tokens(&owner).await, (1, 9));

    // A cancelled loop whose runner reports later that the work was completed.
    let (cancelled, runner) = plane.running("PLAN").await;
    runner.event(cancelled, json!({"type": "started"})).await;
    owner.post(&format!("/loops/{cancelled}/cancel"), json!({})).await;
    assert_eq!(input_tokens(&owner).await, (2, 9));
    assert_eq!(runner.event(cancelled, completed(u64::MAX)).await.status, 200);
    // The number of tokens is limited, so that sums stay within the range of their column.
    assert_eq!(input_tokens(&owner).await, (2, 9 + 1_000_000_000_000));
}

/// The cost of the report must not depend on the number of finished loops, so it does not read them.
#[tokio::test]
async fn usage_does_not_read_finished_loops() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    assert_eq!(runner.event(id, completed(9)).await.status, 200);
    let before = owner.get("/loops/usage").await;
    agent_loop::Entity::delete_by_id(id).exec(plane.app.store.writer()).await.unwrap();
    let after = owner.get("/loops/usage").await;
    assert_eq!(after.text, before.text);
    assert_eq!((after.data("totalTokensInput"), after.data("totalCacheReadTokens")), (&json!(9), &json!(2)));
    assert_eq!(usage_day::Entity::find().count(plane.app.store.reader()).await.unwrap(), 1);
}
