//! Agents: versions, rosters that bootstrap loops produce, and the agents that a loop receives.

use sea_orm::prelude::*;
use serde_json::{Value, json};

use crate::store::entity::{agent_loop, repository_config};
use crate::tests::plane::shop;
use crate::tests::{TestApp, TestClient};

const PAYMENTS: &str = "/agents/payments-domain";

async fn create(client: &TestClient, body: Value) -> Value {
    let created = client.post("/agents", body).await;
    assert_eq!(created.status, 200, "{}", created.text);
    created.json["data"].clone()
}

async fn payments(client: &TestClient) -> Value {
    create(client, json!({"name": "Payments", "role": "payments-domain", "prompt": "p1"})).await
}

async fn patch(client: &TestClient, path: &str, body: Value) -> crate::tests::TestResponse {
    client.send("PATCH", path, Some(body.to_string())).await
}

/// Returns the numbers and change notes of an agent's versions, newest first.
async fn notes(client: &TestClient, path: &str) -> Vec<(i64, String)> {
    let reply = client.get(&format!("{path}/versions")).await;
    let versions = reply.data("versions").as_array().unwrap().clone();
    let note = |version: &Value| {
        (version["version"].as_i64().unwrap(), version["changeNote"].as_str().unwrap_or_default().to_owned())
    };
    versions.iter().map(note).collect()
}

fn roster(agents: &[(&str, &str)]) -> Value {
    let agents: Vec<Value> = agents
        .iter()
        .map(|(role, prompt)| json!({"name": format!("The {role}"), "role": role, "prompt": prompt}))
        .collect();
    json!({"agents": agents, "bootstrapRunId": "run-1", "sourceRepo": "acme/shop"})
}

/// CP-01, CP-02, CP-03, CP-04.
#[tokio::test]
async fn role_is_unique_per_repository_and_slug_per_organization() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let created = payments(&owner).await;
    assert_eq!(
        (&created["slug"], &created["currentVersion"], &created["enabled"], &created["sourceRepo"]),
        (&json!("payments-domain"), &json!(1), &json!(true), &json!(""))
    );
    assert_eq!(created["createdBy"]["firstName"], "Ada");
    assert_eq!(notes(&owner, PAYMENTS).await, [(1, "Initial version".to_owned())]);

    // Roles are normalized to slugs before they are compared.
    for role in ["payments-domain", "Payments Domain", "PAYMENTS_DOMAIN"] {
        let again = owner.post("/agents", json!({"name": "P", "role": role, "prompt": "p"})).await;
        let expected = (409, "An agent with this role already exists in this scope");
        assert_eq!(again.refused(), expected, "{role}");
    }
    let body = json!({"name": "P", "role": "payments-domain", "prompt": "p", "sourceRepo": "acme/shop",
        "description": "Knows money", "changeNote": "Written by hand"});
    let second = create(&owner, body).await;
    assert_eq!(second["slug"], "payments-domain-2");
    assert_eq!(notes(&owner, "/agents/payments-domain-2").await, [(1, "Written by hand".to_owned())]);

    let member = plane.member("ben@example.org").await;
    assert_eq!(member.post("/agents", json!({"name": 7})).await.refused(), (403, "Forbidden"));
    assert_eq!(patch(&member, PAYMENTS, json!({"enabled": false})).await.refused(), (403, "Forbidden"));
    assert_eq!(member.delete(PAYMENTS).await.refused(), (403, "Forbidden"));
    assert_eq!(member.post("/agents/bulk-ingest", json!({})).await.refused(), (403, "Forbidden"));
    assert_eq!(member.get(PAYMENTS).await.data("prompt"), "p1");

    let odd = owner
        .post("/agents", json!({"name": "", "role": "!?", "prompt": "", "description": "d".repeat(501)}))
        .await;
    assert_eq!(odd.status, 400);
    for part in [
        "name: must have at least 1",
        "role: must have a letter or a digit",
        "prompt: must",
        "description: must",
    ] {
        assert!(odd.text.contains(part), "{part}: {}", odd.text);
    }
}

