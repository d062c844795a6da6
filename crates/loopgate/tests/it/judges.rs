//! Loops that let judges evaluate a document or code, with the real assistant and a scripted model.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use loopgate_plugin_kit::judges::{Category, ScoringFamily};
use loopgate_testkit::model::{Conversation, Failure, ModelRequest, ModelStep, Script};
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::limits::{LIMIT_SECONDS, subscribed};
use crate::test_system::git;

const REQUIREMENTS: &str = "# Export\n\n**US-1**: Users export their notes as a file.\n- **AC-1.1**: The file has \
    every note.\n\n## Scope\nNo other formats.\n";
const PLAN: &str = "# Export notes\n\nWrite all notes to one file, in the order of their dates.\n";
const FEATURE_JUDGES: [&str; 3] =
    ["feature-completeness-judge", "prd-dependency-judge", "prd-testability-judge"];

/// Returns the script of a judge's calls, without its answer.
fn judge(name: &str) -> Conversation {
    Conversation { toolless: true, ..Conversation::when(name, &format!("You are {name}\\.\\s")) }
}

fn finding(metric: &str, weight: &str, quote: &str) -> Value {
    json!({"metric": metric, "weight": weight, "place": "Export", "quote": quote, "explanation": "It is so."})
}

/// Returns scripts of the judges of a category, all of which find that everything is met.
fn content_judges(category: Category, quote: &str) -> Vec<Conversation> {
    let script = |known: &loopgate_plugin_kit::judges::Judge| {
        let has_levels = matches!(known.family, ScoringFamily::Tiered | ScoringFamily::Grounding);
        let metrics = known.metrics.iter().filter(|_| has_levels);
        let findings: Vec<Value> = metrics.map(|(metric, _)| finding(metric, "met", quote)).collect();
        judge(known.name).says(&json!({"findings": findings}).to_string())
    };
    category.judges().map(script).collect()
}

fn documents(plan: &str) -> Value {
    let document = |id: &str, kind: &str, content: &str| json!({"id": id, "type": kind, "title": "", "content": content});
    json!([
        document("f", "FEATURE", "# Export\n\nUsers export their notes as a file.\n"),
        document("r", "PRD", REQUIREMENTS),
        document("p", "IMPLEMENTATION_PLAN", plan)
    ])
}

async fn evaluate(desktop: &TestDesktop, command: &str, plan: &str) -> Result<(Run, Value)> {
    let run = desktop.run(json!({"command": command, "artifacts": documents(plan)})).await?;
    run.completed(&command.to_lowercase())?;
    ensure!(run.last["warnings"].is_null(), "{}", run.last);
    let artifacts = desktop.uploaded(run.id)["artifacts"].clone();
    let [report] = &artifacts.as_object().context("no artifacts")?.values().collect::<Vec<_>>()[..] else {
        anyhow::bail!("expected one report: {artifacts}");
    };
    let report = (*report).clone();
    let dashed = command.to_lowercase().replace('_', "-");
    let temp_dir =
        std::env::temp_dir().canonicalize()?.join(format!("orchestrator-{dashed}-{}", run.id.short()));
    desktop.check_clean(&run, &[&temp_dir]).await?;
    Ok((run, report))
}

/// Returns the calls of judges, without requests that the assistant makes by itself.
fn calls(desktop: &TestDesktop) -> Vec<ModelRequest> {
    let requests = desktop.testbed.model.requests();
    requests.into_iter().filter(|request| request.conversation.is_some()).collect()
}

/// Returns the names of the judges that were asked, one for each call.
fn asked(desktop: &TestDesktop) -> Vec<String> {
    calls(desktop).into_iter().filter_map(|request| request.conversation).collect()
}

fn statuses(report: &Value) -> Vec<(&str, u64)> {
    let cases = report["stats"].as_array().map(Vec::as_slice).unwrap_or_default();
    cases
        .iter()
        .map(|case| {
            (case["case_id"].as_str().unwrap_or_default(), case["final_status"].as_u64().unwrap_or_default())
        })
        .collect()
}

