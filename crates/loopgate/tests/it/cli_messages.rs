//! Messages of the command line: invalid settings, addresses in use, and empty lists.

use std::net::TcpListener;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Setup;
use loopgate_testkit::wait;

use crate::cli::{refusal, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

#[tokio::test]
async fn error_names_setting_by_its_source() -> Result<()> {
    let home = UserHome::temporary()?;
    std::fs::create_dir_all(home.path().join("src"))?;
    let (data, sandbox) = (home.path().join("data"), home.path().join("src"));
    let (data, sandbox) = (data.to_string_lossy(), sandbox.to_string_lossy());
    let missing = home.path().join("missing").to_string_lossy().into_owned();
    let gateway = ["gateway", "--home", &*data, "--port", "0", "--sandbox", &*sandbox];
    for (variable, value, expected) in [
        (
            "LOOPGATE_AUTH_API_ORIGIN",
            "nonsense",
            "--api-origin (LOOPGATE_AUTH_API_ORIGIN) must be a valid URL",
        ),
        ("LOOPGATE_WEB_APP_ORIGIN", "ftp://x", "--web-origin (LOOPGATE_WEB_APP_ORIGIN) must use https"),
        ("LOOPGATE_RELAY_ORIGIN", "nonsense", "LOOPGATE_RELAY_ORIGIN must be a valid URL"),
        ("LOOPGATE_NOTIFY_COMMAND", "some/where", "(--notify-command) must begin with an absolute path"),
        (
            "LOOPGATE_NOTIFY_COMMAND",
            "no-such-program",
            "names no-such-program, which is not an executable program",
        ),
        ("LOOPGATE_NOTIFY_COMMAND", &missing, "which is not an executable program"),
    ] {
        let message = refusal(&home, &gateway, &[(variable, value)]).await?;
        ensure!(message.contains(expected), "{variable}={value}: {message}");
    }
    for (command, variable, value, expected) in [
        ("gateway", "LOOPGATE_PORT", "abc", "--port"),
        ("up", "LOOPGATE_MAX_LOOPS", "0", "--max-loops"),
        ("control-plane", "LOOPGATE_CONTROL_PLANE_LISTEN", "x", "--listen"),
    ] {
        let output = run(&home, &[command, "--home", &*data], &[(variable, value)]).await?;
        let message = String::from_utf8(output.stderr)?;
        ensure!(output.status.code() == Some(2) && message.contains(expected), "{message}");
        ensure!(message.contains(&format!("comes from the variable {variable}")), "{message}");
        let given = [command, "--home", &*data, expected, value];
        let message = String::from_utf8(run(&home, &given, &[(variable, value)]).await?.stderr)?;
        ensure!(message.contains(expected) && !message.contains("variable"), "{message}");
    }
    for (variable, value, expected) in [
        ("API_BASE_URL", "nonsense", "--api-origin (API_BASE_URL) must be a URL"),
        ("LOOPGATE_WEB_APP_ORIGIN", "nonsense", "--web-origin (LOOPGATE_WEB_APP_ORIGIN) must be a URL"),
        ("DATABASE_URL", "nonsense", "--database (DATABASE_URL)"),
    ] {
        let control_plane = ["control-plane", "--home", &*data, "--listen", "127.0.0.1:0"];
        let message = refusal(&home, &control_plane, &[(variable, value)]).await?;
        ensure!(message.contains(expected), "{variable}: {message}");
    }
    let message = refusal(&home, &["status", "--home", &data], &[]).await?;
    ensure!(message.ends_with("start it with loopgate up\n"), "{message}");
    let message = refusal(&home, &["gateway", "--home", "some/where"], &[]).await?;
    ensure!(message.contains("--home or LOOPGATE_HOME must be an absolute path"), "{message}");
    Ok(())
}

#[tokio::test]
async fn address_in_use_is_reported_with_flag() -> Result<()> {
    let home = UserHome::temporary()?;
    std::fs::create_dir_all(home.path().join("src"))?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (address, port) = (listener.local_addr()?.to_string(), listener.local_addr()?.port().to_string());
    let origin = format!("http://{address}");
    let (data, sandbox) = (home.path().join("data"), home.path().join("src"));
    let (data, sandbox) = (data.to_string_lossy(), sandbox.to_string_lossy());
    for (arguments, flag) in [
        (["gateway", "--sandbox", &sandbox, "--port", &port], "--port"),
        (["up", "--sandbox", &sandbox, "--api-origin", &origin], "--api-origin"),
        (["control-plane", "--owner-name", "x", "--listen", &address], "--listen"),
    ] {
        let message = refusal(&home, &[&arguments[..], &["--home", &*data]].concat(), &[]).await?;
        ensure!(message.contains(&port) && message.contains("127.0.0.1"), "{message}");
        ensure!(message.contains("perhaps another Loopgate") && message.contains(flag), "{message}");
    }
    Ok(())
}

#[tokio::test]
async fn empty_lists_print_a_sentence() -> Result<()> {
    let home = UserHome::temporary()?;
    let loopgate = Setup::new(&home)?.binary(PROGRAM).gateway_alone().start().await?;
    let data = loopgate.setup().data_dir();
    let data = data.to_str().context("a plain path")?;
    for (arguments, sentence) in [
        (&["activity"][..], "No requests yet."),
        (&["activity", "--security"], "No requests were rejected for security reasons."),
        (&["activity", "--clear"], "The activity log was cleared."),
        (&["approvals"], "No requests are waiting for approval."),
        (&["status"], "No loops are running or queued."),
        (&["worktrees"], "No worktrees."),
        (&["worktrees", "clean"], "No worktree is old enough to be removed"),
    ] {
        let output = run(&home, &[arguments, &["--home", data]].concat(), &[]).await?;
        let message = String::from_utf8(output.stdout)?;
        ensure!(output.status.success() && message.contains(sentence), "{arguments:?}: {message}");
    }
    Ok(())
}

#[tokio::test]
async fn unconfigured_gateway_prints_setup_options() -> Result<()> {
    let home = UserHome::temporary()?;
    let loopgate = Setup::new(&home)?.binary(PROGRAM).gateway_alone().start().await?;
    let options =
        ["loopgate up --sandbox", "LOOPGATE_API_KEY", "onboarding_completed = true", "settings.toml"];
    // Printed after the gateway is ready.
    let has_printed = || options.iter().all(|option| loopgate.output().contains(option));
    wait::until(home.path(), async || has_printed().then_some(())).await
}

#[tokio::test]
async fn trust_fails_outside_of_a_repository() -> Result<()> {
    let home = UserHome::temporary()?;
    let (data, empty) = (home.path().join("data"), home.path().join("empty"));
    std::fs::create_dir(&empty)?;
    let (data, empty) = (data.to_string_lossy(), empty.to_string_lossy());
    let message = refusal(&home, &["trust", "--home", &data, &empty], &[]).await?;
    ensure!(message.contains("not a git repository") && message.contains(&*empty), "{message}");
    ensure!(message.contains("hint: ") && !message.contains("fatal"), "{message}");
    let message = refusal(&home, &["trust", "--home", &data, "/no/such/place"], &[]).await?;
    ensure!(message.matches("/no/such/place").count() == 1, "{message}");
    Ok(())
}
