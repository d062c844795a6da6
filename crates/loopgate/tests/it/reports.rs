//! Telemetry and analytics of a desktop, as the control plane receives them. Both processes share one log
//! here, and the control plane logs every report.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::link::event;
use loopgate_testkit::model::{ModelStep, ModelTurn, Script};
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};

use crate::approvals::{VERSION, hold};
use crate::owner::{Owner, OwnerWatch};
use crate::relay::Relay;
use crate::test_gateway::TestGateway;
use crate::test_system::TestSystem;

/// Appends three lines to the timing file: a phase, an invalid line, and a tool call in that phase.
const EVENTS: &str = r#"cat >> '{{workdir}}/perf.jsonl' <<'END'
{"event":"phase","run_id":"made-up","iteration":7,"phase":"Phase of a test","status":"IN_PROGRESS","started_at":"2030-01-01T00:00:00Z"}
no event: ghp_aaaaaaaaaaaaaaaaaaaaaaaa
{"event":"tool","run_id":"made-up","iteration":7,"agent_id":"a-1","tool_name":"Bash","started_at":"2030-01-01T00:00:00Z","ok":true}
END"#;
/// Writes the state file of a tool call that does not end.
const UNFINISHED: &str = r#"mkdir -p '{{workdir}}/.tool-calls' && cat > '{{workdir}}/.tool-calls/1' <<'END'
{"run_id":"made-up","iteration":7,"agent_id":"a-2","tool_name":"Read","started_at":"2030-01-01T00:00:00Z"}
END"#;

/// Telemetry report as logged by the control plane.
#[derive(Debug)]
struct LoopReport {
    category: String,
    line: String,
    diagnostics: Value,
}

/// Returns all reports in a log, in the order of arrival.
fn reports(log: &str) -> Vec<LoopReport> {
    let lines = log.lines().filter(|line| line.contains("desktop telemetry"));
    let report = |line: &str| {
        let (_, after) = line.split_once(" category=\"")?;
        let (category, _) = after.split_once('"')?;
        let (_, diagnostics) = line.split_once(" diagnostics=")?;
        let diagnostics = serde_json::from_str(diagnostics).ok()?;
        Some(LoopReport { category: category.to_owned(), line: line.to_owned(), diagnostics })
    };
    lines.filter_map(report).collect()
}

/// Returns the timing events of this test, and those that report an invalid line.
fn timings(log: &str) -> Vec<Value> {
    let perf_reports = reports(log).into_iter().filter(|report| report.category.starts_with("loop.perf."));
    let timing = perf_reports.map(|mut report| report.diagnostics["loopPerf"].take());
    timing.filter(|event| event["runId"] == "made-up" || event["event"] == "parse_failure").collect()
}

/// Returns the story's script, with additional turns before the plan's second turn.
fn script_with_turns(turns: &[ModelTurn]) -> Result<Script> {
    let mut script = story::script();
    let plan =
        script.conversations.iter_mut().find(|candidate| candidate.name == story::PLAN).context("a plan")?;
    plan.turns.splice(1..1, turns.iter().cloned());
    Ok(script)
}

fn work_dir(system: &TestSystem) -> Result<PathBuf> {
    let request = system.testbed.model.requests_of(story::PLAN).pop().context("a request")?;
    Ok(request.captures.get("workdir").context("the work directory")?.into())
}

/// Returns the line number of the invalid line, counted from 1.
fn broken_line(work_dir: &Path) -> Result<usize> {
    let text = std::fs::read_to_string(work_dir.join("perf.jsonl"))?;
    let index = text.lines().position(|line| line.starts_with("no event")).context("the line is missing")?;
    Ok(index + 1)
}