/// CP-05, CP-06, CP-07, CP-08, CP-09.
#[tokio::test]
async fn change_of_name_or_prompt_creates_a_version_with_a_note() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    payments(&owner).await;
    for body in [json!({"prompt": "p2"}), json!({"name": "N", "changeNote": "   "})] {
        let (status, error) = {
            let reply = patch(&owner, PAYMENTS, body).await;
            (reply.status, reply.text)
        };
        assert_eq!(status, 400);
        assert!(error.contains("changeNote required when updating prompt or name"), "{error}");
    }
    let body = json!({"prompt": "p2", "changeNote": "tighten"});
    assert_eq!(patch(&owner, PAYMENTS, body).await.data("currentVersion"), 2);
    assert_eq!(owner.get(&format!("{PAYMENTS}/versions/1")).await.data("prompt"), "p1");
    assert_eq!(owner.get(&format!("{PAYMENTS}/versions/2")).await.data("changeNote"), "tighten");

    let described = patch(&owner, PAYMENTS, json!({"description": "x", "enabled": false})).await;
    assert_eq!((described.data("currentVersion"), described.data("description")), (&json!(2), &json!("x")));
    assert_eq!(patch(&owner, PAYMENTS, json!({"description": ""})).await.data("description"), &Value::Null);
    let same = patch(&owner, PAYMENTS, json!({"prompt": "p2", "changeNote": "again"})).await;
    assert_eq!(same.data("currentVersion"), 2);
    // Role, slug and repository identify an agent and are immutable; the request ignores them.
    let fixed = patch(&owner, PAYMENTS, json!({"role": "x", "slug": "x", "sourceRepo": "acme/shop"})).await;
    assert_eq!((fixed.data("role"), fixed.data("sourceRepo")), (&json!("payments-domain"), &json!("")));
    let expected = [(2, "tighten".to_owned()), (1, "Initial version".to_owned())];
    assert_eq!(notes(&owner, PAYMENTS).await, expected);
}

/// CP-10, CP-11, CP-12, CP-19.
#[tokio::test]
async fn unknown_agents_and_versions_are_not_found() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let id = payments(&owner).await["id"].as_str().unwrap().to_owned();
    assert_eq!(owner.get(&format!("/agents/{id}")).await.data("slug"), "payments-domain");
    for version in ["0", "00", "abc", "-1", "1.0", "%20"] {
        let reply = owner.get(&format!("{PAYMENTS}/versions/{version}")).await;
        assert_eq!(reply.refused(), (400, "Version must be a positive integer"), "{version}");
    }
    for version in ["99", "99999999999999999999999"] {
        let reply = owner.get(&format!("{PAYMENTS}/versions/{version}")).await;
        assert_eq!(reply.refused(), (404, "Agent version not found"), "{version}");
    }
    let stranger = plane.stranger().await;
    for path in [format!("/agents/{id}"), PAYMENTS.to_owned(), format!("/agents/{id}/versions")] {
        assert_eq!(stranger.get(&path).await.refused(), (404, "Agent not found"), "{path}");
    }
    assert_eq!(stranger.delete(PAYMENTS).await.refused(), (404, "Agent not found"));
    assert_eq!(owner.delete(PAYMENTS).await.data("deleted"), true);
    assert_eq!(owner.delete(PAYMENTS).await.refused(), (404, "Agent not found"));
    assert_eq!(owner.get(&format!("/agents/{id}/versions/1")).await.refused(), (404, "Agent not found"));
}