// LR-11, PR-41
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_of_a_judge_follows_from_its_findings() -> Result<()> {
    let [completeness, dependency, testability] = FEATURE_JUDGES;
    let blocking =
        json!({"findings": [finding("dependency_completeness", "blocking", "Users export their notes")]});
    let desktop = TestDesktop::playing([
        judge(completeness).says("{\"findings\": []}"),
        judge(dependency).says(&blocking.to_string()),
        judge(testability).turn([ModelStep::error(
            400,
            "invalid_request_error",
            "The request is malformed.",
        )]),
    ])
    .await?;
    let (run, report) = evaluate(&desktop, "EVALUATE_FEATURE", PLAN).await?;
    ensure!(statuses(&report) == [(completeness, 1), (dependency, 2), (testability, 3)], "{report}");
    let id = report["report_id"].as_str().unwrap_or_default();
    ensure!(id.contains(&run.id.short()) && id.ends_with("-feature-judges"), "{report}");
    let metric = &report["stats"][1]["metrics"][0];
    ensure!(metric["score"] == 0.0 && metric["findings"][0]["is_supported"] == true, "{report}");
    // The costs of all calls are those of the loop.
    ensure!(
        report["cost"]["calls"] == 3 && run.last["tokensUsed"]["input"].as_u64() > Some(0),
        "{}",
        run.last
    );
    let output = desktop.cloud.output(run.id).join("\n");
    ensure!(output.contains("findings") && output.contains("Turn complete"), "{output}");
    // EVALUATE_PRD judges a text: a repository outside the sandbox is ignored. EVALUATE_CODE needs it and is refused.
    let outside =
        |command: &str| json!({"command": command, "artifacts": documents(PLAN), "localRepoPath": "/etc"});
    let refused = desktop.order(outside("EVALUATE_CODE")).await?;
    ensure!(refused.1 == 403, "{refused:?}");
    desktop.testbed.model.play(Script::new(content_judges(Category::Prd, "")))?;
    let run = desktop.run(outside("EVALUATE_PRD")).await?;
    run.completed("evaluate_prd")?;
    let report = &desktop.uploaded(run.id)["artifacts"]["prdJudges"];
    ensure!(statuses(report).iter().all(|(_, status)| *status == 1), "{report}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_is_judged_again_by_the_judges_whose_prompt_has_changed() -> Result<()> {
    let quote = "Write all notes to one file";
    let mut script = content_judges(Category::Plan, quote);
    script.push(judge("money").says("{\"findings\": []}"));
    let desktop = TestDesktop::playing(script).await?;
    let (_, report) = evaluate(&desktop, "EVALUATE_PLAN", PLAN).await?;
    ensure!(report["stats"].as_array().map(Vec::len) == Some(16), "{report}");
    let first = asked(&desktop);
    // There is no record of the existing code with which three of them compare.
    let comparing = |judge: &&loopgate_plugin_kit::judges::Judge| judge.family == ScoringFamily::Grounding;
    let able = Category::Plan.judges().filter(|judge| !comparing(judge));
    let able: BTreeSet<&str> = able.map(|judge| judge.name).collect();
    ensure!(first.len() == 13 && first.iter().all(|name| able.contains(name.as_str())), "{first:?}");
    // All judges read the same documents before their rubric.
    let requests = calls(&desktop);
    let prefixes: BTreeSet<&str> = requests.iter().map(|request| request.system()).collect();
    ensure!(prefixes.len() == 1, "{prefixes:?}");
    let prefix = prefixes.first().context("no request")?;
    for part in [quote, "Users export their notes", "investigation-log.md is not in the context"] {
        ensure!(prefix.contains(part), "{part} is missing in {prefix}");
    }
    ensure!(
        report["omitted"][0] == "investigation-log.md is not in the context: the file does not exist",
        "{report}"
    );

    // The same plan, in another loop.
    let (run, report) = evaluate(&desktop, "EVALUATE_PLAN", PLAN).await?;
    ensure!(asked(&desktop).len() == 13, "{:?}", asked(&desktop));
    ensure!(report["cost"] == json!({"total_usd": 0.0, "calls": 0, "not_asked_again": 13}), "{report}");
    ensure!(run.last["tokensUsed"]["input"].as_u64().unwrap_or_default() == 0, "{}", run.last);

    // A judge of the project, committed before the plan is judged.
    let directory = desktop.clone.join(".loopgate/judges");
    std::fs::create_dir_all(&directory)?;
    let rubric = "---\nname: money\napplies: plan\nmetrics: totals_are_exact 0.8\n---\nLook at amounts.\n";
    std::fs::write(directory.join("money.md"), rubric)?;
    let (_, report) = evaluate_with_files(&desktop).await?;
    ensure!(asked(&desktop).len() == 13, "a file that is not committed was used");
    ensure!(report["omitted"].to_string().contains(".loopgate/judges/money.md is ignored"), "{report}");
    git(&desktop.clone, &["add", "--force", ".loopgate/judges/money.md"])?;
    git(
        &desktop.clone,
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "Judge amounts"],
    )?;
    let (_, report) = evaluate(&desktop, "EVALUATE_PLAN", PLAN).await?;
    ensure!(asked(&desktop)[13..] == ["money"], "{:?}", asked(&desktop));
    ensure!(statuses(&report).last() == Some(&("money", 1)), "{report}");

    // Another plan is another text for all judges.
    let (_, report) = evaluate(&desktop, "EVALUATE_PLAN", &PLAN.replace("dates", "titles")).await?;
    ensure!(asked(&desktop).len() == 28 && report["cost"]["calls"] == 14, "{report}");
    Ok(())
}

