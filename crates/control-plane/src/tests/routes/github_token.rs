//! Repositories and installation tokens of the code host's GitHub App.

use std::collections::HashMap;

use loopgate_testkit::code_host::{HostFault, HostedApp, LoopbackServer, TestCodeHost};
use loopgate_testkit::git::GitRemotes;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::CodeHostApp;
use crate::tests::{TestApp, TestClient, TestResponse};

const APP: u64 = 7;
// Installation of the App for the owner's organization.
const INSTALLATION: u64 = 70;

/// A control plane with a GitHub App that is installed for two organizations of a simulated code host.
struct CodeHostFixture {
    plane: TestApp,
    host: TestCodeHost,
    _api: LoopbackServer,
}

async fn connected() -> CodeHostFixture {
    let remotes = GitRemotes::temporary().unwrap();
    let host = TestCodeHost::start(&remotes).await.unwrap();
    for name in ["acme/shop", "acme/docs", "acme/api", "evil/shop"] {
        remotes.create(name, &[("README.md", "Hello")]).unwrap();
        host.add_repository(name).unwrap();
    }
    let mut app = HostedApp::new(APP).unwrap();
    let accessible = ["acme/shop", "acme/docs", "acme/api"].map(str::to_owned).to_vec();
    app.installations = HashMap::from([(INSTALLATION, accessible), (71, vec!["evil/shop".to_owned()])]);
    let (api, private_key) = (host.api().await.unwrap(), app.private_key.clone().into());
    host.register(app);
    let plane = TestApp::start_with(|config| {
        config.code_host_app = Some(CodeHostApp {
            id: APP,
            private_key,
            api_url: Some(api.url()),
            installations: HashMap::from([("home".to_owned(), INSTALLATION)]),
        });
    })
    .await;
    CodeHostFixture { plane, host, _api: api }
}

fn repo(full_name: &str, branch: &str) -> Value {
    json!({"fullName": full_name, "branch": branch})
}

async fn create(owner: &TestClient, primary: Value, peers: &[Value]) -> TestResponse {
    owner.post("/loops", json!({"command": "EXECUTE", "repo": primary, "additionalRepos": peers})).await
}

async fn running(plane: &TestApp, peers: &[Value]) -> (String, TestClient) {
    let created = create(&plane.owner().await, repo("acme/shop", "main"), peers).await;
    assert_eq!(created.status, 200, "{}", created.text);
    let id: Uuid = created.data("loopId").as_str().unwrap().parse().unwrap();
    (format!("/loops/{id}/github-token"), plane.runner(id).await)
}

fn peers_of(reply: &TestResponse) -> Vec<&str> {
    assert_eq!(reply.status, 200, "{}", reply.text);
    let peers = reply.data("additionalRepoTokens").as_array().unwrap();
    peers.iter().map(|peer| peer["fullName"].as_str().unwrap()).collect()
}

// CP-35
#[tokio::test]
async fn runner_receives_one_token_per_repository() {
    let CodeHostFixture { plane, host, .. } = &connected().await;
    let (docs, api) = (repo("acme/docs", "main"), repo("acme/api", "main"));
    let (path, runner) = running(plane, &[docs.clone(), api.clone()]).await;
    let all = runner.send("POST", &path, None).await;
    assert_eq!(peers_of(&all), ["acme/docs", "acme/api"]);
    let peers = all.data("additionalRepoTokens");
    let tokens =
        [all.data("token"), &peers[0]["token"], &peers[1]["token"]].map(|token| token.as_str().unwrap());
    assert!(tokens.iter().all(|token| token.starts_with("ghs_")), "{tokens:?}");
    assert!(tokens[0] != tokens[1] && tokens[1] != tokens[2], "one token per repository");
    let minted = host.calls().iter().filter(|call| call.what.ends_with("/access_tokens")).count();
    assert!(minted >= 3, "{minted}");

    assert_eq!(peers_of(&runner.post(&path, json!({"additionalRepos": [docs]})).await), ["acme/docs"]);
    assert!(peers_of(&runner.post(&path, json!({"additionalRepos": []})).await).is_empty());
    for foreign in [repo("acme/docs", "other"), repo("evil/shop", "main")] {
        let refused = runner.post(&path, json!({"additionalRepos": [foreign]})).await;
        assert_eq!(refused.refused(), (403, "Additional repos not authorized for this loop"));
    }
    // A malformed list must be rejected; if it counted as absent, the response would contain tokens for all
    // repositories.
    for wrong in ["{\"additionalRepos\": \"acme/docs\"}", "{additional", "[]"] {
        assert_eq!(runner.send("POST", &path, Some(wrong.to_owned())).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn loop_requires_repositories_and_branches_of_the_installation() {
    let CodeHostFixture { plane, host, .. } = &connected().await;
    let owner = plane.owner().await;
    let accessible = ["acme/api", "acme/docs", "acme/shop"]
        .map(|name| json!({"fullName": name, "branches": null, "source": "installation"}));
    assert_eq!(owner.get("/repositories").await.data("repositories"), &json!(accessible));
    owner.post("/repositories", json!({"fullName": "evil/shop"})).await;
    let foreign = create(&owner, repo("evil/shop", "main"), &[repo("acme/missing", "main")]).await;
    let text =
        "GitHub App installation does not have access to the following repositories: evil/shop, acme/missing";
    assert_eq!(foreign.failure(), (403, text, "REPO_NOT_ALLOWED"));
    let missing = create(&owner, repo("acme/shop", "main"), &[repo("acme/docs", "feature/x")]).await;
    let text = "Branch \"feature/x\" does not exist in repository acme/docs";
    assert_eq!(missing.failure(), (400, text, "PRE_RUN_VALIDATION_FAILED"));
    assert_eq!(create(&owner, repo("acme/shop", ""), &[]).await.status, 200, "the default branch");

    let fault =
        // `times: None` repeats the fault until `heal`.
        HostFault { on: "installation".into(), status: 502, message: "Bad gateway".into(), times: None };
    host.fail(fault);
    let unavailable = create(&owner, repo("acme/shop", "main"), &[]).await;
    let (status, text, code) = unavailable.failure();
    assert_eq!((status, code), (503, "code_host_unavailable"));
    assert!(text.starts_with("The repositories cannot be checked: the code host is unavailable: "), "{text}");
    assert!(text.contains("Bad gateway") && !text.contains("backtrace"), "{text}");
    host.clear_faults();
    assert_eq!(create(&owner, repo("acme/shop", "main"), &[]).await.status, 200);
}

#[tokio::test]
async fn token_requires_an_active_loop_and_an_installation() {
    let CodeHostFixture { plane, .. } = &connected().await;
    let (path, runner) = running(plane, &[]).await;
    let id: Uuid = path.split('/').nth(2).unwrap().parse().unwrap();
    plane.owner().await.post(&format!("/loops/{id}/cancel"), json!({})).await;
    assert_eq!(runner.post(&path, json!({})).await.status, 410);

    let alone = TestApp::start().await;
    let (id, runner) = alone.running("EXECUTE").await;
    let refused = runner.post(&format!("/loops/{id}/github-token"), json!({})).await;
    assert_eq!(refused.failure().2, "code_host_not_connected");
    let (id, runner) = {
        let created = alone.owner().await.post("/loops", json!({"command": "CHAT"})).await;
        let id: Uuid = created.data("loopId").as_str().unwrap().parse().unwrap();
        (id, alone.runner(id).await)
    };
    let refused = runner.post(&format!("/loops/{id}/github-token"), json!({})).await;
    assert_eq!(refused.refused(), (400, "Loop has no linked repository"));
}