#[tokio::test]
async fn agents_are_filtered_and_paginated() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    payments(&owner).await;
    create(
        &owner,
        json!({"name": "Search 100%", "role": "search", "prompt": "p", "sourceRepo": "acme/shop"}),
    )
    .await;
    patch(&owner, PAYMENTS, json!({"enabled": false})).await;
    let slugs = async |query: &str| {
        let reply = owner.get(&format!("/agents{query}")).await;
        let agents =
            reply.data("agents").as_array().unwrap_or_else(|| panic!("{query}: {}", reply.text)).clone();
        let slugs: Vec<String> =
            agents.iter().map(|agent| agent["slug"].as_str().unwrap().to_owned()).collect();
        (slugs, reply.data("total").as_u64().unwrap())
    };
    let both = vec!["search".to_owned(), "payments-domain".to_owned()];
    assert_eq!(slugs("").await, (both.clone(), 2));
    assert_eq!(slugs("?enabled=true").await.0, both[..1]);
    assert_eq!(slugs("?sourceRepo=").await.0, both[1..]);
    // `%` and `_` in a search are literal characters, not LIKE wildcards.
    assert_eq!(slugs("?sourceRepo=acme/shop&enabled=false").await.0, Vec::<String>::new());
    assert_eq!(slugs("?search=PAYMENTS").await.0, both[1..]);
    assert_eq!(slugs("?search=0%25").await.0, both[..1]);
    assert_eq!(slugs("?search=s_arch").await.0, Vec::<String>::new());
    assert_eq!(slugs("?limit=1").await, (both[..1].to_vec(), 2));
    assert_eq!(slugs("?limit=1&offset=1").await, (both[1..].to_vec(), 2));
    for query in ["?enabled=maybe".to_owned(), "?limit=0".to_owned(), format!("?search={}", "x".repeat(201))]
    {
        assert_eq!(owner.get(&format!("/agents{query}")).await.status, 400, "{query}");
    }
    assert_eq!(plane.stranger().await.get("/agents").await.data("total"), 0);
}

/// CP-13, CP-14, CP-15, CP-16, CP-17, PR-38, PR-39.
#[tokio::test]
async fn ingested_roster_updates_only_changed_agents() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let ingest = async |body: Value| owner.post("/agents/bulk-ingest", body).await;
    let counts = |reply: &crate::tests::TestResponse| {
        let count = |name: &str| reply.data(name).as_u64().unwrap_or_else(|| panic!("{}", reply.text));
        (count("created"), count("updated"), count("unchanged"))
    };
    let three = [("cart", "c"), ("tax", "t"), ("search", "s")];
    assert_eq!(counts(&ingest(roster(&three)).await), (3, 0, 0));
    assert_eq!(notes(&owner, "/agents/tax").await, [(1, "Initial version from bootstrap".to_owned())]);
    patch(&owner, "/agents/tax", json!({"enabled": false})).await;
    assert_eq!(counts(&ingest(roster(&three)).await), (0, 0, 3));
    let changed = ingest(roster(&[("cart", "c"), ("Tax", "t2")])).await;
    assert_eq!(counts(&changed), (0, 1, 1));
    let statuses: Vec<&Value> =
        changed.data("agents").as_array().unwrap().iter().map(|agent| &agent["status"]).collect();
    assert_eq!(statuses, ["unchanged", "updated"]);
    let expected =
        [(2, "Re-generated by bootstrap".to_owned()), (1, "Initial version from bootstrap".to_owned())];
    assert_eq!(notes(&owner, "/agents/tax").await, expected);
    assert_eq!(notes(&owner, "/agents/cart").await.len(), 1);
    let tax = owner.get("/agents/tax").await;
    assert_eq!((tax.data("enabled"), tax.data("role")), (&json!(false), &json!("tax")));

    let twice = ingest(roster(&[("twice", "first"), ("other", "o"), ("Twice", "second")])).await;
    assert_eq!(counts(&twice), (2, 0, 0));
    assert_eq!(twice.data("agents")[0]["slug"], "twice");
    assert_eq!(owner.get("/agents/twice").await.data("prompt"), "second");

    let many: Vec<(String, &str)> = (0..101).map(|number| (format!("r{number}"), "p")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(role, prompt)| (role.as_str(), *prompt)).collect();
    for body in [roster(&many), roster(&[]), roster(&[("!", "p")])] {
        assert_eq!(ingest(body).await.status, 400);
    }
    // A roster is stored in one transaction: the second agent is invalid, so the first is not stored either.
    let wrong = ingest(roster(&[("new", "p"), ("newer", "")])).await;
    assert!(wrong.text.contains("agents.1.prompt: must have at least 1"), "{}", wrong.text);
    assert_eq!(owner.get("/agents/new").await.status, 404);
}

