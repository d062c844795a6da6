//! What a request must not cost: the time of another, a look at the settings file, a log written anew.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::wait;
use reqwest::Method;
use rustix::fs::inotify;
use serde_json::json;

use crate::local::Local;
use crate::owner::{Owner, OwnerWatch};

/// More than there are threads.
const SLOW: usize = 24;
/// Longer than any request here takes unless it waits for another.
const TIMEOUT: Duration = Duration::from_secs(10);

fn fifo(path: &Path) -> Result<()> {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    Ok(rustix::fs::mkfifoat(rustix::fs::CWD, path, mode)?)
}

/// Git hangs, and requests wait for the owner: everything else goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_routes_stop_no_other() -> Result<()> {
    let home = UserHome::temporary()?;
    let gate = home.path().join("gate");
    fifo(&gate)?;
    let local = Local::in_home(home, |setup| setup).await?;
    let repository = local.repository("shop", &[("a", "1\n")])?;
    local.manage(&[&repository], None)?;
    let begun = local.home.path().join("begun");
    std::fs::create_dir_all(&begun)?;
    local.home.script("git", &format!(
        "#!/bin/sh\ncase \"$*\" in *pull*) : > '{}'/$$; read word < '{}'; exit 1;; esac\nexec /usr/bin/git \"$@\"\n",
        begun.display(), gate.display()
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
    wait::seen(&begun, async || (begun.read_dir().ok()?.count() == SLOW / 2).then_some(())).await?;
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
    ensure!(slow.try_join_next().is_none(), "they are all still at work");
    Owner::of(loopgate).await?.ask("approvals.clear", json!({})).await?;
    watch.nothing().await?;
    slow.abort_all();
    Ok(())
}

/// Whoever opened the settings would never come back: they have become a pipe that nobody writes to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_look_at_no_settings_file_and_rewrite_no_log() -> Result<()> {
    let local = Local::new().await?;
    let loopgate = &local.loopgate;
    let data = loopgate.setup().data_dir();
    std::fs::remove_file(data.join("settings.toml"))?;
    fifo(&data.join("settings.toml"))?;
    let log = std::fs::read_dir(data.join("logs"))?.next().context("a log")??.path();
    let (inode, before) = (log.metadata()?.ino(), std::fs::read(&log)?);
    let seen = inotify::init(inotify::CreateFlags::NONBLOCK)?;
    inotify::add_watch(&seen, &data, inotify::WatchFlags::MOVED_TO | inotify::WatchFlags::OPEN)?;

    let begun = Instant::now();
    for n in 0..300 {
        let path = ["/health", "/api/gateway/version", "/api/gateway/repos", "/api/gateway/nope"][n % 4];
        let request = loopgate.gateway(Method::GET, path).timeout(TIMEOUT);
        request.send().await.with_context(|| format!("{path} waits for the settings"))?;
    }
    let seconds = begun.elapsed().as_secs() + 1;
    let mut buffer = [std::mem::MaybeUninit::uninit(); 64 * 1024];
    let mut events = inotify::Reader::new(&seen, &mut buffer);
    let (mut written, mut opened) = (0, 0);
    while let Ok(event) = events.next() {
        let named = |name: &str| event.file_name().is_some_and(|file| file.to_bytes() == name.as_bytes());
        let moved = event.events().contains(inotify::ReadFlags::MOVED_TO);
        written += u64::from(moved && named("desktop-activity-log.json"));
        opened += u64::from(!moved && named("settings.toml"));
    }
    ensure!(opened == 0, "the settings were opened {opened} times");
    ensure!(written <= seconds + 1, "the activity was written {written} times in {seconds} s");
    ensure!(
        log.metadata()?.ino() == inode && std::fs::read(&log)?.starts_with(&before),
        "the log only grows"
    );
    Ok(())
}
