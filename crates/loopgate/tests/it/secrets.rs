//! Secrets in logs, responses, records, environments and files: a whole run at trace level leaks none.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{home_processes, story};
use regex::Regex;
use reqwest::{Method, header};
use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::owner::Owner;
use crate::page::Page;
use crate::test_gateway::TestGateway;

/// Patterns that must not occur in any log: API keys, signed tokens, and bearer credentials.
const SHAPES: [&str; 3] = [
    "lgk_live_[A-Za-z0-9_-]{6,}",
    r"eyJ[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{8,}",
    "(?i)bearer [A-Za-z0-9._-]{8,}",
];

// GC-27
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_absent_from_logs_responses_and_records() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    testbed.add_story()?;
    let setup = testbed.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate"));
    let mut loopgate =
        setup.arg("--api-origin").arg("http://127.0.0.1:0").env("LOOPGATE_LOG", "trace").start().await?;
    let ready = loopgate.ready().clone();
    let page = Page(loopgate.sign_in().await?);

    let created =
        page.0.post("/compute-targets/local-auth/challenge", &json!({"origin": ready.page_url})).await?;
    let challenge = created["data"]["challengeToken"].as_str().context("a challenge")?.to_owned();
    let exchange = |token: &str| {
        let request = loopgate
            .gateway_bare(Method::POST, "/gateway-auth/exchange")
            .header(header::ORIGIN, &ready.page_url);
        request.json(&json!({"challengeToken": token})).send()
    };
    let session: Value = exchange(&challenge).await?.error_for_status()?.json().await?;
    let session = session["sessionToken"].as_str().context("a session")?.to_owned();
    let mut answers = exchange(&challenge).await?.text().await?;

    // Sends each secret where it belongs, and in places where clients put it by mistake: query, wrong header,
    // body.
    let secret = "s3cret-of-a-page-0123456789abcdef";
    for path in [
        "/api/gateway/version".to_owned(),
        format!("/api/gateway/repos?token={secret}&path=%2Fx"),
        format!("/api/gateway/nope?sessionToken={session}"),
        format!("/api/gateway/files/search?repo=%2Fx&q=x&apiKey={secret}"),
    ] {
        for (name, value) in [
            ("x-desktop-session-token", session.as_str()),
            ("x-desktop-gateway-token", secret),
            ("authorization", secret),
        ] {
            let request = loopgate.gateway_bare(Method::GET, &path).header(header::ORIGIN, &ready.page_url);
            answers.push_str(&request.header(name, value).send().await?.text().await?);
        }
        answers.push_str(&loopgate.gateway(Method::DELETE, &path).body(secret).send().await?.text().await?);
    }
    let document = page.create_document().await?;
    let plan = page.start_loop(&document, "plan").await?;
    let ended = page.wait_for_end(&plan).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    let activity = Owner::of(&loopgate).await?.call("activity.list", json!({})).await?;
    ensure!(activity.as_array().is_some_and(|events| events.len() > 10), "{activity}");
    answers.push_str(&activity.to_string());
    ensure!(loopgate.stop().await?.code() == Some(0));

    let link = ready.sign_in_url.split_once("token=").context("a link")?.1.to_owned();
    let cookie = page.0.cookie().split_once('=').context("a cookie")?.1.to_owned();
    let (key, token) = (page.0.key().to_owned(), loopgate.gateway_token().to_owned());
    let secrets =
        [challenge, session, link, cookie, key, token, secret.to_owned(), "scripted-token".to_owned()];
    let shapes = SHAPES.map(Regex::new).into_iter().collect::<Result<Vec<_>, _>>()?;
    let data = loopgate.setup().data_dir();
    // The terminal output contains the sign-in link on purpose; it is shown to the owner.
    let output = loopgate.output().replace(&ready.sign_in_url, "");
    let mut read = vec![(PathBuf::from("answers"), answers), (loopgate.setup().output_file(), output)];
    let database =
        Database::connect(format!("sqlite://{}?mode=ro", data.join("desktop.db").display())).await?;
    let commands = Statement::from_string(DbBackend::Sqlite, "SELECT progress FROM command");
    for row in database.query_all_raw(commands).await? {
        read.push((PathBuf::from("desktop.db"), row.try_get("", "progress")?));
    }
    database.close().await?;
    for file in ["desktop-activity-log.json", "desktop-approvals.json"] {
        read.extend(text(&data.join(file)));
    }
    for entry in std::fs::read_dir(data.join("logs"))? {
        read.extend(text(&entry?.path()));
    }
    // Guards against a log level that would make this test trivially pass.
    let logged: usize = read.iter().map(|(_, text)| text.len()).sum();
    ensure!(logged > 100_000, "only {logged} bytes were logged");
    let mut leaks = Vec::new();
    for (file, text) in read {
        for (number, line) in text.lines().enumerate() {
            let shown = || {
                format!("{}:{}: {}", file.display(), number + 1, line.chars().take(600).collect::<String>())
            };
            if secrets.iter().any(|secret| line.contains(secret))
                || shapes.iter().any(|shape| shape.is_match(line))
            {
                leaks.push(shown());
            }
        }
    }
    ensure!(leaks.is_empty(), "{} lines contain a secret:\n{}", leaks.len(), leaks.join("\n"));
    Ok(())
}

