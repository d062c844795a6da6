//! The command line: its help, and what it says when it cannot start.

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

/// How long a command that ends by itself may take.
const RUN_LIMIT: Duration = Duration::from_secs(30);
const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// Runs the program until it ends by itself.
pub async fn run(home: &UserHome, arguments: &[&str], variables: &[(&str, &str)]) -> Result<Output> {
    let mut command = home.command(PROGRAM);
    let run = command.args(arguments).envs(variables.iter().copied()).output();
    Ok(tokio::time::timeout(RUN_LIMIT, run).await.context("it does not end")??)
}

/// What it said when it refused to start.
pub async fn refusal(home: &UserHome, arguments: &[&str], variables: &[(&str, &str)]) -> Result<String> {
    let output = run(home, arguments, variables).await?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(1), "{}: {text}", output.status);
    ensure!(!text.contains("panicked") && !text.contains("stack backtrace"), "{text}");
    Ok(text)
}

/// The loops that `loopgate status` lists.
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
async fn help_is_a_manual() -> Result<()> {
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
async fn relative_home_is_refused_by_name() -> Result<()> {
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

/// Every file of a home, by its path in it.
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
async fn everything_is_kept_in_the_home_that_a_variable_names() -> Result<()> {
    let home = UserHome::temporary()?;
    let sandbox = home.path().join("src");
    std::fs::create_dir(&sandbox)?;
    let before = files_of(&home)?;
    let mut command = home.command(PROGRAM);
    command.env("LOOPGATE_HOME", home.path().join("named")).args(["gateway", "--port", "0", "--sandbox"]);
    let ready = home.path().join("ready.json");
    let mut child = command.arg(&sandbox).arg("--ready-file").arg(&ready).spawn()?;
    wait::appears(&ready).await?;
    let told: Value = serde_json::from_slice(&std::fs::read(&ready)?)?;
    let found = std::fs::read_to_string(home.path().join(".loopgate/gateway-port"))?;
    assert_eq!(told["gatewayPort"].to_string(), found, "which is where every program looks");
    let version = format!("http://127.0.0.1:{found}/api/gateway/version");
    assert_eq!(reqwest::get(version).await?.status(), 401, "an event to be kept");
    signal(child.id().context("it runs")?, "TERM")?;
    assert_eq!(tokio::time::timeout(RUN_LIMIT, child.wait()).await??.code(), Some(0));

    let made: BTreeSet<_> = files_of(&home)?.difference(&before).cloned().collect();
    let (kept, elsewhere): (Vec<_>, Vec<_>) = made.iter().partition(|file| file.starts_with("named"));
    let of_the_sandbox = |file: &&&PathBuf| !file.starts_with("src/.loopgate");
    let elsewhere: Vec<_> = elsewhere.iter().filter(of_the_sandbox).collect();
    ensure!(elsewhere == [&&PathBuf::from("ready.json")], "{elsewhere:?}");
    for name in [
        "desktop-activity-log.json",
        "desktop-secrets.json",
        "desktop.db",
        "gateway-identity.json",
        "logs/loopgate.",
    ] {
        let begin = format!("named/{name}");
        ensure!(kept.iter().any(|file| file.to_string_lossy().starts_with(&begin)), "no {name} in {made:?}");
    }
    Ok(())
}

/// Others of the machine may know that it runs, and nothing else.
#[tokio::test]
async fn stored_files_are_private() -> Result<()> {
    let home = UserHome::temporary()?;
    let loopgate = Setup::new(&home)?.binary(PROGRAM).start().await?;
    assert_eq!(loopgate.gateway_bare(Method::GET, "/health").send().await?.status(), 200);
    let data = loopgate.setup().data_dir();
    let mode = |path: &Path| anyhow::Ok(path.symlink_metadata()?.permissions().mode() & 0o777);
    assert_eq!(mode(&data)?, 0o700);
    let (mut open, mut seen) = (Vec::new(), BTreeSet::new());
    for entry in std::fs::read_dir(&data)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_dir() && mode(&entry.path())? & 0o077 != 0 {
            open.push(name.clone());
        }
        seen.insert(name);
    }
    assert_eq!(open, ["loopgate.lock"], "which says who runs");
    for name in ["control-plane.db", "control-plane-secrets.json", "control.sock", "desktop.db", "vault.key"]
    {
        assert!(seen.contains(name), "no {name} in {seen:?}");
    }
    Ok(())
}

#[tokio::test]
async fn second_one_on_the_same_data_is_refused() -> Result<()> {
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
        "the first is unharmed"
    );
    assert_eq!(first.stop().await?.code(), Some(0));
    gateway(&home).await?;
    Ok(())
}

