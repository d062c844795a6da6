//! Loop requests that are refused because of their body, and kill requests for loops that do not run.

use anyhow::Result;
use loopgate_testkit::loopgate::Loopgate;
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};

use super::{DENIED, ID, KILL, LOOP, RefusalRow, check, post};
use crate::test_system::TestSystem;

/// Returns a valid loop request with a change.
fn launch(change: impl FnOnce(&mut Value)) -> Value {
    let mut body = json!({"loopId": ID, "command": "EXECUTE", "loopgateAuthToken": "a-runner-token",
        "artifacts": [], "prompt": "Do it", "repo": {"fullName": story::REPOSITORY, "branch": "main"}});
    change(&mut body);
    body
}

fn document(kind: &str) -> Value {
    json!({"id": "1", "type": kind, "title": "t", "content": "c"})
}

// OR-43, LR-01, LR-02, LR-03, LR-04, LR-05, LR-06, LR-07, LR-08, LR-09, LR-56, LR-60
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_loop_request_is_refused_without_side_effects() -> Result<()> {
    let system = TestSystem::story().await?;
    let clone = system.clone.display().to_string();
    let invalid = |sent: &str| post(LOOP, sent, 400, "Invalid JSON body", "invalid_json_body");
    let missing = "Missing required fields: loopId, command, loopgateAuthToken";
    let incomplete = |sent: Value| post(LOOP, sent, 400, missing, "missing_field");
    let refused = |sent: Value, error: &str| post(LOOP, sent, 400, error, "invalid_request");
    let command = |name: &'static str| launch(|body| body["command"] = json!(name));
    let evaluate = |name: &'static str, kinds: &[&str]| {
        let documents: Vec<Value> = kinds.iter().map(|kind| document(kind)).collect();
        launch(move |body| {
            body["command"] = json!(name);
            body["artifacts"] = json!(documents);
            body["prompt"] = Value::Null;
        })
    };
    let without_repository = |mut body: Value| {
        body["repo"] = Value::Null;
        body
    };
    let needs_repository =
        "Repository required for PLAN, EXECUTE, REQUEST_CHANGES, and GENERATE_PRD commands";
    let rows = vec![
        invalid(""),
        invalid(" \n"),
        invalid("{"),
        invalid("null"),
        invalid("false"),
        invalid("0"),
        invalid("\"\""),
        incomplete(json!([])),
        incomplete(json!(true)),
        incomplete(json!(5)),
        incomplete(json!("text")),
        incomplete(json!({})),
        incomplete(launch(|body| body["loopgateAuthToken"] = Value::Null)),
        incomplete(launch(|body| body["loopgateAuthToken"] = json!(""))),
        incomplete(launch(|body| body["loopId"] = Value::Null)),
        incomplete(launch(|body| body["command"] = json!(""))),
        refused(command("CHAT"), "Invalid command: CHAT"),
        refused(command("NOPE"), "Invalid command: NOPE"),
        refused(command("execute"), "Invalid command: execute"),
        refused(launch(|body| body["loopId"] = json!("abc")), "loopId must be a valid UUID"),
        refused(launch(|body| body["loopId"] = json!(format!("{{{ID}}}"))), "loopId must be a valid UUID"),
        refused(launch(|body| body["artifacts"] = Value::Null), "artifacts must be an array"),
        refused(launch(|body| body["artifacts"] = json!({})), "artifacts must be an array"),
        refused(
            launch(|body| body["cloudSessionToken"] = json!("x".repeat(4097))),
            "cloudSessionToken is malformed: cloudSessionToken: longer than 4096 characters",
        ),
        refused(
            launch(|body| {
                body["command"] = json!("GENERATE_PRD");
                body["prompt"] = json!("  ");
            }),
            "GENERATE_PRD requires a non-empty prompt",
        ),
        refused(
            launch(|body| {
                body["command"] = json!("REQUEST_CHANGES");
                body["prompt"] = Value::Null;
            }),
            "REQUEST_CHANGES requires a non-empty prompt",
        ),
        refused(command("DECOMPOSE"), "DECOMPOSE requires artifacts in the context pack"),
        refused(
            launch(|body| body["prompt"] = json!(" ")),
            "EXECUTE requires either a prompt or artifacts in the context pack",
        ),
        refused(
            evaluate("EVALUATE_PLAN", &["IMPLEMENTATION_PLAN"]),
            "EVALUATE_PLAN requires a PRD artifact (or prompt) and an implementation plan artifact",
        ),
        refused(
            evaluate("EVALUATE_PLAN", &["PRD"]),
            "EVALUATE_PLAN requires a PRD artifact (or prompt) and an implementation plan artifact",
        ),
        refused(
            evaluate("EVALUATE_CODE", &["PRD"]),
            "EVALUATE_CODE requires an implementation plan artifact",
        ),
        refused(
            without_repository(evaluate("EVALUATE_CODE", &["IMPLEMENTATION_PLAN"])),
            "EVALUATE_CODE requires a repository (repo.fullName or localRepoPath)",
        ),
        refused(
            without_repository(evaluate("EVALUATE_PLAN", &["IMPLEMENTATION_PLAN", "PRD"])),
            "EVALUATE_PLAN requires a repository (repo.fullName or localRepoPath)",
        ),
        refused(evaluate("EVALUATE_FEATURE", &["PRD"]), "EVALUATE_FEATURE requires a feature artifact"),
        refused(
            launch(|body| {
                body["command"] = json!("BOOTSTRAP");
                body["prompt"] = json!(r#"{"repos":[]}"#);
            }),
            "BOOTSTRAP requires a JSON prompt with a non-empty repos array",
        ),
        refused(
            launch(|body| {
                body["command"] = json!("BOOTSTRAP");
                body["prompt"] = json!("not json");
            }),
            "BOOTSTRAP requires a JSON prompt with a non-empty repos array",
        ),
        refused(
            launch(|body| {
                body["command"] = json!("BOOTSTRAP");
                body["prompt"] = Value::Null;
                body["harness"] = json!("reviewer");
            }),
            "BOOTSTRAP does not support harness 'reviewer' in loopgate. Supported: assistant",
        ),
        refused(without_repository(launch(|_| {})), needs_repository),
        refused(without_repository(command("CODE_REVIEW")), needs_repository),
        post(LOOP, launch(|body| body["localRepoPath"] = json!("/etc")), 403, DENIED.0, DENIED.1),
        post(
            LOOP,
            launch(|body| body["localRepoPath"] = json!(format!("{clone}/../../elsewhere"))),
            403,
            DENIED.0,
            DENIED.1,
        ),
        post(
            LOOP,
            launch(|body| body["repo"]["fullName"] = json!("acme/without_repository")),
            404,
            "Repository not found locally: acme/without_repository. It could not be cloned: Repository not found or no \
             access.",
            "not_found",
        ),
        refused(launch(six_peers), "additionalRepos exceeds maximum of 5 entries (got 6)"),
        // The number of peers is checked before the repository.
        refused(
            without_repository(launch(six_peers)),
            "additionalRepos exceeds maximum of 5 entries (got 6)",
        ),
    ];
    check(&system.loopgate, rows).await?;
    malformed_members_are_reported_in_order(&system.loopgate).await?;
    check(&system.loopgate, not_implemented()).await?;
    assert!(system.testbed.model.requests().is_empty(), "an assistant was started");
    assert_eq!(system.other_processes(), [], "a process was started");
    Ok(())
}

