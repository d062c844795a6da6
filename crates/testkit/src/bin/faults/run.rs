//! Executes one run: launches a loop, injects the fault and checks the result.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use loopgate_testkit::wait::Changes;
use tokio::time::timeout;

use crate::check;
use crate::fault::{Fault, FaultTarget, Scenario};
use crate::fixture::{CHANGE_TIMEOUT, FaultFixture};
use crate::report::{FaultReport, LaunchResult};
use crate::script::{IMPLEMENT, MISBEHAVED};

/// Upper bound for one run.
const LIMIT: Duration = Duration::from_secs(150);
/// Upper bound for the exit of a killed process.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

/// Executes a run. Returns a one-line description of its result.
pub async fn run(scenario: Scenario) -> Result<String> {
    let begin = Instant::now();
    let mut fixture = Some(FaultFixture::new(&scenario).await?);
    let outcome = timeout(LIMIT, execute(&scenario, &mut fixture)).await;
    let outcome = outcome.unwrap_or_else(|_| bail!("the run did not end within {LIMIT:?}"));
    match outcome {
        Ok(text) => Ok(format!("{text}, {:.1} s", begin.elapsed().as_secs_f64())),
        Err(error) => Err(with_log(error, &scenario, fixture.as_ref())),
    }
}

async fn execute(scenario: &Scenario, slot: &mut Option<FaultFixture>) -> Result<String> {
    let fixture = slot.as_mut().context("the fixture was taken")?;
    // Sent in the background: the fault may strike before the launch is answered.
    let launch = tokio::spawn(launch_result(fixture.request(scenario.executes)));
    let hit = strike(scenario, fixture).await?;
    // The duration of the outage is the subject of the test, hence a sleep.
    tokio::time::sleep(scenario.outage).await;
    fixture.repair(scenario.fault).await?;
    let is_deadly = matches!(
        scenario.fault,
        Fault::Kill(FaultTarget::Loopgate | FaultTarget::Everything) | Fault::Memory(FaultTarget::Loopgate)
    );
    // A process without memory may survive; it is then killed, as a user would do.
    if is_deadly && timeout(EXIT_LIMIT, fixture.loopgate.wait()).await.is_err() {
        fixture.loopgate.kill().await?;
    }
    let restarted = slot.take().context("the fixture was taken")?.restart_if_exited().await?;
    let fixture = slot.insert(restarted);
    let answer = match launch.await? {
        Ok(answer) => answer,
        // The process exited before it responded. The request is idempotent, so it is sent again.
        Err(_) => launch_result(fixture.request(scenario.executes)).await?,
    };
    if !matches!(answer, LaunchResult::Rejected(..)) {
        // Bounded by the timeout of the whole run.
        fixture.cloud.wait_for(|_| fixture.last_event()).await;
    }
    fixture.wait_until_settled().await?;
    let hit = match scenario.fault {
        Fault::Assistant(_) => fixture.has_result(IMPLEMENT, MISBEHAVED),
        _ => hit,
    };
    let report = FaultReport { hit, answer, last: fixture.last_event() };
    check::check(scenario, fixture, &report).await?;
    Ok(report.to_string())
}

/// Waits for the scheduled time and injects the fault. Returns `false` when the loop finished before.
async fn strike(scenario: &Scenario, fixture: &FaultFixture) -> Result<bool> {
    let mut changes = Changes::below(fixture.testbed.home.path())?;
    let is_finished = || fixture.last_event().is_some();
    match scenario.fault {
        // The fault is part of the model's script.
        Fault::Assistant(_) => return Ok(false),
        Fault::Push => {
            while !is_finished() && !fixture.has_pushed() {
                let _ = timeout(CHANGE_TIMEOUT, changes.next()).await;
            }
            return Ok(fixture.has_pushed());
        }
        _ => {}
    }
    let has_requests = |requests: &[_]| requests.len() >= scenario.requests;
    tokio::select! {
        result = fixture.testbed.model.wait_for(has_requests) => result?,
        _ = fixture.cloud.wait_for(|_| fixture.last_event()) => {}
    }
    for _ in 0..scenario.changes {
        if is_finished() || timeout(CHANGE_TIMEOUT, changes.next()).await.is_err() {
            break;
        }
    }
    while !is_finished() {
        if fixture.strike(scenario)? {
            return Ok(true);
        }
        // No process matches the target yet.
        let _ = timeout(CHANGE_TIMEOUT, changes.next()).await;
    }
    // Loopgate and the connections still exist after the loop has finished; a fault must not affect its
    // result.
    fixture.strike(scenario)?;
    Ok(false)
}

async fn launch_result(request: reqwest::RequestBuilder) -> Result<LaunchResult> {
    let response = request.send().await?;
    let status = response.status().as_u16();
    let text = response.text().await?;
    Ok(match status {
        200 => LaunchResult::Started,
        409 if text.contains("already running") => LaunchResult::StartedBefore,
        _ => LaunchResult::Rejected(status, text),
    })
}

/// Writes Loopgate's output and the control plane's requests to a file, and adds its path to the error.
fn with_log(error: anyhow::Error, scenario: &Scenario, fixture: Option<&FaultFixture>) -> anyhow::Error {
    let Some(fixture) = fixture else { return error };
    let file = std::env::temp_dir().join(format!("loopgate-faults-{}.log", scenario.seed));
    let received: Vec<String> =
        fixture.cloud.requests().iter().map(|received| format!("{received:?}")).collect();
    let text = format!("{}\n{error:#}\n{}\n{}", scenario, fixture.loopgate.output(), received.join("\n"));
    match std::fs::write(&file, text) {
        Ok(()) => error.context(format!("see {}", file.display())),
        Err(_) => error,
    }
}
