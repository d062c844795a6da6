//! Requests that wait for the owner: who may decide, when it ends without a decision, and what a page
//! is shown of it.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::loopgate::Loopgate;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::local::Local;
use crate::owner::{Owner, OwnerWatch};
use crate::test_system::TestSystem;

pub const VERSION: &str = "/api/gateway/version";
const WAITING: &str = "/api/gateway/approvals";
pub const FORCE: &str = "x-desktop-force-approval";
const SOURCE: &str = "x-desktop-source";
/// What nobody decides ends after this, when the control plane asks.
const OVER_LINK: Duration = Duration::from_secs(50);
/// The control plane gives up then.
const LINK_TIMEOUT: Duration = Duration::from_secs(60);

/// A request that is held, because its caller demands it.
pub fn hold(loopgate: &Loopgate, path: &str) -> JoinHandle<reqwest::Result<Response>> {
    let request = loopgate.gateway(Method::GET, path).header(FORCE, "1").timeout(Duration::from_secs(200));
    tokio::spawn(request.send())
}

async fn status_and_body(answer: Response) -> Result<(StatusCode, Value)> {
    Ok((answer.status(), answer.json().await?))
}

async fn waiting(loopgate: &Loopgate) -> Result<Vec<Value>> {
    let answer = loopgate.gateway(Method::GET, WAITING).send().await?.error_for_status()?;
    let mut body: Value = answer.json().await?;
    serde_json::from_value(body["waiting"].take()).context("a list")
}

