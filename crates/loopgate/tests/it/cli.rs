//! The command line: help texts, refusals to start, and the commands of the owner.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::free_port;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::{Loopgate, Setup, signal};
use loopgate_testkit::wait;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::ChildStdout;

/// Timeout of commands that are expected to exit.
const RUN_TIMEOUT: Duration = Duration::from_secs(30);
const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// Runs the program until it exits.
pub async fn run(home: &UserHome, arguments: &[&str], variables: &[(&str, &str)]) -> Result<Output> {
    let mut command = home.command(PROGRAM);
    let run = command.args(arguments).envs(variables.iter().copied()).output();
    Ok(tokio::time::timeout(RUN_TIMEOUT, run).await.context("the program does not exit")??)
}

/// Runs a program that is expected to exit with code 1, and returns its stderr.
pub async fn refusal(home: &UserHome, arguments: &[&str], variables: &[(&str, &str)]) -> Result<String> {
    let output = run(home, arguments, variables).await?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(1), "{}: {text}", output.status);
    ensure!(!text.contains("panicked") && !text.contains("stack backtrace"), "{text}");
    Ok(text)
}

/// Returns the loops that `loopgate status` lists.
pub async fn loops(home: &UserHome, loopgate: &Loopgate) -> Result<Vec<Value>> {
    let data = loopgate.setup().data_dir();
    let arguments = ["status", "--json", "--home", data.to_str().context("a plain path")?];
    let output = run(home, &arguments, &[]).await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

async fn gateway(home: &UserHome) -> Result<Loopgate> {
    Setup::new(home)?.binary(PROGRAM).gateway_alone().start().await
}

#[tokio::test]
async fn help_lists_commands_options_and_variables() -> Result<()> {
    let home = UserHome::temporary()?;
    let output = run(&home, &["--help"], &[]).await?;
    let help = String::from_utf8(output.stdout)?;
    assert!(output.status.success(), "{help}");
    for command in ["up", "gateway", "control-plane", "loop", "plan"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command} in {help}");
    }
    let output = run(&home, &["up", "--help"], &[]).await?;
    let help = String::from_utf8(output.stdout)?;
    for (option, variable) in [
        ("--home", "LOOPGATE_HOME"),
        ("--sandbox", "LOOPGATE_SANDBOX"),
        ("--gateway-token-file", "LOOPGATE_GATEWAY_TOKEN_FILE"),
        ("--port", "LOOPGATE_PORT"),
        ("--api-origin", "LOOPGATE_AUTH_API_ORIGIN"),
        ("--web-origin", "LOOPGATE_WEB_APP_ORIGIN"),
        ("--log-format", "LOOPGATE_LOG_FORMAT"),
        ("--no-open", "LOOPGATE_NO_OPEN"),
    ] {
        assert!(help.contains(option) && help.contains(variable), "{option} by {variable} in {help}");
    }
    let output = run(&home, &["--version"], &[]).await?;
    let version = String::from_utf8(output.stdout)?;
    assert_eq!(version.trim(), format!("loopgate {}", env!("CARGO_PKG_VERSION")));
    Ok(())
}

// GC-43
#[tokio::test]
async fn relative_home_is_refused() -> Result<()> {
    let home = UserHome::temporary()?;
    for command in ["up", "gateway", "control-plane"] {
        for (arguments, variables) in [
            (vec![command, "--home", "some/where"], vec![]),
            (vec![command], vec![("LOOPGATE_HOME", "some/where")]),
        ] {
            let text = refusal(&home, &arguments, &variables).await?;
            assert!(text.contains("LOOPGATE_HOME must be an absolute path"), "{text}");
            assert!(text.contains("some/where"), "{text}");
        }
    }
    Ok(())
}

/// Returns the relative path of every file in a home.
fn files_of(home: &UserHome) -> Result<BTreeSet<PathBuf>> {
    let (mut files, mut folders) = (BTreeSet::new(), vec![home.path().to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.insert(entry.path().strip_prefix(home.path())?.to_owned());
            }
        }
    }
    Ok(files)
}

