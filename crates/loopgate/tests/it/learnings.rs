//! Learnings: from one loop to the next, and with concurrent, killed and failing writers.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelRequest, ModelStep, Script};
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_system::{TestSystem, git};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");
/// Status file of the processing, relative to a work directory.
const STATUS: &str = ".learnings/processing-status.json";

/// Learning that is extracted from the ticket's chat.
const FROM_CHAT: &str = "Keep every colour of the page as a custom property";
/// Learning that an agent of the loop wrote, and its rewording by the assistant.
const FROM_AGENT: &str = "npm test is needed here before anything else";
const REWORDED: &str = "Run npm test before a change to the rules of the page";

/// Returns the story's script, in whose plan an agent writes a learning and reads the learnings of earlier
/// loops.
fn script() -> Script {
    let pending = json!({"what_happened": "A rule was broken", "why": "No test ran", "applies_to": ["*"],
        "pattern_to_remember": FROM_AGENT, "context": {"file": "notes.js", "line": 3}});
    let extracted = json!({"learnings": [{"what_happened": "A colour was wrong", "why": "It was written twice",
        "category": "convention", "pattern_to_remember": FROM_CHAT, "file": "styles.css", "line": 1}]});
    let classified = json!({"learnings": [{"id": 0, "verdict": "reworded", "category": "mistake",
        "scope": "repository", "summary": REWORDED}]});
    let mut script = story::script();
    for plan in script.conversations.iter_mut().filter(|known| known.name == story::PLAN) {
        plan.turns[0].0.extend([
            ModelStep::write("{{workdir}}/.learnings/pending/plan-writer-1.json", &pending.to_string()),
            ModelStep::bash("cat '{{workdir}}/learnings.md' || true"),
        ]);
    }
    let mut add_conversation = |name: &str, pattern: &str, answer: &Value| {
        let mut conversation = Conversation::when(name, pattern).says(&answer.to_string());
        conversation.toolless = true;
        script.conversations.insert(0, conversation);
    };
    add_conversation("extract", "Extract learnings from the chat below", &extracted);
    add_conversation("classify", "Check the learnings below, which agents wrote", &classified);
    script
}

/// Waits for the final status of a background task.
async fn ended(system: &TestSystem, directory: &Path, route: &str) -> Result<Value> {
    wait::until(directory, async || {
        let response =
            system.loopgate.gateway(Method::GET, &format!("/api/gateway/{route}")).send().await.ok()?;
        let status: Value = response.json().await.ok()?;
        (!["none", "waiting", "processing"].contains(&status["status"].as_str()?)).then_some(status)
    })
    .await
}

async fn post(system: &TestSystem, route: &str, body: &Value) -> Result<Value> {
    let request = system.loopgate.gateway(Method::POST, &format!("/api/gateway/orchestrator/{route}"));
    Ok(request.json(body).send().await?.json().await?)
}

/// Runs a PLAN loop to its end, and returns what the assistant's model was sent.
async fn planned(system: &TestSystem, document: &str, options: Value) -> Result<String> {
    let before = system.testbed.model.requests_of(story::PLAN).len();
    let plan = system.page.run_loop(document, &options).await?;
    let end = system.page.wait_for_end(&plan).await?;
    ensure!(end["status"] == "COMPLETED", "{end}\n{}", system.loopgate.output());
    system.no_processes_remain(&plan).await?;
    let requests = system.testbed.model.requests_of(story::PLAN);
    let text = |request: &ModelRequest| format!("{}{}", request.user_text(), request.tool_results());
    let text: String = requests[before..].iter().map(text).collect();
    ensure!(!text.is_empty(), "the model was not asked");
    Ok(text)
}

