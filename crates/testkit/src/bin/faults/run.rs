//! One run: the order, the moment, the fault, and what came of it.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use loopgate_testkit::signs::Changes;
use serde_json::Value;
use tokio::time::timeout;

use crate::check;
use crate::fault::{Drawn, Fault, Who};
use crate::stage::Stage;

/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(150);
/// How long something is waited for that may never come because the loop is over.
pub const QUIET: Duration = Duration::from_millis(1500);
/// How long a process that has been killed may take to be gone.
const DEATH: Duration = Duration::from_secs(10);

/// What a run came to.
#[derive(Debug)]
pub struct Told {
    /// Whether the fault hit before the loop was over.
    pub hit: bool,
    /// What the order was answered with.
    pub answer: Answer,
    /// The loop's last word.
    pub last: Option<Value>,
}

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Started,
    /// Carried out by the process that died before it could say so.
    StartedBefore,
    Refused(u16, String),
}

/// Runs it, and says in a few words how it went.
pub async fn run(drawn: Drawn) -> Result<String> {
    let begin = Instant::now();
    let mut stage = Some(Stage::new(drawn.fault).await?);
    let outcome = timeout(LIMIT, go(&drawn, &mut stage)).await;
    let outcome = outcome.unwrap_or_else(|_| bail!("it does not end within {LIMIT:?}"));
    match outcome {
        Ok(told) => Ok(format!("{told}, {:.1} s", begin.elapsed().as_secs_f64())),
        Err(error) => Err(with_log(error, &drawn, stage.as_ref())),
    }
}

async fn go(drawn: &Drawn, slot: &mut Option<Stage>) -> Result<String> {
    let stage = slot.as_mut().context("a stage")?;
    let sent = tokio::spawn(answer(stage.order(drawn.executes)));
    let hit = strike(drawn, stage).await?;
    tokio::time::sleep(drawn.away).await;
    stage.mend(drawn.fault)?;
    let deadly =
        matches!(drawn.fault, Fault::Kill(Who::Loopgate | Who::Everything) | Fault::Memory(Who::Loopgate));
    // Out of memory it may live on; then it is killed, as a person would.
    if deadly && timeout(DEATH, stage.loopgate.wait()).await.is_err() {
        stage.loopgate.kill().await?;
    }
    let revived = slot.take().context("a stage")?.revive().await?;
    let stage = slot.insert(revived);
    let answer = match sent.await? {
        Ok(answer) => answer,
        // Whoever was to answer died.
        Err(_) => answer(stage.order(drawn.executes)).await?,
    };
    if !matches!(answer, Answer::Refused(..)) {
        stage.cloud.seen(|_| stage.last()).await;
    }
    stage.settled().await?;
    let told = Told { hit, answer, last: stage.last() };
    check::check(drawn, stage, &told).await?;
    Ok(said(&told))
}

/// Waits for the moment and lets the fault happen; `false` when the loop was over before.
async fn strike(drawn: &Drawn, stage: &Stage) -> Result<bool> {
    let mut changes = Changes::below(stage.scene.home.path())?;
    let over = || stage.last().is_some();
    let asked = |requests: &[_]| requests.len() >= drawn.asked;
    tokio::select! {
        reached = stage.scene.model.wait_for(asked) => reached?,
        _ = stage.cloud.seen(|_| stage.last()) => {}
    }
    for _ in 0..drawn.signs {
        if over() || timeout(QUIET, changes.next()).await.is_err() {
            break;
        }
    }
    while !over() {
        if stage.strike(drawn.fault)? {
            return Ok(true);
        }
        // Whoever is to be hit is not there yet.
        let _ = timeout(QUIET, changes.next()).await;
    }
    // Afterwards there is still Loopgate to hit, and the lines; it must not matter.
    stage.strike(drawn.fault)?;
    Ok(false)
}

async fn answer(order: reqwest::RequestBuilder) -> Result<Answer> {
    let answer = order.send().await?;
    let status = answer.status().as_u16();
    let text = answer.text().await?;
    Ok(match status {
        200 => Answer::Started,
        409 if text.contains("already running") => Answer::StartedBefore,
        _ => Answer::Refused(status, text),
    })
}

fn said(told: &Told) -> String {
    let when = if told.hit { "hit" } else { "after the end" };
    match (&told.last, &told.answer) {
        (None, Answer::Refused(status, text)) => format!("{when}, refused with {status} {text}"),
        (None, _) => format!("{when}, nothing said"),
        (Some(last), _) if last["type"] == "completed" => {
            let results = last["results"].as_array().into_iter().flatten();
            let each: Vec<&str> = results.filter_map(|entry| entry["status"].as_str()).collect();
            format!("{when}, completed [{}] {}", each.join(" "), last["warnings"])
        }
        (Some(last), _) => format!("{when}, {} {}", last["code"], last["message"]),
    }
}

/// Keeps what Loopgate printed, for whoever looks into it.
fn with_log(error: anyhow::Error, drawn: &Drawn, stage: Option<&Stage>) -> anyhow::Error {
    let Some(stage) = stage else { return error };
    let file = std::env::temp_dir().join(format!("loopgate-faults-{}.log", drawn.seed));
    let heard: Vec<String> = stage.cloud.heard().iter().map(|heard| format!("{heard:?}")).collect();
    let text = format!("{}\n{error:#}\n{}\n{}", drawn, stage.loopgate.output(), heard.join("\n"));
    match std::fs::write(&file, text) {
        Ok(()) => error.context(format!("see {}", file.display())),
        Err(_) => error,
    }
}