// LR-55
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timing_events_are_reported_and_invalid_line_is_located() -> Result<()> {
    let turns = [ModelTurn(vec![ModelStep::bash(EVENTS)]), ModelTurn(vec![ModelStep::bash(UNFINISHED)])];
    let system = TestSystem::playing(script_with_turns(&turns)?).await?;
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    ensure!(system.page.wait_for_end(&loop_id).await?["status"] == "COMPLETED");
    let events = system.logged(|log| {
        let events = timings(log);
        (events.len() >= 4).then_some(events)
    });
    let events = events.await?;
    let started_at = "2030-01-01T00:00:00Z";
    let expected = [
        json!({"event": "phase", "iteration": 7, "phase": "Phase of a test", "status": "IN_PROGRESS",
            "startedAt": started_at, "runId": "made-up"}),
        json!({"event": "parse_failure", "lineNumber": broken_line(&work_dir(&system)?)?,
            "rawBytes": "[redacted]", "errorMessage": events[1]["errorMessage"]}),
        json!({"event": "tool", "iteration": 7, "agentId": "a-1", "toolName": "Bash", "startedAt": started_at,
            "ok": true, "phase": "Phase of a test", "runId": "made-up"}),
        json!({"event": "tool", "iteration": 7, "agentId": "a-2", "toolName": "Read", "startedAt": started_at,
            "endedAt": null, "durationS": null, "ok": null, "phase": "Phase of a test", "runId": "made-up"}),
    ];
    ensure!(events == expected, "{events:#?}");

    let log = system.logged(|log| log.contains("\"job.completed\"").then(|| log.to_owned())).await?;
    let loop_report = |category: &str| {
        let report = reports(&log).into_iter().find(|report| report.category == category);
        let report = report.with_context(|| category.to_owned())?;
        ensure!(report.line.contains(&format!("loop_id=\"{loop_id}\"")), "{}", report.line);
        ensure!(report.line.contains("operation_id=\"orchestrator_loop\""), "{}", report.line);
        anyhow::Ok(report)
    };
    ensure!(loop_report("job.started")?.diagnostics["lifecycle"]["command"] == "PLAN");
    loop_report("loop.perf.iteration")?;
    loop_report("job.completed")?;
    Ok(())
}

/// After a crash, the desktop reports only the timing events written since the last report.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timing_events_are_not_repeated_after_a_kill() -> Result<()> {
    let turns = [
        ModelTurn(vec![ModelStep::bash(EVENTS)]),
        ModelTurn(vec![ModelStep::hold("killing"), ModelStep::bash(EVENTS)]),
    ];
    let system = TestSystem::playing(script_with_turns(&turns)?).await?;
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    system.logged(|log| (timings(log).len() == 3).then_some(())).await?;
    system.testbed.model.held("killing").await?;
    let system = system.kill_and_restart().await?;
    let connected =
        |log: &str| reports(log).iter().filter(|report| report.category == "connection.established").count();
    system.logged(|log| (connected(log) == 2).then_some(())).await?;
    system.testbed.model.release("killing");
    ensure!(system.page.wait_for_end(&loop_id).await?["status"] == "COMPLETED");
    let ended = |log: &str| log.contains("\"job.recovery.finalize_replayed\"").then(|| timings(log));
    let events = system.logged(ended).await?;
    let events: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    ensure!(events == ["phase", "parse_failure", "tool", "phase", "parse_failure", "tool"], "{events:#?}");
    Ok(())
}

/// This control plane does not accept analytics. The desktop logs the refusal once and stops sending.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_telemetry_stops_after_the_first_event() -> Result<()> {
    let system = TestSystem::story().await?;
    let outside = async || {
        let request = system.loopgate.gateway(Method::GET, "/api/gateway/directories?path=/etc");
        let answer = request.send().await?;
        ensure!(answer.status() == 403, "{}", answer.status());
        anyhow::Ok(())
    };
    let refused = |log: &str| log.matches("analytics event rejected by the control plane").count();
    ensure!(system.logged(|log| Some(refused(log))).await? == 0);
    outside().await?;
    system.logged(|log| (refused(log) == 1).then_some(())).await?;
    outside().await?;
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    system.page.wait_for_end(&loop_id).await?;
    // Later reports have arrived, but no second analytics event was sent.
    system.logged(|log| log.contains("\"job.completed\"").then_some(())).await?;
    ensure!(system.logged(|log| Some(refused(log))).await? == 1);
    Ok(())
}

