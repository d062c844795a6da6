//! What a user adds to a request: files, model, agents, a spending limit, and the start without a plan.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use uuid::Uuid;

use super::documents::{launched, plan};
use crate::tests::plane::shop;
use crate::tests::{TestApp, TestClient};

const START: &str = "/documents/run-loop";

fn start(command: &str, attachments: Value, options: Value) -> Value {
    let mut run = json!({"command": command, "repo": shop()});
    run.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let document = json!({"title": "Cart", "type": "FEATURE", "content": "People need a cart.", "repo": shop(),
        "attachments": attachments});
    json!({"document": document, "run": run})
}

fn text(name: &str, content: &[u8]) -> Value {
    json!({"filename": name, "mimeType": "text/plain", "content": STANDARD.encode(content)})
}

async fn agent(owner: &TestClient, role: &str) {
    let body = json!({"name": role, "role": role, "prompt": "You know it.", "description": "Knows it"});
    let created = owner.post("/agents", body).await;
    assert_eq!(created.status, 200, "{}", created.text);
}

async fn fail(runner: &TestClient, id: Uuid) {
    for event in [json!({"type": "started"}), json!({"type": "error", "code": "X", "message": "failed"})] {
        assert_eq!(runner.event(id, event).await.status, 200);
    }
}

#[tokio::test]
async fn files_of_a_request_reach_its_loop_and_the_loop_on_its_plan() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let files = json!([text("notes.txt", b"Blue."), text("more notes.txt", b"")]);
    let started = owner.post(START, start("plan", files, json!({}))).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    let sent = command["body"]["attachments"].as_array().unwrap();
    assert_eq!(sent.len(), 2);
    assert_eq!((&sent[0]["filename"], &sent[0]["sizeBytes"]), (&json!("notes.txt"), &json!(5)));
    // SHA-256 of "Blue.", as sha256sum prints it.
    let digest = "2ae2753e675230921e42e120216ac40fad09202a0632543e238a36ef72500708";
    assert_eq!(sent[0]["sha256"], digest);
    let url = sent[0]["signedUrl"].as_str().unwrap().strip_prefix("http://127.0.0.1:19440").unwrap();
    assert_eq!(plane.anonymous().get(url).await.text, "Blue.");
    let shown = owner.get("/documents/feature-1").await;
    assert_eq!(shown.data("attachments")[0]["filename"], "notes.txt");
    assert_eq!(shown.data("attachments")[0]["sha256"], digest);

    fail(&runner, id).await;
    plan(&plane, &mut desktop, "feature-1").await;
    owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    let (command, ..) = launched(&plane, &mut desktop).await;
    assert_eq!(command["body"]["attachments"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn invalid_files_are_refused_and_nothing_is_stored() {
    let plane = TestApp::start().await;
    let _desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let many = vec![text("a.txt", b"a"); 11];
    let large = vec![text("a.txt", &vec![b'a'; 6 * 1024 * 1024]); 2];
    let program = json!({"filename": "a.exe", "mimeType": "application/octet-stream", "content": ""});
    for (files, message) in [
        (json!(many), "attachments: must have at most 10 items"),
        (json!(large), "attachments: must have at most 10 MiB in total"),
        (json!([program]), "attachments.0.mimeType"),
        (json!([text("", b"a")]), "attachments.0.filename"),
        (json!([text("a.txt", &[0xff])]), "attachments.0.content: must be UTF-8"),
        (json!([{"filename": "a", "mimeType": "text/plain", "content": "?"}]), "attachments[0].content"),
    ] {
        let refused = owner.post(START, start("plan", files, json!({}))).await;
        assert_eq!(refused.status, 400);
        assert!(refused.text.contains(message), "{message}: {}", refused.text);
    }
    assert_eq!(owner.get("/documents").await.json["data"], json!([]));
}

#[tokio::test]
async fn selected_model_agents_and_limit_apply_to_the_loop_and_to_those_that_continue_it() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    agent(&owner, "payments").await;
    agent(&owner, "search").await;
    let options = json!({"model": "opus", "maxSpendUsd": 2.5, "agents": ["payments"], "selfLearning": true});
    owner.post(START, start("plan", json!([]), options)).await;
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    let selected = |body: &Value| {
        let agents = body["agents"].as_array().map(|agents| agents.iter().map(|agent| agent["slug"].clone()));
        let agents = agents.into_iter().flatten().collect::<Vec<_>>();
        (body["model"].clone(), body["maxSpendUsd"].clone(), agents, body["selfLearning"].clone())
    };
    let expected = (json!("opus"), json!(2.5), vec![json!("payments")], json!(true));
    assert_eq!(selected(&command["body"]), expected);
    let shown = owner.get(&format!("/loops/{id}")).await;
    assert_eq!((shown.data("model"), shown.data("maxSpendUsd")), (&json!("opus"), &json!(2.5)));
    assert_eq!((shown.data("agents"), shown.data("selfLearning")), (&json!(["payments"]), &json!(true)));

    fail(&runner, id).await;
    let resumed = owner.post(&format!("/loops/{id}/resume"), json!({})).await;
    assert_eq!(resumed.status, 200, "{}", resumed.text);
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    assert_eq!(selected(&command["body"]), expected);

    // A smaller limit of the organization has precedence.
    let limits = json!({"spendingLimits": {"perLoopUsd": 1}});
    assert_eq!(owner.put("/organization/settings", limits).await.status, 200);
    fail(&runner, id).await;
    owner.post(&format!("/loops/{id}/resume"), json!({})).await;
    let (command, ..) = launched(&plane, &mut desktop).await;
    assert_eq!(command["body"]["maxSpendUsd"], json!(1.0));
}

#[tokio::test]
async fn invalid_options_are_refused() {
    let plane = TestApp::start().await;
    let _desktop = plane.desktop().await;
    let owner = plane.owner().await;
    for (options, message) in [
        (json!({"model": "--help"}), "model: must be the name of a model"),
        (json!({"model": "a b"}), "model: must be the name of a model"),
        (json!({"maxSpendUsd": 0}), "maxSpendUsd: must be more than 0"),
        (json!({"agents": vec!["a"; 101]}), "agents: must have at most 100 items"),
    ] {
        let refused = owner.post(START, start("plan", json!([]), options)).await;
        assert_eq!(refused.status, 400);
        assert!(refused.text.contains(message), "{message}: {}", refused.text);
    }
}

#[tokio::test]
async fn request_is_implemented_without_a_plan_if_its_user_allows_it() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let refused = owner.post(START, start("execute", json!([]), json!({}))).await;
    assert_eq!(refused.refused(), (400, "This document has no plan yet. Run plan first."));
    let started = owner.post(START, start("execute", json!([]), json!({"withoutPlan": true}))).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    let body = &command["body"];
    assert_eq!((&body["command"], &body["artifactSlug"]), (&json!("EXECUTE"), &json!("feature-1")));
    assert_eq!(body["artifacts"][0]["content"], "People need a cart.");
    let end = json!({"type": "completed", "result": {"exitCode": 0, "branchName": "orchestrator/feature-1"},
        "tokensUsed": {"input": 5, "output": 6}});
    runner.event(id, json!({"type": "started"})).await;
    assert_eq!(runner.event(id, end).await.status, 200);

    // A review of the work continues it without a plan, too.
    let changes = json!({"command": "execute", "prompt": "Make it blue.", "version": 1});
    let continued = owner.post("/documents/feature-1/run-loop", changes).await;
    assert_eq!(continued.status, 200, "{}", continued.text);
    let (command, ..) = launched(&plane, &mut desktop).await;
    assert_eq!(command["body"]["parentLoopId"], json!(id));
}
