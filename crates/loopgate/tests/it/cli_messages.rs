//! What the command line says: which flag or variable is wrong, who has an address, and that there is
//! nothing to show.

use std::net::TcpListener;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Setup;

use crate::cli::{refusal, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

#[tokio::test]
async fn wrong_setting_is_named_as_it_was_given() -> Result<()> {
    let home = UserHome::temporary()?;
    std::fs::create_dir_all(home.path().join("src"))?;
    let (data, sandbox) = (home.path().join("data"), home.path().join("src"));
    let (data, sandbox) = (data.to_string_lossy(), sandbox.to_string_lossy());
    let missing = home.path().join("missing").to_string_lossy().into_owned();
    let gateway = ["gateway", "--home", &*data, "--port", "0", "--sandbox", &*sandbox];
    for (variable, value, named) in [
        (
            "LOOPGATE_AUTH_API_ORIGIN",
            "nonsense",
            "--api-origin (LOOPGATE_AUTH_API_ORIGIN) must be a valid URL",
        ),
        ("LOOPGATE_WEB_APP_ORIGIN", "ftp://x", "--web-origin (LOOPGATE_WEB_APP_ORIGIN) must use https"),
        ("LOOPGATE_RELAY_ORIGIN", "nonsense", "LOOPGATE_RELAY_ORIGIN must be a valid URL"),
        ("LOOPGATE_NOTIFY_COMMAND", "some/where", "(--notify-command) must begin with an absolute path"),
        ("LOOPGATE_NOTIFY_COMMAND", "no-such-program", "names no-such-program, which is no program"),
        ("LOOPGATE_NOTIFY_COMMAND", &missing, "which is no program that can be started"),
    ] {
        let said = refusal(&home, &gateway, &[(variable, value)]).await?;
        ensure!(said.contains(named), "{variable}={value}: {said}");
    }
    for (command, variable, value, named) in [
        ("gateway", "LOOPGATE_PORT", "abc", "--port"),
        ("up", "LOOPGATE_MAX_LOOPS", "0", "--max-loops"),
        ("control-plane", "LOOPGATE_CONTROL_PLANE_LISTEN", "x", "--listen"),
    ] {
        let output = run(&home, &[command, "--home", &*data], &[(variable, value)]).await?;
        let said = String::from_utf8(output.stderr)?;
        ensure!(output.status.code() == Some(2) && said.contains(named), "{said}");
        ensure!(said.contains(&format!("comes from the variable {variable}")), "{said}");
        let given = [command, "--home", &*data, named, value];
        let said = String::from_utf8(run(&home, &given, &[(variable, value)]).await?.stderr)?;
        ensure!(said.contains(named) && !said.contains("variable"), "{said}");
    }
    for (variable, value, named) in [
        ("API_BASE_URL", "nonsense", "--api-origin (API_BASE_URL) must be a URL"),
        ("LOOPGATE_WEB_APP_ORIGIN", "nonsense", "--web-origin (LOOPGATE_WEB_APP_ORIGIN) must be a URL"),
        ("DATABASE_URL", "nonsense", "--database (DATABASE_URL)"),
    ] {
        let control_plane = ["control-plane", "--home", &*data, "--listen", "127.0.0.1:0"];
        let said = refusal(&home, &control_plane, &[(variable, value)]).await?;
        ensure!(said.contains(named), "{variable}: {said}");
    }
    let said = refusal(&home, &["status", "--home", &data], &[]).await?;
    ensure!(said.ends_with("start it with loopgate up\n"), "{said}");
    let said = refusal(&home, &["gateway", "--home", "some/where"], &[]).await?;
    ensure!(said.contains("--home or LOOPGATE_HOME must be an absolute path"), "{said}");
    Ok(())
}

#[tokio::test]
async fn busy_address_is_named_with_who_may_have_it() -> Result<()> {
    let home = UserHome::temporary()?;
    std::fs::create_dir_all(home.path().join("src"))?;
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let (address, port) = (taken.local_addr()?.to_string(), taken.local_addr()?.port().to_string());
    let origin = format!("http://{address}");
    let (data, sandbox) = (home.path().join("data"), home.path().join("src"));
    let (data, sandbox) = (data.to_string_lossy(), sandbox.to_string_lossy());
    for (arguments, flag) in [
        (["gateway", "--sandbox", &sandbox, "--port", &port], "--port"),
        (["up", "--sandbox", &sandbox, "--api-origin", &origin], "--api-origin"),
        (["control-plane", "--owner-name", "x", "--listen", &address], "--listen"),
    ] {
        let said = refusal(&home, &[&arguments[..], &["--home", &*data]].concat(), &[]).await?;
        ensure!(said.contains(&port) && said.contains("127.0.0.1"), "{said}");
        ensure!(said.contains("perhaps another Loopgate") && said.contains(flag), "{said}");
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
        (&["activity"][..], "Nothing was asked yet."),
        (&["activity", "--security"], "Nothing was refused."),
        (&["activity", "--clear"], "The log is empty now."),
        (&["approvals"], "Nothing waits."),
        (&["status"], "No loop runs or waits."),
        (&["worktrees"], "No loop has left a worktree."),
        (&["worktrees", "clean"], "No worktree is old enough to go"),
    ] {
        let output = run(&home, &[arguments, &["--home", data]].concat(), &[]).await?;
        let said = String::from_utf8(output.stdout)?;
        ensure!(output.status.success() && said.contains(sentence), "{arguments:?}: {said}");
    }
    Ok(())
}

#[tokio::test]
async fn gateway_that_is_not_set_up_says_what_completes_it() -> Result<()> {
    let home = UserHome::temporary()?;
    let loopgate = Setup::new(&home)?.binary(PROGRAM).gateway_alone().start().await?;
    let said = loopgate.output();
    for way in ["loopgate up --sandbox", "LOOPGATE_API_KEY", "onboarding_completed = true", "settings.toml"] {
        ensure!(said.contains(way), "{way} in {said}");
    }
    Ok(())
}

#[tokio::test]
async fn directory_that_is_no_clone_has_nothing_to_trust() -> Result<()> {
    let home = UserHome::temporary()?;
    let (data, empty) = (home.path().join("data"), home.path().join("empty"));
    std::fs::create_dir(&empty)?;
    let (data, empty) = (data.to_string_lossy(), empty.to_string_lossy());
    let said = refusal(&home, &["trust", "--home", &data, &empty], &[]).await?;
    ensure!(said.contains("not a git repository") && said.contains(&*empty), "{said}");
    ensure!(said.contains("hint: ") && !said.contains("fatal"), "{said}");
    let said = refusal(&home, &["trust", "--home", &data, "/no/such/place"], &[]).await?;
    ensure!(said.matches("/no/such/place").count() == 1, "{said}");
    Ok(())
}