/// The login shell and the programs that are only queried for their version do not receive the API key
/// either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_do_not_inherit_api_keys() -> Result<()> {
    const PROGRAMS: [&str; 5] = ["git", "gh", "claude", "codex", "python3"];
    let home = UserHome::temporary()?;
    let append_env = |name: &str| format!("env >> '{}'\n", home.path().join(format!("env-{name}")).display());
    for name in PROGRAMS {
        home.script(name, &format!("#!/bin/sh\n{}", append_env(name)))?;
    }
    let profile = home.path().join(".profile");
    std::fs::write(&profile, std::fs::read_to_string(&profile)? + &append_env("shell"))?;
    let (one, other) = ("lgk_live_one0123456789", "lgk_live_other0123456789");
    let local = TestGateway::in_home(home.clone(), |setup| {
        let setup = setup.env("LOOPGATE_API_KEY", one).env("ORCHESTRATOR_API_KEY", other);
        setup.env("SOMETHING_ELSE", "kept")
    })
    .await?;
    local.get("health-check", &[("expectedMcpUrl", "https://mcp.example.test")]).await?.ok()?;
    for name in PROGRAMS.iter().chain(&["shell"]) {
        let environment = std::fs::read_to_string(home.path().join(format!("env-{name}"))).context(*name)?;
        ensure!(environment.contains("SOMETHING_ELSE=kept"), "{name}: {environment}");
        ensure!(
            !environment.contains("lgk_live_") && !environment.contains("_API_KEY"),
            "{name}: {environment}"
        );
    }
    Ok(())
}

/// Neither the process list nor a readable file reveals the runner token to other processes of the user.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runner_token_is_in_no_process_and_no_file() -> Result<()> {
    const TOKEN: &str = "a-runner-token-of-its-own-0123456789";
    let held = Conversation::when("plan", "# Coding loop").turn([ModelStep::hold("planning")]);
    let desktop = TestDesktop::playing([held]).await?;
    let order = json!({"command": "PLAN", "prompt": "Plan it", "loopgateAuthToken": TOKEN});
    let (id, started) = desktop.start(order).await?;
    desktop.testbed.model.held("planning").await?;
    ensure!(
        desktop.cloud.accepted(id, "events").iter().any(|event| event.token == TOKEN),
        "the token was not used"
    );

    let processes = home_processes::processes(desktop.testbed.home.path());
    ensure!(processes.len() > 2, "{processes:?}");
    let mut files: Vec<PathBuf> = Vec::new();
    for process in processes {
        files.extend(["cmdline", "environ"].map(|name| format!("/proc/{}/{name}", process.pid).into()));
    }
    for directory in
        [desktop.loopgate.setup().data_dir(), started["worktreePath"].as_str().context("one")?.into()]
    {
        files_below(&directory, &mut files)?;
    }
    let mut read = 0;
    for file in files {
        // Processes may have exited since they were listed.
        let Ok(bytes) = std::fs::read(&file) else { continue };
        let leaks = bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        ensure!(!leaks, "{} contains the token", file.display());
        read += bytes.len();
    }
    ensure!(read > 100_000, "only {read} bytes were read");
    Ok(())
}

fn files_below(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => files_below(&entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

fn text(path: &Path) -> Option<(PathBuf, String)> {
    let bytes = std::fs::read(path).ok()?;
    Some((path.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))
}
