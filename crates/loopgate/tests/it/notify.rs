//! A person hears of their loops: by a command of their own and by the desktop, once each, also
//! when Loopgate dies in between; and nothing waits for either.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::signal;
use loopgate_testkit::model::{Step, Turn};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::approvals::{FORCE, VERSION};
use crate::local::Local;
use crate::owner::{Owner, OwnerWatch};
use crate::settings::base;
use crate::test_system::{TestSystem, gone, setup};

/// A command that leaves what it is told in a folder: a file a telling, its environment first.
pub fn listener(home: &UserHome, folder: &Path) -> Result<PathBuf> {
    let text = format!(
        "#!/bin/sh\nset -e\nabout=${{LOOPGATE_EVENT_LOOP_ID:-$LOOPGATE_EVENT_APPROVAL_ID}}\nfile=$(mktemp '{0}/.XXXXXX')\n{{ env; echo ---; cat; }} > \"$file\"\n\
         mv \"$file\" \"{0}/$about.$$\"\n",
        folder.display()
    );
    home.script("tell-me", &text)
}

/// The desktop's program for notifications, which leaves its arguments in a file of a folder: one a
/// line.
fn notifier(home: &UserHome, folder: &Path) -> Result<PathBuf> {
    let shown = folder.join("shown");
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{0}.new'\nmv '{0}.new' '{0}'\n", shown.display());
    home.script("notify-send", &text)?;
    Ok(shown)
}

/// The notifications of a loop or a request: environment and document of each.
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

/// Waits for the only notification of a loop or a request.
pub async fn notification_of(folder: &Path, loop_id: &str) -> Result<(String, Value)> {
    let found =
        wait::seen(folder, async || notifications_of(folder, loop_id).ok().filter(|all| !all.is_empty()));
    let mut all = found.await.with_context(|| format!("nobody tells of {loop_id}"))?;
    ensure!(all.len() == 1, "{all:?}");
    all.pop().context("one")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_is_notified_once_over_crashes() -> Result<()> {
    let mut script = story::script();
    let execute = script.conversations.iter_mut().find(|known| known.name == story::EXECUTE);
    execute.context("an execution")?.turns[4].0.insert(0, Step::hold("middle"));
    let testbed = Testbed::new(script).await?;
    let folder = tempfile::tempdir()?;
    let command = listener(&testbed.home, folder.path())?;
    let setup = setup(&testbed)?.env("LOOPGATE_NOTIFY_COMMAND", command).env("INTERNAL_API_SECRET", "hidden");
    let mut system = TestSystem::start(setup, testbed).await?;

    let wish = system.page.wish().await?;
    let plan = system.page.press(&wish, "plan").await?;
    ensure!(system.page.ended(&plan).await?["status"] == "COMPLETED");
    let (environment, facts) = notification_of(folder.path(), &plan).await?;
    let expected = json!({"event": "needs-answer", "reason": "plan-ready", "command": "PLAN", "loopId": plan,
        "status": "COMPLETED", "repository": story::REPOSITORY, "title": "Plan ready", "exitCode": 0});
    for (member, value) in expected.as_object().context("members")? {
        ensure!(facts[member] == *value, "{member} of {facts}");
    }
    ensure!(facts["message"].as_str().is_some_and(|text| text.contains("judge its plan")), "{facts}");
    for line in ["LOOPGATE_EVENT=needs-answer", "LOOPGATE_EVENT_REASON=plan-ready"] {
        ensure!(environment.lines().any(|known| known == line), "{line} in {environment}");
    }
    let ours = |line: &&str| line.starts_with("LOOPGATE_") && !line.starts_with("LOOPGATE_EVENT");
    ensure!(environment.lines().find(ours).is_none(), "{environment}");
    ensure!(!environment.contains("INTERNAL_API_SECRET"), "{environment}");

    // The process of the loop ends while no Loopgate runs; the next one tells of it.
    let execute = system.page.press(&wish, "execute").await?;
    system.testbed.model.held("middle").await?;
    system.loopgate.kill().await?;
    system.testbed.model.release("middle");
    gone(&execute).await?;
    let system = system.restart().await?;
    let (_, facts) = notification_of(folder.path(), &execute).await?;
    ensure!(facts["event"] == "completed" && facts["title"] == "Loop complete", "{facts}");
    system.settled(&execute, "Completed").await?;

    // What was told is not told again, however often it starts.
    let mut system = system.kill_and_restart().await?;
    let again = system.page.press(&wish, "plan").await?;
    notification_of(folder.path(), &again).await?;
    system.settled(&again, "Completed").await?;
    system.loopgate.stop().await?;
    for loop_id in [&plan, &execute, &again] {
        let all = notifications_of(folder.path(), loop_id)?;
        ensure!(all.len() == 1, "{all:?}");
    }
    Ok(())
}

/// A story whose plan waits in its first answer.
async fn held_testbed() -> Result<Testbed> {
    let mut script = story::script();
    let plan = script.conversations.iter_mut().find(|known| known.name == story::PLAN).context("a plan")?;
    plan.turns[0].0.insert(0, Step::hold("planning"));
    Testbed::new(script).await
}

/// A loop of it that has failed, because its shim was killed, under a settings file with these keys.
async fn failed(testbed: Testbed, keys: &str) -> Result<TestSystem> {
    let file = format!("{}{keys}", base(&testbed.home));
    let system = TestSystem::start(setup(&testbed)?.settings(&file)?, testbed).await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    system.testbed.model.held("planning").await?;
    let shim = system.others().into_iter().find(|process| process.command.contains(" shim "));
    signal(shim.context("a shim")?.pid, "KILL")?;
    let ended = system.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "FAILED", "{ended}");
    Ok(system)
}

