//! The changes of a loop in its worktree, with the real git.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::ids::TicketId;
use loopgate_runtime::PlanConfirmation;
use loopgate_tools::process::{Command, Limits};
use serde_json::{Value, json};

use crate::tests::test_gateway::{TestGateway, TestOptions, TestResponse};

const LOOP: &str = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";
const PATH: &str = "/api/gateway/git/loop-changes/0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";

/// A loop that works in a worktree with one commit.
struct LoopFixture {
    gateway: TestGateway,
    worktree: PathBuf,
}

impl LoopFixture {
    async fn new() -> Self {
        let gateway = TestGateway::with(TestOptions { runtime: true, ..TestOptions::default() }).await;
        gateway.program("git", &format!("PATH='{}' exec git \"$@\"", std::env::var("PATH").unwrap()));
        gateway.clone_of("shop", "https://github.com/acme/shop.git");
        let sandbox = loopgate_home::Sandbox::new(gateway.settings.clone(), &gateway.data_dir());
        let confirmation = PlanConfirmation {
            repository: sandbox.check(gateway.sandbox().join("shop")).unwrap(),
            ticket: TicketId::new("T-9"),
            loop_id: Some(LOOP.parse().unwrap()),
            artifact_id: None,
            artifact_slug: None,
            issue_id: None,
            ticket_title: None,
            runs: false,
        };
        let worktree = gateway.runtime.as_ref().unwrap().plan_loops.confirm(confirmation).await.unwrap();
        std::fs::create_dir_all(&worktree).unwrap();
        git(&worktree, &["init", "-q", "-b", "main"]).await;
        std::fs::write(worktree.join("README.md"), "# Shop\n").unwrap();
        git(&worktree, &["add", "-A"]).await;
        git(&worktree, &["commit", "-q", "-m", "First"]).await;
        Self { gateway, worktree }
    }

    async fn list(&self, query: &str) -> TestResponse {
        self.gateway.internal("GET", &format!("{PATH}{query}")).send().await
    }

    async fn patches(&self, body: Value) -> TestResponse {
        self.gateway.internal("POST", PATH).body(body.to_string()).send().await
    }
}

async fn git(directory: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    let command = Command::new("git").args(identity).args(args).directory(directory);
    let output = command.run(Limits::time(Duration::from_secs(20))).await.unwrap();
    assert!(output.status.success(), "git {args:?}: {}", output.stderr_text());
    output.stdout_text().trim().to_owned()
}

#[tokio::test]
async fn changes_are_listed_and_their_patches_returned() {
    let fixture = LoopFixture::new().await;
    let head = git(&fixture.worktree, &["rev-parse", "HEAD"]).await;
    std::fs::write(fixture.worktree.join("README.md"), "# The shop\n").unwrap();
    std::fs::write(fixture.worktree.join("new.ts"), "1\n").unwrap();
    // The record of this loop names no base: everything in the worktree is listed.
    let list = fixture.list("").await;
    assert_eq!(list.status, 200, "{}", list.text());
    let repository = &list.json()["repositories"][0];
    assert_eq!((&repository["name"], &repository["head"]), (&json!("shop-T-9"), &json!(head)));
    assert_eq!(repository["base"], Value::Null);
    assert_eq!(repository["commits"][0]["subject"], "First");
    assert_eq!(repository["fileCount"], 2);

    let since = fixture.list(&format!("?repository=shop-T-9&since={head}")).await.json();
    let files = since["repositories"][0]["files"].as_array().unwrap();
    assert_eq!((&files[0]["path"], &files[0]["status"]), (&json!("README.md"), &json!("modified")));
    assert_eq!((&files[1]["path"], &files[1]["status"]), (&json!("new.ts"), &json!("added")));
    let body =
        json!({"repository": "shop-T-9", "since": head, "paths": ["new.ts", "README.md", "unchanged"]});
    let patches = fixture.patches(body).await.json();
    assert_eq!(patches["remaining"], json!([]));
    let paths: Vec<_> = patches["patches"].as_array().unwrap().iter().map(|patch| &patch["path"]).collect();
    assert_eq!(paths, ["README.md", "new.ts"]);
    assert!(patches["patches"][0]["patch"].as_str().unwrap().ends_with("-# Shop\n+# The shop\n"));
}

