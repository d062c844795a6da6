//! Review routes, with scripts as providers.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::wait;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;

const SESSION: &str = "0123abcd-0123-0123-0123-0123456789ab";
const PLAIN_ROLLOUT_NOISE: &str = "2026-01-01T00:00:00Z ERROR codex_core::session: failed to record rollout items: thread 0123abcd-0123-0123-0123-0123456789ab not found";

/// Prints the files `stdout` and `stderr` of its home, blocks on the FIFO `gate` if it exists, and exits with
/// the code in `code`. Appends its arguments and prompt to files.
const PROGRAM: &str = r#"#!/bin/sh
case "$1" in --version) echo "codex-cli 0.9.1"; exit "$(cat "$HOME/code" 2>/dev/null || echo 0)";; esac
name="$(basename "$0")"
echo "$@" >> "$HOME/$name-args"; cat >> "$HOME/$name-prompt"; echo >> "$HOME/$name-prompt"; pwd > "$HOME/$name-cwd"
cat "$HOME/stdout" 2>/dev/null; cat "$HOME/stderr" >&2 2>/dev/null
[ -p "$HOME/gate" ] && { touch "$HOME/waiting"; cat "$HOME/gate" > /dev/null; }
exit "$(cat "$HOME/code" 2>/dev/null || echo 0)"
"#;

/// Clone with a branch `feature`, and scripts for both providers.
struct Reviews {
    local: TestGateway,
    repo: PathBuf,
}

impl Reviews {
    async fn new() -> Result<Self> {
        let local = TestGateway::new().await?;
        for name in ["codex", "claude"] {
            local.home.script(name, PROGRAM)?;
        }
        let repo = local.clone_of("acme/shop", &[("README.md", "# Shop\n")])?;
        local.remotes.commit("acme/shop", "feature", "A feature", &[("cache.txt", "one\n")])?;
        Ok(Self { local, repo })
    }

    fn home(&self, name: &str) -> PathBuf {
        self.local.home.path().join(name)
    }

    fn set_output(&self, stdout: &str, stderr: &str, code: i32) -> Result<()> {
        for (name, text) in [("stdout", stdout), ("stderr", stderr), ("code", &code.to_string())] {
            std::fs::write(self.home(name), text)?;
        }
        Ok(())
    }

    fn recorded(&self, name: &str) -> String {
        std::fs::read_to_string(self.home(name)).unwrap_or_default()
    }

    fn worktree(&self, ticket: &str) -> PathBuf {
        self.local.at(&format!("shop-{ticket}"))
    }

    fn work_file(&self, ticket: &str, name: &str) -> PathBuf {
        self.worktree(ticket).join(".loopgate/work").join(name)
    }

    fn body(&self, members: Value) -> Value {
        let mut body = json!({"repoPath": self.repo, "branchName": "feature"});
        if let (Value::Object(body), Value::Object(members)) = (&mut body, members) {
            body.extend(members);
        }
        body
    }

    /// Runs a review to its end, and returns its events.
    async fn review(&self, ticket: &str, members: Value) -> Result<Vec<Value>> {
        self.stream(&format!("review/{ticket}"), self.body(members)).await
    }

    /// Sends a request, and returns the events of its response.
    async fn stream(&self, route: &str, body: Value) -> Result<Vec<Value>> {
        let request = self.local.loopgate.gateway(Method::POST, &format!("/api/gateway/reviewer/{route}"));
        let answer = request.header("accept", "text/event-stream").json(&body).send().await?;
        let kind = answer.headers().get("content-type").cloned();
        let text = answer.text().await?;
        ensure!(kind.is_some_and(|kind| kind == "application/x-ndjson"), "{text}");
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    /// Starts a review whose program blocks, and drops the client's connection.
    async fn start(&self, ticket: &str, members: Value) -> Result<Gate> {
        let gate = Gate::new(&self.home("gate"))?;
        let route = format!("/api/gateway/reviewer/review/{ticket}");
        let request = self.local.loopgate.gateway(Method::POST, &route).json(&self.body(members));
        let mut answer = request.send().await?;
        let first = answer.chunk().await?.context("the answer has no event")?;
        ensure!(String::from_utf8_lossy(&first).contains("running"), "{first:?}");
        let waiting = self.home("waiting");
        wait::until(self.local.home.path(), async || waiting.exists().then_some(())).await?;
        Ok(gate)
    }

    async fn status(&self, ticket: &str) -> Result<Value> {
        self.local.get(&format!("reviewer/status/{ticket}"), &[("repo", self.repo_name())]).await?.ok()
    }

    fn repo_name(&self) -> &str {
        self.repo.to_str().unwrap_or_default()
    }

    /// Waits until a review is no longer running.
    async fn wait_for_end(&self, ticket: &str) -> Result<Value> {
        wait::until(&self.work_file(ticket, ""), async || {
            let status = self.status(ticket).await.ok()?;
            (status["status"] != "running").then_some(status)
        })
        .await
    }
}

/// FIFO on which a provider blocks.
struct Gate(PathBuf);

impl Gate {
    fn new(path: &Path) -> Result<Self> {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU)?;
        Ok(Self(path.to_owned()))
    }

