//! Chats about a ticket: with the real assistant, and with stand-ins for what it cannot be made to
//! do.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, Script, Step};
use loopgate_testkit::wait;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::Shop;
use crate::foreign::encoded;
use crate::local::write;
use crate::owner::Owner;
use crate::test_system::TestSystem;

/// A page that reads a stream line by line.
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

    /// Reads until an event of this type comes.
    async fn until(&mut self, kind: &str) -> Result<Value> {
        while let Some(event) = self.next().await? {
            if event["type"] == kind {
                return Ok(event);
            }
        }
        anyhow::bail!("the stream ended without {kind}")
    }

    async fn rest(mut self) -> Result<Vec<Value>> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["type"].as_str()).collect()
}

/// A Loopgate with the real assistant, and the file in which the chat about `SHOP-7` is kept.
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

    /// Waits until the last message that is kept says this.
    async fn kept(&self, content: &str) -> Result<()> {
        let directory = self.file.parent().context("a file has a directory")?;
        let kept = wait::seen(directory, async || {
            let history = self.history();
            let last = history["messages"].as_array().and_then(|messages| messages.last());
            last.is_some_and(|last| last["content"] == content).then_some(())
        });
        kept.await.with_context(|| format!("kept is {}", self.history()))
    }

    async fn kill(&self, pid: &Value) -> Result<(u16, Value)> {
        let request = self.system.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/kill");
        let answer = request.json(&json!({"pid": pid})).send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    async fn alone(&self) -> Result<()> {
        let others = || self.system.others().into_iter().map(|process| process.pid).collect();
        wait::all_end(others).await.with_context(|| format!("still running: {:?}", self.system.others()))
    }
}

/// Says a word, waits at the gate `answering`, and says another.
fn in_two_halves() -> Script {
    Script::new([Conversation::when("halves", "Why two caches")
        .turn([Step::text("First."), Step::bash("true")])
        .turn([Step::hold("answering"), Step::text("Second.")])])
}

// OR-35, OR-36
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answer_comes_as_it_is_made_and_is_kept() -> Result<()> {
    let script = Script::new([
        Conversation::when("again", "And on disk").says("None."),
        Conversation::when("first", "Why two caches")
            .turn([Step::text("I look."), Step::bash("echo one")])
            .says("Because."),
    ]);
    let talk = ChatFixture::new(script).await?;
    let events = talk.send_message("Why two caches?").await?.rest().await?;
    ensure!(events[0]["status"] == "running" && events[0]["pid"].is_u64(), "{events:?}");
    let expected = [
        "status",
        "sessionId",
        "text",
        "tool_use",
        "tool_result",
        "text",
        "usage",
        "result",
        "result",
        "done",
    ];
    ensure!(kinds(&events) == expected, "{events:?}");
    ensure!(events[5]["content"] == "\n\nBecause.", "{events:?}");
    ensure!(events[7]["success"] == true && events[8]["success"] == true, "{events:?}");
    let history = talk.history();
    let session = &events[1]["sessionId"];
    ensure!(history["sessionId"] == *session && history["ticketId"] == "SHOP-7", "{history}");
    ensure!(history["contextPercent"] == events[6]["contextPercent"], "{history}");
    let messages = history["messages"].as_array().context("messages")?;
    ensure!(messages.len() == 2 && messages[0]["content"] == "Why two caches?", "{history}");
    ensure!(messages[1]["role"] == "assistant" && messages[1]["content"] == "I look.\n\nBecause.");
    ensure!(messages[1]["blocks"].as_array().map(Vec::len) == Some(3), "{history}");

    // The next message goes on with the session.
    let events = talk.send_message("And on disk?").await?.rest().await?;
    ensure!(events[1]["sessionId"] == *session, "{events:?}");
    let asked = talk.system.testbed.model.requests_of("again");
    ensure!(asked[0].body.to_string().contains("Why two caches?"), "the assistant remembers");
    ensure!(talk.history()["messages"].as_array().map(Vec::len) == Some(4), "{}", talk.history());
    talk.alone().await
}