fn six_peers(body: &mut Value) {
    body["additionalRepos"] = json!(vec![json!({"fullName": "acme/peer", "branch": "main"}); 6]);
}

/// Returns requests for features that this version does not implement.
fn not_implemented() -> Vec<RefusalRow> {
    let refused = |feature: &str, change: &dyn Fn(&mut Value)| {
        let error = format!("operation not implemented: {feature}");
        post(LOOP, launch(change), 501, &error, "operation_not_implemented")
    };
    vec![
        refused("the reviewer cannot run loops yet", &|body| body["harness"] = json!("reviewer")),
        refused("branches created by the control plane", &|body| {
            let branch = json!({"role": "primary", "repositoryFullName": story::REPOSITORY,
                "baseBranch": "main", "branchName": "loop/x"});
            body["branchMaterialization"] = json!({"schemaVersion": 1, "branches": [branch]});
        }),
    ]
}

// OR-44
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_member_is_reported_by_name() -> Result<()> {
    let system = TestSystem::story().await?;
    let malformed = |name: &'static str, value: Value, path: &str| {
        let mut body = launch(|_| {});
        body[name] = value;
        (body, format!("{name} is malformed: {path}"))
    };
    let branch = |role: &str, change: Value| {
        let mut branch = json!({"role": role, "repositoryFullName": "acme/api", "baseBranch": "main",
            "branchName": "loop/x"});
        for (name, value) in change.as_object().into_iter().flatten() {
            branch[name] = value.clone();
        }
        json!({"schemaVersion": 1, "branches": [branch]})
    };
    let cases = [
        malformed("loopId", json!(5), "expected a string, got a number"),
        malformed("command", json!(["PLAN"]), "expected a string, got an array"),
        malformed("loopgateAuthToken", json!({}), "expected a string, got an object"),
        malformed("prompt", json!(5), "expected a string, got a number"),
        malformed("repo", json!("acme/api"), ""),
        malformed("repo", json!({"branch": "main"}), ""),
        malformed("repo", json!({"fullName": "acme/api", "branch": "--upload-pack=x"}), "branch: "),
        malformed("repo", json!({"fullName": "acme/api", "branch": "a/../b"}), "branch: "),
        malformed("localRepoPath", json!(["/x"]), "expected a string, got an array"),
        malformed("artifacts", json!([null]), "0"),
        malformed("artifacts", json!([{"id": "1", "type": "PRD", "title": "t"}]), "0"),
        malformed("artifacts", json!([{"id": "1", "type": "POEM", "title": "t", "content": "c"}]), "0"),
        malformed("additionalRepos", json!({}), "expected an array, got an object"),
        malformed("additionalRepos", json!([null]), "0"),
        malformed("additionalRepos", json!([{"fullName": "a/b", "branch": "-x"}]), "0.branch: "),
        malformed("committer", json!("Sam"), ""),
        malformed("artifactSlug", json!(7), "expected a string, got a number"),
        malformed("attachments", json!([{}]), "0"),
        malformed("agents", json!("all"), "expected an array, got a string"),
        malformed("repoConfigs", json!([5]), "0"),
        malformed("branchMaterialization", branch("primary", json!({"branchName": null})), "branches[0]"),
        malformed("branchMaterialization", branch("primary", json!({"more": 1})), "branches[0]"),
        malformed("branchMaterialization", branch("primary", json!({"branchName": "a b"})), "branches[0]"),
        malformed("branchMaterialization", branch("other", json!({})), "branches[0]"),
        malformed("branchMaterialization", json!({"schemaVersion": 1, "branches": []}), "branches"),
    ];
    for (body, prefix) in cases {
        let answer = system.loopgate.gateway(Method::POST, LOOP).json(&body).send().await?;
        // Only the beginning is compared: the remaining text describes the problem for people.
        let (status, refusal) = super::status_and_body(answer).await?;
        let text = refusal["error"].as_str().unwrap_or_default();
        assert!(
            status == 400 && text.starts_with(&prefix),
            "{body}\nexpected {prefix}\ngot {status} {refusal}"
        );
        assert_eq!(refusal["code"], "invalid_request", "{refusal}");
        assert!(!text.contains("a-runner-token"), "{text}");
    }
    assert_eq!(system.other_processes(), [], "a process was started");
    Ok(())
}

