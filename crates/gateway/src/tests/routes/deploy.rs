//! Deployments: detection, start, status and teardown.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_home::TrustStore;
use loopgate_tools::process::processes_in;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::tests::approval_subjects::worktree;
use crate::tests::approvals::held;
use crate::tests::test_gateway::{TestGateway, TestResponse, within};
use crate::{Coverage, Effect};

const DEPLOY: &str = "/api/gateway/deploy";
const NEXT: &str = r#"{"scripts":{"dev":"next dev -p 3100"},"dependencies":{"next":"15"}}"#;

async fn post(fixture: &TestGateway, route: &str, body: &Value) -> TestResponse {
    fixture.internal("POST", &format!("{DEPLOY}{route}")).body(body.to_string()).send().await
}

/// Deploys, after agreeing to the commands that the first response names.
async fn deploy(fixture: &TestGateway, body: &Value) -> TestResponse {
    let refused = post(fixture, "", body).await;
    if refused.status != 403 {
        return refused;
    }
    agree(fixture, &refused);
    post(fixture, "", body).await
}

/// Agrees to the commands of a refused request, as the command that the error names does.
fn agree(fixture: &TestGateway, refused: &TestResponse) {
    let body = refused.json();
    assert_eq!(body["code"], "command_not_trusted", "{body}");
    let (_, command) = body["error"].as_str().unwrap().rsplit_once("loopgate trust ").unwrap();
    let mut words = command.split(" --deploy ");
    let clone = Path::new(words.next().unwrap());
    let unquoted = |word: &str| word[1..word.len() - 1].replace("'\\''", "'");
    let commands: Vec<String> = words.map(unquoted).collect();
    TrustStore::new(&fixture.data_dir()).trust_deploy_commands(clone, &commands).unwrap();
}

/// Creates a clone and adds it to the managed repositories.
async fn add_repository(fixture: &TestGateway, name: &str, files: &[(&str, &str)]) -> String {
    let clone = fixture.clone_of(name, &format!("https://github.com/acme/{name}.git"));
    let path = clone.to_string_lossy().into_owned();
    let response =
        fixture.internal("POST", "/api/gateway/repos").body(json!({"path": path}).to_string()).send().await;
    assert_eq!(response.status, 200);
    for (name, text) in files {
        std::fs::write(clone.join(name), text).unwrap();
    }
    path
}

fn entry(fixture: &TestGateway) -> Value {
    let text = std::fs::read(fixture.repos_file()).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["repos"][0]["deployment"].clone()
}

/// Overwrites the deployment settings of the only managed repository, like a user who edits the file.
fn write_entry(fixture: &TestGateway, deployment: &Value) {
    let text = std::fs::read(fixture.repos_file()).unwrap();
    let mut file: Value = serde_json::from_slice(&text).unwrap();
    file["repos"][0]["deployment"] = deployment.clone();
    std::fs::write(fixture.repos_file(), file.to_string()).unwrap();
}

async fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

/// Starts a server that responds to every request with the given status.
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
async fn detected_settings_are_returned_and_stored() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[("package.json", NEXT), ("index.html", "")]).await;
    let answer = post(&fixture, "/detect", &json!({"repoPath": repo})).await;
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["detected"], &body["config"]["port"]),
        (200, &json!(true), &json!(3100))
    );
    assert_eq!(body["config"]["command"], "npm run dev");
    let kinds: Vec<&Value> =
        body["candidates"].as_array().unwrap().iter().map(|one| &one["config"]["type"]).collect();
    assert_eq!(kinds, ["next", "static"]);
    assert_eq!(entry(&fixture)["framework"], "next");
}

// DL-06
#[tokio::test]
async fn settings_are_removed_when_nothing_is_detected() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[("package.json", NEXT)]).await;
    let answer = post(&fixture, "/redetect", &json!({"repoPath": repo})).await.json();
    assert_eq!((&answer["redetected"], &entry(&fixture)["type"]), (&json!(true), &json!("next")));
    std::fs::write(format!("{repo}/package.json"), "{}").unwrap();
    let answer = post(&fixture, "/redetect", &json!({"repoPath": repo})).await;
    assert_eq!(answer.text(), r#"{"redetected":false}"#);
    assert_eq!(entry(&fixture), Value::Null);
}

