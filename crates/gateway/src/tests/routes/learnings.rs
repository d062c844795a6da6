//! Learnings: listing, extraction by the assistant, processing by the plugin's script, and recording of uses.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::tests::test_gateway::{TestGateway, TestOptions, TestResponse, script, within};

const ANSWER: &str = r#"{"learnings":[{"what_happened":"Tests failed","why":"The schema was old","category":"mistake","pattern_to_remember":"Run the migrations before the tests","file":"src/a.rs","line":7}]}"#;

/// A repository and the worktree of ticket `SHOP-7` next to it.
struct Shop {
    fixture: TestGateway,
    repo: PathBuf,
    worktree: PathBuf,
    work: PathBuf,
}

impl Shop {
    async fn new() -> Self {
        let fixture = TestGateway::with(TestOptions { runtime: true, ..TestOptions::default() }).await;
        let repo = fixture.clone_of("shop", "https://github.com/acme/shop.git");
        let worktree = fixture.sandbox().join("shop-SHOP-7");
        let work = worktree.join(".loopgate/work");
        std::fs::create_dir_all(&work).unwrap();
        Self { fixture, repo, worktree, work }
    }

    fn home(&self) -> PathBuf {
        self.fixture.discovery_file().parent().unwrap().parent().unwrap().to_owned()
    }

    fn patterns(&self) -> PathBuf {
        self.fixture.discovery_file().with_file_name("learnings/org-patterns.toon")
    }

    fn write(&self, name: &str, text: &str) {
        put(&self.work.join(name), text);
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work.join(name)).unwrap_or_default()
    }

    fn pending(&self, name: &str) {
        let learning = json!({"what_happened": "w", "why": "y", "applies_to": ["*"],
            "pattern_to_remember": "Run the migrations before the tests", "context": {"file": "a", "line": 1}});
        self.write(&format!(".learnings/pending/{name}.json"), &learning.to_string());
    }

    /// Installs a version of the plugin's script.
    fn plugin(&self, version: &str, line: &str) {
        let directory = self.home().join(".claude/plugins/cache/loopgate/self-learning").join(version);
        std::fs::create_dir_all(directory.join("scripts")).unwrap();
        script(&directory.join("scripts/process-chat-learnings.sh"), line);
    }

    async fn get(&self, route: &str) -> TestResponse {
        self.fixture.internal("GET", &format!("/api/gateway/{route}")).send().await
    }

    async fn post(&self, route: &str, body: Value) -> TestResponse {
        let path = format!("/api/gateway/orchestrator/{route}");
        self.fixture.internal("POST", &path).body(body.to_string()).send().await
    }

    async fn decide(&self, body: Value) -> TestResponse {
        let path = "/api/gateway/learnings/decision";
        self.fixture.internal("POST", path).body(body.to_string()).send().await
    }

    fn ticket(&self) -> Value {
        json!({"ticketId": "SHOP-7", "repoPath": self.repo})
    }

    async fn post_for_ticket(&self, route: &str, more: Value) -> TestResponse {
        let mut body = self.ticket();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post(route, body).await
    }

    /// Polls until the work is no longer in progress and returns its status.
    async fn finished(&self, route: &str) -> Value {
        let poll = async {
            loop {
                let reply = self.get(route).await;
                assert_eq!(reply.status, 200, "{}", reply.text());
                let status = reply.json();
                if !["processing", "waiting"].contains(&status["status"].as_str().unwrap()) {
                    return status;
                }
            }
        };
        within(poll).await
    }

    fn extraction(&self) -> String {
        format!("orchestrator/learnings-status/SHOP-7?repo={}", self.repo.display())
    }

    fn processing(&self) -> String {
        format!("orchestrator/process-learnings?ticketId=SHOP-7&repo={}", self.repo.display())
    }
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[tokio::test]
async fn person_decides_about_a_pattern() {
    let shop = Shop::new().await;
    let rows = "patterns[1]{id,category,summary,confidence,seen_count,success_rate,flags,applies_to,context,repo}:\n  \
        P-001,pattern,\"Check the lock, then write\",high,5,0.85,,*,io,acme/shop\n";
    put(&shop.patterns(), rows);
    let decide = |action: &str, summary: &str| json!({"id": "P-001", "summary": summary, "action": action, "by": "Kim"});
    let changed = shop.decide(decide("agree", "Other words")).await;
    assert_eq!(changed.status, 409);
    let summary = "Check the lock, then write";
    let agreed = shop.decide(decide("agree", summary)).await.json();
    let pattern = &agreed["patterns"][0];
    assert_eq!((&pattern["repo"], &pattern["history"]["agreement"]["by"]), (&json!("*"), &json!("Kim")));
    let withdrawn = shop.decide(decide("withdraw", summary)).await.json();
    assert_eq!(withdrawn["patterns"][0]["repo"], "acme/shop");
    assert_eq!(withdrawn["patterns"][0]["history"]["agreement"], Value::Null);
    let deleted = shop.decide(decide("delete", summary)).await;
    assert_eq!((deleted.status, deleted.json()), (200, json!({"patterns": []})));
    assert_eq!(shop.decide(decide("delete", summary)).await.status, 404);
    assert_eq!(shop.decide(json!({"id": "P-001"})).await.status, 400);
}