/// CP-18.
#[tokio::test]
async fn concurrent_rosters_create_each_agent_once() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let agents = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")];
    let first = roster(&agents);
    let (one, two) = tokio::join!(
        owner.post("/agents/bulk-ingest", first.clone()),
        owner.post("/agents/bulk-ingest", first.clone())
    );
    assert_eq!((one.status.as_u16(), two.status.as_u16()), (200, 200), "{} {}", one.text, two.text);
    let second = roster(&agents.map(|(role, _)| (role, "new")));
    let replies =
        futures_util::future::join_all((0..4).map(|_| owner.post("/agents/bulk-ingest", second.clone())))
            .await;
    let updated: u64 = replies.iter().map(|reply| reply.data("updated").as_u64().unwrap()).sum();
    assert_eq!(updated, 4);
    assert_eq!(owner.get("/agents").await.data("total"), 4);
    for (role, _) in agents {
        let numbers: Vec<i64> =
            notes(&owner, &format!("/agents/{role}")).await.into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [2, 1], "{role}");
    }
}

#[tokio::test]
async fn concurrent_changes_create_consecutive_versions() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    payments(&owner).await;
    let changes = (0..6).map(|number| {
        patch(&owner, PAYMENTS, json!({"prompt": format!("p-{number}"), "changeNote": format!("n{number}")}))
    });
    let replies = futures_util::future::join_all(changes).await;
    let accepted = replies.iter().filter(|reply| reply.status == 200).count();
    let refused = replies.iter().filter(|reply| reply.status == 409);
    for reply in refused.clone() {
        assert_eq!(reply.refused().1, "Concurrent update conflict — please retry");
    }
    // No change may be lost or share a version number: each accepted change is one version after the first.
    assert_eq!(accepted + refused.count(), 6);
    let numbers: Vec<i64> = notes(&owner, PAYMENTS).await.into_iter().map(|(number, _)| number).collect();
    let expected: Vec<i64> = (1..=i64::try_from(accepted).unwrap() + 1).rev().collect();
    assert_eq!(numbers, expected);
}

#[tokio::test]
async fn launch_contains_agents_and_gates_of_its_repositories() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    payments(&owner).await;
    let mut own = roster(&[("cart", "c"), ("off", "o")]);
    // Repository names are compared case-insensitively, as the code host does.
    own["criticGates"] = json!({"required": ["security"]});
    own["sourceRepo"] = json!("Acme/Shop");
    owner.post("/agents/bulk-ingest", own).await;
    let mut foreign = roster(&[("elsewhere", "e")]);
    foreign["sourceRepo"] = json!("acme/other");
    owner.post("/agents/bulk-ingest", foreign).await;
    patch(&owner, "/agents/off", json!({"enabled": false})).await;

    let body = json!({"title": "Cart", "type": "FEATURE", "content": "People need a cart.", "repo": shop()});
    owner.post("/documents", body).await;
    let run = owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    assert_eq!(run.status, 200, "{}", run.text);
    let command = desktop.accept().await;
    assert_eq!(
        command["body"]["agents"],
        json!([{"slug": "cart", "name": "The cart", "prompt": "c"},
            {"slug": "payments-domain", "name": "Payments", "prompt": "p1"}])
    );
    let gates = json!([{"repoFullName": "Acme/Shop", "criticGates": {"required": ["security"]}}]);
    assert_eq!(command["body"]["repoConfigs"], gates);
}

