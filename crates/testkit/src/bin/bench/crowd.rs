//! Many clients at once: each local route under 32 of them, `/health` beside eight of another
//! route, and the memory that all of it takes.
//!
//! Floors are of the same run: `/health` under the same clients, or a limit.

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

/// Clients of the crowd, and of the routes beside which `/health` is measured.
const CROWD: usize = 32;
const BESIDE: usize = 8;
/// What `/health` may take beside them, 99 times of 100.
const HEALTH_LIMIT: Duration = Duration::from_millis(2);
/// Megabytes that are never exceeded.
const MEMORY_LIMIT: f64 = 60.0;
/// Files of the repository, and bytes of an uploaded picture.
const FILES: usize = 5_000;
const PICTURE_BYTES: usize = 1_000_000;

/// A route with what is sent to it.
struct CrowdRoute {
    name: &'static str,
    load: Load,
}

/// Measures them all, on one gateway.
pub async fn measure(binary: &Path, time: Duration, table: &mut Table) -> anyhow::Result<()> {
    let directories = TestDirectories::new()?;
    let repository = fill(&directories.path("sandbox"))?;
    let gateway = GatewayProcess::start(binary, &directories).await?;
    let health = Load::get(gateway.url("/health"), None);
    let body = reqwest::get(gateway.url("/health")).await?.bytes().await?;
    let bare = bare::serve(body).await?;
    let mut most = gateway.resident_memory()?;
    let floor = wrk::load(&health, CROWD, time).await?;
    let routes = routes(&gateway, &directories.path("sandbox"), &repository)?;
    for CrowdRoute { name, load } in &routes {
        let crowd = wrk::load(load, CROWD, time).await.with_context(|| (*name).to_owned())?;
        ensure!(crowd.failures == 0, "{name} answered {} of the crowd with an error", crowd.failures);
        table.rate(&format!("{name}, {CROWD} clients, requests/s"), crowd.per_second, floor.per_second);
        let resident = gateway.resident_memory()?;
        table.memory(&format!("  gateway resident after {CROWD} of {name}"), resident, Some(MEMORY_LIMIT));
        most = most.max(resident);
    }
    for CrowdRoute { name, load } in &routes {
        // The one client of `/health` asks while the others do.
        let (beside, watched) =
            tokio::join!(wrk::load(load, BESIDE, time), pulse::p99(gateway.url("/health"), time));
        beside?;
        table.time(&format!("/health p99 beside {BESIDE} of {name}"), watched?, HEALTH_LIMIT);
        // What the machine has left for anybody beside the same.
        let (beside, anybody) =
            tokio::join!(wrk::load(load, BESIDE, time), pulse::p99(bare.url.clone(), time));
        beside?;
        table.time("  a bare server's p99 beside the same", anybody?, HEALTH_LIMIT);
        most = most.max(gateway.resident_memory()?);
    }
    table.memory("gateway resident, most under any crowd", most, Some(MEMORY_LIMIT));
    Ok(())
}

/// Ten folders, one of them a managed repository with a ticket's worktree beside it.
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
