//! What a desktop reports beside the events of its loops, as the control plane takes it: both write
//! one log here, and the control plane notes in it what it was told.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::link::event;
use loopgate_testkit::model::{Script, Step, Turn};
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};

use crate::approvals::{VERSION, hold};
use crate::local::Local;
use crate::owner::{Owner, OwnerWatch};
use crate::relay::Relay;
use crate::test_system::TestSystem;

/// A phase, a line that is no event, and a tool call in that phase.
const EVENTS: &str = r#"cat >> '{{workdir}}/perf.jsonl' <<'END'
{"event":"phase","run_id":"made-up","iteration":7,"phase":"Phase of a test","status":"IN_PROGRESS","started_at":"2030-01-01T00:00:00Z"}
no event: ghp_aaaaaaaaaaaaaaaaaaaaaaaa
{"event":"tool","run_id":"made-up","iteration":7,"agent_id":"a-1","tool_name":"Bash","started_at":"2030-01-01T00:00:00Z","ok":true}
END"#;
/// A tool call that never ends.
const UNFINISHED: &str = r#"mkdir -p '{{workdir}}/.tool-calls' && cat > '{{workdir}}/.tool-calls/1' <<'END'
{"run_id":"made-up","iteration":7,"agent_id":"a-2","tool_name":"Read","started_at":"2030-01-01T00:00:00Z"}
END"#;

/// A report as the control plane notes it.
#[derive(Debug)]
struct LoopReport {
    category: String,
    line: String,
    diagnostics: Value,
}

/// Every report in a log, in the order in which they came.
fn reports(log: &str) -> Vec<LoopReport> {
    let told = log.lines().filter(|line| line.contains("desktop telemetry"));
    let report = |line: &str| {
        let (_, after) = line.split_once(" category=\"")?;
        let (category, _) = after.split_once('"')?;
        let (_, diagnostics) = line.split_once(" diagnostics=")?;
        let diagnostics = serde_json::from_str(diagnostics).ok()?;
        Some(LoopReport { category: category.to_owned(), line: line.to_owned(), diagnostics })
    };
    told.filter_map(report).collect()
}

/// The timing events among them that a test has made up, or that name a line.
fn timings(log: &str) -> Vec<Value> {
    let found = reports(log).into_iter().filter(|report| report.category.starts_with("loop.perf."));
    let timing = found.map(|mut report| report.diagnostics["loopPerf"].take());
    timing.filter(|told| told["runId"] == "made-up" || told["event"] == "parse_failure").collect()
}

/// The story's plan, which does something more at its second turn.
fn planning(turns: &[Turn]) -> Result<Script> {
    let mut script = story::script();
    let plan = script.conversations.iter_mut().find(|known| known.name == story::PLAN).context("a plan")?;
    plan.turns.splice(1..1, turns.iter().cloned());
    Ok(script)
}

fn work_dir(system: &TestSystem) -> Result<PathBuf> {
    let request = system.testbed.model.requests_of(story::PLAN).pop().context("a request")?;
    Ok(request.captures.get("workdir").context("the work directory")?.into())
}

/// The number of the line that is no event.
fn broken_line(work_dir: &Path) -> Result<usize> {
    let text = std::fs::read_to_string(work_dir.join("perf.jsonl"))?;
    let at = text.lines().position(|line| line.starts_with("no event")).context("the line is there")?;
    Ok(at + 1)
}

