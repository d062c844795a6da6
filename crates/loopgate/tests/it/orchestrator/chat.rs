//! Chats about a ticket, with the real assistant, or with scripts for behavior that it cannot be forced
//! into.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, ModelStep, Script};
use loopgate_testkit::wait;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::Shop;
use crate::origin_checks::percent_encode;
use crate::owner::Owner;
use crate::test_gateway::write;
use crate::test_system::TestSystem;

/// Reader of an NDJSON stream.
struct LineReader {
    answer: Response,
    pending: Vec<u8>,
}

impl LineReader {
    async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                let line = String::from_utf8(line)?;
                return Ok(Some(serde_json::from_str(&line).with_context(|| line.clone())?));
            }
            match self.answer.chunk().await? {
                Some(piece) => self.pending.extend_from_slice(&piece),
                None => return Ok(None),
            }
        }
    }

    /// Skips events until one has this type.
    async fn until(&mut self, event_type: &str) -> Result<Value> {
        while let Some(event) = self.next().await? {
            if event["type"] == event_type {
                return Ok(event);
            }
        }
        anyhow::bail!("the stream ended without {event_type}")
    }

    async fn remaining(mut self) -> Result<Vec<Value>> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }
}

fn event_types(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["type"].as_str()).collect()
}

/// System with the real assistant, and the history file of the chat about `SHOP-7`.
struct ChatFixture {
    system: TestSystem,
    file: PathBuf,
}

impl ChatFixture {
    async fn new(script: Script) -> Result<Self> {
        let system = TestSystem::playing(script).await?;
        let file = system.clone.join(".loopgate/work/chat-history.json");
        Ok(Self { system, file })
    }

    async fn send_message(&self, message: &str) -> Result<LineReader> {
        let body = json!({"message": message, "repoPath": self.system.clone});
        let request = self.system.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/chat/SHOP-7");
        let answer = request.header("accept", "text/event-stream").json(&body).send().await?;
        ensure!(answer.status() == 200, "{}", answer.text().await?);
        ensure!(answer.headers()["content-type"] == "application/x-ndjson", "{:?}", answer.headers());
        Ok(LineReader { answer, pending: Vec::new() })
    }

