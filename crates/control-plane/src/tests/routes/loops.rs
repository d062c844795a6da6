use loopgate_api::job::LoopStatus;
use loopgate_api::link::{Severity, Telemetry, event};
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use crate::bus::Topic;
use crate::loops::reaper;
use crate::store::entity::agent_loop;
use crate::store::{iso, now};
use crate::tests::plane::shop;
use crate::tests::{TestApp, TestClient};

fn plan() -> Value {
    json!({"command": "PLAN", "repo": shop()})
}

fn with_peers(peers: &[(&str, &str)]) -> Value {
    let peers: Vec<Value> =
        peers.iter().map(|(name, branch)| json!({"fullName": name, "branch": branch})).collect();
    json!({"command": "PLAN", "repo": shop(), "additionalRepos": peers})
}

async fn document(owner: &TestClient) -> String {
    let body = json!({"title": "Cart", "type": "FEATURE", "content": "A cart.", "repo": shop()});
    owner.post("/documents", body).await.data("slug").as_str().unwrap().to_owned()
}

async fn age(plane: &TestApp, id: Uuid, column: agent_loop::Column, by: i64) {
    plane.set_column(id, column, now() - by).await;
}

#[tokio::test]
async fn loops_are_listed_newest_first_without_their_tokens() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (first, _) = plane.running("PLAN").await;
    let (second, _) = plane.running("EXECUTE").await;
    let listed = owner.get("/loops").await;
    let ids: Vec<&str> =
        listed.json["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [second.to_string(), first.to_string()]);
    assert!(!listed.text.contains("activeTokenJti"));
    assert_eq!(listed.json["data"][0]["user"]["email"], "ada@example.org");
    let plans = owner.get("/loops?command=PLAN&status=PENDING&limit=1").await;
    assert_eq!(plans.json["data"].as_array().unwrap().len(), 1);
    // Offsets around the limits of i64 and u64: the database must not receive an overflowed number.
    for beyond in ["9223372036854775807", "9223372036854775808", "18446744073709551615"] {
        for list in ["/loops", "/agents", &format!("/loops/{first}/events")] {
            let reply = owner.get(&format!("{list}?offset={beyond}")).await;
            assert_eq!(reply.status, 200, "{list} {beyond}: {}", reply.text);
        }
    }
    for query in ["limit=0", "limit=201", "status=DONE", "offset=-1"] {
        let reply = owner.get(&format!("/loops?{query}")).await;
        assert!(reply.refused().1.starts_with("Invalid query parameters: "), "{query}: {}", reply.text);
    }
    assert_eq!(owner.get("/loops?documentId=nowhere").await.refused(), (404, "Artifact not found"));
    assert_eq!(owner.get(&format!("/loops/{}", Uuid::new_v4())).await.refused(), (404, "Loop not found"));
    assert_eq!(owner.get("/loops/nonsense").await.refused(), (404, "Loop not found"));
    assert_eq!(plane.anonymous().get("/loops").await.refused(), (401, "Unauthorized"));
}

#[tokio::test]
async fn loops_are_paginated_by_cursor() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut ids = Vec::new();
    for command in ["PLAN", "EXECUTE", "PLAN", "CHAT", "PLAN"] {
        let (id, _) = plane.running(command).await;
        // Equal creation times, so that the id is the tie-break.
        plane.set_column(id, agent_loop::Column::CreatedAt, 1_700_000_000_000_i64).await;
        ids.push(id);
    }
    ids.sort();
    ids.reverse();
    let page = async |query: String| -> Vec<Uuid> {
        let listed = owner.get(&format!("/loops?{query}")).await;
        let rows = listed.json["data"].as_array().unwrap_or_else(|| panic!("{}", listed.text));
        rows.iter().map(|row| row["id"].as_str().unwrap().parse().unwrap()).collect()
    };
    let mut seen = page("limit=2".to_owned()).await;
    while let Some(last) = seen.last().copied() {
        let next = page(format!("limit=2&after={last}")).await;
        if next.is_empty() {
            break;
        }
        seen.extend(next);
    }
    assert_eq!(seen, ids);
    assert_eq!(page(format!("command=CHAT&after={}", ids[4])).await, Vec::<Uuid>::new());
    let stranger = plane.stranger().await;
    for (client, after) in [(&owner, Uuid::new_v4()), (&stranger, ids[0])] {
        let refused = client.get(&format!("/loops?after={after}")).await;
        assert_eq!(refused.refused(), (400, "Invalid query parameters: after is not the id of a loop"));
    }
}