    // Opening a FIFO for writing blocks until the reader has opened it.
    async fn open(self) -> Result<()> {
        Ok(tokio::task::spawn_blocking(move || std::fs::write(self.0, "go")).await??)
    }
}

// RC-01, RC-02
#[tokio::test]
async fn reviewer_availability_is_reported() -> Result<()> {
    let reviews = Reviews::new().await?;
    let available = json!({"available": true, "version": "0.9.1"});
    reviews.local.get("reviewer/available", &[]).await?.is(200, &available)?;
    reviews.set_output("", "", 1)?;
    reviews.local.get("reviewer/available", &[]).await?.is(200, &json!({"available": false}))?;
    std::fs::remove_file(reviews.local.home.script("codex", PROGRAM)?)?;
    reviews.local.get("reviewer/available", &[]).await?.is(200, &json!({"available": false}))
}

// RC-03, RC-04, RC-05
#[tokio::test]
async fn status_needs_a_repository_and_a_review() -> Result<()> {
    let reviews = Reviews::new().await?;
    let missing = reviews.local.get("reviewer/status/T-1", &[]).await?;
    missing.refused(400, "repo query parameter is required", "missing_field")?;
    let outside = reviews.local.get("reviewer/status/T-1", &[("repo", "/etc")]).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    let status = reviews.status("T-1").await?;
    ensure!(status["hasReview"] == false && status["message"] == "Worktree not found", "{status}");
    std::fs::create_dir_all(reviews.work_file("T-1", ""))?;
    let status = reviews.status("T-1").await?;
    ensure!(status["message"] == "No review has been started", "{status}");
    Ok(())
}

// RC-06, RC-07, RC-10
#[tokio::test]
async fn stale_state_file_is_reported_and_not_changed() -> Result<()> {
    let reviews = Reviews::new().await?;
    std::fs::create_dir_all(reviews.work_file("T-1", ""))?;
    let config =
        json!({"model": "m-1", "reasoningEffort": "low", "reviewMode": "base", "baseBranch": "main"});
    let state = json!({"status": "running", "pid": 4_194_303, "startedAt": "2030-01-01T00:00:00.000Z",
        "provider": "reviewer", "sessionId": "s-1", "config": config});
    let file = reviews.work_file("T-1", "reviewer-review-reviewer.json");
    std::fs::write(&file, state.to_string())?;
    // Larger than the 100 KiB of the log that the status returns.
    let log: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    std::fs::write(reviews.work_file("T-1", "reviewer-review-reviewer.log"), &log)?;
    let status = reviews.status("T-1").await?;
    ensure!(status["status"] == "stopped" && status["processRunning"] == false, "{status}");
    ensure!(status["sessionId"] == "s-1" && status["logSize"] == log.len(), "{status}");
    let log_text = status["log"].as_str().context("no log")?;
    ensure!(log_text.len() <= 102_400 && log_text.starts_with("line ") && log_text.ends_with("line 19999"));
    ensure!(std::fs::read_to_string(&file)? == state.to_string());
    Ok(())
}

// RC-11, RC-12, RC-13
#[tokio::test]
async fn invalid_review_requests_are_refused() -> Result<()> {
    let reviews = Reviews::new().await?;
    let post = async |body: Value| reviews.local.post("reviewer/review/T-1", body).await;
    post(json!({})).await?.refused(400, "repoPath is required", "missing_field")?;
    let outside = post(json!({"repoPath": "/etc"})).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    let no_branch = post(json!({"repoPath": reviews.repo})).await?;
    no_branch.refused(400, "branchName is required to create a worktree", "missing_field")?;
    std::fs::create_dir_all(reviews.work_file("T-1", ""))?;
    let log = reviews.work_file("T-1", "reviewer-review-assistant.log");
    std::fs::write(&log, "earlier")?;
    let by_assistant = post(reviews.body(json!({"provider": "assistant"}))).await?;
    let text = "ticketId must start with 'pr-' for assistant reviews";
    by_assistant.refused(400, text, "invalid_request")?;
    ensure!(std::fs::read_to_string(&log)? == "earlier");
    for (name, value) in
        [("baseBranch", "--output=x"), ("model", "-c"), ("branchName", "-x"), ("reasoningEffort", "-")]
    {
        let refused = post(reviews.body(json!({name: value}))).await?;
        ensure!(refused.status == 400, "{name}: {refused:?}");
    }
    let missing = post(reviews.body(json!({"branchName": "gone", "baseBranch": "lost"}))).await?;
    let text = "Failed to create worktree: neither branch \"gone\" nor branch \"lost\" exists";
    missing.refused(500, text, "operation_failed")?;
    ensure!(reviews.recorded("codex-args").is_empty());
    Ok(())
}

