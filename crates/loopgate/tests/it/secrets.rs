//! A whole run with everything logged: no token, key or link is in what it left behind.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, Step};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{home_processes, story};
use regex::Regex;
use reqwest::{Method, header};
use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::local::Local;
use crate::owner::Owner;
use crate::page::Page;

/// What no log may hold in any form: API keys, signed tokens, and what goes into an authorization header.
const SHAPES: [&str; 3] = [
    "lgk_live_[A-Za-z0-9_-]{6,}",
    r"eyJ[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{8,}",
    "(?i)bearer [A-Za-z0-9._-]{8,}",
];

// GC-27
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_secret_is_left_in_logs_answers_and_records() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    testbed.add_story()?;
    let setup = testbed.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate"));
    let mut loopgate =
        setup.arg("--api-origin").arg("http://127.0.0.1:0").env("LOOPGATE_LOG", "trace").start().await?;
    let ready = loopgate.ready().clone();
    let page = Page(loopgate.sign_in().await?);

    let made =
        page.0.post("/compute-targets/local-auth/challenge", &json!({"origin": ready.page_url})).await?;
    let challenge = made["data"]["challengeToken"].as_str().context("a challenge")?.to_owned();
    let exchange = |token: &str| {
        let request = loopgate
            .gateway_bare(Method::POST, "/gateway-auth/exchange")
            .header(header::ORIGIN, &ready.page_url);
        request.json(&json!({"challengeToken": token})).send()
    };
    let session: Value = exchange(&challenge).await?.error_for_status()?.json().await?;
    let session = session["sessionToken"].as_str().context("a session")?.to_owned();
    let mut answers = exchange(&challenge).await?.text().await?;

    // Each secret where it belongs, and where it does not.
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
    let wish = page.wish().await?;
    let plan = page.press(&wish, "plan").await?;
    let ended = page.ended(&plan).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    let activity = Owner::of(&loopgate).await?.ask("activity.list", json!({})).await?;
    ensure!(activity.as_array().is_some_and(|events| events.len() > 10), "{activity}");
    answers.push_str(&activity.to_string());
    ensure!(loopgate.stop().await?.code() == Some(0));

    let link = ready.sign_in_url.split_once("token=").context("a link")?.1.to_owned();
    let cookie = page.0.cookie().split_once('=').context("a cookie")?.1.to_owned();
    let (key, token) = (page.0.key().to_owned(), loopgate.gateway_token().to_owned());
    let known =
        [challenge, session, link, cookie, key, token, secret.to_owned(), "scripted-token".to_owned()];
    let shapes = SHAPES.map(Regex::new).into_iter().collect::<Result<Vec<_>, _>>()?;
    let data = loopgate.setup().data_dir();
    // The screen is for the owner's eyes, and the link is on it.
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
    let logged: usize = read.iter().map(|(_, text)| text.len()).sum();
    ensure!(logged > 100_000, "everything was logged: {logged} bytes");
    let mut found = Vec::new();
    for (file, text) in read {
        for (number, line) in text.lines().enumerate() {
            let shown = || {
                format!("{}:{}: {}", file.display(), number + 1, line.chars().take(600).collect::<String>())
            };
            if known.iter().any(|secret| line.contains(secret))
                || shapes.iter().any(|shape| shape.is_match(line))
            {
                found.push(shown());
            }
        }
    }
    ensure!(found.is_empty(), "{} lines hold a secret:\n{}", found.len(), found.join("\n"));
    Ok(())
}

/// The shell and the programs that are only asked something have no need of it either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_program_is_given_the_key_of_the_control_plane() -> Result<()> {
    const PROGRAMS: [&str; 5] = ["git", "gh", "claude", "codex", "python3"];
    let home = UserHome::temporary()?;
    let noting = |name: &str| format!("env >> '{}'\n", home.path().join(format!("env-{name}")).display());
    for name in PROGRAMS {
        home.script(name, &format!("#!/bin/sh\n{}", noting(name)))?;
    }
    let profile = home.path().join(".profile");
    std::fs::write(&profile, std::fs::read_to_string(&profile)? + &noting("shell"))?;
    let (one, other) = ("lgk_live_one0123456789", "lgk_live_other0123456789");
    let local = Local::in_home(home.clone(), |setup| {
        let setup = setup.env("LOOPGATE_API_KEY", one).env("ORCHESTRATOR_API_KEY", other);
        setup.env("SOMETHING_ELSE", "kept")
    })
    .await?;
    local.get("health-check", &[("expectedMcpUrl", "https://mcp.example.test")]).await?.ok()?;
    for name in PROGRAMS.iter().chain(&["shell"]) {
        let given = std::fs::read_to_string(home.path().join(format!("env-{name}"))).context(*name)?;
        ensure!(given.contains("SOMETHING_ELSE=kept"), "{name}: {given}");
        ensure!(!given.contains("lgk_live_") && !given.contains("_API_KEY"), "{name}: {given}");
    }
    Ok(())
}

/// Whoever lists processes or reads files of this user finds no way to speak for a loop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn token_of_a_loop_is_in_no_process_and_in_no_file() -> Result<()> {
    const TOKEN: &str = "a-runner-token-of-its-own-0123456789";
    let held = Conversation::when("plan", "# Coding loop").turn([Step::hold("planning")]);
    let desktop = TestDesktop::playing([held]).await?;
    let order = json!({"command": "PLAN", "prompt": "Plan it", "loopgateAuthToken": TOKEN});
    let (id, started) = desktop.start(order).await?;
    desktop.testbed.model.held("planning").await?;
    ensure!(desktop.cloud.accepted(id, "events").iter().any(|event| event.token == TOKEN), "it is in use");

    let processes = home_processes::processes(desktop.testbed.home.path());
    ensure!(processes.len() > 2, "{processes:?}");
    let mut places: Vec<PathBuf> = Vec::new();
    for process in processes {
        places.extend(["cmdline", "environ"].map(|name| format!("/proc/{}/{name}", process.pid).into()));
    }
    for directory in
        [desktop.loopgate.setup().data_dir(), started["worktreePath"].as_str().context("one")?.into()]
    {
        files_below(&directory, &mut places)?;
    }
    let mut read = 0;
    for place in places {
        // A process may have ended, and a socket cannot be read.
        let Ok(bytes) = std::fs::read(&place) else { continue };
        let found = bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        ensure!(!found, "{} holds it", place.display());
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