/// Several callers that wait for the same decision cause one report.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_request_is_reported_with_its_outcome() -> Result<()> {
    let mut relay = Relay::start().await?;
    let local = TestGateway::with(|setup| relay.configure(setup)).await?;
    let loopgate = &local.loopgate;
    let mut watch = OwnerWatch::of(loopgate).await?;
    for (verb, outcome) in [
        (Some("approvals.approve"), "granted"),
        (Some("approvals.always_allow"), "granted"),
        (Some("approvals.deny"), "denied"),
        (None, "timed_out"),
    ] {
        let start = Instant::now();
        let first = hold(loopgate, &format!("{VERSION}?hunter2"));
        let id = watch.one().await?["id"].clone();
        let second = hold(loopgate, &format!("{VERSION}?hunter2"));
        watch.next().await?;
        let report = relay.next(event::ANALYTICS).await?;
        ensure!(report["event"] == "approval_requested", "{report}");
        ensure!(report["properties"] == json!({"operation_type": "health_check"}), "{report}");
        match verb {
            Some(verb) => drop(Owner::of(loopgate).await?.call(verb, json!({"approvalId": id})).await?),
            // Without callers, the approval is resolved as timed out.
            None => [first, second].iter().for_each(tokio::task::JoinHandle::abort),
        }
        let report = relay.next(event::ANALYTICS).await?;
        let upper_bound = start.elapsed().as_millis() + 1;
        ensure!(report["event"] == "approval_resolved", "{report}");
        let waited = report["properties"]["time_to_resolve_ms"].as_u64().context("a number")?;
        ensure!(u128::from(waited) <= upper_bound, "{waited} of {upper_bound}");
        let expected =
            json!({"operation_type": "health_check", "outcome": outcome, "time_to_resolve_ms": waited});
        ensure!(report["properties"] == expected && report["occurredAt"].is_string(), "{report}");
        watch.nothing().await?;
    }
    Ok(())
}

/// The assistant fails, fails with another exit code, and recovers: each change is reported once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn assistant_health_is_reported_on_change() -> Result<()> {
    let system = TestSystem::story().await?;
    let home = &system.testbed.home;
    // Results are cached only while all checks pass; the failing reviewer forces every request to run the
    // checks.
    home.script("codex", "#!/bin/sh\nexit 1\n")?;
    let check_health = async |passes: bool| {
        let request = system.loopgate.gateway(Method::GET, "/api/gateway/health-check");
        let report: Value = request.send().await?.json().await?;
        let row = report["checks"].as_array().into_iter().flatten().find(|row| row["id"] == "assistant-cli");
        ensure!(row.is_some_and(|row| row["passed"] == passes), "{report}");
        Ok(())
    };
    let works = "#!/bin/sh\necho 2.1.0\n";
    home.script("claude", works)?;
    check_health(true).await?;
    for code in ["3", "4"] {
        home.script("claude", &format!("#!/bin/sh\necho out of order >&2\nexit {code}\n"))?;
        // The second request finds the same failure, which is not reported again.
        check_health(false).await?;
        check_health(false).await?;
    }
    home.script("claude", works)?;
    check_health(true).await?;
    check_health(true).await?;
    let health_reports = |log: &str| {
        let health_reports =
            reports(log).into_iter().filter(|report| report.category.starts_with("healthcheck."));
        let health_reports: Vec<LoopReport> = health_reports.collect();
        health_reports
            .last()
            .is_some_and(|last| last.category == "healthcheck.recovered")
            .then_some(health_reports)
    };
    let health_reports = system.logged(health_reports).await?;
    let categories: Vec<&str> = health_reports.iter().map(|report| report.category.as_str()).collect();
    let detected = "healthcheck.failure_detected";
    ensure!(categories == [detected, detected, "healthcheck.recovered"], "{health_reports:#?}");
    for (report, code) in health_reports.iter().zip(["3", "4"]) {
        let extra = &report.diagnostics["extra"];
        ensure!(extra["checkId"] == "assistant-cli" && extra["errorCode"] == code, "{report:#?}");
        ensure!(extra["stderr"].as_str().is_some_and(|text| text.contains("out of order")), "{report:#?}");
        ensure!(extra["resolvedPath"].is_string() && extra["foundElsewhere"] == true, "{report:#?}");
        ensure!(report.line.contains("operation_id=\"health_check\""), "{}", report.line);
    }
    Ok(())
}
