//! Detection of an expected MCP server, with stub programs.

use std::time::Duration;

use loopgate_tools::process::{Command, Limits};
use serde_json::{Value, json};

use crate::tests::test_gateway::{TestGateway, TestOptions, within};

const SERVER: &str = "https://mcp.example.test/mcp";

async fn servers(fixture: &TestGateway, path: &str) -> Value {
    let reply = fixture.internal("GET", path).send().await;
    assert_eq!(reply.status, 200);
    let body = reply.json();
    let name = if body["providers"].is_object() { "providers" } else { "mcpServers" };
    body[name].clone()
}

fn health_check_path() -> String {
    format!("/api/gateway/health-check?expectedMcpUrl={SERVER}")
}

#[tokio::test]
async fn connected_server_is_reported_for_its_provider() {
    let fixture = TestGateway::new().await;
    let calls = fixture.sandbox().join("calls");
    fixture.program(
        "claude",
        &format!(
            "echo \"$@\" >> '{}'\ncase \"$*\" in\n'mcp list') echo 'team: {SERVER}/ (HTTP) - ✓ Connected';;\n\
             'mcp get team') printf 'team:\\n  Scope: User config\\n  Status: ✓ Connected\\n  URL: {SERVER}/\\n';;\n\
             *) echo 2.1.0;;\nesac",
            calls.display()
        ),
    );
    fixture.program("codex", &format!("echo 'Name Url Status'; echo 'squad {SERVER} disabled'"));
    let mcp_auth = format!("/api/gateway/mcp-auth?expectedMcpUrl={SERVER}");
    assert_eq!(servers(&fixture, &mcp_auth).await["assistant"]["serverName"], Value::Null);
    assert!(!calls.exists(), "mcp-auth starts no program");

    let records = servers(&fixture, &health_check_path()).await;
    let (assistant, reviewer) = (&records["assistant"], &records["reviewer"]);
    assert_eq!((&assistant["available"], &assistant["loopgateAvailable"]), (&json!(true), &json!(true)));
    assert_eq!(assistant["serverName"], "team");
    assert_eq!(assistant["matchedUrl"], format!("{SERVER}/"), "as the provider prints it");
    assert_eq!((&reviewer["available"], &reviewer["serverName"]), (&json!(false), &json!("squad")));

    // The detector caches results per provider, so the second request starts no program.
    servers(&fixture, &health_check_path()).await;
    let mcp = |text: &str| text.lines().filter(|line| line.starts_with("mcp")).count();
    assert_eq!(mcp(&std::fs::read_to_string(&calls).unwrap()), 2, "cached results are reused");
    assert_eq!(servers(&fixture, &mcp_auth).await["assistant"], *assistant);
    assert_eq!(servers(&fixture, "/api/gateway/health-check").await["assistant"], *assistant);

    fixture
        .internal("PATCH", "/api/gateway/settings/binary-paths")
        .body(json!({"git": null}).to_string())
        .send()
        .await;
    assert_eq!(
        servers(&fixture, &mcp_auth).await["assistant"]["available"],
        false,
        "changed paths invalidate the cache"
    );
}

#[tokio::test]
async fn project_local_server_does_not_count() {
    let fixture = TestGateway::new().await;
    fixture.program(
        "claude",
        &format!(
            "case \"$*\" in\n'mcp list') echo 'team: {SERVER} (HTTP) - ✓ Connected';;\n\
             'mcp get team') printf 'team:\\n  Scope: Local config\\n  Status: ✓ Connected\\n  URL: {SERVER}\\n';;\nesac"
        ),
    );
    fixture.program("codex", "echo broken >&2; exit 3");
    let records = servers(&fixture, &health_check_path()).await;
    assert_eq!(records["assistant"]["available"], false);
    assert_eq!(records["assistant"]["error"], "Project-local config unsupported");
    assert_eq!(records["reviewer"]["error"], "Discovery failed");
}

#[tokio::test]
async fn slow_program_does_not_block_and_is_detected_later() {
    let mut options = TestOptions::default();
    options.limits.probe_timeout = Duration::from_millis(200);
    let fixture = TestGateway::with(options).await;
    let go = fixture.sandbox().join("go");
    let result = Command::new("mkfifo").arg(&go).run(Limits::time(Duration::from_secs(20))).await;
    assert!(result.unwrap().status.success());
    fixture.program(
        "claude",
        &format!(
            "[ \"$*\" = 'mcp list' ] || exit 0\nread word < '{go}'\necho 'team: {SERVER} (HTTP) - ✓ Connected'",
            go = go.display()
        ),
    );
    assert_eq!(servers(&fixture, &health_check_path()).await["assistant"]["available"], false);
    // Opening a pipe for writing blocks until the stub opens it for reading.
    let opened = tokio::task::spawn_blocking(move || std::fs::write(&go, "go\n").unwrap());
    within(opened).await.unwrap();
    let detected =
        async { while servers(&fixture, &health_check_path()).await["assistant"]["available"] == false {} };
    within(detected).await;
}