    fn history(&self) -> Value {
        let text = std::fs::read(&self.file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Waits until the last stored message has this content.
    async fn wait_for_stored(&self, content: &str) -> Result<()> {
        let directory = self.file.parent().context("a file has a directory")?;
        let wait_for_stored = wait::until(directory, async || {
            let history = self.history();
            let last = history["messages"].as_array().and_then(|messages| messages.last());
            last.is_some_and(|last| last["content"] == content).then_some(())
        });
        wait_for_stored.await.with_context(|| format!("the history is {}", self.history()))
    }

    async fn kill(&self, pid: &Value) -> Result<(u16, Value)> {
        let request = self.system.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/kill");
        let answer = request.json(&json!({"pid": pid})).send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    async fn no_processes_remain(&self) -> Result<()> {
        let others = || self.system.other_processes().into_iter().map(|process| process.pid).collect();
        wait::all_end(others)
            .await
            .with_context(|| format!("still running: {:?}", self.system.other_processes()))
    }
}

/// Returns a script that sends a text, is held at `answering`, and sends another text.
fn two_part_script() -> Script {
    Script::new([Conversation::when("halves", "Why two caches")
        .turn([ModelStep::text("First."), ModelStep::bash("true")])
        .turn([ModelStep::hold("answering"), ModelStep::text("Second.")])])
}

// OR-35, OR-36
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answer_is_streamed_and_stored() -> Result<()> {
    let script = Script::new([
        Conversation::when("again", "And on disk").says("None."),
        Conversation::when("first", "Why two caches")
            .turn([ModelStep::text("I look."), ModelStep::bash("echo one")])
            .says("Because."),
    ]);
    let chat = ChatFixture::new(script).await?;
    let events = chat.send_message("Why two caches?").await?.remaining().await?;
    ensure!(events[0]["status"] == "running" && events[0]["pid"].is_u64(), "{events:?}");
    let expected =
        ["status", "sessionId", "text", "tool_use", "tool_result", "text", "usage", "result", "done"];
    ensure!(event_types(&events) == expected, "{events:?}");
    ensure!(events[5]["content"] == "\n\nBecause.", "{events:?}");
    ensure!(events[7]["success"] == true, "{events:?}");
    let history = chat.history();
    let session = &events[1]["sessionId"];
    ensure!(history["sessionId"] == *session && history["ticketId"] == "SHOP-7", "{history}");
    ensure!(history["contextPercent"] == events[6]["contextPercent"], "{history}");
    let messages = history["messages"].as_array().context("messages")?;
    ensure!(messages.len() == 2 && messages[0]["content"] == "Why two caches?", "{history}");
    ensure!(messages[1]["role"] == "assistant" && messages[1]["content"] == "I look.\n\nBecause.");
    ensure!(messages[1]["blocks"].as_array().map(Vec::len) == Some(3), "{history}");

    // The next message resumes the session.
    let events = chat.send_message("And on disk?").await?.remaining().await?;
    ensure!(events[1]["sessionId"] == *session, "{events:?}");
    let requests = chat.system.testbed.model.requests_of("again");
    ensure!(requests[0].body.to_string().contains("Why two caches?"), "the session was not resumed");
    ensure!(chat.history()["messages"].as_array().map(Vec::len) == Some(4), "{}", chat.history());
    chat.no_processes_remain().await
}

// OR-39
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answer_is_stored_after_client_disconnects() -> Result<()> {
    let chat = ChatFixture::new(two_part_script()).await?;
    let mut reader = chat.send_message("Why two caches?").await?;
    reader.until("text").await?;
    chat.system.testbed.model.held("answering").await?;
    drop(reader);
    // The history contains the partial answer, and later the complete one.
    chat.wait_for_stored("First.").await?;
    chat.system.testbed.model.release("answering");
    chat.wait_for_stored("First.\n\nSecond.").await?;
    chat.no_processes_remain().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_survives_crash_and_answer_is_stored() -> Result<()> {
    let mut chat = ChatFixture::new(two_part_script()).await?;
    let mut reader = chat.send_message("Why two caches?").await?;
    reader.until("text").await?;
    chat.system.testbed.model.held("answering").await?;
    chat.system.loopgate.kill().await?;
    chat.system.testbed.model.release("answering");
    chat.system = chat.system.restart().await?;
    chat.wait_for_stored("First.\n\nSecond.").await?;
    ensure!(chat.history()["messages"].as_array().map(Vec::len) == Some(2), "{}", chat.history());
    chat.no_processes_remain().await
}

// OR-40
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_chat_leaves_no_processes() -> Result<()> {
    let script = Script::new([Conversation::when("busy", "Why two caches")
        // `setsid` removes the children from the process group, so they must be found by their environment.
        .turn([ModelStep::bash("setsid sleep 600 & setsid setsid sleep 600 & echo started")])
        .turn([ModelStep::hold("answering"), ModelStep::text("Never.")])]);
    let chat = ChatFixture::new(script).await?;
    let mut reader = chat.send_message("Why two caches?").await?;
    let pid = reader.until("status").await?["pid"].clone();
    chat.system.testbed.model.held("answering").await?;
    // A deny policy for the repository also applies to a process of it that is addressed by pid only.
    let mut owner = Owner::of(&chat.system.loopgate).await?;
    let closed = json!({"repository": chat.system.clone, "effect": "deny"});
    let policy = owner.call("approvals.set_policy", closed).await?;
    let refused = chat.kill(&pid).await?;
    ensure!(refused.0 == 403 && refused.1["code"] == "request_denied", "{refused:?}");
    owner.call("approvals.remove_policy", json!({"policyId": policy["id"]})).await?;
    let ended = chat.kill(&pid).await?;
    ensure!(
        ended == (200, json!({"success": true, "message": "Process terminated", "pid": pid})),
        "{ended:?}"
    );
    let rest = reader.remaining().await?;
    let last: Vec<_> = rest.iter().rev().take(2).collect();
    ensure!(last[0]["type"] == "done" && *last[1] == json!({"type": "result", "success": false}), "{rest:?}");
    chat.no_processes_remain().await?;
    let second = chat.kill(&pid).await?;
    let already_terminated = json!({"success": true, "message": "Process already terminated", "pid": pid});
    ensure!(second == (200, already_terminated), "{second:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_messages_are_all_answered() -> Result<()> {
    let script = Script::new([
        Conversation::when("one", "First question").says("First answer."),
        Conversation::when("two", "Second question").says("Second answer."),
    ]);
    let chat = ChatFixture::new(script).await?;
    let send = async |message| chat.send_message(message).await?.remaining().await;
    tokio::try_join!(send("First question"), send("Second question"))?;
    let history = chat.history().to_string();
    for text in ["First question", "Second question", "First answer.", "Second answer."] {
        ensure!(history.contains(text), "{text} is missing in {history}");
    }
    chat.no_processes_remain().await
}

impl Shop {
    /// Puts a script in the place of the assistant.
    pub(super) fn assistant(&self, text: &str) -> Result<()> {
        self.local.home.script("claude", &format!("#!/bin/sh\n{text}\n")).map(drop)
    }

    async fn chat(&self, route: &str, body: Value) -> Result<Vec<Value>> {
        let path = format!("/api/gateway/orchestrator/{route}");
        let answer = self.local.loopgate.gateway(Method::POST, &path).json(&body).send().await?;
        ensure!(answer.status() == 200, "{}", answer.text().await?);
        LineReader { answer, pending: Vec::new() }.remaining().await
    }

    fn question(&self) -> Value {
        json!({"message": "Why?", "repoPath": self.repo})
    }
}

// OR-38
#[tokio::test]
async fn missing_assistant_is_reported_in_stream() -> Result<()> {
    let shop = Shop::new().await?;
    let assistant = shop.local.home.script("own-assistant", "#!/bin/sh\n")?;
    let paths = json!({"assistant": assistant}).to_string();
    shop.local.send(Method::PATCH, "settings/binary-paths", paths).await?.ok()?;
    std::fs::remove_file(&assistant)?;
    let events = shop.chat("chat/SHOP-7", shop.question()).await?;
    ensure!(event_types(&events) == ["error", "done"], "{events:?}");
    let health = shop.local.loopgate.gateway_bare(Method::GET, "/health").send().await?;
    ensure!(health.status() == 200);
    let history = shop.get("chat-history/SHOP-7").await?.ok()?;
    ensure!(history["messages"] == json!([]), "the message was not stored in the repository: {history}");
    let wait_for_stored = std::fs::read_to_string(shop.repo.join(".loopgate/work/chat-history.json"))?;
    ensure!(wait_for_stored.contains("Why?"), "{wait_for_stored}");
    Ok(())
}

// OR-37
#[tokio::test]
async fn account_error_resets_session() -> Result<()> {
    let shop = Shop::new().await?;
    std::fs::create_dir_all(&shop.worktree)?;
    shop.post("chat-history/SHOP-7", &json!({"sessionId": "s-1"})).await?.ok()?;
    shop.assistant(
        "echo \"$@\" > args; echo complaint >&2\n\
         echo '{\"type\":\"result\",\"is_error\":true,\"result\":\"rate limit reached\"}'; exit 1",
    )?;
    let events = shop.chat("chat/SHOP-7", shop.question()).await?;
    ensure!(event_types(&events) == ["status", "error", "result", "done"], "{events:?}");
    let error =
        "The usage limit of claude is reached: rate limit reached. Wait until it resets, then try again.";
    ensure!(events[1]["error"] == error && events[2]["success"] == false, "{events:?}");
    let args = std::fs::read_to_string(shop.worktree.join("args"))?;
    let expected = "--setting-sources user --add-dir . -p --verbose --output-format stream-json \
        --allowedTools=Bash,Grep,Glob,Read,Edit,Write,Task,TodoWrite,WebSearch,WebFetch --resume s-1\n";
    ensure!(args == expected, "{args}");
    let history = shop.get("chat-history/SHOP-7").await?.ok()?;
    ensure!(history.get("sessionId").is_none() && history["contextPercent"].is_null(), "{history}");
    ensure!(history["messages"].as_array().map(Vec::len) == Some(1), "{history}");
    Ok(())
}

#[tokio::test]
async fn turn_without_an_answer_is_one_error() -> Result<()> {
    let shop = Shop::new().await?;
    let again = "Try again; if it recurs, start claude in a terminal to see why.";
    let message = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"First."}]}}"#;
    let cases = [
        ("exit 0".to_owned(), format!("claude exited without an answer. {again}")),
        ("echo rubbish".to_owned(), format!("claude exited without an answer. {again}")),
        (format!("printf '%.30s' '{message}'"), format!("claude exited without an answer. {again}")),
        ("echo why >&2".to_owned(), format!("claude exited without an answer: why. {again}")),
        ("exit 3".to_owned(), format!("claude exited with code 3 without an error message. {again}")),
        (
            format!("echo '{message}'; kill -KILL $$"),
            "claude was killed (SIGKILL). If you did not stop it, the system probably ran out of memory: close other \
             programs, then try again."
                .to_owned(),
        ),
    ];
    for (script, error) in cases {
        shop.assistant(&format!("cat > /dev/null\n{script}"))?;
        let events = shop.chat("chat/SHOP-7", shop.question()).await?;
        let errors: Vec<_> = events.iter().filter_map(|event| event["error"].as_str()).collect();
        ensure!(errors == [error.as_str()], "{script}: {events:?}");
        ensure!(events.contains(&json!({"type": "result", "success": false})), "{script}: {events:?}");
    }
    Ok(())
}

#[tokio::test]
async fn text_of_a_usage_limit_is_not_stored_as_an_answer() -> Result<()> {
    let shop = Shop::new().await?;
    let limit = "You have reached your 5-hour limit";
    let message = json!({"type": "assistant", "error": "rate_limit",
        "message": {"model": "<synthetic>", "content": [{"type": "text", "text": limit}]}});
    let result = json!({"type": "result", "subtype": "success", "is_error": true, "result": limit});
    for code in [0, 1] {
        shop.assistant(&format!("cat > /dev/null\necho '{message}'; echo '{result}'; exit {code}"))?;
        let events = shop.chat("chat/SHOP-7", shop.question()).await?;
        ensure!(event_types(&events) == ["status", "error", "result", "done"], "{events:?}");
        let error =
            format!("The usage limit of claude is reached: {limit}. Wait until it resets, then try again.");
        ensure!(events[1]["error"] == error && events[2]["success"] == false, "{events:?}");
    }
    let history = std::fs::read(shop.repo.join(".loopgate/work/chat-history.json"))?;
    let history: Value = serde_json::from_slice(&history)?;
    let roles: Vec<_> = history["messages"].as_array().into_iter().flatten().map(|m| &m["role"]).collect();
    ensure!(roles == ["user", "user"], "{history}");
    Ok(())
}

#[tokio::test]
async fn chat_can_be_stopped_after_its_session_was_started_again() -> Result<()> {
    let shop = Shop::new().await?;
    shop.post("chat-history/SHOP-7", &json!({"sessionId": "s-1"})).await?.ok()?;
    shop.assistant(
        "case \"$*\" in *--resume*) echo 'No conversation found with session ID: s-1' >&2; exit 1;; esac\n\
         cat > /dev/null; exec sleep 600",
    )?;
    let path = "/api/gateway/orchestrator/chat/SHOP-7";
    let answer = shop.local.loopgate.gateway(Method::POST, path).json(&shop.question()).send().await?;
    let mut reader = LineReader { answer, pending: Vec::new() };
    let first = reader.until("status").await?["pid"].clone();
    let second = reader.until("status").await?["pid"].clone();
    ensure!(first.is_u64() && second.is_u64() && first != second, "{first} {second}");
    let ended = shop.post("kill", &json!({"pid": second})).await?;
    ended.is(200, &json!({"success": true, "message": "Process terminated", "pid": second}))?;
    let rest = reader.remaining().await?;
    ensure!(event_types(&rest) == ["error", "result", "done"], "{rest:?}");
    let error = "claude was stopped before it finished. Start it again to get an answer.";
    ensure!(rest[0]["error"] == error, "{rest:?}");
    Ok(())
}

// OR-34, OR-49
#[tokio::test]
async fn invalid_request_does_not_start_assistant() -> Result<()> {
    let shop = Shop::new().await?;
    shop.assistant("touch started")?;
    let send = async |body: Value| shop.local.post("orchestrator/chat/SHOP-7", body).await;
    let needed = "message and repoPath are required";
    for body in [json!({}), json!({"message": " ", "repoPath": shop.repo}), json!({"message": "Why?"})] {
        send(body).await?.refused(400, needed, "missing_field")?;
    }
    let outside = json!({"message": "Why?", "repoPath": "/etc", "provider": "other"});
    send(outside).await?.refused(403, "directory not allowed", "directory_not_allowed")?;
    let context = json!({"message": "Why?", "repoPath": shop.repo, "contextRepoPaths": ["/etc"]});
    send(context).await?.refused(403, "directory not allowed", "directory_not_allowed")?;
    let provider = json!({"message": "Why?", "repoPath": shop.repo, "provider": "other"});
    send(provider).await?.refused(400, "unsupported provider", "invalid_request")?;
    let large = send(json!({"message": "x".repeat(300 * 1024), "repoPath": shop.repo})).await?;
    ensure!(large.status == 413 && large.body["maxBytes"] == 262_144, "{large:?}");
    ensure!(!shop.repo.join("started").exists() && !shop.repo.join(".loopgate").exists());

    // The message is stored first; without a history, the assistant is not started.
    write(&shop.repo.join(".loopgate"), "a file instead of a directory")?;
    let unsaved = send(shop.question()).await?;
    let text = unsaved.body["error"].as_str().unwrap_or_default();
    ensure!(unsaved.status == 500 && text.starts_with("Failed to save chat history"), "{unsaved:?}");
    ensure!(!shop.repo.join("started").exists());
    Ok(())
}

#[tokio::test]
async fn turns_after_tasks_in_the_background_are_one_answer() -> Result<()> {
    let shop = Shop::new().await?;
    let text =
        |text: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
    let system =
        |subtype: &str| json!({"type": "system", "subtype": subtype, "task_id": "b", "session_id": "s-1"});
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s-1"});
    // As the newest version prints them. It then stays alive because of a scheduled wake-up.
    let records = [
        system("init"),
        system("task_started"),
        text("The tests run."),
        result.clone(),
        system("task_notification"),
        system("init"),
        text("They pass."),
        result,
    ];
    let print = records.map(|record| format!("echo '{record}'\n")).concat();
    shop.assistant(&format!("cat > /dev/null\n{print}exec sleep 600"))?;
    let events = shop.chat("chat/SHOP-7", json!({"message": "Do they pass?", "repoPath": shop.repo})).await?;
    ensure!(event_types(&events) == ["status", "sessionId", "text", "text", "result", "done"], "{events:?}");
    ensure!(
        events[4]["success"] == true,
        "a program that was ended after its last result succeeded: {events:?}"
    );
    ensure!(events[3]["content"] == "\n\nThey pass.", "{events:?}");
    Ok(())
}

#[tokio::test]
async fn context_repositories_are_added_to_prompt() -> Result<()> {
    let shop = Shop::new().await?;
    let other = shop.local.repository("other", &[])?;
    shop.assistant("cat > prompt")?;
    let body = json!({"message": "Why?", "contextRepoPaths": [other, 5], "provider": "reviewer"});
    let route = format!("chat/SHOP-7?repo={}", percent_encode(&shop.repo.to_string_lossy()));
    let events = shop.chat(&route, body).await?;
    ensure!(event_types(&events) == ["status", "error", "result", "done"], "{events:?}");
    let prompt = std::fs::read_to_string(shop.repo.join("prompt"))?;
    let expected = format!("Context repositories:\n- {}\n\nWhy?", other.display());
    ensure!(prompt == expected, "{prompt}");
    ensure!(shop.repo.join(".loopgate/work/chat-history-reviewer.json").exists());
    Ok(())
}

/// The client does not read while the program prints more than the socket buffers hold. No event is lost, and
/// the answer is stored independently of the client.
#[tokio::test]
async fn slow_client_receives_all_events() -> Result<()> {
    const LINES: usize = 20_000;
    let shop = Shop::new().await?;
    shop.assistant(&format!(
        "i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); \
         echo '{{\"type\":\"content_block_delta\",\"delta\":{{\"type\":\"text_delta\",\"text\":\"'$i'....................................,\"}}}}'; done"
    ))?;
    let request = shop.local.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/chat/SHOP-7");
    let answer = request.json(&shop.question()).send().await?;
    let file = shop.repo.join(".loopgate/work/chat-history.json");
    let last = format!("{LINES}....................................,");
    let directory = file.parent().context("a file has a directory")?;
    let text = || std::fs::read_to_string(&file).unwrap_or_default();
    wait::until(directory, async || text().contains(&last).then_some(())).await?;
    let events = LineReader { answer, pending: Vec::new() }.remaining().await?;
    let texts: Vec<_> = events.iter().filter_map(|event| event["content"].as_str()).collect();
    ensure!(texts.len() == LINES, "{} of {LINES}", texts.len());
    let in_order = texts.iter().enumerate().all(|(n, text)| text.starts_with(&format!("{}.", n + 1)));
    ensure!(in_order && events.last().context("an end")?["type"] == "done");
    Ok(())
}

/// Programs with endless output are killed with their children, and the client receives the reason.
#[tokio::test]
async fn endless_output_is_terminated_and_reported() -> Result<()> {
    let shop = Shop::new().await?;
    let text = r#"echo '{"type":"assistant","message":{"content":[{"type":"text","text":"First."}]}}'"#;
    let line = "rubbish ".repeat(32);
    for endless in [
        format!("trap '' TERM; yes '{line}' & yes '{line}'"),
        "cat /dev/zero".to_owned(),
        format!("yes '{line}' >&2"),
    ] {
        let pid = shop.repo.join("pid");
        shop.assistant(&format!("echo $$ > '{}'; {text}; {endless}", pid.display()))?;
        let events = shop.chat("chat/SHOP-7", shop.question()).await?;
        ensure!(
            event_types(&events) == ["status", "text", "error", "result", "done"],
            "{endless}: {events:?}"
        );
        let error = "claude printed more than 64 MB and was stopped. Ask for less at once.";
        ensure!(events[2]["error"] == error && events[3]["success"] == false, "{events:?}");
        let process = std::fs::read_to_string(&pid)?.trim().to_owned();
        ensure!(!std::path::Path::new("/proc").join(&process).exists(), "{process} still runs");
        let wait_for_stored = std::fs::read_to_string(shop.repo.join(".loopgate/work/chat-history.json"))?;
        ensure!(
            wait_for_stored.contains("First.") && wait_for_stored.len() < 10_000,
            "{} bytes are stored",
            wait_for_stored.len()
        );
    }
    let runs = shop.local.loopgate.setup().data_dir().join("chats");
    let remaining_runs = std::fs::read_dir(&runs).map(Iterator::count).unwrap_or(0);
    ensure!(remaining_runs == 0, "{remaining_runs} runs left their files in {}", runs.display());
    Ok(())
}

// OR-41
#[tokio::test]
async fn comment_chat_includes_comment_context() -> Result<()> {
    let shop = Shop::new().await?;
    let bare = shop.local.get("orchestrator/comment-chat/c%2F1", &[("ticketId", "SHOP-7")]).await?;
    bare.refused(400, "ticketId and repo parameters are required", "missing_field")?;
    let route = "comment-chat/c%2F1?ticketId=SHOP-7";
    let empty = json!({"messages": [], "ticketId": "SHOP-7", "repoPath": shop.repo, "commentId": "c/1"});
    shop.get(route).await?.is(200, &empty)?;
    shop.post(route, &json!({"message": ""})).await?.refused(400, "message is required", "missing_field")?;

    shop.assistant(
        "cat >> prompt; echo '{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Right.\"}]}}'",
    )?;
    let context = json!({"author": "octo", "body": "Leaks?", "path": "src/a.rs", "line": 7, "replies": []});
    let with_repo = format!("{route}&repo={}", percent_encode(&shop.repo.to_string_lossy()));
    let events = shop.chat(&with_repo, json!({"message": "Is it so?", "commentContext": context})).await?;
    ensure!(event_types(&events) == ["status", "text", "result", "done"], "{events:?}");
    let prompt = std::fs::read_to_string(shop.repo.join("prompt"))?;
    ensure!(prompt == "File: src/a.rs:7\nPR comment from @octo:\nLeaks?\n\nIs it so?", "{prompt}");
    // The context of the comment is stored with the chat.
    shop.chat(&with_repo, json!({"message": "Sure?"})).await?;
    let prompt = std::fs::read_to_string(shop.repo.join("prompt"))?;
    ensure!(prompt.ends_with("Leaks?\n\nSure?"), "{prompt}");

    let done = json!({"success": true});
    shop.send(Method::PATCH, route, "{}").await?.is(200, &done)?;
    let history = shop.get(route).await?.ok()?;
    ensure!(history["messages"][3]["responded"] == true, "{history}");
    ensure!(history["messages"][1].get("responded").is_none(), "{history}");
    ensure!(history["commentContext"] == context && history["commentId"] == "c/1", "{history}");
    let first = json!({"messageId": history["messages"][1]["id"], "responded": false}).to_string();
    shop.send(Method::PATCH, route, &first).await?.is(200, &done)?;
    shop.send(Method::PATCH, route, r#"{"messageId":"unknown"}"#).await?.is(200, &done)?;
    let history = shop.get(route).await?.ok()?;
    ensure!(history["messages"][1]["responded"] == false, "{history}");
    let file = shop.repo.join(".loopgate/work/comment-chats/c_1.json");
    ensure!(file.exists());
    shop.send(Method::DELETE, route, "").await?.is(200, &done)?;
    shop.send(Method::DELETE, route, "").await?.is(200, &done)?;
    ensure!(!file.exists());
    let already_terminated = shop.local.at("gone");
    let missing_repo =
        format!("orchestrator/{route}&repo={}", percent_encode(&already_terminated.to_string_lossy()));
    let answer = shop.local.post(&missing_repo, json!({"message": "Why?"})).await?;
    answer.refused(404, "Work directory not found", "not_found")
}