// GC-41
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn undecided_request_ends_before_the_control_planes_timeout() -> Result<()> {
    let system = TestSystem::story().await?;
    let loopgate = &system.loopgate;
    let targets = system.page.0.get("/compute-targets").await?;
    let target = targets["data"][0]["id"].as_str().context("a desktop")?.to_owned();
    let mut watch = OwnerWatch::of(loopgate).await?;
    let begun = Instant::now();
    let near = hold(loopgate, VERSION);
    let own = watch.one().await?;
    // The same over the link, once by its header and once by the control plane itself.
    let request = loopgate.gateway(Method::GET, "/api/gateway/version?link").header(FORCE, "true");
    let far = tokio::spawn(request.header(SOURCE, "cloud-socket").send());
    watch.until(2).await?;
    let command = json!({"operationId": "health_check", "method": "GET", "path": "/api/gateway/version?relay",
        "timeoutMs": 120_000, "requiresApproval": true, "approvalReason": "because"});
    let sent = system.page.0.post(&format!("/compute-targets/{target}/commands"), &command).await?;
    let command = sent["data"]["commandId"].as_str().context("a command")?.to_owned();
    let relayed = watch.until(3).await?[0].clone();
    ensure!(relayed["location"] == "cloud-socket" && relayed["reason"] == "because", "{relayed}");

    let (status, body) = status_and_body(far.await??).await?;
    let took = begun.elapsed();
    ensure!(status == 408 && body["error"] == "approval timed out", "{status} {body}");
    ensure!(body["code"] == "approval_timed_out" && body["operationId"] == "health_check", "{body}");
    ensure!(took >= OVER_LINK && took < LINK_TIMEOUT, "it took {took:?}");
    let path = format!("/compute-targets/{target}/commands/{command}/events?stream=true");
    let stream = system.page.0.request(Method::GET, &path).header("accept", "text/event-stream");
    let told_by_link = stream.send().await?.text().await?;
    ensure!(told_by_link.contains("408") && told_by_link.contains("approval timed out"), "{told_by_link}");

    // A caller of this machine may wait longer, and is answered when the owner comes.
    ensure!(watch.one().await?["id"] == own["id"]);
    let history = Owner::of(loopgate).await?.ask("approvals.resolved", json!({})).await?;
    let decisions: Vec<&Value> =
        history.as_array().into_iter().flatten().map(|row| &row["decision"]).collect();
    ensure!(decisions == ["expired", "expired"], "{history}");
    Owner::of(loopgate).await?.ask("approvals.approve", json!({"approvalId": own["id"]})).await?;
    ensure!(near.await??.status() == 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnected_caller_cancels_its_request() -> Result<()> {
    let local = Local::new().await?;
    let (loopgate, port) = (&local.loopgate, local.loopgate.ready().gateway_port);
    let mut watch = OwnerWatch::of(loopgate).await?;
    let mut caller = TcpStream::connect(("127.0.0.1", port)).await?;
    let token = loopgate.gateway_token();
    let request = format!(
        "GET {VERSION} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Desktop-Gateway-Token: {token}\r\n{FORCE}: 1\r\n\r\n"
    );
    caller.write_all(request.as_bytes()).await?;
    let first = watch.one().await?;
    // Another caller who asks the same keeps it alive.
    let other = hold(loopgate, VERSION);
    watch.next().await?;
    drop(caller);
    let mut owner = Owner::of(loopgate).await?;
    ensure!(owner.ask("approvals.list", json!({})).await?[0]["id"] == first["id"]);
    other.abort();
    watch.nothing().await?;
    let history = owner.ask("approvals.resolved", json!({})).await?;
    ensure!(history[0]["id"] == first["id"] && history[0]["decision"] == "expired", "{history}");
    let late = owner.ask("approvals.approve", json!({"approvalId": first["id"]})).await?;
    ensure!(late.is_null(), "a decision that comes too late decides nothing: {late}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restart_ends_what_waited_and_keeps_what_was_decided() -> Result<()> {
    let mut local = Local::new().await?;
    let asks = |local: &Local| hold(&local.loopgate, VERSION);
    let mut watch = OwnerWatch::of(&local.loopgate).await?;
    let rule = hold(&local.loopgate, WAITING);
    ensure!(rule.await??.status() == 200, "reading what waits is never held");
    let body = json!({"repoPath": local.at("shop")}).to_string();
    let status = |local: &Local| local.loopgate.gateway(Method::POST, "/api/gateway/git").body(body.clone());
    let held = tokio::spawn(status(&local).header(FORCE, "1").send());
    let id = watch.one().await?["id"].clone();
    let mut owner = Owner::of(&local.loopgate).await?;
    let rule = owner.ask("approvals.always_allow", json!({"approvalId": id})).await?;
    ensure!(held.await??.status() == 404, "it passed, and found no repository");
    watch.nothing().await?;
    let deny = json!({"operationId": "deploy", "effect": "deny"});
    let policy = owner.ask("approvals.set_policy", deny).await?;

    for gently in [false, true] {
        let mut watch = OwnerWatch::of(&local.loopgate).await?;
        let held = asks(&local);
        watch.one().await?;
        if gently {
            ensure!(local.loopgate.stop().await?.code() == Some(0));
        } else {
            local.loopgate.kill().await?;
        }
        ensure!(held.await?.is_err(), "nobody answers a caller whose gateway has gone");
        local.again().await?;
        let mut owner = Owner::of(&local.loopgate).await?;
        for verb in ["approvals.list", "approvals.resolved"] {
            ensure!(owner.ask(verb, json!({})).await? == json!([]), "{verb} gently: {gently}");
        }
        ensure!(waiting(&local.loopgate).await?.is_empty());
        ensure!(owner.ask("approvals.rules", json!({})).await? == json!([rule]));
        ensure!(owner.ask("approvals.policies", json!({})).await? == json!([policy]));
    }
    let refused = local.loopgate.gateway(Method::POST, "/api/gateway/deploy").send().await?;
    ensure!(status_and_body(refused).await?.1["code"] == "request_denied");
    // It asks anew, and can be decided.
    let mut watch = OwnerWatch::of(&local.loopgate).await?;
    let held = asks(&local);
    let id = watch.one().await?["id"].clone();
    Owner::of(&local.loopgate).await?.ask("approvals.approve", json!({"approvalId": id})).await?;
    ensure!(held.await??.status() == 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_decision_counts_however_many_decide() -> Result<()> {
    let local = Local::new().await?;
    let loopgate = &local.loopgate;
    let mut watch = OwnerWatch::of(loopgate).await?;
    for round in 0..12 {
        let held = hold(loopgate, &format!("{VERSION}?round={round}"));
        let id = watch.one().await?["id"].clone();
        let mut deciders = tokio::task::JoinSet::new();
        for decider in 0..6 {
            let verb = if decider % 2 == 0 { "approvals.approve" } else { "approvals.deny" };
            let (mut owner, id) = (Owner::of(loopgate).await?, id.clone());
            deciders.spawn(async move { owner.ask(verb, json!({"approvalId": id})).await });
        }
        let answers: Vec<Value> = deciders.join_all().await.into_iter().collect::<Result<_>>()?;
        let counted: Vec<&Value> = answers.iter().filter(|answer| !answer.is_null()).collect();
        let [counted] = counted[..] else { anyhow::bail!("{} decided: {answers:?}", counted.len()) };
        let (status, _) = status_and_body(held.await??).await?;
        let wanted = if counted["decision"] == "approved" { 200 } else { 403 };
        ensure!(status == wanted, "{counted} and {status}");
        watch.nothing().await?;
    }
    Ok(())
}

// GC-41, GC-42
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_sees_what_waits_and_cannot_decide() -> Result<()> {
    let local = Local::new().await?;
    let loopgate = &local.loopgate;
    Owner::of(loopgate).await?.ask("approvals.set_policy", json!({"effect": "ask"})).await?;
    let mut watch = OwnerWatch::of(loopgate).await?;
    std::fs::create_dir_all(local.at("shop"))?;
    std::os::unix::fs::symlink(local.at("shop"), local.at("link"))?;
    let body = json!({"action": "push", "repoPath": local.at("link"), "worktreePath": local.at("new")});
    let request = loopgate.gateway(Method::POST, "/api/gateway/git?token=hunter2-hunter2").json(&body);
    let held = tokio::spawn(request.send());
    let id = watch.one().await?["id"].clone();

    let answer: Value = loopgate.gateway(Method::GET, WAITING).send().await?.json().await?;
    let [shown] = answer["waiting"].as_array().context("a list")?.as_slice() else {
        anyhow::bail!("one request waits: {answer}")
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
    let left = |name: &str| {
        shown[name].as_str().context("a time")?.parse::<jiff::Timestamp>().map_err(anyhow::Error::from)
    };
    let limit = left("waitsUntil")?.duration_since(left("createdAt")?);
    ensure!((119..=121).contains(&limit.as_secs()), "{shown}");
    let relayed = loopgate.gateway(Method::GET, WAITING).header(SOURCE, "cloud-socket").send().await?;
    ensure!(status_and_body(relayed).await?.1["code"] == "not_available_over_relay");

    // Nothing that speaks HTTP decides, whatever it sends and wherever to.
    let decision = json!({"id": id, "approvalId": id, "verb": "approvals.approve", "decision": "approved"});
    for path in
        [WAITING, "/api/gateway/approvals/approve", "/api/gateway/approvals/x", "/approvals", "/control.sock"]
    {
        let path = path.replace("/x", &format!("/{}", id.as_str().unwrap_or_default()));
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let answer = loopgate.gateway(method.clone(), &path).json(&decision).send().await?;
            ensure!([403, 404].contains(&answer.status().as_u16()), "{method} {path}: {}", answer.status());
        }
    }
    ensure!(waiting(loopgate).await?.len() == 1);
    let mode = |path: std::path::PathBuf| anyhow::Ok(path.metadata()?.permissions().mode() & 0o777);
    ensure!(mode(loopgate.setup().data_dir())? == 0o700);
    ensure!(mode(loopgate.setup().data_dir().join("control.sock"))? == 0o600);

    // The command that the page shows is the one that decides.
    let command = answer["command"].as_str().context("a command")?;
    let decide = format!("{command} approve {}", &id.as_str().context("an id")?[28..]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_loopgate")).parent().context("a folder")?;
    let path = std::env::join_paths([program, "/usr/bin".as_ref(), "/bin".as_ref()])?;
    let output = local.home.command("/bin/sh").args(["-c", &decide]).env("PATH", path).output().await?;
    ensure!(output.status.success(), "{decide}: {}", String::from_utf8_lossy(&output.stderr));
    let (status, body) = status_and_body(held.await??).await?;
    ensure!(![403, 408].contains(&status.as_u16()), "it passed: {status} {body}");

    let events = Owner::of(loopgate).await?.ask("activity.list", json!({})).await?;
    let watched =
        events.as_array().into_iter().flatten().any(|e| e["path"] == WAITING && e["statusCode"] == 200);
    ensure!(!watched, "looking is no event: {events}");
    Ok(())
}

/// A size is judged before anybody is asked.
// GC-18
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_large_body_is_refused_without_approval() -> Result<()> {
    let local = Local::new().await?;
    let loopgate = &local.loopgate;
    let mut owner = Owner::of(loopgate).await?;
    owner.ask("approvals.set_policy", json!({"effect": "ask"})).await?;
    let refused = loopgate.gateway(Method::POST, "/api/gateway/git").body("x".repeat(262_145)).send().await?;
    let (status, body) = status_and_body(refused).await?;
    ensure!(status == 413 && body["maxBytes"] == 262_144, "{status} {body}");
    for verb in ["approvals.list", "approvals.resolved"] {
        ensure!(owner.ask(verb, json!({})).await? == json!([]), "{verb}");
    }
    // Exactly as much as is taken waits.
    let mut watch = OwnerWatch::of(loopgate).await?;
    let held =
        tokio::spawn(loopgate.gateway(Method::POST, "/api/gateway/git").body("x".repeat(262_144)).send());
    let id = watch.one().await?["id"].clone();
    owner.ask("approvals.approve", json!({"approvalId": id})).await?;
    let (status, body) = status_and_body(held.await??).await?;
    ensure!(status == 400 && body["error"] == "Invalid JSON body", "{status} {body}");
    Ok(())
}

// GC-26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_whose_time_is_over_lets_nothing_pass() -> Result<()> {
    let mut local = Local::new().await?;
    let file = local.loopgate.setup().data_dir().join("desktop-approvals.json");
    let body = json!({"repoPath": local.at("shop")}).to_string();
    let ask = |local: &Local| {
        tokio::spawn(local.loopgate.gateway(Method::POST, "/api/gateway/git").body(body.clone()).send())
    };
    Owner::of(&local.loopgate).await?.ask("approvals.set_policy", json!({"effect": "ask"})).await?;
    for end in ["2020-01-01T00:00:00.000Z", "some day"] {
        let mut watch = OwnerWatch::of(&local.loopgate).await?;
        let held = ask(&local);
        let id = watch.one().await?["id"].clone();
        let mut owner = Owner::of(&local.loopgate).await?;
        owner.ask("approvals.always_allow", json!({"approvalId": id})).await?;
        ensure!(held.await??.status() == 404, "it passed, and found no repository");
        ensure!(ask(&local).await??.status() == 404, "its like passes");

        ensure!(local.loopgate.stop().await?.code() == Some(0));
        let mut kept: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
        kept["rules"][0]["expiresAt"] = json!(end);
        std::fs::write(&file, kept.to_string())?;
        local.again().await?;
        let mut owner = Owner::of(&local.loopgate).await?;
        ensure!(owner.ask("approvals.rules", json!({})).await? == json!([]), "{end}");
        let mut watch = OwnerWatch::of(&local.loopgate).await?;
        let held = ask(&local);
        let id = watch.one().await?["id"].clone();
        owner.ask("approvals.deny", json!({"approvalId": id})).await?;
        ensure!(held.await??.status() == 403, "{end}");
    }
    Ok(())
}
