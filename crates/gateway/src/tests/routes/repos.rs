//! Version, managed repositories, and the resolution of full names to clones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::tests::test_gateway::{TestGateway, TestOptions, TestResponse, WEB_APP};

const REPOS: &str = "/api/gateway/repos";

async fn add(fixture: &TestGateway, body: &Value) -> TestResponse {
    fixture.internal("POST", REPOS).body(body.to_string()).send().await
}

async fn repo_path(fixture: &TestGateway, name: &str) -> Value {
    let path = format!("/api/gateway/git/repo-path?repoFullName={name}");
    let reply = fixture.internal("GET", &path).send().await;
    assert_eq!(reply.status, 200);
    reply.json()["path"].clone()
}

// GC-35
#[tokio::test]
async fn version_returns_the_desktop_version() {
    let fixture = TestGateway::new().await;
    let token = fixture.gateway.session_for_test(WEB_APP, Duration::from_secs(60), jiff::Timestamp::now());
    let reply = fixture.anonymous("GET", "/api/gateway/version").origin(WEB_APP).session(&token).send().await;
    assert_eq!((reply.status, reply.text()), (200, r#"{"version":"1.2.3","commits":[]}"#));
    assert_eq!(reply.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn document_is_served_behind_authentication() {
    let fixture = TestGateway::new().await;
    assert_eq!(fixture.anonymous("GET", "/api/gateway/openapi.json").send().await.status, 401);
    let document = fixture.internal("GET", "/api/gateway/openapi.json").send().await.json();
    assert!(document["paths"]["/api/gateway/version"]["get"].is_object());
}

// GC-36
#[tokio::test]
async fn repository_is_added_and_removed() {
    let fixture = TestGateway::new().await;
    let shop = fixture.clone_of("shop", "git@github.com:Acme/Shop.git");
    let manifest =
        json!({"packageManager": "pnpm@9", "scripts": {"start": "x"}, "devDependencies": {"vite": "1"}});
    std::fs::write(shop.join("package.json"), manifest.to_string()).unwrap();
    let added = add(&fixture, &json!({"path": shop, "description": "web shop"})).await;
    let body = added.json();
    assert_eq!((added.status, &body["success"], &body["repo"]["name"]), (200, &json!(true), &json!("shop")));
    assert_eq!(
        body["repo"]["deployment"],
        json!({"framework": "vite", "packageManager": "pnpm@9", "startCommand": "pnpm start"})
    );
    add(&fixture, &json!({"path": shop})).await.assert_error(
        400,
        "Repository already configured",
        "invalid_request",
    );
    let listed = fixture.internal("GET", REPOS).send().await.json();
    assert_eq!(listed["repos"].as_array().unwrap().len(), 1);
    assert_eq!(listed["repos"][0]["description"], "web shop");
    assert_eq!(listed["repos"][0]["fullName"], "Acme/Shop");
    let settings = json!({"worktreeParentDir": fixture.sandbox(), "worktreeParentDirConfirmed": true});
    let patched = fixture.internal("PATCH", REPOS).body(settings.to_string()).send().await;
    assert_eq!(patched.text(), r#"{"success":true}"#);
    assert_eq!(fixture.internal("GET", REPOS).send().await.json()["settings"], settings);
    let remove = || fixture.internal("DELETE", &format!("{REPOS}?path={}", shop.display()));
    assert_eq!(remove().send().await.text(), r#"{"success":true}"#);
    remove().send().await.assert_error(400, "Repository not found", "invalid_request");
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let fixture = TestGateway::new().await;
    std::fs::write(fixture.sandbox().join("file"), "").unwrap();
    let file = json!({"path": fixture.sandbox().join("file")}).to_string();
    let missing = json!({"path": fixture.sandbox().join("missing")}).to_string();
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
        let reply = fixture.internal(method, REPOS).body(body).send().await;
        reply.assert_error(status, error, code);
    }
}

// GC-36
#[tokio::test]
async fn routes_require_a_configured_sandbox() {
    let fixture = TestGateway::with(TestOptions {
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
        fixture.internal(method, path).send().await.assert_error(
            503,
            "Server not configured — complete onboarding",
            "not_configured",
        );
    }
    let without_name = fixture.internal("GET", "/api/gateway/git/repo-path").send().await;
    without_name.assert_error(400, "repoFullName is required", "missing_field");
}

// GC-46
#[tokio::test]
async fn malformed_list_is_moved_aside() {
    let fixture = TestGateway::new().await;
    std::fs::create_dir_all(fixture.repos_file().parent().unwrap()).unwrap();
    std::fs::write(fixture.repos_file(), "{").unwrap();
    let reply = fixture.internal("GET", REPOS).send().await;
    assert_eq!(reply.json()["repos"], json!([]));
    let renamed = std::fs::read_dir(fixture.repos_file().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("repos.json.corrupt-"))
        .unwrap();
    assert_eq!(std::fs::read(renamed).unwrap(), b"{");
}

// GC-45
#[tokio::test]
async fn concurrent_requests_lose_no_entry() {
    let fixture = TestGateway::new().await;
    let sending: Vec<_> = (0..10)
        .map(|n| {
            let clone = fixture.clone_of(&format!("r{n}"), "x/y");
            tokio::spawn(fixture.internal("POST", REPOS).body(json!({"path": clone}).to_string()).send())
        })
        .collect();
    let (file, written) = (fixture.repos_file(), Arc::new(AtomicBool::new(false)));
    // Reads continuously: the file is replaced atomically, so it must be valid at every moment.
    let reading = std::thread::spawn({
        let written = written.clone();
        move || {
            while !written.load(Ordering::Relaxed) {
                let stored = std::fs::read(&file).unwrap_or_else(|_| b"{}".to_vec());
                serde_json::from_slice::<Value>(&stored).expect("the file is always valid JSON");
            }
        }
    });
    for reply in sending {
        assert_eq!(reply.await.unwrap().status, 200);
    }
    written.store(true, Ordering::Relaxed);
    reading.join().unwrap();
    let listed = fixture.internal("GET", REPOS).send().await.json();
    assert_eq!(listed["repos"].as_array().unwrap().len(), 10);
}

#[tokio::test]
async fn full_name_resolves_to_its_clone() {
    let fixture = TestGateway::new().await;
    assert_eq!(repo_path(&fixture, "acme/shop").await, Value::Null);
    let shop = fixture.clone_of("shop", "git@github.com:Acme/Shop.git");
    add(&fixture, &json!({"path": shop})).await;
    assert_eq!(repo_path(&fixture, "Acme/Shop").await, json!(shop));
    assert_eq!(repo_path(&fixture, "acme%2Fshop").await, json!(shop), "names are case-insensitive");
    assert_eq!(repo_path(&fixture, "acme/other").await, Value::Null);
    let exact = fixture.clone_of("exact", "https://github.com/acme/shop");
    add(&fixture, &json!({"path": exact})).await;
    assert_eq!(repo_path(&fixture, "acme/shop").await, json!(exact), "an exact match takes precedence");
    assert_eq!(repo_path(&fixture, "Acme/Shop").await, json!(shop));
    fixture.internal("DELETE", &format!("{REPOS}?path={}", shop.display())).send().await;
    assert_eq!(repo_path(&fixture, "Acme/Shop").await, json!(exact));
}

#[tokio::test]
async fn forged_entry_reveals_no_repository_outside_of_the_sandbox() {
    let fixture = TestGateway::new().await;
    // A repository outside, and a directory inside whose `.git` file points to it.
    let outside = fixture.clone_of("../secret", "git@github.com:acme/secret.git");
    let shop = fixture.clone_of("shop", "git@github.com:acme/shop.git");
    let pointing = fixture.sandbox().join("pointing");
    std::fs::create_dir(&pointing).unwrap();
    std::fs::write(pointing.join(".git"), format!("gitdir: {}/.git", outside.display())).unwrap();
    let entries = [&outside, &shop, &pointing].map(|path| json!({"path": path}));
    std::fs::create_dir_all(fixture.repos_file().parent().unwrap()).unwrap();
    std::fs::write(fixture.repos_file(), json!({"repos": entries}).to_string()).unwrap();
    let listed = fixture.internal("GET", REPOS).send().await;
    assert!(!listed.text().contains("secret"), "{}", listed.text());
    assert_eq!(listed.json()["repos"].as_array().unwrap().len(), 2);
    assert_eq!(repo_path(&fixture, "acme/secret").await, Value::Null);
    assert_eq!(repo_path(&fixture, "acme/shop").await, json!(shop));
}

#[tokio::test]
async fn pipes_and_devices_do_not_block_routes() {
    let fixture = TestGateway::new().await;
    fixture.pipe(&fixture.repos_file());
    fixture.pipe(&fixture.sandbox().join(".loopgate/sessions.json"));
    let shop = fixture.clone_of("shop", "git@github.com:acme/shop.git");
    std::os::unix::fs::symlink("/dev/zero", shop.join("package.json")).unwrap();
    let added = add(&fixture, &json!({"path": shop})).await;
    assert_eq!((added.status, added.json()["repo"].get("deployment")), (200, None));
    std::fs::remove_file(shop.join(".git/config")).unwrap();
    fixture.pipe(&shop.join(".git/config"));
    let listed = fixture.internal("GET", REPOS).send().await.json();
    assert_eq!(listed["repos"][0]["name"], "shop");
    assert_eq!(listed["repos"][0].get("fullName"), None);
    assert_eq!(repo_path(&fixture, "acme/shop").await, Value::Null);
    let sessions = fixture.internal("GET", "/api/gateway/orchestrator/sessions").send().await;
    assert_eq!(sessions.json()["sessions"], json!([]));
}

#[tokio::test]
async fn lists_are_not_read_or_written_through_a_symlink() {
    let fixture = TestGateway::new().await;
    let shop = fixture.clone_of("shop", "git@github.com:acme/shop.git");
    let outside = fixture.sandbox().join("../outside");
    std::fs::create_dir_all(outside.join("config")).unwrap();
    let state = fixture.sandbox().join(".loopgate");
    if state.exists() {
        std::fs::remove_dir_all(&state).unwrap();
    }
    std::os::unix::fs::symlink(&outside, &state).unwrap();
    let added = add(&fixture, &json!({"path": shop})).await;
    assert_eq!(added.status, 500);
    assert!(added.text().contains("symbolic link"), "{}", added.text());
    assert_eq!(fixture.internal("GET", REPOS).send().await.status, 500);
    let note = json!({"ticketId": "T", "repoPath": shop, "worktreePath": shop}).to_string();
    let noted = fixture.internal("POST", "/api/gateway/orchestrator/sessions").body(note).send().await;
    assert_eq!(noted.status, 500);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(outside.join("config")).unwrap().count(), 0);
}

#[tokio::test]
async fn malformed_list_of_sessions_is_moved_aside() {
    let fixture = TestGateway::new().await;
    let (shop, file) = (fixture.clone_of("shop", "x/y"), fixture.sandbox().join(".loopgate/sessions.json"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{").unwrap();
    let note = json!({"ticketId": "T", "repoPath": shop, "worktreePath": shop}).to_string();
    let noted = fixture.internal("POST", "/api/gateway/orchestrator/sessions").body(note).send().await;
    assert_eq!(noted.status, 200);
    let names = std::fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let renamed = names.into_iter().find(|path| path.to_string_lossy().contains("sessions.json.corrupt-"));
    assert_eq!(std::fs::read(renamed.unwrap()).unwrap(), b"{");
}