// GC-43
#[tokio::test]
async fn all_files_are_written_below_loopgate_home() -> Result<()> {
    let home = UserHome::temporary()?;
    let sandbox = home.path().join("src");
    std::fs::create_dir(&sandbox)?;
    let before = files_of(&home)?;
    let mut command = home.command(PROGRAM);
    command.env("LOOPGATE_HOME", home.path().join("loopgate-home")).args([
        "gateway",
        "--port",
        "0",
        "--sandbox",
    ]);
    let ready = home.path().join("ready.json");
    let mut child = command.arg(&sandbox).arg("--ready-file").arg(&ready).spawn()?;
    wait::until_exists(&ready).await?;
    let ready: Value = serde_json::from_slice(&std::fs::read(&ready)?)?;
    let port = std::fs::read_to_string(home.path().join(".loopgate/gateway-port"))?;
    // The port file is always below the user's home, also with another LOOPGATE_HOME: clients look for it
    // there.
    assert_eq!(ready["gatewayPort"].to_string(), port);
    let version = format!("http://127.0.0.1:{port}/api/gateway/version");
    // A refused request is a security event, which creates the activity log.
    assert_eq!(loopgate_http_client::builder().build()?.get(version).send().await?.status(), 401);
    signal(child.id().context("not running")?, "TERM")?;
    assert_eq!(tokio::time::timeout(RUN_TIMEOUT, child.wait()).await??.code(), Some(0));

    let created: BTreeSet<_> = files_of(&home)?.difference(&before).cloned().collect();
    let (in_home, elsewhere): (Vec<_>, Vec<_>) =
        created.iter().partition(|file| file.starts_with("loopgate-home"));
    let outside_sandbox = |file: &&&PathBuf| !file.starts_with("src/.loopgate");
    let elsewhere: Vec<_> = elsewhere.iter().filter(outside_sandbox).collect();
    ensure!(elsewhere == [&&PathBuf::from("ready.json")], "{elsewhere:?}");
    for name in [
        "desktop-activity-log.json",
        "desktop-secrets.json",
        "desktop.db",
        "gateway-identity.json",
        "logs/loopgate.",
    ] {
        let prefix = format!("loopgate-home/{name}");
        ensure!(
            in_home.iter().any(|file| file.to_string_lossy().starts_with(&prefix)),
            "no {name} in {created:?}"
        );
    }
    Ok(())
}

// The lock file, which names the running process, is the only file that other users can read.
#[tokio::test]
async fn stored_files_are_private() -> Result<()> {
    let home = UserHome::temporary()?;
    let loopgate = Setup::new(&home)?.binary(PROGRAM).start().await?;
    assert_eq!(loopgate.gateway_bare(Method::GET, "/health").send().await?.status(), 200);
    let data = loopgate.setup().data_dir();
    let mode = |path: &Path| anyhow::Ok(path.symlink_metadata()?.permissions().mode() & 0o777);
    assert_eq!(mode(&data)?, 0o700);
    let (mut readable, mut names) = (Vec::new(), BTreeSet::new());
    for entry in std::fs::read_dir(&data)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_dir() && mode(&entry.path())? & 0o077 != 0 {
            readable.push(name.clone());
        }
        names.insert(name);
    }
    assert_eq!(readable, ["loopgate.lock"]);
    for name in ["control-plane.db", "control-plane-secrets.json", "control.sock", "desktop.db", "vault.key"]
    {
        assert!(names.contains(name), "no {name} in {names:?}");
    }
    Ok(())
}

