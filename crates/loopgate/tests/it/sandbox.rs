//! The directory that Loopgate may work in, as a start takes or refuses it.

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
async fn missing_directory_is_refused_with_the_command_that_makes_it() -> Result<()> {
    let home = UserHome::temporary()?;
    let (data, missing) = (home.path().join("data"), home.path().join("my src"));
    std::fs::write(home.path().join("file"), "")?;
    for command in ["up", "gateway"] {
        let start = [command, "--home", text(&data)?, "--port", "0", "--sandbox"];
        let said = refusal(&home, &[&start[..], &[text(&missing)?]].concat(), &[]).await?;
        ensure!(said.contains("does not exist") && said.contains("mkdir -p '/"), "{said}");
        ensure!(!missing.exists(), "it was made by {command}");
        let said = refusal(&home, &[&start[..], &[text(&home.path().join("file"))?]].concat(), &[]).await?;
        ensure!(said.contains("is not a directory"), "{said}");
    }
    std::fs::write(data.join("settings.toml"), format!("sandbox_base_directory = {missing:?}\n"))?;
    let said = refusal(&home, &["gateway", "--home", text(&data)?, "--port", "0"], &[]).await?;
    ensure!(said.contains("does not exist"), "by the settings: {said}");
    Ok(())
}

#[tokio::test]
async fn home_directory_needs_agreement() -> Result<()> {
    let home = UserHome::temporary()?;
    let elsewhere = tempfile::tempdir()?;
    let data = elsewhere.path().join("data");
    let start = ["gateway", "--home", text(&data)?, "--port", "0", "--sandbox", text(home.path())?];
    let said = refusal(&home, &start, &[]).await?;
    ensure!(said.contains("holds your home directory") && said.contains("--yes"), "{said}");
    ensure!(!home.path().join(".loopgate/config").exists(), "nothing was made in it");
    let setup = Setup::new(&home)?.binary(PROGRAM).gateway_alone().without_sandbox().data_in(&data);
    let mut agreed = setup.arg("--sandbox").arg(home.path()).arg("--yes").start().await?;
    ensure!(agreed.stop().await?.success(), "{}", agreed.output());
    Ok(())
}

async fn first_up(home: &UserHome, data: &Path, current: &Path) -> Result<Output> {
    let mut command = home.command(PROGRAM);
    // Nobody listens at the port of a control plane that is to be elsewhere, so that it ends soon.
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
async fn what_a_first_start_chooses_is_shown_and_kept() -> Result<()> {
    let home = UserHome::temporary()?;
    let data = home.path().join("data");
    let shop = home.path().join("src/shop");
    std::fs::create_dir_all(shop.join(".git"))?;
    let output = first_up(&home, &data, &shop).await?;
    let (said, src) = (String::from_utf8(output.stdout)?, home.path().join("src").canonicalize()?);
    ensure!(said.contains(&format!("repositories in it: {}\n", src.display())), "{said}");
    ensure!(said.contains("sandbox_base_directory") && said.contains("--sandbox"), "{said}");
    ensure!(std::fs::read_to_string(data.join("settings.toml"))?.contains(text(&src)?));
    let output = first_up(&home, &data, &shop).await?;
    let said = String::from_utf8(output.stdout)?;
    ensure!(!said.contains("repositories in it"), "said again: {said}");
    Ok(())
}
