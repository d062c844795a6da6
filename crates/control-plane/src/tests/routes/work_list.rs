//! The list of change requests: progress, persons, groups, saved views, deletion, and the stream of changes.

use http_body_util::BodyExt as _;
use loopgate_api::event_body::TaskCounts;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::documents::{feature, launched, plan};
use crate::change_requests::deletion;
use crate::store::now;
use crate::tests::plane::shop;
use crate::tests::{LinkedDesktop, TestApp, TestClient};

async fn request(client: &TestClient, title: &str, repo: impl Serialize) -> String {
    let body = json!({"title": title, "type": "FEATURE", "content": "Text", "repo": repo});
    client.post("/documents", body).await.data("slug").as_str().unwrap().to_owned()
}

async fn slugs(client: &TestClient, query: &str) -> Vec<String> {
    let page = client.get(&format!("/change-requests?{query}")).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let slug = |row: &Value| row["document"]["slug"].as_str().unwrap().to_owned();
    let mut slugs: Vec<String> = page.json["data"].as_array().unwrap().iter().map(slug).collect();
    slugs.sort();
    slugs
}

async fn executing(plane: &TestApp, desktop: &mut LinkedDesktop, owner: &TestClient) -> (Uuid, TestClient) {
    feature(owner).await;
    plan(plane, desktop, "feature-1").await;
    owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    let (_, id, runner) = launched(plane, desktop).await;
    runner.event(id, json!({"type": "started"})).await;
    (id, runner)
}

#[tokio::test]
async fn progress_counts_the_tasks_and_names_the_stages_without_moving_the_row() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let (id, runner) = executing(&plane, &mut desktop, &owner).await;
    let before = owner.get("/change-requests/feature-1").await;
    assert_eq!(before.data("tasks"), &Value::Null);
    assert_eq!(before.data("stages"), &json!(["request", "plan", "execute"]));

    let tasks = TaskCounts { completed: 3, total: 7, current: Some("T-4".to_owned()) };
    let report = json!({"type": "progress", "percent": 42, "stage": "build", "tasks": tasks});
    assert_eq!(runner.event(id, report).await.status, 200);
    let after = owner.get("/change-requests/feature-1").await;
    assert_eq!(after.data("tasks"), &json!(tasks));
    assert_eq!(after.data("changedAt"), before.data("changedAt"), "the state has not changed");
    assert_eq!(owner.get(&format!("/loops/{id}")).await.data("tasks"), &json!(tasks));
    // Without tasks, an event says nothing about them.
    runner.event(id, json!({"type": "progress", "stage": "verify"})).await;
    assert_eq!(owner.get("/change-requests").await.json["data"][0]["tasks"], json!(tasks));
}

#[tokio::test]
async fn list_is_filtered_by_person_and_repository() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    request(&owner, "Cart", shop()).await;
    request(&member, "Docs", json!({"fullName": "acme/docs", "branch": ""})).await;
    request(&member, "Idea", Value::Null).await;
    assert_eq!(slugs(&owner, "person=Ben@example.org").await, ["feature-2", "feature-3"]);
    let id = member.get("/me").await.data("id").as_str().unwrap().to_owned();
    assert_eq!(slugs(&owner, &format!("person={id}&text=docs")).await, ["feature-2"]);
    assert_eq!(slugs(&owner, "person=dana@example.org").await, Vec::<String>::new());
    assert_eq!(slugs(&owner, "repo=").await, ["feature-3"], "without a repository");
}

#[tokio::test]
async fn search_ignores_the_case_of_all_letters_and_has_no_wildcards() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    for title in ["Über die Gärten", "ПРИВЕТ Мир", "50 % [a] of *?", "a_b\\c"] {
        request(&owner, title, Value::Null).await;
    }
    let found = async |text: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("text", text).finish();
        slugs(&owner, &query).await
    };
    for (text, expected) in [
        ("über", "feature-1"),
        ("ÜBER DIE GÄRTEN", "feature-1"),
        ("привет мир", "feature-2"),
        ("% [A]", "feature-3"),
        ("OF *?", "feature-3"),
        ("_B\\C", "feature-4"),
    ] {
        assert_eq!(found(text).await, [expected], "{text}");
    }
    for text in ["o? *", "[a-z]b", "a%c"] {
        assert_eq!(found(text).await, [""; 0], "{text}");
    }
}

#[tokio::test]
async fn groups_count_all_pages_of_the_filtered_list() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    request(&member, "Docs", json!({"fullName": "acme/docs", "branch": ""})).await;
    request(&member, "Idea", Value::Null).await;
    let groups = async |query: &str| {
        let reply = owner.get(&format!("/change-requests/groups?limit=1&{query}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let group =
            |group: &Value| (group["value"].as_str().unwrap().to_owned(), group["count"].as_u64().unwrap());
        reply.json["data"].as_array().unwrap().iter().map(group).collect::<Vec<_>>()
    };
    let of = |groups: &[(&str, u64)]| {
        groups.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect::<Vec<_>>()
    };
    assert_eq!(groups("by=state").await, of(&[("not_started", 2), ("plan_ready", 1)]));
    assert_eq!(groups("by=repository").await, of(&[("", 1), ("acme/docs", 1), ("acme/shop", 1)]));
    let by_person = groups("by=person").await;
    assert!(by_person.contains(&("ben@example.org".to_owned(), 2)), "{by_person:?}");
    assert_eq!(groups("by=state&person=ben@example.org").await, of(&[("not_started", 2)]));
    for (value, count) in by_person {
        assert_eq!(slugs(&owner, &format!("person={value}")).await.len() as u64, count, "{value}");
    }
    assert_eq!(owner.get("/change-requests/groups?by=colour").await.status, 400);
}

#[tokio::test]
async fn saved_views_belong_to_their_user() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let path = "/change-requests/views";
    assert_eq!(owner.get(path).await.json["data"], json!([]));
    let views =
        json!([{"name": "Mine, failed", "search": "q=is:mine+state:failed"}, {"name": "All", "search": ""}]);
    assert_eq!(owner.put(path, json!({"views": views})).await.json["data"], views);
    assert_eq!(owner.get(path).await.json["data"], views);
    assert_eq!(member.get(path).await.json["data"], json!([]));
    let twice = json!({"views": [{"name": "A", "search": ""}, {"name": "A", "search": ""}]});
    assert_eq!(owner.put(path, twice).await.refused(), (400, "views.1.name: must be unique"));
    assert_eq!(owner.put(path, json!({"views": []})).await.json["data"], json!([]));
    assert_eq!(owner.get(path).await.json["data"], json!([]));
}