// OR-39
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_that_leaves_finds_the_answer_later() -> Result<()> {
    let talk = ChatFixture::new(in_two_halves()).await?;
    let mut reader = talk.send_message("Why two caches?").await?;
    reader.until("text").await?;
    talk.system.testbed.model.held("answering").await?;
    drop(reader);
    // What is there of the answer can be read at once, the rest when it came.
    talk.kept("First.").await?;
    talk.system.testbed.model.release("answering");
    talk.kept("First.\n\nSecond.").await?;
    talk.alone().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_outlives_the_gateway_and_its_answer_is_kept() -> Result<()> {
    let mut talk = ChatFixture::new(in_two_halves()).await?;
    let mut reader = talk.send_message("Why two caches?").await?;
    reader.until("text").await?;
    talk.system.testbed.model.held("answering").await?;
    talk.system.loopgate.kill().await?;
    talk.system.testbed.model.release("answering");
    talk.system = talk.system.restart().await?;
    talk.kept("First.\n\nSecond.").await?;
    ensure!(talk.history()["messages"].as_array().map(Vec::len) == Some(2), "{}", talk.history());
    talk.alone().await
}

// OR-40
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_that_is_stopped_leaves_no_process() -> Result<()> {
    let script = Script::new([Conversation::when("busy", "Why two caches")
        .turn([Step::bash("setsid sleep 600 & setsid setsid sleep 600 & echo started")])
        .turn([Step::hold("answering"), Step::text("Never.")])]);
    let talk = ChatFixture::new(script).await?;
    let mut reader = talk.send_message("Why two caches?").await?;
    let pid = reader.until("status").await?["pid"].clone();
    talk.system.testbed.model.held("answering").await?;
    // Of a repository that is closed, a pid is a name like others.
    let mut owner = Owner::of(&talk.system.loopgate).await?;
    let closed = json!({"repository": talk.system.clone, "effect": "deny"});
    let policy = owner.ask("approvals.set_policy", closed).await?;
    let refused = talk.kill(&pid).await?;
    ensure!(refused.0 == 403 && refused.1["code"] == "request_denied", "{refused:?}");
    owner.ask("approvals.remove_policy", json!({"policyId": policy["id"]})).await?;
    let ended = talk.kill(&pid).await?;
    ensure!(
        ended == (200, json!({"success": true, "message": "Process terminated", "pid": pid})),
        "{ended:?}"
    );
    let rest = reader.rest().await?;
    let last: Vec<_> = rest.iter().rev().take(2).collect();
    ensure!(last[0]["type"] == "done" && *last[1] == json!({"type": "result", "success": false}), "{rest:?}");
    talk.alone().await?;
    let again = talk.kill(&pid).await?;
    let gone = json!({"success": true, "message": "Process already terminated", "pid": pid});
    ensure!(again == (200, gone), "{again:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_pages_may_ask_at_once() -> Result<()> {
    let script = Script::new([
        Conversation::when("one", "First question").says("First answer."),
        Conversation::when("two", "Second question").says("Second answer."),
    ]);
    let talk = ChatFixture::new(script).await?;
    let ask = async |message| talk.send_message(message).await?.rest().await;
    tokio::try_join!(ask("First question"), ask("Second question"))?;
    let history = talk.history().to_string();
    for said in ["First question", "Second question", "First answer.", "Second answer."] {
        ensure!(history.contains(said), "{said} is missing in {history}");
    }
    talk.alone().await
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
        LineReader { answer, pending: Vec::new() }.rest().await
    }

    fn question(&self) -> Value {
        json!({"message": "Why?", "repoPath": self.repo})
    }
}

// OR-38
#[tokio::test]
async fn assistant_that_is_missing_is_told_in_the_stream() -> Result<()> {
    let shop = Shop::new().await?;
    let assistant = shop.local.home.script("own-assistant", "#!/bin/sh\n")?;
    let paths = json!({"assistant": assistant}).to_string();
    shop.local.send(Method::PATCH, "settings/binary-paths", paths).await?.ok()?;
    std::fs::remove_file(&assistant)?;
    let events = shop.chat("chat/SHOP-7", shop.question()).await?;
    ensure!(kinds(&events) == ["error", "done"], "{events:?}");
    let health = shop.local.loopgate.gateway_bare(Method::GET, "/health").send().await?;
    ensure!(health.status() == 200);
    let history = shop.get("chat-history/SHOP-7").await?.ok()?;
    ensure!(history["messages"] == json!([]), "kept in the repository, not in a worktree: {history}");
    let kept = std::fs::read_to_string(shop.repo.join(".loopgate/work/chat-history.json"))?;
    ensure!(kept.contains("Why?"), "{kept}");
    Ok(())
}

// OR-37
#[tokio::test]
async fn refused_account_begins_a_new_session() -> Result<()> {
    let shop = Shop::new().await?;
    std::fs::create_dir_all(&shop.worktree)?;
    shop.post("chat-history/SHOP-7", &json!({"sessionId": "s-1"})).await?.ok()?;
    shop.assistant(
        "echo \"$@\" > args; echo complaint >&2\n\
         echo '{\"type\":\"result\",\"is_error\":true,\"result\":\"rate limit reached\"}'; exit 1",
    )?;
    let events = shop.chat("chat/SHOP-7", shop.question()).await?;
    ensure!(kinds(&events) == ["status", "error", "error", "result", "done"], "{events:?}");
    ensure!(events[1]["error"] == "rate limit reached" && events[2]["error"] == "complaint", "{events:?}");
    ensure!(events[3]["success"] == false, "{events:?}");
    let args = std::fs::read_to_string(shop.worktree.join("args"))?;
    let expected = "--setting-sources user --add-dir . -p --verbose --output-format stream-json \
        --allowedTools=Bash,Grep,Glob,Read,Edit,Write,Task,TodoWrite,WebSearch,WebFetch --resume s-1\n";
    ensure!(args == expected, "{args}");
    let history = shop.get("chat-history/SHOP-7").await?.ok()?;
    ensure!(history.get("sessionId").is_none() && history["contextPercent"].is_null(), "{history}");
    ensure!(history["messages"].as_array().map(Vec::len) == Some(1), "{history}");
    Ok(())
}

// OR-34, OR-49
#[tokio::test]
async fn invalid_request_starts_nothing() -> Result<()> {
    let shop = Shop::new().await?;
    shop.assistant("touch started")?;
    let ask = async |body: Value| shop.local.post("orchestrator/chat/SHOP-7", body).await;
    let needed = "message and repoPath are required";
    for body in [json!({}), json!({"message": " ", "repoPath": shop.repo}), json!({"message": "Why?"})] {
        ask(body).await?.refused(400, needed, "missing_field")?;
    }
    let outside = json!({"message": "Why?", "repoPath": "/etc", "provider": "other"});
    ask(outside).await?.refused(403, "directory not allowed", "directory_not_allowed")?;
    let context = json!({"message": "Why?", "repoPath": shop.repo, "contextRepoPaths": ["/etc"]});
    ask(context).await?.refused(403, "directory not allowed", "directory_not_allowed")?;
    let provider = json!({"message": "Why?", "repoPath": shop.repo, "provider": "other"});
    ask(provider).await?.refused(400, "unsupported provider", "invalid_request")?;
    let large = ask(json!({"message": "x".repeat(300 * 1024), "repoPath": shop.repo})).await?;
    ensure!(large.status == 413 && large.body["maxBytes"] == 262_144, "{large:?}");
    ensure!(!shop.repo.join("started").exists() && !shop.repo.join(".loopgate").exists());

    // What cannot be kept is told before anything is asked.
    write(&shop.repo.join(".loopgate"), "a file in the place of the directory")?;
    let unkept = ask(shop.question()).await?;
    let text = unkept.body["error"].as_str().unwrap_or_default();
    ensure!(unkept.status == 500 && text.starts_with("Failed to save chat history"), "{unkept:?}");
    ensure!(!shop.repo.join("started").exists());
    Ok(())
}

#[tokio::test]
async fn assistant_is_told_of_further_repositories() -> Result<()> {
    let shop = Shop::new().await?;
    let other = shop.local.repository("other", &[])?;
    shop.assistant("cat > told")?;
    let body = json!({"message": "Why?", "contextRepoPaths": [other, 5], "provider": "reviewer"});
    let route = format!("chat/SHOP-7?repo={}", encoded(&shop.repo.to_string_lossy()));
    let events = shop.chat(&route, body).await?;
    ensure!(kinds(&events) == ["status", "result", "done"], "{events:?}");
    let told = std::fs::read_to_string(shop.repo.join("told"))?;
    let expected = format!("Context repositories:\n- {}\n\nWhy?", other.display());
    ensure!(told == expected, "{told}");
    ensure!(shop.repo.join(".loopgate/work/chat-history-reviewer.json").exists());
    Ok(())
}

/// A program that prints much, and a page that does not read for a while: nothing is lost, and the
/// answer is kept without the page.
#[tokio::test]
async fn slow_reader_blocks_nobody_and_misses_nothing() -> Result<()> {
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
    wait::seen(directory, async || text().contains(&last).then_some(())).await?;
    let events = LineReader { answer, pending: Vec::new() }.rest().await?;
    let texts: Vec<_> = events.iter().filter_map(|event| event["content"].as_str()).collect();
    ensure!(texts.len() == LINES, "{} of {LINES}", texts.len());
    let in_order = texts.iter().enumerate().all(|(n, text)| text.starts_with(&format!("{}.", n + 1)));
    ensure!(in_order && events.last().context("an end")?["type"] == "done");
    Ok(())
}

/// Programs that print without an end are ended with all that they started, and the person is told why.
#[tokio::test]
async fn endless_output_ends_the_program_and_is_reported() -> Result<()> {
    let shop = Shop::new().await?;
    let said = r#"echo '{"type":"assistant","message":{"content":[{"type":"text","text":"First."}]}}'"#;
    let line = "rubbish ".repeat(32);
    for endless in [
        format!("trap '' TERM; yes '{line}' & yes '{line}'"),
        "cat /dev/zero".to_owned(),
        format!("yes '{line}' >&2"),
    ] {
        let pid = shop.repo.join("pid");
        shop.assistant(&format!("echo $$ > '{}'; {said}; {endless}", pid.display()))?;
        let events = shop.chat("chat/SHOP-7", shop.question()).await?;
        ensure!(kinds(&events) == ["status", "text", "error", "result", "done"], "{endless}: {events:?}");
        let error = "assistant printed more than 64 MB and was stopped";
        ensure!(events[2]["error"] == error && events[3]["success"] == false, "{events:?}");
        let process = std::fs::read_to_string(&pid)?.trim().to_owned();
        ensure!(!std::path::Path::new("/proc").join(&process).exists(), "{process} still runs");
        let kept = std::fs::read_to_string(shop.repo.join(".loopgate/work/chat-history.json"))?;
        ensure!(kept.contains("First.") && kept.len() < 10_000, "{} bytes are kept", kept.len());
    }
    let runs = shop.local.loopgate.setup().data_dir().join("chats");
    let left = std::fs::read_dir(&runs).map(Iterator::count).unwrap_or(0);
    ensure!(left == 0, "{left} runs left their files in {}", runs.display());
    Ok(())
}

// OR-41
#[tokio::test]
async fn comment_is_talked_about() -> Result<()> {
    let shop = Shop::new().await?;
    let bare = shop.local.get("orchestrator/comment-chat/c%2F1", &[("ticketId", "SHOP-7")]).await?;
    bare.refused(400, "ticketId and repo parameters are required", "missing_field")?;
    let route = "comment-chat/c%2F1?ticketId=SHOP-7";
    let empty = json!({"messages": [], "ticketId": "SHOP-7", "repoPath": shop.repo, "commentId": "c/1"});
    shop.get(route).await?.is(200, &empty)?;
    shop.post(route, &json!({"message": ""})).await?.refused(400, "message is required", "missing_field")?;

    shop.assistant(
        "cat >> told; echo '{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Right.\"}]}}'",
    )?;
    let context = json!({"author": "octo", "body": "Leaks?", "path": "src/a.rs", "line": 7, "replies": []});
    let with_repo = format!("{route}&repo={}", encoded(&shop.repo.to_string_lossy()));
    let events = shop.chat(&with_repo, json!({"message": "Is it so?", "commentContext": context})).await?;
    ensure!(kinds(&events) == ["status", "text", "result", "done"], "{events:?}");
    let told = std::fs::read_to_string(shop.repo.join("told"))?;
    ensure!(told == "File: src/a.rs:7\nPR comment from @octo:\nLeaks?\n\nIs it so?", "{told}");
    // What it is about is remembered.
    shop.chat(&with_repo, json!({"message": "Sure?"})).await?;
    let told = std::fs::read_to_string(shop.repo.join("told"))?;
    ensure!(told.ends_with("Leaks?\n\nSure?"), "{told}");

    let done = json!({"success": true});
    shop.ask(Method::PATCH, route, "{}").await?.is(200, &done)?;
    let history = shop.get(route).await?.ok()?;
    ensure!(history["messages"][3]["responded"] == true, "{history}");
    ensure!(history["messages"][1].get("responded").is_none(), "{history}");
    ensure!(history["commentContext"] == context && history["commentId"] == "c/1", "{history}");
    let first = json!({"messageId": history["messages"][1]["id"], "responded": false}).to_string();
    shop.ask(Method::PATCH, route, &first).await?.is(200, &done)?;
    shop.ask(Method::PATCH, route, r#"{"messageId":"nobody"}"#).await?.is(200, &done)?;
    let history = shop.get(route).await?.ok()?;
    ensure!(history["messages"][1]["responded"] == false, "{history}");
    let file = shop.repo.join(".loopgate/work/comment-chats/c_1.json");
    ensure!(file.exists());
    shop.ask(Method::DELETE, route, "").await?.is(200, &done)?;
    shop.ask(Method::DELETE, route, "").await?.is(200, &done)?;
    ensure!(!file.exists());
    let gone = shop.local.at("gone");
    let nowhere = format!("orchestrator/{route}&repo={}", encoded(&gone.to_string_lossy()));
    let answer = shop.local.post(&nowhere, json!({"message": "Why?"})).await?;
    answer.refused(404, "Work directory not found", "not_found")
}