#[tokio::test]
async fn second_process_on_the_same_data_directory_is_refused() -> Result<()> {
    let home = UserHome::temporary()?;
    let mut first = gateway(&home).await?;
    let data = first.setup().data_dir();
    let data = data.to_str().context("a plain path")?;
    for command in ["up", "gateway", "control-plane"] {
        let free = format!("127.0.0.1:{}", free_port()?);
        let mut arguments = vec![command, "--home", data];
        let origin = format!("http://{free}");
        match command {
            "control-plane" => arguments.extend(["--listen", &free]),
            "up" => arguments.extend(["--port", "0", "--no-open", "--api-origin", &origin]),
            _ => arguments.extend(["--port", "0"]),
        }
        let text = refusal(&home, &arguments, &[]).await?;
        assert!(text.contains("another Loopgate is running with the data directory"), "{text}");
        assert!(text.contains(data) && text.contains("--home"), "{text}");
    }
    assert_eq!(
        first.gateway_bare(Method::GET, "/health").send().await?.status(),
        200,
        "the first process is not affected"
    );
    assert_eq!(first.stop().await?.code(), Some(0));
    gateway(&home).await?;
    Ok(())
}

#[tokio::test]
async fn second_up_prints_a_new_sign_in_link_of_the_first() -> Result<()> {
    let home = UserHome::temporary()?;
    let mut first = Setup::new(&home)?.binary(PROGRAM).start().await?;
    let data = first.setup().data_dir();
    let data = data.to_str().context("a plain path")?;
    let output = run(&home, &["up", "--home", data, "--no-open"], &[]).await?;
    let text = String::from_utf8(output.stdout)?;
    assert!(output.status.success() && text.contains("already running"), "{text}");
    assert!(!text.contains("have no effect"), "{text}");
    // Options that differ from those of the running process have no effect; the output lists them.
    let other = ["up", "--home", data, "--no-open", "--max-loops", "2"];
    let output = run(&home, &other, &[("LOOPGATE_PORT", "19999")]).await?;
    let changed = String::from_utf8(output.stdout)?;
    assert!(changed.contains("have no effect on it: --port, --max-loops"), "{changed}");
    let link = text.split_whitespace().find(|word| word.contains("/sign-in?token=")).context(text.clone())?;
    assert_ne!(link, first.ready().sign_in_url);
    first.sign_in_by(link).await?;
    assert!(first.sign_in_by(link).await.is_err(), "a sign-in link is valid once");
    first.sign_in().await?;
    assert_eq!(first.stop().await?.code(), Some(0));
    Ok(())
}

#[tokio::test]
async fn approvals_command_decides_requests_and_manages_policies() -> Result<()> {
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(PROGRAM).gateway_alone();
    let data = setup.data_dir();
    std::fs::create_dir_all(&data)?;
    std::fs::write(
        data.join("settings.toml"),
        "onboarding_completed = true\ndefault_approval_tier = \"none\"\n",
    )?;
    let data = data.to_str().context("a plain path")?.to_owned();
    let mut loopgate = setup.start().await?;
    let mut watch = home.command(PROGRAM);
    watch.args(["approvals", "--home", &data, "--watch", "--json"]).stdout(Stdio::piped()).kill_on_drop(true);
    let mut watch = watch.spawn()?;
    let mut pending = BufReader::new(watch.stdout.take().context("no stdout")?).lines();
    for (decision, status) in [("approve", 200), ("deny", 403), ("always", 200)] {
        let held = tokio::spawn(loopgate.gateway(Method::GET, "/api/gateway/version").send());
        let line =
            tokio::time::timeout(RUN_TIMEOUT, pending.next_line()).await??.context("no pending request")?;
        let waiting: Value = serde_json::from_str(&line)?;
        assert_eq!(waiting["operationId"], "health_check");
        let id = waiting["id"].as_str().context("an id")?;
        let output = run(&home, &["approvals", "--home", &data], &[]).await?;
        let list = String::from_utf8(output.stdout)?;
        assert!(list.contains(&id[id.len() - 8..]) && list.contains("GET /api/gateway/version"), "{list}");
        let output = run(&home, &["approvals", decision, &id[id.len() - 8..], "--home", &data], &[]).await?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(held.await??.status(), status, "{decision}");
        let again = refusal(&home, &["approvals", "deny", id, "--home", &data], &[]).await?;
        assert!(again.contains("no pending request has this id"), "{again}");
    }
    assert_eq!(loopgate.gateway(Method::GET, "/api/gateway/version").send().await?.status(), 200);
    let output = run(&home, &["approvals", "rules", "--json", "--home", &data], &[]).await?;
    let rule: Value = serde_json::from_slice(&output.stdout)?;
    let id = rule["id"].as_str().context("an id")?;
    let output = run(&home, &["approvals", "forget", id, "--home", &data], &[]).await?;
    assert!(output.status.success());
    policies_override_tiers(&home, &loopgate, &data, &mut pending).await?;
    let output = run(&home, &["activity", "--json", "--home", &data], &[]).await?;
    let newest: Value =
        serde_json::from_str(String::from_utf8(output.stdout)?.lines().next().context("events")?)?;
    assert_eq!((&newest["path"], &newest["statusCode"]), (&json!("/api/gateway/repos"), &json!(403)));
    assert_eq!(loopgate.stop().await?.code(), Some(0));
    let text = refusal(&home, &["approvals", "--home", &data], &[]).await?;
    assert!(text.contains("no Loopgate runs with the data directory"), "{text}");
    Ok(())
}