// OR-50, LR-40
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_of_an_unknown_loop_is_not_found() -> Result<()> {
    let system = TestSystem::story().await?;
    let unknown = "No running process found for this loop";
    let rows = vec![
        post(KILL, "", 400, "Invalid JSON body", "invalid_json_body"),
        post(KILL, " \n", 400, "Invalid JSON body", "invalid_json_body"),
        post(KILL, "{", 400, "Invalid JSON body", "invalid_json_body"),
        post(KILL, "null", 400, "Invalid JSON body", "invalid_json_body"),
        post(KILL, "[]", 400, "loopId is required", "missing_field"),
        post(KILL, "{}", 400, "loopId is required", "missing_field"),
        post(KILL, r#"{"loopId":5}"#, 400, "loopId is required", "missing_field"),
        post(KILL, r#"{"loopId":""}"#, 400, "loopId is required", "missing_field"),
        post(KILL, json!({"loopId": ID}), 404, unknown, "not_found"),
        post(KILL, json!({"loopId": ID.to_uppercase(), "pid": 1}), 404, unknown, "not_found"),
        post(KILL, r#"{"loopId":"x"}"#, 404, unknown, "not_found"),
        post(KILL, r#"{"loopId":"-1"}"#, 404, unknown, "not_found"),
    ];
    check(&system.loopgate, rows).await
}

// The prefix of the message names the member; members are checked in this order. The rest is not fixed.
async fn malformed_members_are_reported_in_order(loopgate: &Loopgate) -> Result<()> {
    let mut body = json!({});
    let bad = [
        ("cloudSessionToken", json!("x".repeat(4097))),
        (
            "branchMaterialization",
            json!({"schemaVersion": 1, "branches": [
            {"role": "primary", "repositoryFullName": "acme/api", "baseBranch": "main"}]}),
        ),
        ("codeEvaluationContext", json!({"schemaVersion": 2})),
        ("supportingArtifacts", json!([{"title": "no content"}])),
    ];
    for (name, value) in bad {
        body[name] = value;
        let answer = loopgate.gateway(Method::POST, LOOP).json(&body).send().await?;
        let (status, refusal) = (answer.status(), answer.json::<Value>().await?);
        let text = refusal["error"].as_str().unwrap_or_default();
        assert!(status == 400 && text.starts_with(&format!("{name} is malformed: ")), "{status} {refusal}");
        assert_eq!(refusal["code"], "invalid_request");
    }
    Ok(())
}
