//! Callbacks to the control plane during a launch: when they are sent, with which token, and how they affect
//! the launch.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::LaunchFixture;
use crate::bad_input::{API_KEY, DENIED, LOOP, status_and_body};
use crate::test_system::wait_for_loop_processes;

/// Timeout for a refusal that must not wait for the control plane. An event may take much longer.
const IMMEDIATE: Duration = Duration::from_secs(10);

// OR-45, OR-46, LR-25
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn local_loop_starts_only_when_its_events_are_accepted() -> Result<()> {
    let fixture = LaunchFixture::new().await?;
    fixture.cloud.answer_always("events", 500, json!({"success": false, "error": "down"}));
    let text =
        "Cannot start local loop: cloud callback path is unavailable. Check connectivity and retry. (…";
    for command in ["EXECUTE", "PLAN"] {
        let change = |body: &mut Value| {
            body["command"] = json!(command);
            body["artifactSlug"] = json!("SHOP-7");
        };
        fixture.refuses(change, 503, text, "unavailable", None).await?;
    }
    fixture.nothing_remains().await?;

    // A loop over the link starts anyway: its events are stored and sent later.
    let id = LoopId(Uuid::new_v4());
    let body = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "t", "artifacts": [],
        "prompt": story::REQUEST, "artifactSlug": "SHOP-7", "repo": {"fullName": story::REPOSITORY}});
    let request = fixture.loopgate.gateway(Method::POST, LOOP).header("x-desktop-source", "cloud-socket");
    let (status, started) = status_and_body(request.json(&body).send().await?).await?;
    ensure!(status == 200 && started["success"] == true, "{status} {started}");
    fixture.cloud.answer_successfully();
    ensure!(fixture.kill(id).await?.0 == 200);
    wait_for_loop_processes(&id.to_string()).await?;
    let end = fixture.cloud.wait_for(|cloud| (!cloud.events(id, "error").is_empty()).then_some(()));
    tokio::time::timeout(wait::LIMIT, end).await.context("no terminal event")?;
    ensure!(fixture.cloud.events(id, "started").len() == 1);
    ensure!(fixture.cloud.events(id, "error")[0]["code"] == "CANCELLED");
    Ok(())
}

// OR-48, OR-54, LR-62
// `loopGateAuthToken` is a deprecated spelling that is still accepted; the current one takes precedence.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn token_is_accepted_under_both_names() -> Result<()> {
    let fixture = LaunchFixture::new().await?;
    let elsewhere = Cloud::start().await?;
    for (tokens, expected) in [
        (json!({"loopgateAuthToken": "new"}), "new"),
        (json!({"loopGateAuthToken": "old"}), "old"),
        (json!({"loopgateAuthToken": "new", "loopGateAuthToken": "old"}), "new"),
        (json!({"loopgateAuthToken": null, "loopGateAuthToken": "old"}), "old"),
    ] {
        let id = LoopId(Uuid::new_v4());
        let mut body = json!({"loopId": id, "command": "PLAN", "artifacts": [], "prompt": story::REQUEST,
            "repo": {"fullName": story::REPOSITORY, "branch": "main"},
            // The origin in the request is ignored, so that a request cannot redirect callbacks.
            "apiBaseUrl": elsewhere.origin()});
        for (name, value) in tokens.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let (status, started) = fixture.order(&body).await?;
        ensure!(status == 200, "{tokens}: {status} {started}");
        let events = fixture.cloud.accepted(id, "events");
        ensure!(events.first().is_some_and(|event| event.body["type"] == "started"), "{events:?}");
        ensure!(events.iter().all(|event| event.token == expected), "{tokens}: {events:?}");
        ensure!(fixture.kill(id).await?.0 == 200);
        wait_for_loop_processes(&id.to_string()).await?;
    }
    ensure!(elsewhere.requests().is_empty(), "{:?}", elsewhere.requests());
    let neither = json!({"loopId": Uuid::new_v4(), "command": "PLAN", "artifacts": []});
    let missing = json!({"error": "Missing required fields: loopId, command, loopgateAuthToken",
        "code": "missing_field"});
    ensure!(fixture.order(&neither).await? == (400, missing));
    ensure!(fixture.clone.join(".git").is_dir());
    Ok(())
}

// LR-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_launch_is_not_reported() -> Result<()> {
    let fixture = LaunchFixture::new().await?;
    let id = LoopId(Uuid::new_v4());
    for (sent, code) in [
        ("{".to_owned(), "invalid_json_body"),
        (json!({"loopId": id, "command": "PLAN", "artifacts": []}).to_string(), "missing_field"),
        (
            json!({"loopId": id, "command": "CHAT", "artifacts": [], "loopgateAuthToken": "t"}).to_string(),
            "invalid_request",
        ),
    ] {
        let answer = fixture.loopgate.gateway(Method::POST, LOOP).body(sent).send().await?;
        let (status, refused) = status_and_body(answer).await?;
        ensure!(status == 400 && refused["code"] == code, "{status} {refused}");
    }
    ensure!(fixture.cloud.requests().is_empty(), "{:?}", fixture.cloud.requests());
    fixture.nothing_remains().await
}

// LR-26
// The refusal is returned to the caller without waiting for the control plane.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_control_plane_does_not_delay_refusals() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    testbed.add_story()?;
    // A listener that accepts connections and never responds.
    let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let setup = testbed.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate")).gateway_alone();
    let origin = format!("http://{}", silent.local_addr()?);
    let loopgate = setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(origin).start().await?;
    let body = json!({"loopId": Uuid::new_v4(), "command": "EXECUTE", "loopgateAuthToken": "a-runner-token",
        "artifacts": [], "prompt": "Do it", "localRepoPath": "/etc"});
    let request = loopgate.gateway(Method::POST, LOOP).json(&body).timeout(IMMEDIATE);
    let (status, refused) =
        status_and_body(request.send().await.context("the refusal waits for the control plane")?).await?;
    ensure!(status == 403 && refused["error"] == DENIED.0, "{status} {refused}");
    drop(silent);
    Ok(())
}
