//! Questions about findings to a provider. Scripts replace both providers.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use crate::origin_checks::percent_encode;
use crate::test_gateway::{Answer, TestGateway, write};

/// Stand-in for the assistant: records its arguments and prompt, and prints the file `answers/<number of the
/// call>`.
const ASSISTANT: &str = r#"#!/bin/sh
number="$(cat "$HOME/calls" 2>/dev/null || echo 0)"; echo "$((number + 1))" > "$HOME/calls"
echo "$@" >> "$HOME/args"; cat > "$HOME/prompt-$number"; cat "$HOME/answers/$number"
[ -f "$HOME/answers/$number-code" ] && exit "$(cat "$HOME/answers/$number-code")"
exit 0
"#;

/// A repository, the worktree of its ticket `SHOP-7`, and the assistant as a script.
struct Findings {
    local: TestGateway,
    repo: PathBuf,
    worktree: PathBuf,
}

impl Findings {
    async fn new() -> Result<Self> {
        let local = TestGateway::new().await?;
        local.home.script("claude", ASSISTANT)?;
        let repo = local.repository("shop", &[("README.md", "A shop\n")])?;
        let parent = local.at("wt");
        std::fs::create_dir_all(&parent)?;
        local.manage(&[&repo], Some(&parent))?;
        let worktree = parent.join("shop-SHOP-7");
        loopgate_testkit::git::git(
            &repo,
            &["worktree", "add", "--quiet", "--detach", &worktree.to_string_lossy()],
        )?;
        Ok(Self { local, repo, worktree })
    }

    /// Sets the output of the assistant's nth call.
    fn set_output(&self, number: usize, lines: &[Value]) -> Result<()> {
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        write(&self.local.home.path().join(format!("answers/{number}")), lines.concat())
    }

    fn set_answer(&self, number: usize, text: &str) -> Result<()> {
        self.set_output(
            number,
            &[session_event(), assistant_text(text), json!({"type": "result", "subtype": "success"})],
        )
    }

    fn home_file(&self, name: &str) -> String {
        std::fs::read_to_string(self.local.home.path().join(name)).unwrap_or_default()
    }

    async fn chat(&self, method: Method, body: &str) -> Result<Answer> {
        self.local.send(method, &self.chat_route(), body.to_owned()).await
    }

    fn chat_route(&self) -> String {
        let repo = percent_encode(&self.repo.to_string_lossy());
        format!("reviewer/finding-chat/finding-0?ticketId=SHOP-7&repo={repo}")
    }

    /// Sends a question about the finding, and returns the events of the response.
    async fn send(&self, body: Value) -> Result<Vec<Value>> {
        let request =
            self.local.loopgate.gateway(Method::POST, &format!("/api/gateway/{}", self.chat_route()));
        let text = request.json(&body).send().await?.error_for_status()?.text().await?;
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }
}

fn session_event() -> Value {
    json!({"type": "system", "subtype": "init", "session_id": "a-1"})
}

fn assistant_text(text: &str) -> Value {
    json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
}

