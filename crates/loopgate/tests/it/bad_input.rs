//! Bad input against the running program: every refusal that the routes promise, with its whole
//! body. One home serves all rows; a row changes nothing, so their order does not matter.

use anyhow::{Context as _, Result};
use loopgate_testkit::loopgate::Loopgate;
use loopgate_testkit::story;
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::foreign;
use crate::stage::Stage;

const LOOP: &str = "/api/gateway/orchestrator/loop";
const KILL: &str = "/api/gateway/orchestrator/loop/kill";
const REPOS: &str = "/api/gateway/repos";
const PATHS: &str = "/api/gateway/settings/binary-paths";
const ID: &str = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";

/// A request and its refusal.
struct Row {
    request: (Method, String, String),
    status: u16,
    body: Value,
}

fn row(method: Method, path: impl Into<String>, sent: impl ToString, status: u16, body: Value) -> Row {
    Row { request: (method, path.into(), sent.to_string()), status, body }
}

/// A refusal with nothing beside text and code.
fn post(path: &str, sent: impl ToString, status: u16, error: &str, code: &str) -> Row {
    row(Method::POST, path, sent, status, json!({"error": error, "code": code}))
}

fn get(path: impl Into<String>, status: u16, error: &str, code: &str) -> Row {
    row(Method::GET, path, "", status, json!({"error": error, "code": code}))
}

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