// Policies override the approval tier of the settings, which holds every request here.
async fn policies_override_tiers(
    home: &UserHome,
    loopgate: &Loopgate,
    data: &str,
    pending: &mut Lines<BufReader<ChildStdout>>,
) -> Result<()> {
    let shop = loopgate.setup().sandbox().join("shop");
    let shop = shop.to_str().context("a plain path")?;
    let approvals = async |arguments: &[&str]| -> Result<String> {
        let output = run(home, &[&["approvals", "--home", data], arguments].concat(), &[]).await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    };
    let body = json!({"path": shop});
    let add_repository = async || -> Result<Value> {
        Ok(loopgate.gateway(Method::POST, "/api/gateway/repos").json(&body).send().await?.json().await?)
    };
    approvals(&["set", "repos_config", "allow"]).await?;
    assert_eq!(add_repository().await?["error"], "Path does not exist", "the route was not reached");
    approvals(&["set", "repos_config", "deny"]).await?;
    assert_eq!(
        add_repository().await?["error"],
        "request denied",
        "the later policy replaces the earlier one"
    );
    let policy: Value = serde_json::from_str(&approvals(&["policies", "--json"]).await?)?;
    approvals(&["unset", policy["id"].as_str().context("an id")?]).await?;
    assert!(approvals(&["policies"]).await?.contains("No policies"));
    approvals(&["set", "all", "deny"]).await?;
    approvals(&["set", "all", "allow", "--repository", shop]).await?;
    approvals(&["set", "git_action", "ask"]).await?;
    approvals(&["unset", "all"]).await?;
    let remaining = approvals(&["policies"]).await?;
    assert!(remaining.lines().count() == 1 && remaining.contains("git_action"), "{remaining}");
    approvals(&["unset", "git_action"]).await?;
    assert!(approvals(&["policies"]).await?.contains("No policies"));

    let held = tokio::spawn(loopgate.gateway(Method::POST, "/api/gateway/repos").json(&body).send());
    let line =
        tokio::time::timeout(RUN_TIMEOUT, pending.next_line()).await??.context("no pending request")?;
    let waiting: Value = serde_json::from_str(&line)?;
    assert_eq!((&waiting["operationId"], &waiting["scopePath"]), (&json!("repos_config"), &json!(shop)));
    approvals(&["deny", waiting["id"].as_str().context("an id")?, "--remember", "repository"]).await?;
    assert_eq!(held.await??.status(), 403);
    assert_eq!(
        add_repository().await?["error"],
        "request denied",
        "the remembered denial applies without an approval"
    );
    Ok(())
}