#[tokio::test]
async fn deleted_change_request_disappears_and_is_restored_completely() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    let before = owner.get("/change-requests/feature-1").await;
    assert_eq!(member.delete("/change-requests/feature-1").await.status, 403);

    let deleted = owner.delete("/change-requests/plan-1").await;
    assert_eq!(
        (deleted.status.as_u16(), deleted.data("slug")),
        (200, &json!("feature-1")),
        "{}",
        deleted.text
    );
    for path in
        ["/change-requests/feature-1", "/change-requests/plan-1", "/documents/feature-1", "/documents/plan-1"]
    {
        assert_eq!(owner.get(path).await.status, 404, "{path}");
    }
    assert_eq!(slugs(&owner, "attention=true").await, Vec::<String>::new());
    assert_eq!(owner.get("/documents").await.json["data"], json!([]));
    assert_eq!(owner.get("/loops").await.json["data"][0]["document"], Value::Null);
    let start = owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    assert_eq!(start.status, 404, "{}", start.text);

    assert_eq!(member.post("/change-requests/feature-1/restore", json!({})).await.status, 403);
    let restored = owner.post("/change-requests/feature-1/restore", json!({})).await;
    assert_eq!(restored.json["data"], before.json["data"]);
    assert_eq!(slugs(&owner, "attention=true").await, ["feature-1"]);
    let again = owner.post("/change-requests/feature-1/restore", json!({})).await;
    assert_eq!(again.refused(), (404, "Change request not found"));
}

#[tokio::test]
async fn deletion_becomes_final_after_an_hour_and_keeps_the_loops() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    owner.delete("/change-requests/feature-1").await;
    let store = &plane.app.store;
    deletion::remove(store, now() - deletion::RESTORABLE).await.unwrap();
    assert_eq!(
        owner.post("/change-requests/feature-1/restore", json!({})).await.status,
        200,
        "within the hour"
    );
    owner.delete("/change-requests/feature-1").await;
    deletion::remove(store, now() + 1).await.unwrap();
    assert_eq!(owner.post("/change-requests/feature-1/restore", json!({})).await.status, 404);
    assert_eq!(owner.get("/loops").await.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn running_loop_prevents_the_deletion() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let (id, runner) = executing(&plane, &mut desktop, &owner).await;
    let refused = owner.delete("/change-requests/feature-1").await;
    let text = "A loop of this change request (EXECUTE) is running. Stop it, then delete the change request.";
    assert_eq!(refused.failure(), (409, text, "loop_active"));
    assert_eq!(refused.json["details"]["loopId"], id.to_string());
    runner.event(id, json!({"type": "error", "code": "X", "message": "x"})).await;
    assert_eq!(owner.delete("/change-requests/feature-1").await.status, 200);
}

/// Reads the next event of a stream.
async fn next(body: &mut axum::body::Body) -> Value {
    loop {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let text = std::str::from_utf8(&frame).unwrap();
        if let Some(data) = text.trim().strip_prefix("data: ") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[tokio::test]
async fn stream_names_the_lists_that_change() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let (id, runner) = executing(&plane, &mut desktop, &owner).await;
    let stream = owner.response("GET", "/organization/changes", None).await;
    assert_eq!(stream.status(), 200);
    let mut body = stream.into_body();
    // The stream compares with its first read, whose end shows only in its first event.
    let first = tokio::spawn(async move { (next(&mut body).await, body) });
    let mut completed = 0;
    while !first.is_finished() {
        completed += 1;
        let tasks = json!({"completed": completed, "total": 10_000});
        runner.event(id, json!({"type": "progress", "tasks": tasks})).await;
    }
    let (changed, mut body) = first.await.unwrap();
    assert_eq!(changed, json!({"lists": ["change-requests"]}));
    runner.event(id, json!({"type": "error", "code": "X", "message": "x"})).await;
    let mut seen = Vec::new();
    while !seen.contains(&json!("loops")) {
        seen.extend(next(&mut body).await["lists"].as_array().unwrap().iter().cloned());
    }
    for mark in [json!({"seen": true}), json!({"snoozedUntil": "2999-01-01T00:00:00Z"}), json!({})] {
        let (marked, changed) =
            tokio::join!(owner.put("/change-requests/feature-1/mark", mark), next(&mut body));
        assert_eq!(marked.status, 200, "{}", marked.text);
        assert_eq!(changed, json!({"lists": ["change-requests"]}));
    }
    plane.disconnect(desktop.target_id).await;
    crate::desktops::register::set_online(&plane.app.store, desktop.target_id, false).await.unwrap();
    while !seen.contains(&json!("compute-targets")) {
        seen.extend(next(&mut body).await["lists"].as_array().unwrap().iter().cloned());
    }
}
