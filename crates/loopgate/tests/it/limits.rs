//! Loops that hit the usage limit of the assistant's account.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, Failure, ModelStep};
use loopgate_testkit::wait;
use serde_json::{Value, json};

use crate::cli;
use crate::commands::TestDesktop;
use crate::finalization::in_loop;

/// Seconds until the limit ends; long enough to observe the waiting loop.
pub const LIMIT_SECONDS: i64 = 4;

/// Starts a desktop whose assistant is signed in with a subscription.
pub async fn subscribed(conversations: impl IntoIterator<Item = Conversation>) -> Result<TestDesktop> {
    TestDesktop::with(conversations, |setup| {
        // Usage limits apply to subscriptions only; an API key would take precedence over the OAuth token.
        let setup = setup.env("LOOPGATE_STUCK_AFTER_MS", "4000").env("ANTHROPIC_API_KEY", "");
        setup.env("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-scripted")
    })
    .await
}

pub fn resumed(name: &str) -> Conversation {
    Conversation::when(name, "A usage limit interrupted you")
}

pub fn refusal(seconds: i64) -> [ModelStep; 1] {
    [ModelStep::Error(Failure::usage_limit(seconds))]
}

/// Moves the end of every stored limit into the past.
fn end_limits(data_dir: &Path) -> Result<()> {
    let file = data_dir.join("assistant-limits.json");
    let mut file_content: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let limits = file_content["limits"].as_object_mut().context("limits")?;
    ensure!(limits.len() == 1, "expected one account: {limits:?}");
    limits.values_mut().for_each(|limit| limit["until"] = json!("2026-01-01T00:00:00Z"));
    Ok(std::fs::write(file, file_content.to_string())?)
}

/// Waits until `loopgate status` shows the only loop as waiting for a limit, and returns the end of that
/// limit.
async fn shown_until(desktop: &TestDesktop) -> Result<Value> {
    let logs = desktop.loopgate.setup().data_dir().join("logs");
    let shown = wait::until(&logs, async || {
        let rows = cli::loops(&desktop.testbed.home, &desktop.loopgate).await.ok()?;
        let [row] = &rows[..] else { return None };
        (row["stall"]["state"] == "waiting-for-limit").then(|| row["stall"]["until"].clone())
    });
    shown.await
}

// Loopgate is killed while the loop waits. After a restart the loop resumes the same session and ends once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_loop_resumes_after_a_restart() -> Result<()> {
    let mut desktop = subscribed([
        resumed("continued").says("<promise>COMPLETE</promise>"),
        // An hour: longer than the test, so that the limit must be read from the file after the restart.
        in_loop("refused", "PLAN").turn(refusal(3600)),
    ])
    .await?;
    let (id, _) = desktop.start(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    let until = shown_until(&desktop).await?;
    ensure!(until.as_str().is_some_and(|until| until.parse::<jiff::Timestamp>().is_ok()), "{until}");
    desktop.loopgate.kill().await?;
    let desktop = desktop.restart().await?;
    ensure!(shown_until(&desktop).await? == until, "the end of the limit changed");
    end_limits(&desktop.loopgate.setup().data_dir())?;
    let last = desktop.wait_finished(id).await;
    ensure!(last["type"] == "completed", "{last}");
    desktop.wait_released(id).await?;
    let [first] = &desktop.testbed.model.requests_of("refused")[..] else {
        anyhow::bail!("expected one refusal")
    };
    let request = desktop.testbed.model.requests_of("continued").pop().context("not resumed")?;
    ensure!(request.user_text().contains(&first.user_text()), "another session was started");
    ensure!(desktop.cloud.events(id, "completed").len() == 1, "expected one completed event");
    Ok(())
}