// DL-43
#[tokio::test]
async fn manual_settings_survive_detection() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[("package.json", NEXT)]).await;
    write_entry(&fixture, &json!({"teardownCommand": "true", "unknown": {"a": 1}}));
    post(&fixture, "/detect", &json!({"repoPath": repo})).await;
    let deployment = entry(&fixture);
    assert_eq!((&deployment["teardownCommand"], &deployment["unknown"]["a"]), (&json!("true"), &json!(1)));
    assert_eq!(deployment["port"], 3100);
}

// DL-07
#[tokio::test]
async fn refusal_names_the_places_and_the_settings() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[]).await;
    let launch = json!({"ticketId": "T", "repoPath": repo, "worktreePath": repo});
    let refused = async || {
        let reply = post(&fixture, "", &launch).await;
        assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("invalid_request")));
        reply.json()["error"].as_str().unwrap().to_owned()
    };
    let file = fixture.repos_file().display().to_string();
    let error = refused().await;
    assert!(error.starts_with("No deployment configuration detected for this repository: "), "{error}");
    let named = [
        "package.json",
        "apps/*",
        "frontend",
        "Dockerfile",
        "`command`",
        "`directory`",
        &file,
        "docs/deployments.md",
    ];
    for part in named {
        assert!(error.contains(part), "{part}: {error}");
    }
    // A directory of the user is the only place.
    std::fs::write(format!("{repo}/package.json"), NEXT).unwrap();
    write_entry(&fixture, &json!({"directory": "../other"}));
    let error = refused().await;
    assert!(error.contains("looked in its directory `../other` for package.json"), "{error}");
}