#[tokio::test]
async fn loops_are_searched_filtered_and_counted() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let body = json!({"title": "A 100% cart", "type": "FEATURE", "content": "Cart", "repo": shop()});
    assert_eq!(owner.post("/documents", body).await.status, 200);
    for (command, document, prompt) in [
        ("PLAN", Some("feature-1"), None),
        ("EXECUTE", None, Some("Colour the Checkout")),
        ("CHAT", None, Some("Why?")),
    ] {
        let body = json!({"command": command, "documentId": document, "prompt": prompt, "repo": shop()});
        let created = owner.post("/loops", body).await;
        assert_eq!(created.status, 200, "{}", created.text);
    }
    let commands = async |query: &str| -> (Vec<String>, Value) {
        let listed = owner.get(&format!("/loops?{query}")).await;
        let rows = listed.json["data"].as_array().unwrap_or_else(|| panic!("{query}: {}", listed.text));
        let commands = rows.iter().map(|row| row["command"].as_str().unwrap().to_owned()).collect();
        (commands, listed.json["total"].clone())
    };
    let all = ["CHAT", "EXECUTE", "PLAN"].map(String::from).to_vec();
    for (query, expected) in [
        ("text=100%25", &all[2..]),
        ("text=CHECKOUT", &all[1..2]),
        ("text=why", &all[..1]),
        ("text=acme/shop", &all[..]),
        ("text=%20", &all[..]),
        ("text=1_0", &[]),
        ("command=CHAT,PLAN", &[all[0].clone(), all[2].clone()]),
        ("command=CHAT,EXECUTE&text=shop&status=PENDING,RUNNING", &all[..2]),
        ("status=FAILED", &[]),
    ] {
        assert_eq!(commands(query).await, (expected.to_vec(), Value::Null), "{query}");
    }
    assert_eq!(commands("count=true&limit=1").await, (all[..1].to_vec(), json!(3)));
    let long = owner.get(&format!("/loops?text={}", "x".repeat(201))).await;
    assert_eq!(long.refused(), (400, "Invalid query parameters: text must have at most 200 characters"));
    let listed = plane.stranger().await.get("/loops?text=acme&count=true").await;
    assert_eq!((&listed.json["data"], &listed.json["total"]), (&json!([]), &json!(0)));
}

// CP-20, CP-21
#[tokio::test]
async fn all_forbidden_repositories_are_reported_together() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let branches = ["main"];
    for full_name in ["acme/shop", "Acme/Docs"] {
        let body = json!({"fullName": full_name, "branches": branches});
        assert_eq!(owner.post("/repositories", body).await.status, 200);
    }
    let reply = owner
        .post("/loops", with_peers(&[("evil/a", "main"), ("acme/docs", "main"), ("evil/b", "main")]))
        .await;
    let text = "Repositories neither found on this machine nor added by an administrator (Loopgate searches the sandbox \
                directory for clones, three levels deep): evil/a, evil/b";
    assert_eq!(reply.failure(), (403, text, "REPO_NOT_ALLOWED"));
    assert_eq!(reply.json["details"]["name"], "UnauthorizedRepoError");
    assert_eq!(reply.json["details"]["repoFullName"], "evil/a,evil/b");

    let reply = owner.post("/loops", with_peers(&[("Acme/Docs", "gone")])).await;
    let text = "Branch \"gone\" does not exist in repository Acme/Docs";
    assert_eq!(reply.failure(), (400, text, "PRE_RUN_VALIDATION_FAILED"));
    assert_eq!(reply.json["details"]["name"], "BranchNotFoundError");
    assert_eq!(
        (&reply.json["details"]["branch"], &reply.json["details"]["repoFullName"]),
        (&json!("gone"), &json!("Acme/Docs"))
    );
    assert_eq!(owner.get("/loops").await.json["data"], json!([]), "no loop was created");
    assert_eq!(owner.post("/loops", with_peers(&[("acme/docs", "main")])).await.status, 200);
}

