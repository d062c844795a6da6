//! Notifications of the user by command and desktop: each is delivered once, also across crashes, and never
//! delays a loop.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::signal;
use loopgate_testkit::model::{ModelStep, ModelTurn};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::approvals::{FORCE, VERSION};
use crate::owner::{Owner, OwnerWatch};
use crate::settings::base;
use crate::test_gateway::TestGateway;
use crate::test_system::{TestSystem, setup, wait_for_loop_processes};

/// Creates a notification command that writes one file per notification to `folder`: its environment, `---`,
/// and the JSON document from stdin.
pub fn notification_command(home: &UserHome, folder: &Path) -> Result<PathBuf> {
    let text = format!(
        "#!/bin/sh\nset -e\nabout=${{LOOPGATE_EVENT_LOOP_ID:-$LOOPGATE_EVENT_APPROVAL_ID}}\nfile=$(mktemp '{0}/.XXXXXX')\n{{ env; echo ---; cat; }} > \"$file\"\n\
         mv \"$file\" \"{0}/$about.$$\"\n",
        folder.display()
    );
    home.script("notification-command", &text)
}

/// Creates a `notify-send` that writes its arguments to a file in `folder`, one per line.
fn notifier(home: &UserHome, folder: &Path) -> Result<PathBuf> {
    let notification_file = folder.join("shown");
    let text = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{0}.new'\nmv '{0}.new' '{0}'\n",
        notification_file.display()
    );
    home.script("notify-send", &text)?;
    Ok(notification_file)
}

/// Returns environment and document of each notification about a loop or an approval.
fn notifications_of(folder: &Path, loop_id: &str) -> Result<Vec<(String, Value)>> {
    let files = std::fs::read_dir(folder)?.flatten();
    let of_loop = files.filter(|file| file.file_name().to_string_lossy().starts_with(loop_id));
    of_loop
        .map(|file| {
            let text = std::fs::read_to_string(file.path())?;
            let (environment, facts) = text.split_once("---\n").context("two parts")?;
            Ok((environment.to_owned(), serde_json::from_str(facts)?))
        })
        .collect()
}

/// Waits for the only notification about a loop or an approval.
pub async fn notification_of(folder: &Path, loop_id: &str) -> Result<(String, Value)> {
    let notifications =
        wait::until(folder, async || notifications_of(folder, loop_id).ok().filter(|all| !all.is_empty()));
    let mut all = notifications.await.with_context(|| format!("no notification about {loop_id}"))?;
    ensure!(all.len() == 1, "{all:?}");
    all.pop().context("one")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_is_notified_once_over_crashes() -> Result<()> {
    let mut script = story::script();
    let execute = script.conversations.iter_mut().find(|candidate| candidate.name == story::EXECUTE);
    execute.context("an execution")?.turns[4].0.insert(0, ModelStep::hold("middle"));
    let testbed = Testbed::new(script).await?;
    let folder = tempfile::tempdir()?;
    let command = notification_command(&testbed.home, folder.path())?;
    let setup = setup(&testbed)?.env("LOOPGATE_NOTIFY_COMMAND", command).env("INTERNAL_API_SECRET", "hidden");
    let mut system = TestSystem::start(setup, testbed).await?;

    let document = system.page.create_document().await?;
    let plan = system.page.start_loop(&document, "plan").await?;
    ensure!(system.page.wait_for_end(&plan).await?["status"] == "COMPLETED");
    let (environment, facts) = notification_of(folder.path(), &plan).await?;
    let expected = json!({"event": "needs-answer", "reason": "plan-ready", "command": "PLAN", "loopId": plan,
        "status": "COMPLETED", "repository": story::REPOSITORY, "title": "Plan ready", "exitCode": 0});
    for (member, value) in expected.as_object().context("members")? {
        ensure!(facts[member] == *value, "{member} of {facts}");
    }
    ensure!(facts["message"].as_str().is_some_and(|text| text.contains("has a plan ready")), "{facts}");
    for line in ["LOOPGATE_EVENT=needs-answer", "LOOPGATE_EVENT_REASON=plan-ready"] {
        ensure!(environment.lines().any(|candidate| candidate == line), "{line} in {environment}");
    }
    let is_internal = |line: &&str| line.starts_with("LOOPGATE_") && !line.starts_with("LOOPGATE_EVENT");
    ensure!(environment.lines().find(is_internal).is_none(), "{environment}");
    ensure!(!environment.contains("INTERNAL_API_SECRET"), "{environment}");

    // The process of the loop exits while Loopgate is down; the next instance sends the notification.
    let execute = system.page.start_loop(&document, "execute").await?;
    system.testbed.model.held("middle").await?;
    system.loopgate.kill().await?;
    system.testbed.model.release("middle");
    wait_for_loop_processes(&execute).await?;
    let system = system.restart().await?;
    let (_, facts) = notification_of(folder.path(), &execute).await?;
    ensure!(facts["event"] == "completed" && facts["title"] == "Loop complete", "{facts}");
    system.settled(&execute, "Completed").await?;

    // Further restarts do not repeat notifications.
    let mut system = system.kill_and_restart().await?;
    let again = system.page.start_loop(&document, "plan").await?;
    notification_of(folder.path(), &again).await?;
    system.settled(&again, "Completed").await?;
    system.loopgate.stop().await?;
    for loop_id in [&plan, &execute, &again] {
        let all = notifications_of(folder.path(), loop_id)?;
        ensure!(all.len() == 1, "{all:?}");
    }
    Ok(())
}

/// Returns a testbed with the story's script, whose plan is held at its first turn.
async fn testbed_with_held_plan() -> Result<Testbed> {
    let mut script = story::script();
    let plan =
        script.conversations.iter_mut().find(|candidate| candidate.name == story::PLAN).context("a plan")?;
    plan.turns[0].0.insert(0, ModelStep::hold("planning"));
    Testbed::new(script).await
}

/// Starts a system with additional settings keys and fails its plan loop by killing the shim.
async fn failed_system(testbed: Testbed, keys: &str) -> Result<TestSystem> {
    let file = format!("{}{keys}", base(&testbed.home));
    let system = TestSystem::start(setup(&testbed)?.settings(&file)?, testbed).await?;
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    system.testbed.model.held("planning").await?;
    let shim = system.other_processes().into_iter().find(|process| process.command.contains(" shim "));
    signal(shim.context("a shim")?.pid, "KILL")?;
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "FAILED", "{ended}");
    Ok(system)
}

