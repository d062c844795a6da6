//! Launches and cancellations whose control plane was interrupted after it had answered the request.

use loopgate_api::job::LoopStatus;
use loopgate_api::link::event;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use serde_json::json;

use super::plane::shop;
use super::routes::documents::{feature, launched, reached};
use super::{TestApp, TestClient};
use crate::dispatch::{forward, launch_queue};
use crate::store::entity::{agent_loop, desktop_command, loop_launch};
use crate::store::now;

/// Creates a loop in the state that remains when the process is killed after it has answered the request: with
/// a launch that belongs to an instance that does not exist any more.
async fn interrupted(plane: &TestApp, owner: &TestClient, target: Uuid) -> Uuid {
    interrupted_with(plane, owner, target, |_| ()).await
}

async fn interrupted_with(
    plane: &TestApp,
    owner: &TestClient,
    target: Uuid,
    change: impl FnOnce(&mut loop_launch::ActiveModel),
) -> Uuid {
    let body = json!({"command": "PLAN", "documentId": "feature-1", "repo": shop()});
    let created = owner.post("/loops", body).await;
    let id: Uuid = created.data("loopId").as_str().unwrap().parse().unwrap();
    plane.set_column(id, agent_loop::Column::ComputeTargetId, target).await;
    let mut launch = loop_launch::ActiveModel {
        loop_id: Set(id),
        compute_target_id: Set(target),
        is_signed: Set(false),
        owner: Set(Some(Uuid::now_v7())),
        leased_until: Set(0),
        attempts: Set(1),
        created_at: Set(now()),
    };
    change(&mut launch);
    loop_launch::Entity::insert(launch).exec_without_returning(plane.app.store.writer()).await.unwrap();
    id
}

async fn error_message(owner: &TestClient, id: Uuid) -> String {
    owner.get(&format!("/loops/{id}")).await.data("error")["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn launch_of_a_dead_instance_is_taken_over() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let id = interrupted(&plane, &owner, desktop.target_id).await;
    let (command, started, runner) = launched(&plane, &mut desktop).await;
    assert_eq!(started, id);
    assert_eq!(plane.row(id).await.container_id.as_deref(), command["commandId"].as_str());
    assert_eq!(runner.event(id, json!({"type": "started"})).await.status, 200);
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Running);
    let left = loop_launch::Entity::find().count(plane.app.store.reader()).await.unwrap();
    assert_eq!(left, 0, "a launch is carried out once");
}

#[tokio::test]
async fn interrupted_launch_waits_for_its_desktop() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plane.disconnect(desktop.target_id).await;
    let id = interrupted(&plane, &owner, desktop.target_id).await;
    let plane = plane.restart().await;
    let mut desktop = plane.desktop_as(desktop.identity).await;
    assert_eq!(launched(&plane, &mut desktop).await.1, id);
}

#[tokio::test]
async fn launch_that_cannot_be_taken_over_fails_with_the_reason() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let signed =
        interrupted_with(&plane, &owner, desktop.target_id, |launch| launch.is_signed = Set(true)).await;
    reached(&plane, signed, LoopStatus::Failed).await;
    assert_eq!(
        error_message(&owner, signed).await,
        "The control plane was interrupted before it sent the signed command. Start the loop again."
    );
    let repeated =
        interrupted_with(&plane, &owner, desktop.target_id, |launch| launch.attempts = Set(5)).await;
    reached(&plane, repeated, LoopStatus::Failed).await;
    assert_eq!(
        error_message(&owner, repeated).await,
        "The launch was interrupted 5 times. Start the loop again."
    );
}

#[tokio::test]
async fn cancelled_launch_is_not_taken_over() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plane.disconnect(desktop.target_id).await;
    let id = interrupted(&plane, &owner, desktop.target_id).await;
    assert_eq!(owner.post(&format!("/loops/{id}/cancel"), json!({})).await.status, 200);
    assert_eq!(loop_launch::Entity::find().count(plane.app.store.reader()).await.unwrap(), 0);
}

