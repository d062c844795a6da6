//! Requests that no route accepts: unknown paths, other methods, oversized bodies and malformed targets; and
//! invalid paths of programs in the settings.

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::{KILL, LOOP, check, get, post, raw, row, too_large};
use crate::origin_checks::routes;
use crate::test_system::TestSystem;

const PATHS: &str = "/api/gateway/settings/binary-paths";

// OR-49, OR-52
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_paths_methods_and_oversized_bodies_are_refused() -> Result<()> {
    let system = TestSystem::story().await?;
    let not_implemented = |method: Method, path: &str| {
        let body = json!({"error": "operation not implemented", "code": "operation_not_implemented",
            "method": method.as_str(), "path": path});
        row(method, path, "", 501, body)
    };
    let not_found = |method: Method, path: &str| {
        row(method, path, "", 404, json!({"error": "route not found", "code": "route_not_found"}))
    };
    let rows = vec![
        get("/api/gateway/nope", 403, "Unmapped operation: /api/gateway/nope", "unmapped_operation"),
        get(
            "/api/gateway/version/?x=1",
            403,
            "Unmapped operation: /api/gateway/version/",
            "unmapped_operation",
        ),
        get("/api/gateway/Version", 403, "Unmapped operation: /api/gateway/Version", "unmapped_operation"),
        not_found(Method::GET, "/api/gateway"),
        not_found(Method::GET, "/API/gateway/version"),
        not_found(Method::GET, "/nope"),
        not_found(Method::GET, "/health/"),
        not_found(Method::POST, "/health"),
        not_found(Method::PUT, "/health"),
        not_found(Method::GET, "/gateway-auth/exchange"),
        not_found(Method::DELETE, "/gateway-auth/exchange"),
        not_implemented(Method::POST, "/api/gateway/version"),
        not_implemented(Method::DELETE, "/api/gateway/health-check"),
        not_implemented(Method::PUT, LOOP),
        not_implemented(Method::GET, LOOP),
        not_implemented(Method::GET, KILL),
        too_large("/api/gateway/orchestrator/chat/SHOP-7", 300 * 1024, 262_144),
        too_large(KILL, 262_145, 262_144),
        too_large(LOOP, 1_048_577, 1_048_576),
        // Bodies within the limit are read and then refused as invalid JSON.
        post(LOOP, "x".repeat(300 * 1024), 400, "Invalid JSON body", "invalid_json_body"),
        post(LOOP, "x".repeat(1_048_576), 400, "Invalid JSON body", "invalid_json_body"),
        post(KILL, "x".repeat(262_144), 400, "Invalid JSON body", "invalid_json_body"),
    ];
    check(&system.loopgate, rows).await?;
    let orchestrator = routes().filter(|(_, path)| path.starts_with("/api/gateway/orchestrator/"));
    check(&system.loopgate, orchestrator.map(|(_, path)| not_implemented(Method::PUT, &path)).collect())
        .await?;
    let head = system.loopgate.gateway(Method::HEAD, "/health").send().await?;
    assert_eq!(head.status(), 404);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_request_target_is_refused() -> Result<()> {
    let system = TestSystem::story().await?;
    let host = format!("Host: 127.0.0.1:{}\r\nConnection: close\r\n", system.loopgate.ready().gateway_port);
    for target in ["//", "//evil.test/health", "/\\evil.test/health"] {
        let answer = raw(&system.loopgate, &format!("GET {target} HTTP/1.1\r\n{host}\r\n")).await?;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{target}: {answer}");
        let body = r#"{"error":"malformed request target","code":"malformed_request_target"}"#;
        assert!(answer.ends_with(body), "{target}: {answer}");
    }
    // Dot segments are resolved before routing, so `/health/..` does not bypass authentication.
    let dotted = format!("GET /health/../api/gateway/version HTTP/1.1\r\n{host}\r\n");
    let answer = raw(&system.loopgate, &dotted).await?;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    for nonsense in ["nonsense\r\n\r\n", "GET /health HTTP/9.9\r\n\r\n", "\0\0\0\0\r\n\r\n"] {
        let answer = raw(&system.loopgate, nonsense).await.unwrap_or_default();
        assert!(!answer.starts_with("HTTP/1.1 2"), "{nonsense:?}: {answer}");
    }
    let long = format!("GET /health HTTP/1.1\r\n{host}X-Long: {}\r\n\r\n", "x".repeat(20_000));
    assert!(raw(&system.loopgate, &long).await?.starts_with("HTTP/1.1 431 "));
    let answer = raw(&system.loopgate, &format!("GET /health HTTP/1.1\r\n{host}\r\n")).await?;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(r#""status":"ok""#), "{answer}");
    Ok(())
}

// GC-18
// The owner sees the refused request in the activity log, without its body.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_body_is_recorded_without_its_content() -> Result<()> {
    let system = TestSystem::story().await?;
    let secret = "hunter2-".repeat(40_000);
    let answer = system.loopgate.gateway(Method::POST, KILL).body(secret).send().await?;
    assert_eq!(answer.status(), 413);
    assert_eq!(answer.headers().get("cache-control").context("cache-control")?, "no-store");
    let refused = system.loopgate.gateway_bare(Method::GET, "/api/gateway/repos").send().await?;
    assert_eq!(refused.status(), 401);

    let socket = system.loopgate.setup().data_dir().join("control.sock");
    let mut owner = BufReader::new(UnixStream::connect(socket).await?);
    owner.write_all(b"{\"id\":1,\"verb\":\"activity.list\"}\n").await?;
    let mut line = String::new();
    owner.read_line(&mut line).await?;
    assert!(!line.contains("hunter2"), "{line}");
    let listed: Value = serde_json::from_str(&line)?;
    let events = listed["data"].as_array().context("a list")?;
    for (path, detail) in [(KILL, "request_body_too_large"), ("/api/gateway/repos", "no credential provided")]
    {
        let event = events.iter().find(|event| event["path"] == path).context("not recorded")?;
        assert_eq!((&event["type"], &event["detail"]), (&json!("security"), &json!(detail)), "{event}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_program_path_is_refused_and_not_stored() -> Result<()> {
    let system = TestSystem::story().await?;
    let paths = |sent: Value, error: &str| {
        row(Method::PATCH, PATHS, sent, 400, json!({"error": error, "code": "invalid_request"}))
    };
    let broken = json!({"error": "invalid JSON body", "code": "invalid_json_body"});
    let rows = vec![
        row(Method::PATCH, PATHS, "{", 400, broken),
        paths(json!([]), "body must be a JSON object"),
        paths(json!({"perl": "/x"}), "unknown key: perl"),
        paths(json!({"git": ""}), "value for git must not be empty"),
        paths(json!({"git": 5}), "value for git must be a string or null"),
        paths(json!({"git": "rel/git"}), "Binary path for git must be an absolute path: rel/git"),
        paths(json!({"git": "/no/git"}), "Binary path for git does not exist: /no/git"),
        paths(json!({"git": "/etc/passwd"}), "Binary path for git is not executable: /etc/passwd"),
    ];
    check(&system.loopgate, rows).await?;
    let answer = system.loopgate.gateway(Method::GET, PATHS).send().await?.json::<Value>().await?;
    assert_eq!(answer, json!({"binaryPaths": {}}), "a refused path was stored");
    Ok(())
}
