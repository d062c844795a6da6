//! Approvals: who can decide on a held request, when a request expires, and what the HTTP API shows of it.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::loopgate::Loopgate;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::owner::{Owner, OwnerWatch};
use crate::test_gateway::TestGateway;
use crate::test_system::TestSystem;

pub const VERSION: &str = "/api/gateway/version";
const PENDING: &str = "/api/gateway/approvals";
pub const FORCE: &str = "x-desktop-force-approval";
const SOURCE: &str = "x-desktop-source";
/// Timeout of requests from the control plane. It is shorter than [`LINK_TIMEOUT`], so that the caller
/// receives a 408.
const LINK_APPROVAL_TIMEOUT: Duration = Duration::from_secs(50);
/// Timeout of the control plane for one command.
const LINK_TIMEOUT: Duration = Duration::from_secs(60);

/// Sends a request that is held because its header demands approval.
pub fn hold(loopgate: &Loopgate, path: &str) -> JoinHandle<reqwest::Result<Response>> {
    let request = loopgate.gateway(Method::GET, path).header(FORCE, "1").timeout(Duration::from_secs(200));
    tokio::spawn(request.send())
}

async fn status_and_body(answer: Response) -> Result<(StatusCode, Value)> {
    Ok((answer.status(), answer.json().await?))
}

async fn pending(loopgate: &Loopgate) -> Result<Vec<Value>> {
    let answer = loopgate.gateway(Method::GET, PENDING).send().await?.error_for_status()?;
    let mut body: Value = answer.json().await?;
    serde_json::from_value(body["waiting"].take()).context("a list")
}

