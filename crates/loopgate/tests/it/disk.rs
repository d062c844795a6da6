//! Unusable data directories and full disks: reported without a panic, and recovered from when space is
//! freed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Loopgate;
use loopgate_testkit::model::{Conversation, ModelStep, Script};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::refusal;
use crate::commands::{Run, TestDesktop};
use crate::records;
use crate::test_system::{git, processes_of_loop, wait_for_loop_processes};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// Makes a data directory unusable.
type BreakDirectory = fn(&Path) -> std::io::Result<()>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusable_data_directory_is_reported() -> Result<()> {
    let cases: [(&str, BreakDirectory, &str); 6] = [
        ("the data directory is a file", |data| std::fs::write(data, ""), "cannot use the data directory"),
        (
            "the parent directory is a file",
            |data| std::fs::write(data.parent().unwrap_or(data), ""),
            "cannot use the data directory",
        ),
        (
            "the lock file is a directory",
            |data| std::fs::create_dir_all(data.join("loopgate.lock")),
            "cannot use the data directory",
        ),
        (
            "the settings file is a directory",
            |data| std::fs::create_dir_all(data.join("settings.toml")),
            "settings.toml",
        ),
        (
            "the log directory is a file",
            |data| std::fs::create_dir_all(data).and_then(|()| std::fs::write(data.join("logs"), "")),
            "cannot write logs",
        ),
        (
            "the database is a directory",
            |data| std::fs::create_dir_all(data.join("desktop.db")),
            "cannot open the database of this desktop",
        ),
    ];
    for (case, break_directory, reason) in cases {
        let home = UserHome::temporary()?;
        let data = home.path().join("some/data");
        if !case.contains("parent") {
            std::fs::create_dir_all(home.path().join("some"))?;
        }
        break_directory(&data)?;
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
            let message = refusal(&home, arguments, &[]).await?;
            ensure!(message.contains(reason), "{case}: {message}");
        }
    }
    Ok(())
}

// Root bypasses the permissions of directories, so the test falls back to a directory of the kernel for root.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_data_directory_is_reported() -> Result<()> {
    let home = UserHome::temporary()?;
    let locked = home.path().join("locked");
    std::fs::create_dir_all(&locked)?;
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o500))?;
    let is_root = std::fs::write(locked.join("probe"), "").is_ok();
    // `/proc` refuses new directories to root as well.
    let data = if is_root { Path::new("/proc/loopgate").to_owned() } else { locked.join("data") };
    let directory = data.to_string_lossy().into_owned();
    for command in ["gateway", "control-plane"] {
        let message = refusal(&home, &[command, "--home", &directory], &[]).await?;
        ensure!(
            message.contains("cannot use the data directory") && message.contains(&directory),
            "{message}"
        );
    }
    Ok(())
}

/// Returns a script that ignores SIGXFSZ, which would terminate the program before it receives EFBIG.
fn ignoring_xfsz(home: &UserHome) -> Result<std::path::PathBuf> {
    home.script("loopgate-ignoring-xfsz", &format!("#!/bin/sh\ntrap '' XFSZ\nexec '{PROGRAM}' \"$@\"\n"))
}

/// Forbids or permits growing files to a running process and to its future children (RLIMIT_FSIZE).
fn full_disk(loopgate: &Loopgate, full: bool) -> Result<()> {
    ensure!(limit_files(loopgate.pid().context("not running")?, full)?, "prlimit failed");
    Ok(())
}

/// Like [`full_disk`], for Loopgate and all processes of a loop.
fn full_disk_of_loop(loopgate: &Loopgate, id: LoopId, full: bool) -> Result<()> {
    full_disk(loopgate, full)?;
    for pid in processes_of_loop(&id.to_string()) {
        // It may have exited since it was listed.
        limit_files(pid, full)?;
    }
    Ok(())
}