// RC-36, RC-37, RC-38, RC-54
#[tokio::test]
async fn finding_chat_keeps_history_and_resumes_its_session() -> Result<()> {
    let findings = Findings::new().await?;
    let bare = findings.local.get("reviewer/finding-chat/finding-0", &[("ticketId", "SHOP-7")]).await?;
    bare.refused(400, "ticketId and repo parameters are required", "missing_field")?;
    let empty =
        json!({"messages": [], "ticketId": "SHOP-7", "repoPath": findings.repo, "findingId": "finding-0"});
    findings.chat(Method::GET, "").await?.is(200, &empty)?;
    findings.chat(Method::POST, r#"{"message":" "}"#).await?.refused(
        400,
        "message is required",
        "missing_field",
    )?;

    findings.set_answer(0, "It can.")?;
    let context = json!({"severity": "high", "priority": "P1", "file": "src/a.rs", "line": 14, "message": "The sum overflows", "suggestion": "use checked_add"});
    let body =
        json!({"message": "Can it? Answer briefly.", "displayMessage": "Can it?", "findingContext": context});
    let events = findings.send(body).await?;
    ensure!(events[0]["status"] == "running" && events[0]["pid"].is_u64(), "{events:?}");
    ensure!(events.last() == Some(&json!({"type": "done"})), "{events:?}");
    let prompt = findings.home_file("prompt-0");
    for part in ["judge a finding", "(high)", "src/a.rs:14", "The sum overflows", "use checked_add"] {
        ensure!(prompt.contains(part), "{part} is not in {prompt}");
    }
    ensure!(prompt.ends_with("Can it? Answer briefly."), "{prompt}");
    let history = findings.chat(Method::GET, "").await?.ok()?;
    ensure!(history["messages"][0]["content"] == "Can it?", "{history}");
    ensure!(history["messages"][1]["content"] == "It can.", "{history}");
    ensure!(history["findingContext"] == context && history["sessionId"] == "a-1", "{history}");
    let file = findings.worktree.join(".loopgate/work/finding-chats/finding-0.json");
    ensure!(file.exists());

    let done = json!({"success": true});
    findings.chat(Method::PATCH, "{}").await?.is(200, &done)?;
    // Storing the same message twice must not duplicate it.
    let message = json!({"id": "r-1", "role": "assistant", "content": "I differ.", "sender": "reviewer", "timestamp": "2030-01-01T00:00:00.000Z"});
    for _ in 0..2 {
        findings.chat(Method::PATCH, &json!({"message": message}).to_string()).await?.is(200, &done)?;
    }
    let refused = findings.chat(Method::PATCH, r#"{"message":{"id":"r-2","role":"assistant"}}"#).await?;
    refused.refused(400, "message with id, role and content is required", "missing_field")?;
    let history = findings.chat(Method::GET, "").await?.ok()?;
    ensure!(history["messages"][1]["responded"] == true, "{history}");
    ensure!(
        history["messages"][2] == message && history["messages"].as_array().map(Vec::len) == Some(3),
        "{history}"
    );

    // A session that fails is not resumed by the next question.
    let failure = json!({"type": "result", "is_error": true, "result": "authentication_error: log in"});
    findings.set_output(1, &[session_event(), failure])?;
    write(&findings.local.home.path().join("answers/1-code"), "1")?;
    let events = findings.send(json!({"message": "Sure?"})).await?;
    ensure!(events.contains(&json!({"type": "result", "success": false})), "{events:?}");
    ensure!(
        findings.home_file("args").trim_end().ends_with("--resume a-1"),
        "{}",
        findings.home_file("args")
    );
    ensure!(
        findings.home_file("prompt-1").contains("Reviewer: I differ."),
        "{}",
        findings.home_file("prompt-1")
    );
    let history = findings.chat(Method::GET, "").await?.ok()?;
    ensure!(history.get("sessionId").is_none(), "{history}");

    findings.chat(Method::DELETE, "").await?.is(200, &done)?;
    findings.chat(Method::DELETE, "").await?.is(200, &done)?;
    ensure!(!file.exists());
    let repo = percent_encode(&findings.repo.to_string_lossy());
    let route = format!("reviewer/finding-chat/finding-0?ticketId=OTHER&repo={repo}");
    let answer = findings.local.post(&route, json!({"message": "Why?"})).await?;
    answer.refused(404, "Work directory not found", "not_found")
}

#[tokio::test]
async fn uncertain_duplicates_are_decided_by_a_provider() -> Result<()> {
    let findings = Findings::new().await?;
    let list = |messages: [&str; 2]| messages.map(|message| json!({"message": message, "file": "src/a.rs"}));
    let body = json!({"repoPath": findings.repo, "providerA": "assistant", "providerB": "reviewer", "provider": "assistant",
        "findingsA": list(["The sum of a cart overflows", "Names differ here"]),
        "findingsB": list(["Adding prices of a cart wraps", "Names differ here"])});
    let duplicates = async || {
        let answer = findings.local.post("reviewer/review-dedup/SHOP-7", body.clone()).await?;
        Ok::<_, anyhow::Error>(answer.ok()?["duplicates"].clone())
    };
    // Output that does not match the schema is sent back once for correction.
    findings.set_answer(0, "Both are the same: {\"same\": [7]}")?;
    findings.set_answer(1, "```json\n{\"same\": [0]}\n```")?;
    ensure!(duplicates().await? == json!([[1, 1], [0, 0]]));
    let prompt = findings.home_file("prompt-1");
    for part in ["Adding prices of a cart wraps", "{\"same\": [7]}", "pair 7 does not exist"] {
        ensure!(prompt.contains(part), "{part} is not in {prompt}");
    }
    ensure!(
        !findings.home_file("prompt-0").contains("Names differ"),
        "identical findings were sent to the provider"
    );
    // Without usable output the comparison falls back to the words of the findings.
    findings.set_answer(2, "I cannot say.")?;
    findings.set_answer(3, "I still cannot say.")?;
    ensure!(duplicates().await? == json!([[1, 1]]));
    findings.set_output(4, &[])?;
    write(&findings.local.home.path().join("answers/4-code"), "1")?;
    ensure!(duplicates().await? == json!([[1, 1]]));
    ensure!(findings.home_file("calls").trim() == "5", "{}", findings.home_file("calls"));
    Ok(())
}

#[tokio::test]
async fn findings_are_extracted_from_free_text_by_a_provider() -> Result<()> {
    let findings = Findings::new().await?;
    let log = findings.worktree.join(".loopgate/work/reviewer-review-assistant.log");
    write(&log, "In src/a.rs, line 3, the sum overflows.\n")?;
    let extract = async |interpret: bool| {
        let body = json!({"repoPath": findings.repo, "sessionId": "s-1", "interpret": interpret});
        findings.local.post("reviewer/review-extract/SHOP-7", body).await
    };
    extract(false).await?.is(200, &json!({"findings": []}))?;
    ensure!(findings.home_file("calls").is_empty(), "a provider was started without `interpret`");

    let entry = |severity: &str| {
        json!({"findings": [
            {"severity": severity, "file": "src/a.rs", "line": 3, "title": "The sum overflows", "confidence": 0.9},
            {"severity": "low", "file": null, "line": null, "title": "A guess", "confidence": 0.3},
        ]})
    };
    // The first answer has an unknown severity; the correction must name the value that was wrong.
    findings.set_answer(0, &entry("awful").to_string())?;
    findings.set_answer(1, &entry("high").to_string())?;
    let expected = json!({"findings": [{"severity": "high", "priority": "P1", "file": "src/a.rs", "line": 3,
        "message": "The sum overflows", "confidence": 0.9, "commented": false}]});
    extract(true).await?.is(200, &expected)?;
    ensure!(
        findings.home_file("prompt-0").contains("line 3, the sum overflows"),
        "{}",
        findings.home_file("prompt-0")
    );
    ensure!(
        findings.home_file("prompt-1").contains("unknown variant `awful`"),
        "{}",
        findings.home_file("prompt-1")
    );

    findings.set_answer(2, "Sorry.")?;
    findings.set_answer(3, "Sorry again.")?;
    let reason = "Failed to extract findings: the provider's response is not valid: no JSON object found";
    extract(true).await?.refused(500, reason, "operation_failed")
}
