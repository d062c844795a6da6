//! Tests the scripted model with the real assistant and the real reviewer.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Api, Conversation, Failure, ModelServer, ModelStep, ModelUsage, Script};
use serde_json::{Value, json};

/// Upper bound for one run of a program.
const RUN_LIMIT: Duration = Duration::from_secs(90);

const ASSISTANT: [&str; 4] =
    ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"];

async fn set_up(script: Script) -> Result<(UserHome, ModelServer)> {
    let model = ModelServer::start(script).await?;
    let mut home = UserHome::temporary()?;
    home.reach_model(&model)?;
    Ok((home, model))
}

/// Runs a program in the home and returns the JSON lines of its output.
async fn run(home: &UserHome, program: &str, args: &[&str]) -> Result<Vec<Value>> {
    let run = home.command(program).args(args).current_dir(home.path()).output();
    let output = tokio::time::timeout(RUN_LIMIT, run)
        .await
        .with_context(|| format!("{program} did not exit within {RUN_LIMIT:?}"))??;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(!out.is_empty(), "{program} printed nothing: {err}");
    Ok(out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn result(lines: &[Value]) -> &Value {
    lines.iter().rev().find(|line| line["type"] == "result").unwrap_or(&Value::Null)
}

#[tokio::test]
async fn assistant_follows_the_script() -> Result<()> {
    let conversation = Conversation::when("write", r"note named (?P<name>\w+)")
        .turn([
            ModelStep::text("I write the note."),
            ModelStep::write("{{cwd}}/{{name}}.txt", "from {{cwd}}\n"),
            ModelStep::Usage(ModelUsage { input: 1200, output: 34, ..ModelUsage::default() }),
        ])
        .runs("cat {{name}}.txt && echo count > count.txt")
        .says("Done. <promise>COMPLETE</promise>");
    let (home, model) = set_up(Script::new([conversation])).await?;
    let mut args = vec!["-p", "Write a note named hello"];
    args.extend(ASSISTANT);
    let lines = run(&home, "claude", &args).await?;
    let cwd = home.path().display();
    assert_eq!(std::fs::read_to_string(home.path().join("hello.txt"))?, format!("from {cwd}\n"));
    assert_eq!(std::fs::read_to_string(home.path().join("count.txt"))?, "count\n");
    assert_eq!(result(&lines)["result"], "Done. <promise>COMPLETE</promise>");
    assert_eq!(result(&lines)["num_turns"], 3);
    let requests = model.requests_of("write");
    assert_eq!(requests.iter().map(|r| r.turn).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(requests[2].tool_results().contains(&format!("from {cwd}")));
    Ok(())
}

#[tokio::test]
async fn assistant_retries_after_an_error_and_a_dropped_connection() -> Result<()> {
    // Each of the two failures occurs once, in different turns: before and after the response headers.
    let busy = Failure { times: Some(1), ..Failure::new(529, "overloaded_error", "Overloaded") };
    let conversation = Conversation::when("try", "persist")
        .turn([ModelStep::Error(busy), ModelStep::bash("echo once >> tries.txt")])
        .turn([ModelStep::text("Half a sen"), ModelStep::Drop { times: Some(1) }, ModelStep::text("tence.")]);
    let (mut home, model) = set_up(Script::new([conversation])).await?;
    // More than the two retries that the script provokes; bounds the run when the server misbehaves.
    home.set("CLAUDE_CODE_MAX_RETRIES", "4");
    let mut args = vec!["-p", "please persist"];
    args.extend(ASSISTANT);
    let lines = run(&home, "claude", &args).await?;
    assert_eq!(result(&lines)["is_error"], false, "{lines:?}");
    assert_eq!(std::fs::read_to_string(home.path().join("tries.txt"))?, "once\n");
    assert!(model.requests_of("try").len() >= 4);
    Ok(())
}

#[tokio::test]
async fn gate_holds_the_assistant_until_it_is_released() -> Result<()> {
    let conversation = Conversation::when("gate", "wait for me")
        .turn([ModelStep::bash("echo before > before.txt")])
        .turn([ModelStep::hold("after the first command"), ModelStep::text("Thanks.")]);
    let (home, model) = set_up(Script::new([conversation])).await?;
    let mut args = vec!["-p", "wait for me"];
    args.extend(ASSISTANT);
    let running = run(&home, "claude", &args);
    let test = async {
        // The first command has run at this point: its result is part of the held request.
        model.held("after the first command").await?;
        assert!(home.path().join("before.txt").exists());
        model.release("after the first command");
        anyhow::Ok(())
    };
    let (lines, ()) = tokio::try_join!(running, test)?;
    assert_eq!(result(&lines)["result"], "Thanks.");
    Ok(())
}

#[tokio::test]
async fn reviewer_emits_text_and_runs_commands() -> Result<()> {
    let conversation = Conversation::when("review", "look around")
        .turn([
            ModelStep::text("I look."),
            ModelStep::tool(
                "exec_command",
                json!({"cmd": "echo looked > /dev/null; echo it works", "login": false}),
            ),
        ])
        .says("APPROVED");
    let (home, model) = set_up(Script::new([conversation])).await?;
    let args = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "look around",
    ];
    let lines = run(&home, "codex", &args).await?;
    let messages: Vec<&str> = lines.iter().filter_map(|line| line["item"]["text"].as_str()).collect();
    assert_eq!(messages.last(), Some(&"APPROVED"), "{lines:?}");
    let requests = model.requests_of("review");
    assert_eq!(requests[0].api, Api::Responses);
    assert!(
        requests[1].tool_results().contains("it works"),
        "{:?} {}",
        requests[0].tools(),
        requests[1].tool_results()
    );
    assert!(lines.iter().any(|line| line["type"] == "turn.completed"));
    Ok(())
}

#[tokio::test]
async fn response_without_streaming_is_one_object() -> Result<()> {
    let mut conversation = Conversation::when("plain", "hello").says("Hi.");
    // Plain requests offer no tools, and would count as side requests.
    conversation.toolless = true;
    let model = ModelServer::start(Script::new([conversation])).await?;
    let http = loopgate_http_client::builder().build()?;
    let post = |path: &str, body: Value| http.post(format!("{}{path}", model.base_url())).json(&body).send();
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]});
    let response: Value = post("/v1/messages?beta=true", body.clone()).await?.json().await?;
    assert_eq!(response["content"][0]["text"], "Hi.");
    assert_eq!(response["stop_reason"], "end_turn");
    let count: Value = post("/v1/messages/count_tokens", body).await?.json().await?;
    assert!(count["input_tokens"].is_u64());
    let other = post("/api/event_logging/batch", json!({})).await?;
    assert_eq!((other.status().as_u16(), other.text().await?.as_str()), (200, "{}"));
    Ok(())
}
