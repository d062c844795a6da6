//! A control plane with something of everything that its routes are about, so that questions reach beyond the first
//! refusal.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use loopgate_testkit::control_plane::{ControlPlane, data};
use loopgate_testkit::loopgate::binary;
use serde_json::{Value, json};

use crate::{Options, Questions, check_for_panics};

const REPOSITORY: &str = "acme/shop";
/// Loops whose runners report; some end while they are asked about.
const LOOPS: usize = 20;
/// The first is a check of the hooks.
const CHECKS: &str = "named_server_errors,content_type_conformance,response_schema_conformance";

/// Whether nothing was found and the control plane is unharmed.
pub async fn ask(options: &Options) -> anyhow::Result<bool> {
    let directory = tempfile::tempdir()?;
    let plane = ControlPlane::start(&binary()?, directory.path()).await?;
    let known = fill(&plane).await?;
    let questions = Questions {
        origin: plane.origin().to_owned(),
        document: "/openapi.json",
        hooks: "control_plane",
        known: Some(known),
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
    let passed = crate::ask(options, &questions).await?;
    let answer = plane.request("GET", "/health/db").send().await?;
    ensure!(answer.status() == 200, "/health/db answers {}", answer.status());
    check_for_panics(&directory.path().join("data/logs"))?;
    plane.kill().await?;
    Ok(passed)
}

/// Makes what is asked about, and answers it as the hooks want it.
async fn fill(plane: &ControlPlane) -> anyhow::Result<Value> {
    let settings = json!({"maxConcurrentLoops": LOOPS + 30});
    data(plane.request("PUT", "/organization/settings").json(&settings).send().await?).await?;
    plane.post("/repositories", json!({"fullName": REPOSITORY})).await?;
    let mut desktop = plane.connect_desktop("asked", Duration::ZERO).await?;
    let mut runners = Vec::with_capacity(LOOPS);
    let mut documents = Vec::with_capacity(LOOPS);
    for number in 0..LOOPS {
        let made = plane.plan(&mut desktop, REPOSITORY, &format!("Wish {number}")).await?;
        runners.push(json!({"id": made.id, "token": made.token}));
        documents.push(made.document);
    }
    let agent = json!({"name": "Payments", "role": "payments-domain", "prompt": "Look at the money."});
    let agent = plane.post("/agents", agent).await?;
    let ticket = json!({"title": "A cart", "body": "With a total.", "repositories": [REPOSITORY]});
    let ticket = plane.post("/tickets", ticket).await?;
    let slug = |made: &Value| made["slug"].as_str().map(str::to_owned).context("a slug");
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