#[tokio::test]
async fn lines_are_identified_and_found_again_after_they_moved() {
    let fixture = LoopFixture::new().await;
    let file = fixture.worktree.join("cart.rs");
    std::fs::write(&file, "fn total() {\n    sum()\n}\n").unwrap();
    git(&fixture.worktree, &["add", "-A"]).await;
    git(&fixture.worktree, &["commit", "-q", "-m", "Cart"]).await;
    let head = git(&fixture.worktree, &["rev-parse", "HEAD"]).await;
    std::fs::write(&file, "fn total() {\n    limit(sum())\n}\n").unwrap();
    let locate = async |lines: Value| {
        let body = json!({"repository": "shop-T-9", "since": head, "lines": lines});
        fixture.patches(body).await.json()["lines"].clone()
    };
    let line = |side: &str, line: u64| json!({"path": "cart.rs", "side": side, "line": line});
    let found = locate(json!([line("new", 2), line("old", 2), line("new", 9)])).await;
    assert_eq!(found[0]["anchor"]["text"], "limit(sum())");
    assert_eq!((&found[1]["anchor"]["text"], &found[1]["line"]), (&json!("sum()"), &json!(2)));
    assert_eq!(found[2], json!({"line": 9, "outdated": false}), "there is no such line");

    std::fs::write(&file, "use std::fmt;\n\nfn total() {\n    limit(sum())\n}\n").unwrap();
    let anchored = |side: &str, number: u64, anchor: &Value| {
        let mut line = line(side, number);
        line["anchor"] = anchor.clone();
        line
    };
    let (new, old) = (&found[0]["anchor"], &found[1]["anchor"]);
    let moved = locate(json!([anchored("new", 2, new), anchored("old", 2, old)])).await;
    assert_eq!(moved, json!([{"line": 4, "outdated": false}, {"line": 2, "outdated": false}]));
    std::fs::write(&file, "fn none() {}\n").unwrap();
    assert_eq!(locate(json!([anchored("new", 4, new)])).await, json!([{"line": 4, "outdated": true}]));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(locate(json!([anchored("new", 4, new)])).await, json!([{"line": 4, "outdated": true}]));
    let outside = json!({"path": "../secret", "side": "new", "line": 1});
    assert_eq!(locate(json!([outside])).await, json!([{"line": 1, "outdated": false}]));
}

#[tokio::test]
async fn removed_worktree_is_listed_without_files() {
    let fixture = LoopFixture::new().await;
    std::fs::remove_dir_all(&fixture.worktree).unwrap();
    let list = fixture.list("").await.json();
    assert_eq!(list["repositories"][0]["worktree"], Value::Null);
    assert_eq!(list["repositories"][0]["files"], json!([]));
    let reply = fixture.patches(json!({"repository": "shop-T-9", "paths": ["a"]})).await;
    reply.assert_error(404, "This machine has no worktree of the loop", "not_found");
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let fixture = LoopFixture::new().await;
    let hash = "since must be a full commit hash";
    for revision in ["HEAD", "--output=x", "main", "abc"] {
        let query = format!("?repository=shop-T-9&since={revision}");
        fixture.list(&query).await.assert_error(400, hash, "invalid_request");
        let body = json!({"repository": "shop-T-9", "since": revision, "paths": ["a"]});
        fixture.patches(body).await.assert_error(400, hash, "invalid_request");
    }
    let missing = "repository and paths are required";
    fixture.patches(json!({"paths": ["a"]})).await.assert_error(400, missing, "missing_field");
    fixture.patches(json!({"repository": "x", "paths": []})).await.assert_error(
        400,
        missing,
        "missing_field",
    );
    let many = json!({"repository": "x", "paths": vec!["a"; 41]});
    fixture.patches(many).await.assert_error(400, "paths must be at most 40 file names", "invalid_request");
    let none = "This machine has no worktree of the loop";
    fixture.patches(json!({"repository": "x", "paths": ["a"]})).await.assert_error(404, none, "not_found");
    for id in ["nope", "0190a5f3-c8b9-7f00-a1b2-000000000000"] {
        let reply =
            fixture.gateway.internal("GET", &format!("/api/gateway/git/loop-changes/{id}")).send().await;
        reply.assert_error(404, none, "not_found");
    }
}
