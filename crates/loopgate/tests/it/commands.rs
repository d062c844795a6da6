//! The loop commands one by one: started at the gateway, run by the real assistant, and reported to a control
//! plane that records every request.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::loopgate::{Loopgate, Setup};
use loopgate_testkit::model::{Conversation, ModelStep, Script};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::test_system::{self, git};
use loopgate_testkit::cloud::Cloud;

const LOOP: &str = "/api/gateway/orchestrator/loop";
const API_KEY: &str = "lgk_live_0123456789abcdef0123456789abcdef";
/// Matches the line of every prompt that names the work directory.
const WORK_DIR: &str = r"Files of this run: `(?P<workdir>[^`]+)`";

/// A gateway without an embedded control plane, its testbed, and a recording control plane.
pub struct TestDesktop {
    pub testbed: Testbed,
    pub clone: PathBuf,
    pub cloud: Cloud,
    pub loopgate: Loopgate,
}

impl TestDesktop {
    pub async fn playing(conversations: impl IntoIterator<Item = Conversation>) -> Result<Self> {
        Self::with(conversations, |setup| setup).await
    }

    /// Like [`Self::playing`], with a changed setup.
    pub async fn with(
        conversations: impl IntoIterator<Item = Conversation>,
        change: impl FnOnce(Setup) -> Setup,
    ) -> Result<Self> {
        let testbed = Testbed::new(Script::new(conversations)).await?;
        let clone = testbed.add_story()?;
        let cloud = Cloud::start().await?;
        let setup = testbed.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate")).gateway_alone();
        let setup = setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(cloud.origin());
        let loopgate = change(setup).start().await?;
        Ok(Self { testbed, clone, cloud, loopgate })
    }

    /// Starts the gateway again after it has ended.
    pub async fn restart(self) -> Result<Self> {
        Ok(Self { loopgate: self.loopgate.start_again().await?, ..self })
    }

    /// Sends a loop request with these members in addition; returns the loop's id, the status and the
    /// response.
    pub async fn order(&self, change: Value) -> Result<(LoopId, u16, Value)> {
        let id = LoopId(Uuid::new_v4());
        let mut body = json!({"loopId": id, "loopgateAuthToken": "a-runner-token", "artifacts": [],
            "repo": {"fullName": story::REPOSITORY, "branch": "main"}, "artifactSlug": "SHOP-7"});
        for (name, value) in change.as_object().context("not an object")? {
            body[name] = value.clone();
        }
        let answer = self.loopgate.gateway(Method::POST, LOOP).json(&body).send().await?;
        Ok((id, answer.status().as_u16(), answer.json().await?))
    }

    /// Starts a loop; fails when the gateway refuses it.
    pub async fn start(&self, change: Value) -> Result<(LoopId, Value)> {
        let (id, status, started) = self.order(change).await?;
        ensure!(status == 200, "{status} {started}");
        Ok((id, started))
    }

    /// Starts a loop and waits for its terminal event.
    pub async fn run(&self, change: Value) -> Result<Run> {
        let (id, started) = self.start(change).await?;
        let last = self.wait_finished(id).await;
        self.wait_released(id).await?;
        Ok(Run { id, started, last })
    }

    /// Waits until the reservation of a loop was released, as the log of the gateway reports.
    pub async fn wait_released(&self, id: LoopId) -> Result<()> {
        let logs = self.loopgate.setup().data_dir().join("logs");
        let is_release =
            |line: &str| line.contains("loop reservation released") && line.contains(&id.to_string());
        wait::until(&logs, async || {
            let files = std::fs::read_dir(&logs).ok()?.flatten();
            let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
            texts.any(|text| text.lines().any(is_release)).then_some(())
        })
        .await
    }

    /// Waits for the terminal event of a loop and returns it.
    pub async fn wait_finished(&self, id: LoopId) -> Value {
        let last = |cloud: &Cloud| {
            let ends = |kind: &str| cloud.events(id, kind).pop();
            ends("completed").or_else(|| ends("error"))
        };
        self.cloud.wait_for(last).await
    }

    /// Returns the body of the first accepted upload of a loop, or null.
    pub fn uploaded(&self, id: LoopId) -> Value {
        let uploads = self.cloud.accepted(id, "upload-artifacts");
        uploads.first().map(|received| received.body.clone()).unwrap_or_default()
    }

    /// Returns the user text of the first request that a conversation answered.
    pub fn first_prompt(&self, conversation: &str) -> Result<String> {
        let requests = self.testbed.model.requests_of(conversation);
        Ok(requests.first().with_context(|| format!("no request of {conversation}"))?.user_text())
    }

    /// Checks that no process of a loop runs, that these paths do not exist, and that the clone is unchanged.
    pub async fn check_clean(&self, run: &Run, removed: &[&Path]) -> Result<()> {
        test_system::wait_for_loop_processes(&run.id.to_string()).await?;
        for path in removed {
            ensure!(!path.exists(), "{} still exists", path.display());
        }
        let status = git(&self.clone, &["status", "--porcelain", "--ignored"])?;
        ensure!(status.is_empty(), "the clone was changed: {status}");
        Ok(())
    }
}