/// Waits until the log contains a text, and returns the whole log.
async fn logged(system: &TestSystem, text: &str) -> Result<String> {
    let folder = system.loopgate.setup().data_dir().join("logs");
    let all = async || {
        let files = std::fs::read_dir(&folder).ok()?.flatten();
        let log: String = files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
        log.contains(text).then_some(log)
    };
    wait::until(&folder, all).await.with_context(|| format!("{text:?} is missing in the log"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_command_is_killed_with_its_children() -> Result<()> {
    let testbed = testbed_with_held_plan().await?;
    let folder = tempfile::tempdir()?;
    let pids = folder.path().join("pids");
    let text = format!(
        "#!/bin/sh\necho 'password=hunter2-Xk9 is mine' >&2\nsleep 1000 &\n\
         echo \"$1 $LOOPGATE_EVENT $$ $!\" > '{0}.new'\nmv '{0}.new' '{0}'\nwait\n",
        pids.display()
    );
    let command = testbed.home.script("hang", &text)?;
    let keys =
        format!("[notify]\ndesktop = false\ntimeout_seconds = 1\ncommand = [{command:?}, \"loudly\"]\n");
    // The loop fails although the command still runs: notifications are sent in the background.
    let system = failed_system(testbed, &keys).await?;
    let line = wait::lines_of(&pids).await?;
    let words: Vec<&str> = line.split(' ').collect();
    ensure!(words[..2] == ["loudly", "failed"], "{line}");
    // The timeout kills the process group, so that the child started with `&` exits as well.
    for pid in &words[2..] {
        wait::until_exited(pid.parse()?).await?;
    }
    let log = logged(&system, "timed out after 1 s").await?;
    ensure!(log.contains("password=[REDACTED] is mine") && !log.contains("hunter2"), "{log}");
    ensure!(log.matches("notify.command failed").count() == 1, "{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notification_is_shown_in_desktop_session() -> Result<()> {
    let mut testbed = testbed_with_held_plan().await?;
    let folder = tempfile::tempdir()?;
    let notification_file = notifier(&testbed.home, folder.path())?;
    testbed.home.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let _system = failed_system(testbed, "").await?;
    let lines = wait::lines_of(&notification_file).await?;
    ensure!(lines.starts_with("--app-name=Loopgate\n--\nLoop failed\n"), "{lines}");
    Ok(())
}

/// The assistant pauses at a question in the middle of its run and continues when it is answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn question_is_notified_by_desktop_and_program() -> Result<()> {
    let mut script = story::script();
    let plan =
        script.conversations.iter_mut().find(|candidate| candidate.name == story::PLAN).context("a plan")?;
    let question = "loopgate plan set-state 'Phase 0: Questions' AWAITING_USER --workdir '{{workdir}}' \
                --action 'Which colours?'";
    plan.turns.insert(1, ModelTurn(vec![ModelStep::bash(question)]));
    plan.turns[2].0.insert(0, ModelStep::hold("answer"));
    let mut testbed = Testbed::new(script).await?;
    let (folder, received) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let notification_file = notifier(&testbed.home, folder.path())?;
    testbed.home.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let command = notification_command(&testbed.home, received.path())?;
    // Shorter than the default, so that the question counts as pending within the test's time limit.
    let setup = setup(&testbed)?.env("LOOPGATE_STUCK_AFTER_MS", "4000");
    let system = TestSystem::start(setup.env("LOOPGATE_NOTIFY_COMMAND", command), testbed).await?;
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    system.testbed.model.held("answer").await?;

    let (environment, facts) = notification_of(received.path(), &loop_id).await?;
    let expected = json!({"event": "needs-answer", "reason": "question", "command": "PLAN", "loopId": loop_id,
        "status": "RUNNING", "title": "Loop needs an answer"});
    for (member, value) in expected.as_object().context("members")? {
        ensure!(facts[member] == *value, "{member} of {facts}");
    }
    ensure!(
        facts["message"].as_str().is_some_and(|text| text.ends_with(" has a question for you.")),
        "{facts}"
    );
    ensure!(environment.lines().any(|line| line == "LOOPGATE_EVENT_REASON=question"), "{environment}");
    let lines = wait::lines_of(&notification_file).await?;
    ensure!(lines.starts_with("--app-name=Loopgate\n--\nLoop needs an answer\n"), "{lines}");
    ensure!(lines.ends_with(" has a question for you."), "{lines}");
    system.testbed.model.release("answer");
    ensure!(system.page.wait_for_end(&loop_id).await?["status"] == "COMPLETED");
    system.no_processes_remain(&loop_id).await
}

/// A second identical request joins the pending approval and causes no further notification.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pending_approval_is_notified_once() -> Result<()> {
    let mut home = UserHome::temporary()?;
    let (folder, received) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let notification_file = notifier(&home, folder.path())?;
    home.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let command = notification_command(&home, received.path())?;
    let local = TestGateway::in_home(home, |setup| setup.env("LOOPGATE_NOTIFY_COMMAND", command)).await?;
    let loopgate = &local.loopgate;
    let send_held = |path: String, reason: &str| {
        let request = loopgate.gateway(Method::GET, &path).header(FORCE, "1");
        tokio::spawn(request.header("x-desktop-approval-reason", reason).send())
    };
    let secret = format!("{VERSION}?token=hunter2-hunter2");
    let mut watch = OwnerWatch::of(loopgate).await?;
    let first = send_held(secret.clone(), "See <https://me:hunter3@example.test>");
    let request = watch.one().await?;
    let joined = send_held(secret, "Another reason");
    watch.next().await?;

    let id = request["id"].as_str().context("an id")?.to_owned();
    let (environment, facts) = notification_of(received.path(), &id).await?;
    let reason = request["reason"].as_str().context("a reason")?;
    let expected = json!({"event": "needs-answer", "reason": "approval", "title": "Approval Required",
        "message": reason, "approvalId": id, "operation": "health_check", "method": "GET", "path": VERSION,
        "location": "127.0.0.1", "waitsUntil": facts["waitsUntil"], "approveWith": facts["approveWith"]});
    ensure!(facts == expected && facts["waitsUntil"].is_string(), "{facts}");
    let line = format!("LOOPGATE_EVENT_APPROVAL_ID={id}");
    ensure!(environment.lines().any(|candidate| candidate == line), "{environment}");
    let lines = wait::lines_of(&notification_file).await?;
    let escaped = reason.replace('<', "&lt;").replace('>', "&gt;");
    let command = facts["approveWith"].as_str().context("a command")?;
    ensure!(command.ends_with(&format!("approve {}", &id[id.len() - 8..])), "{command}");
    let expected = format!("--app-name=Loopgate\n--\nApproval Required\n{escaped}\nTo approve it: {command}");
    ensure!(lines == expected, "{lines}");
    ensure!(!format!("{environment}{facts}{lines}").contains("hunter"), "{environment} {facts} {lines}");

    // A different request causes a notification. The first approval causes no second one, neither now nor
    // when it is decided.
    let mut owner = Owner::of(loopgate).await?;
    owner.call("approvals.approve", json!({"approvalId": id})).await?;
    for held in [first, joined] {
        ensure!(held.await??.status() == StatusCode::OK);
    }
    watch.nothing().await?;
    let other = send_held(VERSION.to_owned(), "Another reason");
    let next = watch.one().await?["id"].as_str().context("an id")?.to_owned();
    notification_of(received.path(), &next).await?;
    notification_of(received.path(), &id).await?;
    other.abort();
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_desktop_session_is_logged() -> Result<()> {
    let system = failed_system(testbed_with_held_plan().await?, "").await?;
    logged(&system, "no desktop session").await?;
    Ok(())
}