// RC-14, RC-18
#[tokio::test]
async fn review_streams_events_and_stores_state() -> Result<()> {
    let reviews = Reviews::new().await?;
    std::fs::write(reviews.repo.join(".env"), "KEY=1")?;
    reviews.set_output(&format!("session id: {SESSION}\n\nAll is well.\n"), "", 0)?;
    reviews.local.remotes.commit("acme/shop", "dev", "A base", &[("dev.txt", "one\n")])?;
    let members = json!({"baseBranch": "dev", "model": "m-1", "reasoningEffort": "high"});
    let events = reviews.review("T-1", members).await?;
    ensure!(events[0]["status"] == "running" && events[0]["provider"] == "reviewer", "{events:?}");
    let expected = [
        json!({"type": "status", "sessionId": SESSION}),
        json!({"type": "text", "content": format!("session id: {SESSION}\n")}),
    ];
    ensure!(events[1..3] == expected, "{events:?}");
    let text: String = events.iter().filter_map(|event| event["content"].as_str()).collect();
    ensure!(text.ends_with("\n\nAll is well.\n"), "{text}");
    let last = [json!({"type": "result", "success": true}), json!({"type": "done"})];
    ensure!(events.ends_with(&last), "{events:?}");
    let args = "review --base dev -c model=m-1 -c model_reasoning_effort=high\n";
    ensure!(reviews.recorded("codex-args") == args, "{}", reviews.recorded("codex-args"));
    let worktree = reviews.worktree("T-1");
    ensure!(reviews.recorded("codex-cwd").trim() == worktree.to_str().unwrap_or_default());
    ensure!(std::fs::read_to_string(worktree.join(".env"))? == "KEY=1");
    ensure!(git(&worktree, &["log", "-1", "--format=%s"])?.trim() == "A feature");
    let status = reviews.status("T-1").await?;
    ensure!(status["status"] == "completed" && status["sessionId"] == SESSION, "{status}");
    ensure!(status["exitCode"] == 0 && status["config"]["baseBranch"] == "dev", "{status}");
    let chat: Value =
        serde_json::from_slice(&std::fs::read(reviews.work_file("T-1", "reviewer-chat-review.json"))?)?;
    ensure!(chat == json!({"sessionId": SESSION, "messageCount": 0}));
    ensure!(!reviews.work_file("T-1", "reviewer-review-reviewer.pid").exists());
    ensure!(git(&worktree, &["status", "--porcelain"])? == "?? .env\n");
    Ok(())
}

// RC-15, RC-16, RC-17
#[tokio::test]
async fn failed_review_reports_error() -> Result<()> {
    let reviews = Reviews::new().await?;
    reviews.set_output("half", "boom\n", 2)?;
    let events = reviews.review("T-1", json!({})).await?;
    let last = [
        json!({"type": "error", "error": "boom"}),
        json!({"type": "result", "success": false}),
        json!({"type": "done"}),
    ];
    ensure!(events.ends_with(&last), "{events:?}");
    let status = reviews.status("T-1").await?;
    ensure!(status["status"] == "failed" && status["exitCode"] == 2, "{status}");
    ensure!(status["log"] == "half\nboom", "{status}");

    reviews.set_output("", "we ran out of room in the Context Window\n", 1)?;
    let events = reviews.review("T-1", json!({})).await?;
    let last = events.last().context("no event")?;
    ensure!(last["type"] == "error" && last["terminal"] == true, "{events:?}");
    ensure!(events.iter().all(|event| event["type"] != "result" && event["type"] != "done"), "{events:?}");

    reviews.set_output("", &format!("{PLAIN_ROLLOUT_NOISE}\n"), 1)?;
    let events = reviews.review("T-1", json!({})).await?;
    ensure!(events.iter().all(|event| event["type"] != "error"), "{events:?}");
    ensure!(events.contains(&json!({"type": "result", "success": false})), "{events:?}");
    Ok(())
}

