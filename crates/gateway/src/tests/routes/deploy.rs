//! Deploys: how a repository is run, its run, and its end.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use crate::tests::approval_subjects::worktree;
use crate::tests::test_gateway::{TestGateway, TestResponse, within};

const DEPLOY: &str = "/api/gateway/deploy";
const NEXT: &str = r#"{"scripts":{"dev":"next dev -p 3100"},"dependencies":{"next":"15"}}"#;

async fn post(place: &TestGateway, route: &str, body: &Value) -> TestResponse {
    place.internal("POST", &format!("{DEPLOY}{route}")).body(body.to_string()).send().await
}

/// A clone that is in the list.
async fn listed(place: &TestGateway, name: &str, files: &[(&str, &str)]) -> String {
    let clone = place.clone_of(name, &format!("https://github.com/acme/{name}.git"));
    let path = clone.to_string_lossy().into_owned();
    let added =
        place.internal("POST", "/api/gateway/repos").body(json!({"path": path}).to_string()).send().await;
    assert_eq!(added.status, 200);
    for (name, text) in files {
        std::fs::write(clone.join(name), text).unwrap();
    }
    path
}

fn entry(place: &TestGateway) -> Value {
    let text = std::fs::read(place.repos_file()).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["repos"][0]["deployment"].clone()
}

/// Writes how the one listed repository is run, by hand.
fn write_entry(place: &TestGateway, deployment: &Value) {
    let text = std::fs::read(place.repos_file()).unwrap();
    let mut file: Value = serde_json::from_slice(&text).unwrap();
    file["repos"][0]["deployment"] = deployment.clone();
    std::fs::write(place.repos_file(), file.to_string()).unwrap();
}

async fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

/// A server that answers everything with one status.
async fn server(status: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let reply = format!(
                "HTTP/1.1 {status}\r\nLocation: http://localhost:1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(reply.as_bytes()).await;
        }
    });
    port
}

// DL-01, DL-05
#[tokio::test]
async fn what_is_detected_is_answered_and_stored() {
    let place = TestGateway::new().await;
    let repo = listed(&place, "shop", &[("package.json", NEXT), ("index.html", "")]).await;
    let answer = post(&place, "/detect", &json!({"repoPath": repo})).await;
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["detected"], &body["config"]["port"]),
        (200, &json!(true), &json!(3100))
    );
    assert_eq!(body["config"]["command"], "npm run dev");
    let kinds: Vec<&Value> =
        body["candidates"].as_array().unwrap().iter().map(|one| &one["config"]["type"]).collect();
    assert_eq!(kinds, ["next", "static"]);
    assert_eq!(entry(&place)["framework"], "next");
}