fn limit_files(pid: u32, full: bool) -> Result<bool> {
    let limit = if full { "--fsize=0:" } else { "--fsize=unlimited:" };
    #[expect(clippy::disallowed_methods, reason = "limits a process of this test")]
    let output = std::process::Command::new("prlimit").args(["--pid", &pid.to_string(), limit]).output()?;
    Ok(output.status.success())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_fails_writes_and_recovers_when_space_is_freed() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    let clone = testbed.add_story()?;
    let loopgate = testbed.loopgate()?.binary(ignoring_xfsz(&testbed.home)?).arg("--api-origin");
    let mut loopgate = loopgate.arg("http://127.0.0.1:0").start().await?;
    let repository = testbed.sandbox().join("more");
    std::fs::create_dir_all(&repository)?;
    let list = testbed.sandbox().join(".loopgate/config/repos.json");
    let before = std::fs::read(&list)?;
    let add = || async {
        let request = loopgate.gateway(Method::POST, "/api/gateway/repos").json(&json!({"path": repository}));
        let answer = request.send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };
    let loop_id = Uuid::new_v4();
    let order = || async {
        let body = json!({"loopId": loop_id, "command": "PLAN", "loopgateAuthToken": "made-up",
            "artifacts": [], "prompt": story::REQUEST, "repo": {"fullName": story::REPOSITORY}});
        let request = loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop");
        let answer = request.header("x-desktop-source", "cloud-socket").json(&body).send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };

    full_disk(&loopgate, true)?;
    let (status, refusal) = add().await?;
    let text = refusal["error"].as_str().unwrap_or_default();
    ensure!(status == 500 && text.starts_with("Failed to add repo: "), "{status} {refusal}");
    ensure!(refusal["code"] == "operation_failed" && !text.contains('/'), "{refusal}");
    ensure!(std::fs::read(&list)? == before, "the list of repositories changed");
    let (status, refusal) = order().await?;
    let text = refusal["error"].as_str().unwrap_or_default();
    let is_reported = status == 500 && text.starts_with("The loop could not be recorded: ");
    ensure!(
        is_reported && !text.contains("/tmp/") && refusal["code"] == "operation_failed",
        "{status} {refusal}"
    );
    for path in ["/health", "/api/gateway/version", "/api/gateway/repos"] {
        let answer = loopgate.gateway(Method::GET, path).send().await?;
        ensure!(answer.status() == 200, "{path} on a full disk: {}", answer.status());
    }
    ensure!(processes_of_loop(&loop_id.to_string()).is_empty(), "a process was started");

    // The refused loop left no record, so its id can be used again.
    full_disk(&loopgate, false)?;
    let (status, added) = add().await?;
    ensure!(status == 200, "{status} {added}");
    let (status, started) = order().await?;
    ensure!(status == 200, "the loop cannot be started again: {status} {started}");
    let kill = loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop/kill");
    kill.json(&json!({"loopId": loop_id})).send().await?;
    wait_for_loop_processes(&loop_id.to_string()).await?;
    ensure!(clone.join(".git").is_dir());
    ensure!(!loopgate.output().contains("panicked"), "{}", loopgate.output());
    assert_eq!(loopgate.stop().await?.code(), Some(0));
    Ok(())
}

// The disk is full when a loop ends. Its output and result are reported when space is freed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_on_a_full_disk_is_reported_when_space_is_freed() -> Result<()> {
    let plan = r##"{"content": "# The plan", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [],
        "openQuestions": [], "answeredQuestions": [], "gaps": []}"##;
    let planner = Conversation::when("plan", "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .turn([ModelStep::write("{{workdir}}/plan.json", plan)])
        .turn([ModelStep::hold("full"), ModelStep::write("{{workdir}}/notes.md", "Not stored yet.")])
        .turn([ModelStep::hold("end"), ModelStep::text("On a full disk.\n\n<promise>COMPLETE</promise>")]);
    let testbed = Testbed::new(Script::new([planner])).await?;
    testbed.add_story()?;
    let cloud = Cloud::start().await?;
    let setup = testbed.loopgate()?.binary(ignoring_xfsz(&testbed.home)?).gateway_alone();
    let setup = setup.env("LOOPGATE_API_KEY", "lgk_live_0123456789abcdef0123456789abcdef");
    let mut loopgate = setup.arg("--api-origin").arg(cloud.origin()).start().await?;
    let id = LoopId(Uuid::new_v4());
    let order = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "made-up", "artifacts": [],
        "prompt": story::REQUEST, "repo": {"fullName": story::REPOSITORY}});
    let answer = loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop").json(&order).send().await?;
    ensure!(answer.status() == 200, "{}", answer.text().await?);
    testbed.model.held("full").await?;
    full_disk(&loopgate, true)?;
    testbed.model.release("full");
    // The output is tailed and reported although its position cannot be stored.
    testbed.model.held("end").await?;
    let warning = |cloud: &Cloud| cloud.output(id).into_iter().find(|line| line.contains("Free disk space"));
    let warning = tokio::time::timeout(wait::LIMIT, cloud.wait_for(warning)).await.context("no warning")?;
    ensure!(warning.starts_with("This machine cannot store the progress of the loop: "), "{warning}");
    // Release the assistant only now, so that the loop ends while the disk is still full.
    testbed.model.release("end");
    wait_for_loop_processes(&id.to_string()).await?;
    ensure!(cloud.events(id, "completed").is_empty(), "an end was reported that is not stored");
    full_disk(&loopgate, false)?;
    let last = |cloud: &Cloud| {
        let ends = |kind: &str| cloud.events(id, kind).pop();
        ends("completed").or_else(|| ends("error"))
    };
    let last = tokio::time::timeout(wait::LIMIT, cloud.wait_for(last)).await.context("no terminal event")?;
    ensure!(last["type"] == "completed" && last["warnings"].is_null(), "{last}");
    let output = cloud.output(id);
    ensure!(output.iter().filter(|line| line.contains("On a full disk.")).count() == 1, "{output:?}");
    let uploads = cloud.accepted(id, "upload-artifacts");
    ensure!(uploads.len() == 1 && uploads[0].body["artifacts"]["plan"]["content"].is_string(), "{uploads:?}");

    // The record is final as well, so that a restarted process does not report the loop again.
    let job_record = || async { records::record(&loopgate, &id.to_string()).await?.context("no record") };
    wait::until(&loopgate.setup().data_dir(), async || {
        job_record().await.is_ok_and(|job| job["cloudFinalizedAt"].is_string()).then_some(())
    })
    .await?;
    ensure!(job_record().await?["status"] == "COMPLETED");
    ensure!(!loopgate.output().contains("panicked"), "{}", loopgate.output());
    assert_eq!(loopgate.stop().await?.code(), Some(0));
    Ok(())
}

