//! The end of the program: what it still tells, and what happens when it is asked to stop and cannot.

use anyhow::{Context as _, Result, ensure};
use loopgate_api::link::event;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Setup;
use loopgate_testkit::wait;

use crate::approvals::{VERSION, hold};
use crate::local::Local;
use crate::owner::OwnerWatch;
use crate::relay::Relay;

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// Everything that the logs of a home hold.
fn logged(logs: &std::path::Path) -> Result<String> {
    let files = std::fs::read_dir(logs)?.map(|entry| std::fs::read_to_string(entry?.path()));
    Ok(files.collect::<std::io::Result<Vec<_>>>()?.concat())
}

/// A request that waits when the stop begins ends with it, and the control plane hears of that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_caused_by_the_stop_are_still_reported() -> Result<()> {
    let mut relay = Relay::start().await?;
    let mut local = Local::with(|setup| relay.of(setup)).await?;
    let mut watch = OwnerWatch::of(&local.loopgate).await?;
    let held = hold(&local.loopgate, VERSION);
    watch.one().await?;
    let told = relay.next(event::ANALYTICS).await?;
    ensure!(told["event"] == "approval_requested", "{told}");
    let ended = local.loopgate.stop().await?;
    ensure!(ended.success(), "{}", local.loopgate.output());
    ensure!(held.await?.is_err());
    let told = relay.next(event::ANALYTICS).await?;
    ensure!(told["event"] == "approval_resolved", "{told}");
    ensure!(told["properties"]["outcome"] == "timed_out", "{told}");
    Ok(())
}

// GC-38
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_stop_is_cut_short_and_reported_at_the_next_start() -> Result<()> {
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(PROGRAM);
    let (logs, record) = (setup.data_dir().join("logs"), setup.data_dir().join("failed-stop.json"));
    let mut loopgate = setup.start().await?;
    // Whoever reads it waits for ever, as for a disk that is gone.
    let file = home.path().join(".loopgate/gateway-port");
    std::fs::remove_file(&file)?;
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)?;

    let ended = loopgate.stop().await?;
    ensure!(ended.code() == Some(1), "{ended}: {}", loopgate.output());
    let told = "the stop was cut short after 5 s, in server.stop";
    ensure!(loopgate.output().contains(told), "{}", loopgate.output());
    ensure!(std::fs::read_to_string(&record)?.contains("\"shutdown-sequence\""), "no record is kept");

    std::fs::remove_file(&file)?;
    let mut again = loopgate.start_again().await?;
    let heard = |log: String| log.contains("desktop.shutdown_failed").then_some(log);
    let log = wait::seen(&logs, async || logged(&logs).ok().and_then(heard)).await?;
    let telemetry = log.lines().find(|line| line.contains("desktop.shutdown_failed")).context("a line")?;
    ensure!(telemetry.contains(told), "{telemetry}");
    ensure!(!record.exists(), "it is told once");
    ensure!(again.stop().await?.success(), "{}", again.output());
    Ok(())
}
