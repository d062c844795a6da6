//! Measures many concurrent clients: throughput of each local route with 32 clients, latency of `/health`
//! while eight clients load another route, and memory.
//!
//! Baselines are `/health` with the same clients, or a fixed limit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::bare;
use crate::gateway::{GatewayProcess, TestDirectories};
use crate::local::{git, plant};
use crate::pulse;
use crate::table::Table;
use crate::wrk::{self, Load};

/// Concurrent clients of the throughput measurement.
const CLIENTS: usize = 32;
/// Concurrent clients of the background load for the latency of `/health`.
const BACKGROUND_CLIENTS: usize = 8;
/// Limit for the 99th percentile of `/health` under load.
const HEALTH_LIMIT: Duration = Duration::from_millis(2);
/// Limit for the resident memory in megabytes.
const MEMORY_LIMIT: f64 = 60.0;
/// Number of files in the repository.
const FILES: usize = 5_000;
/// Size of an uploaded image.
const PICTURE_BYTES: usize = 1_000_000;

/// A route and its load.
struct CrowdRoute {
    name: &'static str,
    load: Load,
}

/// Measures all routes with one gateway.
pub async fn measure(binary: &Path, time: Duration, table: &mut Table) -> anyhow::Result<()> {
    let directories = TestDirectories::new()?;
    let repository = fill(&directories.path("sandbox"))?;
    let gateway = GatewayProcess::start(binary, &directories).await?;
    let health = Load::get(gateway.url("/health"), None);
    let body =
        loopgate_http_client::builder().build()?.get(gateway.url("/health")).send().await?.bytes().await?;
    let bare = bare::serve(body).await?;
    let mut peak = gateway.resident_memory()?;
    let floor = wrk::load(&health, CLIENTS, time).await?;
    let routes = routes(&gateway, &directories.path("sandbox"), &repository)?;
    for CrowdRoute { name, load } in &routes {
        let figures = wrk::load(load, CLIENTS, time).await.with_context(|| (*name).to_owned())?;
        ensure!(figures.failures == 0, "{name} answered {} requests with an error", figures.failures);
        table.rate(&format!("{name}, {CLIENTS} clients, requests/s"), figures.per_second, floor.per_second);
        let resident = gateway.resident_memory()?;
        table.memory(&format!("  gateway resident after {CLIENTS} of {name}"), resident, Some(MEMORY_LIMIT));
        peak = peak.max(resident);
    }
    for CrowdRoute { name, load } in &routes {
        // The client of `/health` runs while the others load the route.
        let (background, latency) =
            tokio::join!(wrk::load(load, BACKGROUND_CLIENTS, time), pulse::p99(gateway.url("/health"), time));
        background?;
        table.time(
            &format!("/health p99 with {BACKGROUND_CLIENTS} clients of {name}"),
            latency?,
            HEALTH_LIMIT,
        );
        // The same with a bare server shows how much latency is due to the busy machine rather than to the
        // gateway.
        let (background, baseline) =
            tokio::join!(wrk::load(load, BACKGROUND_CLIENTS, time), pulse::p99(bare.url.clone(), time));
        background?;
        table.time("  p99 of a bare server under the same load", baseline?, HEALTH_LIMIT);
        peak = peak.max(gateway.resident_memory()?);
    }
    table.memory("gateway resident, peak with many clients", peak, Some(MEMORY_LIMIT));
    Ok(())
}

/// Creates ten directories in the sandbox, among them a registered repository and the worktree of a ticket.
fn fill(sandbox: &Path) -> anyhow::Result<PathBuf> {
    let repository = sandbox.join("shop");
    plant(&repository, FILES)?;
    git(&repository, &["init", "-q", "-b", "main"])?;
    git(&repository, &["config", "user.name", "b"])?;
    git(&repository, &["config", "user.email", "b@example.test"])?;
    git(&repository, &["add", "."])?;
    git(&repository, &["commit", "-q", "-m", "first"])?;
    std::fs::write(repository.join("d0/f0.rs"), "changed\n")?;
    for folder in ["shop-AB-1", "a", "b", "c", "d", "e", "f", "g", "h"] {
        std::fs::create_dir_all(sandbox.join(folder))?;
    }
    let config = sandbox.join(".loopgate/config");
    std::fs::create_dir_all(&config)?;
    let entry = json!({"path": repository, "addedAt": "2030-01-01T00:00:00.000Z"});
    std::fs::write(config.join("repos.json"), json!({"repos": [entry], "settings": {}}).to_string())?;
    Ok(repository)
}

fn routes(gateway: &GatewayProcess, sandbox: &Path, repository: &Path) -> anyhow::Result<Vec<CrowdRoute>> {
    let (token, repo) = (Some(gateway.token.as_str()), repository.display());
    let get = |name, path: String| CrowdRoute { name, load: Load::get(gateway.url(&path), token) };
    let post = |name, path: String, body: Vec<u8>, kind: &str| CrowdRoute {
        name,
        load: Load::post(gateway.url(&path), token, body, kind),
    };
    let json = |value: serde_json::Value| value.to_string().into_bytes();
    let status = json(json!({"action": "status", "repoPath": repository}));
    let diff = json(json!({"repoPath": repository, "filePath": "d0/f0.rs"}));
    let mut picture = b"--edge\r\ncontent-disposition: form-data; name=\"f\"; filename=\"a.png\"\r\n\
                        content-type: image/png\r\n\r\n\x89PNG\r\n\x1a\n"
        .to_vec();
    picture.resize(picture.len() + PICTURE_BYTES, 7);
    picture.extend_from_slice(b"\r\n--edge--\r\n");
    Ok(vec![
        get("version", "/api/gateway/version".to_owned()),
        get("repos", "/api/gateway/repos".to_owned()),
        get("directories (10)", format!("/api/gateway/directories?path={}", sandbox.display())),
        get("files/search", format!("/api/gateway/files/search?repo={repo}&base=true&query=f42")),
        get("git/repo-path", "/api/gateway/git/repo-path?repoFullName=acme/shop".to_owned()),
        get("git/branches", format!("/api/gateway/git/branches?repo={repo}")),
        post("git status", "/api/gateway/git".to_owned(), status, "application/json"),
        post("git/diff", "/api/gateway/git/diff".to_owned(), diff, "application/json"),
        get("work-directory", "/api/gateway/work-directory/AB-1".to_owned()),
        get("health-check", "/api/gateway/health-check".to_owned()),
        post(
            "upload of 1 MB",
            format!("/api/gateway/orchestrator/upload/AB-1?repo={repo}"),
            picture,
            "multipart/form-data; boundary=edge",
        ),
    ])
}