// CP-22, CP-23
#[tokio::test]
async fn invalid_loop_requests_name_their_members() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let duplicate = owner.post("/loops", with_peers(&[("acme/a", "main"), ("Acme/A", "dev")])).await;
    assert_eq!(duplicate.refused(), (400, "additionalRepos.1.fullName: Duplicate repository: \"Acme/A\""));
    let primary = owner.post("/loops", with_peers(&[("ACME/shop", "main")])).await;
    assert!(primary.refused().1.contains("Duplicate repository"));
    let names = ["a/1", "a/2", "a/3", "a/4", "a/5", "a/6"].map(|name| (name, "main"));
    assert_eq!(owner.post("/loops", with_peers(&names)).await.refused().0, 400);
    let shapes = json!({"command": "PLAN", "repo": {"fullName": "shop", "branch": "--upload-pack"}});
    let reply = owner.post("/loops", shapes).await;
    assert_eq!(
        reply.refused().1,
        "repo.fullName: Must be in 'owner/repo' format, repo.branch: Branch name contains invalid characters"
    );
    assert_eq!(reply.json["details"]["issues"].as_array().unwrap().len(), 2);
    let long = json!({"command": "CHAT", "prompt": "x".repeat(100_001)});
    assert_eq!(owner.post("/loops", long).await.refused().0, 400);
    assert_eq!(owner.post("/loops", json!({"command": "DANCE"})).await.refused().0, 400);
    let unknown = json!({"command": "PLAN", "documentId": "feature-9"});
    assert_eq!(owner.post("/loops", unknown).await.refused(), (404, "Document not found"));
}

// CP-24
#[tokio::test]
async fn second_active_loop_of_document_and_command_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let slug = document(&owner).await;
    let body = json!({"command": "PLAN", "documentId": slug, "repo": shop()});
    let first = owner.post("/loops", body.clone()).await;
    let id: Uuid = first.data("loopId").as_str().unwrap().parse().unwrap();
    plane.runner(id).await.event(id, json!({"type": "started"})).await;

    let second = owner.post("/loops", body.clone()).await;
    assert_eq!(second.status, 409);
    assert_eq!(
        second.json["data"],
        json!({"error": "loop_already_active", "loopId": id, "command": "PLAN", "status": "RUNNING"})
    );
    let other = json!({"command": "EXECUTE", "documentId": slug, "repo": shop()});
    assert_eq!(owner.post("/loops", other).await.status, 200);
}

#[tokio::test]
async fn undispatched_loop_releases_its_slot() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let slug = document(&owner).await;
    let body = json!({"command": "PLAN", "documentId": slug, "repo": shop()});
    let first = owner.post("/loops", body.clone()).await;
    let id: Uuid = first.data("loopId").as_str().unwrap().parse().unwrap();
    assert_eq!(owner.post("/loops", body.clone()).await.status, 409);
    // A pending loop without a command is stale after 30 seconds and no longer blocks a new one.
    age(&plane, id, agent_loop::Column::CreatedAt, 31_000).await;
    assert_eq!(owner.post("/loops", body).await.status, 200);
    let row = plane.row(id).await;
    assert_eq!(
        (row.status.0, row.error.unwrap()["code"].clone()),
        (LoopStatus::Failed, json!("STALE_DISPATCH"))
    );
}

// CP-25
#[tokio::test]
async fn active_loops_per_user_are_limited_to_ten() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    // Concurrent requests of one user are serialized by a row lock, so the limit is exact.
    let attempts = (0..12).map(|_| {
        let owner = owner.clone();
        tokio::spawn(async move { owner.post("/loops", plan()).await })
    });
    let replies = futures_util::future::join_all(attempts).await;
    let replies: Vec<_> = replies.into_iter().map(Result::unwrap).collect();
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 10);
    let refused = replies.iter().find(|reply| reply.status != 200).unwrap();
    let text = "Too many active loops (10). Maximum 10 concurrent loops allowed. Wait for existing loops to complete or cancel them.";
    assert_eq!(refused.failure(), (429, text, "too_many_requests"));
    let member = plane.member("ben@example.org").await;
    assert_eq!(member.post("/loops", plan()).await.status, 200, "the limit is per user");
}