#[tokio::test]
async fn second_up_hands_out_a_fresh_link_to_the_first() -> Result<()> {
    let home = UserHome::temporary()?;
    let mut first = Setup::new(&home)?.binary(PROGRAM).start().await?;
    let data = first.setup().data_dir();
    let data = data.to_str().context("a plain path")?;
    let output = run(&home, &["up", "--home", data, "--no-open"], &[]).await?;
    let text = String::from_utf8(output.stdout)?;
    assert!(output.status.success() && text.contains("running already"), "{text}");
    assert!(!text.contains("do not count"), "{text}");
    let other = ["up", "--home", data, "--no-open", "--max-loops", "2"];
    let output = run(&home, &other, &[("LOOPGATE_PORT", "19999")]).await?;
    let changed = String::from_utf8(output.stdout)?;
    assert!(changed.contains("--port, --max-loops of this start"), "{changed}");
    let link = text.split_whitespace().find(|word| word.contains("/sign-in?token=")).context(text.clone())?;
    assert_ne!(link, first.ready().sign_in_url);
    first.sign_in_by(link).await?;
    assert!(first.sign_in_by(link).await.is_err(), "a link works once");
    first.sign_in().await?;
    assert_eq!(first.stop().await?.code(), Some(0));
    Ok(())
}

#[tokio::test]
async fn owner_decides_on_the_command_line() -> Result<()> {
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
    let mut seen = BufReader::new(watch.stdout.take().context("it prints")?).lines();
    for (decision, status) in [("approve", 200), ("deny", 403), ("always", 200)] {
        let held = tokio::spawn(loopgate.gateway(Method::GET, "/api/gateway/version").send());
        let line = tokio::time::timeout(RUN_LIMIT, seen.next_line()).await??.context("a request waits")?;
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
        assert!(again.contains("no request with this id waits"), "{again}");
    }
    assert_eq!(loopgate.gateway(Method::GET, "/api/gateway/version").send().await?.status(), 200);
    let output = run(&home, &["approvals", "rules", "--json", "--home", &data], &[]).await?;
    let rule: Value = serde_json::from_slice(&output.stdout)?;
    let id = rule["id"].as_str().context("an id")?;
    let output = run(&home, &["approvals", "forget", id, "--home", &data], &[]).await?;
    assert!(output.status.success());
    policies_come_before_tiers(&home, &loopgate, &data, &mut seen).await?;
    let output = run(&home, &["activity", "--json", "--home", &data], &[]).await?;
    let newest: Value =
        serde_json::from_str(String::from_utf8(output.stdout)?.lines().next().context("events")?)?;
    assert_eq!((&newest["path"], &newest["statusCode"]), (&json!("/api/gateway/repos"), &json!(403)));
    assert_eq!(loopgate.stop().await?.code(), Some(0));
    let text = refusal(&home, &["approvals", "--home", &data], &[]).await?;
    assert!(text.contains("no Loopgate runs with the data directory"), "{text}");
    Ok(())
}

