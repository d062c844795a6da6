//! Authentication: credentials, the exchange of a challenge for a session, and the origin that a session is
//! bound to.

use std::net::TcpListener;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::free_port;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::{Loopgate, Setup};
use reqwest::{Method, header};
use serde_json::{Value, json};

use super::{API_KEY, EXCHANGE, LOOP, raw, status_and_body};
use crate::test_system::TestSystem;

const VERSION: &str = "/api/gateway/version";
const SESSION: &str = "x-desktop-session-token";
const STALE: &str = "invalid or expired session token, or origin mismatch";

fn unauthorized(reason: &str) -> (u16, Value) {
    (401, json!({"error": "unauthorized", "code": "unauthorized", "reason": reason}))
}

/// Requests the version with these headers and without the gateway token.
async fn version(loopgate: &Loopgate, headers: &[(&str, &str)]) -> Result<(u16, Value)> {
    let mut request = loopgate.gateway_bare(Method::GET, VERSION);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    status_and_body(request.send().await?).await
}

/// Exchanges a challenge for a session; fails when the response may be cached.
async fn exchange(loopgate: &Loopgate, origin: Option<&str>, body: String) -> Result<(u16, Value)> {
    let mut request = loopgate.gateway_bare(Method::POST, EXCHANGE).body(body);
    if let Some(origin) = origin {
        request = request.header(header::ORIGIN, origin);
    }
    let answer = request.send().await?;
    ensure!(answer.headers().get(header::CACHE_CONTROL).context("cache-control")? == "no-store");
    status_and_body(answer).await
}

fn error(status: u16, error: &str, code: &str) -> (u16, Value) {
    (status, json!({"error": error, "code": code}))
}