/// Sends every row with the gateway's token and lists those that are answered otherwise.
async fn check(loopgate: &Loopgate, rows: Vec<Row>) -> Result<()> {
    let mut wrong = Vec::new();
    for Row { request: (method, path, sent), status, body } in rows {
        let what = format!("{method} {path} {}", sent.chars().take(300).collect::<String>());
        let answer = loopgate.gateway(method, &path).body(sent).send().await.context(what.clone())?;
        let kind = answer.headers().get(header::CONTENT_TYPE).cloned();
        let (got, text) = (answer.status().as_u16(), answer.text().await?);
        let json = serde_json::from_str::<Value>(&text).unwrap_or_default();
        if (got, &json) != (status, &body) || kind.is_none_or(|kind| kind != "application/json") {
            wrong.push(format!("{what}\n   wanted {status} {body}\n   got    {got} {text}"));
        }
    }
    anyhow::ensure!(wrong.is_empty(), "{} refusals differ:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_is_refused_before_anything_happens() -> Result<()> {
    let stage = Stage::story().await?;
    let clone = stage.clone.display().to_string();
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
        refused(nowhere(launch(|_| {})), needs_repository),
        post(
            LOOP,
            launch(|body| body["localRepoPath"] = json!("/etc")),
            403,
            "directory not allowed",
            "directory_not_allowed",
        ),
        post(
            LOOP,
            launch(|body| body["localRepoPath"] = json!(format!("{clone}/../../elsewhere"))),
            403,
            "directory not allowed",
            "directory_not_allowed",
        ),
        post(
            LOOP,
            launch(|body| body["repo"]["fullName"] = json!("acme/nowhere")),
            404,
            "Repository not found locally: acme/nowhere",
            "not_found",
        ),
        refused(
            launch(|body| {
                let peer = json!({"fullName": "acme/peer", "branch": "main"});
                body["additionalRepos"] = json!([peer, peer, peer, peer, peer, peer]);
            }),
            "additionalRepos exceeds maximum of 5 entries (got 6)",
        ),
    ];
    check(&stage.loopgate, rows).await?;
    malformed_members_are_named(&stage.loopgate).await?;
    assert!(stage.scene.model.requests().is_empty(), "no assistant was started");
    assert_eq!(stage.others(), [], "nothing runs");
    Ok(())
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_other_route_says_what_it_lacks() -> Result<()> {
    let stage = Stage::story().await?;
    let repo = foreign::encoded(&stage.clone.to_string_lossy());
    let outside = foreign::encoded("/etc");
    let api = "/api/gateway/orchestrator";
    let denied = ("directory not allowed", "directory_not_allowed");
    let not_built = |method: Method, path: &str| {
        let body = json!({"error": "operation not implemented", "code": "operation_not_implemented",
            "method": method.as_str(), "path": path});
        row(method, path, "", 501, body)
    };
    let too_large = |path: &str, bytes: usize, most: usize| {
        let body =
            json!({"error": "request body too large", "code": "request_body_too_large", "maxBytes": most});
        row(Method::POST, path, "x".repeat(bytes), 413, body)
    };
    let paths = |sent: Value, error: &str| {
        row(Method::PATCH, PATHS, sent, 400, json!({"error": error, "code": "invalid_request"}))
    };
    let rows = vec![
        // Ending a loop
        post(KILL, "", 400, "Invalid JSON body", "invalid_json_body"),
        post(KILL, "{", 400, "Invalid JSON body", "invalid_json_body"),
        post(KILL, "null", 400, "Invalid JSON body", "invalid_json_body"),
        post(KILL, "[]", 400, "loopId is required", "missing_field"),
        post(KILL, "{}", 400, "loopId is required", "missing_field"),
        post(KILL, r#"{"loopId":5}"#, 400, "loopId is required", "missing_field"),
        post(KILL, r#"{"loopId":""}"#, 400, "loopId is required", "missing_field"),
        post(KILL, json!({"loopId": ID}), 404, "No running process found for this loop", "not_found"),
        post(KILL, r#"{"loopId":"x"}"#, 404, "No running process found for this loop", "not_found"),
        // What a ticket left
        get(format!("{api}/status"), 400, "workDir parameter is required", "missing_field"),
        get(format!("{api}/status?workDir={outside}"), 403, denied.0, denied.1),
        get(format!("{api}/status/SHOP-7"), 400, "repo query parameter is required", "missing_field"),
        get(format!("{api}/status/SHOP-7?repo="), 400, "repo query parameter is required", "missing_field"),
        get(format!("{api}/status/SHOP-7?repo={outside}"), 403, denied.0, denied.1),
        get(format!("{api}/logs/SHOP-7"), 400, "repo parameter is required", "missing_field"),
        get(format!("{api}/logs/SHOP-7?repo={outside}"), 403, denied.0, denied.1),
        get(format!("{api}/plan/SHOP-7"), 400, "repo query parameter is required", "missing_field"),
        get(format!("{api}/plan/SHOP-7?repo={outside}"), 403, denied.0, denied.1),
        row(
            Method::GET,
            format!("{api}/plan/SHOP-7?repo={repo}"),
            "",
            404,
            json!({"error": "Worktree not found", "code": "not_found", "exists": false}),
        ),
        get(format!("{api}/status/%E0%A4%A?repo={repo}"), 400, "malformed path", "malformed_path"),
        // Repositories
        post(REPOS, "{", 400, "Invalid JSON body", "invalid_json_body"),
        post(REPOS, "null", 400, "Invalid JSON body", "invalid_json_body"),
        post(REPOS, "", 400, "path is required and must be a string", "missing_field"),
        post(REPOS, "[]", 400, "path is required and must be a string", "missing_field"),
        post(REPOS, "5", 400, "path is required and must be a string", "missing_field"),
        post(REPOS, r#"{"path":5}"#, 400, "path is required and must be a string", "missing_field"),
        post(REPOS, r#"{"path":"/etc"}"#, 403, denied.0, denied.1),
        post(REPOS, r#"{"path":"/no/such/place"}"#, 403, denied.0, denied.1),
        post(
            REPOS,
            json!({"path": stage.clone.join("missing")}),
            400,
            "Path does not exist",
            "invalid_request",
        ),
        post(
            REPOS,
            json!({"path": stage.clone.join("README.md")}),
            400,
            "Path must be a directory",
            "invalid_request",
        ),
        post(REPOS, json!({"path": stage.clone}), 400, "Repository already configured", "invalid_request"),
        row(
            Method::DELETE,
            REPOS,
            "",
            400,
            json!({"error": "path query parameter is required", "code": "missing_field"}),
        ),
        row(
            Method::DELETE,
            format!("{REPOS}?path=%2Fnot%2Flisted"),
            "",
            400,
            json!({"error": "Repository not found", "code": "invalid_request"}),
        ),
        row(
            Method::PATCH,
            REPOS,
            r#"{"worktreeParentDir":5}"#,
            400,
            json!({"error": "No settings to update", "code": "invalid_request"}),
        ),
        row(
            Method::PATCH,
            REPOS,
            r#"{"worktreeParentDir":"/etc"}"#,
            403,
            json!({"error": denied.0, "code": denied.1}),
        ),
        // Paths of programs
        row(
            Method::PATCH,
            PATHS,
            "{",
            400,
            json!({"error": "invalid JSON body", "code": "invalid_json_body"}),
        ),
        paths(json!([]), "body must be a JSON object"),
        paths(json!({"perl": "/x"}), "unknown key: perl"),
        paths(json!({"git": ""}), "value for git must not be empty"),
        paths(json!({"git": 5}), "value for git must be a string or null"),
        paths(json!({"git": "rel/git"}), "Binary path for git must be an absolute path: rel/git"),
        paths(json!({"git": "/no/git"}), "Binary path for git does not exist: /no/git"),
        paths(json!({"git": "/etc/passwd"}), "Binary path for git is not executable: /etc/passwd"),
        // Routes and bodies at large
        get("/api/gateway/nope", 403, "Unmapped operation: /api/gateway/nope", "unmapped_operation"),
        get("/api/gateway", 404, "route not found", "route_not_found"),
        get("/nope", 404, "route not found", "route_not_found"),
        get("/health/", 404, "route not found", "route_not_found"),
        post("/health", "", 404, "route not found", "route_not_found"),
        get("/gateway-auth/exchange", 404, "route not found", "route_not_found"),
        not_built(Method::POST, "/api/gateway/version"),
        not_built(Method::DELETE, "/api/gateway/health-check"),
        not_built(Method::PUT, "/api/gateway/git"),
        too_large(REPOS, 262_145, 262_144),
        too_large("/api/gateway/orchestrator/chat/SHOP-7", 300 * 1024, 262_144),
        too_large(LOOP, 1_048_577, 1_048_576),
        // Within the limit a body is read, and then refused for what it says
        post(REPOS, "x".repeat(262_144), 400, "Invalid JSON body", "invalid_json_body"),
        post(LOOP, "x".repeat(300 * 1024), 400, "Invalid JSON body", "invalid_json_body"),
    ];
    check(&stage.loopgate, rows).await?;
    let answer = stage.loopgate.gateway(Method::GET, PATHS).send().await?.json::<Value>().await?;
    assert_eq!(answer, json!({"binaryPaths": {}}), "what was refused is not stored");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_in_without_a_credential() -> Result<()> {
    let stage = Stage::story().await?;
    let loopgate = &stage.loopgate;
    let page = loopgate.ready().page_url.clone();
    let refused = |reason: &str| json!({"error": "unauthorized", "code": "unauthorized", "reason": reason});
    let version = "/api/gateway/version";
    let ask = |headers: Vec<(&'static str, String)>| async move {
        let mut request = loopgate.gateway_bare(Method::GET, version);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let answer = request.send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };
    let session = "x-desktop-session-token";
    let stale = "invalid or expired session token, or origin mismatch";
    for (headers, reason) in [
        (vec![], "no credential provided"),
        (vec![("origin", "null".to_owned())], "no credential provided"),
        (vec![("origin", page.clone())], "session token required for browser requests"),
        (vec![("x-desktop-gateway-token", "wrong".to_owned())], "no credential provided"),
        (vec![(session, "x".repeat(64))], "session token present but Origin header missing"),
        (vec![(session, "x".repeat(64)), ("origin", page.clone())], stale),
    ] {
        assert_eq!(ask(headers.clone()).await?, (401, refused(reason)), "{headers:?}");
    }
    let exchange = |origin: Option<String>, body: &'static str| async move {
        let mut request = loopgate.gateway_bare(Method::POST, "/gateway-auth/exchange").body(body);
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        let answer = request.send().await?;
        assert_eq!(answer.headers().get(header::CACHE_CONTROL).context("cache-control")?, "no-store");
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };
    let challenge =
        json!({"error": "invalid request body: challengeToken required", "code": "invalid_request"});
    for (origin, body, status, wanted) in [
        (None, "{}", 400, json!({"error": "Origin header required", "code": "missing_field"})),
        (Some(page.clone()), "", 400, challenge.clone()),
        (Some(page.clone()), "{", 400, challenge.clone()),
        (Some(page.clone()), r#"{"challengeToken":""}"#, 400, challenge.clone()),
        (Some(page.clone()), r#"{"challengeToken":5}"#, 400, challenge),
    ] {
        let (got, answer) = exchange(origin, body).await?;
        assert_eq!((got, &answer["error"]), (status, &wanted["error"]), "{body}");
        assert!(answer["code"].is_string(), "{answer}");
    }
    let (status, answer) = exchange(Some(page), r#"{"challengeToken":"made-up"}"#).await?;
    assert!(status == 401 || status == 403, "{status} {answer}");
    Ok(())
}
