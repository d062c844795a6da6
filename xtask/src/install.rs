//! Installs what tests and the demo need: the pinned npm programs, Debian packages, nextest, and PostgreSQL
//! if none answers.
//!
//! Never changes or reinstalls what is already installed.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use loopgate_test_programs as pinned;

use crate::run::{cargo, command, is_installed, npm, output, run};

/// Port at which tests expect PostgreSQL.
const POSTGRES_PORT: u16 = 5432;
/// Time for a started service to accept connections.
const SERVICE_TIMEOUT: Duration = Duration::from_secs(30);

/// Installs the pinned assistant and reviewer unless they are installed.
pub fn programs() -> anyhow::Result<()> {
    let folder = pinned::folder();
    if pinned::assistant().is_ok() && pinned::reviewer().is_ok() && is_native(&folder) {
        return Ok(());
    }
    require_npm()?;
    eprintln!("Installing the pinned assistant, reviewer and agent (about 900 MB) into {}", folder.display());
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    std::fs::write(folder.join("package.json"), pinned::MANIFEST)?;
    std::fs::write(folder.join("package-lock.json"), pinned::LOCK)?;
    // Without the scripts of all dependencies; the only script that is needed runs below.
    run(npm(&folder).args(["ci", "--ignore-scripts", "--loglevel", "error"]))?;
    assistant_executable(&folder)?;
    pinned::assistant()?;
    pinned::reviewer()?;
    Ok(())
}

/// Installs the assistant's executable into its package below a folder, unless it is installed.
pub fn assistant_executable(folder: &Path) -> anyhow::Result<()> {
    if is_native(folder) {
        return Ok(());
    }
    run(command("node").arg(assistant_package(folder).join("install.cjs")))
}

/// Returns whether the assistant's executable is installed. Before the package's install script has run, a
/// small text file is in its place.
fn is_native(folder: &Path) -> bool {
    const PLACEHOLDER_LIMIT: u64 = 64 * 1024;
    std::fs::metadata(assistant_package(folder).join("bin/claude.exe"))
        .is_ok_and(|file| file.len() > PLACEHOLDER_LIMIT)
}

fn assistant_package(folder: &Path) -> PathBuf {
    folder.join("node_modules/@anthropic-ai/claude-code")
}

/// Fails with advice when a program is not on the search path.
pub fn require(program: &str, advice: &str) -> anyhow::Result<()> {
    if is_installed(program) { Ok(()) } else { bail!("`{program}` is not installed: {advice}") }
}

/// Fails with advice when npm is not on the search path.
pub fn require_npm() -> anyhow::Result<()> {
    require("npm", "install Node 20.19 or newer from your system or https://nodejs.org")
}

/// Installs a Debian package unless the given program of it is installed.
pub fn package(package: &str, program: &str) -> anyhow::Result<()> {
    if is_installed(program) {
        return Ok(());
    }
    if !is_installed("apt-get") {
        bail!("`{program}` is not installed, and apt-get is not available: install it manually");
    }
    eprintln!("Installing Debian's {package}");
    if apt(&["install", "-y", "-q", "--no-install-recommends", package]).is_err() {
        // The package lists may be outdated and refer to versions that the mirror no longer has.
        apt(&["update", "-q"])?;
        apt(&["install", "-y", "-q", "--no-install-recommends", package])?;
    }
    Ok(())
}

fn apt(arguments: &[&str]) -> anyhow::Result<()> {
    let mut apt = as_root("apt-get")?;
    run(apt
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null()))
}

fn as_root(program: &str) -> anyhow::Result<std::process::Command> {
    let id = output(command("id").arg("-u"))?;
    if id.trim_ascii() == b"0" {
        return Ok(command(program));
    }
    require("sudo", "run this as root, or install the package manually")?;
    // Never prompts for a password: a check must not wait for input.
    let mut sudo = command("sudo");
    sudo.args(["-n", "-E", program]);
    Ok(sudo)
}

/// Installs the test runner unless it is installed.
pub fn nextest() -> anyhow::Result<()> {
    if output(cargo().args(["nextest", "--version"]).stderr(Stdio::null())).is_ok() {
        return Ok(());
    }
    eprintln!("Installing cargo-nextest");
    run(cargo().args(["install", "--locked", "--quiet", "cargo-nextest"]))
}

/// Installs rustfmt and clippy unless they are installed.
pub fn rust_components() -> anyhow::Result<()> {
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if output(cargo().args([subcommand, "--version"]).stderr(Stdio::null())).is_err() {
            run(command("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}

/// Ensures that PostgreSQL accepts connections on loopback without a password.
pub fn postgres() -> anyhow::Result<()> {
    if accepts_connections(POSTGRES_PORT) {
        return Ok(());
    }
    package("postgresql", "pg_ctlcluster")?;
    let clusters = output(command("pg_lsclusters").arg("--no-header"))?;
    let clusters = String::from_utf8_lossy(&clusters).into_owned();
    let mut words = clusters.split_whitespace();
    let (Some(version), Some(cluster)) = (words.next(), words.next()) else {
        bail!("PostgreSQL is installed but has no cluster: run `pg_createcluster`");
    };
    let rules = format!("/etc/postgresql/{version}/{cluster}/pg_hba.conf");
    // The first matching rule applies, so the rule is inserted at the top. The data of tests need not survive a crash,
    // and a sixth of their time would be spent on writing it to the disk.
    let script = format!(
        "sed -i '1i host all all 127.0.0.1/32 trust' '{rules}' && \
         pg_ctlcluster {version} {cluster} start -o '-c fsync=off -c full_page_writes=off'"
    );
    run(as_root("sh")?.args(["-c", &script]).stdin(Stdio::null()))?;
    wait_for(POSTGRES_PORT, "PostgreSQL")?;
    Ok(())
}

/// A database of this run, dropped with this value.
pub struct Database(String);

impl Database {
    /// Creates the database, replacing one of an earlier run with the same process id.
    pub fn create() -> anyhow::Result<Self> {
        let name = format!("loopgate_test_{}", std::process::id());
        sql(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        sql(&format!("CREATE DATABASE {name}"))?;
        Ok(Self(name))
    }

    /// Returns the connection URL of the database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{POSTGRES_PORT}/{}", self.0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Err(error) = sql(&format!("DROP DATABASE {} WITH (FORCE)", self.0)) {
            eprintln!("failed to drop the database {}: {error:#}", self.0);
        }
    }
}

fn sql(statement: &str) -> anyhow::Result<()> {
    run(command("psql").args(["-h", "127.0.0.1", "-U", "postgres", "-q", "-c", statement]))
}

fn accepts_connections(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

fn wait_for(port: u16, service: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + SERVICE_TIMEOUT;
    while !accepts_connections(port) {
        if Instant::now() > deadline {
            bail!("{service} was started but does not accept connections on port {port}");
        }
        std::thread::park_timeout(Duration::from_millis(100));
    }
    Ok(())
}
