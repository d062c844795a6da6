//! Isolation of requests: slow ones do not block others, and none reads the settings file or rewrites a log.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::wait;
use reqwest::Method;
use rustix::fs::inotify;
use serde_json::json;

use crate::owner::{Owner, OwnerWatch};
use crate::test_gateway::TestGateway;

/// Number of slow requests; more than the runtime has worker threads.
const SLOW: usize = 24;
/// Timeout of the other requests, which only a request that waits for a slow one exceeds.
const TIMEOUT: Duration = Duration::from_secs(10);

fn fifo(path: &Path) -> Result<()> {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    Ok(rustix::fs::mkfifoat(rustix::fs::CWD, path, mode)?)
}

// Half of the requests hang in git, the other half wait for approval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_requests_do_not_block_others() -> Result<()> {
    let home = UserHome::temporary()?;
    let gate = home.path().join("gate");
    fifo(&gate)?;
    let local = TestGateway::in_home(home, |setup| setup).await?;
    let repository = local.repository("shop", &[("a", "1\n")])?;
    local.manage(&[&repository], None)?;
    let started_calls = local.home.path().join("started-calls");
    std::fs::create_dir_all(&started_calls)?;
    local.home.script("git", &format!(
        "#!/bin/sh\ncase \"$*\" in *pull*) : > '{}'/$$; read word < '{}'; exit 1;; esac\nexec /usr/bin/git \"$@\"\n",
        started_calls.display(), gate.display()
    ))?;
    let loopgate = &local.loopgate;
    let mut watch = OwnerWatch::of(loopgate).await?;
    let mut slow = tokio::task::JoinSet::new();
    for n in 0..SLOW {
        let request = match n % 2 {
            0 => loopgate
                .gateway(Method::POST, "/api/gateway/git")
                .json(&json!({"action": "pull", "repoPath": repository})),
            _ => loopgate
                .gateway(Method::GET, &format!("/api/gateway/version?n={n}"))
                .header("x-desktop-force-approval", "1"),
        };
        slow.spawn(request.timeout(Duration::from_secs(100)).send());
    }
    watch.until(SLOW / 2).await?;
    wait::until(&started_calls, async || (started_calls.read_dir().ok()?.count() == SLOW / 2).then_some(()))
        .await?;
    for round in 0..5 {
        for path in [
            "/health",
            "/api/gateway/version",
            "/api/gateway/repos",
            "/api/gateway/approvals",
            "/api/gateway/settings/binary-paths",
        ] {
            let answer = loopgate.gateway(Method::GET, path).timeout(TIMEOUT).send().await;
            let status = answer.with_context(|| format!("{path} in round {round}"))?.status();
            ensure!(status == 200, "{path}: {status}");
        }
    }
    ensure!(slow.try_join_next().is_none(), "a slow request ended");
    Owner::of(loopgate).await?.call("approvals.clear", json!({})).await?;
    watch.nothing().await?;
    slow.abort_all();
    Ok(())
}

// The settings file is replaced by a FIFO without a writer: opening it would block the request forever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_open_no_settings_file_and_rewrite_no_log() -> Result<()> {
    let local = TestGateway::new().await?;
    let loopgate = &local.loopgate;
    let data = loopgate.setup().data_dir();
    std::fs::remove_file(data.join("settings.toml"))?;
    fifo(&data.join("settings.toml"))?;
    let log = std::fs::read_dir(data.join("logs"))?.next().context("a log")??.path();
    let (inode, before) = (log.metadata()?.ino(), std::fs::read(&log)?);
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK)?;
    inotify::add_watch(&watch, &data, inotify::WatchFlags::MOVED_TO | inotify::WatchFlags::OPEN)?;

    let start = Instant::now();
    for n in 0..300 {
        let path = ["/health", "/api/gateway/version", "/api/gateway/repos", "/api/gateway/nope"][n % 4];
        let request = loopgate.gateway(Method::GET, path).timeout(TIMEOUT);
        request.send().await.with_context(|| format!("{path} blocks on the settings file"))?;
    }
    // The activity log is written at most once a second, and once more at the end.
    let seconds = start.elapsed().as_secs() + 1;
    let mut buffer = [std::mem::MaybeUninit::uninit(); 64 * 1024];
    let mut events = inotify::Reader::new(&watch, &mut buffer);
    let (mut written, mut opened) = (0, 0);
    while let Ok(event) = events.next() {
        let has_name = |name: &str| event.file_name().is_some_and(|file| file.to_bytes() == name.as_bytes());
        let moved = event.events().contains(inotify::ReadFlags::MOVED_TO);
        written += u64::from(moved && has_name("desktop-activity-log.json"));
        opened += u64::from(!moved && has_name("settings.toml"));
    }
    ensure!(opened == 0, "the settings were opened {opened} times");
    ensure!(written <= seconds + 1, "the activity log was written {written} times in {seconds} s");
    ensure!(
        log.metadata()?.ino() == inode && std::fs::read(&log)?.starts_with(&before),
        "the log was replaced or truncated"
    );
    Ok(())
}