/// A loop that reached a terminal status, with its start response and terminal event.
pub struct Run {
    pub id: LoopId,
    pub started: Value,
    pub last: Value,
}

impl Run {
    /// Returns the result of a completed loop; fails when the loop did not complete.
    pub fn completed(&self, subtype: &str) -> Result<&Value> {
        let result = &self.last["result"];
        ensure!(self.last["type"] == "completed" && result["subtype"] == subtype, "{}", self.last);
        Ok(result)
    }

    pub fn worktree(&self) -> Result<PathBuf> {
        Ok(self.started["worktreePath"].as_str().with_context(|| format!("{}", self.started))?.into())
    }
}

fn document(id: &str, kind: &str, content: &str) -> Value {
    json!({"id": id, "type": kind, "title": "", "content": content})
}

/// Returns a conversation that answers one of Loopgate's own prompts.
fn prompted(name: &str, title: &str) -> Conversation {
    Conversation::when(name, title).and(WORK_DIR)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_changes_amends_the_plan_in_its_worktree() -> Result<()> {
    let changed = story::PLAN_MARKDOWN.replacen("## Summary\n", "## Summary\n\nShorter, as requested.\n", 1);
    let idle = prompted("idle", "# Change a plan").and("Think about it").says("I thought.");
    let desktop = TestDesktop::playing([
        idle,
        prompted("amend", "# Change a plan")
            .turn([
                ModelStep::text("I read what there is."),
                ModelStep::bash("cat '{{workdir}}/plan-source.md' '{{workdir}}/prompt.md'"),
            ])
            .turn([ModelStep::write("{{workdir}}/plan.md", &changed)])
            .runs("loopgate plan build '{{workdir}}'")
            .says("The plan is changed."),
    ])
    .await?;
    let plan = document("p", "IMPLEMENTATION_PLAN", story::PLAN_MARKDOWN);
    let prompt_text = "Make it shorter";
    let order = json!({"command": "REQUEST_CHANGES", "prompt": prompt_text, "artifacts": [plan],
        "committer": {"name": "Ada", "email": "ada@example.org"}});
    let run = desktop.run(order.clone()).await?;
    let result = run.completed("request_changes")?;
    ensure!(run.last["warnings"].is_null() && result["branchName"] == "orchestrator/shop-7", "{}", run.last);
    ensure!(run.last["tokensUsed"]["input"].as_u64() > Some(0), "{}", run.last);
    let worktree = run.worktree()?;
    ensure!(
        worktree.ends_with("garden-notes-loop-shop-7") && worktree.join(".git").is_file(),
        "the worktree was removed"
    );
    let uploaded = desktop.uploaded(run.id);
    ensure!(uploaded["artifacts"]["plan"]["content"] == changed, "{uploaded}");
    let tasks = uploaded["artifacts"]["plan"]["raw"]["pendingTasks"].as_array().map(Vec::len);
    ensure!(tasks == Some(story::TASKS.len()), "{uploaded}");
    ensure!(uploaded["metadata"]["command"] == "request_changes", "{uploaded}");
    let prompt = desktop.first_prompt("amend")?;
    for part in [prompt_text, "plan-source.md", "REQUEST_CHANGES", &worktree.to_string_lossy()] {
        ensure!(prompt.contains(part), "{part} is missing in {prompt}");
    }
    let output = desktop.cloud.output(run.id).join("\n");
    ensure!(output.contains("I read what there is.") && output.contains("Turn complete"), "{output}");
    ensure!(git(&worktree, &["status", "--porcelain"])?.is_empty(), "the worktree has uncommitted files");

    // The next change reuses the worktree and resumes the session.
    let session = result["sessionId"].as_str().context("a session")?;
    let mut again = order;
    again["parentSessionId"] = json!(session);
    let next = desktop.run(again).await?;
    next.completed("request_changes")?;
    ensure!(next.worktree()? == worktree);
    let requests = desktop.testbed.model.requests_of("amend");
    let last = requests.last().context("requests")?.user_text();
    ensure!(last.matches("# Change a plan").count() == 2, "the session is not resumed: {last}");
    desktop.check_clean(&next, &[]).await?;

    // The plan that the loop receives is not its result.
    let plan =
        document("p", "IMPLEMENTATION_PLAN", &json!({"content": changed, "pendingTasks": []}).to_string());
    let order = json!({"command": "REQUEST_CHANGES", "prompt": "Think about it", "artifacts": [plan]});
    let idle = desktop.run(order).await?;
    idle.completed("request_changes")?;
    ensure!(idle.last["warnings"] == json!(["REQUIRED_OUTPUT_MISSING"]), "{}", idle.last);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prd_commands_leave_their_repositories_unchanged() -> Result<()> {
    let path = r"`(?P<prd>[^`]+/prd\.md)` \(required\)";
    let peer = r"- `acme/web` on `main` at `(?P<peer>[^`]+)`";
    let writer = |name: &str, title: &str| {
        prompted(name, title)
            .and(path)
            .and(peer)
            .turn([ModelStep::bash("cat '{{peer}}/README.md'; ls .loopgate/context .loopgate/context/artifacts; cat .loopgate/context/peer-repos.json")])
            .turn([ModelStep::write("{{prd}}", "# Dark mode\n\nFor people who read at night.\n")])
            .says("Written.")
    };
    let desktop = TestDesktop::playing([
        writer("write", "# Write requirements"),
        writer("rewrite", "# Change requirements"),
    ])
    .await?;
    let web = desktop.testbed.add_repository("acme/web", &[("README.md", "The other page\n")])?;
    let peers = json!([{"fullName": "acme/web", "branch": "main"}]);
    let old = document("../PRD 1", "PRD", "Old text");
    for (command, subtype, name) in
        [("GENERATE_PRD", "generate_prd", "write"), ("REQUEST_PRD_CHANGES", "request_prd_changes", "rewrite")]
    {
        let run = desktop
            .run(json!({"command": command, "prompt": "Dark mode", "artifacts": [old], "additionalRepos": peers}))
            .await?;
        run.completed(subtype)?;
        let key = subtype.replace('_', "-");
        let worktree = run.worktree()?;
        ensure!(worktree.ends_with(format!("garden-notes-loop-{key}-shop-7")), "{}", worktree.display());
        ensure!(run.last["result"]["branchName"] == format!("orchestrator/{key}-shop-7"), "{}", run.last);
        let uploaded = desktop.uploaded(run.id);
        let expected = json!({"prd": {"content": "# Dark mode\n\nFor people who read at night.\n"}});
        ensure!(uploaded["artifacts"] == expected, "{uploaded}");
        let read = desktop.testbed.model.requests_of(name).last().context("no request")?.tool_results();
        for part in [
            "The other page",
            "peer-repos.json",
            "repo-info.json",
            "prompt.md",
            "prd-___PRD_1.md",
            "acme/web",
        ] {
            ensure!(read.contains(part), "{part} is missing in {read}");
        }
        // The worktrees are removed; their branches remain.
        let peer_worktrees: Vec<PathBuf> = std::fs::read_dir(desktop.testbed.sandbox())?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().contains("web-loop-"))
            .collect();
        let peer_worktrees: Vec<&Path> = peer_worktrees.iter().map(PathBuf::as_path).collect();
        desktop.check_clean(&run, &[&[worktree.as_path()], peer_worktrees.as_slice()].concat()).await?;
        ensure!(
            !git(&desktop.clone, &["branch", "--list", &format!("orchestrator/{key}-shop-7")])?.is_empty()
        );
        ensure!(git(&web, &["status", "--porcelain", "--ignored"])?.is_empty());
    }
    ensure!(desktop.testbed.host.pull_requests("acme/web").is_empty());
    Ok(())
}

// LR-17
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decompose_needs_no_repository() -> Result<()> {
    let features = r#"{"features": [{"id": "F-1", "title": "Switch"}]}"#;
    let desktop = TestDesktop::playing([prompted("split", "# Split requirements")
        // DECOMPOSE needs no repository, so an unknown one is ignored rather than cloned.
        .turn([ModelStep::bash("pwd; cat .loopgate/context/artifacts/*.md .loopgate/context/prompt.md")])
        .turn([ModelStep::write("{{workdir}}/features.json", features)])
        .says("One feature.")])
    .await?;
    let order = json!({"command": "DECOMPOSE", "artifacts": [document("1", "PRD", "Dark mode, please")],
        "repo": {"fullName": "acme/nowhere", "branch": "main"}});
    let run = desktop.run(order.clone()).await?;
    run.completed("decompose")?;
    ensure!(
        run.started["worktreePath"].is_null() && run.last["result"]["branchName"].is_null(),
        "{}",
        run.started
    );
    ensure!(desktop.uploaded(run.id)["artifacts"]["features"]["features"][0]["id"] == "F-1");
    let read = desktop.testbed.model.requests_of("split").last().context("no request")?.tool_results();
    ensure!(
        read.contains("# Untitled\n\nDark mode, please") && read.contains("Split these requirements"),
        "{read}"
    );
    let temp_dir = std::env::temp_dir().canonicalize()?.join(format!("orchestrator-decompose-{}", run.id));
    ensure!(read.contains(&*temp_dir.to_string_lossy()), "{read}");
    ensure!(desktop.testbed.host.calls().is_empty(), "a repository was cloned");
    desktop.check_clean(&run, &[&temp_dir]).await?;

    // A loop without the required output completes with a warning.
    desktop
        .testbed
        .model
        .play(Script::new([prompted("lazy", "# Split requirements").says("I see none.")]))?;
    let run = desktop.run(order).await?;
    run.completed("decompose")?;
    ensure!(run.last["warnings"] == json!(["REQUIRED_OUTPUT_MISSING"]), "{}", run.last);
    ensure!(desktop.uploaded(run.id)["artifacts"] == json!({}));
    Ok(())
}