#[tokio::test]
async fn gateway_token_file_is_created_reused_and_validated() -> Result<()> {
    let home = UserHome::temporary()?;
    let mut first = gateway(&home).await?;
    let file = home.path().join("loopgate-gateway-token");
    assert_eq!(file.metadata()?.permissions().mode() & 0o777, 0o600);
    let token = first.gateway_token().to_owned();
    assert!(token.len() >= 32, "{}", token.len());
    first.stop().await?;
    let mut second = gateway(&home).await?;
    assert_eq!(second.gateway_token(), token, "a restart reuses the token");
    let status = |answer: reqwest::Response| answer.status().as_u16();
    assert_ne!(status(second.gateway(Method::GET, "/api/gateway/version").send().await?), 401);
    assert_eq!(status(second.gateway_bare(Method::GET, "/api/gateway/version").send().await?), 401);
    second.stop().await?;

    std::fs::write(&file, "short")?;
    let data = home.path().join("loopgate-data");
    let (data, token_file) = (data.to_string_lossy(), file.to_string_lossy());
    let arguments = ["gateway", "--home", &data, "--port", "0", "--gateway-token-file", &token_file];
    let text = refusal(&home, &arguments, &[]).await?;
    assert!(text.contains("too short") && text.contains(token_file.as_ref()), "{text}");
    assert!(!text.contains("\"short\""), "the message contains the token: {text}");
    assert_eq!(std::fs::read_to_string(&file)?, "short", "the token file of the user was replaced");
    Ok(())
}

#[tokio::test]
async fn paths_outside_the_sandbox_are_refused() -> Result<()> {
    let home = UserHome::temporary()?;
    let inside = home.path().join("src/inside");
    std::fs::create_dir_all(&inside)?;
    let setup = Setup::new(&home)?.binary(PROGRAM).gateway_alone();
    let loopgate = setup.env("LOOPGATE_API_KEY", "lgk_live_0123456789abcdef0123456789abcdef").start().await?;
    let add = |path: String| {
        let request = loopgate.gateway(Method::POST, "/api/gateway/repos").json(&json!({"path": path}));
        async move {
            let answer = request.send().await?;
            anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
        }
    };
    let (status, answer) = add(inside.to_string_lossy().into_owned()).await?;
    assert_eq!((status, &answer["success"]), (200, &json!(true)), "{answer}");
    let (status, answer) = add(home.path().to_string_lossy().into_owned()).await?;
    assert_eq!((status, &answer["error"]), (403, &json!("directory not allowed")), "{answer}");
    Ok(())
}

// A gateway without onboarding serves `/health` and refuses every other route.
/// Makes the process find no CA certificates, as on a system without the package `ca-certificates`.
const NO_CERTIFICATES: [(&str, &str); 2] =
    [("SSL_CERT_FILE", "/nonexistent/certificates"), ("SSL_CERT_DIR", "/nonexistent")];

#[tokio::test]
async fn gateway_starts_without_ca_certificates() -> Result<()> {
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(PROGRAM).gateway_alone();
    let setup = NO_CERTIFICATES.iter().fold(setup, |setup, (name, value)| setup.env(*name, *value));
    let loopgate = setup.start().await?;
    let health = loopgate.gateway_bare(Method::GET, "/health").send().await?.json::<Value>().await?;
    assert_eq!(health["status"], "ok");
    Ok(())
}

#[tokio::test]
async fn missing_ca_certificates_are_named_with_their_package() -> Result<()> {
    let home = UserHome::temporary()?;
    let variables = [NO_CERTIFICATES[0], NO_CERTIFICATES[1], ("LOOPGATE_CONNECT_CODE", "any")];
    let text = refusal(&home, &["connect", "https://loopgate.example.test"], &variables).await?;
    assert!(text.contains("install the package ca-certificates"), "{text}");
    Ok(())
}