// CP-43
#[tokio::test]
async fn running_loop_is_cancelled_once_while_its_desktop_is_offline() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let target = plane.desktop().await.target_id;
    let (id, runner) = plane.running("PLAN").await;
    plane.set_column(id, agent_loop::Column::ComputeTargetId, target).await;
    runner.event(id, json!({"type": "started"})).await;
    plane.disconnect(target).await;
    let cancelled = owner.post(&format!("/loops/{id}/cancel"), json!({})).await;
    assert_eq!((cancelled.status.as_u16(), cancelled.data("status")), (200, &json!("CANCELLED")));
    assert!(cancelled.data("completedAt").is_string());
    let again = owner.delete(&format!("/loops/{id}")).await;
    assert_eq!(again.failure(), (409, "Invalid status transition: CANCELLED → CANCELLED", "conflict"));
    let events = owner.get(&format!("/loops/{id}/events")).await;
    let kinds: Vec<&str> =
        events.json["data"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["started", "tokens_cleared", "cancelled"]);
    assert_eq!(events.json["data"][2]["reason"], "Cancelled by user");
}

// CP-49
#[tokio::test]
async fn runner_reads_the_status_of_its_loop_only() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let (other, foreign) = plane.running("PLAN").await;
    let view = runner.get(&format!("/loops/{id}")).await;
    let names: Vec<&String> = view.json["data"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "status", "command", "computeTargetId", "startedAt", "completedAt"]);
    assert_eq!(foreign.get(&format!("/loops/{id}")).await.refused(), (403, "Token does not match loop"));
    assert_eq!(foreign.get(&format!("/loops/{other}")).await.status, 200);
}

#[tokio::test]
async fn only_own_finished_loops_are_resumed() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, runner) = plane.running("PLAN").await;
    let path = format!("/loops/{id}/resume");
    let text = "Cannot resume loop in PENDING status. Only CANCELLED, COMPLETED, FAILED, or TIMED_OUT loops can be resumed.";
    assert_eq!(owner.post(&path, json!({})).await.refused(), (409, text));
    runner.event(id, json!({"type": "started"})).await;
    owner.post(&format!("/loops/{id}/cancel"), json!({})).await;
    let member = plane.member("ben@example.org").await;
    assert_eq!(member.post(&path, json!({})).await.refused(), (403, "You can only resume your own loops"));
    let offline = owner.post(&path, json!({})).await;
    assert_eq!(offline.json["details"]["category"], "compute_target_unavailable");
}

#[tokio::test]
async fn loops_without_heartbeat_time_out() {
    let plane = TestApp::start().await;
    let (pending, _) = plane.running("PLAN").await;
    let (fresh, _) = plane.running("PLAN").await;
    let (silent, runner) = plane.running("PLAN").await;
    runner.event(silent, json!({"type": "started"})).await;
    // RUNNING with heartbeats: the last heartbeat is just older than the limit of two hours.
    agent_loop::Entity::update_many()
        .col_expr(
            agent_loop::Column::RunnerCapabilities,
            Expr::value(json!({"loopRunnerHeartbeatSupported": true})),
        )
        .col_expr(agent_loop::Column::LastRunnerHeartbeatAt, Expr::value(now() - 2 * 3_600_000 - 1))
        .col_expr(agent_loop::Column::CreatedAt, Expr::value(now() - 3 * 3_600_000))
        .filter(agent_loop::Column::Id.eq(silent))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
    age(&plane, pending, agent_loop::Column::CreatedAt, 31 * 60_000).await;
    assert_eq!(reaper::reap(&plane.app, now(), 0).await.unwrap(), 2);
    assert_eq!(reaper::reap(&plane.app, now(), 0).await.unwrap(), 0);
    assert_eq!(plane.row(fresh).await.status.0, LoopStatus::Pending);
    let row = plane.row(silent).await;
    assert_eq!(row.status.0, LoopStatus::TimedOut);
    assert_eq!(row.error.unwrap()["message"], "Loop timed out in RUNNING status (cron safety net)");
    let events = plane.owner().await.get(&format!("/loops/{silent}/events?type=error")).await;
    assert_eq!(events.json["data"]["data"][0]["reaper"]["reason"], "desktop_heartbeat_stale");
}

