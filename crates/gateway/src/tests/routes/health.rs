//! The health check on a machine with exactly the programs that a test installs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tests::test_gateway::{TestGateway, WEB_APP, script};

const PATH: &str = "/api/gateway/health-check";

async fn report(fixture: &TestGateway, query: &str) -> Value {
    let reply = fixture.internal("GET", &format!("{PATH}{query}")).send().await;
    assert_eq!(reply.status, 200);
    reply.json()
}

fn row<'a>(report: &'a Value, id: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("no row {id}"))
}

fn install(fixture: &TestGateway) {
    fixture.program("git", "echo git version 2.46.1");
    fixture.program("claude", "echo '2.1.0 (Assistant)'");
    fixture.program("gh", "echo gh version 2.50.0");
    fixture.program("codex", "echo codex-cli 0.9.1");
    fixture.program("python3", "echo Python 3.11.4");
    for name in ["code", "self-learning"] {
        let manifest = fixture.plugin_root().join(name).join(".claude-plugin");
        std::fs::create_dir_all(&manifest).unwrap();
        std::fs::write(manifest.join("plugin.json"), r#"{"version":"1.0.0"}"#).unwrap();
    }
}

async fn configure_worktrees(fixture: &TestGateway) {
    let settings = json!({"worktreeParentDir": fixture.sandbox(), "worktreeParentDirConfirmed": true});
    fixture.internal("PATCH", "/api/gateway/repos").body(settings.to_string()).send().await;
}

#[tokio::test]
async fn complete_machine_passes_all_checks() {
    let fixture = TestGateway::new().await;
    install(&fixture);
    configure_worktrees(&fixture).await;
    let report = report(&fixture, "").await;
    assert_eq!(report["allRequiredPassed"], true, "{report}");
    let ids: Vec<&str> =
        report["checks"].as_array().unwrap().iter().map(|check| check["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "git",
            "assistant-cli",
            "code-host-cli",
            "code-host-auth",
            "plugin-code",
            "plugin-self-learning",
            "worktree-dir",
            "reviewer",
            "python3"
        ]
    );
    assert_eq!(
        row(&report, "git"),
        &json!({"id": "git", "label": "Git", "required": true, "passed": true, "version": "2.46.1"})
    );
    assert_eq!(row(&report, "worktree-dir")["version"], json!(fixture.sandbox()));
    let record = &report["mcpServers"]["assistant"];
    assert_eq!(
        (&record["available"], &record["error"], &record["loopgateAvailable"]),
        (&json!(false), &Value::Null, &json!(false))
    );
}

// GC-33
#[tokio::test]
async fn outdated_required_program_fails_the_check() {
    let fixture = TestGateway::new().await;
    install(&fixture);
    configure_worktrees(&fixture).await;
    fixture.program("python3", "echo Python 3.9.2");
    fixture.program("git", "echo git version 2.25.1");
    let report = report(&fixture, "").await;
    let failed = report["checks"].as_array().unwrap().iter().filter(|check| check["passed"] == false);
    assert_eq!(failed.map(|check| &check["id"]).collect::<Vec<_>>(), ["git", "python3"], "{report}");
    assert_eq!(row(&report, "git")["error"], "Git 2.25.1 is below the required minimum of 2.31");
    assert_eq!(report["allRequiredPassed"], false);
}

// GC-33
#[tokio::test]
async fn missing_program_has_a_remedy() {
    let fixture = TestGateway::new().await;
    let report = report(&fixture, "?expectedMcpUrl=not%20a%20url&pluginAutoUpdate=true").await;
    assert_eq!(report["allRequiredPassed"], false);
    for check in report["checks"].as_array().unwrap() {
        let failed = !check["passed"].as_bool().unwrap();
        assert_eq!(failed, check["remediation"].is_string(), "{check}");
    }
    let assistant = row(&report, "assistant-cli");
    assert_eq!(assistant["debug"]["errorCode"], "ENOENT");
    assert!(assistant["debug"]["resolvedPath"].as_str().unwrap().ends_with("/bin"));
    assert_eq!(row(&report, "worktree-dir")["error"], "Not configured");
    assert_eq!(row(&report, "code-host-auth")["error"], "Not authenticated");
    assert!(row(&report, "code-host-auth").get("debug").is_none());
    assert_eq!(row(&report, "reviewer")["required"], false);
}

// GC-33
#[tokio::test]
async fn program_check_distinguishes_outdated_unparsable_and_failing() {
    let fixture = TestGateway::new().await;
    fixture.program("python3", "echo Python 3.9.2");
    fixture.program("codex", "echo broken pipes >&2; exit 3");
    // Written without the executable bit, on the PATH of the fixture.
    std::fs::write(fixture.program("gh", "").with_file_name("claude"), "").unwrap();
    let first = report(&fixture, "").await;
    let python = row(&first, "python3");
    assert_eq!(python["error"], "Python 3.9.2 is below the required minimum of 3.10");
    assert_eq!(python["version"], "3.9.2");
    assert_eq!(row(&first, "reviewer")["error"], "3: broken pipes");
    assert_eq!(row(&first, "reviewer")["debug"]["errorCode"], "3");
    let assistant = row(&first, "assistant-cli");
    assert!(assistant["error"].as_str().unwrap().ends_with("bin/claude but not executable"), "{assistant}");
    fixture.program("python3", "echo Python three");
    let second = report(&fixture, "").await;
    assert_eq!(row(&second, "python3")["error"], "Unable to determine Python version");
}

// GC-32
#[tokio::test]
async fn missing_override_fails_its_check_alone() {
    let fixture = TestGateway::new().await;
    install(&fixture);
    let missing = fixture.data_dir().join("missing");
    fixture
        .settings
        .update(|s| drop(s.binary_paths.insert(loopgate_home::Program::Git, missing.clone().into())))
        .unwrap();
    let report = report(&fixture, "").await;
    let git = row(&report, "git");
    assert_eq!(git["error"], "Override path does not exist or is not executable");
    assert_eq!(git["debug"], json!({"overrideUsed": missing}));
    assert_eq!(row(&report, "assistant-cli")["passed"], true);
}

#[tokio::test]
async fn override_in_the_sandbox_is_not_started() {
    let fixture = TestGateway::new().await;
    install(&fixture);
    let planted = fixture.sandbox().join("git");
    script(&planted, "touch \"$0.ran\"; echo git version 9.9.9");
    let planted_path = planted.clone();
    fixture
        .settings
        .update(|s| drop(s.binary_paths.insert(loopgate_home::Program::Git, planted_path.into())))
        .unwrap();
    let report = report(&fixture, "").await;
    let git = row(&report, "git");
    assert_eq!(git["error"], "Override path is in the sandbox and is not used");
    assert_eq!(git["debug"], json!({"overrideUsed": planted}));
    assert!(!fixture.sandbox().join("git.ran").exists());
}

// GC-33
#[tokio::test]
async fn hanging_program_does_not_delay_other_checks() {
    let fixture = TestGateway::new().await;
    install(&fixture);
    // The child process inherits the output pipe; killing the group ends it as well.
    fixture.program("git", "/bin/sleep 60 & wait");
    fixture.program("gh", "exec /bin/sleep 60");
    let started = Instant::now();
    let report = report(&fixture, "").await;
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(row(&report, "git")["error"], "Timed out running git --version");
    assert_eq!(row(&report, "git")["debug"]["errorCode"], "ETIMEDOUT");
    assert_eq!(row(&report, "code-host-auth")["error"], "Not authenticated");
    assert_eq!(row(&report, "python3")["passed"], true);
}

#[tokio::test]
async fn checks_are_not_cached() {
    let fixture = TestGateway::new().await;
    let count = fixture.sandbox().join("count");
    fixture.program("git", &format!("echo run >> {}; echo git version 2.46.1", count.display()));
    for probes in 1..=2 {
        report(&fixture, "").await;
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), probes);
    }
}