#[tokio::test]
async fn launch_that_is_cancelled_while_its_desktop_is_offline_is_not_delivered() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    // The desktop receives the command, but the connection is lost before its acknowledgement.
    let command = desktop.expect(event::COMMAND).await;
    let id: Uuid = command["body"]["loopId"].as_str().unwrap().parse().unwrap();
    reached(&plane, id, LoopStatus::Claimed).await;
    plane.disconnect(desktop.target_id).await;
    assert_eq!(owner.post(&format!("/loops/{id}/cancel"), json!({})).await.status, 200);
    let plane = plane.restart().await;
    let mut desktop = plane.desktop_as(desktop.identity).await;
    // The kill was stored with the cancellation, so that it survives the restart. It is the first command.
    let kill = desktop.accept().await;
    assert_eq!(
        (&kill["operationId"], &kill["body"]["loopId"]),
        (&json!("orchestrator_loop_kill"), &json!(id))
    );
}

#[tokio::test]
async fn launch_command_that_no_desktop_receives_in_time_fails_its_loop() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let command = desktop.expect(event::COMMAND).await;
    let id: Uuid = command["body"]["loopId"].as_str().unwrap().parse().unwrap();
    launch_queue::expire_undelivered(&plane.app, now() + 4 * 60_000).await.unwrap();
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Claimed, "the command is still valid");
    launch_queue::expire_undelivered(&plane.app, now() + 6 * 60_000).await.unwrap();
    assert_eq!(
        error_message(&owner, id).await,
        "The machine did not connect in time to receive the loop. Start the loop again."
    );
    let open = desktop_command::Entity::find()
        .filter(desktop_command::Column::FinishedAt.is_null())
        .count(plane.app.store.reader());
    assert_eq!(open.await.unwrap(), 0);
}

#[tokio::test]
async fn event_of_a_cancelled_loop_tells_its_runner_to_stop() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let stored = runner.event(id, json!({"type": "started"})).await;
    assert!(stored.data("ended").is_null(), "{}", stored.text);
    assert_eq!(plane.owner().await.post(&format!("/loops/{id}/cancel"), json!({})).await.status, 200);
    let late = runner.event(id, json!({"type": "output", "chunk": "x"})).await;
    assert_eq!((late.data("ignored"), late.data("ended")), (&json!(true), &json!(true)), "{}", late.text);
    let last = runner.event(id, json!({"type": "cancelled", "timestamp": "2026-05-11T08:30:00.000Z"})).await;
    assert!(last.data("ended").is_null(), "the runner has stopped: {}", last.text);
}

// A request may arrive at any instance. The desktop is connected to one of them.
#[tokio::test]
async fn desktop_of_another_instance_receives_launches_commands_and_cancellations() {
    let plane = TestApp::start().await;
    let Some(other) = plane.second_instance().await else { return };
    let mut desktop = plane.desktop().await;
    let owner = other.owner().await;
    feature(&owner).await;
    let run = owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    assert_eq!(run.data("status"), "PENDING", "{}", run.text);
    let (_, id, _) = launched(&plane, &mut desktop).await;
    assert_eq!(owner.post(&format!("/loops/{id}/cancel"), json!({})).await.status, 200);
    let kill = desktop.accept().await;
    assert_eq!(kill["body"]["loopId"], id.to_string(), "{kill}");

    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let sent = owner.post(&commands, version_request()).await;
    let command = desktop.accept().await;
    assert_eq!(sent.data("commandId"), &command["commandId"], "{}", sent.text);
    let cancelled = format!("{commands}/{}/cancel", command["commandId"].as_str().unwrap());
    assert_eq!(owner.post(&cancelled, json!({})).await.status, 200);
    assert_eq!(desktop.expect(event::CANCEL).await["commandId"], command["commandId"]);
}

#[tokio::test]
async fn command_is_forwarded_until_its_desktop_acknowledges_it() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let sent = owner.post(&commands, version_request()).await;
    let id = sent.data("commandId").clone();
    assert_eq!(desktop.expect(event::COMMAND).await["commandId"], id);
    forward::forward(&plane.app, now() + 2_000).await.unwrap();
    let command = desktop.accept().await;
    assert_eq!(command["commandId"], id);
    desktop.report(&command, 1, "status", json!({"type": "status", "status": "running"})).await;
    forward::forward(&plane.app, now() + 2_000).await.unwrap();
    let next = owner.post(&commands, version_request()).await;
    assert_eq!(
        &desktop.accept().await["commandId"],
        next.data("commandId"),
        "an acknowledged one is not repeated"
    );
}

fn version_request() -> serde_json::Value {
    json!({"operationId": "version", "method": "GET", "path": "/api/gateway/version"})
}