#[tokio::test]
async fn routes_are_refused_before_onboarding() -> Result<()> {
    let home = UserHome::temporary()?;
    let text = refusal(&home, &["worktrees"], &[]).await?;
    ensure!(text.contains("start Loopgate with loopgate up"), "{text}");
    let loopgate = gateway(&home).await?;
    let health = loopgate.gateway_bare(Method::GET, "/health").send().await?.json::<Value>().await?;
    assert_eq!((&health["status"], &health["onboardingCompleted"]), (&json!("ok"), &json!(false)));
    for (method, path) in
        [(Method::GET, "/api/gateway/repos"), (Method::POST, "/api/gateway/orchestrator/loop")]
    {
        let answer = loopgate.gateway(method, path).body("{}").send().await?;
        assert_eq!(answer.status(), 403);
        let refusal = answer.json::<Value>().await?;
        assert_eq!(refusal["error"], "onboarding not completed", "{path}");
        assert_eq!(refusal["code"], "onboarding_not_completed", "{path}");
        ensure!(refusal["hint"].to_string().contains("loopgate up"), "{refusal}");
    }
    let exchange = loopgate.gateway_bare(Method::POST, "/gateway-auth/exchange");
    let answer = exchange.header("origin", "http://localhost:3000").body("{}").send().await?;
    assert_eq!(answer.status(), 503);
    let text = "Local gateway auth unavailable: API key required";
    assert_eq!(answer.json::<Value>().await?["error"], text);
    Ok(())
}

#[tokio::test]
async fn occupied_port_is_reported() -> Result<()> {
    let home = UserHome::temporary()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port().to_string();
    let data = home.path().join("loopgate-data");
    let arguments = ["gateway", "--home", &data.to_string_lossy(), "--port", &port];
    let text = refusal(&home, &arguments, &[]).await?;
    assert!(text.contains(&port), "{text}");

    let origin = format!("http://127.0.0.1:{port}");
    let sandbox = home.path().join("src");
    std::fs::create_dir_all(&sandbox)?;
    let sandbox = sandbox.to_string_lossy().into_owned();
    let arguments = [
        "up",
        "--home",
        &data.to_string_lossy(),
        "--port",
        "0",
        "--no-open",
        "--sandbox",
        &sandbox,
        "--api-origin",
        &origin,
    ];
    let text = refusal(&home, &arguments, &[]).await?;
    assert!(text.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{text}");
    Ok(())
}

// GC-01, GC-02
// The ports are fixed, so other programs of the machine may occupy some of them. The test binds the free ones
// one by one, and checks which port the next gateway binds.
#[tokio::test]
async fn gateway_falls_back_through_its_four_ports() -> Result<()> {
    const PORTS: [u16; 4] = [19432, 19433, 19434, 19435];
    let home = UserHome::temporary()?;
    let data = home.path().join("loopgate-data");
    let data = data.to_string_lossy().into_owned();
    let mut held: Vec<TcpListener> = Vec::new();
    for port in PORTS {
        let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) else { continue };
        drop(listener);
        let ready = home.path().join(format!("ready-{port}.json"));
        let mut command = home.command(PROGRAM);
        command.args(["gateway", "--home", &data, "--ready-file"]).arg(&ready);
        let mut child = command.spawn()?;
        let started = tokio::select! {
            ready = wait::until_exists(&ready) => ready,
            ended = child.wait() => Err(anyhow::anyhow!("the gateway exited: {ended:?}")),
        };
        started.with_context(|| format!("the gateway did not start with port {port} free"))?;
        let bound: Value = serde_json::from_slice(&std::fs::read(&ready)?)?;
        let bound = bound["gatewayPort"].as_u64().context("no gatewayPort")?;
        let health = loopgate_http_client::builder()
            .build()?
            .get(format!("http://127.0.0.1:{bound}/health"))
            .send()
            .await?
            .json::<Value>()
            .await?;
        ensure!(health["port"] == bound, "{health}");
        let port_file = std::fs::read_to_string(home.path().join(".loopgate/gateway-port"))?;
        ensure!(port_file == bound.to_string(), "{port_file}");
        child.kill().await?;
        ensure!(
            bound >= u64::from(port) && PORTS.iter().any(|candidate| u64::from(*candidate) == bound),
            "{bound}"
        );
        held.extend(TcpListener::bind(("127.0.0.1", port)).ok());
    }
    let text = refusal(&home, &["gateway", "--home", &data], &[]).await?;
    ensure!(PORTS.iter().all(|port| text.contains(&port.to_string())), "{text}");
    Ok(())
}