/// The application is in a package of a workspace, and listens on another port than the detection assumes.
// DL-44, DL-48
#[tokio::test]
async fn package_of_a_workspace_is_deployed_where_it_listens() {
    let port = free_port().await;
    let server = format!(
        "require('http').createServer((_, answer) => answer.end('hello from web'))\n\
         \u{20}.listen({port}, '127.0.0.1', () => console.log('Server listening on port {port}'));\n"
    );
    let files = |_| {
        vec![
            ("package.json", json!({"private": true, "workspaces": ["apps/*"]}).to_string()),
            ("pnpm-lock.yaml", String::new()),
            ("apps/api/package.json", json!({"scripts": {"start": "exit 9"}}).to_string()),
            (
                "apps/web/package.json",
                json!({"scripts": {"dev": "node server.js"}, "dependencies": {"express": "5"}}).to_string(),
            ),
            ("apps/web/server.js", server),
        ]
    };
    let project = Project::new(files).await;
    let fixture = &project.fixture;
    // Runs the script of the package in the working directory.
    fixture.program("pnpm", "[ \"$1\" = install ] && { : > installed; exit; }; exec node server.js");
    let detected = post(fixture, "/detect", &json!({"repoPath": project.repo})).await.json();
    assert_eq!(
        (&detected["config"]["directory"], &detected["config"]["command"]),
        (&json!("apps/web"), &json!("pnpm dev"))
    );
    assert_eq!(
        (&detected["config"]["port"], &detected["config"]["detectedPort"]),
        (&json!(3000), &json!(3000))
    );
    assert_eq!(detected["candidates"][1]["config"]["directory"], "apps/api");
    let tree = project.worktree("T-1");
    let both = json!({"ticketId": "T-1", "repoPath": project.repo, "worktreePath": tree});
    agree(fixture, &post(fixture, "", &both).await);
    // As in a list that was written before the first deployment.
    write_entry(fixture, &Value::Null);

    let started = deploy(fixture, &both).await;
    assert_eq!(started.status, 200, "{}", started.text());
    let started = started.json();
    assert_eq!((&started["directory"], &started["deployCommand"]), (&json!("apps/web"), &json!("pnpm dev")));
    assert_eq!(started["alternatives"][0]["config"]["directory"], "apps/api");
    let url = format!("http://localhost:{port}/");
    assert_eq!(project.completed("T-1", &started["pid"]).await, url);
    assert!(tree.join("apps/web/installed").exists());
    assert_eq!(post(fixture, "/check-existing", &both).await.json(), json!({"active": true, "url": url}));
    let logs = json!({"repoPath": project.repo, "logs": format!("Server listening on port {port}\n")});
    assert_eq!(post(fixture, "/extract-info", &logs).await.json(), json!({"url": url}));
    // The settings are stored now, and the second deployment does not detect.
    assert_eq!(entry(fixture)["directory"], "apps/web");
    let again = deploy(fixture, &both).await.json();
    assert_eq!((&again["directory"], &again["alternatives"]), (&json!("apps/web"), &Value::Null));
    assert_eq!(project.completed("T-1", &again["pid"]).await, url);
    let stop = json!({"repoPath": project.repo, "worktreePath": tree, "pid": again["pid"], "port": port});
    assert_eq!(post(fixture, "/teardown", &stop).await.text(), r#"{"success":true}"#);
    assert_eq!(processes_in(&tree), []);
    // The package moves to the root: the directory of the earlier detection does not stay.
    for file in ["package.json", "server.js"] {
        std::fs::rename(format!("{}/apps/web/{file}", project.repo), format!("{}/{file}", project.repo))
            .unwrap();
    }
    post(fixture, "/detect", &json!({"repoPath": project.repo})).await;
    assert_eq!(entry(fixture)["directory"], Value::Null);
}

// DL-07, DL-15, DL-19, DL-20, DL-22
#[tokio::test]
async fn invalid_requests_are_refused() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[]).await;
    let missing = format!("{repo}-none");
    let both = "repoPath and worktreePath are required";
    for (route, body, status, text) in [
        (
            "",
            json!({"ticketId": "T", "repoPath": repo}),
            400,
            "ticketId, repoPath, and worktreePath are required",
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
        let reply = post(&fixture, route, &body).await;
        assert_eq!((reply.status, reply.json()["error"].as_str()), (status, Some(text)), "{route} {body}");
    }
    let missing_tree =
        post(&fixture, "", &json!({"ticketId": "T", "repoPath": repo, "worktreePath": missing})).await;
    assert_eq!(
        (missing_tree.status, missing_tree.json()["error"].clone()),
        (404, json!(format!("Worktree not found: {missing}")))
    );
    let status = fixture.internal("GET", &format!("{DEPLOY}/status/T")).send().await;
    status.assert_error(400, "repo query param is required", "missing_field");
    let status = fixture.internal("GET", &format!("{DEPLOY}/status/T?repo={repo}")).send().await;
    assert_eq!(status.text(), r#"{"status":"not-started","logs":null,"pid":null}"#);
}

// DL-08
#[tokio::test]
async fn paths_outside_the_sandbox_are_refused() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[]).await;
    for route in ["", "/teardown", "/check-existing", "/detect", "/redetect", "/extract-info"] {
        let outside = json!({"ticketId": "T", "repoPath": "/etc", "worktreePath": repo});
        post(&fixture, route, &outside).await.assert_error(
            403,
            "directory not allowed",
            "directory_not_allowed",
        );
    }
    for route in ["", "/teardown", "/check-existing"] {
        let outside = json!({"ticketId": "T", "repoPath": repo, "worktreePath": "/etc"});
        post(&fixture, route, &outside).await.assert_error(
            403,
            "directory not allowed",
            "directory_not_allowed",
        );
    }
    let status = fixture.internal("GET", &format!("{DEPLOY}/status/T?repo=/etc")).send().await;
    status.assert_error(403, "directory not allowed", "directory_not_allowed");
}