#[tokio::test]
async fn usage_is_summed_for_administrators() {
    let plane = TestApp::start().await;
    for command in ["PLAN", "EXECUTE", "PLAN"] {
        let (id, runner) = plane.running(command).await;
        runner.event(id, json!({"type": "started"})).await;
        let models =
            json!({"sonnet": {"input": 1_000_000, "output": 10, "cacheCreation": 5, "cacheRead": 7}});
        if command == "EXECUTE" {
            plane.set_column(id, agent_loop::Column::CreatedAt, 1_767_225_599_999_i64).await;
        }
        let end = json!({"type": "completed", "result": {}, "tokensByModel": models,
            "tokensUsed": {"input": 1_000_000, "output": 10}});
        assert_eq!(runner.event(id, end).await.status, 200);
    }
    let member = plane.member("ben@example.org").await;
    assert_eq!(member.get("/loops/usage").await.refused(), (403, "Forbidden"));
    let owner = plane.owner().await;
    let usage = owner.get("/loops/usage").await;
    assert_eq!(
        (usage.data("totalLoops"), usage.data("totalTokensInput")),
        (&json!(3), &json!(3_000_000)),
        "{}",
        usage.text
    );
    let plans =
        usage.data("byCommand").as_array().unwrap().iter().find(|row| row["command"] == "PLAN").unwrap();
    assert_eq!((&plans["loopCount"], &plans["tokensOutput"]), (&json!(2), &json!(20)));
    assert_eq!(usage.data("byUser")[0]["userName"], "Ada Lovelace");
    let days = usage.data("byDay").as_array().unwrap();
    assert_eq!((days.len(), &days[0]["day"], &days[0]["loopCount"]), (2, &json!("2025-12-31"), &json!(1)));
    assert_eq!((&days[1]["loopCount"], &days[1]["tokensOutput"]), (&json!(2), &json!(20)));
    let cache = (usage.data("totalCacheCreationTokens"), usage.data("totalCacheReadTokens"));
    assert_eq!(cache, (&json!(15), &json!(21)));
    assert_eq!(owner.get("/loops/usage?command=EXECUTE").await.data("totalLoops"), 1);
    assert_eq!(owner.get("/loops/usage?endDate=2020-01-01").await.data("totalLoops"), 0);
    assert_eq!(owner.get("/loops/usage?startDate=soon").await.refused(), (400, "Invalid startDate format"));
}

#[tokio::test]
async fn administrator_reads_the_runtime_state_of_a_loop() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let view = owner.get(&format!("/loops/{id}/runtime")).await;
    let row = plane.row(id).await;
    assert_eq!(
        (view.data("status"), view.data("activeTokenJti")),
        (&json!("RUNNING"), &json!(row.active_token_jti))
    );
    assert_eq!(view.data("lastRunnerHeartbeatAt"), &json!(row.last_runner_heartbeat_at.map(iso)));
    assert_eq!(view.data("tokenExpiresAt"), &json!(row.token_expires_at.map(iso)));
    let capabilities = json!({"loopRunnerRefreshSupported": false, "loopRunnerHeartbeatSupported": false});
    assert_eq!(view.data("runnerCapabilities"), &capabilities);
}