/// Starts a loop that commits a file and then waits at the gate `full`; its last answer waits at `end`.
async fn committed(desktop: &TestDesktop, command: &str) -> Result<(LoopId, Value)> {
    let started = desktop.start(json!({"command": command, "prompt": story::REQUEST})).await?;
    desktop.testbed.model.held("full").await?;
    Ok(started)
}

fn commits() -> Conversation {
    Conversation::when("work", "# Coding loop")
        .turn([ModelStep::bash(
            "echo x > work.txt; git add work.txt; git commit -qm Work; echo y >> work.txt",
        )])
        .turn([ModelStep::hold("full"), ModelStep::bash("git status")])
        .turn([ModelStep::hold("end"), ModelStep::text("Done.\n\n<promise>COMPLETE</promise>")])
}

// The driver can store neither the assistant's output nor the reason of the failure, and the runtime not the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_during_the_work_is_the_reason_of_the_failure() -> Result<()> {
    for (command, gate) in [("PLAN", "full"), ("EXECUTE", "full"), ("EXECUTE", "end")] {
        let scripts = UserHome::temporary()?;
        let program = ignoring_xfsz(&scripts)?;
        let mut desktop = TestDesktop::with([commits()], |setup| setup.binary(program)).await?;
        let (id, started) = committed(&desktop, command).await?;
        if gate == "end" {
            desktop.testbed.model.release("full");
            desktop.testbed.model.held("end").await?;
        }
        full_disk_of_loop(&desktop.loopgate, id, true)?;
        for gate in ["full", "end"] {
            desktop.testbed.model.release(gate);
        }
        let warning =
            |cloud: &Cloud| cloud.output(id).into_iter().find(|line| line.contains("Free disk space"));
        let warning = tokio::time::timeout(wait::LIMIT, desktop.cloud.wait_for(warning)).await;
        warning.context("no warning")?;
        ensure!(desktop.cloud.events(id, "error").is_empty(), "an end was reported that is not stored");
        full_disk_of_loop(&desktop.loopgate, id, false)?;
        let last = tokio::time::timeout(wait::LIMIT, desktop.wait_finished(id)).await.context("no end")?;
        let run = Run { id, started, last };
        let (code, subcode) = (&run.last["code"], &run.last["result"]["subcode"]);
        ensure!(code == "RUNNER_ERROR" && subcode == "DISK_FULL", "{command} at {gate}: {}", run.last);
        let message = run.last["message"].as_str().context("a message")?;
        let worktree = run.worktree()?;
        ensure!(message.contains(&*worktree.to_string_lossy()), "{message}");
        ensure!(
            message.contains("could not be stored") && message.contains("start the loop again"),
            "{message}"
        );
        ensure!(git(&worktree, &["log", "-1", "--format=%s"])? == "Work", "a commit was lost");
        ensure!(std::fs::read_to_string(worktree.join("work.txt"))? == "x\ny\n", "a change was lost");
        desktop.wait_released(id).await?;
        wait_for_loop_processes(&id.to_string()).await?;
        ensure!(!desktop.loopgate.output().contains("panicked"), "{}", desktop.loopgate.output());
        assert_eq!(desktop.loopgate.stop().await?.code(), Some(0));
    }
    Ok(())
}

// Neither git nor the runtime can write when an EXECUTE is delivered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_is_delivered_when_space_is_freed() -> Result<()> {
    let scripts = UserHome::temporary()?;
    let program = ignoring_xfsz(&scripts)?;
    let mut desktop = TestDesktop::with([commits()], |setup| setup.binary(program)).await?;
    let (id, started) = committed(&desktop, "EXECUTE").await?;
    desktop.testbed.model.release("full");
    desktop.testbed.model.held("end").await?;
    full_disk(&desktop.loopgate, true)?;
    desktop.testbed.model.release("end");
    let warning = |cloud: &Cloud| cloud.output(id).into_iter().find(|line| line.contains("Free disk space"));
    let warning = tokio::time::timeout(wait::LIMIT, desktop.cloud.wait_for(warning)).await;
    warning.context("no warning")?;
    wait_for_loop_processes(&id.to_string()).await?;
    full_disk(&desktop.loopgate, false)?;
    let last = tokio::time::timeout(wait::LIMIT, desktop.wait_finished(id)).await.context("no end")?;
    let run = Run { id, started, last };
    run.completed("execute")?;
    let pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1 && pulls[0].commits()?.len() == 2, "{pulls:?}");
    desktop.check_clean(&run, &[]).await?;
    assert_eq!(desktop.loopgate.stop().await?.code(), Some(0));
    Ok(())
}
