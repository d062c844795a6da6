//! The routes for the paths of the external programs.

use serde_json::json;

use crate::tests::approvals::held;
use crate::tests::test_gateway::{TestGateway, TestOptions, script, within};
use crate::{Coverage, Effect};

const PATH: &str = "/api/gateway/settings/binary-paths";

// GC-30
#[tokio::test]
async fn path_is_stored_with_symlinks_resolved_and_cleared() {
    let fixture = TestGateway::new().await;
    let get = || fixture.internal("GET", PATH).send();
    assert_eq!(get().await.json(), json!({"binaryPaths": {}}));
    let git = fixture.program("git", "echo git version 2.46.1");
    let link = git.with_file_name("git-link");
    std::os::unix::fs::symlink(&git, &link).unwrap();
    let set = json!({"git": link}).to_string();
    let reply = fixture.internal("PATCH", PATH).body(set).send().await;
    let target = git.canonicalize().unwrap();
    assert_eq!((reply.status, reply.json()), (200, json!({"binaryPaths": {"git": target}})));
    assert_eq!(get().await.json(), json!({"binaryPaths": {"git": target}}));
    for body in ["", "{}"] {
        assert_eq!(fixture.internal("PATCH", PATH).body(body).send().await.status, 200);
    }
    let reply = fixture.internal("PATCH", PATH).body(r#"{"git":null}"#).send().await;
    assert_eq!(reply.json(), json!({"binaryPaths": {}}));
}

// GC-31
#[tokio::test]
async fn first_invalid_member_is_reported_and_nothing_is_stored() {
    let fixture = TestGateway::new().await;
    let git = fixture.program("git", "");
    let plain = fixture.sandbox().join("plain");
    std::fs::write(&plain, "").unwrap();
    // In the sandbox: the file itself, a symlink to it from outside, and a symlink in it that points outside.
    let planted = fixture.sandbox().join("git");
    script(&planted, "");
    let (link_in, link_out) = (git.with_file_name("in"), fixture.sandbox().join("out"));
    std::os::unix::fs::symlink(&planted, &link_in).unwrap();
    std::os::unix::fs::symlink(&git, &link_out).unwrap();
    let in_sandbox = |path: &std::path::Path| json!({"git": path}).to_string();
    let refused = |path: &std::path::Path| {
        format!(
            "Binary path for git is inside the sandbox, or reached through a link inside it: {}",
            path.display()
        )
    };
    for (body, error, code) in [
        (json!({"git": git, "perl": "/x"}).to_string(), "unknown key: perl".to_owned(), "invalid_request"),
        (r#"{"git":""}"#.to_owned(), "value for git must not be empty".to_owned(), "invalid_request"),
        (
            r#"{"git":"rel/git"}"#.to_owned(),
            "Binary path for git must be an absolute path: rel/git".to_owned(),
            "invalid_request",
        ),
        (r#"{"git":5}"#.to_owned(), "value for git must be a string or null".to_owned(), "invalid_request"),
        ("[]".to_owned(), "body must be a JSON object".to_owned(), "invalid_request"),
        ("null".to_owned(), "body must be a JSON object".to_owned(), "invalid_request"),
        ("{".to_owned(), "invalid JSON body".to_owned(), "invalid_json_body"),
        (
            r#"{"git":"/nowhere/git"}"#.to_owned(),
            "Binary path for git does not exist: /nowhere/git".to_owned(),
            "invalid_request",
        ),
        (
            json!({"git": plain}).to_string(),
            format!("Binary path for git is not executable: {}", plain.display()),
            "invalid_request",
        ),
        (in_sandbox(&planted), refused(&planted), "invalid_request"),
        (in_sandbox(&link_in), refused(&link_in), "invalid_request"),
        (in_sandbox(&link_out), refused(&link_out), "invalid_request"),
    ] {
        let reply = fixture.internal("PATCH", PATH).body(body).send().await;
        reply.assert_error(400, &error, code);
    }
    assert!(fixture.settings.get().binary_paths.is_empty());
}

#[tokio::test]
async fn only_local_token_holders_skip_approval() {
    let origin = "http://localhost:3000";
    // Without a gateway token, every caller counts as a page.
    for no_auth in [false, true] {
        let fixture = TestGateway::with(TestOptions { no_auth, ..TestOptions::default() }).await;
        let approvals = fixture.gateway.approvals();
        let git = fixture.program("git", "echo git version 2.46.1");
        let set = json!({"git": git}).to_string();
        let token = fixture.gateway.session_for_test(
            origin,
            std::time::Duration::from_secs(60),
            jiff::Timestamp::now(),
        );
        let page = fixture.anonymous("PATCH", PATH).origin(origin).session(&token);
        let page = page.header("Content-Type", "application/json").body(set.clone());
        let over_link = fixture.internal("PATCH", PATH).header("X-Desktop-Source", "cloud-socket").body(set);
        // Neither this policy nor a rule lets the request pass.
        approvals.set_policy(Coverage::default(), Effect::Allow).unwrap();
        for request in [page, over_link] {
            let (reply, pending) = held(&fixture, request.clone()).await;
            assert_eq!(approvals.always_allow(pending.id), Err(crate::ApprovalEachTimeError));
            assert!(approvals.coverage_of(pending.id, crate::Remember::Origin, Effect::Allow).is_none());
            assert_eq!(approvals.pending().len(), 1, "still pending");
            approvals.approve(pending.id).unwrap();
            assert_eq!(within(reply).await.unwrap().status, 200);
            let (reply, pending) = held(&fixture, request).await;
            approvals.deny(pending.id).unwrap();
            assert_eq!(within(reply).await.unwrap().status, 403, "requires approval again");
        }
    }
}