// DL-29, DL-38
// The real assistant extracts and classifies the learnings, and receives them in the next loop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn learnings_of_a_loop_and_a_chat_reach_the_next_loop() -> Result<()> {
    let mut system = TestSystem::playing(script()).await?;
    let document = system.page.create_plan().await?;
    let worktree = system.testbed.sandbox().join("garden-notes-SHOP-7");
    let worktree_path = worktree.to_str().context("a plain path")?;
    git(&system.clone, &["worktree", "add", "--quiet", "-b", "shop-7", worktree_path])?;
    let work = worktree.join(".loopgate/work");
    std::fs::create_dir_all(work.join(".learnings"))?;
    std::fs::write(
        work.join("chat-history.json"),
        r#"{"messages":[{"role":"user","content":"The colour is wrong"}]}"#,
    )?;

    let ticket = json!({"ticketId": "SHOP-7", "repoPath": system.clone});
    ensure!(post(&system, "extract-learnings", &ticket).await? == json!({"status": "processing"}));
    let route = format!("orchestrator/learnings-status/SHOP-7?repo={}", system.clone.display());
    let status = ended(&system, &work.join(".learnings"), &route).await?;
    ensure!(status["status"] == "completed" && status["count"] == 1, "{status}");

    let patterns = system.testbed.home.path().join(".loopgate/learnings");
    std::fs::create_dir_all(&patterns)?;
    let started = post(&system, "process-all-learnings", &Value::Null).await?;
    ensure!(started["status"] == "processing" && started["worktreeCount"] == 2, "{started}");
    let status = ended(&system, &patterns, "orchestrator/process-all-learnings").await?;
    let log = std::fs::read_to_string(patterns.join("batch-process-learnings.log"))?;
    ensure!(status["status"] == "completed" && status["processedWorktrees"] == 2, "{status}\n{log}");

    let list = system.loopgate.gateway(Method::GET, "/api/gateway/learnings").send().await?;
    let list: Value = list.json().await?;
    let of = |summary: &str| {
        let patterns = list["patterns"].as_array().into_iter().flatten();
        patterns
            .clone()
            .find(|pattern| pattern["summary"] == summary)
            .cloned()
            .with_context(|| format!("{list}\n{log}"))
    };
    let (chat, agent) = (of(FROM_CHAT)?, of(REWORDED)?);
    ensure!(chat["category"] == "convention" && chat["repo"] == "acme/garden-notes", "{chat}");
    ensure!(agent["category"] == "mistake" && agent["repo"] == "acme/garden-notes", "{agent}");
    let records: Value = serde_json::from_slice(&std::fs::read(patterns.join("pattern-records.json"))?)?;
    let source = &records["patterns"][agent["id"].as_str().context("an id")?]["sources"][0];
    let head = git(&system.clone, &["rev-parse", "HEAD"])?;
    ensure!(source["file"] == "notes.js:3" && source["commit"] == head.trim(), "{source}");

    let has_learnings = |text: &str| text.contains(FROM_CHAT) || text.contains(REWORDED);
    let text = planned(&system, &document, json!({"command": "plan"})).await?;
    ensure!(!has_learnings(&text), "the loop was started without learnings: {text}");
    let with_learnings = json!({"command": "plan", "selfLearning": true});
    let text = planned(&system, &document, with_learnings.clone()).await?;
    ensure!(text.contains(FROM_CHAT) && text.contains(REWORDED), "{text}");

    // The owner of the machine can turn them off.
    system.loopgate.stop().await?;
    let settings = system.loopgate.setup().data_dir().join("settings.toml");
    let text = std::fs::read_to_string(&settings).unwrap_or_default();
    std::fs::write(&settings, format!("learnings_enabled = false\n{text}"))?;
    let system = system.restart().await?;
    let text = planned(&system, &document, with_learnings).await?;
    ensure!(!has_learnings(&text), "{text}");
    Ok(())
}

/// A home with worktrees that have pending learnings.
struct LearningsFixture {
    home: UserHome,
}

impl LearningsFixture {
    fn new() -> Result<Self> {
        Ok(Self { home: UserHome::temporary()? })
    }

    fn work_dir(&self, worktree: usize) -> PathBuf {
        self.home.path().join(format!("src/shop-{worktree}/.loopgate/work"))
    }

    fn patterns(&self) -> PathBuf {
        self.home.path().join(".loopgate/learnings/org-patterns.toon")
    }

