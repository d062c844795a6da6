//! A review by the real reviewer with three findings: the reviewer concedes one, the assistant concedes one
//! and fixes the third; then the verdict in the session of the review.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, Script};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;

const LOOP: &str = "The loop runs once too often";
const CACHE: &str = "The cache is never cleared";
const DELAY: &str = "The delay is a day instead of a second";
const FILE: &str =
    "for (let i = 0; i <= n; i++) step(i);\nconst cache = new Map();\nsetTimeout(run, 86400000);\n";

/// Returns the answer of the reviewer's model to a review request.
fn review() -> String {
    let finding = |title: &str, line: u64| {
        json!({
            "title": format!("[P1] {title}"),
            "body": format!("{title}: see line {line}."),
            "confidence_score": 0.9,
            "priority": 1,
            "code_location": {
                "absolute_file_path": "{{cwd}}/work.js",
                "line_range": {"start": line, "end": line},
            },
        })
    };
    json!({
        "findings": [finding(LOOP, 1), finding(CACHE, 2), finding(DELAY, 3)],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "Three defects.",
        "overall_confidence_score": 0.9,
    })
    .to_string()
}

fn status(pending: bool, conceded: bool) -> String {
    let issues = if pending { json!([{"id": "1", "summary": "s"}]) } else { json!([]) };
    let status = json!({"pendingIssues": issues, "resolvedIssues": [], "conceded": conceded});
    format!("<debate-status>{status}</debate-status>")
}

fn script() -> Script {
    let verdict = json!({"verdict": "needs_attention", "reason": "One defect is left."});
    let mut script = Script::new([
        Conversation::when("verdict", "pr_verdict")
            .says(&format!("Well.\n<pr_verdict>{verdict}</pr_verdict>")),
        Conversation::when("reviewer concedes", "You are the reviewer")
            .and(LOOP)
            .says(&format!("You are right, n is the last index. {}", status(false, true))),
        Conversation::when("reviewer insists", "You are the reviewer")
            .and(CACHE)
            .says(&format!("Nothing clears it. {}", status(true, false))),
        Conversation::when("assistant concedes", "You are the assistant in a structured debate")
            .says(&format!("You are right. {}", status(false, true))),
        Conversation::when("fix", "Fix this one")
            .turn([ModelStep::bash("sed -i 's/86400000/1000/' work.js")])
            .says("Fixed."),
        Conversation::when("review", "Review the code changes against the base branch").says(&review()),
    ]);
    script.otherwise = Some("Fine.".to_owned());
    script
}

struct Story {
    local: TestGateway,
    query: String,
}

impl Story {
    async fn events(&self, route: &str, body: Value) -> Result<Vec<Value>> {
        let path = format!("/api/gateway/reviewer/{route}{}", self.query);
        let text = self.local.loopgate.gateway(Method::POST, &path).json(&body).send().await?.text().await?;
        let events: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        ensure!(events.contains(&json!({"type": "result", "success": true})), "{text}");
        Ok(events)
    }

    async fn findings(&self) -> Result<Vec<Value>> {
        let route = format!("reviewer/review-findings/pr-7{}", self.query);
        let response = self.local.send(Method::GET, &route, "").await?.ok()?;
        Ok(response["findings"].as_array().cloned().unwrap_or_default())
    }

    /// Debates a finding until it is settled. Returns the outcome.
    async fn debate(&self, finding: &str, argument: &str) -> Result<Value> {
        let body = json!({"findingSummary": finding, "assistantArgument": argument, "rounds": 3});
        let events = self.events("argue/pr-7", body).await?;
        let done = events.last().context("no event")?;
        Ok(done["debateStatus"]["outcome"].clone())
    }
}

#[tokio::test]
async fn findings_are_conceded_and_fixed() -> Result<()> {
    let model = ModelServer::start(script()).await?;
    let mut home = UserHome::temporary()?;
    home.reach_model(&model)?;
    let local = TestGateway::in_home(home, |setup| setup).await?;
    let repo = local.clone_of("acme/shop", &[("README.md", "# Shop\n")])?;
    local.remotes.commit("acme/shop", "feature", "Work", &[("work.js", FILE)])?;
    let repo_name = repo.to_str().context("the path is not UTF-8")?.to_owned();
    let encoded: String = url::form_urlencoded::byte_serialize(repo_name.as_bytes()).collect();
    let story = Story { local, query: format!("?repo={encoded}") };

    let body = json!({"repoPath": repo_name, "branchName": "feature", "model": "scripted"});
    let events = story.events("review/pr-7", body).await?;
    let text: String = events.iter().filter_map(|event| event["content"].as_str()).collect();
    ensure!(text.contains("Full review comments:"), "{text}");
    let state = story.local.get("reviewer/status/pr-7", &[("repo", &repo_name)]).await?.ok()?;
    let session = state["sessionId"].as_str().context("no session of the reviewer")?;
    let body = json!({"repoPath": repo_name, "sessionId": session, "provider": "reviewer"});
    let extracted = story.local.post("reviewer/review-extract/pr-7", body.clone()).await?.ok()?;
    let lines =
        extracted["findings"].as_array().into_iter().flatten().map(|finding| finding["line"].as_u64());
    ensure!(lines.eq([Some(1), Some(2), Some(3)]), "{extracted}");
    let response =
        story.local.post(&format!("reviewer/review-findings/pr-7{}", story.query), extracted).await?;
    response.is(200, &json!({"success": true, "count": 3}))?;

    ensure!(story.debate(LOOP, "n is the last index.").await? == "concession");
    ensure!(story.debate(CACHE, "The caller clears it.").await? == "concession");
    let answered: Vec<_> = model.requests().into_iter().filter_map(|request| request.conversation).collect();
    for name in ["reviewer concedes", "reviewer insists", "assistant concedes"] {
        ensure!(answered.iter().filter(|answered| *answered == name).count() == 1, "{name}: {answered:?}");
    }

    let context = json!({"severity": "high", "file": "work.js", "line": 3, "message": DELAY});
    let chat = format!("reviewer/finding-chat/finding-2{}&ticketId=pr-7", story.query);
    let request = story.local.loopgate.gateway(Method::POST, &format!("/api/gateway/{chat}"));
    let answer = request.json(&json!({"message": "Fix this one", "findingContext": context})).send().await?;
    let answer = answer.text().await?;
    ensure!(answer.contains("Fixed."), "{answer}");
    let findings = story.findings().await?;
    ensure!(
        findings.len() == 3 && findings[2]["outdated"] == true,
        "the finding is not outdated: {findings:?}"
    );
    ensure!(findings[0].get("outdated").is_none(), "{findings:?}");

    let verdict = story.local.post("reviewer/review-verdict/pr-7", body).await?;
    let given = json!({"verdict": "needs_attention", "reason": "One defect is left."});
    verdict.is(200, &json!({"verdict": given}))?;
    // A client that did not wait for the answer finds it in the status.
    let state = story.local.get("reviewer/status/pr-7", &[("repo", &repo_name)]).await?.ok()?;
    ensure!(state["verdict"] == given, "{state}");
    Ok(())
}