// DL-06
#[tokio::test]
async fn what_is_gone_is_forgotten() {
    let place = TestGateway::new().await;
    let repo = listed(&place, "shop", &[("package.json", NEXT)]).await;
    let answer = post(&place, "/redetect", &json!({"repoPath": repo})).await.json();
    assert_eq!((&answer["redetected"], &entry(&place)["type"]), (&json!(true), &json!("next")));
    std::fs::write(format!("{repo}/package.json"), "{}").unwrap();
    let answer = post(&place, "/redetect", &json!({"repoPath": repo})).await;
    assert_eq!(answer.text(), r#"{"redetected":false}"#);
    assert_eq!(entry(&place), Value::Null);
}

// DL-43
#[tokio::test]
async fn what_was_written_by_hand_survives_detection() {
    let place = TestGateway::new().await;
    let repo = listed(&place, "shop", &[("package.json", NEXT)]).await;
    write_entry(&place, &json!({"teardownCommand": "true", "unknown": {"a": 1}}));
    post(&place, "/detect", &json!({"repoPath": repo})).await;
    let stored = entry(&place);
    assert_eq!((&stored["teardownCommand"], &stored["unknown"]["a"]), (&json!("true"), &json!(1)));
    assert_eq!(stored["port"], 3100);
}

// DL-07, DL-15, DL-19, DL-20, DL-22
#[tokio::test]
async fn bad_input_is_refused_row_by_row() {
    let place = TestGateway::new().await;
    let repo = listed(&place, "shop", &[]).await;
    let missing = format!("{repo}-none");
    let both = "repoPath and worktreePath are required";
    for (route, body, status, text) in [
        (
            "",
            json!({"ticketId": "T", "repoPath": repo}),
            400,
            "ticketId, repoPath, and worktreePath are required",
        ),
        (
            "",
            json!({"ticketId": "T", "repoPath": repo, "worktreePath": repo}),
            400,
            "No deployment configuration detected for this repository",
        ),
        ("/teardown", json!({"repoPath": repo}), 400, both),
        (
            "/teardown",
            json!({"repoPath": repo, "worktreePath": repo}),
            400,
            "No port, PID, or teardown command available to stop the server",
        ),
        ("/check-existing", json!({"worktreePath": repo}), 400, both),
        ("/detect", json!({}), 400, "repoPath is required"),
        ("/redetect", json!({"repoPath": " "}), 400, "repoPath is required"),
        ("/extract-info", json!({"logs": "x"}), 400, "repoPath is required"),
        ("/health", json!({"url": 5}), 400, "url is required"),
        ("/kill", json!({"pid": "abc"}), 400, "pid is required and must be a number"),
        ("/kill", json!({"pid": 0}), 400, "pid is required and must be a number"),
        ("/kill", json!({}), 400, "pid is required and must be a number"),
    ] {
        let reply = post(&place, route, &body).await;
        assert_eq!((reply.status, reply.json()["error"].as_str()), (status, Some(text)), "{route} {body}");
    }
    let gone = post(&place, "", &json!({"ticketId": "T", "repoPath": repo, "worktreePath": missing})).await;
    assert_eq!(
        (gone.status, gone.json()["error"].clone()),
        (404, json!(format!("Worktree not found: {missing}")))
    );
    let status = place.internal("GET", &format!("{DEPLOY}/status/T")).send().await;
    status.assert_error(400, "repo query param is required", "missing_field");
    let status = place.internal("GET", &format!("{DEPLOY}/status/T?repo={repo}")).send().await;
    assert_eq!(status.text(), r#"{"status":"not-started","logs":null,"pid":null}"#);
}

// DL-08
#[tokio::test]
async fn nothing_outside_the_sandbox_is_touched() {
    let place = TestGateway::new().await;
    let repo = listed(&place, "shop", &[]).await;
    for route in ["", "/teardown", "/check-existing", "/detect", "/redetect", "/extract-info"] {
        let outside = json!({"ticketId": "T", "repoPath": "/etc", "worktreePath": repo});
        post(&place, route, &outside).await.assert_error(
            403,
            "directory not allowed",
            "directory_not_allowed",
        );
    }
    for route in ["", "/teardown", "/check-existing"] {
        let outside = json!({"ticketId": "T", "repoPath": repo, "worktreePath": "/etc"});
        post(&place, route, &outside).await.assert_error(
            403,
            "directory not allowed",
            "directory_not_allowed",
        );
    }
    let status = place.internal("GET", &format!("{DEPLOY}/status/T?repo=/etc")).send().await;
    status.assert_error(403, "directory not allowed", "directory_not_allowed");
    let other = place.clone_of("other", "https://github.com/acme/other.git");
    let foreign = json!({"ticketId": "T", "repoPath": repo, "worktreePath": other});
    post(&place, "", &foreign).await.assert_error(
        400,
        "worktreePath is no worktree of repoPath",
        "invalid_request",
    );
}

// DL-09, DL-20, DL-22
#[tokio::test]
async fn a_run_is_started_answers_and_is_torn_down() {
    let place = TestGateway::new().await;
    let repo = listed(&place, "shop", &[]).await;
    for directory in ["refs", "worktrees"] {
        std::fs::create_dir_all(format!("{repo}/.git/{directory}")).unwrap();
    }
    std::fs::write(format!("{repo}/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let tree = place.sandbox().join("shop-T-1");
    worktree(Path::new(&repo), &tree);
    let port = free_port().await;
    let command =
        format!("PATH=/usr/local/bin:/usr/bin:/bin exec python3 -m http.server {port} --bind 127.0.0.1");
    write_entry(&place, &json!({"command": command, "port": port, "type": "static"}));
    let order = json!({"ticketId": "T-1", "repoPath": repo, "worktreePath": tree});
    let started = post(&place, "", &order).await;
    assert_eq!(started.status, 200, "{}", started.text());
    let started = started.json();
    assert_eq!((&started["deployCommand"], &started["deployType"]), (&json!(command), &json!("static")));
    assert_eq!((&started["port"], &started["repoName"]), (&json!(port), &json!("shop")));
    let pid = started["pid"].as_u64().unwrap();
    let asked = format!("{DEPLOY}/status/T-1?repo={repo}&pid={pid}");
    let done = within(async {
        loop {
            let status = place.internal("GET", &asked).send().await.json();
            match status["status"].as_str() {
                Some("running") => tokio::task::yield_now().await,
                _ => return status,
            }
        }
    });
    let done = done.await;
    assert_eq!(
        (&done["status"], &done["deployedUrl"]),
        (&json!("completed"), &json!(format!("http://localhost:{port}")))
    );
    let both = json!({"repoPath": repo, "worktreePath": tree});
    let existing = post(&place, "/check-existing", &both).await.json();
    assert_eq!(existing, json!({"active": true, "url": format!("http://localhost:{port}")}));
    let ended = post(&place, "/teardown", &json!({"repoPath": repo, "worktreePath": tree, "pid": pid})).await;
    assert_eq!(ended.text(), r#"{"success":true}"#);
    let killed = post(&place, "/kill", &json!({"pid": pid.to_string()})).await;
    assert_eq!(killed.json(), json!({"success": true, "message": "Process already terminated", "pid": pid}));
    assert_eq!(post(&place, "/check-existing", &both).await.text(), r#"{"active":false}"#);
    assert_eq!(post(&place, "/teardown", &both).await.text(), r#"{"success":true}"#);
}

// DL-21
#[tokio::test]
async fn strangers_are_not_signalled() {
    let place = TestGateway::new().await;
    for pid in [json!(1), json!(-5), json!("-5"), json!(std::process::id())] {
        let reply = post(&place, "/kill", &json!({"pid": pid})).await;
        reply.assert_error(403, "process not managed by this gateway", "process_not_managed");
    }
    let repo = listed(&place, "shop", &[]).await;
    let body = json!({"repoPath": repo, "worktreePath": repo, "pid": std::process::id()});
    assert_eq!(post(&place, "/teardown", &body).await.json()["success"], false);
}

// DL-17, DL-18
#[tokio::test]
async fn only_servers_of_this_machine_are_asked() {
    let place = TestGateway::new().await;
    for url in ["http://169.254.169.254/latest", "tcp://localhost:1", "http://a@localhost/", "nonsense"] {
        let refused = post(&place, "/health", &json!({"url": url})).await.json();
        let expected = json!({"alive": false, "statusCode": null,
            "error": "url blocked by desktop outbound policy", "code": "OUTBOUND_URL_DENIED"});
        assert_eq!(refused, expected, "{url}");
    }
    for (status, code, alive) in [("204 x", 204, true), ("302 x", 302, true), ("500 x", 500, false)] {
        let url = format!("http://app.localhost:{}/", server(status).await);
        let answer = post(&place, "/health", &json!({"url": url})).await.json();
        assert_eq!(answer, json!({"alive": alive, "statusCode": code}));
    }
    let url = format!("http://localhost:{}/", free_port().await);
    let silent = post(&place, "/health", &json!({"url": url})).await.json();
    assert_eq!((&silent["alive"], &silent["statusCode"]), (&json!(false), &Value::Null));
    assert!(silent["reason"].as_str().unwrap().starts_with("nothing accepts connections"));
}

// DL-23, DL-24
#[tokio::test]
async fn a_stored_port_tells_whether_and_where_it_runs() {
    let place = TestGateway::new().await;
    let repo = listed(&place, "shop", &[]).await;
    let both = json!({"repoPath": repo, "worktreePath": repo});
    assert_eq!(post(&place, "/check-existing", &both).await.text(), r#"{"active":false}"#);
    assert_eq!(post(&place, "/extract-info", &both).await.text(), r#"{"url":null}"#);
    let port = server("200 OK").await;
    write_entry(&place, &json!({"port": port}));
    let url = format!("http://localhost:{port}");
    let active = post(&place, "/check-existing", &both).await.json();
    assert_eq!(active, json!({"active": true, "url": url}));
    assert_eq!(post(&place, "/extract-info", &both).await.json(), json!({"url": url}));
    let logs = json!({"repoPath": repo, "logs": "  Local: http://localhost:5174/\n"});
    assert_eq!(post(&place, "/extract-info", &logs).await.json(), json!({"url": "http://localhost:5174/"}));
    write_entry(&place, &json!({"port": free_port().await}));
    assert_eq!(post(&place, "/check-existing", &both).await.text(), r#"{"active":false}"#);
}
