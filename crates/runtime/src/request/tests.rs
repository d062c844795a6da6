//! Checks of loop requests and their order. No body makes the parser panic.

use proptest::prelude::*;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::*;

const ID: &str = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";

fn plan() -> Value {
    json!({"loopId": ID, "command": "PLAN", "loopgateAuthToken": "t", "artifacts": [],
           "repo": {"fullName": "acme/api"}})
}

fn with(name: &str, value: Value) -> Value {
    let mut body = plan();
    body[name] = value;
    body
}

fn refusal(body: &Value) -> String {
    let error = LoopRequest::parse(body.to_string().as_bytes()).expect_err("must be refused");
    assert_eq!(error.status, 400);
    error.message
}

fn accepted(body: &Value) -> LoopRequest {
    LoopRequest::parse(body.to_string().as_bytes()).unwrap()
}

#[test]
fn falsy_body_is_invalid_and_non_object_has_no_members() {
    let text = |body: &str| LoopRequest::parse(body.as_bytes()).unwrap_err().message;
    for body in ["", " ", "{", "null", "false", "0", "0.0", "\"\""] {
        assert_eq!(text(body), "Invalid JSON body", "{body}");
    }
    for body in ["[]", "5", "true", "\"text\"", "{}"] {
        assert_eq!(text(body), "Missing required fields: loopId, command, loopgateAuthToken", "{body}");
    }
}

// LR-02, LR-03, LR-04, LR-05, LR-06
#[test]
fn each_check_reports_its_exact_text() {
    let missing = "Missing required fields: loopId, command, loopgateAuthToken";
    let cases = [
        (with("loopgateAuthToken", Value::Null), missing),
        (with("loopId", json!("")), missing),
        (with("command", json!("CHAT")), "Invalid command: CHAT"),
        (with("command", json!("NOPE")), "Invalid command: NOPE"),
        (with("loopId", json!("abc")), "loopId must be a valid UUID"),
        (with("artifacts", json!({})), "artifacts must be an array"),
        (with("artifacts", Value::Null), "artifacts must be an array"),
        (with("command", json!("GENERATE_PRD")), "GENERATE_PRD requires a non-empty prompt"),
        (with("command", json!("DECOMPOSE")), "DECOMPOSE requires artifacts in the context pack"),
        (
            with("command", json!("EXECUTE")),
            "EXECUTE requires either a prompt or artifacts in the context pack",
        ),
        (with("loopId", json!(5)), "loopId is malformed: expected a string, got a number"),
        (with("prompt", json!(5)), "prompt is malformed: expected a string, got a number"),
        (with("maxSpendUsd", json!(0)), "maxSpendUsd must be more than 0"),
    ];
    for (body, text) in cases {
        assert_eq!(refusal(&body), text);
    }
}

// LR-07, LR-08
#[test]
fn evaluation_reports_missing_inputs() {
    let document = |kind: &str| json!({"id": "1", "type": kind, "title": "t", "content": "c"});
    let mut body = with("command", json!("EVALUATE_CODE"));
    body["artifacts"] = json!([document("PRD")]);
    assert_eq!(refusal(&body), "EVALUATE_CODE requires an implementation plan artifact");
    body["artifacts"] = json!([document("IMPLEMENTATION_PLAN")]);
    body["repo"] = Value::Null;
    assert_eq!(refusal(&body), "EVALUATE_CODE requires a repository (repo.fullName or localRepoPath)");
    body["command"] = json!("EVALUATE_FEATURE");
    assert_eq!(refusal(&body), "EVALUATE_FEATURE requires a feature artifact");
    body["command"] = json!("EVALUATE_PLAN");
    assert!(refusal(&body).starts_with("EVALUATE_PLAN requires a PRD artifact"));
}

// OR-44
#[test]
fn malformed_extensions_are_reported_before_missing_members() {
    let body = json!({"branchMaterialization": {"schemaVersion": 1, "branches": [
        {"role": "primary", "repositoryFullName": "acme/api", "baseBranch": "main"}]}});
    let text = refusal(&body);
    assert!(text.starts_with("branchMaterialization is malformed: branches[0]"), "{text}");
    assert!(text.contains("branchName"), "{text}");

    let body = json!({"branchMaterialization": {"schemaVersion": 1, "branches": [
        {"role": "primary", "repositoryFullName": "acme/api", "baseBranch": "main", "branchName": "a b"}]}});
    assert!(refusal(&body).contains("branchName: "), "{}", refusal(&body));
    let body = json!({"branchMaterialization": {"schemaVersion": 1, "branches": [
        {"role": "primary", "repositoryFullName": "acme/api", "baseBranch": "main", "branchName": "b", "more": 1}]}});
    assert!(refusal(&body).contains("`more`"), "{}", refusal(&body));
    assert!(
        refusal(&json!({"supportingArtifacts": [{}]})).starts_with("supportingArtifacts is malformed: 0")
    );
    assert!(
        refusal(&json!({"codeEvaluationContext": {"schemaVersion": 2}}))
            .starts_with("codeEvaluationContext is malformed: ")
    );
}