    /// Writes pending learnings that have no words in common, so that none are merged.
    fn add_pending(&self, worktree: usize, count: usize) -> Result<()> {
        let pending = self.work_dir(worktree).join(".learnings/pending");
        std::fs::create_dir_all(&pending)?;
        for number in 0..count {
            let word = |letter: char| format!("{letter}{worktree}x{number}");
            let summary: Vec<String> = ('a'..='f').map(word).collect();
            let learning = json!({"category": "insight", "pattern_to_remember": summary.join(" ")});
            std::fs::write(pending.join(format!("{number}.json")), learning.to_string())?;
        }
        Ok(())
    }

    fn process(&self, worktree: usize) -> tokio::process::Command {
        let mut command = self.home.command(PROGRAM);
        command.args(["learnings", "process"]).arg(self.work_dir(worktree));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    fn pending(&self, worktree: usize) -> usize {
        std::fs::read_dir(self.work_dir(worktree).join(".learnings/pending")).map_or(0, Iterator::count)
    }

    /// Returns the summaries of all patterns; fails when one occurs twice.
    fn summaries(&self) -> Result<Vec<String>> {
        let text = std::fs::read_to_string(self.patterns())?;
        let rows = text.lines().filter(|line| line.trim().starts_with("P-"));
        let summary = |row: &str| row.split('"').nth(1).map(str::to_owned).context("a summary");
        let mut summaries = rows.map(summary).collect::<Result<Vec<_>>>()?;
        ensure!(text.contains(&format!("patterns[{}]{{", summaries.len())), "{text}");
        let count = summaries.len();
        summaries.sort_unstable();
        summaries.dedup();
        ensure!(summaries.len() == count, "{text}");
        Ok(summaries)
    }
}

fn succeeded(output: &Output) -> Result<()> {
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[tokio::test]
async fn concurrent_processes_lose_no_learning() -> Result<()> {
    let fixture = LearningsFixture::new()?;
    for worktree in 0..8 {
        fixture.add_pending(worktree, 6)?;
    }
    // All eight processes update the same file at once, which is protected by a lock.
    let outputs = try_join_all((0..8).map(|worktree| fixture.process(worktree).output())).await?;
    outputs.iter().try_for_each(succeeded)?;
    ensure!(fixture.summaries()?.len() == 48);
    ensure!((0..8).all(|worktree| fixture.pending(worktree) == 0));
    Ok(())
}

#[tokio::test]
async fn killed_processing_completes_on_retry() -> Result<()> {
    // Kill the program as soon as it has created one of these files.
    let status: fn(&LearningsFixture) -> PathBuf = |fixture| fixture.work_dir(0).join(STATUS);
    for trigger in [status, LearningsFixture::patterns] {
        let fixture = LearningsFixture::new()?;
        fixture.add_pending(0, 40)?;
        std::fs::create_dir_all(fixture.patterns().parent().context("a directory")?)?;
        let file = trigger(&fixture);
        let mut program = fixture.process(0).spawn()?;
        wait::until_exists(&file).await?;
        program.kill().await?;
        succeeded(&fixture.process(0).output().await?)?;
        ensure!(fixture.summaries()?.len() == 40 && fixture.pending(0) == 0, "killed at {}", file.display());
    }
    Ok(())
}

#[tokio::test]
async fn full_disk_leaves_the_files_unchanged() -> Result<()> {
    let fixture = LearningsFixture::new()?;
    fixture.add_pending(0, 2)?;
    succeeded(&fixture.process(0).output().await?)?;
    let before = std::fs::read(fixture.patterns())?;
    fixture.add_pending(1, 3)?;
    // RLIMIT_FSIZE simulates the full disk. SIGXFSZ is ignored, so that the write fails with EFBIG.
    let mut full = fixture.home.command("sh");
    full.args(["-c", "trap '' XFSZ; exec prlimit --fsize=0 \"$0\" learnings process \"$1\"", PROGRAM]);
    let output = full.arg(fixture.work_dir(1)).output().await?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(1) && text.contains("Failed to write"), "{}: {text}", output.status);
    ensure!(std::fs::read(fixture.patterns())? == before && fixture.pending(1) == 3);
    succeeded(&fixture.process(1).output().await?)?;
    ensure!(fixture.summaries()?.len() == 5 && fixture.pending(1) == 0);
    Ok(())
}
