//! The settings file: every documented key has its documented effect, and an error names its location.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::free_port;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::{Loopgate, Setup};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::cli::refusal;
use crate::owner::{Owner, OwnerWatch};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");
const VERSION: &str = "/api/gateway/version";
const REPOS: &str = "/api/gateway/repos";
const EXCHANGE: &str = "/gateway-auth/exchange";

/// Returns the keys that every test needs: sandbox, token file, and free ports.
pub fn base(home: &UserHome) -> String {
    let sandbox = home.path().join("src");
    format!(
        "sandbox_base_directory = {sandbox:?}\ngateway_token_file = \"~/loopgate-gateway-token\"\nport = 0\n\
         api_origin = \"http://127.0.0.1:0\"\n"
    )
}

/// Starts `loopgate up` with these keys in addition to those of [`base`], without arguments.
async fn up(home: &UserHome, more: &str) -> Result<Loopgate> {
    Setup::new(home)?.binary(PROGRAM).settings(&format!("{}{more}", base(home)))?.start().await
}

async fn status_and_body(answer: reqwest::Response) -> Result<(u16, Value)> {
    Ok((answer.status().as_u16(), answer.json().await?))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_and_origins_are_read_from_file() -> Result<()> {
    let home = UserHome::temporary()?;
    let (port, api, web) = (free_port()?, free_port()?, free_port()?);
    let sandbox = home.path().join("elsewhere");
    std::fs::create_dir_all(sandbox.join("shop"))?;
    let file = format!(
        "# mine\nsandbox_base_directory = \"~/elsewhere\"\nport = {port}\nlog_format = \"json\"\n\
         gateway_token_file = \"~/loopgate-gateway-token\"\napi_origin = \"http://127.0.0.1:{api}\"\n\
         web_app_origin = \"http://127.0.0.1:{web}/\"\n"
    );
    let mut loopgate = Setup::new(&home)?.binary(PROGRAM).settings(&file)?.start().await?;
    let ready = loopgate.ready().clone();
    assert_eq!(ready.gateway_port, port);
    assert_eq!(ready.api_origin, format!("http://127.0.0.1:{api}"));
    assert_eq!(ready.page_url, format!("http://127.0.0.1:{web}"));
    let mode = loopgate.setup().token_file().metadata()?.permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the token file is accessible to others");
    let health = loopgate.gateway_bare(Method::GET, "/health").send().await?;
    let expected = health.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).context("no allowed origin")?;
    assert_eq!(expected, &ready.page_url);
    for (path, status) in [(sandbox.join("shop"), 200), (home.path().join("src"), 403)] {
        let request = loopgate.gateway(Method::POST, REPOS).json(&json!({"path": path}));
        assert_eq!(request.send().await?.status(), status, "{}", path.display());
    }
    assert_eq!(loopgate.stop().await?.code(), Some(0));
    let data = loopgate.setup().data_dir();
    let mut lines = 0;
    for entry in std::fs::read_dir(data.join("logs"))? {
        for line in std::fs::read_to_string(entry?.path())?.lines() {
            let record: Value = serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
            assert!(record["level"].is_string(), "{record}");
            lines += 1;
        }
    }
    assert!(lines > 0, "the log is empty");
    assert!(std::fs::read_to_string(data.join("settings.toml"))?.starts_with("# mine\n"));

    // A flag wins over the file.
    let again = loopgate.start_again_with(&["--port", "0", "--log-format", "text"]).await?;
    assert_ne!(again.ready().gateway_port, port);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn program_path_is_read_from_file() -> Result<()> {
    let home = UserHome::temporary()?;
    let git = home.script("my-git", "#!/bin/sh\necho git version 9.8.7\n")?;
    let missing = home.path().join("gone");
    let keys = format!("[binary_paths]\ngit = {git:?}\nreviewer = {missing:?}\n");
    let loopgate = up(&home, &keys).await?;
    let paths = loopgate.gateway(Method::GET, "/api/gateway/settings/binary-paths").send().await?;
    assert_eq!(
        status_and_body(paths).await?,
        (200, json!({"binaryPaths": {"git": git, "reviewer": missing}}))
    );
    let answer = loopgate.gateway(Method::GET, "/api/gateway/health-check").send().await?;
    let (status, body) = status_and_body(answer).await?;
    let row = |id: &str| body["checks"].as_array().into_iter().flatten().find(|row| row["id"] == id).cloned();
    let (git, reviewer) = (row("git").context("a row")?, row("reviewer").context("a row")?);
    assert_eq!((status, &git["passed"], &git["version"]), (200, &json!(true), &json!("9.8.7")), "{git}");
    assert_eq!(reviewer["error"], "Override path does not exist or is not executable", "{reviewer}");
    assert_eq!(reviewer["debug"]["overrideUsed"], json!(missing));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approval_is_required_above_configured_tier() -> Result<()> {
    let home = UserHome::temporary()?;
    let rules = "default_approval_tier = \"low\"\n[auto_approval_rules]\nbinary_paths_settings = \"high\"\n\
                 health_check = \"none\"\n";
    let loopgate = up(&home, rules).await?;
    let unrestricted = "/api/gateway/settings/binary-paths";
    assert_eq!(
        loopgate.gateway(Method::GET, unrestricted).send().await?.status(),
        200,
        "its own rule lets it pass"
    );
    let (mut owner, mut watch) = (Owner::of(&loopgate).await?, OwnerWatch::of(&loopgate).await?);
    for (path, operation, tier) in [(VERSION, "health_check", "low"), (REPOS, "repos_config", "medium")] {
        for (verb, status) in [("approvals.approve", 200), ("approvals.deny", 403)] {
            let answer = tokio::spawn(loopgate.gateway(Method::GET, path).send());
            let held = watch.one().await?;
            assert_eq!(
                (&held["operationId"], &held["riskTier"]),
                (&json!(operation), &json!(tier)),
                "{held}"
            );
            owner.call(verb, json!({"approvalId": held["id"]})).await?;
            watch.nothing().await?;
            let (got, body) = status_and_body(answer.await??).await?;
            assert_eq!(got, status, "{body}");
            if verb == "approvals.deny" {
                let refusal = json!({"error": "request denied", "code": "request_denied",
                    "operationId": operation, "approvalId": held["id"]});
                assert_eq!(body, refusal);
            }
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loopback_origins_are_refused_with_prod_origins_only() -> Result<()> {
    let home = UserHome::temporary()?;
    let keys = "prod_origins_only = true\nweb_app_origin = \"https://app.example.test\"\n";
    let loopgate = up(&home, keys).await?;
    let local = "http://localhost:3000";
    let preflight = loopgate.gateway_bare(Method::OPTIONS, VERSION).header(header::ORIGIN, local);
    let answer = preflight.header("access-control-request-private-network", "true").send().await?;
    let expected = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).context("no allowed origin")?;
    assert_eq!((answer.status().as_u16(), expected.to_str()?), (204, "https://app.example.test"));
    assert!(!answer.headers().contains_key("access-control-allow-private-network"));
    let request = loopgate.gateway_bare(Method::GET, VERSION).header(header::ORIGIN, local);
    let refusal = json!({"error": "unauthorized", "code": "unauthorized",
        "reason": "origin not allowed in prod-origins-only mode"});
    assert_eq!(status_and_body(request.send().await?).await?, (401, refusal));
    let request = loopgate.gateway_bare(Method::POST, EXCHANGE).header(header::ORIGIN, local);
    let (status, body) = status_and_body(request.body(r#"{"challengeToken":"x"}"#).send().await?).await?;
    assert_eq!(status, 403);
    assert_eq!(body["error"], "Origin not allowed -- gateway is in production-origins-only mode");
    let request = loopgate.gateway(Method::GET, VERSION).header(header::ORIGIN, local);
    assert_eq!(request.send().await?.status(), 200, "an executor may pass a page's origin on");
    Ok(())
}

/// The test listens at the relay's address and checks whether the desktop connects.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn link_connects_to_configured_relay_unless_disabled() -> Result<()> {
    for enabled in [true, false] {
        let home = UserHome::temporary()?;
        let relay = TcpListener::bind("127.0.0.1:0")?;
        relay.set_nonblocking(true)?;
        let origin = format!("http://{}", relay.local_addr()?);
        let keys = format!("relay_origin = {origin:?}\ncloud_connection_enabled = {enabled}\n");
        let mut loopgate = up(&home, &keys).await?;
        if enabled {
            // `relay` keeps the socket non-blocking for the check after the stop.
            let relay = tokio::net::TcpListener::from_std(relay.try_clone()?)?;
            let connection = tokio::time::timeout(wait::LIMIT, relay.accept()).await;
            connection.context("the desktop did not connect to the relay")??;
        }
        assert_eq!(loopgate.gateway_bare(Method::GET, "/health").send().await?.status(), 200);
        assert_eq!(loopgate.stop().await?.code(), Some(0));
        if !enabled {
            assert!(relay.accept().is_err(), "the desktop connected to the relay");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_fail_while_paused() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    testbed.add_story()?;
    let keys = format!("{}cloud_commands_paused = true\n", base(&testbed.home));
    let loopgate = testbed.loopgate()?.binary(PROGRAM).settings(&keys)?.start().await?;
    let page = crate::page::Page(loopgate.sign_in().await?);
    let document = page.create_document().await?;
    let loop_id = page.start_loop(&document, "plan").await?;
    let ended = page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "FAILED", "{ended}");
    ensure!(ended["error"].to_string().contains("paused"), "{ended}");
    ensure!(testbed.model.requests().is_empty(), "no assistant was started");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn error_names_its_location() -> Result<()> {
    let home = UserHome::temporary()?;
    let data = home.path().join("loopgate-data");
    std::fs::create_dir_all(&data)?;
    let directory = data.to_string_lossy().into_owned();
    for (text, expected) in [
        ("sandbx = 1", "sandbx"),
        ("= 1", "line 1"),
        ("port = \"x\"", "port"),
        ("port = 70000", "port"),
        ("log_format = \"xml\"", "log_format"),
        ("default_approval_tier = \"all\"", "default_approval_tier"),
        ("[auto_approval_rules]\nfly = \"low\"", "fly"),
        ("[binary_paths]\nperl = \"/usr/bin/perl\"", "perl"),
        ("prod_origins_only = 1", "prod_origins_only"),
        ("sandbox_base_directory = \"src\"", "Sandbox base directory must be an absolute path"),
        ("gateway_token_file = \"token\"", "gateway_token_file must be an absolute path"),
        ("api_origin = \"ftp://x\"", "must use https"),
        ("api_origin = \"http://example.com\"", "must use https"),
        ("relay_origin = \"nonsense\"", "Relay origin"),
        ("web_app_origin = \"\"", "Web app origin"),
    ] {
        std::fs::write(data.join("settings.toml"), format!("{text}\n"))?;
        for command in ["up", "gateway"] {
            let message = refusal(&home, &[command, "--home", &directory], &[]).await?;
            ensure!(
                message.contains(expected) && message.contains("settings.toml"),
                "{text} with {command}: {message}"
            );
        }
    }
    // `up` starts its own control plane; with a remote one, only `loopgate gateway` applies.
    std::fs::write(data.join("settings.toml"), "api_origin = \"https://loopgate.example.com\"\n")?;
    let message = refusal(&home, &["up", "--home", &directory, "--no-open"], &[]).await?;
    ensure!(
        message.contains("loopgate gateway") && message.contains("https://loopgate.example.com"),
        "{message}"
    );
    Ok(())
}
