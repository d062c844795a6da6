//! A data directory that cannot be used, and a disk that takes nothing more: said plainly, without
//! a panic, and over when it is over.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Loopgate;
use loopgate_testkit::model::{Conversation, Script, Step};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::refusal;
use crate::records;
use crate::test_system::{gone, of_loop};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// Puts something in the way of the data directory.
type BreakDirectory = fn(&Path) -> std::io::Result<()>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_directory_that_cannot_be_used_is_named() -> Result<()> {
    let spoilt: [(&str, BreakDirectory, &str); 6] = [
        ("a file in its place", |data| std::fs::write(data, ""), "cannot use the data directory"),
        (
            "a file in the place of its parent",
            |data| std::fs::write(data.parent().unwrap_or(data), ""),
            "cannot use the data directory",
        ),
        (
            "a lock that is no file",
            |data| std::fs::create_dir_all(data.join("loopgate.lock")),
            "cannot use the data directory",
        ),
        (
            "settings that are no file",
            |data| std::fs::create_dir_all(data.join("settings.toml")),
            "settings.toml",
        ),
        (
            "a file in the place of the logs",
            |data| std::fs::create_dir_all(data).and_then(|()| std::fs::write(data.join("logs"), "")),
            "cannot write logs",
        ),
        (
            "records that are no file",
            |data| std::fs::create_dir_all(data.join("desktop.db")),
            "cannot open the records of this desktop",
        ),
    ];
    for (what, spoil, named) in spoilt {
        let home = UserHome::temporary()?;
        let data = home.path().join("some/data");
        if !what.contains("parent") {
            std::fs::create_dir_all(home.path().join("some"))?;
        }
        spoil(&data)?;
        let directory = data.to_string_lossy().into_owned();
        std::fs::create_dir_all(home.path().join("src"))?;
        let sandbox = home.path().join("src").to_string_lossy().into_owned();
        let gateway = ["gateway", "--home", &directory, "--port", "0"];
        let up = [
            "up",
            "--home",
            &directory,
            "--port",
            "0",
            "--no-open",
            "--sandbox",
            &sandbox,
            "--api-origin",
            "http://127.0.0.1:0",
        ];
        for arguments in [&gateway[..], &up[..]] {
            let said = refusal(&home, arguments, &[]).await?;
            ensure!(said.contains(named), "{what}: {said}");
        }
    }
    Ok(())
}

/// Root may write anywhere; everybody else is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directory_without_the_right_to_write_is_named() -> Result<()> {
    let home = UserHome::temporary()?;
    let locked = home.path().join("locked");
    std::fs::create_dir_all(&locked)?;
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o500))?;
    let is_root = std::fs::write(locked.join("probe"), "").is_ok();
    // The kernel's own directories refuse root as well.
    let place = if is_root { Path::new("/proc/loopgate").to_owned() } else { locked.join("data") };
    let directory = place.to_string_lossy().into_owned();
    for command in ["gateway", "control-plane"] {
        let said = refusal(&home, &[command, "--home", &directory], &[]).await?;
        ensure!(said.contains("cannot use the data directory") && said.contains(&directory), "{said}");
    }
    Ok(())
}

/// A program that is told of a full disk instead of being ended by the signal that goes before it.
fn tolerant(home: &UserHome) -> Result<std::path::PathBuf> {
    home.script("loopgate-tolerant", &format!("#!/bin/sh\ntrap '' XFSZ\nexec '{PROGRAM}' \"$@\"\n"))
}

