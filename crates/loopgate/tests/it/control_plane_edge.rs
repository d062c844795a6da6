//! Slow, large and interrupted requests to the control plane.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::control_plane::TestControlPlane;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::signal;
use loopgate_testkit::wait;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// The head of a sign-in and a part of its body.
fn half_sent(address: &str, declared: usize) -> String {
    format!(
        "POST /auth/sign-in HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {declared}\r\n\r\n{{\"email\": "
    )
}

async fn send(address: &str, text: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(text.as_bytes()).await?;
    Ok(stream)
}

/// Returns a memory figure of a process in KiB: `VmRSS`, or `VmHWM` for its largest value so far.
fn memory(pid: u32, name: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(line.context("no such figure")?.trim().trim_end_matches("kB").trim().parse()?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_sent_bodies_do_not_exclude_other_clients() -> Result<()> {
    let home = UserHome::temporary()?;
    // Room for 74 connections.
    let limited = format!("#!/bin/sh\nulimit -n 256\nexec '{PROGRAM}' \"$@\"\n");
    let limited = home.script("loopgate-limited", &limited)?;
    let plane = TestControlPlane::start(&limited, home.path()).await?;
    let address = plane.origin().strip_prefix("http://").context("an address")?.to_owned();
    let mut open = Vec::new();
    for _ in 0..80 {
        open.push(send(&address, &half_sent(&address, 1000)).await?);
    }
    // The server closes connections without a request to make room, so that none is used twice.
    let client = loopgate_http_client::builder().pool_max_idle_per_host(0).build()?;
    for path in ["/health", "/health/db", "/documents"] {
        let request = client.execute(plane.request("GET", path).build()?);
        let response = tokio::time::timeout(wait::LIMIT, request).await??;
        ensure!(response.status() == 200, "{path}: {}", response.status());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_need_little_memory() -> Result<()> {
    let home = UserHome::temporary()?;
    let plane = TestControlPlane::start(PROGRAM.as_ref(), home.path()).await?;
    let address = plane.origin().strip_prefix("http://").context("an address")?.to_owned();
    let pid = plane.pid().context("not running")?;
    let before = memory(pid, "VmHWM")?;
    let mut open = Vec::new();
    for _ in 0..60 {
        // The server answers after the head; the rest of the body may meet a closed connection.
        let mut stream = send(&address, &half_sent(&address, 9_900_000)).await?;
        let _ = stream.write_all(&vec![b' '; 1_000_000]).await;
        open.push(stream);
    }
    let capabilities: Vec<_> = (0..500_000).map(|_| json!({"a": 0})).collect();
    let body = json!({"machineName": "x", "platform": "x", "supportedOperations": [], "capabilities": {"a": capabilities}});
    let refused = plane.request("POST", "/compute-targets/register").json(&body).send().await?;
    ensure!(refused.status() == 413, "{}", refused.status());
    let grown = memory(pid, "VmHWM")? - before;
    ensure!(grown < 30 * 1024, "{grown} KiB");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connected_desktop_needs_little_memory() -> Result<()> {
    const DESKTOPS: u64 = 80;
    let home = UserHome::temporary()?;
    let plane = TestControlPlane::start(PROGRAM.as_ref(), home.path()).await?;
    let pid = plane.pid().context("not running")?;
    // The first desktops also fill the caches of the database.
    let mut desktops = Vec::new();
    for nth in 0..20 {
        desktops.push(plane.connect_desktop(&format!("first-{nth}"), Duration::ZERO).await?);
    }
    let before = memory(pid, "VmRSS")?;
    for nth in 0..DESKTOPS {
        desktops.push(plane.connect_desktop(&format!("desktop-{nth}"), Duration::ZERO).await?);
    }
    let each = memory(pid, "VmRSS")?.saturating_sub(before) / DESKTOPS;
    println!("{each} KiB for each desktop");
    // With tungstenite's default buffer of 128 KiB, a desktop needs 160 to 210 KiB.
    ensure!(each < 110, "{each} KiB for each desktop");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn termination_finishes_requests_in_flight() -> Result<()> {
    let home = UserHome::temporary()?;
    let mut plane = TestControlPlane::start(PROGRAM.as_ref(), home.path()).await?;
    let address = plane.origin().strip_prefix("http://").context("an address")?.to_owned();
    // A stream would never end by itself.
    let stream = plane.request("GET", "/compute-targets/status-stream").send().await?;
    ensure!(stream.status() == 200);
    let body = json!({"email": "eve@example.org", "password": "not the password"}).to_string();
    let head = half_sent(&address, body.len());
    let (head, rest) = (head.split_once("\r\n\r\n").context("a head")?.0, body);
    let mut request = send(&address, &format!("{head}\r\n\r\n{}", &rest[..10])).await?;
    // A response on a later connection shows that the earlier one was accepted.
    plane.request("GET", "/health").send().await?;
    signal(plane.pid().context("not running")?, "TERM")?;
    // The end of the stream shows that the shutdown has begun.
    tokio::time::timeout(wait::LIMIT, stream.bytes()).await??;
    request.write_all(&rest.as_bytes()[10..]).await?;
    let mut response = String::new();
    tokio::time::timeout(wait::LIMIT, request.read_to_string(&mut response)).await??;
    ensure!(response.starts_with("HTTP/1.1 401"), "{response}");
    let ended = tokio::time::timeout(Duration::from_secs(30), plane.wait()).await??;
    ensure!(ended.success(), "{ended}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn draining_instance_is_not_ready_and_serves_requests() -> Result<()> {
    let home = UserHome::temporary()?;
    let draining = format!("#!/bin/sh\nexport LOOPGATE_DRAIN_SECONDS=4\nexec '{PROGRAM}' \"$@\"\n");
    let draining = home.script("loopgate-draining", &draining)?;
    let mut plane = TestControlPlane::start(&draining, home.path()).await?;
    signal(plane.pid().context("not running")?, "TERM")?;
    let drained = async {
        while plane.request("GET", "/health/ready").send().await?.status() == 200 {}
        anyhow::Ok(())
    };
    tokio::time::timeout(wait::LIMIT, drained).await??;
    let served = plane.request("GET", "/documents").send().await?;
    ensure!(served.status() == 200, "{}", served.status());
    let ended = tokio::time::timeout(Duration::from_secs(30), plane.wait()).await??;
    ensure!(ended.success(), "{ended}");
    Ok(())
}
