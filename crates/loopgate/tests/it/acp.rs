//! Chats, reviews and debates with a real agent that speaks the Agent Client Protocol.

use anyhow::{Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, Script};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;

const SETTINGS: &str =
    "onboarding_completed = true\n[agents.opencode]\nprogram = \"opencode\"\nargs = [\"acp\"]\n";

async fn events(local: &TestGateway, route: &str, body: Value) -> Result<Vec<Value>> {
    let request = local.loopgate.gateway(Method::POST, &format!("/api/gateway/{route}")).json(&body);
    let text = request.send().await?.text().await?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn text(events: &[Value]) -> String {
    let texts = events.iter().filter(|event| event["type"] == "text");
    texts.filter_map(|event| event["content"].as_str()).collect()
}

#[tokio::test]
async fn configured_acp_agent_serves_chat_review_and_debate() -> Result<()> {
    let open = r#"It is not. <debate-status>{"pendingIssues":[{"id":"1","summary":"s"}]}</debate-status>"#;
    let mut script = Script::new([
        Conversation::when("review", "Review the changes").says("No findings."),
        Conversation::when("debate", "structured debate").says(open),
        Conversation::when("chat", "Which port").says("Port 4000.").says("Because nothing else is free."),
    ]);
    script.otherwise = Some("Fine.".to_owned());
    let model = ModelServer::start(script).await?;
    let mut home = UserHome::temporary()?;
    home.reach_model(&model)?.reach_model_by_acp(&model)?;
    let local = TestGateway::in_home(home, |setup| {
        std::fs::write(setup.data_dir().join("settings.toml"), SETTINGS).expect("the data directory exists");
        setup
    })
    .await?;
    let repo = local.repository("shop", &[("README.md", "# Shop\n"), (".mcp.json", "{}")])?;

    let ticket = json!({"identifier": "T-1", "title": "Ports", "url": "https://tickets.test/1"});
    let body = |message: &str| json!({"ticketId": "T-1", "message": message, "ticketContext": ticket, "repoPath": repo, "provider": "opencode"});
    // The repository brings executable configuration in `.mcp.json`, so the agent is refused until the
    // repository is trusted.
    let refused = events(&local, "ticket-chat", body("Which port?")).await?;
    ensure!(refused.iter().any(|event| event["error"].to_string().contains("loopgate trust")), "{refused:?}");
    local.trust(&repo).await?;
    let first = events(&local, "ticket-chat", body("Which port?")).await?;
    ensure!(text(&first) == "Port 4000.", "{first:?}");
    ensure!(first.iter().any(|event| event["type"] == "sessionId"), "{first:?}");
    let second = events(&local, "ticket-chat", body("Why?")).await?;
    ensure!(text(&second) == "Because nothing else is free.", "the session is not resumed: {second:?}");
    let history = local.get("ticket-chat", &[("ticketId", "T-1")]).await?.ok()?;
    ensure!(history["messages"].as_array().map(Vec::len) == Some(5), "{history}");

    let request =
        json!({"repoPath": repo, "branchName": "main", "provider": "opencode", "useBaseRepo": true});
    let review = events(&local, "reviewer/review/T-1", request).await?;
    ensure!(text(&review) == "No findings.", "{review:?}");
    ensure!(
        review.ends_with(&[json!({"type": "result", "success": true}), json!({"type": "done"})]),
        "{review:?}"
    );
    // A debate runs in the ticket's worktree and is refused without one.
    std::fs::create_dir_all(local.at("shop-T-1"))?;
    let request = json!({"repoPath": repo, "findingSummary": "The port", "assistantArgument": "It is right.", "provider": "opencode"});
    let debate = events(&local, "reviewer/argue/T-1", request).await?;
    ensure!(debate.last().is_some_and(|done| done["content"] == open), "{debate:?}");
    Ok(())
}