// LR-55
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timing_events_arrive_and_a_broken_line_is_named() -> Result<()> {
    let turns = [Turn(vec![Step::bash(EVENTS)]), Turn(vec![Step::bash(UNFINISHED)])];
    let system = TestSystem::playing(planning(&turns)?).await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    ensure!(system.page.ended(&loop_id).await?["status"] == "COMPLETED");
    let told = system.logged(|log| {
        let told = timings(log);
        (told.len() >= 4).then_some(told)
    });
    let told = told.await?;
    let began = "2030-01-01T00:00:00Z";
    let wanted = [
        json!({"event": "phase", "iteration": 7, "phase": "Phase of a test", "status": "IN_PROGRESS",
            "startedAt": began, "runId": "made-up"}),
        json!({"event": "parse_failure", "lineNumber": broken_line(&work_dir(&system)?)?,
            "rawBytes": "[redacted]", "errorMessage": told[1]["errorMessage"]}),
        json!({"event": "tool", "iteration": 7, "agentId": "a-1", "toolName": "Bash", "startedAt": began,
            "ok": true, "phase": "Phase of a test", "runId": "made-up"}),
        json!({"event": "tool", "iteration": 7, "agentId": "a-2", "toolName": "Read", "startedAt": began,
            "endedAt": null, "durationS": null, "ok": null, "phase": "Phase of a test", "runId": "made-up"}),
    ];
    ensure!(told == wanted, "{told:#?}");

    let log = system.logged(|log| log.contains("\"job.completed\"").then(|| log.to_owned())).await?;
    let of_the_loop = |category: &str| {
        let found = reports(&log).into_iter().find(|report| report.category == category);
        let found = found.with_context(|| category.to_owned())?;
        ensure!(found.line.contains(&format!("loop_id=\"{loop_id}\"")), "{}", found.line);
        ensure!(found.line.contains("operation_id=\"orchestrator_loop\""), "{}", found.line);
        anyhow::Ok(found)
    };
    ensure!(of_the_loop("job.started")?.diagnostics["lifecycle"]["command"] == "PLAN");
    of_the_loop("loop.perf.iteration")?;
    of_the_loop("job.completed")?;
    Ok(())
}

/// Between its two lives it is told what was written meanwhile, and nothing again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timing_events_are_not_repeated_after_a_kill() -> Result<()> {
    let turns = [Turn(vec![Step::bash(EVENTS)]), Turn(vec![Step::hold("killing"), Step::bash(EVENTS)])];
    let system = TestSystem::playing(planning(&turns)?).await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    system.logged(|log| (timings(log).len() == 3).then_some(())).await?;
    system.testbed.model.held("killing").await?;
    let system = system.kill_and_restart().await?;
    let connected =
        |log: &str| reports(log).iter().filter(|report| report.category == "connection.established").count();
    system.logged(|log| (connected(log) == 2).then_some(())).await?;
    system.testbed.model.release("killing");
    ensure!(system.page.ended(&loop_id).await?["status"] == "COMPLETED");
    let ended = |log: &str| log.contains("\"job.recovery.finalize_replayed\"").then(|| timings(log));
    let told = system.logged(ended).await?;
    let events: Vec<&str> = told.iter().filter_map(|told| told["event"].as_str()).collect();
    ensure!(events == ["phase", "parse_failure", "tool", "phase", "parse_failure", "tool"], "{told:#?}");
    Ok(())
}

/// This control plane takes no analytics, and says so once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_telemetry_stops_after_the_first_event() -> Result<()> {
    let system = TestSystem::story().await?;
    let outside = async || {
        let request = system.loopgate.gateway(Method::GET, "/api/gateway/directories?path=/etc");
        let answer = request.send().await?;
        ensure!(answer.status() == 403, "{}", answer.status());
        anyhow::Ok(())
    };
    let refused = |log: &str| log.matches("does not take an analytics event").count();
    ensure!(system.logged(|log| Some(refused(log))).await? == 0);
    outside().await?;
    system.logged(|log| (refused(log) == 1).then_some(())).await?;
    outside().await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    system.page.ended(&loop_id).await?;
    // What was reported later has arrived; the second refusal was not.
    system.logged(|log| log.contains("\"job.completed\"").then_some(())).await?;
    ensure!(system.logged(|log| Some(refused(log))).await? == 1);
    Ok(())
}