// DL-25, DL-26
#[tokio::test]
async fn patterns_are_listed() {
    let shop = Shop::new().await;
    assert_eq!(shop.get("learnings").await.json(), json!({"patterns": []}));
    put(&shop.home().join(".claude/.learnings/org-patterns.toon"), "* Old habits\n");
    assert_eq!(shop.get("learnings").await.json()["patterns"][0]["summary"], "Old habits");
    let rows = "# Organization Patterns (TOON format)\n# Last updated: 2030-01-01T00:00:00Z\n\n\
        patterns[2]{id,category,summary,confidence,seen_count,success_rate,flags,applies_to,context,repo}:\n  \
        P-001,pattern,\"Check the lock, then write\",high,5,0.85,,implementation-subagent,io|locks,*\n  \
        P-002,mistake,\"Say \"\"why\"\" in the note\",medium,3,,[UNTESTED],*,docs,shop\n";
    put(&shop.patterns(), rows);
    let listed = shop.get("learnings").await.json();
    let history = json!({"sources": [], "proposed": false, "needsAgreement": false, "shown": 0, "uses": 0,
        "verified": 0, "conflictsWith": []});
    let expected = json!({"patterns": [
        {"id": "P-001", "category": "pattern", "summary": "Check the lock, then write", "confidence": "high",
         "seen_count": 5, "success_rate": 0.85, "flags": [], "applies_to": ["implementation-subagent"],
         "context": ["io", "locks"], "repo": "*", "history": history,
         "raw": "P-001,pattern,\"Check the lock, then write\",high,5,0.85,,implementation-subagent,io|locks,*"},
        {"id": "P-002", "category": "mistake", "summary": "Say \"why\" in the note", "confidence": "medium",
         "seen_count": 3, "success_rate": 0.0, "flags": ["[UNTESTED]"], "applies_to": ["*"],
         "context": ["docs"], "repo": "shop", "history": history,
         "raw": "P-002,mistake,\"Say \"\"why\"\" in the note\",medium,3,,[UNTESTED],*,docs,shop"},
    ]});
    assert_eq!(listed, expected);
    std::fs::write(shop.patterns(), b"\xff").unwrap();
    let broken = shop.get("learnings").await;
    assert_eq!(broken.status, 500);
    assert!(broken.text().contains("Failed to read learnings: "), "{}", broken.text());
}

