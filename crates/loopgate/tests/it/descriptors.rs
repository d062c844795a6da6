//! Exhausted file descriptors: the liveness probe and the owner's socket still respond.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::{Loopgate, Setup};
use loopgate_testkit::wait;
use reqwest::Method;

use crate::cli::loops;

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// Returns a script that starts the program under this `ulimit`.
fn limited(home: &UserHome, limit: &str) -> Result<PathBuf> {
    home.script("loopgate-limited", &format!("#!/bin/sh\nulimit {limit}\nexec '{PROGRAM}' \"$@\"\n"))
}

/// Returns the gateway's address without its scheme.
fn gateway_address(loopgate: &Loopgate) -> Result<String> {
    let origin = loopgate.gateway_origin();
    Ok(origin.strip_prefix("http://").context("an address")?.to_owned())
}

fn idle_connections(address: &str, count: usize) -> Result<Vec<TcpStream>> {
    (0..count).map(|_| Ok(TcpStream::connect(address)?)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_do_not_block_requests_under_few_descriptors() -> Result<()> {
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(limited(&home, "-n 64")?).gateway_alone();
    let setup = setup.env("LOOPGATE_API_KEY", "lgk_live_0123456789abcdef0123456789abcdef");
    let mut loopgate = setup.start().await?;
    let address = gateway_address(&loopgate)?;
    // More idle connections than descriptors, so that the listener has to close the oldest ones.
    let _idle = idle_connections(&address, 100)?;
    let socket = loopgate.setup().data_dir().join("control.sock");
    let mut owners = Vec::new();
    for round in 0..3 {
        let health = loopgate.gateway_bare(Method::GET, "/health").send().await?;
        ensure!(health.status() == 200, "round {round}: {}", health.status());
        let version = loopgate.gateway(Method::GET, "/api/gateway/version").send().await?;
        ensure!(version.status() == 200, "round {round}: {}", version.status());
        ensure!(loops(&home, &loopgate).await?.is_empty());
        for _ in 0..50 {
            owners.push(UnixStream::connect(&socket)?);
        }
    }
    ensure!(
        loops(&home, &loopgate).await?.is_empty(),
        "the control socket does not respond with 150 idle connections"
    );
    ensure!(loopgate.is_running()? && !loopgate.output().contains("panicked"), "{}", loopgate.output());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_is_served_despite_idle_connections_under_few_descriptors() -> Result<()> {
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(limited(&home, "-n 96")?);
    let loopgate = setup.arg("--api-origin").arg("http://127.0.0.1:0").start().await?;
    let page = loopgate.ready().page_url.clone();
    let _idle = idle_connections(page.strip_prefix("http://").context("an address")?, 100)?;
    let signed_in = loopgate.sign_in().await?;
    ensure!(signed_in.get("/documents").await?.is_object());
    Ok(())
}

/// Sets a resource limit of the running process.
fn set_limit(loopgate: &Loopgate, limit: &str) -> Result<()> {
    let pid = loopgate.pid().context("not running")?.to_string();
    #[expect(clippy::disallowed_methods, reason = "limits a process of this test")]
    let status = std::process::Command::new("prlimit").args(["--pid", &pid, limit]).status()?;
    ensure!(status.success(), "prlimit failed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listeners_recover_when_descriptors_are_available_again() -> Result<()> {
    let home = UserHome::temporary()?;
    let loopgate = Setup::new(&home)?.binary(PROGRAM).gateway_alone().start().await?;
    // A soft limit of 1 makes every further `accept` fail with EMFILE; open descriptors stay usable.
    set_limit(&loopgate, "--nofile=1:")?;
    let mut owner = UnixStream::connect(loopgate.setup().data_dir().join("control.sock"))?;
    owner.write_all(b"{\"id\":1,\"verb\":\"approvals.list\"}\n")?;
    let mut page = TcpStream::connect(gateway_address(&loopgate)?)?;
    page.write_all(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")?;
    let has_warned = || loopgate.output().contains("out of file descriptors");
    wait::until(home.path(), async || has_warned().then_some(())).await?;
    set_limit(&loopgate, "--nofile=1024:")?;
    let answers = tokio::task::spawn_blocking(move || {
        // Both connections wait in the kernel's backlog until `accept` succeeds again.
        let (mut listed, mut health) = ([0; 8], [0; 8]);
        owner.set_read_timeout(Some(wait::LIMIT))?;
        page.set_read_timeout(Some(wait::LIMIT))?;
        owner.read_exact(&mut listed)?;
        page.read_exact(&mut health)?;
        anyhow::Ok((listed, health))
    });
    let (listed, health) = answers.await??;
    ensure!(&listed == b"{\"id\":1," && &health == b"HTTP/1.1", "{listed:?} {health:?}");
    ensure!(loops(&home, &loopgate).await?.is_empty(), "the control socket does not respond");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn soft_limit_is_raised_to_the_hard_limit() -> Result<()> {
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(limited(&home, "-S -n 256")?).gateway_alone();
    let loopgate = setup.start().await?;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", loopgate.pid().context("not running")?))?;
    let line = limits.lines().find(|line| line.starts_with("Max open files")).context("a limit")?;
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let (soft, hard) = (numbers.next().context("a number")?, numbers.next().unwrap_or(u64::MAX));
    // 65,536 is the cap that the program sets for itself.
    ensure!(soft == hard.min(65_536), "{line}");
    Ok(())
}
