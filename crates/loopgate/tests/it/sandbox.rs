//! Validation of the sandbox base directory at start-up.

use std::path::Path;
use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Setup;

use crate::cli::refusal;

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a plain path")
}

#[tokio::test]
async fn missing_sandbox_is_refused_with_mkdir_hint() -> Result<()> {
    let home = UserHome::temporary()?;
    let (data, missing) = (home.path().join("data"), home.path().join("my src"));
    std::fs::write(home.path().join("file"), "")?;
    for command in ["up", "gateway"] {
        let start = [command, "--home", text(&data)?, "--port", "0", "--sandbox"];
        let message = refusal(&home, &[&start[..], &[text(&missing)?]].concat(), &[]).await?;
        ensure!(message.contains("does not exist") && message.contains("mkdir -p '/"), "{message}");
        ensure!(!missing.exists(), "{command} created it");
        let message =
            refusal(&home, &[&start[..], &[text(&home.path().join("file"))?]].concat(), &[]).await?;
        ensure!(message.contains("is not a directory"), "{message}");
    }
    std::fs::write(data.join("settings.toml"), format!("sandbox_base_directory = {missing:?}\n"))?;
    let message = refusal(&home, &["gateway", "--home", text(&data)?, "--port", "0"], &[]).await?;
    ensure!(message.contains("does not exist"), "from the settings file: {message}");
    Ok(())
}

#[tokio::test]
async fn home_directory_as_sandbox_needs_confirmation() -> Result<()> {
    let home = UserHome::temporary()?;
    let elsewhere = tempfile::tempdir()?;
    let data = elsewhere.path().join("data");
    let start = ["gateway", "--home", text(&data)?, "--port", "0", "--sandbox", text(home.path())?];
    let message = refusal(&home, &start, &[]).await?;
    ensure!(message.contains("contains your home directory") && message.contains("--yes"), "{message}");
    ensure!(!home.path().join(".loopgate/config").exists(), "the home directory was changed");
    let setup = Setup::new(&home)?.binary(PROGRAM).gateway_alone().without_sandbox().data_in(&data);
    let mut loopgate = setup.arg("--sandbox").arg(home.path()).arg("--yes").start().await?;
    ensure!(loopgate.stop().await?.success(), "{}", loopgate.output());
    Ok(())
}

async fn first_up(home: &UserHome, data: &Path, current: &Path) -> Result<Output> {
    let mut command = home.command(PROGRAM);
    // `up` rejects a remote control plane, so it exits right after the choice of the sandbox.
    command.args([
        "up",
        "--no-open",
        "--port",
        "0",
        "--api-origin",
        "https://loopgate.example.com",
        "--home",
    ]);
    Ok(command.arg(data).current_dir(current).output().await?)
}

#[tokio::test]
async fn sandbox_chosen_at_first_start_is_printed_and_stored() -> Result<()> {
    let home = UserHome::temporary()?;
    let data = home.path().join("data");
    let shop = home.path().join("src/shop");
    std::fs::create_dir_all(shop.join(".git"))?;
    let output = first_up(&home, &data, &shop).await?;
    let (message, src) = (String::from_utf8(output.stdout)?, home.path().join("src").canonicalize()?);
    ensure!(message.contains(&format!("repositories in it: {}\n", src.display())), "{message}");
    ensure!(message.contains("sandbox_base_directory") && message.contains("--sandbox"), "{message}");
    ensure!(std::fs::read_to_string(data.join("settings.toml"))?.contains(text(&src)?));
    let output = first_up(&home, &data, &shop).await?;
    let message = String::from_utf8(output.stdout)?;
    ensure!(!message.contains("repositories in it"), "printed again: {message}");
    Ok(())
}