/// Everything asks by tier; policies let pass, refuse, and go again.
async fn policies_come_before_tiers(
    home: &UserHome,
    loopgate: &Loopgate,
    data: &str,
    seen: &mut Lines<BufReader<ChildStdout>>,
) -> Result<()> {
    let shop = loopgate.setup().sandbox().join("shop");
    let shop = shop.to_str().context("a plain path")?;
    let said = async |arguments: &[&str]| -> Result<String> {
        let output = run(home, &[&["approvals", "--home", data], arguments].concat(), &[]).await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    };
    let body = json!({"path": shop});
    let asked = async || -> Result<Value> {
        Ok(loopgate.gateway(Method::POST, "/api/gateway/repos").json(&body).send().await?.json().await?)
    };
    said(&["set", "repos_config", "allow"]).await?;
    assert_eq!(asked().await?["error"], "Path does not exist", "it reached the route");
    said(&["set", "repos_config", "deny"]).await?;
    assert_eq!(asked().await?["error"], "request denied", "a later decision replaces the earlier");
    let policy: Value = serde_json::from_str(&said(&["policies", "--json"]).await?)?;
    said(&["unset", policy["id"].as_str().context("an id")?]).await?;
    assert!(said(&["policies"]).await?.contains("No policies"));
    said(&["set", "all", "deny"]).await?;
    said(&["set", "all", "allow", "--repository", shop]).await?;
    said(&["set", "git_action", "ask"]).await?;
    said(&["unset", "all"]).await?;
    let left = said(&["policies"]).await?;
    assert!(left.lines().count() == 1 && left.contains("git_action"), "{left}");
    said(&["unset", "git_action"]).await?;
    assert!(said(&["policies"]).await?.contains("No policies"));

    let held = tokio::spawn(loopgate.gateway(Method::POST, "/api/gateway/repos").json(&body).send());
    let line = tokio::time::timeout(RUN_LIMIT, seen.next_line()).await??.context("a request waits")?;
    let waiting: Value = serde_json::from_str(&line)?;
    assert_eq!((&waiting["operationId"], &waiting["scopePath"]), (&json!("repos_config"), &json!(shop)));
    said(&["deny", waiting["id"].as_str().context("an id")?, "--remember", "repository"]).await?;
    assert_eq!(held.await??.status(), 403);
    assert_eq!(asked().await?["error"], "request denied", "remembered, without asking");
    Ok(())
}

#[tokio::test]
async fn token_file_is_made_kept_and_judged() -> Result<()> {
    let home = UserHome::temporary()?;
    let mut first = gateway(&home).await?;
    let file = home.path().join("loopgate-gateway-token");
    assert_eq!(file.metadata()?.permissions().mode() & 0o777, 0o600);
    let token = first.gateway_token().to_owned();
    assert!(token.len() >= 32, "{}", token.len());
    first.stop().await?;
    let mut second = gateway(&home).await?;
    assert_eq!(second.gateway_token(), token, "a second start uses the same");
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
    assert!(!text.contains("\"short\""), "the token itself is not shown: {text}");
    assert_eq!(std::fs::read_to_string(&file)?, "short", "a file of the user's is not replaced");
    Ok(())
}

#[tokio::test]
async fn paths_lie_in_the_sandbox_that_was_named() -> Result<()> {
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

#[tokio::test]
async fn without_set_up_nothing_is_done() -> Result<()> {
    let home = UserHome::temporary()?;
    let text = refusal(&home, &["worktrees"], &[]).await?;
    ensure!(text.contains("start one with loopgate up"), "{text}");
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
async fn taken_port_is_named() -> Result<()> {
    let home = UserHome::temporary()?;
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.port().to_string();
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

/// The preferred ports are the machine's own, so that this test may find any of them in use. It
/// takes those that are free, one after the other, and looks where the next Loopgate goes.
// GC-01, GC-02
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
            ready = wait::appears(&ready) => ready,
            ended = child.wait() => Err(anyhow::anyhow!("it ended: {ended:?}")),
        };
        started.with_context(|| format!("it did not start with {port} free"))?;
        let bound: Value = serde_json::from_slice(&std::fs::read(&ready)?)?;
        let bound = bound["gatewayPort"].as_u64().context("it names its port")?;
        let health = reqwest::get(format!("http://127.0.0.1:{bound}/health")).await?.json::<Value>().await?;
        ensure!(health["port"] == bound, "{health}");
        let told = std::fs::read_to_string(home.path().join(".loopgate/gateway-port"))?;
        ensure!(told == bound.to_string(), "{told}");
        child.kill().await?;
        ensure!(bound >= u64::from(port) && PORTS.iter().any(|known| u64::from(*known) == bound), "{bound}");
        held.extend(TcpListener::bind(("127.0.0.1", port)).ok());
    }
    let text = refusal(&home, &["gateway", "--home", &data], &[]).await?;
    ensure!(PORTS.iter().all(|port| text.contains(&port.to_string())), "{text}");
    Ok(())
}