/// All that was logged, once it contains this.
async fn logged(system: &TestSystem, text: &str) -> Result<String> {
    let folder = system.loopgate.setup().data_dir().join("logs");
    let all = async || {
        let files = std::fs::read_dir(&folder).ok()?.flatten();
        let log: String = files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
        log.contains(text).then_some(log)
    };
    wait::seen(&folder, all).await.with_context(|| format!("the log does not say {text:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn command_that_hangs_is_ended_with_all_that_it_started() -> Result<()> {
    let testbed = held_testbed().await?;
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
    // The loop is told as over, whatever the command does.
    let system = failed(testbed, &keys).await?;
    let line = wait::lines_of(&pids).await?;
    let words: Vec<&str> = line.split(' ').collect();
    ensure!(words[..2] == ["loudly", "failed"], "{line}");
    for pid in &words[2..] {
        wait::end_of(pid.parse()?).await?;
    }
    let log = logged(&system, "it took longer than 1 s and was ended").await?;
    ensure!(log.contains("password=[REDACTED] is mine") && !log.contains("hunter2"), "{log}");
    ensure!(log.matches("the command of notify failed").count() == 1, "{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn desktop_shows_it_where_there_is_one() -> Result<()> {
    let mut testbed = held_testbed().await?;
    let folder = tempfile::tempdir()?;
    let shown = notifier(&testbed.home, folder.path())?;
    testbed.home.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let _stage = failed(testbed, "").await?;
    let lines = wait::lines_of(&shown).await?;
    ensure!(lines.starts_with("--app-name=Loopgate\n--\nLoop failed\n"), "{lines}");
    Ok(())
}

/// It waits in the midst of its run, and goes on when it is answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn question_is_notified_by_desktop_and_program() -> Result<()> {
    let mut script = story::script();
    let plan = script.conversations.iter_mut().find(|known| known.name == story::PLAN).context("a plan")?;
    let asks = "loopgate plan set-state 'Phase 0: Questions' AWAITING_USER --workdir '{{workdir}}' \
                --action 'Which colours?'";
    plan.turns.insert(1, Turn(vec![Step::bash(asks)]));
    plan.turns[2].0.insert(0, Step::hold("answer"));
    let mut testbed = Testbed::new(script).await?;
    let (folder, notifications_of) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let shown = notifier(&testbed.home, folder.path())?;
    testbed.home.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let command = listener(&testbed.home, notifications_of.path())?;
    let setup = setup(&testbed)?.env("LOOPGATE_STUCK_AFTER_MS", "4000");
    let system = TestSystem::start(setup.env("LOOPGATE_NOTIFY_COMMAND", command), testbed).await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    system.testbed.model.held("answer").await?;

    let (environment, facts) = notification_of(notifications_of.path(), &loop_id).await?;
    let expected = json!({"event": "needs-answer", "reason": "question", "command": "PLAN", "loopId": loop_id,
        "status": "RUNNING", "title": "Loop needs an answer"});
    for (member, value) in expected.as_object().context("members")? {
        ensure!(facts[member] == *value, "{member} of {facts}");
    }
    ensure!(facts["message"].as_str().is_some_and(|text| text.ends_with(" asks you something.")), "{facts}");
    ensure!(environment.lines().any(|line| line == "LOOPGATE_EVENT_REASON=question"), "{environment}");
    let lines = wait::lines_of(&shown).await?;
    ensure!(lines.starts_with("--app-name=Loopgate\n--\nLoop needs an answer\n"), "{lines}");
    ensure!(lines.ends_with(" asks you something."), "{lines}");
    system.testbed.model.release("answer");
    ensure!(system.page.ended(&loop_id).await?["status"] == "COMPLETED");
    system.alone(&loop_id).await
}

/// Who asks the same waits along without another word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pending_approval_is_notified_once() -> Result<()> {
    let mut home = UserHome::temporary()?;
    let (folder, notifications_of) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let shown = notifier(&home, folder.path())?;
    home.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let command = listener(&home, notifications_of.path())?;
    let local = Local::in_home(home, |setup| setup.env("LOOPGATE_NOTIFY_COMMAND", command)).await?;
    let loopgate = &local.loopgate;
    let ask = |path: String, reason: &str| {
        let request = loopgate.gateway(Method::GET, &path).header(FORCE, "1");
        tokio::spawn(request.header("x-desktop-approval-reason", reason).send())
    };
    let secret = format!("{VERSION}?token=hunter2-hunter2");
    let mut watch = OwnerWatch::of(loopgate).await?;
    let first = ask(secret.clone(), "See <https://me:hunter3@example.test>");
    let request = watch.one().await?;
    let along = ask(secret, "Another reason");
    watch.next().await?;

    let id = request["id"].as_str().context("an id")?.to_owned();
    let (environment, facts) = notification_of(notifications_of.path(), &id).await?;
    let reason = request["reason"].as_str().context("a reason")?;
    let expected = json!({"event": "needs-answer", "reason": "approval", "title": "Approval Required",
        "message": reason, "approvalId": id, "operation": "health_check", "method": "GET", "path": VERSION,
        "location": "127.0.0.1", "waitsUntil": facts["waitsUntil"], "approveWith": facts["approveWith"]});
    ensure!(facts == expected && facts["waitsUntil"].is_string(), "{facts}");
    let line = format!("LOOPGATE_EVENT_APPROVAL_ID={id}");
    ensure!(environment.lines().any(|known| known == line), "{environment}");
    let lines = wait::lines_of(&shown).await?;
    let escaped = reason.replace('<', "&lt;").replace('>', "&gt;");
    let command = facts["approveWith"].as_str().context("a command")?;
    ensure!(command.ends_with(&format!("approve {}", &id[id.len() - 8..])), "{command}");
    let expected = format!("--app-name=Loopgate\n--\nApproval Required\n{escaped}\nTo approve it: {command}");
    ensure!(lines == expected, "{lines}");
    ensure!(!format!("{environment}{facts}{lines}").contains("hunter"), "{environment} {facts} {lines}");

    // Another is told of; the first not again, neither then nor when it is decided.
    let mut owner = Owner::of(loopgate).await?;
    owner.ask("approvals.approve", json!({"approvalId": id})).await?;
    for held in [first, along] {
        ensure!(held.await??.status() == StatusCode::OK);
    }
    watch.nothing().await?;
    let other = ask(VERSION.to_owned(), "Another reason");
    let next = watch.one().await?["id"].as_str().context("an id")?.to_owned();
    notification_of(notifications_of.path(), &next).await?;
    notification_of(notifications_of.path(), &id).await?;
    other.abort();
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_is_no_desktop_the_log_says_so() -> Result<()> {
    let system = failed(held_testbed().await?, "").await?;
    logged(&system, "there is no desktop session").await?;
    Ok(())
}