/// Lets no file of a process, and of what it starts, grow any more; or lets them grow again.
fn full_disk(loopgate: &Loopgate, full: bool) -> Result<()> {
    let pid = loopgate.pid().context("it runs")?.to_string();
    let limit = if full { "--fsize=0:" } else { "--fsize=unlimited:" };
    #[expect(clippy::disallowed_methods, reason = "limits a process of this test")]
    let status = std::process::Command::new("prlimit").args(["--pid", &pid, limit]).status()?;
    ensure!(status.success(), "prlimit failed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_refuses_and_passes() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    let clone = testbed.add_story()?;
    let loopgate = testbed.loopgate()?.binary(tolerant(&testbed.home)?).arg("--api-origin");
    let mut loopgate = loopgate.arg("http://127.0.0.1:0").start().await?;
    let place = testbed.sandbox().join("more");
    std::fs::create_dir_all(&place)?;
    let list = testbed.sandbox().join(".loopgate/config/repos.json");
    let before = std::fs::read(&list)?;
    let add = || async {
        let request = loopgate.gateway(Method::POST, "/api/gateway/repos").json(&json!({"path": place}));
        let answer = request.send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };
    let loop_id = Uuid::new_v4();
    let order = || async {
        let body = json!({"loopId": loop_id, "command": "PLAN", "loopgateAuthToken": "made-up",
            "artifacts": [], "prompt": story::WISH, "repo": {"fullName": story::REPOSITORY}});
        let request = loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop");
        let answer = request.header("x-desktop-source", "cloud-socket").json(&body).send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };

    full_disk(&loopgate, true)?;
    let (status, refusal) = add().await?;
    let text = refusal["error"].as_str().unwrap_or_default();
    ensure!(status == 500 && text.starts_with("Failed to add repo: "), "{status} {refusal}");
    ensure!(refusal["code"] == "operation_failed" && !text.contains('/'), "{refusal}");
    ensure!(std::fs::read(&list)? == before, "the list is as it was");
    let (status, refusal) = order().await?;
    let text = refusal["error"].as_str().unwrap_or_default();
    let said = status == 500 && text.starts_with("The loop could not be recorded: ");
    ensure!(said && !text.contains("/tmp/") && refusal["code"] == "operation_failed", "{status} {refusal}");
    for path in ["/health", "/api/gateway/version", "/api/gateway/repos"] {
        let answer = loopgate.gateway(Method::GET, path).send().await?;
        ensure!(answer.status() == 200, "{path} on a full disk: {}", answer.status());
    }
    ensure!(of_loop(&loop_id.to_string()).is_empty(), "nothing was started");

    full_disk(&loopgate, false)?;
    let (status, added) = add().await?;
    ensure!(status == 200, "{status} {added}");
    let (status, started) = order().await?;
    ensure!(status == 200, "the same loop can be ordered again: {status} {started}");
    let kill = loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop/kill");
    kill.json(&json!({"loopId": loop_id})).send().await?;
    gone(&loop_id.to_string()).await?;
    ensure!(clone.join(".git").is_dir());
    ensure!(!loopgate.output().contains("panicked"), "{}", loopgate.output());
    assert_eq!(loopgate.stop().await?.code(), Some(0));
    Ok(())
}

/// The disk is full when a loop ends, and what it did and said is told once there is room again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_on_a_full_disk_is_reported_when_space_is_freed() -> Result<()> {
    let plan = r##"{"content": "# The plan", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [],
        "openQuestions": [], "answeredQuestions": [], "gaps": []}"##;
    let planner = Conversation::when("plan", "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .turn([Step::write("{{workdir}}/plan.json", plan)])
        .turn([Step::hold("full"), Step::write("{{workdir}}/notes.md", "Not stored yet.")])
        .turn([Step::hold("end"), Step::text("On a full disk.\n\n<promise>COMPLETE</promise>")]);
    let testbed = Testbed::new(Script::new([planner])).await?;
    testbed.add_story()?;
    let cloud = Cloud::start().await?;
    let setup = testbed.loopgate()?.binary(tolerant(&testbed.home)?).gateway_alone();
    let setup = setup.env("LOOPGATE_API_KEY", "lgk_live_0123456789abcdef0123456789abcdef");
    let mut loopgate = setup.arg("--api-origin").arg(cloud.origin()).start().await?;
    let id = LoopId(Uuid::new_v4());
    let order = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "made-up", "artifacts": [],
        "prompt": story::WISH, "repo": {"fullName": story::REPOSITORY}});
    let answer = loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop").json(&order).send().await?;
    ensure!(answer.status() == 200, "{}", answer.text().await?);
    testbed.model.held("full").await?;
    full_disk(&loopgate, true)?;
    testbed.model.release("full");
    testbed.model.held("end").await?;
    let said = |cloud: &Cloud| cloud.output(id).into_iter().find(|line| line.contains("Make room"));
    let said = tokio::time::timeout(wait::LIMIT, cloud.seen(said)).await.context("nobody is told")?;
    ensure!(said.starts_with("This desktop cannot store what the loop does: "), "{said}");
    // What waits to be stored was read before the end, which comes now.
    testbed.model.release("end");
    gone(&id.to_string()).await?;
    ensure!(cloud.events(id, "completed").is_empty(), "nothing is told that is not recorded");
    full_disk(&loopgate, false)?;
    let last = |cloud: &Cloud| {
        let ends = |kind: &str| cloud.events(id, kind).pop();
        ends("completed").or_else(|| ends("error"))
    };
    let last = tokio::time::timeout(wait::LIMIT, cloud.seen(last)).await.context("it does not end")?;
    ensure!(last["type"] == "completed" && last["warnings"].is_null(), "{last}");
    let output = cloud.output(id);
    ensure!(output.iter().filter(|line| line.contains("On a full disk.")).count() == 1, "{output:?}");
    let uploads = cloud.accepted(id, "upload-artifacts");
    ensure!(uploads.len() == 1 && uploads[0].body["artifacts"]["plan"]["content"].is_string(), "{uploads:?}");

    // What is stored from now on is stored, also for whoever starts next.
    let stored = || async { records::record(&loopgate, &id.to_string()).await?.context("a record") };
    wait::seen(&loopgate.setup().data_dir(), async || {
        stored().await.is_ok_and(|job| job["cloudFinalizedAt"].is_string()).then_some(())
    })
    .await?;
    ensure!(stored().await?["status"] == "COMPLETED");
    ensure!(!loopgate.output().contains("panicked"), "{}", loopgate.output());
    assert_eq!(loopgate.stop().await?.code(), Some(0));
    Ok(())
}