#[test]
fn branch_must_be_a_valid_name() {
    // `git fetch origin --upload-pack=x` would run a program.
    for branch in ["--upload-pack=x", "../main", "a..b", "a b"] {
        let text = refusal(&with("repo", json!({"fullName": "acme/api", "branch": branch})));
        assert_eq!(text, "repo is malformed: branch: Branch name contains invalid characters");
        let text = refusal(&with("additionalRepos", json!([{"fullName": "acme/web", "branch": branch}])));
        assert_eq!(text, "additionalRepos is malformed: 0.branch: Branch name contains invalid characters");
    }
    for branch in [json!(" feature/x "), json!(""), Value::Null] {
        let body = with("repo", json!({"fullName": "acme/api", "branch": branch}));
        let expected = if branch.as_str().is_some_and(|text| !text.is_empty()) { "feature/x" } else { "" };
        assert_eq!(LoopRequest::parse(body.to_string().as_bytes()).unwrap().base_branch(), expected);
    }
}

#[test]
fn malformed_list_item_is_reported_with_its_index() {
    let text = refusal(&with("additionalRepos", json!([null])));
    assert!(text.starts_with("additionalRepos is malformed: 0"), "{text}");
    let text = refusal(&with("artifacts", json!([{"id": "1", "type": "PRD", "title": "t"}])));
    assert!(text.starts_with("artifacts is malformed: 0") && text.contains("content"), "{text}");
}

#[test]
fn canonical_token_name_takes_precedence_over_its_alias() {
    let mut body = plan();
    body["loopGateAuthToken"] = json!("alias");
    assert_eq!(accepted(&body).token.expose_secret(), "t");
    body["loopgateAuthToken"] = Value::Null;
    assert_eq!(accepted(&body).token.expose_secret(), "alias");
}

#[test]
fn bootstrap_prompt_is_blank_or_json() {
    let body = |prompt: &str| json!({"loopId": ID, "command": "BOOTSTRAP", "loopgateAuthToken": "t", "artifacts": [], "prompt": prompt});
    assert_eq!(accepted(&body("   ")).bootstrap, None);
    let order = accepted(&body(r#"{"repos":[{"fullName":"acme/api"}]}"#)).bootstrap.unwrap();
    assert_eq!(order.repos[0].full_name, "acme/api");
    for prompt in ["not json", r#"{"repos":[]}"#, r#"{"repos":[{}]}"#] {
        assert_eq!(refusal(&body(prompt)), "BOOTSTRAP requires a JSON prompt with a non-empty repos array");
    }
}

#[test]
fn absent_and_null_members_have_defaults() {
    let request = accepted(&with("repo", json!({"fullName": "acme/api", "branch": null})));
    // The default branch is resolved later, with the repository.
    assert_eq!(request.base_branch(), "", "unknown until the repository is resolved");
    // Unknown harnesses fall back to the assistant instead of failing.
    assert_eq!(accepted(&with("harness", json!("cursor"))).harness, Harness::Assistant);
    assert_eq!(accepted(&with("prompt", json!("  "))).prompt, None);
    // `additionalRepos` would be malformed for a command with peers.
    let review = json!({"loopId": ID, "command": "CODE_REVIEW", "loopgateAuthToken": "t", "artifacts": [],
        "additionalRepos": [null]});
    assert!(accepted(&review).additional_repos.is_empty(), "a command without peers ignores them");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!(ID)),
        Just(json!("EXECUTE")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::hash_map("[a-zA-Z]{1,12}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = LoopRequest::parse(&body);
    }

    #[test]
    fn arbitrary_member_is_accepted_or_rejected_with_400(
        name in prop_oneof![
            Just("artifacts"), Just("repo"), Just("additionalRepos"), Just("committer"), Just("prompt"),
            Just("attachments"), Just("supportingArtifacts"), Just("codeEvaluationContext"), Just("agents"),
            Just("repoConfigs"), Just("branchMaterialization"), Just("harness"), Just("command"), Just("loopId"),
        ],
        value in any_json(),
    ) {
        if let Err(error) = LoopRequest::parse(with(name, value).to_string().as_bytes()) {
            prop_assert_eq!(error.status, 400);
        }
    }
}
