//! The health check: all checks run concurrently, and none can block the response.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;

/// Timeout of clients for the whole request.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);

async fn report(local: &TestGateway, query: &[(&str, &str)]) -> Result<Value> {
    local.get("health-check", query).await?.ok()
}

fn row<'a>(report: &'a Value, id: &str) -> Result<&'a Value> {
    let mut rows = report["checks"].as_array().into_iter().flatten();
    rows.find(|row| row["id"] == id).with_context(|| format!("no row {id} in {report}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_programs_time_out_concurrently() -> Result<()> {
    let local = TestGateway::new().await?;
    // The first request resolves the PATH of the login shell, which is slow and cached afterwards.
    report(&local, &[]).await?;
    for name in ["git", "claude", "gh", "codex"] {
        // The programs ignore SIGTERM, so they have to be killed with SIGKILL.
        local.home.script(name, "#!/bin/sh\ntrap '' TERM\nwhile :; do /bin/sleep 100; done\n")?;
    }
    local.home.script("python3", "#!/bin/sh\necho Python 3.9.2\n")?;
    let start = Instant::now();
    let url = [("expectedMcpUrl", "https://mcp.example.test/mcp")];
    let (first, second) = tokio::join!(report(&local, &url), report(&local, &[]));
    let elapsed = start.elapsed();
    ensure!(elapsed < CLIENT_TIMEOUT, "the report took {elapsed:?}");
    for report in [first?, second?] {
        for id in ["git", "assistant-cli", "code-host-cli", "reviewer"] {
            let row = row(&report, id)?;
            let error = row["error"].as_str().unwrap_or_default();
            ensure!(error.starts_with("Timed out running ") && error.ends_with(" --version"), "{row}");
            ensure!(row["debug"]["errorCode"] == "ETIMEDOUT" && row["remediation"].is_string(), "{row}");
        }
        ensure!(row(&report, "code-host-auth")?["error"] == "Not authenticated");
        let python = row(&report, "python3")?;
        ensure!(python["error"] == "Python 3.9.2 is below the required minimum of 3.10", "{python}");
        ensure!(python["version"] == "3.9.2" && report["allRequiredPassed"] == false, "{report}");
        for provider in ["assistant", "reviewer"] {
            ensure!(report["mcpServers"][provider]["available"] == false, "{report}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn binary_override_applies_immediately_and_fails_only_its_row() -> Result<()> {
    let local = TestGateway::new().await?;
    let program = local.home.script("my-git", "#!/bin/sh\necho git version 9.8.7\n")?;
    let link = local.home.path().join("linked-git");
    std::os::unix::fs::symlink(&program, &link)?;
    let set = |value: Value| local.send(reqwest::Method::PATCH, "settings/binary-paths", value.to_string());
    let real = program.canonicalize()?;
    set(json!({"git": link})).await?.is(200, &json!({"binaryPaths": {"git": real}}))?;
    let before = report(&local, &[]).await?;
    ensure!(row(&before, "git")?["version"] == "9.8.7", "{before}");
    std::fs::remove_file(&program)?;
    let after = report(&local, &[]).await?;
    let git = row(&after, "git")?;
    ensure!(git["error"] == "Override path does not exist or is not executable", "{git}");
    ensure!(git["debug"] == json!({"overrideUsed": real}) && git["remediation"].is_string(), "{git}");
    ensure!(row(&after, "python3")? == row(&before, "python3")?, "another row changed");
    set(json!({"git": null})).await?.is(200, &json!({"binaryPaths": {}}))?;
    let cleared = report(&local, &[]).await?;
    ensure!(row(&cleared, "git")?["passed"] == true, "{cleared}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn report_compares_the_version_and_names_the_worktree_directory() -> Result<()> {
    let local = TestGateway::new().await?;
    let own = env!("CARGO_PKG_VERSION");
    let newer = report(&local, &[("latestVersion", "v99.0.0")]).await?;
    let row_of = |report: &Value| row(report, "app-version").cloned();
    ensure!(row_of(&newer)?["error"] == "Update available: 99.0.0" && newer["allRequiredPassed"] == false);
    ensure!(row_of(&report(&local, &[("latestVersion", own)]).await?)?["passed"] == true);
    let odd = row_of(&report(&local, &[("latestVersion", "abc")]).await?)?;
    let note = format!("Version format unrecognized (installed: {own}, latest: abc)");
    ensure!(odd["passed"] == true && odd["error"] == note.as_str(), "{odd}");
    let without = report(&local, &[("pluginAutoUpdate", "true")]).await?;
    ensure!(row_of(&without).is_err(), "{without}");
    let sandbox = local.loopgate.setup().sandbox();
    ensure!(row(&without, "worktree-dir")?["version"] == json!(sandbox), "{without}");
    let settings = json!({"worktreeParentDir": local.at(""), "worktreeParentDirConfirmed": true});
    local.send(reqwest::Method::PATCH, "repos", settings.to_string()).await?.ok()?;
    let chosen = report(&local, &[]).await?;
    ensure!(row(&chosen, "worktree-dir")?["version"] == json!(local.at("")), "{chosen}");

    let without_sandbox = TestGateway::with(loopgate_testkit::loopgate::Setup::without_sandbox).await?;
    let nowhere = report(&without_sandbox, &[]).await?;
    ensure!(row(&nowhere, "worktree-dir")?["error"] == "Not configured", "{nowhere}");
    Ok(())
}

// The page may learn how to sign in to an MCP server, but receives no API key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mcp_auth_discloses_no_api_key() -> Result<()> {
    let key = "lgk_live_0123456789abcdef0123456789abcdef";
    let local = TestGateway::with(|setup| setup.env("LOOPGATE_API_KEY", key)).await?;
    let url = "https://mcp.example.test/mcp";
    let body = local.get("mcp-auth", &[("expectedMcpUrl", url)]).await?.ok()?;
    ensure!(body["apiKey"] == "" && body["authType"] == "oauth" && body["serverUrl"] == url, "{body}");
    ensure!(
        body["providers"]["assistant"]["available"] == false && !body.to_string().contains(key),
        "{body}"
    );
    let bad = local.get("mcp-auth", &[("expectedMcpUrl", "nope")]).await?.ok()?;
    ensure!(bad["serverUrl"].is_null(), "{bad}");
    let request = local.loopgate.gateway(reqwest::Method::GET, "/api/gateway/mcp-auth");
    let relayed = request.header("x-desktop-source", "cloud-socket").send().await?;
    ensure!(relayed.status() == 403 && relayed.text().await?.contains("not_available_over_relay"));
    let version = local.get("version", &[]).await?.ok()?;
    ensure!(version == json!({"version": env!("CARGO_PKG_VERSION"), "commits": []}), "{version}");
    Ok(())
}

// Plugins that are not shipped have no row, whatever the user has installed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shipped_plugins_pass() -> Result<()> {
    let local = TestGateway::new().await?;
    let report = report(&local, &[]).await?;
    let rows = report["checks"].as_array().into_iter().flatten();
    let plugins: Vec<&Value> =
        rows.filter(|row| row["id"].as_str().is_some_and(|id| id.starts_with("plugin-"))).collect();
    let ids: Vec<&str> = plugins.iter().filter_map(|row| row["id"].as_str()).collect();
    let shipped = ["bootstrap", "code", "code-review", "judges", "self-learning"];
    ensure!(ids == shipped.map(|name| format!("plugin-{name}")), "{plugins:?}");
    ensure!(plugins.iter().all(|row| row["passed"] == true && row["version"].is_string()), "{plugins:?}");
    Ok(())
}
