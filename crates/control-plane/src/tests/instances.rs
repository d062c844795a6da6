//! Several instances that share a PostgreSQL database. SQLite has one process.

use std::time::Duration;

use loopgate_api::link::close;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use serde_json::json;

use super::routes::documents::{feature, launched};
use super::{LinkedDesktop, TestApp};
use crate::bus::{Bus as _, PostgresBus, Topic, channel_name};
use crate::desktops::connections;
use crate::store::entity::{compute_target, desktop_connection, instance};

async fn is_online(plane: &TestApp, target: Uuid) -> bool {
    let row = compute_target::Entity::find_by_id(target).one(plane.app.store.reader()).await.unwrap();
    row.unwrap().is_online
}

async fn holder(plane: &TestApp, target: Uuid) -> Option<Uuid> {
    let row = desktop_connection::Entity::find_by_id(target).one(plane.app.store.reader()).await.unwrap();
    row.map(|row| row.instance_id)
}

/// Connects the same desktop to another instance, without ending its connection to the first.
async fn connect_to(plane: &TestApp, desktop: &LinkedDesktop) -> LinkedDesktop {
    plane.desktop_as(desktop.identity.clone()).await
}

#[tokio::test]
async fn notifications_reach_other_instances_and_survive_a_lost_connection() {
    let plane = TestApp::start().await;
    let config = &plane.app.config;
    if plane.app.store.is_embedded() {
        return;
    }
    let start =
        || PostgresBus::start(&config.database_url, config.database_schema.as_deref(), Uuid::now_v7());
    let (sender, receiver) = (start().unwrap(), start().unwrap());
    let id = Uuid::now_v7();
    let mut wake = receiver.subscribe(Topic::Loop(id));
    let mut desktops = receiver.desktops();
    // Connected: everything is read once.
    wake.changed().await.unwrap();
    assert!(desktops.next().await.contains(Uuid::nil()));
    sender.publish(Topic::Loop(id));
    sender.publish(Topic::Desktop(id));
    wake.changed().await.unwrap();
    assert!(desktops.next().await.contains(id));
    let channel = channel_name(config.database_schema.as_deref());
    let listeners = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN \"{channel}\"'"
    );
    let terminated = plane.app.store.writer().execute_unprepared(&listeners).await.unwrap();
    assert!(terminated.rows_affected() >= 2, "{}", terminated.rows_affected());
    wake.changed().await.unwrap();
    assert!(desktops.next().await.contains(Uuid::nil()), "notifications may have been lost");
    sender.publish(Topic::Loop(id));
    sender.close().await;
    wake.changed().await.unwrap();
    receiver.close().await;
}

#[tokio::test]
async fn newer_connection_at_another_instance_supersedes_the_older_one() {
    let plane = TestApp::start().await;
    let Some(other) = plane.second_instance().await else { return };
    let mut old = plane.desktop().await;
    let target = old.target_id;
    assert_eq!(holder(&plane, target).await, Some(plane.app.instance_id));
    let mut new = connect_to(&other, &old).await;
    assert_eq!(new.target_id, target);
    assert_eq!(old.close_code().await, close::SUPERSEDED);
    // The end of the old connection changes nothing and publishes no topic.
    while plane.app.desktops.is_connected(target) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(holder(&plane, target).await, Some(other.app.instance_id));
    assert!(is_online(&plane, target).await);

    let owner = plane.owner().await;
    feature(&owner).await;
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    launched(&other, &mut new).await;
    other.disconnect(target).await;
    assert_eq!(holder(&plane, target).await, None);
    assert!(!is_online(&plane, target).await);
}

#[tokio::test]
async fn desktop_that_is_removed_at_another_instance_is_disconnected() {
    let plane = TestApp::start().await;
    let Some(other) = plane.second_instance().await else { return };
    let mut desktop = plane.desktop().await;
    let removed = other.owner().await.delete(&format!("/compute-targets/{}", desktop.target_id)).await;
    assert_eq!(removed.status, 200, "{}", removed.text);
    desktop.close_code().await;
}

#[tokio::test]
async fn desktops_of_a_dead_instance_are_offline() {
    let plane = TestApp::start().await;
    let Some(other) = plane.second_instance().await else { return };
    // Kept: it would disconnect.
    let desktop = plane.desktop().await;
    let target = desktop.target_id;
    let db = plane.app.store.writer();
    let dead = instance::Model { id: Uuid::now_v7(), version: "0.0.0".to_owned(), seen_at: i64::MAX };
    instance::Entity::insert(instance::ActiveModel::from(dead.clone())).exec(db).await.unwrap();
    connections::open(&plane.app.store, target, Uuid::now_v7(), dead.id).await.unwrap();
    connections::bury(&other.app).await.unwrap();
    assert!(is_online(&plane, target).await);
    let silent = instance::ActiveModel { seen_at: Set(0), ..dead.into() };
    instance::Entity::update(silent).exec(db).await.unwrap();
    connections::bury(&other.app).await.unwrap();
    assert!(!is_online(&plane, target).await);
    assert_eq!(holder(&plane, target).await, None);
}

#[tokio::test]
async fn instance_that_was_considered_dead_stores_its_connections_again() {
    let plane = TestApp::start().await;
    if plane.app.store.is_embedded() {
        return;
    }
    // Kept: it would disconnect.
    let desktop = plane.desktop().await;
    let target = desktop.target_id;
    let mut wake = plane.app.bus.subscribe(Topic::Organization(plane.owner.organization_id));
    let db = plane.app.store.writer();
    instance::Entity::delete_many().exec(db).await.unwrap();
    connections::bury(&plane.app).await.unwrap();
    connections::report(&plane.app).await.unwrap();
    while !is_online(&plane, target).await || holder(&plane, target).await != Some(plane.app.instance_id) {
        wake.changed().await.unwrap();
    }
}
