//! Installs what tests and the demo need and the machine lacks: the pinned npm programs, Debian
//! packages, nextest, and a database and message server where none answers.
//!
//! Nothing is installed twice, and nothing that is there is changed.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use loopgate_test_programs as pinned;

use crate::run::{cargo, command, is_installed, npm, output, run};

/// Where PostgreSQL is looked for.
const POSTGRES_PORT: u16 = 5432;
/// Where NATS is looked for.
const NATS_PORT: u16 = 4222;
/// How long a service that was started may take to answer.
const SERVICE_LIMIT: Duration = Duration::from_secs(30);

/// Installs the pinned assistant and reviewer, unless they are there.
pub fn programs() -> anyhow::Result<()> {
    let folder = pinned::folder();
    if pinned::assistant().is_ok() && pinned::reviewer().is_ok() && is_native(&folder) {
        return Ok(());
    }
    needs("npm", "install Node 20 or newer from your system or https://nodejs.org")?;
    eprintln!("Installing the pinned assistant, reviewer and agent (about 900 MB) into {}", folder.display());
    std::fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
    std::fs::write(folder.join("package.json"), pinned::MANIFEST)?;
    std::fs::write(folder.join("package-lock.json"), pinned::LOCK)?;
    run(npm(&folder).args(["ci", "--ignore-scripts", "--loglevel", "error"]))?;
    run(command("node").arg(assistant_package(&folder).join("install.cjs")))?;
    pinned::assistant()?;
    pinned::reviewer()?;
    Ok(())
}

/// Before its set-up script ran, the assistant's executable is a note that says so.
fn is_native(folder: &Path) -> bool {
    const NOTE_LIMIT: u64 = 64 * 1024;
    std::fs::metadata(assistant_package(folder).join("bin/claude.exe"))
        .is_ok_and(|file| file.len() > NOTE_LIMIT)
}

fn assistant_package(folder: &Path) -> PathBuf {
    folder.join("node_modules/@anthropic-ai/claude-code")
}

/// Fails with what to do when a program is not on the search path.
pub fn needs(program: &str, advice: &str) -> anyhow::Result<()> {
    if is_installed(program) { Ok(()) } else { bail!("`{program}` is not installed: {advice}") }
}

/// Installs a Debian package unless one of its programs is there.
pub fn package(package: &str, program: &str) -> anyhow::Result<()> {
    if is_installed(program) {
        return Ok(());
    }
    if !is_installed("apt-get") {
        bail!("`{program}` is not installed, and this is no Debian: install it yourself");
    }
    eprintln!("Installing Debian's {package}");
    if apt(&["install", "-y", "-q", "--no-install-recommends", package]).is_err() {
        // The lists of packages may be older than the packages.
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
    needs("sudo", "run this as root, or install the package yourself")?;
    let mut sudo = command("sudo");
    sudo.args(["-n", "-E", program]);
    Ok(sudo)
}

/// Installs the test runner unless it is there.
pub fn nextest() -> anyhow::Result<()> {
    if output(cargo().args(["nextest", "--version"]).stderr(Stdio::null())).is_ok() {
        return Ok(());
    }
    eprintln!("Installing cargo-nextest");
    run(cargo().args(["install", "--locked", "--quiet", "cargo-nextest"]))
}

/// Installs rustfmt and clippy unless they are there.
pub fn rust_components() -> anyhow::Result<()> {
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if output(cargo().args([subcommand, "--version"]).stderr(Stdio::null())).is_err() {
            run(command("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}

/// A service that this run started; it ends with the run.
pub struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Makes PostgreSQL answer on loopback without a password, in the way that tests expect it.
pub fn postgres() -> anyhow::Result<()> {
    if answers(POSTGRES_PORT) {
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
    let script = format!(
        "sed -i '1i host all all 127.0.0.1/32 trust' '{rules}' && pg_ctlcluster {version} {cluster} start"
    );
    run(as_root("sh")?.args(["-c", &script]).stdin(Stdio::null()))?;
    wait_for(POSTGRES_PORT, "PostgreSQL")?;
    Ok(())
}

/// A database of this run's own; it goes with this value.
pub struct Database(String);

impl Database {
    /// Makes it.
    pub fn create() -> anyhow::Result<Self> {
        let name = format!("loopgate_test_{}", std::process::id());
        sql(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        sql(&format!("CREATE DATABASE {name}"))?;
        Ok(Self(name))
    }

    /// Where it is reached.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{POSTGRES_PORT}/{}", self.0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Err(error) = sql(&format!("DROP DATABASE {} WITH (FORCE)", self.0)) {
            eprintln!("the database {} is left over: {error:#}", self.0);
        }
    }
}

fn sql(statement: &str) -> anyhow::Result<()> {
    run(command("psql").args(["-h", "127.0.0.1", "-U", "postgres", "-q", "-c", statement]))
}

/// Makes NATS with JetStream answer on loopback.
pub fn nats() -> anyhow::Result<Option<Service>> {
    if answers(NATS_PORT) {
        return Ok(None);
    }
    package("nats-server", "nats-server")?;
    // Debian starts the package's own service, without JetStream; ours takes its place if it is off.
    if answers(NATS_PORT) {
        return Ok(None);
    }
    let store = pinned::cache().join("nats");
    std::fs::create_dir_all(&store)?;
    let mut server = command("nats-server");
    server.args(["-js", "-a", "127.0.0.1", "-p", "4222", "-sd"]).arg(&store);
    let child = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let service = Service(child);
    wait_for(NATS_PORT, "NATS")?;
    Ok(Some(service))
}

fn answers(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

fn wait_for(port: u16, service: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + SERVICE_LIMIT;
    while !answers(port) {
        if Instant::now() > deadline {
            bail!("{service} was started but does not answer on port {port}");
        }
        std::thread::park_timeout(Duration::from_millis(100));
    }
    Ok(())
}