/// As [`evaluate`], while the clone has a file that is not committed.
async fn evaluate_with_files(desktop: &TestDesktop) -> Result<(Run, Value)> {
    let run = desktop.run(json!({"command": "EVALUATE_PLAN", "artifacts": documents(PLAN)})).await?;
    run.completed("evaluate_plan")?;
    let report = desktop.uploaded(run.id)["artifacts"]["planJudges"].clone();
    Ok((run, report))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_is_judged_by_the_change_of_its_branch() -> Result<()> {
    let desktop = TestDesktop::playing(content_judges(Category::Code, "exported notes")).await?;
    git(&desktop.clone, &["switch", "--quiet", "--create", "export"])?;
    std::fs::write(desktop.clone.join("export.txt"), "exported notes\n")?;
    git(&desktop.clone, &["add", "export.txt"])?;
    git(&desktop.clone, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "Export"])?;
    git(&desktop.clone, &["switch", "--quiet", "main"])?;
    let order =
        json!({"command": "EVALUATE_CODE", "artifacts": documents(PLAN), "parentBranchName": "export"});
    let run = desktop.run(order).await?;
    run.completed("evaluate_code")?;
    let report = desktop.uploaded(run.id)["artifacts"]["codeJudges"].clone();
    ensure!(
        statuses(&report).len() == 11 && statuses(&report).iter().all(|(_, status)| *status == 1),
        "{report}"
    );
    let request = calls(&desktop).pop().context("no request")?;
    for part in ["+exported notes", "Write all notes to one file"] {
        ensure!(request.system().contains(part), "{part} is missing in {}", request.system());
    }
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn judges_resume_when_the_usage_limit_ends() -> Result<()> {
    let [first, second, third] = FEATURE_JUDGES;
    let limit = Failure { times: Some(1), ..Failure::usage_limit(LIMIT_SECONDS) };
    let answer = "{\"findings\": []}";
    let desktop = subscribed([
        judge(first).says(answer),
        judge(second).turn([ModelStep::Error(limit), ModelStep::text(answer)]),
        judge(third).says(answer),
    ])
    .await?;
    let (run, report) = evaluate(&desktop, "EVALUATE_FEATURE", PLAN).await?;
    ensure!(statuses(&report).iter().all(|(_, status)| *status == 1), "{report}");
    let output = desktop.cloud.output(run.id).join("\n");
    ensure!(output.contains("The loop waits until"), "{output}");
    ensure!(desktop.cloud.events(run.id, "error").is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spending_limit_is_that_of_all_judges() -> Result<()> {
    let desktop = TestDesktop::playing(content_judges(Category::Feature, "")).await?;
    let order =
        json!({"command": "EVALUATE_FEATURE", "artifacts": documents(PLAN), "maxSpendUsd": 0.000_001});
    let run = desktop.run(order).await?;
    ensure!(run.last["type"] == "error" && run.last["code"] == "SPENDING_LIMIT", "{}", run.last);
    desktop.check_clean(&run, &[]).await
}
