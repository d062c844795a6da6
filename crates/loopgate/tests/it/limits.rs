//! Usage limits of the assistant's account, met by loops of a desktop.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, Failure, Step};
use loopgate_testkit::{story, wait};
use serde_json::{Value, json};

use crate::afterwards::in_loop;
use crate::cli;
use crate::commands::TestDesktop;

/// Seconds from a refusal to the end of the limit.
pub const LIMIT_SECONDS: i64 = 4;

/// A desktop whose assistant is signed in with a subscription.
pub async fn subscribed(conversations: impl IntoIterator<Item = Conversation>) -> Result<TestDesktop> {
    TestDesktop::with(conversations, |setup| {
        let setup = setup.env("LOOPGATE_STUCK_AFTER_MS", "4000").env("ANTHROPIC_API_KEY", "");
        setup.env("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-scripted")
    })
    .await
}

pub fn goes_on(name: &str) -> Conversation {
    Conversation::when(name, "A usage limit interrupted you")
}

pub fn refused(seconds: i64) -> [Step; 1] {
    [Step::Error(Failure::usage_limit(seconds))]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn judges_wait_for_the_end_of_a_limit() -> Result<()> {
    let report = r#"{"stats": [{"case_id": "dry-judge", "final_status": 1, "metrics":
        [{"metric_name": "dry_score", "threshold": 0.8, "score": 0.5, "justification": "twice"}]}]}"#;
    let judge = Conversation::when("refused", "# Judge");
    let desktop = subscribed([
        goes_on("continued")
            .and(r"`(?P<report>[^`]+-judges\.json)` \(required\)")
            .turn([Step::write("{{report}}", report)])
            .says("Judged."),
        judge.turn(refused(LIMIT_SECONDS)),
    ])
    .await?;
    let requirements = json!([{"id": "r", "type": "PRD", "title": "t", "content": "the requirements"}]);
    let run = desktop.run(json!({"command": "EVALUATE_PRD", "artifacts": requirements})).await?;
    run.completed("evaluate_prd")?;
    ensure!(run.last["warnings"].is_null(), "{}", run.last);
    ensure!(desktop.uploaded(run.id)["artifacts"]["prdJudges"]["stats"].is_array());
    let output = desktop.cloud.output(run.id).join("\n");
    ensure!(output.contains("The loop waits until"), "{output}");
    ensure!(desktop.cloud.events(run.id, "error").is_empty());
    desktop.is_tidy(&run, &[]).await
}

/// Lets every stored limit end now, as time would.
fn end_limits(data_dir: &Path) -> Result<()> {
    let file = data_dir.join("assistant-limits.json");
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let limits = stored["limits"].as_object_mut().context("limits")?;
    ensure!(limits.len() == 1, "one account: {limits:?}");
    limits.values_mut().for_each(|limit| limit["until"] = json!("2026-01-01T00:00:00Z"));
    Ok(std::fs::write(file, stored.to_string())?)
}

/// Waits until `loopgate status` says of the only loop until when it waits.
async fn shown_until(desktop: &TestDesktop) -> Result<Value> {
    let logs = desktop.loopgate.setup().data_dir().join("logs");
    let shown = wait::seen(&logs, async || {
        let rows = cli::loops(&desktop.testbed.home, &desktop.loopgate).await.ok()?;
        let [row] = &rows[..] else { return None };
        (row["stillness"]["state"] == "waiting-for-limit").then(|| row["stillness"]["until"].clone())
    });
    shown.await
}

/// The limit is met, Loopgate is killed and comes back: the same session goes on, and its end is told once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_that_waits_goes_on_after_a_restart() -> Result<()> {
    let mut desktop = subscribed([
        goes_on("continued").says("<promise>COMPLETE</promise>"),
        in_loop("refused", "PLAN").turn(refused(3600)),
    ])
    .await?;
    let (id, _) = desktop.start(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    let until = shown_until(&desktop).await?;
    ensure!(until.as_str().is_some_and(|until| until.parse::<jiff::Timestamp>().is_ok()), "{until}");
    desktop.loopgate.kill().await?;
    let desktop = desktop.restart().await?;
    ensure!(shown_until(&desktop).await? == until, "the same end");
    end_limits(&desktop.loopgate.setup().data_dir())?;
    let last = desktop.ended(id).await;
    ensure!(last["type"] == "completed", "{last}");
    desktop.free(id).await?;
    let [first] = &desktop.testbed.model.requests_of("refused")[..] else { anyhow::bail!("refused once") };
    let request = desktop.testbed.model.requests_of("continued").pop().context("it goes on")?;
    ensure!(request.user_text().contains(&first.user_text()), "the same session");
    ensure!(desktop.cloud.events(id, "completed").len() == 1, "told once");
    Ok(())
}

/// The assistant that commits meets a limit: git delivers without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_is_delivered_without_the_assistant_that_is_limited() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::bash("echo x > more.txt")])
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("<promise>COMPLETE</promise>");
    let commits = Conversation::when("commit", "git push -u origin HEAD").turn(refused(600));
    let desktop = subscribed([executed, commits]).await?;
    let run = desktop.run(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    let told = run.completed("execute")?;
    ensure!(told["executeFinalizationPath"] == "git-fallback" && told["has_changes"] == true, "{}", run.last);
    ensure!(run.last["warnings"].is_null(), "{}", run.last);
    ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY).len() == 1, "{}", run.last);
    ensure!(desktop.testbed.model.requests_of("commit").len() == 1);
    Ok(())
}