/// Creates a challenge of the control plane for the page's origin.
async fn challenge(system: &TestSystem) -> Result<String> {
    let body = json!({"origin": system.loopgate.ready().page_url});
    let response = system.page.0.post("/compute-targets/local-auth/challenge", &body).await?;
    Ok(json!({"challengeToken": response["data"]["challengeToken"]}).to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_credentials_are_refused() -> Result<()> {
    let system = TestSystem::story().await?;
    let page = system.loopgate.ready().page_url.clone();
    let unknown = "x".repeat(64);
    let token = system.loopgate.gateway_token();
    let truncated = &token[..token.len() - 1];
    for (headers, reason) in [
        (vec![], "no credential provided"),
        (vec![("origin", "null")], "no credential provided"),
        (vec![("origin", page.as_str())], "session token required for browser requests"),
        (vec![("x-desktop-gateway-token", "wrong")], "no credential provided"),
        (vec![("x-desktop-gateway-token", truncated)], "no credential provided"),
        (vec![("x-desktop-gateway-token", "")], "no credential provided"),
        (vec![("authorization", token)], "no credential provided"),
        (vec![(SESSION, token)], "session token present but Origin header missing"),
        (vec![(SESSION, unknown.as_str())], "session token present but Origin header missing"),
        (vec![(SESSION, unknown.as_str()), ("origin", page.as_str())], STALE),
    ] {
        ensure!(version(&system.loopgate, &headers).await? == unauthorized(reason), "{headers:?}");
    }
    // Credentials are checked before the body is read, so its size does not matter.
    let huge = system.loopgate.gateway_bare(Method::POST, LOOP).body("x".repeat(2_000_000)).send().await?;
    ensure!(status_and_body(huge).await? == unauthorized("no credential provided"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn incomplete_or_invalid_exchange_is_refused() -> Result<()> {
    let system = TestSystem::story().await?;
    let page = system.loopgate.ready().page_url.clone();
    let needed = error(400, "invalid request body: challengeToken required", "missing_field");
    let challenge = r#"{"challengeToken":"made-up"}"#;
    for (origin, body, expected) in [
        (None, challenge, error(400, "Origin header required", "missing_field")),
        (Some("null"), challenge, error(400, "Origin header required", "missing_field")),
        (Some(page.as_str()), "", needed.clone()),
        (Some(page.as_str()), "{", needed.clone()),
        (Some(page.as_str()), "[]", needed.clone()),
        (Some(page.as_str()), r#"{"challengeToken":""}"#, needed.clone()),
        (Some(page.as_str()), r#"{"challengeToken":5}"#, needed),
        (Some(page.as_str()), challenge, error(401, "Invalid or expired challenge token", "unauthorized")),
        (Some("https://evil.test"), challenge, error(403, "Origin not allowed", "forbidden")),
    ] {
        let actual = exchange(&system.loopgate, origin, body.to_owned()).await?;
        ensure!(
            (actual.0, &actual.1["error"]) == (expected.0, &expected.1["error"]),
            "{origin:?} {body}: {actual:?}"
        );
        ensure!(actual.1["code"].is_string(), "{actual:?}");
    }
    let most = json!({"error": "request body too large", "code": "request_body_too_large", "maxBytes": 4096});
    let over = exchange(&system.loopgate, Some(&page), "x".repeat(4097)).await?;
    ensure!(over == (413, most.clone()), "{over:?}");
    // A chunked body has no `Content-Length`, so the limit has to be enforced while reading.
    let port = system.loopgate.ready().gateway_port;
    let head = format!(
        "POST {EXCHANGE} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {page}\r\nConnection: close\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    let chunked = |bytes: &str| format!("{head}{:x}\r\n{bytes}\r\n0\r\n\r\n", bytes.len());
    let over = raw(&system.loopgate, &chunked(&"x".repeat(4097))).await?;
    ensure!(over.starts_with("HTTP/1.1 413 ") && over.ends_with(&most.to_string()), "{over}");
    let small = raw(&system.loopgate, &chunked(challenge)).await?;
    ensure!(
        small.starts_with("HTTP/1.1 401 ") && small.contains("Invalid or expired challenge token"),
        "{small}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_is_bound_to_its_origin_and_its_challenge_is_valid_once() -> Result<()> {
    let system = TestSystem::story().await?;
    let (loopgate, page) = (&system.loopgate, system.loopgate.ready().page_url.clone());
    let first = challenge(&system).await?;
    let (status, session) = exchange(loopgate, Some(&page), first.clone()).await?;
    let token = session["sessionToken"].as_str().context("a session")?.to_owned();
    ensure!(status == 200 && token.len() == 64 && token.bytes().all(|b| b.is_ascii_hexdigit()), "{session}");
    ensure!(session["expiresAt"].as_str().is_some_and(|at| at.ends_with('Z')), "{session}");
    let mine = [(SESSION, token.as_str()), ("origin", page.as_str())];
    ensure!(version(loopgate, &mine).await?.0 == 200);
    let second = exchange(loopgate, Some(&page), first).await?;
    ensure!(
        second.0 == 403 && second.1["error"] == "Challenge has already been used or has expired",
        "{second:?}"
    );

    ensure!(
        version(loopgate, &[(SESSION, &token)]).await?
            == unauthorized("session token present but Origin header missing")
    );
    let other = format!("http://127.0.0.1:{}", free_port()?);
    for origin in [other.as_str(), "https://evil.test", &page.to_uppercase(), &format!("{page}/")] {
        let response = version(loopgate, &[(SESSION, &token), ("origin", origin)]).await?;
        ensure!(response == unauthorized(STALE), "{origin}: {response:?}");
    }
    // A challenge is bound to the origin that it was created for.
    let (status, refusal) = exchange(loopgate, Some(&other), challenge(&system).await?).await?;
    ensure!(
        status == 403 && refusal["error"] == "Request origin does not match challenge origin",
        "{refusal}"
    );

    // At most eight sessions exist; a further one of an origin replaces its oldest.
    let mut last = String::new();
    for _ in 0..8 {
        let (status, session) = exchange(loopgate, Some(&page), challenge(&system).await?).await?;
        ensure!(status == 200, "{session}");
        last = session["sessionToken"].as_str().context("a session")?.to_owned();
    }
    ensure!(version(loopgate, &mine).await? == unauthorized(STALE));
    ensure!(version(loopgate, &[(SESSION, &last), ("origin", &page)]).await?.0 == 200);
    Ok(())
}

async fn gateway(home: &UserHome, api_origin: Option<&str>) -> Result<Loopgate> {
    let setup = Setup::new(home)?.binary(env!("CARGO_BIN_EXE_loopgate")).gateway_alone();
    let setup = setup.env("LOOPGATE_API_KEY", API_KEY);
    match api_origin {
        Some(origin) => setup.arg("--api-origin").arg(origin).start().await,
        None => setup.start().await,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exchange_and_loops_are_unavailable_without_a_control_plane() -> Result<()> {
    let home = UserHome::temporary()?;
    let loopgate = gateway(&home, None).await?;
    let not_configured = error(503, "API origin not configured", "unavailable");
    let challenge = r#"{"challengeToken":"x"}"#.to_owned();
    ensure!(exchange(&loopgate, Some("http://localhost:3000"), challenge).await? == not_configured);
    for body in ["{}", "{", ""] {
        let answer = loopgate.gateway(Method::POST, LOOP).body(body).send().await?;
        ensure!(status_and_body(answer).await? == not_configured, "{body}");
    }
    ensure!(version(&loopgate, &[]).await?.0 == 401);
    ensure!(loopgate.gateway(Method::GET, "/api/gateway/repos").send().await?.status() == 200);
    Ok(())
}

// One control plane accepts connections and never responds; the address of the other has no listener.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_control_plane_does_not_block() -> Result<()> {
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let homes = (UserHome::temporary()?, UserHome::temporary()?);
    let waiting = gateway(&homes.0, Some(&format!("http://{}", silent.local_addr()?))).await?;
    let alone = gateway(&homes.1, Some(&format!("http://127.0.0.1:{}", free_port()?))).await?;
    let challenge = || r#"{"challengeToken":"x"}"#.to_owned();
    let order = |command: &str| {
        json!({"loopId": super::ID, "command": command, "loopgateAuthToken": "t", "artifacts": [],
            "prompt": "x", "localRepoPath": "/etc"})
    };
    let start = std::time::Instant::now();
    let refused = waiting.gateway(Method::POST, LOOP).json(&order("EXECUTE")).send().await?;
    ensure!(status_and_body(refused).await? == error(403, super::DENIED.0, super::DENIED.1));
    // The event about the refusal has a timeout of one second; the rest is slack for a busy machine.
    ensure!(start.elapsed().as_secs() < 20, "the refusal took {:?}", start.elapsed());
    let refused = alone.gateway(Method::POST, LOOP).json(&order("PLAN")).send().await?;
    ensure!(status_and_body(refused).await? == error(403, super::DENIED.0, super::DENIED.1));

    let page = Some("http://localhost:3000");
    let exchange_start = std::time::Instant::now();
    let slow = exchange(&waiting, page, challenge()).await?;
    ensure!(slow == error(504, "verify request timed out", "upstream_timed_out"), "{slow:?}");
    // Verifying a challenge has a timeout of five seconds.
    ensure!(
        (5..20).contains(&exchange_start.elapsed().as_secs()),
        "the exchange took {:?}",
        exchange_start.elapsed()
    );
    let unreachable = exchange(&alone, page, challenge()).await?;
    let text = "verify request failed: control plane unreachable";
    ensure!(unreachable == error(502, text, "upstream_failed"), "{unreachable:?}");
    Ok(())
}