/// What the reviewer prints on standard error before the reason of a failure.
fn reviewer_banner() -> String {
    let warnings = "warning: a rule of the user's configuration is not known to this version\n".repeat(12);
    format!(
        "OpenAI Codex v0.171.0\n--------\nworkdir: /w\nmodel: m-1\nsession id: {SESSION}\n--------\n{warnings}"
    )
}

#[tokio::test]
async fn reason_of_a_failed_review_is_its_last_error() -> Result<()> {
    let reviews = Reviews::new().await?;
    let cases = [
        (
            "ERROR: Reconnecting... 1/5\nERROR: You’ve hit your usage limit. Try again at 3:28 PM.\n",
            "The usage limit of codex is reached: You’ve hit your usage limit. Try again at 3:28 PM. Wait until it \
             resets, then try again.",
        ),
        (
            "ERROR: Your refresh token has expired. Please log out and sign in again.\n",
            "codex cannot use its account: Your refresh token has expired. Please log out and sign in again. Sign in to \
             codex in a terminal, then try again.",
        ),
        (
            "ERROR: The model `m-1` does not exist or you do not have access to it.\n",
            "codex cannot use the model: The model `m-1` does not exist or you do not have access to it. Select another \
             model, or update codex.",
        ),
        ("ERROR: one\nERROR: two\n", "one\ntwo"),
    ];
    for (errors, expected) in cases {
        reviews.set_output("", &format!("{}{errors}", reviewer_banner()), 1)?;
        let events = reviews.review("T-1", json!({})).await?;
        let reported: Vec<_> = events.iter().filter_map(|event| event["error"].as_str()).collect();
        ensure!(reported == [expected], "{events:?}");
        let status = reviews.status("T-1").await?;
        ensure!(status["status"] == "failed" && status["log"] == expected, "{status}");
    }
    // The phrase is at the start of a long reason, so it is lost when the reason is shortened first.
    let long = format!("ERROR: out of room: {}\n", "src/a/file/with/a/long/path.rs ".repeat(60));
    reviews.set_output("", &format!("{}{long}", reviewer_banner()), 1)?;
    let events = reviews.review("T-1", json!({})).await?;
    ensure!(events.last().is_some_and(|event| event["terminal"] == true), "{events:?}");
    Ok(())
}

#[tokio::test]
async fn review_compares_with_the_default_branch_and_refuses_a_missing_base() -> Result<()> {
    let reviews = Reviews::new().await?;
    git(&reviews.local.remotes.bare("acme/shop"), &["branch", "-m", "main", "trunk"])?;
    for command in [
        &["update-ref", "refs/remotes/origin/trunk", "HEAD"][..],
        &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"],
        &["update-ref", "-d", "refs/remotes/origin/main"],
        &["branch", "-m", "main", "trunk"],
    ] {
        git(&reviews.repo, command)?;
    }
    reviews.set_output("All is well.\n", "", 0)?;
    reviews.review("T-1", json!({})).await?;
    let args = reviews.recorded("codex-args");
    ensure!(args.starts_with("review --base trunk "), "{args}");
    let status = reviews.status("T-1").await?;
    ensure!(status["config"]["baseBranch"] == "trunk", "{status}");
    let text = "baseBranch \"main\" does not exist in this repository; pass an existing branch, or omit baseBranch to \
                compare with the default branch";
    for members in [json!({"baseBranch": "main"}), json!({"baseBranch": "main", "useBaseRepo": true})] {
        let refused = reviews.local.post("reviewer/review/T-1", reviews.body(members)).await?;
        refused.refused(400, text, "invalid_request")?;
    }
    // Scopes without a base do not need one.
    reviews.review("T-1", json!({"baseBranch": "main", "reviewMode": "uncommitted"})).await?;
    ensure!(reviews.recorded("codex-args").lines().count() == 2, "{}", reviews.recorded("codex-args"));
    Ok(())
}

#[tokio::test]
async fn missing_reviewer_is_reported() -> Result<()> {
    let reviews = Reviews::new().await?;
    std::fs::remove_file(reviews.local.home.script("codex", PROGRAM)?)?;
    let events = reviews.review("T-1", json!({})).await?;
    ensure!(events.len() == 2 && events[0]["type"] == "error" && events[1]["type"] == "done", "{events:?}");
    ensure!(reviews.status("T-1").await?["hasReview"] == false);
    Ok(())
}

