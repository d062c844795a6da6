//! What a loop on a repository would find on this machine, with the real git and a scripted code host.

use std::path::Path;
use std::time::Duration;

use loopgate_api::operation::OperationId;
use loopgate_tools::process::{Command, Limits};
use serde_json::{Value, json};

use crate::tests::test_gateway::{TestGateway, TestOptions};
use crate::{Coverage, Effect};

/// Knows the repository `acme/docs` with the branches `trunk` and `new`; `acme/down` gives no answer.
const CODE_HOST: &str = r#"case "$2" in
  repos/acme/docs) echo trunk ;;
  repos/acme/docs/branches/trunk|repos/acme/shop/branches/new) echo name ;;
  repos/acme/down*) echo 'error connecting to api.github.com' >&2; exit 1 ;;
  *) echo 'gh: Not Found (HTTP 404)' >&2; exit 1 ;;
esac"#;

async fn fixture() -> TestGateway {
    let fixture = TestGateway::with(TestOptions { runtime: true, ..TestOptions::default() }).await;
    fixture.program("git", &format!("PATH='{}' exec git \"$@\"", std::env::var("PATH").unwrap()));
    fixture.program("gh", CODE_HOST);
    let clone = fixture.sandbox().join("shop");
    std::fs::create_dir_all(&clone).unwrap();
    git(&clone, &["init", "-q", "-b", "main"]).await;
    git(&clone, &["commit", "-q", "--allow-empty", "-m", "First"]).await;
    git(&clone, &["remote", "add", "origin", "https://github.com/acme/shop.git"]).await;
    fixture
}

async fn git(directory: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    let command = Command::new("git").args(identity).args(args).directory(directory);
    let output = command.run(Limits::time(Duration::from_secs(20))).await.unwrap();
    assert!(output.status.success(), "git {args:?}: {}", output.stderr_text());
}

async fn preview(fixture: &TestGateway, query: &str) -> Value {
    let reply = fixture.internal("GET", &format!("/api/gateway/git/repository?{query}")).send().await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

#[tokio::test]
async fn clone_is_found_by_name_and_by_path() {
    let fixture = fixture().await;
    let path = fixture.sandbox().join("shop");
    for query in ["repoFullName=acme/shop".to_owned(), format!("repo={}", path.display())] {
        let found = preview(&fixture, &format!("{query}&branch=main")).await;
        assert_eq!(found["availability"], "found", "{found}");
        assert_eq!(found["fullName"], "acme/shop");
        assert_eq!(found["path"], json!(path));
        assert_eq!((&found["defaultBranch"], &found["branchExists"]), (&json!("main"), &json!(true)));
    }
}

#[tokio::test]
async fn branch_that_the_clone_lacks_is_looked_up_at_the_code_host() {
    let fixture = fixture().await;
    let exists = async |branch: &str| {
        preview(&fixture, &format!("repoFullName=acme/shop&branch={branch}")).await["branchExists"].clone()
    };
    assert_eq!(exists("new").await, true);
    assert_eq!(exists("gone").await, false);
    let without = preview(&fixture, "repoFullName=acme/shop").await;
    assert!(without.get("branchExists").is_none());
}

#[tokio::test]
async fn repository_without_a_clone_is_looked_up_at_the_code_host() {
    let fixture = fixture().await;
    let cloneable = preview(&fixture, "repoFullName=acme/docs&branch=trunk").await;
    assert_eq!(cloneable["availability"], "cloneable");
    assert_eq!(cloneable["path"], json!(fixture.sandbox().join("docs")));
    assert_eq!((&cloneable["defaultBranch"], &cloneable["branchExists"]), (&json!("trunk"), &json!(true)));
    assert!(!fixture.sandbox().join("docs").exists(), "nothing is cloned");
    for (name, reason) in [("acme/gone", "no access"), ("acme/down", "gave no answer")] {
        let refused = preview(&fixture, &format!("repoFullName={name}")).await;
        assert_eq!(refused["availability"], "unavailable");
        assert!(refused["reason"].as_str().unwrap().contains(reason), "{refused}");
        assert!(refused.get("start").is_none());
    }
}

#[tokio::test]
async fn directory_without_a_name_at_the_code_host_is_unavailable() {
    let fixture = fixture().await;
    for name in ["local", "plain"] {
        std::fs::create_dir_all(fixture.sandbox().join(name)).unwrap();
    }
    git(&fixture.sandbox().join("local"), &["init", "-q"]).await;
    for (name, reason) in [("local", "no remote"), ("plain", "not a clone")] {
        let refused = preview(&fixture, &format!("repo={}", fixture.sandbox().join(name).display())).await;
        assert_eq!(refused["availability"], "unavailable");
        assert!(refused["reason"].as_str().unwrap().contains(reason), "{refused}");
    }
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let fixture = fixture().await;
    for (query, status) in
        [("", 400), ("repoFullName=a", 400), ("repoFullName=a/b&branch=--x", 400), ("repo=/etc", 403)]
    {
        let reply = fixture.internal("GET", &format!("/api/gateway/git/repository?{query}")).send().await;
        assert_eq!(reply.status, status, "{query}: {}", reply.text());
    }
}

#[tokio::test]
async fn policy_for_loops_is_evaluated_without_holding_anything() {
    let fixture = fixture().await;
    let approvals = fixture.gateway.approvals();
    let start = async || preview(&fixture, "repoFullName=acme/shop").await["start"].clone();
    assert_eq!(start().await["approval"], "none");
    let coverage = |repository: Option<String>| Coverage {
        operation_id: Some(OperationId::OrchestratorLoop),
        repository,
        ..Coverage::default()
    };
    approvals.set_policy(coverage(None), Effect::Ask).unwrap();
    let held = start().await;
    assert_eq!(held["approval"], "required");
    assert_eq!(held["reason"], "a policy requires approval for orchestrator_loop requests");
    let shop = fixture.sandbox().join("shop").to_string_lossy().into_owned();
    approvals.set_policy(coverage(Some(shop)), Effect::Deny).unwrap();
    assert_eq!(start().await["approval"], "denied");
    assert!(approvals.pending().is_empty());
}
