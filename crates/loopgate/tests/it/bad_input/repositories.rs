//! The list of repositories: refused changes, a corrupt file, and concurrent writers.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::loopgate::Loopgate;
use reqwest::Method;
use serde_json::{Value, json};

use super::{DENIED, REPOS, check, post, row, too_large};
use crate::test_system::TestSystem;

async fn listed(loopgate: &Loopgate) -> Result<Value> {
    let answer = loopgate.gateway(Method::GET, REPOS).send().await?;
    ensure!(answer.status() == 200, "{}", answer.status());
    Ok(answer.json().await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_request_leaves_the_list_unchanged() -> Result<()> {
    let system = TestSystem::story().await?;
    let before = listed(&system.loopgate).await?;
    let refused = |method: Method, path: &str, sent: &str, status: u16, error: &str, code: &str| {
        row(method, path, sent, status, json!({"error": error, "code": code}))
    };
    let required = "path is required and must be a string";
    let rows = vec![
        post(REPOS, "{", 400, "Invalid JSON body", "invalid_json_body"),
        post(REPOS, "null", 400, "Invalid JSON body", "invalid_json_body"),
        post(REPOS, "", 400, required, "missing_field"),
        post(REPOS, "[]", 400, required, "missing_field"),
        post(REPOS, "5", 400, required, "missing_field"),
        post(REPOS, r#"{"path":5}"#, 400, required, "missing_field"),
        post(REPOS, r#"{"path":""}"#, 400, required, "missing_field"),
        // The error for a path outside the sandbox does not disclose whether it exists.
        post(REPOS, r#"{"path":"/etc"}"#, 403, DENIED.0, DENIED.1),
        post(REPOS, r#"{"path":"/no/such/place"}"#, 403, DENIED.0, DENIED.1),
        post(REPOS, r#"{"path":"relative"}"#, 403, DENIED.0, DENIED.1),
        post(
            REPOS,
            json!({"path": system.clone.join("missing")}),
            400,
            "Path does not exist",
            "invalid_request",
        ),
        post(
            REPOS,
            json!({"path": system.clone.join("README.md")}),
            400,
            "Path must be a directory",
            "invalid_request",
        ),
        post(REPOS, json!({"path": system.clone}), 400, "Repository already configured", "invalid_request"),
        refused(Method::DELETE, REPOS, "", 400, "path query parameter is required", "missing_field"),
        refused(
            Method::DELETE,
            &format!("{REPOS}?path=%2Fnot%2Flisted"),
            "",
            400,
            "Repository not found",
            "invalid_request",
        ),
        refused(Method::PATCH, REPOS, "{", 400, "Invalid JSON body", "invalid_json_body"),
        refused(Method::PATCH, REPOS, "", 400, "No settings to update", "invalid_request"),
        refused(
            Method::PATCH,
            REPOS,
            r#"{"worktreeParentDir":5,"worktreeParentDirConfirmed":"yes"}"#,
            400,
            "No settings to update",
            "invalid_request",
        ),
        refused(Method::PATCH, REPOS, r#"{"worktreeParentDir":"/etc"}"#, 403, DENIED.0, DENIED.1),
        too_large(REPOS, 262_145, 262_144),
        // A body of exactly the maximum size is read and then refused as invalid JSON.
        post(REPOS, "x".repeat(262_144), 400, "Invalid JSON body", "invalid_json_body"),
    ];
    check(&system.loopgate, rows).await?;
    assert_eq!(listed(&system.loopgate).await?, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn corrupt_list_is_quarantined_and_replaced() -> Result<()> {
    let system = TestSystem::story().await?;
    let folder = system.testbed.sandbox().join(".loopgate/config");
    let file = folder.join("repos.json");
    let corrupt = || -> Result<Vec<String>> {
        let mut contents = Vec::new();
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("repos.json.corrupt-") {
                contents.push(std::fs::read_to_string(entry.path())?);
            }
        }
        Ok(contents)
    };
    std::fs::write(&file, "{")?;
    assert_eq!(listed(&system.loopgate).await?["repos"], json!([]));
    assert_eq!(corrupt()?, ["{"], "the corrupt content was lost");
    let answer =
        system.loopgate.gateway(Method::POST, REPOS).json(&json!({"path": system.clone})).send().await?;
    assert_eq!(answer.status(), 200);
    let written: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    assert_eq!(written["repos"].as_array().map(Vec::len), Some(1));

    // Entries of other programs that cannot be parsed are skipped when reading and preserved when writing.
    std::fs::write(&file, json!({"repos": [5, {"path": system.clone}, {"name": "x"}]}).to_string())?;
    assert_eq!(listed(&system.loopgate).await?["repos"].as_array().map(Vec::len), Some(1));
    assert_eq!(corrupt()?.len(), 1);
    let settings = json!({"worktreeParentDirConfirmed": true});
    assert_eq!(system.loopgate.gateway(Method::PATCH, REPOS).json(&settings).send().await?.status(), 200);
    let written: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    assert_eq!(
        written["repos"],
        json!([5, {"path": system.clone}, {"name": "x"}]),
        "a change dropped unreadable entries"
    );
    assert!(
        system.loopgate.output().contains("repos.json"),
        "the output does not name the file: {}",
        system.loopgate.output()
    );
    Ok(())
}

// Two gateways with separate homes and one sandbox write to the same files concurrently.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_processes_lose_no_entry() -> Result<()> {
    const EACH: usize = 12;
    let first = crate::test_gateway::TestGateway::new().await?;
    let sandbox = first.at("");
    let second = crate::test_gateway::TestGateway::with(|setup| {
        setup.env("LOOPGATE_SANDBOX", &sandbox).without_sandbox()
    })
    .await?;
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..2 * EACH {
        let repository = first.at(&format!("many-{number}"));
        std::fs::create_dir_all(&repository)?;
        let gateway = if number % 2 == 0 { &first } else { &second };
        let request = gateway.loopgate.gateway(Method::POST, REPOS).json(&json!({"path": repository}));
        writers.spawn(async move { request.send().await.map(|answer| answer.status().as_u16()) });
    }
    while let Some(status) = writers.join_next().await {
        assert_eq!(status??, 200);
        // Writers replace the file by a rename, so a reader never sees a part of it.
        let file = std::fs::read(first.at(".loopgate/config/repos.json"))?;
        serde_json::from_slice::<Value>(&file).context("a partial file was visible")?;
    }
    let file: Value = serde_json::from_slice(&std::fs::read(first.at(".loopgate/config/repos.json"))?)?;
    assert_eq!(file["repos"].as_array().map(Vec::len), Some(2 * EACH));
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..2 * EACH {
        let gateway = if number % 2 == 0 { &first } else { &second };
        let session =
            json!({"ticketId": format!("AB-{number}"), "repoPath": sandbox, "worktreePath": sandbox});
        let request =
            gateway.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/sessions").json(&session);
        writers.spawn(async move { request.send().await.map(|answer| answer.status().as_u16()) });
    }
    while let Some(status) = writers.join_next().await {
        assert_eq!(status??, 200);
    }
    let sessions: Value = serde_json::from_slice(&std::fs::read(first.at(".loopgate/sessions.json"))?)?;
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(2 * EACH));
    // The sandbox is in the home of the first gateway, where the second may use only the paths that it added
    // itself.
    for (gateway, entries) in [(&first, 2 * EACH), (&second, EACH)] {
        assert_eq!(listed(&gateway.loopgate).await?["repos"].as_array().map(Vec::len), Some(entries));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writers_lose_no_entry() -> Result<()> {
    let system = TestSystem::story().await?;
    let file = system.testbed.sandbox().join(".loopgate/config/repos.json");
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..10 {
        let repository = system.testbed.sandbox().join(format!("many-{number}"));
        std::fs::create_dir_all(&repository)?;
        let request = system.loopgate.gateway(Method::POST, REPOS).json(&json!({"path": repository}));
        writers.spawn(async move { request.send().await.map(|answer| answer.status().as_u16()) });
    }
    while let Some(status) = writers.join_next().await {
        assert_eq!(status??, 200);
        serde_json::from_slice::<Value>(&std::fs::read(&file)?).context("a partial file was visible")?;
    }
    let names = listed(&system.loopgate).await?;
    let names = names["repos"].as_array().context("a list")?.iter().map(|repo| repo["name"].as_str());
    assert_eq!(names.filter(|name| name.is_some_and(|name| name.starts_with("many-"))).count(), 10);
    Ok(())
}
