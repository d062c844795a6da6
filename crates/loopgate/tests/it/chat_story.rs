//! A chat with the real assistant that survives a kill of Loopgate, and that the real reviewer joins.

use std::path::Path;

use anyhow::{Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, Script};
use loopgate_testkit::wait;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;

fn script(home: &Path) -> Script {
    let gate = home.join("gate");
    let block = format!("touch '{}'; cat '{}'", home.join("waiting").display(), gate.display());
    let mut script = Script::new([
        Conversation::when("reviewer", "Is that right").says("Yes, it is free."),
        Conversation::when("assistant", "Which port")
            .turn([ModelStep::bash(&block)])
            .says("Port 4000.")
            .says("Because nothing else is free."),
    ]);
    script.otherwise = Some("Fine.".to_owned());
    script
}

async fn send(local: &TestGateway, message: &str) -> Result<String> {
    let request = local.loopgate.gateway(Method::POST, "/api/gateway/terminal-chat");
    let text = request.json(&json!({"message": message})).send().await?.text().await?;
    let events: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(events.iter().filter_map(|event| event["content"].as_str()).collect())
}

#[tokio::test]
async fn chat_resumes_after_a_kill_and_with_another_provider() -> Result<()> {
    let mut home = UserHome::temporary()?;
    let model = ModelServer::start(script(home.path())).await?;
    home.reach_model(&model)?;
    let (gate, waiting) = (home.path().join("gate"), home.path().join("waiting"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, rustix::fs::Mode::RWXU)?;
    let mut local = TestGateway::in_home(home, |setup| setup).await?;

    // The assistant blocks on the FIFO inside a tool call, so the kill hits a turn that is in flight.
    let request = local.loopgate.gateway(Method::POST, "/api/gateway/terminal-chat");
    let mut answer = request.json(&json!({"message": "Which port?"})).send().await?;
    ensure!(answer.chunk().await?.is_some());
    wait::until(local.home.path(), async || waiting.exists().then_some(())).await?;
    local.loopgate.kill().await?;
    local.restart().await?;
    // Opening a FIFO for writing blocks until the assistant's shell opens it for reading.
    tokio::task::spawn_blocking(move || std::fs::write(gate, "go")).await??;
    wait::until(&local.at(".loopgate/chats/_terminal"), async || {
        let history = local.get("terminal-chat", &[]).await.ok()?.ok().ok()?;
        (history["messages"][1]["content"] == "Port 4000.").then_some(())
    })
    .await?;
    let answer = send(&local, "Why?").await?;
    ensure!(answer == "Because nothing else is free.", "the session is not resumed: {answer}");

    let answer = send(&local, "@reviewer Is that right?").await?;
    ensure!(answer == "Yes, it is free.", "{answer}");
    let requests = model.requests_of("reviewer");
    let prompt = requests.first().map(|request| request.user_text()).unwrap_or_default();
    ensure!(prompt.contains("Port 4000.") && prompt.contains("Because nothing else is free."), "{prompt}");
    Ok(())
}