// GC-41
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approval_over_the_link_expires_before_the_command_timeout() -> Result<()> {
    let system = TestSystem::story().await?;
    let loopgate = &system.loopgate;
    let targets = system.page.0.get("/compute-targets").await?;
    let target = targets["data"][0]["id"].as_str().context("a desktop")?.to_owned();
    let mut watch = OwnerWatch::of(loopgate).await?;
    let start = Instant::now();
    let local_request = hold(loopgate, VERSION);
    let local_approval = watch.one().await?;
    // Two requests over the link: one demands approval by its header, the other by its command.
    let request = loopgate.gateway(Method::GET, "/api/gateway/version?link").header(FORCE, "true");
    let link_request = tokio::spawn(request.header(SOURCE, "cloud-socket").send());
    watch.until(2).await?;
    let command = json!({"operationId": "health_check", "method": "GET", "path": "/api/gateway/version?relay",
        "timeoutMs": 120_000, "requiresApproval": true, "approvalReason": "because"});
    let sent = system.page.0.post(&format!("/compute-targets/{target}/commands"), &command).await?;
    let command = sent["data"]["commandId"].as_str().context("a command")?.to_owned();
    let relayed = watch.until(3).await?[0].clone();
    ensure!(relayed["location"] == "cloud-socket" && relayed["reason"] == "because", "{relayed}");

    let (status, body) = status_and_body(link_request.await??).await?;
    let elapsed = start.elapsed();
    ensure!(status == 408 && body["error"] == "approval timed out", "{status} {body}");
    ensure!(body["code"] == "approval_timed_out" && body["operationId"] == "health_check", "{body}");
    ensure!(elapsed >= LINK_APPROVAL_TIMEOUT && elapsed < LINK_TIMEOUT, "expired after {elapsed:?}");
    let path = format!("/compute-targets/{target}/commands/{command}/events?stream=true");
    let stream = system.page.0.request(Method::GET, &path).header("accept", "text/event-stream");
    let stream_text = stream.send().await?.text().await?;
    ensure!(stream_text.contains("408") && stream_text.contains("approval timed out"), "{stream_text}");

    // A local caller has a longer timeout and is answered when the owner approves.
    ensure!(watch.one().await?["id"] == local_approval["id"]);
    let history = Owner::of(loopgate).await?.call("approvals.resolved", json!({})).await?;
    let decisions: Vec<&Value> =
        history.as_array().into_iter().flatten().map(|row| &row["decision"]).collect();
    ensure!(decisions == ["expired", "expired"], "{history}");
    Owner::of(loopgate).await?.call("approvals.approve", json!({"approvalId": local_approval["id"]})).await?;
    ensure!(local_request.await??.status() == 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnected_caller_cancels_its_request() -> Result<()> {
    let local = TestGateway::new().await?;
    let (loopgate, port) = (&local.loopgate, local.loopgate.ready().gateway_port);
    let mut watch = OwnerWatch::of(loopgate).await?;
    // A raw connection, so that the test decides when the caller disconnects.
    let mut caller = TcpStream::connect(("127.0.0.1", port)).await?;
    let token = loopgate.gateway_token();
    let request = format!(
        "GET {VERSION} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Desktop-Gateway-Token: {token}\r\n{FORCE}: 1\r\n\r\n"
    );
    caller.write_all(request.as_bytes()).await?;
    let first = watch.one().await?;
    // An identical request of a second caller shares the pending approval and keeps it alive.
    let other = hold(loopgate, VERSION);
    watch.next().await?;
    drop(caller);
    let mut owner = Owner::of(loopgate).await?;
    ensure!(owner.call("approvals.list", json!({})).await?[0]["id"] == first["id"]);
    other.abort();
    watch.nothing().await?;
    let history = owner.call("approvals.resolved", json!({})).await?;
    ensure!(history[0]["id"] == first["id"] && history[0]["decision"] == "expired", "{history}");
    let late = owner.call("approvals.approve", json!({"approvalId": first["id"]})).await?;
    ensure!(late.is_null(), "a decision after expiry has no effect: {late}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restart_drops_pending_approvals_and_keeps_rules_and_policies() -> Result<()> {
    let mut local = TestGateway::new().await?;
    let send_held = |local: &TestGateway| hold(&local.loopgate, VERSION);
    let mut watch = OwnerWatch::of(&local.loopgate).await?;
    let listing = hold(&local.loopgate, PENDING);
    ensure!(listing.await??.status() == 200, "reading the pending approvals is never held");
    let body = json!({"repoPath": local.at("shop")}).to_string();
    let git_request =
        |local: &TestGateway| local.loopgate.gateway(Method::POST, "/api/gateway/git").body(body.clone());
    let held = tokio::spawn(git_request(&local).header(FORCE, "1").send());
    let id = watch.one().await?["id"].clone();
    let mut owner = Owner::of(&local.loopgate).await?;
    let rule = owner.call("approvals.always_allow", json!({"approvalId": id})).await?;
    ensure!(held.await??.status() == 404, "the request was allowed; its repository does not exist");
    watch.nothing().await?;
    let deny = json!({"operationId": "deploy", "effect": "deny"});
    let policy = owner.call("approvals.set_policy", deny).await?;

    for graceful in [false, true] {
        let mut watch = OwnerWatch::of(&local.loopgate).await?;
        let held = send_held(&local);
        watch.one().await?;
        if graceful {
            ensure!(local.loopgate.stop().await?.code() == Some(0));
        } else {
            local.loopgate.kill().await?;
        }
        ensure!(held.await?.is_err(), "the connection of the caller is closed");
        local.restart().await?;
        let mut owner = Owner::of(&local.loopgate).await?;
        for verb in ["approvals.list", "approvals.resolved"] {
            ensure!(owner.call(verb, json!({})).await? == json!([]), "{verb}, graceful stop: {graceful}");
        }
        ensure!(pending(&local.loopgate).await?.is_empty());
        ensure!(owner.call("approvals.rules", json!({})).await? == json!([rule]));
        ensure!(owner.call("approvals.policies", json!({})).await? == json!([policy]));
    }
    let refused = local.loopgate.gateway(Method::POST, "/api/gateway/deploy").send().await?;
    ensure!(status_and_body(refused).await?.1["code"] == "request_denied");
    // A request after the restart creates a new approval, which can be decided.
    let mut watch = OwnerWatch::of(&local.loopgate).await?;
    let held = send_held(&local);
    let id = watch.one().await?["id"].clone();
    Owner::of(&local.loopgate).await?.call("approvals.approve", json!({"approvalId": id})).await?;
    ensure!(held.await??.status() == 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_of_concurrent_decisions_takes_effect() -> Result<()> {
    let local = TestGateway::new().await?;
    let loopgate = &local.loopgate;
    let mut watch = OwnerWatch::of(loopgate).await?;
    // Six deciders race in each of twelve rounds; exactly one decision may take effect.
    for round in 0..12 {
        let held = hold(loopgate, &format!("{VERSION}?round={round}"));
        let id = watch.one().await?["id"].clone();
        let mut deciders = tokio::task::JoinSet::new();
        for decider in 0..6 {
            let verb = if decider % 2 == 0 { "approvals.approve" } else { "approvals.deny" };
            let (mut owner, id) = (Owner::of(loopgate).await?, id.clone());
            deciders.spawn(async move { owner.call(verb, json!({"approvalId": id})).await });
        }
        let answers: Vec<Value> = deciders.join_all().await.into_iter().collect::<Result<_>>()?;
        let effective: Vec<&Value> = answers.iter().filter(|answer| !answer.is_null()).collect();
        let [decision] = effective[..] else {
            anyhow::bail!("{} decisions took effect: {answers:?}", effective.len())
        };
        let (status, _) = status_and_body(held.await??).await?;
        let expected = if decision["decision"] == "approved" { 200 } else { 403 };
        ensure!(status == expected, "{decision} and {status}");
        watch.nothing().await?;
    }
    Ok(())
}

// GC-41, GC-42
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http_callers_see_pending_approvals_and_cannot_decide() -> Result<()> {
    let local = TestGateway::new().await?;
    let loopgate = &local.loopgate;
    Owner::of(loopgate).await?.call("approvals.set_policy", json!({"effect": "ask"})).await?;
    let mut watch = OwnerWatch::of(loopgate).await?;
    std::fs::create_dir_all(local.at("shop"))?;
    std::os::unix::fs::symlink(local.at("shop"), local.at("link"))?;
    let body = json!({"action": "push", "repoPath": local.at("link"), "worktreePath": local.at("new")});
    let request = loopgate.gateway(Method::POST, "/api/gateway/git?token=hunter2-hunter2").json(&body);
    let held = tokio::spawn(request.send());
    let id = watch.one().await?["id"].clone();

    let answer: Value = loopgate.gateway(Method::GET, PENDING).send().await?.json().await?;
    let [shown] = answer["waiting"].as_array().context("a list")?.as_slice() else {
        anyhow::bail!("expected one pending approval: {answer}")
    };
    let real = local.at("").canonicalize()?;
    ensure!(
        shown["directories"] == json!([real.join("shop")]) && shown["action"] == "action=push",
        "{shown}"
    );
    ensure!(shown["operationId"] == "git_action" && shown["riskTier"] == "medium", "{shown}");
    ensure!(shown["method"] == "POST" && shown["path"] == "/api/gateway/git", "{shown}");
    ensure!(shown["location"] == "127.0.0.1" && shown["id"] == id, "{shown}");
    ensure!(!answer.to_string().contains("hunter2"), "{answer}");
    let timestamp = |name: &str| {
        shown[name].as_str().context("a time")?.parse::<jiff::Timestamp>().map_err(anyhow::Error::from)
    };
    let limit = timestamp("waitsUntil")?.duration_since(timestamp("createdAt")?);
    ensure!((119..=121).contains(&limit.as_secs()), "{shown}");
    let relayed = loopgate.gateway(Method::GET, PENDING).header(SOURCE, "cloud-socket").send().await?;
    ensure!(status_and_body(relayed).await?.1["code"] == "not_available_over_relay");

    // No HTTP request can decide, whatever its method, path and body.
    let decision = json!({"id": id, "approvalId": id, "verb": "approvals.approve", "decision": "approved"});
    for path in
        [PENDING, "/api/gateway/approvals/approve", "/api/gateway/approvals/x", "/approvals", "/control.sock"]
    {
        let path = path.replace("/x", &format!("/{}", id.as_str().unwrap_or_default()));
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let answer = loopgate.gateway(method.clone(), &path).json(&decision).send().await?;
            ensure!([403, 404].contains(&answer.status().as_u16()), "{method} {path}: {}", answer.status());
        }
    }
    ensure!(pending(loopgate).await?.len() == 1);
    let mode = |path: std::path::PathBuf| anyhow::Ok(path.metadata()?.permissions().mode() & 0o777);
    ensure!(mode(loopgate.setup().data_dir())? == 0o700);
    ensure!(mode(loopgate.setup().data_dir().join("control.sock"))? == 0o600);

    // The command that the page shows approves the request when the owner runs it.
    let command = answer["command"].as_str().context("a command")?;
    let decide = format!("{command} approve {}", &id.as_str().context("an id")?[28..]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_loopgate")).parent().context("a folder")?;
    let path = std::env::join_paths([program, "/usr/bin".as_ref(), "/bin".as_ref()])?;
    let output = local.home.command("/bin/sh").args(["-c", &decide]).env("PATH", path).output().await?;
    ensure!(output.status.success(), "{decide}: {}", String::from_utf8_lossy(&output.stderr));
    let (status, body) = status_and_body(held.await??).await?;
    ensure!(![403, 408].contains(&status.as_u16()), "the approved request was not handled: {status} {body}");

    let events = Owner::of(loopgate).await?.call("activity.list", json!({})).await?;
    let is_recorded =
        events.as_array().into_iter().flatten().any(|e| e["path"] == PENDING && e["statusCode"] == 200);
    ensure!(!is_recorded, "listing approvals is recorded as an event: {events}");
    Ok(())
}

// GC-18
// The size limit is checked before approval, so that no approval is created for a body that is refused
// anyway.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_large_body_is_refused_without_approval() -> Result<()> {
    let local = TestGateway::new().await?;
    let loopgate = &local.loopgate;
    let mut owner = Owner::of(loopgate).await?;
    owner.call("approvals.set_policy", json!({"effect": "ask"})).await?;
    let refused = loopgate.gateway(Method::POST, "/api/gateway/git").body("x".repeat(262_145)).send().await?;
    let (status, body) = status_and_body(refused).await?;
    ensure!(status == 413 && body["maxBytes"] == 262_144, "{status} {body}");
    for verb in ["approvals.list", "approvals.resolved"] {
        ensure!(owner.call(verb, json!({})).await? == json!([]), "{verb}");
    }
    // A body of exactly the maximum size is held.
    let mut watch = OwnerWatch::of(loopgate).await?;
    let held =
        tokio::spawn(loopgate.gateway(Method::POST, "/api/gateway/git").body("x".repeat(262_144)).send());
    let id = watch.one().await?["id"].clone();
    owner.call("approvals.approve", json!({"approvalId": id})).await?;
    let (status, body) = status_and_body(held.await??).await?;
    ensure!(status == 400 && body["error"] == "Invalid JSON body", "{status} {body}");
    Ok(())
}

// GC-26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_rule_allows_no_request() -> Result<()> {
    let mut local = TestGateway::new().await?;
    let file = local.loopgate.setup().data_dir().join("desktop-approvals.json");
    let body = json!({"repoPath": local.at("shop")}).to_string();
    let send = |local: &TestGateway| {
        tokio::spawn(local.loopgate.gateway(Method::POST, "/api/gateway/git").body(body.clone()).send())
    };
    Owner::of(&local.loopgate).await?.call("approvals.set_policy", json!({"effect": "ask"})).await?;
    for end in ["2020-01-01T00:00:00.000Z", "some day"] {
        let mut watch = OwnerWatch::of(&local.loopgate).await?;
        let held = send(&local);
        let id = watch.one().await?["id"].clone();
        let mut owner = Owner::of(&local.loopgate).await?;
        owner.call("approvals.always_allow", json!({"approvalId": id})).await?;
        ensure!(held.await??.status() == 404, "the request was allowed; its repository does not exist");
        ensure!(send(&local).await??.status() == 404, "the rule allows an identical request");

        // Edit the expiry of the rule while Loopgate is stopped. An invalid timestamp counts as expired.
        ensure!(local.loopgate.stop().await?.code() == Some(0));
        let mut stored: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
        stored["rules"][0]["expiresAt"] = json!(end);
        std::fs::write(&file, stored.to_string())?;
        local.restart().await?;
        let mut owner = Owner::of(&local.loopgate).await?;
        ensure!(owner.call("approvals.rules", json!({})).await? == json!([]), "{end}");
        let mut watch = OwnerWatch::of(&local.loopgate).await?;
        let held = send(&local);
        let id = watch.one().await?["id"].clone();
        owner.call("approvals.deny", json!({"approvalId": id})).await?;
        ensure!(held.await??.status() == 403, "{end}");
    }
    Ok(())
}