// RC-19
#[tokio::test]
async fn assistant_review_is_repeated_with_fallback_prompt() -> Result<()> {
    let reviews = Reviews::new().await?;
    // The output has no message, so the review is repeated with the prompt `/review 7`.
    reviews.set_output("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"a-1\"}\n", "", 0)?;
    let events = reviews
        .review("pr-7", json!({"provider": "assistant", "instructions": "Look at the cache."}))
        .await?;
    ensure!(events.last() == Some(&json!({"type": "done"})), "{events:?}");
    let prompt = reviews.recorded("claude-prompt");
    let (command, fallback) = prompt.split_once('\n').context("one prompt")?;
    ensure!(command.starts_with("/code-review:start --session cr-") && fallback == "/review 7\n", "{prompt}");
    let args = reviews.recorded("claude-args");
    ensure!(
        args.contains("--allowedTools=Bash,Read,Glob,Grep,Task,TodoWrite --model claude-sonnet-4-5"),
        "{args}"
    );
    ensure!(args.contains("--append-system-prompt") && args.contains("Look at the cache."), "{args}");
    Ok(())
}

#[tokio::test]
async fn instructions_reach_the_reviewer() -> Result<()> {
    let reviews = Reviews::new().await?;
    let message = "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"Fine.\"}}\n";
    reviews.set_output(message, "", 0)?;
    let events = reviews
        .review("T-1", json!({"instructions": "Look at the cache.", "reviewMode": "uncommitted"}))
        .await?;
    ensure!(events.contains(&json!({"type": "text", "content": "Fine."})), "{events:?}");
    ensure!(reviews.recorded("codex-args").starts_with("exec --json "), "{}", reviews.recorded("codex-args"));
    let prompt = reviews.recorded("codex-prompt");
    ensure!(prompt.contains("not committed") && prompt.contains("Look at the cache."), "{prompt}");
    let head = git(&reviews.repo, &["rev-parse", "HEAD"])?;
    reviews.review("T-1", json!({"reviewMode": "commit", "commit": head.trim()})).await?;
    ensure!(reviews.recorded("codex-args").contains(&format!("review --commit {}", head.trim())));
    Ok(())
}

// RC-20, RC-21
#[tokio::test]
async fn review_continues_without_client_and_excludes_second() -> Result<()> {
    let reviews = Reviews::new().await?;
    let gate = reviews.start("T-1", json!({})).await?;
    let status = reviews.status("T-1").await?;
    ensure!(status["status"] == "running" && status["processRunning"] == true, "{status}");
    let second = reviews.local.post("reviewer/review/T-1", reviews.body(json!({}))).await?;
    ensure!(second.status == 409 && second.body["error"] == "Review already running", "{second:?}");
    ensure!(second.body["pid"] == status["pid"], "{second:?}");
    gate.open().await?;
    let status = reviews.wait_for_end("T-1").await?;
    ensure!(status["status"] == "completed" && status["exitCode"] == 0, "{status}");
    ensure!(reviews.recorded("codex-args").lines().count() == 1);
    Ok(())
}

// RC-22, RC-23
#[tokio::test]
async fn stop_terminates_running_review() -> Result<()> {
    let reviews = Reviews::new().await?;
    let stop = async || reviews.local.post("reviewer/stop/T-1", json!({"repo": reviews.repo})).await;
    stop().await?.refused(404, "No review found", "not_found")?;
    let no_repo = reviews.local.post("reviewer/stop/T-1", json!({})).await?;
    no_repo.refused(400, "repo is required in body", "missing_field")?;
    let _gate = Gate::new(&reviews.home("gate"))?;
    let streaming = reviews.review("T-1", json!({}));
    let stopping = async {
        let waiting = reviews.home("waiting");
        wait::until(reviews.local.home.path(), async || waiting.exists().then_some(())).await?;
        let pid = reviews.status("T-1").await?["pid"].clone();
        stop().await?.is(200, &json!({"stopped": true, "pid": pid}))
    };
    let (events, ()) = tokio::try_join!(streaming, stopping)?;
    let error = "codex was stopped before it finished. Start it again to get an answer.";
    let last = [
        json!({"type": "error", "error": error}),
        json!({"type": "result", "success": false}),
        json!({"type": "done"}),
    ];
    ensure!(events.ends_with(&last), "{events:?}");
    let pid_file = reviews.work_file("T-1", "reviewer-review-reviewer.pid");
    wait::until(&reviews.work_file("T-1", ""), async || (!pid_file.exists()).then_some(())).await?;
    let status = reviews.status("T-1").await?;
    ensure!(status["status"] == "stopped" && status["exitCode"] == 1, "{status}");
    let again = json!({"stopped": false, "message": "Review is not running (status: stopped)"});
    stop().await?.is(200, &again)
}