#[tokio::test]
async fn completed_bootstrap_ingests_its_roster() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let agent =
        |role: &str| json!({"name": role, "slug": role, "role": role, "description": "", "prompt": "p"});
    let entry = |name: &str, success: bool, agents: Value| {
        json!({"fullName": name, "branch": "main", "success": success, "agents": agents,
            "criticGates": {"required": []}, "metadata": null, "duration": 0})
    };
    let order =
        json!({"repos": [{"fullName": "acme/shop"}, {"fullName": "acme/odd"}, {"fullName": "acme/failed"}]});
    let complete = async |result: Value| {
        let body = json!({"command": "BOOTSTRAP", "prompt": order.to_string()});
        let created = owner.post("/loops", body).await;
        assert_eq!(created.status, 200, "{}", created.text);
        let id = created.data("loopId").as_str().unwrap().parse().unwrap();
        let runner = plane.runner(id).await;
        let upload = json!({"artifacts": {"bootstrapResult": result}});
        assert_eq!(runner.post(&format!("/loops/{id}/upload-artifacts"), upload).await.status, 200);
        runner.event(id, json!({"type": "started"})).await;
        let end =
            json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 1, "output": 1}});
        assert_eq!(runner.event(id, end).await.status, 200);
        assert_eq!(owner.get(&format!("/loops/{id}")).await.data("status"), "COMPLETED");
        id.to_string()
    };
    let repos = json!([
        entry("acme/shop", true, json!([agent("cart"), agent("tax")])),
        // Skipped without failing the loop: a repository with an invalid role, a failed repository, and a
        // repository that the loop was not started for.
        entry("acme/odd", true, json!([agent("fine"), agent("!!!")])),
        entry("acme/failed", false, json!([agent("half")])),
        entry("acme/foreign", true, json!([agent("spy")])),
    ]);
    let id = complete(json!({"repos": repos, "totalDuration": 0})).await;
    let listed = owner.get("/agents").await;
    assert_eq!(listed.data("total"), 2, "{}", listed.text);
    let cart = owner.get("/agents/cart").await;
    assert_eq!((cart.data("bootstrapRunId"), cart.data("sourceRepo")), (&json!(id), &json!("acme/shop")));
    complete(json!({"repos": repos, "totalDuration": 0})).await;
    assert_eq!(owner.get("/agents/cart").await.data("currentVersion"), 1);
    complete(json!("rubbish")).await;
    assert_eq!(owner.get("/agents").await.data("total"), 2);
}

/// Completes a BOOTSTRAP loop of a user for acme/shop, which uploads one agent.
async fn bootstrapped(plane: &TestApp, user: &TestClient, target: Option<Uuid>, role: &str, prompt: &str) {
    let order = json!({"repos": [{"fullName": "acme/shop"}]}).to_string();
    let created = user.post("/loops", json!({"command": "BOOTSTRAP", "prompt": order})).await;
    let id: Uuid = created.data("loopId").as_str().unwrap().parse().unwrap();
    if let Some(target) = target {
        plane.set_column(id, agent_loop::Column::ComputeTargetId, target).await;
    }
    let runner = plane.runner(id).await;
    let agent = json!({"name": role, "slug": role, "role": role, "description": "", "prompt": prompt});
    let result = json!({"repos": [{"fullName": "acme/shop", "branch": "main", "success": true, "agents": [agent],
        "criticGates": {"required": [role]}, "metadata": null, "duration": 0}], "totalDuration": 0});
    let upload = json!({"artifacts": {"bootstrapResult": result}});
    assert_eq!(runner.post(&format!("/loops/{id}/upload-artifacts"), upload).await.status, 200);
    runner.event(id, json!({"type": "started"})).await;
    let end =
        json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 1, "output": 1}});
    assert_eq!(runner.event(id, end).await.status, 200);
}

