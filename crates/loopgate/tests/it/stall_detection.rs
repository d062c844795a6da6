//! A loop that hangs in a program is told from one that waits for the model, and neither is ended.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Step, Turn};
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;

use crate::notify;
use crate::test_system::{TestSystem, setup};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_program_counts_as_stuck_and_thinking_model_does_not() -> Result<()> {
    let mut script = story::script();
    let plan = script.conversations.iter_mut().find(|known| known.name == story::PLAN).context("a plan")?;
    plan.turns[0].0.insert(0, Step::hold("thinking"));
    // Reads from a pipe that nobody writes to, until the test does.
    plan.turns.insert(1, Turn(vec![Step::bash("mkfifo '{{workdir}}/pipe' && cat '{{workdir}}/pipe'")]));
    let testbed = Testbed::new(script).await?;
    let folder = tempfile::tempdir()?;
    let command = notify::listener(&testbed.home, folder.path())?;
    let setup = setup(&testbed)?.env("LOOPGATE_STUCK_AFTER_MS", "4000");
    let system = TestSystem::start(setup.env("LOOPGATE_NOTIFY_COMMAND", command), testbed).await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    system.testbed.model.held("thinking").await?;

    let seen = system.logged(|log| log.contains("WaitingForModel").then_some(()));
    seen.await.context("nobody saw that the loop waits for the model")?;
    system.testbed.model.release("thinking");

    let mut events = system.page.follow(&loop_id, None).await?;
    let stuck = loop {
        let event = events.next().await?.context("the stream goes on")?;
        if event["stillness"]["state"] == "stuck" {
            break event;
        }
    };
    ensure!(stuck["stillness"]["command"] == "cat", "{stuck}");
    ensure!(system.page.read(&loop_id).await?["status"] == "RUNNING", "nothing is ended");
    let (_, facts) = notify::notification_of(folder.path(), &loop_id).await?;
    ensure!(facts["event"] == "needs-answer" && facts["reason"] == "stuck", "{facts}");
    let request = system.testbed.model.requests_of(story::PLAN).pop().context("a request")?;
    let pipe = format!("{}/pipe", request.captures.get("workdir").context("the work directory")?);
    tokio::fs::write(pipe, "go\n").await?;
    let ended = system.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    system.alone(&loop_id).await
}