// GC-34
#[tokio::test]
async fn own_version_is_compared_when_requested() {
    let fixture = TestGateway::new().await;
    let with = |query: &'static str| report(&fixture, query);
    let newer = with("?latestVersion=v99.0.0").await;
    assert_eq!(row(&newer, "app-version")["error"], "Update available: 99.0.0");
    assert_eq!(row(&with("?latestVersion=1.2.3").await, "app-version")["passed"], true);
    let unparsable = with("?latestVersion=abc").await;
    let unparsable = row(&unparsable, "app-version");
    let note = "Version format unrecognized (installed: 1.2.3, latest: abc)";
    assert_eq!((&unparsable["passed"], &unparsable["error"]), (&json!(true), &json!(note)));
    let without = with("").await;
    assert!(without["checks"].as_array().unwrap().iter().all(|check| check["id"] != "app-version"));
}

// GC-35
#[tokio::test]
async fn mcp_auth_does_not_return_an_api_key() {
    let fixture = TestGateway::new().await;
    let path = "/api/gateway/mcp-auth?expectedMcpUrl=https://mcp.example.test/mcp";
    let token = fixture.gateway.session_for_test(WEB_APP, Duration::from_secs(60), jiff::Timestamp::now());
    let reply = fixture.anonymous("GET", path).origin(WEB_APP).session(&token).send().await;
    let body = reply.json();
    assert_eq!((reply.status, reply.header("Cache-Control")), (200, Some("no-store")));
    assert_eq!((&body["apiKey"], &body["authType"]), (&json!(""), &json!("oauth")));
    assert_eq!(body["serverUrl"], "https://mcp.example.test/mcp");
    let bad = fixture.internal("GET", "/api/gateway/mcp-auth?expectedMcpUrl=nope").send().await;
    assert_eq!(bad.json()["serverUrl"], Value::Null);
    let relayed = fixture.internal("GET", path).header("X-Desktop-Source", "cloud-socket").send().await;
    relayed.assert_error(403, "not available over relay", "not_available_over_relay");
}