#[tokio::test]
async fn summaries_include_loops_of_derived_documents() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let feature = create_document(&owner, "FEATURE").await;
    let other = create_document(&owner, "PRD").await;
    let start = async |command: &str, document: Uuid| -> Uuid {
        let created =
            owner.post("/loops", json!({"command": command, "documentId": document, "repo": shop()})).await;
        created.data("loopId").as_str().unwrap_or_else(|| panic!("{}", created.text)).parse().unwrap()
    };
    let failed = start("PLAN", feature).await;
    let end = json!({"type": "error", "code": "PROCESS_FAILED", "message": "died"});
    assert_eq!(plane.runner(failed).await.event(failed, end).await.status, 200);
    let completed = start("PLAN", feature).await;
    let runner = plane.runner(completed).await;
    runner.event(completed, json!({"type": "started"})).await;
    let plan = json!({"artifacts": {"plan": {"content": "# Plan"}}});
    assert_eq!(runner.post(&format!("/loops/{completed}/upload-artifacts"), plan).await.status, 200);
    let end = json!({"type": "completed", "result": {}, "tokensUsed": {"input": 1, "output": 1}});
    assert_eq!(runner.event(completed, end).await.status, 200);
    let produced = owner.get(&format!("/loops/{completed}")).await.data("producedDocument").clone();
    let plan: Uuid = produced["id"].as_str().unwrap().parse().unwrap();
    let active = start("EXECUTE", plan).await;

    let request = json!({"documentIds": [feature, plan, other, Uuid::nil()]});
    let reader = plane.key_with(json!({"name": "reader", "scopes": ["read"]})).await;
    let summaries = reader.post("/loops/summaries", request.clone()).await;
    let of = |document: Uuid, slot: &str, member: &str| {
        summaries.data(&document.to_string())[slot].get(member).cloned().unwrap_or_default()
    };
    assert_eq!(of(feature, "latestFailed", "loopId"), json!(failed));
    assert!(of(feature, "latestFailed", "failedAt").is_string());
    assert_eq!(of(feature, "latestCompleted", "loopId"), json!(completed));
    assert_eq!(of(feature, "latestCompleted", "user")["email"], "ada@example.org");
    assert_eq!(of(feature, "latestCompleted", "isDirectLoop"), json!(true));
    assert_eq!(of(feature, "activeLoop", "loopId"), json!(active));
    assert_eq!(of(feature, "activeLoop", "childSubtype"), json!("IMPLEMENTATION_PLAN"));
    assert_eq!(of(plan, "activeLoop", "isDirectLoop"), json!(true));
    assert_eq!(
        of(plan, "latestCompleted", "loopId"),
        Value::Null,
        "a plan's summary excludes loops of its source"
    );
    let none = json!({"activeLoop": null, "latestCompleted": null, "latestFailed": null});
    for document in [other, Uuid::nil()] {
        assert_eq!(summaries.data(&document.to_string()), &none);
    }
    let foreign = plane.stranger().await.post("/loops/summaries", request).await;
    assert_eq!(foreign.data(&feature.to_string()), &none);
    for count in [0, 101] {
        let ids: Vec<Uuid> = (0..count).map(|_| Uuid::new_v4()).collect();
        let refused = owner.post("/loops/summaries", json!({"documentIds": ids})).await;
        assert_eq!(refused.refused(), (400, "documentIds: must have 1 to 100 items"));
    }
}

async fn create_document(owner: &TestClient, kind: &str) -> Uuid {
    let body = json!({"title": "Cart", "type": kind, "content": "A cart.", "repo": shop()});
    let created = owner.post("/documents", body).await;
    created.data("id").as_str().unwrap_or_else(|| panic!("{}", created.text)).parse().unwrap()
}

#[tokio::test]
async fn crash_diagnostics_are_stored_with_their_loop() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    let (id, _) = plane.running("PLAN").await;
    let (foreign, _) = plane.running("EXECUTE").await;
    plane.set_column(id, agent_loop::Column::ComputeTargetId, desktop.target_id).await;
    let mut wake = plane.app.bus.subscribe(Topic::Loop(id));
    let crash = |loop_id: Uuid, category: &str, signal: &str| {
        let mut telemetry = Telemetry::new(Severity::Error, category, "Loop failed");
        telemetry.trace.compute_target_id = desktop.target_id.to_string();
        telemetry.trace.loop_id = Some(loop_id.to_string());
        let diagnostics = json!({"exitSignal": signal, "stderrTail": "out of memory", "elapsedMs": 4200});
        telemetry.diagnostics = diagnostics.as_object().cloned();
        serde_json::to_value(telemetry).unwrap()
    };
    let reports = [
        crash(foreign, "job.failed", "SIGSEGV"),
        crash(id, "job.started", "SIGSEGV"),
        crash(id, "job.failed", "SIGKILL"),
    ];
    for report in &reports {
        desktop.send(event::TELEMETRY, report).await;
    }
    // Reports are processed in order: when this notification arrives, the earlier two were handled.
    wake.changed().await.unwrap();
    let shown = owner.get(&format!("/loops/{id}")).await;
    assert_eq!(shown.data("diagnostics")["exitSignal"], "SIGKILL");
    assert_eq!(shown.data("diagnostics")["stderrTail"], "out of memory");
    let other = owner.get(&format!("/loops/{foreign}")).await;
    assert_eq!(other.data("diagnostics"), &Value::Null, "a desktop reports only its own loops");
}
