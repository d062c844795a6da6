//! A loop that is refused for what its body says, before anything happens, and the end of a loop
//! that does not run.

use anyhow::Result;
use loopgate_testkit::loopgate::Loopgate;
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};

use super::{DENIED, ID, KILL, LOOP, RefusalRow, check, post};
use crate::test_system::TestSystem;

/// A loop request that lacks nothing but what the test takes away.
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
async fn loop_is_refused_before_anything_happens() -> Result<()> {
    let system = TestSystem::story().await?;
    let clone = system.clone.display().to_string();
    let invalid = |sent: &str| post(LOOP, sent, 400, "Invalid JSON body", "invalid_json_body");
    let missing = "Missing required fields: loopId, command, loopgateAuthToken";
    let lacks = |sent: Value| post(LOOP, sent, 400, missing, "missing_field");
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
    let nowhere = |mut body: Value| {
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
        lacks(json!([])),
        lacks(json!(true)),
        lacks(json!(5)),
        lacks(json!("text")),
        lacks(json!({})),
        lacks(launch(|body| body["loopgateAuthToken"] = Value::Null)),
        lacks(launch(|body| body["loopgateAuthToken"] = json!(""))),
        lacks(launch(|body| body["loopId"] = Value::Null)),
        lacks(launch(|body| body["command"] = json!(""))),
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
            nowhere(evaluate("EVALUATE_CODE", &["IMPLEMENTATION_PLAN"])),
            "EVALUATE_CODE requires a repository (repo.fullName or localRepoPath)",
        ),
        refused(
            nowhere(evaluate("EVALUATE_PLAN", &["IMPLEMENTATION_PLAN", "PRD"])),
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
        refused(nowhere(launch(|_| {})), needs_repository),
        refused(nowhere(command("CODE_REVIEW")), needs_repository),
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
            launch(|body| body["repo"]["fullName"] = json!("acme/nowhere")),
            404,
            "Repository not found locally: acme/nowhere",
            "not_found",
        ),
        refused(launch(six_peers), "additionalRepos exceeds maximum of 5 entries (got 6)"),
        // Too many peers are told before the missing repository.
        refused(nowhere(launch(six_peers)), "additionalRepos exceeds maximum of 5 entries (got 6)"),
    ];
    check(&system.loopgate, rows).await?;
    malformed_members_are_named(&system.loopgate).await?;
    check(&system.loopgate, not_built()).await?;
    assert!(system.testbed.model.requests().is_empty(), "no assistant was started");
    assert_eq!(system.others(), [], "nothing runs");
    Ok(())
}

fn six_peers(body: &mut Value) {
    body["additionalRepos"] = json!(vec![json!({"fullName": "acme/peer", "branch": "main"}); 6]);
}

/// What this program cannot run yet, it says.
fn not_built() -> Vec<RefusalRow> {
    let refused = |what: &str, change: &dyn Fn(&mut Value)| {
        let error = format!("operation not implemented: {what}");
        post(LOOP, launch(change), 501, &error, "operation_not_implemented")
    };
    vec![
        refused("the reviewer cannot run loops yet", &|body| body["harness"] = json!("reviewer")),
        refused("branches made by the control plane", &|body| {
            let branch = json!({"role": "primary", "repositoryFullName": story::REPOSITORY,
                "baseBranch": "main", "branchName": "loop/x"});
            body["branchMaterialization"] = json!({"schemaVersion": 1, "branches": [branch]});
        }),
    ]
}

// OR-44
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn member_of_the_wrong_shape_is_named() -> Result<()> {
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
    for (body, begin) in cases {
        let answer = system.loopgate.gateway(Method::POST, LOOP).json(&body).send().await?;
        let (status, refusal) = super::status_and_body(answer).await?;
        let text = refusal["error"].as_str().unwrap_or_default();
        assert!(status == 400 && text.starts_with(&begin), "{body}\nwanted {begin}\ngot {status} {refusal}");
        assert_eq!(refusal["code"], "invalid_request", "{refusal}");
        assert!(!text.contains("a-runner-token"), "{text}");
    }
    assert_eq!(system.others(), [], "nothing runs");
    Ok(())
}

// OR-50, LR-40
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_that_does_not_run_cannot_be_ended() -> Result<()> {
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

/// What exactly is wrong with a member is for people; that it is named, and in this order, is not.
async fn malformed_members_are_named(loopgate: &Loopgate) -> Result<()> {
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