// DL-27, DL-28
#[tokio::test]
async fn extraction_needs_a_ticket_and_its_chat() {
    let shop = Shop::new().await;
    let needed = "ticketId and repoPath are required";
    shop.post("extract-learnings", json!({"repoPath": shop.repo})).await.assert_error(
        400,
        needed,
        "missing_field",
    );
    let outside = shop.post("extract-learnings", json!({"ticketId": "SHOP-7", "repoPath": "/etc"})).await;
    outside.assert_error(403, "directory not allowed", "directory_not_allowed");
    let other = shop.post("extract-learnings", json!({"ticketId": "NONE", "repoPath": shop.repo})).await;
    other.assert_error(404, "Work directory not found", "not_found");
    let missing =
        shop.post_for_ticket("extract-learnings", json!({"chatFile": "finding-chats/f-1.json"})).await;
    let body = missing.assert_error(404, "No chat history found", "not_found");
    assert_eq!(body["path"], "finding-chats/f-1.json");
    for name in ["../../../secret.json", "a/b.json", "plan.md", ".json", "finding-chats/../x.json"] {
        let refused = shop.post_for_ticket("extract-learnings", json!({"chatFile": name})).await;
        refused.assert_error(400, "invalid chatFile", "invalid_request");
    }
    put(&shop.home().join("elsewhere.json"), "[]");
    std::os::unix::fs::symlink(shop.home().join("elsewhere.json"), shop.work.join("chat-history.json"))
        .unwrap();
    let link = shop.post_for_ticket("extract-learnings", json!({})).await;
    link.assert_error(403, "directory not allowed", "directory_not_allowed");
}

