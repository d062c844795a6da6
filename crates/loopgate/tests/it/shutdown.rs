//! Shutdown of the gateway: final reports, and the timeout of a shutdown that hangs.

use anyhow::{Context as _, Result, ensure};
use loopgate_api::link::event;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Setup;
use loopgate_testkit::wait;

use crate::approvals::{VERSION, hold};
use crate::owner::OwnerWatch;
use crate::relay::Relay;
use crate::test_gateway::TestGateway;

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// Returns the contents of all log files.
fn logged(logs: &std::path::Path) -> Result<String> {
    let files = std::fs::read_dir(logs)?.map(|entry| std::fs::read_to_string(entry?.path()));
    Ok(files.collect::<std::io::Result<Vec<_>>>()?.concat())
}

/// A request that is pending at shutdown is aborted, and the control plane receives its outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approvals_aborted_by_shutdown_are_reported() -> Result<()> {
    let mut relay = Relay::start().await?;
    let mut local = TestGateway::with(|setup| relay.configure(setup)).await?;
    let mut watch = OwnerWatch::of(&local.loopgate).await?;
    let pending = hold(&local.loopgate, VERSION);
    watch.one().await?;
    let report = relay.next(event::ANALYTICS).await?;
    ensure!(report["event"] == "approval_requested", "{report}");
    let ended = local.loopgate.stop().await?;
    ensure!(ended.success(), "{}", local.loopgate.output());
    ensure!(pending.await?.is_err());
    let report = relay.next(event::ANALYTICS).await?;
    ensure!(report["event"] == "approval_resolved", "{report}");
    ensure!(report["properties"]["outcome"] == "timed_out", "{report}");
    Ok(())
}

// GC-38
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_shutdown_times_out_and_is_reported_at_next_start() -> Result<()> {
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(PROGRAM);
    let (logs, record) = (setup.data_dir().join("logs"), setup.data_dir().join("failed-stop.json"));
    let mut loopgate = setup.start().await?;
    // Opening a FIFO without a writer blocks, like a file on an unreachable network disk.
    let file = home.path().join(".loopgate/gateway-port");
    std::fs::remove_file(&file)?;
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)?;

    let ended = loopgate.stop().await?;
    ensure!(ended.code() == Some(1), "{ended}: {}", loopgate.output());
    let message = "shutdown timed out after 5 s, in server.stop";
    ensure!(loopgate.output().contains(message), "{}", loopgate.output());
    ensure!(
        std::fs::read_to_string(&record)?.contains("\"shutdown-sequence\""),
        "no record of the failed shutdown"
    );

    std::fs::remove_file(&file)?;
    let mut again = loopgate.start_again().await?;
    let with_report = |log: String| log.contains("desktop.shutdown_failed").then_some(log);
    let log = wait::until(&logs, async || logged(&logs).ok().and_then(with_report)).await?;
    let telemetry = log.lines().find(|line| line.contains("desktop.shutdown_failed")).context("a line")?;
    ensure!(telemetry.contains(message), "{telemetry}");
    ensure!(!record.exists(), "the record remains after the report");
    ensure!(again.stop().await?.success(), "{}", again.output());
    Ok(())
}
