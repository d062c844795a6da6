//! One run: the request for a loop, the fault at its moment, and the checks at the end.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use loopgate_testkit::wait::Changes;
use tokio::time::timeout;

use crate::check;
use crate::fault::{Fault, Scenario, Target};
use crate::fixture::{FaultFixture, QUIET};
use crate::report::{FaultReport, LaunchResult};
use crate::script::{IMPLEMENT, MISBEHAVED};

/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(150);
/// How long a process that has been killed may take to be gone.
const DEATH: Duration = Duration::from_secs(10);

/// Runs it, and describes in a few words how it went.
pub async fn run(scenario: Scenario) -> Result<String> {
    let begin = Instant::now();
    let mut fixture = Some(FaultFixture::new(&scenario).await?);
    let outcome = timeout(LIMIT, execute(&scenario, &mut fixture)).await;
    let outcome = outcome.unwrap_or_else(|_| bail!("it does not end within {LIMIT:?}"));
    match outcome {
        Ok(text) => Ok(format!("{text}, {:.1} s", begin.elapsed().as_secs_f64())),
        Err(error) => Err(with_log(error, &scenario, fixture.as_ref())),
    }
}

async fn execute(scenario: &Scenario, slot: &mut Option<FaultFixture>) -> Result<String> {
    let fixture = slot.as_mut().context("a fixture")?;
    let sent = tokio::spawn(answer(fixture.request(scenario.executes)));
    let hit = strike(scenario, fixture).await?;
    tokio::time::sleep(scenario.outage).await;
    fixture.repair(scenario.fault).await?;
    let is_deadly = matches!(
        scenario.fault,
        Fault::Kill(Target::Loopgate | Target::Everything) | Fault::Memory(Target::Loopgate)
    );
    // Out of memory it may live on; then it is killed, as a person would.
    if is_deadly && timeout(DEATH, fixture.loopgate.wait()).await.is_err() {
        fixture.loopgate.kill().await?;
    }
    let revived = slot.take().context("a fixture")?.revive().await?;
    let fixture = slot.insert(revived);
    let answer = match sent.await? {
        Ok(answer) => answer,
        // The process that was to answer died.
        Err(_) => answer(fixture.request(scenario.executes)).await?,
    };
    if !matches!(answer, LaunchResult::Refused(..)) {
        fixture.cloud.seen(|_| fixture.last_event()).await;
    }
    fixture.settled().await?;
    let hit = match scenario.fault {
        Fault::Assistant(_) => fixture.has_result(IMPLEMENT, MISBEHAVED),
        _ => hit,
    };
    let report = FaultReport { hit, answer, last: fixture.last_event() };
    check::check(scenario, fixture, &report).await?;
    Ok(report.to_string())
}

/// Waits for the moment and lets the fault happen; `false` when the loop was over before.
async fn strike(scenario: &Scenario, fixture: &FaultFixture) -> Result<bool> {
    let mut changes = Changes::below(fixture.testbed.home.path())?;
    let is_over = || fixture.last_event().is_some();
    match scenario.fault {
        // It is part of the script.
        Fault::Assistant(_) => return Ok(false),
        Fault::Push => {
            while !is_over() && !fixture.has_pushed() {
                let _ = timeout(QUIET, changes.next()).await;
            }
            return Ok(fixture.has_pushed());
        }
        _ => {}
    }
    let asked = |requests: &[_]| requests.len() >= scenario.requests;
    tokio::select! {
        reached = fixture.testbed.model.wait_for(asked) => reached?,
        _ = fixture.cloud.seen(|_| fixture.last_event()) => {}
    }
    for _ in 0..scenario.changes {
        if is_over() || timeout(QUIET, changes.next()).await.is_err() {
            break;
        }
    }
    while !is_over() {
        if fixture.strike(scenario)? {
            return Ok(true);
        }
        // The process that is to be hit has not started yet.
        let _ = timeout(QUIET, changes.next()).await;
    }
    // Afterwards there is still Loopgate to hit, and the connections; it must not matter.
    fixture.strike(scenario)?;
    Ok(false)
}

async fn answer(request: reqwest::RequestBuilder) -> Result<LaunchResult> {
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    let text = answer.text().await?;
    Ok(match status {
        200 => LaunchResult::Started,
        409 if text.contains("already running") => LaunchResult::StartedBefore,
        _ => LaunchResult::Refused(status, text),
    })
}

/// Adds a file with what Loopgate printed and the control plane received.
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