// RC-53
#[tokio::test]
async fn unmanaged_process_is_not_stopped() -> Result<()> {
    let reviews = Reviews::new().await?;
    std::fs::create_dir_all(reviews.work_file("T-1", ""))?;
    let config =
        json!({"model": "m-1", "reasoningEffort": "low", "reviewMode": "base", "baseBranch": "main"});
    // The pid in the state file belongs to this test, not to a review.
    let own_pid = std::process::id();
    let state = json!({"status": "running", "pid": own_pid, "startedAt": "2030-01-01T00:00:00.000Z",
        "provider": "reviewer", "config": config});
    std::fs::write(reviews.work_file("T-1", "reviewer-review-reviewer.json"), state.to_string())?;
    let stopped = reviews.local.post("reviewer/stop/T-1", json!({"repo": reviews.repo})).await?;
    stopped.refused(403, "process not managed by this gateway", "process_not_managed")?;
    ensure!(reviews.status("T-1").await?["status"] == "stopped");
    Ok(())
}

// RC-24, RC-25
#[tokio::test]
async fn delete_removes_review_state() -> Result<()> {
    let reviews = Reviews::new().await?;
    let _gate = reviews.start("T-1", json!({})).await?;
    let findings = reviews.work_file("T-1", "review-findings-reviewer.json");
    std::fs::write(&findings, "{}")?;
    let query = |provider: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("repo", reviews.repo_name())
            .append_pair("provider", provider)
            .finish();
        format!("?{query}")
    };
    for route in ["reviewer/status/T-1", "reviewer/stop/T-1"] {
        let refused = reviews.local.delete(&format!("{route}{}", query("../../x")), json!({})).await?;
        refused.refused(400, "unsupported provider", "invalid_request")?;
    }
    ensure!(findings.exists());
    let deleted = reviews.local.delete(&format!("reviewer/stop/T-1{}", query("reviewer")), json!({})).await?;
    let names = [
        "reviewer-review-reviewer.json",
        "reviewer-review-reviewer.log",
        "reviewer-review-reviewer.pid",
        "review-findings-reviewer.json",
    ];
    deleted.is(200, &json!({"deleted": names}))?;
    ensure!(reviews.status("T-1").await?["hasReview"] == false);
    let forgotten = reviews.local.delete(&format!("reviewer/status/T-1{}", query("")), json!({})).await?;
    forgotten.is(200, &json!({"success": true}))
}

#[tokio::test]
async fn review_survives_crash() -> Result<()> {
    let mut reviews = Reviews::new().await?;
    let gate = reviews.start("T-1", json!({})).await?;
    reviews.local.loopgate.kill().await?;
    reviews.local.restart().await?;
    let status = reviews.status("T-1").await?;
    ensure!(status["status"] == "running", "{status}");
    gate.open().await?;
    let status = reviews.wait_for_end("T-1").await?;
    ensure!(status["status"] == "completed", "{status}");
    Ok(())
}

/// Returns the output of the reviewer for a message in a session.
fn session_output(session: &str, text: &str) -> String {
    let started = json!({"type": "thread.started", "thread_id": session});
    let item = json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}});
    format!("{started}\n{item}\n")
}

