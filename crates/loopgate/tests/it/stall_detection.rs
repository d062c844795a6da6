//! Stall detection: a hanging tool call counts as stuck, a pending model response does not. Neither is
//! terminated.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{ModelStep, ModelTurn};
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;

use crate::notify;
use crate::test_system::{TestSystem, setup};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_tool_call_is_stuck_and_pending_model_response_is_not() -> Result<()> {
    let mut script = story::script();
    let plan =
        script.conversations.iter_mut().find(|candidate| candidate.name == story::PLAN).context("a plan")?;
    plan.turns[0].0.insert(0, ModelStep::hold("thinking"));
    // Opening a FIFO for reading blocks until the test opens it for writing.
    plan.turns
        .insert(1, ModelTurn(vec![ModelStep::bash("mkfifo '{{workdir}}/pipe' && cat '{{workdir}}/pipe'")]));
    let testbed = Testbed::new(script).await?;
    let folder = tempfile::tempdir()?;
    let command = notify::notification_command(&testbed.home, folder.path())?;
    let setup = setup(&testbed)?.env("LOOPGATE_STUCK_AFTER_MS", "4000");
    let system = TestSystem::start(setup.env("LOOPGATE_NOTIFY_COMMAND", command), testbed).await?;
    // Shortened from the default of ten minutes.
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    system.testbed.model.held("thinking").await?;

    let waiting = system.logged(|log| log.contains("WaitingForModel").then_some(()));
    waiting.await.context("the loop was not reported as waiting for the model")?;
    system.testbed.model.release("thinking");

    let mut events = system.page.follow(&loop_id, None).await?;
    let stuck = loop {
        let event = events.next().await?.context("the stream ended")?;
        if event["stall"]["state"] == "stuck" {
            break event;
        }
    };
    ensure!(stuck["stall"]["command"] == "cat", "{stuck}");
    ensure!(system.page.read(&loop_id).await?["status"] == "RUNNING", "the loop was terminated");
    let (_, facts) = notify::notification_of(folder.path(), &loop_id).await?;
    ensure!(facts["event"] == "needs-answer" && facts["reason"] == "stuck", "{facts}");
    let request = system.testbed.model.requests_of(story::PLAN).pop().context("a request")?;
    let pipe = format!("{}/pipe", request.captures.get("workdir").context("the work directory")?);
    tokio::fs::write(pipe, "go\n").await?;
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    system.no_processes_remain(&loop_id).await
}
