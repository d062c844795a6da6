//! Runs the demo story with the real assistant, git and code-host CLI.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::loopgate::binary;
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use serde_json::Value;

struct StoryFixture {
    testbed: Testbed,
    project: PathBuf,
    workdir: PathBuf,
}

impl StoryFixture {
    async fn new() -> Result<Self> {
        let testbed = Testbed::new(story::script()).await?;
        let project = testbed.add_story()?;
        git(&project, &["checkout", "--quiet", "-b", "dark-mode"])?;
        testbed.home.link("loopgate", &binary()?)?;
        let workdir = project.join(".loopgate/work");
        std::fs::create_dir_all(&workdir)?;
        std::fs::write(workdir.join("prd.md"), story::REQUEST)?;
        Ok(Self { testbed, project, workdir })
    }

    /// Runs one iteration of a loop. Its set-up connects the session with the work directory.
    async fn run_loop(&self, command: &str) -> Result<String> {
        self.run_assistant(&format!("/code:code {}", self.workdir.display()), command).await
    }

    /// Runs the assistant once.
    async fn run_assistant(&self, prompt: &str, command: &str) -> Result<String> {
        let run = self
            .testbed
            .home
            .command("claude")
            .env("LOOPGATE_COMMAND", command)
            .env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")
            .args(["-p", prompt, "--output-format", "json", "--allowedTools", "Bash,Read,Write,Edit,Agent"])
            .arg("--plugin-dir")
            .arg(plugin())
            .current_dir(&self.project)
            .output();
        let output = run.await?;
        let result: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        ensure!(result["is_error"] == false, "{result}");
        Ok(result["result"].as_str().unwrap_or_default().to_owned())
    }

    fn json(&self, path: &Path) -> Result<Value> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("{}\n{}", path.display(), self.results()))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Returns the output of all tool calls, for error messages.
    fn results(&self) -> String {
        self.testbed.model.requests().last().map(|request| request.tool_results()).unwrap_or_default()
    }
}

/// Directory of the plugin with the loop's prompts.
fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/code")
}

#[tokio::test]
async fn request_becomes_a_plan_and_a_change_with_its_texts() -> Result<()> {
    let fixture = StoryFixture::new().await?;

    let text = fixture.run_loop("PLAN").await?;
    assert!(text.ends_with("<promise>COMPLETE</promise>"), "{text}\n{}", fixture.results());
    assert_eq!(fixture.json(&fixture.workdir.join("state.json"))?["status"], "AWAITING_USER");
    let plan = fixture.json(&fixture.workdir.join("plan.json"))?;
    assert_eq!(plan["content"], story::PLAN_MARKDOWN);
    assert_eq!(plan["pendingTasks"].as_array().map(Vec::len), Some(story::TASKS.len()));
    assert!(
        fixture
            .testbed
            .model
            .requests_of(story::PLAN)
            .last()
            .is_some_and(|r| r.tool_results().contains("VALID"))
    );
    let markdown = std::fs::read_to_string(fixture.workdir.join("plan.md"))?;
    assert_eq!(markdown, story::PLAN_MARKDOWN);

    let text = fixture.run_loop("EXECUTE").await?;
    assert!(text.ends_with("<promise>COMPLETE</promise>"), "{text}\n{}", fixture.results());
    assert_eq!(fixture.json(&fixture.workdir.join("state.json"))?["status"], "COMPLETED");
    let plan = fixture.json(&fixture.workdir.join("plan.json"))?;
    assert_eq!(plan["pendingTasks"], serde_json::json!([]));
    assert_eq!(plan["completedTasks"].as_array().map(Vec::len), Some(4));
    let results = fixture.results();
    assert!(results.contains("VALIDATION_PASSED\nnpm test: passed"), "{results}");

    let (_, delivery) = text.split_once("<delivery>").context("no texts of the delivery")?;
    assert!(delivery.contains(story::TITLE), "{delivery}");
    Ok(())
}

#[tokio::test]
async fn other_request_gets_the_scripted_plan_with_a_note() -> Result<()> {
    let fixture = StoryFixture::new().await?;
    std::fs::write(fixture.workdir.join("prd.md"), "Sort the notes by season")?;
    fixture.run_loop("PLAN").await?;
    let plan = fixture.json(&fixture.workdir.join("plan.json"))?;
    let content = plan["content"].as_str().unwrap_or_default();
    assert!(content.contains("a script for one request: \"Add a dark-mode switch\""), "{content}");
    Ok(())
}