#[tokio::test]
async fn roster_of_a_member_is_a_proposal_until_an_administrator_accepts_it() {
    let plane = TestApp::start().await;
    let (admin, member) = (plane.owner().await, plane.member("ben@example.org").await);
    bootstrapped(&plane, &admin, None, "tax", "old").await;
    bootstrapped(&plane, &member, None, "tax", "evil").await;
    bootstrapped(&plane, &member, None, "cart", "c").await;
    assert_eq!(admin.get("/agents").await.data("total"), 1);
    assert_eq!(admin.get("/agents/tax").await.data("prompt"), "old");
    let gates = repository_config::Entity::find().one(plane.app.store.reader()).await.unwrap().unwrap();
    assert_eq!(gates.critic_gates, json!({"required": ["tax"]}), "the gates belong to the roster");

    let listed = admin.get("/agent-proposals").await;
    let proposals = listed.data("proposals").as_array().unwrap().clone();
    let shown: Vec<_> = proposals.iter().map(|proposal| &proposal["agents"][0]["prompt"]).collect();
    assert_eq!(shown, ["c", "evil"]);
    assert_eq!(
        (&proposals[0]["proposedBy"], &proposals[0]["sourceRepo"]),
        (&json!("Ben"), &json!("acme/shop"))
    );
    let path = |index: usize, verb: &str| {
        format!("/agent-proposals/{}/{verb}", proposals[index]["id"].as_str().unwrap())
    };
    assert_eq!(member.post(&path(0, "accept"), json!({})).await.status, 403);
    assert_eq!(plane.stranger().await.post(&path(0, "accept"), json!({})).await.status, 404);
    let accepted = admin.post(&path(0, "accept"), json!({})).await;
    assert_eq!(accepted.data("created"), 1, "{}", accepted.text);
    assert_eq!(admin.post(&path(1, "reject"), json!({})).await.data("rejected"), true);
    assert_eq!(admin.get("/agents/tax").await.data("prompt"), "old");
    assert_eq!(admin.get("/agents/cart").await.data("prompt"), "c");
    for (index, verb) in [(0, "accept"), (0, "reject"), (1, "accept")] {
        let again = admin.post(&path(index, verb), json!({})).await;
        assert_eq!(again.failure().2, "proposal_decided");
    }
    assert_eq!(admin.get("/agent-proposals").await.data("proposals"), &json!([]));
    let log = admin.get("/audit-log?limit=200").await;
    let count = |action: &str| {
        log.data("entries").as_array().unwrap().iter().filter(|entry| entry["action"] == action).count()
    };
    let actions = ["agents_proposed", "agent_proposal_accepted", "agent_proposal_rejected", "agent_created"];
    assert_eq!(actions.map(count), [2, 1, 1, 2]);
}

/// The owner of a desktop controls what a runner uploads from it.
#[tokio::test]
async fn roster_of_an_administrator_is_a_proposal_when_a_member_owns_the_desktop() {
    let plane = TestApp::start().await;
    let (admin, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let register = async |client: &TestClient| {
        let body = json!({"machineName": "bench", "platform": "linux", "supportedOperations": []});
        let created = client.post("/compute-targets/register", body).await;
        created.data("id").as_str().unwrap().parse::<Uuid>().unwrap()
    };
    let (own, foreign) = (register(&admin).await, register(&member).await);
    bootstrapped(&plane, &admin, Some(foreign), "tax", "p").await;
    assert_eq!(admin.get("/agents").await.data("total"), 0);
    assert_eq!(admin.get("/agent-proposals").await.data("proposals").as_array().unwrap().len(), 1);
    bootstrapped(&plane, &admin, Some(own), "cart", "p").await;
    assert_eq!(admin.get("/agents").await.data("total"), 1);
}
