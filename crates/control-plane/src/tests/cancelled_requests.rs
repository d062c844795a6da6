//! Requests that are dropped half-way, because the client disconnects or a time limit expires.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use sea_orm::sqlx::{self, Row as _};
use sea_orm::{ConnectionTrait as _, DbBackend};
use serde_json::json;

use crate::desktops::register::{self, DesktopRegistration};
use crate::store::Store;
use crate::tests::TestApp;

/// Polls a future so many times and drops it. Returns whether it has completed.
async fn drop_after(polls: usize, work: impl Future) -> bool {
    let mut work = pin!(work);
    let mut polled = 0;
    poll_fn(|cx| {
        if polled == polls {
            return Poll::Ready(false);
        }
        polled += 1;
        match work.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(true),
            // The last poll has started work that the drop interrupts.
            Poll::Pending if polled == polls => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Fails when a connection of the pool is inside a transaction. A later transaction on it would be a savepoint
/// of that one, and its commit would store nothing.
async fn check_pool(store: &Store) {
    let writer = store.writer();
    if writer.get_database_backend() == DbBackend::Sqlite {
        // Fails inside a transaction. The pool has one connection.
        writer.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
        writer.execute_unprepared("ROLLBACK").await.unwrap();
        return;
    }
    let pool = writer.get_postgres_connection_pool();
    let mut connections = Vec::new();
    for _ in 0..pool.size() {
        connections.push(pool.acquire().await.unwrap());
    }
    for connection in &mut connections {
        let mut ids = Vec::new();
        for _ in 0..2 {
            // Each statement outside a transaction is a transaction of its own.
            let row = sqlx::query("SELECT txid_current()").fetch_one(&mut **connection).await.unwrap();
            ids.push(row.get::<i64, _>(0));
        }
        assert_ne!(ids[0], ids[1], "the connection is inside a transaction");
    }
}

#[tokio::test]
async fn dropped_request_leaves_no_transaction_in_the_pool() {
    let plane = TestApp::start().await;
    let (owner, store) = (plane.owner().await, &plane.app.store);
    let body = json!({"title": "Cart", "type": "FEATURE", "content": "x"});
    let mut polls = 1;
    while !drop_after(polls, owner.post("/documents", body.clone())).await {
        check_pool(store).await;
        polls += 1;
        assert!(polls < 1000);
    }
    assert!(polls > 3, "the request was interrupted: {polls}");
    // What is answered afterwards is stored.
    let created = owner.post("/documents", body).await;
    let slug = created.data("slug").as_str().unwrap().to_owned();
    let app = plane.restart().await;
    assert_eq!(app.owner().await.get(&format!("/documents/{slug}")).await.status, 200);
}

#[tokio::test]
async fn dropped_registration_leaves_no_transaction_in_the_pool() {
    let plane = TestApp::start().await;
    let registration = DesktopRegistration {
        organization_id: plane.owner.organization_id,
        user_id: plane.owner.user_id,
        target_id: None,
        gateway_id: None,
        claimed_gateway_id: None,
        machine_name: "bench".to_owned(),
        platform: "linux".to_owned(),
        capabilities: json!({}),
        supported_operations: Vec::new(),
    };
    let store = &plane.app.store;
    let mut polls = 1;
    while !drop_after(polls, Box::pin(register::register(store, &registration))).await {
        check_pool(store).await;
        polls += 1;
        assert!(polls < 1000);
    }
    let listed = plane.owner().await.get("/compute-targets").await;
    assert_eq!(listed.json["data"].as_array().unwrap().len(), 1);
}
