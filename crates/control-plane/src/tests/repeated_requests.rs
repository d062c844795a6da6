//! Requests that a browser sends several times: after a lost response, or a second press of the button.

use futures_util::future::join_all;
use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use super::plane::shop;
use super::routes::documents::{feature, launched, plan, reached};
use super::{TestApp, TestClient};
use crate::store::entity::{agent_loop, document, keyed_request};

const START: &str = "/documents/run-loop";

fn request(content: &str) -> Value {
    let document = json!({"title": "Cart", "type": "FEATURE", "content": content, "repo": shop()});
    json!({"document": document, "run": {"command": "plan"}})
}

/// Returns the number of documents and of loops.
async fn counts(plane: &TestApp) -> (u64, u64) {
    let db = plane.app.store.reader();
    (document::Entity::find().count(db).await.unwrap(), agent_loop::Entity::find().count(db).await.unwrap())
}

fn keyed(owner: &TestClient, key: &str) -> TestClient {
    owner.with_header("idempotency-key", key)
}

#[tokio::test]
async fn document_and_loop_are_created_by_one_request_and_once() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = keyed(&plane.owner().await, "form-1");
    // All at once, as by a key that is held down.
    let sent = join_all((0..8).map(|_| owner.post(START, request("People need a cart.")))).await;
    for created in &sent {
        assert_eq!(created.status, 200, "{}", created.text);
        assert_eq!(created.data("loopId"), sent[0].data("loopId"));
    }
    assert_eq!(counts(&plane).await, (1, 1));
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    assert_eq!((sent[0].data("loopId"), &command["body"]["artifactSlug"]), (&json!(id), &json!("plan-1")));
    assert_eq!(runner.event(id, json!({"type": "started"})).await.status, 200);
}

#[tokio::test]
async fn refused_start_stores_no_document() {
    let plane = TestApp::start().await;
    let owner = keyed(&plane.owner().await, "form-1");
    let offline = owner.post(START, request("People need a cart.")).await;
    assert_ne!(offline.status, 200);
    assert_eq!(counts(&plane).await, (0, 0));
    let _desktop = plane.desktop().await;
    let mut execute = request("People need a cart.");
    execute["run"]["command"] = "execute".into();
    let no_plan = owner.post(START, execute).await;
    assert_eq!(no_plan.refused(), (400, "This document has no plan yet. Run plan first."));
    assert_eq!(counts(&plane).await, (0, 0));
    // A refused attempt leaves the key to the next one.
    assert_eq!(owner.post(START, request("People need a cart.")).await.status, 200);
    assert_eq!(counts(&plane).await, (1, 1));
}

#[tokio::test]
async fn key_with_another_request_is_refused() {
    let plane = TestApp::start().await;
    let _desktop = plane.desktop().await;
    let owner = keyed(&plane.owner().await, "form-1");
    assert_eq!(owner.post(START, request("People need a cart.")).await.status, 200);
    let other = owner.post(START, request("People need a basket.")).await;
    let text = "Idempotency key collision with different payload";
    assert_eq!(other.failure(), (409, text, "idempotency_key_collision"));
    for invalid in ["", " ", &"k".repeat(201)] {
        let refused = keyed(&owner, invalid).post(START, request("People need a cart.")).await;
        assert_eq!(refused.status, 400, "{invalid:?}");
    }
    // Keys of different people are different.
    let member = keyed(&plane.member("ben@example.org").await, "form-1");
    let theirs =
        member.post("/documents", json!({"title": "Other", "type": "FEATURE", "content": "Other"})).await;
    assert_eq!(theirs.status, 200, "{}", theirs.text);
}

#[tokio::test]
async fn key_expires_after_a_day() {
    let plane = TestApp::start().await;
    let owner = keyed(&plane.owner().await, "form-1");
    let body = json!({"title": "Cart", "type": "FEATURE", "content": "People need a cart."});
    let first = owner.post("/documents", body.clone()).await;
    assert_eq!(owner.post("/documents", body.clone()).await.data("id"), first.data("id"));
    let day = 24 * 60 * 60 * 1000;
    keyed_request::Entity::update_many()
        .col_expr(keyed_request::Column::CreatedAt, Expr::value(crate::store::now() - day))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
    assert_ne!(owner.post("/documents", body).await.data("id"), first.data("id"));
    let kept = keyed_request::Entity::find().count(plane.app.store.reader()).await.unwrap();
    assert_eq!(kept, 1, "the expired key is removed");
}

#[tokio::test]
async fn repeated_start_and_resume_return_the_same_loop() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;

    let form = keyed(&owner, "execute-1");
    let execute = || form.post("/documents/plan-1/run-loop", json!({"command": "execute", "version": 1}));
    let started = join_all((0..4).map(|_| execute())).await;
    let (_, id, runner) = launched(&plane, &mut desktop).await;
    for reply in &started {
        assert_eq!((reply.status.as_u16(), reply.data("loopId")), (200, &json!(id)), "{}", reply.text);
    }
    runner.event(id, json!({"type": "started"})).await;
    runner.event(id, json!({"type": "error", "code": "X", "message": "failed"})).await;
    reached(&plane, id, LoopStatus::Failed).await;
    // The response of a start that has ended in the meantime, not a second loop.
    let late = execute().await;
    assert_eq!((late.data("loopId"), late.data("status")), (&json!(id), &json!("FAILED")));

    let form = keyed(&owner, "answer-1");
    let path = format!("/loops/{id}/resume");
    let resumed = join_all((0..4).map(|_| form.post(&path, json!({"prompt": "Again"})))).await;
    let child = resumed[0].data("loopId").clone();
    for reply in &resumed {
        assert_eq!((reply.status.as_u16(), reply.data("loopId")), (200, &child), "{}", reply.text);
    }
    assert_eq!(counts(&plane).await.1, 3);
}

#[tokio::test]
async fn loop_without_a_launch_is_created_once() {
    let plane = TestApp::start().await;
    let form = keyed(&plane.owner().await, "loop-1");
    let create = || form.post("/loops", json!({"command": "PLAN", "prompt": "People need a cart."}));
    let created = join_all((0..4).map(|_| create())).await;
    for reply in &created {
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.data("loopId"), created[0].data("loopId"));
    }
    assert_eq!(counts(&plane).await.1, 1);
}