#[tokio::test]
async fn no_command_runs_before_consent() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[]).await;
    let mark = |name: &str| format!(": > 'ran-{name}'; read");
    write_entry(
        &fixture,
        &json!({"installCommand": ": > ran-install", "command": mark("start"),
        "teardownCommand": ": > ran-teardown"}),
    );
    let launch = json!({"ticketId": "T", "repoPath": repo, "worktreePath": repo});
    let both = json!({"repoPath": repo, "worktreePath": repo});
    let ran = |name: &str| Path::new(&repo).join(format!("ran-{name}")).exists();
    let refused = post(&fixture, "", &launch).await;
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("command_not_trusted")));
    let error = refused.text();
    assert!(error.contains("--deploy ': > ran-install'") && error.contains("loopgate trust "), "{error}");
    assert_eq!(post(&fixture, "/teardown", &both).await.json()["code"], "command_not_trusted");
    assert!(!["install", "start", "teardown"].into_iter().any(ran));

    agree(&fixture, &refused);
    assert_eq!(post(&fixture, "", &launch).await.status, 200);
    // Any program in the sandbox can change the stored settings.
    write_entry(&fixture, &json!({"command": mark("start"), "teardownCommand": ": > ran-evil"}));
    assert_eq!(post(&fixture, "/teardown", &both).await.json()["code"], "command_not_trusted");
    assert_eq!(post(&fixture, "", &launch).await.status, 403);
    assert!(!ran("evil"));
    write_entry(&fixture, &json!({"command": mark("start"), "teardownCommand": ": > ran-teardown"}));
    post(&fixture, "/teardown", &both).await;
    assert!(ran("teardown"));
}

