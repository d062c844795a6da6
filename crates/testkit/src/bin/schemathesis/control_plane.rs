//! Starts a control plane with objects of every kind, so that requests pass the first validation.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use loopgate_testkit::control_plane::{TestControlPlane, data};
use loopgate_testkit::loopgate::binary;
use serde_json::{Value, json};

use crate::{SchemaTest, SchemathesisOptions, check_for_panics};

const REPOSITORY: &str = "acme/shop";
/// Number of loops whose runners report. Some finish during the test.
const LOOPS: usize = 20;
/// The first check is defined in the hooks.
const CHECKS: &str = "named_server_errors,content_type_conformance,response_schema_conformance";

/// Runs schemathesis. Returns whether all checks passed, and fails when the control plane is damaged.
pub async fn run(options: &SchemathesisOptions) -> anyhow::Result<bool> {
    let directory = tempfile::tempdir()?;
    let plane = TestControlPlane::start(&binary()?, directory.path()).await?;
    let objects = fill(&plane).await?;
    let test = SchemaTest {
        origin: plane.origin().to_owned(),
        document: "/openapi.json",
        hooks: "control_plane",
        existing_objects: Some(objects),
        checks: CHECKS,
        headers: Vec::new(),
        excluded: &[
            "/loops/{id}/stream",
            "/compute-targets/status-stream",
            "/auth/sign-out",
            "/auth/password",
            "/sessions/{id}",
        ],
    };
    let passed = crate::run(options, &test).await?;
    let response = plane.request("GET", "/health/db").send().await?;
    ensure!(response.status() == 200, "/health/db returned {}", response.status());
    check_for_panics(&directory.path().join("data/logs"))?;
    plane.kill().await?;
    Ok(passed)
}

/// Creates objects of every kind, and returns them in the format that the hooks expect.
async fn fill(plane: &TestControlPlane) -> anyhow::Result<Value> {
    let settings = json!({"maxConcurrentLoops": LOOPS + 30});
    data(plane.request("PUT", "/organization/settings").json(&settings).send().await?).await?;
    plane.post("/repositories", json!({"fullName": REPOSITORY})).await?;
    let mut desktop = plane.connect_desktop("schemathesis", Duration::ZERO).await?;
    let mut runners = Vec::with_capacity(LOOPS);
    let mut documents = Vec::with_capacity(LOOPS);
    for number in 0..LOOPS {
        let runner = plane.plan(&mut desktop, REPOSITORY, &format!("Request {number}")).await?;
        runners.push(json!({"id": runner.id, "token": runner.token}));
        documents.push(runner.document);
    }
    let agent = json!({"name": "Payments", "role": "payments-domain", "prompt": "Look at the money."});
    let agent = plane.post("/agents", agent).await?;
    let ticket = json!({"title": "A cart", "body": "With a total.", "repositories": [REPOSITORY]});
    let ticket = plane.post("/tickets", ticket).await?;
    let slug = |object: &Value| object["slug"].as_str().map(str::to_owned).context("the object has no slug");
    Ok(json!({
        "session": plane.session(),
        "origin": plane.origin(),
        "runners": runners,
        "targets": [desktop.target],
        "documents": documents,
        "agents": [slug(&agent)?],
        "tickets": [slug(&ticket)?],
        "repository": REPOSITORY,
    }))
}
