//! The organization's list of repositories that loops may use. Repositories of a GitHub App installation are
//! tested in `github_token`.

use loopgate_api::ids::RepoFullName;
use serde_json::{Value, json};

use crate::MachineRepositories;
use crate::tests::{TestApp, TestClient};

async fn listed(client: &TestClient) -> Value {
    let reply = client.get("/repositories").await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.data("repositories").clone()
}

fn plan_over(full_name: &str) -> Value {
    json!({"command": "PLAN", "repo": {"fullName": full_name, "branch": "main"}})
}

#[tokio::test]
async fn repositories_are_forbidden_until_an_administrator_adds_them() {
    let plane = TestApp::start_with(|config| config.machine_repositories = None).await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    assert_eq!(listed(&member).await, json!([]));
    let closed = member.post("/loops", plan_over("Acme/Shop")).await;
    let text = "Repositories not allowed for loops (an administrator can add them): Acme/Shop";
    assert_eq!(closed.failure(), (403, text, "REPO_NOT_ALLOWED"));
    let without = member.post("/loops", json!({"command": "CHAT", "prompt": "Hello"})).await;
    assert_eq!(without.status, 200, "{}", without.text);

    assert_eq!(member.post("/repositories", json!({"fullName": "acme/shop"})).await.status, 403);
    let opened = owner.post("/repositories", json!({"fullName": "Acme/Shop"})).await;
    let entry = json!({"fullName": "acme/shop", "branches": null, "source": "list"});
    assert_eq!((opened.status.as_u16(), &opened.json["data"]), (200, &entry));
    assert_eq!(listed(&member).await, json!([entry]));
    assert_eq!(member.post("/loops", plan_over("acme/SHOP")).await.status, 200);
    let stranger = plane.stranger().await;
    assert_eq!(
        stranger.post("/loops", plan_over("acme/shop")).await.status,
        403,
        "the list is per organization"
    );

    assert_eq!(stranger.delete("/repositories/acme/shop").await.refused(), (404, "Repository not found"));
    assert_eq!(member.delete("/repositories/acme/shop").await.status, 403);
    assert_eq!(owner.delete("/repositories/ACME/shop").await.json["data"], json!({"deleted": true}));
    assert_eq!(owner.delete("/repositories/acme/shop").await.refused(), (404, "Repository not found"));
    assert_eq!(member.post("/loops", plan_over("acme/shop")).await.status, 403);
    let latest = async |action: &str| {
        let log = owner.get(&format!("/audit-log?limit=1&action={action}")).await;
        log.data("entries")[0]["subject"].clone()
    };
    assert_eq!(latest("repository_forbidden").await, "ACME/shop");
    assert_eq!(latest("repository_allowed").await, "Acme/Shop");
}

#[tokio::test]
async fn invalid_repository_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    for (body, error) in [
        (json!({"fullName": "shop"}), "fullName: Must be in 'owner/repo' format"),
        (
            json!({"fullName": "acme/x", "branches": ["main", "--all"]}),
            "branches[1]: Branch name contains invalid characters",
        ),
        (
            json!({"fullName": "acme/x", "branches": vec!["main"; 1001]}),
            "branches: must have at most 1000 item(s)",
        ),
    ] {
        assert_eq!(owner.post("/repositories", body).await.refused(), (400, error));
    }
}

#[tokio::test]
async fn repositories_of_the_machine_are_allowed() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let opened = listed(&owner).await;
    let opened = opened.as_array().unwrap();
    assert!(opened.iter().all(|entry| entry["source"] == "machine"), "{opened:?}");
    assert!(opened.contains(&json!({"fullName": "acme/shop", "branches": null, "source": "machine"})));
    // An entry of the list overrides the machine's entry, because it may restrict the branches.
    owner.post("/repositories", json!({"fullName": "acme/shop", "branches": ["main"]})).await;
    let listed = listed(&owner).await;
    let shops: Vec<&Value> =
        listed.as_array().unwrap().iter().filter(|entry| entry["fullName"] == "acme/shop").collect();
    assert_eq!(shops, [&json!({"fullName": "acme/shop", "branches": ["main"], "source": "list"})]);
    assert_eq!(owner.post("/loops", plan_over("acme/unknown")).await.status, 403);
}

#[derive(Debug)]
struct Unreadable;

impl MachineRepositories for Unreadable {
    fn full_names(&self) -> Result<Vec<RepoFullName>, Box<dyn std::error::Error + Send + Sync>> {
        Err("repos.json is malformed".into())
    }
}

#[tokio::test]
async fn loop_is_rejected_when_the_machines_repositories_are_unreadable() {
    let machine = std::sync::Arc::new(Unreadable);
    let plane = TestApp::start_with(|config| config.machine_repositories = Some(machine)).await;
    let refused = plane.owner().await.post("/loops", plan_over("acme/shop")).await;
    let text = "The repositories of this machine cannot be read: repos.json is malformed";
    assert_eq!(refused.failure(), (503, text, "repositories_unavailable"));
}