/// However many wait for one decision, it is told once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_request_is_reported_with_its_outcome() -> Result<()> {
    let mut relay = Relay::start().await?;
    let local = Local::with(|setup| relay.of(setup)).await?;
    let loopgate = &local.loopgate;
    let mut watch = OwnerWatch::of(loopgate).await?;
    for (verb, outcome) in [
        (Some("approvals.approve"), "granted"),
        (Some("approvals.always_allow"), "granted"),
        (Some("approvals.deny"), "denied"),
        (None, "timed_out"),
    ] {
        let begun = Instant::now();
        let first = hold(loopgate, &format!("{VERSION}?hunter2"));
        let id = watch.one().await?["id"].clone();
        let second = hold(loopgate, &format!("{VERSION}?hunter2"));
        watch.next().await?;
        let told = relay.next(event::ANALYTICS).await?;
        ensure!(told["event"] == "approval_requested", "{told}");
        ensure!(told["properties"] == json!({"operation_type": "health_check"}), "{told}");
        match verb {
            Some(verb) => drop(Owner::of(loopgate).await?.ask(verb, json!({"approvalId": id})).await?),
            None => [first, second].iter().for_each(tokio::task::JoinHandle::abort),
        }
        let told = relay.next(event::ANALYTICS).await?;
        let most = begun.elapsed().as_millis() + 1;
        ensure!(told["event"] == "approval_resolved", "{told}");
        let waited = told["properties"]["time_to_resolve_ms"].as_u64().context("a number")?;
        ensure!(u128::from(waited) <= most, "{waited} of {most}");
        let wanted =
            json!({"operation_type": "health_check", "outcome": outcome, "time_to_resolve_ms": waited});
        ensure!(told["properties"] == wanted && told["occurredAt"].is_string(), "{told}");
        watch.nothing().await?;
    }
    Ok(())
}

/// An assistant that breaks, breaks in another way, and is mended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn assistant_health_is_reported_when_it_changes() -> Result<()> {
    let system = TestSystem::story().await?;
    let home = &system.testbed.home;
    // While a row fails, no round is kept.
    home.script("codex", "#!/bin/sh\nexit 1\n")?;
    let look = async |passes: bool| {
        let request = system.loopgate.gateway(Method::GET, "/api/gateway/health-check");
        let report: Value = request.send().await?.json().await?;
        let row = report["checks"].as_array().into_iter().flatten().find(|row| row["id"] == "assistant-cli");
        ensure!(row.is_some_and(|row| row["passed"] == passes), "{report}");
        Ok(())
    };
    let works = "#!/bin/sh\necho 2.1.0\n";
    home.script("claude", works)?;
    look(true).await?;
    for code in ["3", "4"] {
        home.script("claude", &format!("#!/bin/sh\necho out of order >&2\nexit {code}\n"))?;
        look(false).await?;
        look(false).await?;
    }
    home.script("claude", works)?;
    look(true).await?;
    look(true).await?;
    let told = |log: &str| {
        let told = reports(log).into_iter().filter(|report| report.category.starts_with("healthcheck."));
        let told: Vec<LoopReport> = told.collect();
        told.last().is_some_and(|last| last.category == "healthcheck.recovered").then_some(told)
    };
    let told = system.logged(told).await?;
    let categories: Vec<&str> = told.iter().map(|report| report.category.as_str()).collect();
    let detected = "healthcheck.failure_detected";
    ensure!(categories == [detected, detected, "healthcheck.recovered"], "{told:#?}");
    for (report, code) in told.iter().zip(["3", "4"]) {
        let extra = &report.diagnostics["extra"];
        ensure!(extra["checkId"] == "assistant-cli" && extra["errorCode"] == code, "{report:#?}");
        ensure!(extra["stderr"].as_str().is_some_and(|text| text.contains("out of order")), "{report:#?}");
        ensure!(extra["resolvedPath"].is_string() && extra["foundElsewhere"] == true, "{report:#?}");
        ensure!(report.line.contains("operation_id=\"health_check\""), "{}", report.line);
    }
    Ok(())
}