fn read_json(path: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

// RC-33, RC-34
#[tokio::test]
async fn debate_resumes_session() -> Result<()> {
    let reviews = Reviews::new().await?;
    let argue = |members: Value| {
        let mut body =
            json!({"repoPath": reviews.repo, "findingSummary": "The cache", "assistantArgument": "No."});
        if let (Value::Object(body), Value::Object(members)) = (&mut body, members) {
            body.extend(members);
        }
        body
    };
    let post = async |body: Value| reviews.local.post("reviewer/argue/T-1", body).await;
    let required = "assistantArgument and findingSummary are required";
    post(argue(json!({"findingSummary": " "}))).await?.refused(400, required, "missing_field")?;
    let no_repo = post(json!({"findingSummary": "a", "assistantArgument": "b"})).await?;
    no_repo.refused(400, "repo parameter is required", "missing_field")?;
    post(argue(json!({}))).await?.refused(404, "Work directory not found", "not_found")?;

    std::fs::create_dir_all(reviews.work_file("T-1", ""))?;
    let open = r#"Look. <debate-status>{"pendingIssues":[{"id":"1","summary":"s"}]}</debate-status>"#;
    reviews.set_output(&session_output("r-1", open), "", 0)?;
    let events = reviews.stream("argue/T-1", argue(json!({"reasoningEffort": "low"}))).await?;
    ensure!(events[0]["status"] == "running" && events[0]["pid"].is_u64(), "{events:?}");
    ensure!(events.contains(&json!({"type": "status", "sessionId": "r-1"})), "{events:?}");
    let [result, done] = &events[events.len() - 2..] else { unreachable!() };
    ensure!(*result == json!({"type": "result", "success": true}), "{events:?}");
    ensure!(done["content"] == open && done["debateStatus"]["pendingIssues"][0]["id"] == "1", "{done}");
    ensure!(done["debateStatus"].get("outcome").is_none(), "{done}");
    reviews.stream("argue/T-1", argue(json!({"assistantArgument": "Still no."}))).await?;
    let args = reviews.recorded("codex-args");
    let [first, second] = args.lines().collect::<Vec<_>>()[..] else { anyhow::bail!("{args}") };
    ensure!(first.starts_with("exec --json") && first.contains("model_reasoning_effort=low"), "{first}");
    ensure!(second.starts_with("exec resume r-1 "), "{second}");
    ensure!(first.contains("sandbox_mode=\"read-only\""), "the debate is not read-only: {first}");
    let debate_file = read_json(&reviews.work_file("T-1", "reviewer-debate.json"))?;
    ensure!(debate_file["sessionId"] == "r-1" && debate_file["rounds"] == 2, "{debate_file}");

    // Another finding, or a history without the reviewer's messages, starts a new session.
    reviews.stream("argue/T-1", argue(json!({"findingSummary": "The lock"}))).await?;
    reviews
        .stream("argue/T-1", argue(json!({"debateHistory": [{"sender": "assistant", "content": "No."}]})))
        .await?;
    let args = reviews.recorded("codex-args");
    ensure!(args.lines().skip(2).all(|args| args.starts_with("exec --json")), "{args}");
    Ok(())
}

#[tokio::test]
async fn debate_runs_until_concession_or_stalemate() -> Result<()> {
    let reviews = Reviews::new().await?;
    std::fs::create_dir_all(reviews.work_file("T-1", ""))?;
    let debate = json!({"repoPath": reviews.repo, "findingSummary": "The cache", "assistantArgument": "It is cleared.", "rounds": 4});
    let pending = r#"Where? <debate-status>{"pendingIssues":[{"id":"1","summary":"s"}]}</debate-status>"#;
    reviews.set_output(&session_output("r-1", pending), "", 0)?;
    let assistant_script = |text: &str| {
        let line = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
        format!("#!/bin/sh\ncat >> \"$HOME/claude-prompt\"\nprintf '%s\\n' '{line}'\n")
    };
    let conceded = r#"You are right. <debate-status>{"pendingIssues":[],"conceded":true}</debate-status>"#;
    reviews.local.home.script("claude", &assistant_script(conceded))?;
    let events = reviews.stream("argue/T-1", debate.clone()).await?;
    let modes: Vec<_> = events.iter().filter_map(|event| event["mode"].as_str()).collect();
    ensure!(modes == ["reviewer", "assistant"], "{events:?}");
    ensure!(events.iter().filter(|event| event["type"] == "done").count() == 1, "{events:?}");
    let done = &events[events.len() - 1];
    ensure!(done["debateStatus"]["outcome"] == "concession" && done["content"] == conceded, "{done}");
    ensure!(reviews.recorded("claude-prompt").contains("Where?"));
    let debate_file = read_json(&reviews.work_file("T-1", "reviewer-debate.json"))?;
    let debates = debate_file["debates"].as_object().context("no debates")?;
    let turns =
        debates.values().next().context("no debate")?["turns"].as_array().cloned().unwrap_or_default();
    let senders: Vec<_> = turns.iter().map(|turn| turn["sender"].as_str().unwrap_or_default()).collect();
    ensure!(senders == ["assistant", "reviewer", "assistant"], "{debate_file}");

    let pending_answer = r#"No. <debate-status>{"pendingIssues":[{"id":"1","summary":"s"}]}</debate-status>"#;
    reviews.local.home.script("claude", &assistant_script(pending_answer))?;
    let events = reviews.stream("argue/T-1", debate).await?;
    let done = &events[events.len() - 1];
    ensure!(done["debateStatus"]["outcome"] == "stalemate", "{done}");
    Ok(())
}

// RC-35
#[tokio::test]
async fn review_chat_has_separate_session() -> Result<()> {
    let reviews = Reviews::new().await?;
    let no_prompt = reviews.local.post("reviewer/chat/T-1", json!({"repoPath": reviews.repo})).await?;
    no_prompt.refused(400, "prompt and repoPath are required", "missing_field")?;
    reviews.set_output(&session_output("r-1", "Yes."), "", 0)?;
    let body = json!({"repoPath": reviews.repo, "prompt": "New?", "chatContextId": "review"});
    let events = reviews.stream("chat/T-1", body.clone()).await?;
    ensure!(events.contains(&json!({"type": "text", "content": "Yes."})), "{events:?}");
    ensure!(reviews.recorded("codex-cwd").trim() == reviews.repo_name(), "the chat did not run in the clone");
    let chat = reviews.work_file("T-1", "reviewer-chat-review.json");
    ensure!(read_json(&chat)? == json!({"sessionId": "r-1", "messageCount": 1}));
    ensure!(!reviews.work_file("T-1", "reviewer-chat.json").exists());
    reviews.stream("chat/T-1", body).await?;
    ensure!(reviews.recorded("codex-args").contains("exec resume r-1 "));
    ensure!(read_json(&chat)?["messageCount"] == 2);
    Ok(())
}

// RC-31, RC-32
#[tokio::test]
async fn verdict_is_requested_in_review_session() -> Result<()> {
    let reviews = Reviews::new().await?;
    let request_verdict = async |members: Value| {
        let mut body = json!({"repoPath": reviews.repo, "sessionId": "r-1", "provider": "reviewer"});
        if let (Value::Object(body), Value::Object(members)) = (&mut body, members) {
            body.extend(members);
        }
        reviews.local.post("reviewer/review-verdict/T-1", body).await
    };
    let required = "repoPath, sessionId, and provider are required";
    request_verdict(json!({"sessionId": ""})).await?.refused(400, required, "missing_field")?;
    request_verdict(json!({"provider": "foo"})).await?.refused(400, required, "missing_field")?;
    request_verdict(json!({"sessionId": "--last"})).await?.refused(
        400,
        "sessionId contains invalid characters",
        "invalid_request",
    )?;
    request_verdict(json!({})).await?.refused(404, "Work directory not found", "not_found")?;

    std::fs::create_dir_all(reviews.work_file("T-1", ""))?;
    let tag = |json: &str| session_output("r-1", &format!("I looked.\n<pr_verdict>{json}</pr_verdict>"));
    let valid = r#"{"verdict":"decline","reason":"It is cleared already."}"#;
    reviews.set_output(&tag(valid), "", 0)?;
    let verdict = json!({"verdict": "decline", "reason": "It is cleared already."});
    request_verdict(json!({})).await?.is(200, &json!({"verdict": verdict}))?;
    ensure!(
        reviews.recorded("codex-args").starts_with("exec resume r-1 --json"),
        "{}",
        reviews.recorded("codex-args")
    );
    for invalid in [r#"{"verdict":"perhaps","reason":"x"}"#, r#"{"verdict":"approve","reason":""}"#, "{"] {
        reviews.set_output(&tag(invalid), "", 0)?;
        request_verdict(json!({})).await?.is(200, &json!({"verdict": null}))?;
    }
    reviews.set_output("", "boom", 3)?;
    request_verdict(json!({})).await?.is(200, &json!({"verdict": null, "error": "boom"}))?;
    let text = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": format!("<pr_verdict>{valid}</pr_verdict>")}]}});
    reviews.set_output(&format!("{text}\n"), "", 0)?;
    request_verdict(json!({"provider": "assistant"})).await?.is(200, &json!({"verdict": verdict}))?;
    let args = reviews.recorded("claude-args");
    ensure!(args.contains("--allowedTools=Read,Glob,Grep --model sonnet --resume r-1"), "{args}");
    Ok(())
}

// RC-54
#[tokio::test]
async fn worktrees_use_configured_parent() -> Result<()> {
    let reviews = Reviews::new().await?;
    let parent = reviews.local.at("trees");
    reviews.local.manage(&[&reviews.repo], Some(&parent))?;
    let work_dir = parent.join("shop-T-1/.loopgate/work");
    std::fs::create_dir_all(&work_dir)?;
    let status = reviews.status("T-1").await?;
    ensure!(status["worktreeDir"] == json!(parent.join("shop-T-1")), "{status}");
    let query = format!(
        "?repo={}",
        url::form_urlencoded::byte_serialize(reviews.repo_name().as_bytes()).collect::<String>()
    );
    let finding = json!({"findings": [{"message": "The cache"}]});
    reviews.local.post(&format!("reviewer/review-findings/T-1{query}"), finding).await?.ok()?;
    ensure!(work_dir.join("review-findings-reviewer.json").is_file());
    reviews.set_output(&session_output("r-1", "Look."), "", 0)?;
    let argument =
        json!({"repoPath": reviews.repo, "findingSummary": "The cache", "assistantArgument": "No."});
    reviews.stream("argue/T-1", argument).await?;
    ensure!(work_dir.join("reviewer-debate.json").is_file());
    let text = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "Because."}]}});
    reviews.set_output(&format!("{text}\n"), "", 0)?;
    let chat = format!("finding-chat/finding-0{query}&ticketId=T-1");
    reviews.stream(&chat, json!({"message": "Why?"})).await?;
    ensure!(work_dir.join("finding-chats/finding-0.json").is_file());
    Ok(())
}
