//! Version, managed repositories, and the way from a full name to a clone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::tests::test_gateway::{TestGateway, TestOptions, TestResponse, WEB_APP};

const REPOS: &str = "/api/gateway/repos";

async fn add(place: &TestGateway, body: &Value) -> TestResponse {
    place.internal("POST", REPOS).body(body.to_string()).send().await
}

async fn repo_path(place: &TestGateway, name: &str) -> Value {
    let path = format!("/api/gateway/git/repo-path?repoFullName={name}");
    let reply = place.internal("GET", &path).send().await;
    assert_eq!(reply.status, 200);
    reply.json()["path"].clone()
}

// GC-35
#[tokio::test]
async fn version_is_the_desktops() {
    let place = TestGateway::new().await;
    let token = place.gateway.session_for_test(WEB_APP, Duration::from_secs(60), jiff::Timestamp::now());
    let reply = place.ask("GET", "/api/gateway/version").origin(WEB_APP).session(&token).send().await;
    assert_eq!((reply.status, reply.text()), (200, r#"{"version":"1.2.3","commits":[]}"#));
    assert_eq!(reply.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn the_document_is_served_behind_authentication() {
    let place = TestGateway::new().await;
    assert_eq!(place.ask("GET", "/api/gateway/openapi.json").send().await.status, 401);
    let document = place.internal("GET", "/api/gateway/openapi.json").send().await.json();
    assert!(document["paths"]["/api/gateway/version"]["get"].is_object());
}

// GC-36
#[tokio::test]
async fn a_repository_comes_and_goes() {
    let place = TestGateway::new().await;
    let shop = place.clone_of("shop", "git@github.com:Acme/Shop.git");
    let manifest =
        json!({"packageManager": "pnpm@9", "scripts": {"start": "x"}, "devDependencies": {"vite": "1"}});
    std::fs::write(shop.join("package.json"), manifest.to_string()).unwrap();
    let added = add(&place, &json!({"path": shop, "description": "web shop"})).await;
    let body = added.json();
    assert_eq!((added.status, &body["success"], &body["repo"]["name"]), (200, &json!(true), &json!("shop")));
    assert_eq!(
        body["repo"]["deployment"],
        json!({"framework": "vite", "packageManager": "pnpm@9", "startCommand": "pnpm start"})
    );
    add(&place, &json!({"path": shop})).await.assert_error(
        400,
        "Repository already configured",
        "invalid_request",
    );
    let listed = place.internal("GET", REPOS).send().await.json();
    assert_eq!(listed["repos"].as_array().unwrap().len(), 1);
    assert_eq!(listed["repos"][0]["description"], "web shop");
    assert_eq!(listed["repos"][0]["fullName"], "Acme/Shop");
    let settings = json!({"worktreeParentDir": place.sandbox(), "worktreeParentDirConfirmed": true});
    let patched = place.internal("PATCH", REPOS).body(settings.to_string()).send().await;
    assert_eq!(patched.text(), r#"{"success":true}"#);
    assert_eq!(place.internal("GET", REPOS).send().await.json()["settings"], settings);
    let remove = || place.internal("DELETE", &format!("{REPOS}?path={}", shop.display()));
    assert_eq!(remove().send().await.text(), r#"{"success":true}"#);
    remove().send().await.assert_error(400, "Repository not found", "invalid_request");
}

#[tokio::test]
async fn bad_input_is_refused_row_by_row() {
    let place = TestGateway::new().await;
    std::fs::write(place.sandbox().join("file"), "").unwrap();
    let file = json!({"path": place.sandbox().join("file")}).to_string();
    let missing = json!({"path": place.sandbox().join("missing")}).to_string();
    for (method, body, status, error, code) in [
        ("POST", "[]", 400, "path is required and must be a string", "missing_field"),
        ("POST", "5", 400, "path is required and must be a string", "missing_field"),
        ("POST", "", 400, "path is required and must be a string", "missing_field"),
        ("POST", r#"{"path":7}"#, 400, "path is required and must be a string", "missing_field"),
        ("POST", "null", 400, "Invalid JSON body", "invalid_json_body"),
        ("POST", "{", 400, "Invalid JSON body", "invalid_json_body"),
        ("POST", r#"{"path":"relative"}"#, 403, "directory not allowed", "directory_not_allowed"),
        ("POST", r#"{"path":"/etc"}"#, 403, "directory not allowed", "directory_not_allowed"),
        ("POST", r#"{"path":"/nowhere/at/all"}"#, 403, "directory not allowed", "directory_not_allowed"),
        ("POST", &file, 400, "Path must be a directory", "invalid_request"),
        ("POST", &missing, 400, "Path does not exist", "invalid_request"),
        ("PATCH", "{", 400, "Invalid JSON body", "invalid_json_body"),
        ("PATCH", "{}", 400, "No settings to update", "invalid_request"),
        ("PATCH", r#"{"worktreeParentDir":5}"#, 400, "No settings to update", "invalid_request"),
        ("PATCH", r#"{"worktreeParentDir":"/srv"}"#, 403, "directory not allowed", "directory_not_allowed"),
        ("DELETE", "", 400, "path query parameter is required", "missing_field"),
    ] {
        let reply = place.internal(method, REPOS).body(body).send().await;
        reply.assert_error(status, error, code);
    }
}

// GC-36
#[tokio::test]
async fn without_a_sandbox_nothing_is_configured() {
    let place = TestGateway::with(TestOptions {
        set_up: false,
        settings: "onboarding_completed = true",
        ..TestOptions::default()
    })
    .await;
    for (method, path) in [
        ("GET", REPOS),
        ("POST", REPOS),
        ("PATCH", REPOS),
        ("DELETE", REPOS),
        ("GET", "/api/gateway/git/repo-path?repoFullName=a/b"),
    ] {
        place.internal(method, path).send().await.assert_error(
            503,
            "Server not configured — complete onboarding",
            "not_configured",
        );
    }
    let unnamed = place.internal("GET", "/api/gateway/git/repo-path").send().await;
    unnamed.assert_error(400, "repoFullName is required", "missing_field");
}

// GC-46
#[tokio::test]
async fn a_broken_list_is_moved_aside() {
    let place = TestGateway::new().await;
    std::fs::create_dir_all(place.repos_file().parent().unwrap()).unwrap();
    std::fs::write(place.repos_file(), "{").unwrap();
    let reply = place.internal("GET", REPOS).send().await;
    assert_eq!(reply.json()["repos"], json!([]));
    let renamed = std::fs::read_dir(place.repos_file().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("repos.json.corrupt-"))
        .unwrap();
    assert_eq!(std::fs::read(renamed).unwrap(), b"{");
}

// GC-45
#[tokio::test]
async fn ten_at_once_leave_ten() {
    let place = TestGateway::new().await;
    let sending: Vec<_> = (0..10)
        .map(|n| {
            let clone = place.clone_of(&format!("r{n}"), "x/y");
            tokio::spawn(place.internal("POST", REPOS).body(json!({"path": clone}).to_string()).send())
        })
        .collect();
    let (file, written) = (place.repos_file(), Arc::new(AtomicBool::new(false)));
    let reading = std::thread::spawn({
        let written = written.clone();
        move || {
            while !written.load(Ordering::Relaxed) {
                let stored = std::fs::read(&file).unwrap_or_else(|_| b"{}".to_vec());
                serde_json::from_slice::<Value>(&stored).expect("whole at every moment");
            }
        }
    });
    for reply in sending {
        assert_eq!(reply.await.unwrap().status, 200);
    }
    written.store(true, Ordering::Relaxed);
    reading.join().unwrap();
    let listed = place.internal("GET", REPOS).send().await.json();
    assert_eq!(listed["repos"].as_array().unwrap().len(), 10);
}

#[tokio::test]
async fn a_full_name_leads_to_its_clone() {
    let place = TestGateway::new().await;
    assert_eq!(repo_path(&place, "acme/shop").await, Value::Null);
    let shop = place.clone_of("shop", "git@github.com:Acme/Shop.git");
    add(&place, &json!({"path": shop})).await;
    assert_eq!(repo_path(&place, "Acme/Shop").await, json!(shop));
    assert_eq!(repo_path(&place, "acme%2Fshop").await, json!(shop), "case does not count");
    assert_eq!(repo_path(&place, "acme/other").await, Value::Null);
    let exact = place.clone_of("exact", "https://github.com/acme/shop");
    add(&place, &json!({"path": exact})).await;
    assert_eq!(repo_path(&place, "acme/shop").await, json!(exact), "the same case goes first");
    assert_eq!(repo_path(&place, "Acme/Shop").await, json!(shop));
    place.internal("DELETE", &format!("{REPOS}?path={}", shop.display())).send().await;
    assert_eq!(repo_path(&place, "Acme/Shop").await, json!(exact));
}

#[tokio::test]
async fn a_forged_entry_reveals_no_repository_outside_of_the_sandbox() {
    let place = TestGateway::new().await;
    let outside = place.clone_of("../secret", "git@github.com:acme/secret.git");
    let shop = place.clone_of("shop", "git@github.com:acme/shop.git");
    let pointing = place.sandbox().join("pointing");
    std::fs::create_dir(&pointing).unwrap();
    std::fs::write(pointing.join(".git"), format!("gitdir: {}/.git", outside.display())).unwrap();
    let entries = [&outside, &shop, &pointing].map(|path| json!({"path": path}));
    std::fs::create_dir_all(place.repos_file().parent().unwrap()).unwrap();
    std::fs::write(place.repos_file(), json!({"repos": entries}).to_string()).unwrap();
    let listed = place.internal("GET", REPOS).send().await;
    assert!(!listed.text().contains("secret"), "{}", listed.text());
    assert_eq!(listed.json()["repos"].as_array().unwrap().len(), 2);
    assert_eq!(repo_path(&place, "acme/secret").await, Value::Null);
    assert_eq!(repo_path(&place, "acme/shop").await, json!(shop));
}

#[tokio::test]
async fn pipes_and_devices_keep_no_route_waiting() {
    let place = TestGateway::new().await;
    place.pipe(&place.repos_file());
    place.pipe(&place.sandbox().join(".loopgate/sessions.json"));
    let shop = place.clone_of("shop", "git@github.com:acme/shop.git");
    std::os::unix::fs::symlink("/dev/zero", shop.join("package.json")).unwrap();
    let added = add(&place, &json!({"path": shop})).await;
    assert_eq!((added.status, added.json()["repo"].get("deployment")), (200, None));
    std::fs::remove_file(shop.join(".git/config")).unwrap();
    place.pipe(&shop.join(".git/config"));
    let listed = place.internal("GET", REPOS).send().await.json();
    assert_eq!(listed["repos"][0]["name"], "shop");
    assert_eq!(listed["repos"][0].get("fullName"), None);
    assert_eq!(repo_path(&place, "acme/shop").await, Value::Null);
    let sessions = place.internal("GET", "/api/gateway/orchestrator/sessions").send().await;
    assert_eq!(sessions.json()["sessions"], json!([]));
}

#[tokio::test]
async fn lists_are_not_read_or_written_through_a_link() {
    let place = TestGateway::new().await;
    let shop = place.clone_of("shop", "git@github.com:acme/shop.git");
    let outside = place.sandbox().join("../outside");
    std::fs::create_dir_all(outside.join("config")).unwrap();
    let state = place.sandbox().join(".loopgate");
    if state.exists() {
        std::fs::remove_dir_all(&state).unwrap();
    }
    std::os::unix::fs::symlink(&outside, &state).unwrap();
    let added = add(&place, &json!({"path": shop})).await;
    assert_eq!(added.status, 500);
    assert!(added.text().contains("symbolic link"), "{}", added.text());
    assert_eq!(place.internal("GET", REPOS).send().await.status, 500);
    let note = json!({"ticketId": "T", "repoPath": shop, "worktreePath": shop}).to_string();
    let noted = place.internal("POST", "/api/gateway/orchestrator/sessions").body(note).send().await;
    assert_eq!(noted.status, 500);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(outside.join("config")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_broken_list_of_sessions_is_moved_aside() {
    let place = TestGateway::new().await;
    let (shop, file) = (place.clone_of("shop", "x/y"), place.sandbox().join(".loopgate/sessions.json"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{").unwrap();
    let note = json!({"ticketId": "T", "repoPath": shop, "worktreePath": shop}).to_string();
    let noted = place.internal("POST", "/api/gateway/orchestrator/sessions").body(note).send().await;
    assert_eq!(noted.status, 200);
    let names = std::fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let renamed = names.into_iter().find(|path| path.to_string_lossy().contains("sessions.json.corrupt-"));
    assert_eq!(std::fs::read(renamed.unwrap()).unwrap(), b"{");
}