// DL-29, DL-30
#[tokio::test]
async fn chat_is_extracted_into_pending_learnings() {
    let shop = Shop::new().await;
    let none = json!({"status": "none", "count": 0});
    assert_eq!(shop.get(&shop.extraction()).await.json(), none);
    shop.write(".learnings/chat-extraction-status.json", "{\"status\":");
    assert_eq!(shop.get(&shop.extraction()).await.json(), none);
    shop.write("chat-history.json", r#"{"messages":[{"role":"user","content":"the tests fail"}]}"#);
    shop.fixture.program("claude", &format!("echo 'Sure: {ANSWER}'"));
    let started = shop.post_for_ticket("extract-learnings", json!({"activeTab": "chat"})).await;
    assert_eq!(started.json(), json!({"status": "processing"}));
    let status = shop.finished(&shop.extraction()).await;
    assert_eq!((&status["status"], &status["count"]), (&json!("completed"), &json!(1)), "{status}");
    assert_eq!((&status["activeTab"], &status["ticketId"]), (&json!("chat"), &json!("SHOP-7")));
    let pending: Vec<_> =
        std::fs::read_dir(shop.work.join(".learnings/pending")).unwrap().flatten().collect();
    assert_eq!(pending.len(), 1);
    let learning: Value = serde_json::from_slice(&std::fs::read(pending[0].path()).unwrap()).unwrap();
    assert_eq!(learning["pattern_to_remember"], "Run the migrations before the tests");
    assert_eq!(learning["context"], json!({"file": "src/a.rs", "line": 7}));
    assert_eq!(learning["source"]["ticket"], "SHOP-7");
    assert_eq!(learning["source"]["repo"], "acme/shop");
    for (script, message) in
        [("echo rubbish", "does not match the schema"), ("exit 3", "The assistant failed")]
    {
        shop.fixture.program("claude", script);
        shop.post_for_ticket("extract-learnings", json!({})).await;
        let status = shop.finished(&shop.extraction()).await;
        assert_eq!(status["status"], "error");
        assert!(status["message"].as_str().unwrap().contains(message), "{status}");
    }
}

// DL-31, DL-32
#[tokio::test]
async fn processing_is_skipped_or_fails_without_the_plugin() {
    let shop = Shop::new().await;
    let skipped = async |reason: &str| {
        let reply = shop.post_for_ticket("process-learnings", json!({})).await;
        assert_eq!(reply.json(), json!({"status": "skipped", "reason": reason}));
    };
    assert_eq!(shop.get(&shop.processing()).await.json(), json!({"status": "none"}));
    skipped("No pending learnings directory").await;
    std::fs::create_dir_all(shop.work.join(".learnings/pending")).unwrap();
    skipped("No pending learning files").await;
    shop.pending("plan-writer-1");
    let reply = shop.post_for_ticket("process-learnings", json!({})).await;
    assert_eq!(reply.json(), json!({"status": "processing", "pid": null}));
    let status = shop.finished(&shop.processing()).await;
    assert_eq!(status["status"], "error");
    assert!(status["message"].as_str().unwrap().contains("plugin"), "{status}");
    let query = "ticketId and repo are required";
    shop.get("orchestrator/process-learnings").await.assert_error(400, query, "missing_field");
}

// Renamed into place, because the gateway may read the file at any time.
const COMPLETES: &str = "printf '{\"status\":\"completed\",\"processed\":1}' > \"$1/.learnings/status.tmp\"\n\
    /bin/mv \"$1/.learnings/status.tmp\" \"$1/.learnings/processing-status.json\"";

// DL-33
#[tokio::test]
async fn newest_plugin_version_processes() {
    let shop = Shop::new().await;
    let assistant = shop.fixture.program("claude", "exit 0");
    shop.plugin("1.2.0", "exit 9");
    let record =
        "printf '%s|%s|%s' \"$1\" \"$LOOPGATE_WORKDIR\" \"$LOOPGATE_ASSISTANT_BIN\" > \"$1/arguments\"";
    shop.plugin("1.10.0", &format!("{record}\n{COMPLETES}\necho a line"));
    shop.pending("plan-writer-1");
    let reply = shop.post_for_ticket("process-learnings", json!({})).await.json();
    assert_eq!(reply["status"], "processing");
    assert!(reply["pid"].as_u64().is_some_and(|pid| pid > 1), "{reply}");
    assert!(reply["logFile"].as_str().unwrap().ends_with(".loopgate/work/process-learnings.log"), "{reply}");
    assert_eq!(shop.finished(&shop.processing()).await, json!({"status": "completed", "processed": 1}));
    let work = shop.work.canonicalize().unwrap();
    assert_eq!(
        shop.read("arguments"),
        format!("{}|{}|{}", work.display(), work.display(), assistant.display())
    );
    within(async {
        while !shop.read("process-learnings.log").contains("a line") {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn request_while_the_script_exits_starts_another_run() {
    let shop = Shop::new().await;
    let go = shop.home().join("go");
    shop.fixture.pipe(&go);
    shop.plugin("1.0.0", &format!("{COMPLETES}\nread line < {}", go.display()));
    shop.pending("plan-writer-1");
    // The script has written its result but still runs: it waits for the pipe.
    let first = shop.post_for_ticket("process-learnings", json!({})).await.json();
    assert_eq!(shop.finished(&shop.processing()).await["status"], "completed");
    // A script that exits without writing a result has failed.
    shop.plugin("1.0.0", "exit 0");
    let release = tokio::task::spawn_blocking(move || std::fs::write(go, "\n"));
    let (second, released) = tokio::join!(shop.post_for_ticket("process-learnings", json!({})), release);
    released.unwrap().unwrap();
    let second = second.json();
    assert_eq!(second["status"], "processing");
    assert_ne!(first["pid"], second["pid"]);
    assert_eq!(shop.finished(&shop.processing()).await["status"], "error");
}

// DL-34
#[tokio::test]
async fn processing_waits_for_the_extraction() {
    let shop = Shop::new().await;
    shop.plugin("1.0.0", COMPLETES);
    shop.write("chat-history.json", "[]");
    let (go, pipe) = (shop.home().join("go"), shop.home().join("go").display().to_string());
    shop.fixture.pipe(&go);
    shop.fixture.program("claude", &format!("read line < {pipe}\necho '{ANSWER}'"));
    shop.post_for_ticket("extract-learnings", json!({})).await;
    // The extraction is blocked at the pipe, so processing has to wait.
    let reply = shop.post_for_ticket("process-learnings", json!({"waitForExtraction": true})).await;
    assert_eq!(reply.json(), json!({"status": "waiting"}));
    assert_eq!(shop.get(&shop.processing()).await.json()["status"], "waiting");
    tokio::task::spawn_blocking(move || std::fs::write(go, "\n")).await.unwrap().unwrap();
    assert_eq!(shop.finished(&shop.processing()).await, json!({"status": "completed", "processed": 1}));
    assert_eq!(shop.finished(&shop.extraction()).await["count"], 1);
}

#[tokio::test]
async fn learnings_can_be_disabled_in_the_settings() {
    let shop = Shop::new().await;
    shop.plugin("1.0.0", COMPLETES);
    shop.pending("plan-writer-1");
    shop.write("chat-history.json", "[]");
    shop.fixture.settings.update(|settings| settings.learnings_enabled = false).unwrap();
    let skipped = json!({"status": "skipped", "reason": "Learnings are disabled in the settings"});
    for (route, body) in [
        ("extract-learnings", json!({})),
        ("process-learnings", json!({})),
        ("process-learnings", json!({"waitForExtraction": true})),
        ("process-all-learnings", json!({})),
    ] {
        assert_eq!(shop.post_for_ticket(route, body).await.json(), skipped, "{route}");
    }
    assert_eq!(shop.get(&shop.extraction()).await.json()["status"], "none");
    assert_eq!(shop.get(&shop.processing()).await.json()["status"], "none");
    shop.fixture.settings.update(|settings| settings.learnings_enabled = true).unwrap();
    assert_eq!(shop.post_for_ticket("process-learnings", json!({})).await.json()["status"], "processing");
    assert_eq!(shop.finished(&shop.processing()).await["status"], "completed");
}

// DL-35, DL-36
#[tokio::test]
async fn nothing_is_pending_without_repositories() {
    let shop = Shop::new().await;
    let zeros = json!({"totalCount": 0, "worktreeCount": 0});
    assert_eq!(shop.get("orchestrator/pending-learnings").await.json(), zeros);
    assert!(shop.fixture.repos_file().exists());
    assert!(!shop.fixture.sandbox().join(".loopgate/repos.json").exists());
    let missing = shop.fixture.sandbox().join("missing");
    put(&shop.fixture.repos_file(), &json!({"repos": [{"path": missing, "addedAt": ""}]}).to_string());
    assert_eq!(shop.get("orchestrator/pending-learnings").await.json(), zeros);
}

/// Runs the real git, which lists the worktrees.
async fn git(directory: &Path, args: &[&str]) {
    use loopgate_tools::process::{Command, Limits};
    let command = Command::new("git").args(["-c", "user.name=Sam", "-c", "user.email=sam@example.test"]);
    let command = command.args(args).directory(directory);
    let output = command.run(Limits::time(crate::tests::test_gateway::TIMEOUT)).await.unwrap();
    assert!(output.status.success(), "{args:?}: {}", output.stderr_text());
}

// DL-37, DL-38, DL-39
#[tokio::test]
async fn all_worktrees_are_processed_sequentially() {
    let shop = Shop::new().await;
    let batch = "orchestrator/process-all-learnings";
    assert_eq!(shop.get(batch).await.json(), json!({"status": "none"}));
    shop.fixture.program("git", "exec /usr/bin/git \"$@\"");
    let repo = shop.fixture.sandbox().join("garden");
    std::fs::create_dir_all(&repo).unwrap();
    git(&repo, &["init", "--quiet"]).await;
    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "first"]).await;
    let learning = json!({"pattern_to_remember": "Run the migrations before the tests"}).to_string();
    for name in ["one", "two", "three"] {
        let worktree = shop.fixture.sandbox().join(name);
        git(&repo, &["worktree", "add", "--quiet", "-b", name, &worktree.to_string_lossy()]).await;
    }
    put(&shop.fixture.repos_file(), &json!({"repos": [{"path": repo, "addedAt": ""}]}).to_string());
    let post = async || shop.fixture.internal("POST", &format!("/api/gateway/{batch}")).send().await;
    assert_eq!(post().await.json(), json!({"status": "skipped", "reason": "No pending learnings found"}));
    let pending =
        |name: &str| shop.fixture.sandbox().join(name).join(".loopgate/work/.learnings/pending/a.json");
    put(&pending("one"), &learning);
    put(&pending("two"), &learning);
    put(&pending("three"), r#"{"no_learnings":true,"reason":"none"}"#);
    let counted = json!({"totalCount": 2, "worktreeCount": 2});
    assert_eq!(shop.get("orchestrator/pending-learnings").await.json(), counted);
    let text = "process-chat-learnings.sh not found in self-learning plugin";
    post().await.assert_error(404, text, "not_found");
    // Pid 1 with another start time: the recorded process has exited, so it must not block a new batch.
    let dead = json!({"status": "processing", "worktreeCount": 9, "pid": 1, "pidStarted": 1});
    let status_file = shop.patterns().with_file_name("batch-processing-status.json");
    put(&status_file, &dead.to_string());
    assert_eq!(shop.get(batch).await.json()["status"], "error");
    let pipe = |name: &str| shop.fixture.sandbox().join(name).join(".loopgate/work/go");
    ["one", "two"].into_iter().for_each(|name| shop.fixture.pipe(&pipe(name)));
    shop.plugin("1.0.0", "read line < \"$1/go\"\necho ran > \"$1/ran\"\nexit 1");
    let started = post().await.json();
    assert_eq!(
        (&started["status"], &started["worktreeCount"]),
        (&json!("processing"), &json!(2)),
        "{started}"
    );
    let again = post().await.json();
    assert_eq!((&again["status"], &again["processedWorktrees"]), (&json!("already_processing"), &json!(0)));
    for go in ["one", "two"].map(pipe) {
        tokio::task::spawn_blocking(move || std::fs::write(go, "\n")).await.unwrap().unwrap();
    }
    let status = shop.finished(batch).await;
    assert_eq!(
        (&status["status"], &status["processedWorktrees"]),
        (&json!("completed"), &json!(2)),
        "{status}"
    );
    for name in ["one", "two"] {
        assert!(shop.fixture.sandbox().join(name).join(".loopgate/work/ran").exists(), "{name}");
    }
}

// DL-40, DL-41
#[tokio::test]
async fn uses_are_recorded_and_raise_confidence() {
    let shop = Shop::new().await;
    let row = "P-001,pattern,\"Check the lock, then write\",medium,5,,,*,io,*\n";
    put(&shop.patterns(), row);
    let learnings = json!({"learnings": [{"summary": "Check the lock, then write", "id": "P-001"},
        {"summary": "a|b\nc"}, {"x": 1}, "text"]});
    let reply = shop.post_for_ticket("record-learning-use", learnings).await;
    assert_eq!(reply.json(), json!({"status": "recorded", "count": 2}));
    let log = shop.read(".learnings/outcomes.log");
    let lines: Vec<Vec<&str>> = log.lines().map(|line| line.split('|').skip(1).collect()).collect();
    assert_eq!(
        lines,
        [
            ["chat-SHOP-7", "0", "interactive-chat", "Check the lock, then write", "applied", ""],
            ["chat-SHOP-7", "0", "interactive-chat", "a/b c", "applied", ""],
        ]
    );
    let pattern = shop.get("learnings").await.json()["patterns"][0].clone();
    assert_eq!((&pattern["seen_count"], &pattern["success_rate"]), (&json!(6), &json!(1.0)), "{pattern}");
    let empty = "learnings array is required and must not be empty";
    for learnings in [json!([]), json!([{"x": 1}]), json!("text")] {
        let reply = shop.post_for_ticket("record-learning-use", json!({"learnings": learnings})).await;
        reply.assert_error(400, empty, "missing_field");
    }
    let body = json!({"ticketId": "SHOP-7", "repoPath": "/etc", "learnings": [{"summary": "s"}]});
    let outside = shop.post("record-learning-use", body).await;
    outside.assert_error(403, "directory not allowed", "directory_not_allowed");
    // A symlink in the worktree is not followed.
    std::fs::remove_dir_all(shop.work.join(".learnings")).unwrap();
    let elsewhere = shop.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, shop.work.join(".learnings")).unwrap();
    let reply = shop.post_for_ticket("record-learning-use", json!({"learnings": [{"summary": "s"}]})).await;
    assert_eq!(reply.status, 500, "{}", reply.text());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(shop.worktree.is_dir());
}
