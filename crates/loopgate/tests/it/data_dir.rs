//! The data directory: locations and files that the program refuses, and recovery from corrupt files and
//! leftovers.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Setup;
use loopgate_testkit::wait;
use reqwest::Method;

use crate::cli::refusal;

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a plain path")
}

fn write_private(path: &Path, content: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, content)?;
    set_mode(path, 0o600)
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?)
}

fn mode_of(path: &Path) -> Option<u32> {
    Some(path.symlink_metadata().ok()?.permissions().mode() & 0o777)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sandbox_that_overlaps_the_data_directory_is_refused() -> Result<()> {
    let home = UserHome::temporary()?;
    let at = |name: &str| home.path().join(name);
    std::fs::create_dir_all(at("code/data"))?;
    symlink(at("code"), at("link"))?;
    let data = at("code/data");
    for (sandbox, reason) in [
        ("code", "is in the sandbox"),
        ("link", "is in the sandbox"),
        ("code/data", "is in the sandbox"),
        ("code/data/src", "is in the data directory"),
        ("link/data/src", "is in the data directory"),
    ] {
        let sandbox = at(sandbox);
        let (sandbox, data) = (text(&sandbox)?, text(&data)?);
        for command in ["gateway", "up"] {
            let arguments = [command, "--home", data, "--port", "0", "--sandbox", sandbox];
            let refused = refusal(&home, &arguments, &[("LOOPGATE_NO_OPEN", "true")]).await?;
            ensure!(
                refused.contains(reason) && refused.contains("--sandbox"),
                "{command} {sandbox}: {refused}"
            );
            ensure!(refused.contains(sandbox) && refused.contains(data), "{refused}");
        }
        std::fs::write(at("code/data/settings.toml"), format!("sandbox_base_directory = {sandbox:?}\n"))?;
        let refused = refusal(&home, &["gateway", "--home", data, "--port", "0"], &[]).await?;
        ensure!(refused.contains(reason), "sandbox of the settings: {refused}");
        std::fs::remove_file(at("code/data/settings.toml"))?;
        ensure!(!at("code/data/vault.key").exists(), "files were created before the check");
    }

    // A first start without `--sandbox` takes its current directory.
    let mut command = home.command(PROGRAM);
    command.args(["up", "--no-open", "--port", "0", "--api-origin", "http://127.0.0.1:0", "--home"]);
    let output = command.arg(&data).current_dir(at("code")).output().await?;
    let refused = String::from_utf8_lossy(&output.stderr);
    ensure!(!output.status.success() && refused.contains("is in the sandbox"), "{refused}");
    let settings = std::fs::read_to_string(at("code/data/settings.toml")).unwrap_or_default();
    ensure!(!settings.contains("sandbox_base_directory"), "the refused sandbox was stored: {settings}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn insecure_gateway_token_file_is_refused() -> Result<()> {
    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    let home = UserHome::temporary()?;
    let at = |name: &str| home.path().join(name);
    let (data, sandbox) = (at("data"), at("src"));
    write_private(&at("open"), TOKEN)?;
    // Secret files must not be readable by other users.
    set_mode(&at("open"), 0o644)?;
    write_private(&at("empty"), "")?;
    write_private(&at("good"), TOKEN)?;
    write_private(&at("src/token"), TOKEN)?;
    symlink(at("good"), at("link"))?;
    symlink(&sandbox, at("into"))?;
    for (file, reason) in [
        ("open", "is accessible to other users"),
        ("empty", "is empty"),
        ("link", "is a symbolic link"),
        ("bin", "is not a regular file"),
        ("src/token", "is in the sandbox"),
        ("src/new", "is in the sandbox"),
        ("into/new", "is in the sandbox"),
    ] {
        let file = at(file);
        let (data, sandbox, file) = (text(&data)?, text(&sandbox)?, text(&file)?);
        let arguments =
            ["gateway", "--home", data, "--port", "0", "--sandbox", sandbox, "--gateway-token-file", file];
        let refused = refusal(&home, &arguments, &[]).await?;
        ensure!(refused.contains(reason) && refused.contains(file), "{file}: {refused}");
        ensure!(!refused.contains(TOKEN), "{refused}");
    }
    ensure!(!at("src/new").exists(), "a token was created in the sandbox");

    write_private(&at("short"), "short")?;
    for (file, reason) in [("short", "too short"), ("src/token", "is in the sandbox")] {
        // Relative paths are resolved against the current directory before they are compared with the
        // sandbox.
        let mut command = home.command(PROGRAM);
        command.current_dir(home.path()).args(["gateway", "--port", "0", "--sandbox", "src", "--home"]);
        let output = command.arg(&data).args(["--gateway-token-file", file]).output().await?;
        let refused = String::from_utf8_lossy(&output.stderr);
        ensure!(!output.status.success() && refused.contains(reason), "relative {file}: {refused}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planted_links_are_refused_and_not_followed() -> Result<()> {
    let home = UserHome::temporary()?;
    let data = home.path().join("data");
    let target = home.path().join("precious");
    std::fs::write(&target, "precious")?;
    std::fs::create_dir_all(data.join("logs"))?;
    for name in ["loopgate.lock", "desktop.db", "control-plane.db", "vault.key", "logs/loopgate.log"] {
        // A link in the data directory could redirect a write to any file of the user.
        symlink(&target, data.join(name))?;
        for command in ["gateway", "control-plane"] {
            let refused = refusal(&home, &[command, "--home", text(&data)?], &[]).await?;
            ensure!(refused.contains(&format!("{name} is a symbolic link")), "{command}: {refused}");
        }
        std::fs::remove_file(data.join(name))?;
    }
    ensure!(std::fs::read_to_string(&target)? == "precious");
    Ok(())
}

/// Returns the quarantined files of a directory.
fn quarantined(data: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(data)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(entries.into_iter().filter(|path| path.to_string_lossy().contains(".corrupt-")).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn corrupt_secret_files_are_quarantined_and_temporary_files_removed() -> Result<()> {
    const BROKEN: [&str; 2] = ["gateway-identity.json", "desktop-secrets.json"];
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(PROGRAM).arg("--api-origin").arg("http://127.0.0.1:0");
    let mut first = setup.start().await?;
    first.stop().await?;
    let data = first.setup().data_dir();
    for name in BROKEN {
        write_private(&data.join(name), "{\"half\":")?;
    }
    // Temporary files of writes that were interrupted by a crash.
    let leftovers = [
        ".loopgate-a1B2c3.part",
        ".tmpa1B2c3",
        "queue/.loopgate-a1B2c3.part",
        "storage/org/loops/plan.md#1",
        "plugins/.unpacking-a1B2c3/code/plugin.json",
    ];
    for name in leftovers {
        write_private(&data.join(name), "half")?;
    }
    let second = first.start_again().await?;
    let (files, output) = (quarantined(&data)?, second.output());
    ensure!(files.len() == BROKEN.len(), "{files:?}");
    for file in &files {
        ensure!(std::fs::read_to_string(file)? == "{\"half\":", "{}", file.display());
        ensure!(output.contains(text(file)?), "the output does not name {}: {output}", file.display());
    }
    for name in leftovers {
        ensure!(!data.join(name).exists(), "{name} still exists");
    }
    ensure!(data.join("plugins").read_dir()?.count() > 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_data_directory_is_recreated_with_private_mode() -> Result<()> {
    let home = UserHome::temporary()?;
    let loopgate = Setup::new(&home)?.binary(PROGRAM).gateway_alone().start().await?;
    let data = loopgate.setup().data_dir();
    // Rename instead of deleting: the running program creates files while a recursive delete is in progress.
    std::fs::rename(&data, home.path().join("moved"))?;
    // A refused request is recorded, which creates the directory again.
    ensure!(loopgate.gateway_bare(Method::GET, "/api/gateway/version").send().await?.status() == 401);
    let mode = wait::until(home.path(), async || mode_of(&data)).await?;
    ensure!(mode == 0o700, "{mode:o}");
    let log = data.join("desktop-activity-log.json");
    wait::until_exists(&log).await?;
    ensure!(mode_of(&log) == Some(0o600));
    Ok(())
}