// DL-09, DL-20, DL-22
#[tokio::test]
async fn deployment_is_started_reached_and_torn_down() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[]).await;
    for directory in ["refs", "worktrees"] {
        std::fs::create_dir_all(format!("{repo}/.git/{directory}")).unwrap();
    }
    std::fs::write(format!("{repo}/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let tree = fixture.sandbox().join("shop-T-1");
    worktree(Path::new(&repo), &tree);
    let port = free_port().await;
    let command =
        format!("PATH=/usr/local/bin:/usr/bin:/bin exec python3 -m http.server {port} --bind 127.0.0.1");
    write_entry(&fixture, &json!({"command": command, "port": port, "type": "static"}));
    let launch = json!({"ticketId": "T-1", "repoPath": repo, "worktreePath": tree});
    let started = deploy(&fixture, &launch).await;
    assert_eq!(started.status, 200, "{}", started.text());
    let started = started.json();
    assert_eq!((&started["deployCommand"], &started["deployType"]), (&json!(command), &json!("static")));
    assert_eq!((&started["port"], &started["repoName"]), (&json!(port), &json!("shop")));
    let pid = started["pid"].as_u64().unwrap();
    let status_path = format!("{DEPLOY}/status/T-1?repo={repo}&pid={pid}");
    let status = within(async {
        loop {
            let status = fixture.internal("GET", &status_path).send().await.json();
            match status["status"].as_str() {
                Some("running") => tokio::task::yield_now().await,
                _ => return status,
            }
        }
    });
    let status = status.await;
    assert_eq!(
        (&status["status"], &status["deployedUrl"]),
        (&json!("completed"), &json!(format!("http://localhost:{port}")))
    );
    let both = json!({"repoPath": repo, "worktreePath": tree});
    let existing = post(&fixture, "/check-existing", &both).await.json();
    assert_eq!(existing, json!({"active": true, "url": format!("http://localhost:{port}")}));
    let torn_down =
        post(&fixture, "/teardown", &json!({"repoPath": repo, "worktreePath": tree, "pid": pid})).await;
    assert_eq!(torn_down.text(), r#"{"success":true}"#);
    let killed = post(&fixture, "/kill", &json!({"pid": pid.to_string()})).await;
    assert_eq!(killed.json(), json!({"success": true, "message": "Process already terminated", "pid": pid}));
    assert_eq!(post(&fixture, "/check-existing", &both).await.text(), r#"{"active":false}"#);
    assert_eq!(post(&fixture, "/teardown", &both).await.text(), r#"{"success":true}"#);
}

// DL-21
#[tokio::test]
async fn unmanaged_processes_are_not_signalled() {
    let fixture = TestGateway::new().await;
    for pid in [json!(1), json!(-5), json!("-5"), json!(std::process::id())] {
        let reply = post(&fixture, "/kill", &json!({"pid": pid})).await;
        reply.assert_error(403, "process not managed by this gateway", "process_not_managed");
    }
    let repo = add_repository(&fixture, "shop", &[]).await;
    let body = json!({"repoPath": repo, "worktreePath": repo, "pid": std::process::id()});
    assert_eq!(post(&fixture, "/teardown", &body).await.json()["success"], false);
}

// DL-17, DL-18
#[tokio::test]
async fn health_checks_reach_loopback_servers_only() {
    let fixture = TestGateway::new().await;
    // Cloud metadata, another scheme, credentials in the URL, and no URL at all.
    for url in ["http://169.254.169.254/latest", "tcp://localhost:1", "http://a@localhost/", "nonsense"] {
        let refused = post(&fixture, "/health", &json!({"url": url})).await.json();
        let expected = json!({"alive": false, "statusCode": null,
            "error": "url blocked by desktop outbound policy", "code": "OUTBOUND_URL_DENIED"});
        assert_eq!(refused, expected, "{url}");
    }
    for (status, code, alive) in [("204 x", 204, true), ("302 x", 302, true), ("500 x", 500, false)] {
        let url = format!("http://app.localhost:{}/", server(status).await);
        let answer = post(&fixture, "/health", &json!({"url": url})).await.json();
        assert_eq!(answer, json!({"alive": alive, "statusCode": code}));
    }
    let url = format!("http://localhost:{}/", free_port().await);
    let silent = post(&fixture, "/health", &json!({"url": url})).await.json();
    assert_eq!((&silent["alive"], &silent["statusCode"]), (&json!(false), &Value::Null));
    assert!(silent["reason"].as_str().unwrap().starts_with("nothing accepts connections"));
}

// DL-23, DL-24
#[tokio::test]
async fn stored_port_determines_state_and_url() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[]).await;
    let both = json!({"repoPath": repo, "worktreePath": repo});
    assert_eq!(post(&fixture, "/check-existing", &both).await.text(), r#"{"active":false}"#);
    assert_eq!(post(&fixture, "/extract-info", &both).await.text(), r#"{"url":null}"#);
    let port = server("200 OK").await;
    write_entry(&fixture, &json!({"port": port}));
    let url = format!("http://localhost:{port}");
    let active = post(&fixture, "/check-existing", &both).await.json();
    assert_eq!(active, json!({"active": true, "url": url}));
    assert_eq!(post(&fixture, "/extract-info", &both).await.json(), json!({"url": url}));
    let logs = json!({"repoPath": repo, "logs": "  Local: http://localhost:5174/\n"});
    assert_eq!(post(&fixture, "/extract-info", &logs).await.json(), json!({"url": "http://localhost:5174/"}));
    write_entry(&fixture, &json!({"port": free_port().await}));
    assert_eq!(post(&fixture, "/check-existing", &both).await.text(), r#"{"active":false}"#);
}

/// Upper bound for building and starting a project on a busy machine.
const BUILD_TIMEOUT: Duration = Duration::from_secs(300);

/// Programs that the projects need. They are looked up on the PATH of the test process.
const TOOLS: [&str; 4] = ["node", "npm", "cargo", "python3"];

/// A small project that is deployed for two tickets at once. `taken` occupies its configured port, so that
/// both deployments need another one.
struct Project {
    fixture: TestGateway,
    repo: String,
    files: Vec<(&'static str, String)>,
    taken: TcpListener,
}

impl Project {
    async fn new(files: impl FnOnce(u16) -> Vec<(&'static str, String)>) -> Self {
        let fixture = TestGateway::new().await;
        // Deployed programs need the PATH and HOME of this machine; the fixture's PATH contains only stubs.
        let (path, home) = (std::env::var("PATH").unwrap(), std::env::var("HOME").unwrap());
        for tool in TOOLS {
            fixture.program(tool, &format!("PATH='{path}' HOME='{home}' exec {tool} \"$@\""));
        }
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let files = files(taken.local_addr().unwrap().port());
        let repo = add_repository(&fixture, "shop", &[]).await;
        for directory in ["refs", "worktrees"] {
            std::fs::create_dir_all(format!("{repo}/.git/{directory}")).unwrap();
        }
        std::fs::write(format!("{repo}/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let project = Self { fixture, repo, files, taken };
        project.write_files(Path::new(&project.repo));
        project
    }

    fn write_files(&self, directory: &Path) {
        for (name, text) in &self.files {
            let path = directory.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    fn worktree(&self, ticket: &str) -> PathBuf {
        let tree = self.fixture.sandbox().join(format!("shop-{ticket}"));
        worktree(Path::new(&self.repo), &tree);
        self.write_files(&tree);
        tree.canonicalize().unwrap()
    }

    /// Detects the settings, deploys for two tickets at once, and tears both down. Each must serve `page`.
    async fn runs(&self, kind: &str, page: &str) {
        let detected = post(&self.fixture, "/detect", &json!({"repoPath": self.repo})).await.json();
        assert_eq!((&detected["detected"], &detected["config"]["type"]), (&json!(true), &json!(kind)));
        let mut started = Vec::new();
        for ticket in ["T-1", "T-2"] {
            let tree = self.worktree(ticket);
            let body = json!({"ticketId": ticket, "repoPath": self.repo, "worktreePath": tree});
            let answer = deploy(&self.fixture, &body).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            started.push((ticket, tree, answer.json()));
        }
        let ports: Vec<&Value> = started.iter().map(|(_, _, answer)| &answer["port"]).collect();
        assert!(ports[0].is_u64() && ports[1].is_u64() && ports[0] != ports[1], "{ports:?}");
        assert!(!ports.contains(&&json!(self.taken.local_addr().unwrap().port())), "{ports:?}");
        for (ticket, _, answer) in &started {
            let url = self.completed(ticket, &answer["pid"]).await;
            assert_eq!(url, format!("http://localhost:{}", answer["port"]));
            let health = post(&self.fixture, "/health", &json!({"url": url})).await.json();
            assert_eq!(health, json!({"alive": true, "statusCode": 200}));
            let body = get(answer["port"].as_u64().unwrap()).await;
            assert!(body.contains(page), "{body}");
        }
        for (_, tree, answer) in &started {
            let both = json!({"repoPath": self.repo, "worktreePath": tree, "pid": answer["pid"]});
            assert_eq!(post(&self.fixture, "/teardown", &both).await.text(), r#"{"success":true}"#);
            assert_eq!(processes_in(tree), []);
            let url = format!("http://localhost:{}", answer["port"]);
            let health = post(&self.fixture, "/health", &json!({"url": url})).await.json();
            assert_eq!((&health["alive"], &health["statusCode"]), (&json!(false), &Value::Null));
        }
    }

    /// Waits until a deployment is reachable and returns its URL.
    async fn completed(&self, ticket: &str, pid: &Value) -> String {
        let status_path = format!("{DEPLOY}/status/{ticket}?repo={}&pid={pid}", self.repo);
        let wait = async {
            let mut ticks = tokio::time::interval(Duration::from_millis(100));
            loop {
                ticks.tick().await;
                let status = self.fixture.internal("GET", &status_path).send().await.json();
                if status["status"] != "running" {
                    return status;
                }
            }
        };
        let status =
            tokio::time::timeout(BUILD_TIMEOUT, wait).await.expect("the deployment is not reachable in time");
        assert_eq!(status["status"], "completed", "{status}");
        status["deployedUrl"].as_str().unwrap().to_owned()
    }
}

async fn get(port: u64) -> String {
    let port = u16::try_from(port).unwrap();
    let mut stream = match TcpStream::connect(("127.0.0.1", port)).await {
        Ok(stream) => stream,
        Err(_) => TcpStream::connect(("::1", port)).await.unwrap(),
    };
    stream.write_all(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    within(stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// The greeting is in a dependency, which only `npm install` makes available.
#[tokio::test]
async fn node_server_with_a_dependency_runs_for_two_tickets() {
    let project = Project::new(|port| {
        let manifest = json!({
            "name": "shop",
            "scripts": {"dev": format!("node server.js --port {port}")},
            "dependencies": {"greeting": "file:./greeting"},
        });
        let server = "const port = process.env.PORT || process.argv[3];\n\
            require('http').createServer((_, answer) => answer.end(require('greeting'))).listen(port);\n";
        vec![
            ("package.json", manifest.to_string()),
            ("server.js", server.to_owned()),
            ("greeting/package.json", json!({"name": "greeting", "version": "1.0.0"}).to_string()),
            ("greeting/index.js", "module.exports = 'hello from node';\n".to_owned()),
        ]
    });
    project.await.runs("node", "hello from node").await;
}

#[tokio::test]
async fn rust_server_is_built_and_runs_for_two_tickets() {
    let project = Project::new(|port| {
        let manifest = "[package]\nname = \"shop\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";
        let main = format!(
            r#"use std::io::{{Read, Write}};

fn main() {{
    let port = std::env::var("PORT").unwrap_or_else(|_| "{port}".to_owned());
    let listener = std::net::TcpListener::bind(format!("127.0.0.1:{{port}}")).unwrap();
    for mut stream in listener.incoming().flatten() {{
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\nConnection: close\r\n\r\nhello from rust");
    }}
}}
"#
        );
        vec![("Cargo.toml", manifest.to_owned()), ("src/main.rs", main)]
    });
    project.await.runs("cargo", "hello from rust").await;
}

#[tokio::test]
async fn python_server_runs_for_two_tickets() {
    let project = Project::new(|port| {
        let server = format!(
            r#"import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from python")

    def do_HEAD(self):
        self.send_response(200)
        self.end_headers()

HTTPServer(("127.0.0.1", int(os.environ.get("PORT", {port}))), Handler).serve_forever()
"#
        );
        vec![("server.py", server)]
    });
    project.await.runs("python", "hello from python").await;
}

/// All static sites share one default port, so the second ticket needs another one.
#[tokio::test]
async fn static_site_runs_for_two_tickets() {
    let project = Project::new(|_| vec![("public/index.html", "<p>hello from a page</p>".to_owned())]);
    project.await.runs("static", "hello from a page").await;
}

// DL-B03
#[tokio::test]
async fn worktree_of_another_repository_is_refused() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[]).await;
    let other = fixture.clone_of("other", "https://github.com/acme/other.git");
    for route in ["", "/teardown", "/check-existing"] {
        let body = json!({"ticketId": "T", "repoPath": repo, "worktreePath": other});
        let reply = post(&fixture, route, &body).await;
        reply.assert_error(400, "worktreePath is not a worktree of repoPath", "invalid_request");
    }
}

// DL-B04
#[tokio::test]
async fn approval_is_void_when_the_shown_commands_change() {
    let fixture = TestGateway::new().await;
    let repo = add_repository(&fixture, "shop", &[("package.json", NEXT)]).await;
    let approvals = fixture.gateway.approvals();
    approvals.set_policy(Coverage::default(), Effect::Ask).unwrap();
    let request = |route: &str| {
        let body = json!({"ticketId": "T", "repoPath": repo, "worktreePath": repo});
        fixture.internal("POST", &format!("{DEPLOY}{route}")).body(body.to_string())
    };
    let (reply, pending) = held(&fixture, request("")).await;
    assert_eq!(pending.action.as_deref(), Some("installCommand=npm install, command=npm run dev"));
    // The lock file changes the detected package manager, and with it the install command.
    std::fs::write(format!("{repo}/yarn.lock"), "").unwrap();
    approvals.approve(pending.id).unwrap();
    let text = "the request would now run another command than the one approved; send it again";
    within(reply).await.unwrap().assert_error(409, text, "approval_outdated");

    write_entry(&fixture, &json!({"teardownCommand": "docker\ncompose down"}));
    let (reply, pending) = held(&fixture, request("/teardown")).await;
    assert_eq!(pending.action.as_deref(), Some("teardownCommand=docker compose down"));
    approvals.deny(pending.id).unwrap();
    within(reply).await.unwrap().assert_error(403, "request denied", "request_denied");
}
