//! Runs of small real servers, from start to teardown.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic fails the test")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::deployment::DeploymentState;
use loopgate_deploy::{
    DeployError, DeployHandle, DeployRequest, DeployTimeouts, Deployment, Deploys, EngineError, KillOutcome,
    Teardown, TeardownOutcome, candidates,
};
use loopgate_home::{Directory, Overrides, Sandbox, SandboxedPath, SettingsStore, TrustStore};
use loopgate_tools::login_path::LoginPath;
use loopgate_tools::process::{Command, Limits, alive, identity};
use loopgate_tools::programs::{ProgramSource, Programs};
use serde_json::{Value, json};
use tokio::time::{Instant, interval};

// Only guards against hanging; no test takes this long on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(60);

struct DeployFixture {
    dir: tempfile::TempDir,
    sandbox: Sandbox,
    deploys: Deploys,
}

impl DeployFixture {
    fn new() -> Self {
        Self::with(DeployTimeouts::default())
    }

    fn with(timing: DeployTimeouts) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("box")).unwrap();
        let overrides =
            Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap());
        let sandbox = Sandbox::new(settings.clone(), &dir.path().join("data"));
        let deploys = Deploys::open(&dir.path().join("data"), Arc::new(Programs::new(settings)), timing);
        Self { dir, sandbox, deploys }
    }

    /// Opens the same records again, as the next Loopgate process does.
    fn restarted(&self) -> Deploys {
        let overrides =
            Overrides { sandbox_base_directory: Some(self.dir.path().join("box")), ..Overrides::default() };
        let settings =
            Arc::new(SettingsStore::open(&self.dir.path().join("settings.toml"), overrides).unwrap());
        Deploys::open(
            &self.dir.path().join("data"),
            Arc::new(Programs::new(settings)),
            DeployTimeouts::default(),
        )
    }

    fn tree(&self, name: &str, files: &[(&str, &str)]) -> SandboxedPath {
        let tree = self.dir.path().join("box").join(name);
        std::fs::create_dir_all(&tree).unwrap();
        for (name, text) in files {
            let path = tree.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.sandbox.check(&tree).unwrap()
    }

    /// Replaces the login shell with a script of one line, which receives these variables.
    fn use_login_shell(&mut self, line: &str, variables: BTreeMap<OsString, OsString>) {
        let shell = self.dir.path().join("shell");
        script(&shell, &format!("#!/bin/sh\n{line}\n"));
        let settings =
            SettingsStore::open(&self.dir.path().join("settings.toml"), Overrides::default()).unwrap();
        let programs = Programs::with_login_path(Arc::new(settings), LoginPath::new(shell, variables));
        self.deploys =
            Deploys::open(&self.dir.path().join("data"), Arc::new(programs), DeployTimeouts::default());
    }

    async fn start(&self, tree: &SandboxedPath, deployment: Deployment) -> Result<DeployHandle, DeployError> {
        self.deploys.start(self.request(tree, deployment)).await
    }

    /// Creates a request for commands that the user has agreed to.
    fn request(&self, tree: &SandboxedPath, deployment: Deployment) -> DeployRequest {
        let clone = tree.canonical().to_owned();
        let commands: Vec<String> = deployment.clone().completed().commands().map(str::to_owned).collect();
        let store = TrustStore::new(&self.dir.path().join("data"));
        std::fs::create_dir_all(self.dir.path().join("data")).unwrap();
        store.trust_deploy_commands(&clone, &commands).unwrap();
        DeployRequest { clone, repository: tree.clone(), worktree: tree.clone(), deployment }
    }

    async fn tear_down(&self, tree: &SandboxedPath) -> TeardownOutcome {
        let request = Teardown {
            clone: tree.canonical().to_owned(),
            worktree: tree.canonical().to_owned(),
            deployment: Deployment::default(),
            pid: None,
            port: None,
        };
        self.deploys.tear_down(request).await.unwrap()
    }
}

/// Polls the status of a run until it has the expected value.
async fn until(deploys: &Deploys, tree: &SandboxedPath, pid: u32, expected: &str) -> Value {
    let end = Instant::now() + TIMEOUT;
    let mut ticks = interval(Duration::from_millis(50));
    loop {
        ticks.tick().await;
        let (deploys, path) = (deploys.clone(), tree.canonical().to_owned());
        let status =
            tokio::task::spawn_blocking(move || json!(deploys.status(&path, Some(pid)))).await.unwrap();
        if status["status"] == expected {
            return status;
        }
        assert!(Instant::now() < end, "not {expected}: {status}");
    }
}

fn is_running(pid: u32) -> bool {
    identity(pid).is_some_and(|started| alive(pid, started))
}

async fn wait_for_exit(pid: u32) {
    let mut ticks = interval(Duration::from_millis(20));
    let exited = async {
        while is_running(pid) {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(TIMEOUT, exited).await.expect("the process is still alive");
}

fn running(command: &str) -> Deployment {
    Deployment { command: Some(command.to_owned()), ..Deployment::default() }
}

fn serving(command: &str, port: u16) -> Deployment {
    Deployment { port: Some(port), ..running(command) }
}

/// Settings as the detection returns them.
fn guessing(command: &str, port: u16) -> Deployment {
    Deployment { detected_port: Some(port), ..serving(command, port) }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn marker(tree: &SandboxedPath, name: &str) -> Option<Value> {
    let text = std::fs::read(tree.canonical().join(".loopgate/work").join(name)).ok()?;
    serde_json::from_slice(&text).ok()
}

fn detected(tree: &SandboxedPath) -> Deployment {
    candidates(&Directory::of(tree.canonical()).unwrap()).remove(0).config
}

const NODE: &str = r#"require("http").createServer((q, a) => { a.statusCode = 404; a.end() }).listen(process.env.PORT || 3000)"#;

/// Runs a static site in two worktrees at once while another server occupies the configured port.
// DL-09
#[tokio::test]
async fn worktrees_run_concurrently_and_are_torn_down() {
    let fixture = DeployFixture::new();
    let (one, two) =
        (fixture.tree("one", &[("index.html", "<p>")]), fixture.tree("two", &[("index.html", "<p>")]));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let own = taken.local_addr().unwrap().port();
    let site = Deployment {
        port: Some(own),
        health_check_url: Some(format!("http://localhost:{own}")),
        ..detected(&one)
    };
    let (first, second) =
        (fixture.start(&one, site.clone()).await.unwrap(), fixture.start(&two, site).await.unwrap());
    let (port, other) = (first.port.unwrap(), second.port.unwrap());
    assert!(port != own && other != own && port != other);
    let up = until(&fixture.deploys, &one, first.pid, "completed").await;
    assert_eq!(up["deployedUrl"], format!("http://localhost:{port}"));
    assert_eq!(marker(&one, "deploy-result.json").unwrap()["url"], up["deployedUrl"]);
    assert_eq!(marker(&one, "deploy.pid").unwrap()["pid"], first.pid);
    until(&fixture.deploys, &two, second.pid, "completed").await;
    for (tree, started) in [(&one, &first), (&two, &second)] {
        assert_eq!(fixture.tear_down(tree).await, TeardownOutcome::Stopped);
        assert!(!is_running(started.pid));
        assert!(std::net::TcpListener::bind(("127.0.0.1", started.port.unwrap())).is_ok());
        assert_eq!(fixture.tear_down(tree).await, TeardownOutcome::Stopped);
        assert_eq!(marker(tree, "deploy-result.json"), None);
    }
}

// DL-16
#[tokio::test]
async fn status_without_markers_is_derived_from_pid_and_log() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("bare", &[]);
    let status = |pid| fixture.deploys.status(tree.canonical(), Some(pid)).status;
    // The test's own process: alive, without markers and record.
    assert_eq!(status(std::process::id()), "running");
    // An empty log does not count as output.
    let started = fixture.start(&tree, running("true")).await.unwrap();
    wait_for_exit(started.pid).await;
    until(&fixture.deploys, &tree, started.pid, "not-started").await;
    let started = fixture.start(&tree, running("echo done")).await.unwrap();
    wait_for_exit(started.pid).await;
    let status = until(&fixture.deploys, &tree, started.pid, "completed").await;
    assert_eq!(status["logs"], "done\n");
}

#[tokio::test]
async fn server_with_error_status_is_healthy() {
    let fixture = DeployFixture::new();
    let manifest = json!({"scripts": {"dev": "node server.js"}}).to_string();
    let tree = fixture.tree("node", &[("package.json", &manifest), ("server.js", NODE)]);
    let config = Deployment {
        install_command: None,
        port: Some(free_port()),
        health_check_url: None,
        ..detected(&tree)
    };
    let command = Deployment { command: Some("node server.js".to_owned()), ..config };
    let port = command.port.unwrap();
    let with_port = Deployment { command: Some(format!("PORT={port} node server.js")), ..command };
    let started = fixture.start(&tree, with_port).await.unwrap();
    until(&fixture.deploys, &tree, started.pid, "completed").await;
    assert_eq!(fixture.deploys.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
    until(&fixture.deploys, &tree, started.pid, "not-started").await;
    assert_eq!(marker(&tree, "deploy-result.json"), None);
}

// DL-10
/// Returns the states of all deployments.
async fn states(fixture: &DeployFixture) -> Vec<DeploymentState> {
    let deploys = fixture.deploys.clone();
    let states = tokio::task::spawn_blocking(move || deploys.states()).await.unwrap().unwrap();
    states.into_iter().map(|(_, state)| state).collect()
}

#[tokio::test]
async fn every_change_of_a_state_is_announced() {
    let fixture = DeployFixture::new();
    let (site, broken) = (fixture.tree("site", &[("index.html", "<p>")]), fixture.tree("broken", &[]));
    let mut changes = fixture.deploys.changes();
    let mut reached = async |expected: &[DeploymentState]| {
        let reached = async {
            while states(&fixture).await != expected {
                changes.changed().await.unwrap();
            }
        };
        tokio::time::timeout(TIMEOUT, reached).await.expect("the state was not announced");
    };
    fixture.start(&broken, running("exit 3")).await.unwrap();
    reached(&[DeploymentState::Failed]).await;
    fixture.start(&site, detected(&site)).await.unwrap();
    reached(&[DeploymentState::Failed, DeploymentState::Running]).await;
    fixture.tear_down(&site).await;
    reached(&[DeploymentState::Failed]).await;
}

#[tokio::test]
async fn failed_command_is_reported_with_its_exit_code() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("fails", &[]);
    let started = fixture.start(&tree, running("echo so far; exit 3")).await.unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["error"], "Deploy command failed with exit code 3");
    assert_eq!(status["logs"], "so far\n");
    assert_eq!(marker(&tree, "deploy-exit.json"), Some(json!({"exitCode": 3, "failedCommand": "deploy"})));
}

// DL-11
#[tokio::test]
async fn health_check_times_out_when_the_command_does_not_listen() {
    let fixture = DeployFixture::with(DeployTimeouts {
        health: Duration::from_millis(400),
        ..DeployTimeouts::default()
    });
    let tree = fixture.tree("silent", &[]);
    let started = fixture.start(&tree, serving("exec sleep 600", free_port())).await.unwrap();
    until(&fixture.deploys, &tree, started.pid, "running").await;
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    assert!(status["error"].as_str().unwrap().contains("nothing accepts connections on port"), "{status}");
    assert_eq!(marker(&tree, "deploy-exit.json").unwrap()["failedCommand"], "health-check-timeout");
    assert!(is_running(started.pid));
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
    assert!(!is_running(started.pid));
}

// DL-12
#[tokio::test]
async fn failed_install_is_reported_and_start_command_is_skipped() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("install", &[]);
    let deployment = Deployment { install_command: Some("exit 1".to_owned()), ..running("touch started") };
    let started = fixture.start(&tree, deployment).await.unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["error"], "Install command failed with exit code 1");
    assert_eq!(marker(&tree, "deploy-exit.json"), Some(json!({"exitCode": 1, "failedCommand": "install"})));
    assert!(!tree.canonical().join("started").exists());
}

// DL-13
#[tokio::test]
async fn health_url_of_another_host_is_rejected() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("foreign", &[]);
    let url = Some("http://10.0.0.1:3000".to_owned());
    let deployment = Deployment { health_check_url: url, ..serving("exec sleep 600", free_port()) };
    let started = fixture.start(&tree, deployment).await.unwrap();
    until(&fixture.deploys, &tree, started.pid, "failed").await;
    let written = marker(&tree, "deploy-exit.json");
    assert_eq!(written, Some(json!({"exitCode": -1, "failedCommand": "health-check-policy"})));
    fixture.tear_down(&tree).await;
}

// DL-14
#[tokio::test]
async fn run_inherits_only_allowed_variables() {
    let mut fixture = DeployFixture::new();
    let variables = [
        ("HOME", "/home/ada"),
        ("RUSTUP_HOME", "/opt/rustup"),
        ("CARGO_HOME", "/opt/cargo"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("EDITOR", "vi"),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    fixture.use_login_shell(&format!("echo {}", std::env::var("PATH").unwrap()), variables.into());
    let tree = fixture.tree("environment", &[]);
    let started = fixture.start(&tree, running("env | sort; exit 3")).await.unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    let printed: BTreeMap<&str, &str> =
        status["logs"].as_str().unwrap().lines().filter_map(|line| line.split_once('=')).collect();
    assert_eq!(printed["RUSTUP_HOME"], "/opt/rustup");
    assert_eq!(printed["NODE_ENV"], "development");
    // The last four are set by the shell itself.
    let expected =
        "PATH HOME USER SHELL TERM NODE_ENV CARGO_HOME RUSTUP_HOME LOOPGATE_DEPLOY_ID PWD OLDPWD SHLVL _";
    assert!(printed.keys().all(|name| expected.split(' ').any(|allowed| allowed == *name)), "{printed:?}");
}

/// The child ignores SIGTERM, so it also needs the SIGKILL.
// DL-20
#[tokio::test]
async fn kill_terminates_the_process_group() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("group", &[]);
    let command = "(trap '' TERM; echo $BASHPID > child; while :; do read -t 600 < <(:) || :; done) & wait";
    let started = fixture.start(&tree, running(command)).await.unwrap();
    let child = read_pid(&tree.canonical().join("child")).await;
    assert_eq!(fixture.deploys.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
    assert!(!is_running(started.pid) && !is_running(child));
    assert_eq!(fixture.deploys.kill(started.pid.into()).await.unwrap(), KillOutcome::NotAlive);
}

async fn read_pid(path: &Path) -> u32 {
    let mut ticks = interval(Duration::from_millis(20));
    let read = async {
        loop {
            ticks.tick().await;
            let text = std::fs::read_to_string(path).unwrap_or_default();
            if let Some(pid) = text.strip_suffix('\n').and_then(|pid| pid.parse().ok()) {
                return pid;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, read).await.expect("the process has not started")
}

// DL-21
#[tokio::test]
async fn unmanaged_processes_are_not_signalled() {
    let fixture = DeployFixture::new();
    for pid in [0, 1, u64::from(std::process::id()), u64::from(u32::MAX) + 2] {
        assert_eq!(fixture.deploys.kill(pid).await.unwrap(), KillOutcome::NotOurs, "{pid}");
    }
}

/// The run outlives the process that started it; the next one resumes monitoring and can stop it.
#[tokio::test]
async fn run_survives_a_restart_and_can_be_stopped() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("outlives", &[("index.html", "<p>")]);
    let port = free_port();
    let command = format!("python3 -m http.server {port} --bind 127.0.0.1");
    let started = fixture.start(&tree, serving(&command, port)).await.unwrap();
    let next = fixture.restarted();
    next.resume().await;
    until(&next, &tree, started.pid, "completed").await;
    assert_eq!(next.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
    assert!(!is_running(started.pid));
}

/// SIGKILL prevents the leader from terminating its group, so the monitor has to.
#[tokio::test]
async fn group_is_terminated_when_its_leader_is_killed() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("leader", &[]);
    let command = "trap '' TERM; echo $BASHPID > child; while :; do read -t 600 < <(:) || :; done";
    let started = fixture.start(&tree, running(command)).await.unwrap();
    let child = read_pid(&tree.canonical().join("child")).await;
    kill_alone(started.pid);
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["error"], "Deploy command failed because of a signal");
    assert!(!is_running(started.pid) && !is_running(child));
}

/// The leader is killed while no Loopgate process is running. The remaining group is terminated by the next
/// monitor or by a request.
#[tokio::test]
async fn orphaned_group_is_terminated_after_a_restart() {
    let fixture = DeployFixture::new();
    for resumes in [true, false] {
        let tree = fixture.tree("orphans", &[]);
        let earlier = fixture.restarted();
        let request = fixture.request(&tree, running("echo $BASHPID > child; exec sleep 600"));
        let _ = std::fs::remove_file(tree.canonical().join("child"));
        // Shutting the runtime down ends the monitor, as the exit of the process would.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let started = runtime.spawn(async move { earlier.start(request).await.unwrap() }).await.unwrap();
        let child = read_pid(&tree.canonical().join("child")).await;
        runtime.shutdown_background();
        kill_alone(started.pid);
        wait_for_exit(started.pid).await;
        assert!(is_running(child));
        let next = fixture.restarted();
        if resumes {
            next.resume().await;
            until(&next, &tree, started.pid, "failed").await;
        } else {
            assert_eq!(next.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
        }
        assert!(!is_running(child), "resumes: {resumes}");
    }
}

/// Sends SIGKILL to a process but not to its group.
fn kill_alone(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn run_is_terminated_when_its_worktree_is_removed() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("removed", &[]);
    let started = fixture.start(&tree, running("exec sleep 600")).await.unwrap();
    until(&fixture.deploys, &tree, started.pid, "running").await;
    std::fs::remove_dir_all(tree.canonical()).unwrap();
    wait_for_exit(started.pid).await;
}

#[tokio::test]
async fn second_start_terminates_the_first_run() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("again", &[]);
    let first = fixture.start(&tree, running("echo first; exec sleep 600")).await.unwrap();
    until(&fixture.deploys, &tree, first.pid, "running").await;
    let second = fixture.start(&tree, running("echo second; exit 4")).await.unwrap();
    assert!(!is_running(first.pid));
    let status = until(&fixture.deploys, &tree, second.pid, "failed").await;
    assert_eq!(status["logs"], "second\n");
}

#[tokio::test]
async fn response_of_another_process_is_not_healthy() {
    let fixture = DeployFixture::with(DeployTimeouts {
        health: Duration::from_millis(300),
        ..DeployTimeouts::default()
    });
    let tree = fixture.tree("other_server", &[]);
    let port = free_port();
    let started = fixture.start(&tree, serving("exec sleep 600", port)).await.unwrap();
    // The server is bound after the start, or the run would have been allocated another port.
    let _other = respond(port).await;
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    assert!(status["error"].as_str().unwrap().contains("belongs to another program"), "{status}");
    assert_eq!(fixture.deploys.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
}

// DL-B21
#[tokio::test]
async fn environment_files_are_copied_except_links() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("fresh", &[("web/app.js", ""), ("web/.env.local", "D=own")]);
    // `web/.env.local` exists in the worktree, so it is not overwritten. `missing` does not exist
    // there, and `node_modules` is skipped.
    let files = [
        (".env.local", "A=1"),
        ("secret", "S=1"),
        ("web/.env", "B=2"),
        ("web/.env.local", "C=3"),
        ("node_modules/x/.env", "E=5"),
        ("missing/.env", "F=6"),
    ];
    let repository = fixture.tree("clone", &files);
    let link: PathBuf = repository.canonical().join(".env.test.local");
    std::os::unix::fs::symlink("secret", link).unwrap();
    let command = "shopt -s globstar dotglob; for file in **/.env*; do echo $file $(cat $file); done; exit 3";
    let request = DeployRequest { repository, ..fixture.request(&tree, running(command)) };
    let started = fixture.deploys.start(request).await.unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["logs"], ".env.local A=1\nweb/.env B=2\nweb/.env.local D=own\n");
}

/// Returns a fixture whose login shell has only these programs on its PATH, and with `inherits` the PATH of
/// the test too.
fn with_programs(programs: &[(&str, &str)], inherits: bool) -> DeployFixture {
    let mut fixture = DeployFixture::new();
    let bin = fixture.dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, text) in programs {
        script(&bin.join(name), text);
    }
    let path = if inherits { std::env::var("PATH").unwrap() } else { String::new() };
    fixture.use_login_shell(&format!("echo {}:{path}", bin.display()), BTreeMap::new());
    fixture
}

fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

async fn engine_error(fixture: &DeployFixture, file: &str) -> EngineError {
    let tree = fixture.tree("image", &[(file, "FROM scratch\n")]);
    let error = fixture.start(&tree, detected(&tree)).await.unwrap_err();
    let DeployError::Engine(error) = error else { unreachable!("{error}") };
    error
}

#[tokio::test]
async fn missing_engine_is_reported() {
    let error = engine_error(&with_programs(&[], false), "Dockerfile").await;
    assert_eq!(error, EngineError::NotInstalled);
    assert!(error.to_string().contains("install docker or podman"), "{error}");
}

/// Uses the real docker where it is installed; without a daemon the error contains docker's reason.
#[tokio::test]
async fn error_of_the_installed_docker_is_reported() {
    let fixture = DeployFixture::new();
    let programs = Programs::new(Arc::new(
        SettingsStore::open(&fixture.dir.path().join("settings.toml"), Overrides::default()).unwrap(),
    ));
    let docker = programs.search("docker").await;
    if docker.source != ProgramSource::Path {
        eprintln!("docker is not installed here");
        return;
    }
    let info = Command::new(docker.path).arg("info").environment(programs.environment().await);
    let has_daemon = info.run(Limits::time(TIMEOUT)).await.unwrap().status.success();
    let tree = fixture.tree("image", &[("Dockerfile", "FROM scratch\n"), ("compose.yaml", "services: {}\n")]);
    let started = fixture.start(&tree, detected(&tree)).await;
    if has_daemon {
        // With a daemon, starting succeeds and the empty image fails later, unless Compose is missing.
        assert!(matches!(started, Ok(_) | Err(DeployError::Engine(EngineError::NoCompose { .. }))));
        fixture.tear_down(&tree).await;
    } else {
        let error = started.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, DeployError::Engine(EngineError::NotRunning { engine: "docker", .. })));
        assert!(
            text.starts_with("docker is installed but cannot run containers (") && text.contains("daemon")
        );
    }
}

#[tokio::test]
async fn stopped_engine_and_missing_compose_are_reported() {
    let stopped = "#!/bin/sh\necho Client: 1; echo 'Cannot connect to the daemon.' >&2; exit 1\n";
    let error = engine_error(&with_programs(&[("podman", stopped)], false), "Dockerfile").await;
    let reason = "Cannot connect to the daemon".to_owned();
    assert_eq!(error, EngineError::NotRunning { engine: "podman", reason });
    let plain = "#!/bin/sh\n[ \"$1\" = info ]\n";
    let error = engine_error(&with_programs(&[("docker", plain)], false), "compose.yaml").await;
    assert_eq!(error, EngineError::NoCompose { engine: "docker" });
}

/// Simulates an engine with a daemon: as with a daemon, the container is a process outside the group of the
/// run, which survives the client.
const ENGINE: &str = r#"#!/bin/bash
case "$1" in
  info) ;;
  build) echo sha256:image ;;
  run)
    port="${6#127.0.0.1:}"; port="${port%%:*}"
    setsid python3 -m http.server "$port" --bind 127.0.0.1 < /dev/null > /dev/null 2>&1 &
    echo $! > "$(dirname "$0")/$4"
    wait ;;
  rm) pid="$(cat "$(dirname "$0")/$3")" && rm "$(dirname "$0")/$3" && kill -KILL "$pid" ;;
  container) [ -e "$(dirname "$0")/$3" ] ;;
  *) exit 9 ;;
esac
"#;

#[tokio::test]
async fn container_is_removed_on_teardown_and_on_next_start() {
    let fixture = with_programs(&[("docker", ENGINE)], true);
    let tree = fixture.tree("boxed", &[("Dockerfile", &format!("FROM scratch\nEXPOSE {}\n", free_port()))]);
    let image = detected(&tree);
    let container = fixture.dir.path().join("bin/loopgate-boxed");
    let first = fixture.start(&tree, image.clone()).await.unwrap();
    until(&fixture.deploys, &tree, first.pid, "completed").await;
    let server = read_pid(&container).await;
    let second = fixture.start(&tree, image).await.unwrap();
    wait_for_exit(server).await;
    until(&fixture.deploys, &tree, second.pid, "completed").await;
    let server = read_pid(&container).await;
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
    assert!(!is_running(second.pid) && !is_running(server));
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
}

/// Returns timeouts with which listening ports are checked at once.
fn unsettled() -> DeployTimeouts {
    DeployTimeouts { settled: Duration::ZERO, ..DeployTimeouts::default() }
}

/// Serves files without printing anything: the output of Python is buffered.
fn silent_server(port: u16) -> String {
    format!("exec python3 -m http.server {port} --bind 127.0.0.1 2> /dev/null")
}

// DL-44
#[tokio::test]
async fn server_on_another_port_than_detected_is_found() {
    let fixture = DeployFixture::with(unsettled());
    let tree = fixture.tree("guess", &[]);
    let (guess, actual) = (free_port(), free_port());
    let started = fixture.start(&tree, guessing(&silent_server(actual), guess)).await.unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "completed").await;
    let url = format!("http://localhost:{actual}/");
    assert_eq!(status["deployedUrl"], url);
    assert_eq!(fixture.deploys.running_url(tree.canonical()), Some(Some(url.clone())));
    assert_eq!(fixture.deploys.url_of_output(tree.canonical(), ""), Some(url));
    // The port of the guess is free, and another program may use it.
    let _other = std::net::TcpListener::bind(("127.0.0.1", guess)).unwrap();
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
    assert!(std::net::TcpListener::bind(("127.0.0.1", actual)).is_ok());
}

/// Another program answers on the port of the guess.
// DL-44
#[tokio::test]
async fn server_is_found_when_another_program_uses_the_detected_port() {
    let fixture = DeployFixture::with(unsettled());
    let tree = fixture.tree("guess", &[]);
    let (guess, actual) = (free_port(), free_port());
    let start = format!("read -t 600 < go; {}", silent_server(actual));
    script(&tree.canonical().join("start"), &start);
    let fifo = tree.canonical().join("go");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let started = fixture.start(&tree, guessing("bash ./start", guess)).await.unwrap();
    let _other = respond(guess).await;
    tokio::task::spawn_blocking(move || std::fs::write(fifo, "\n")).await.unwrap().unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "completed").await;
    assert_eq!(status["deployedUrl"], format!("http://localhost:{actual}/"));
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
}

/// Responds to every request on this port.
async fn respond(port: u16) -> tokio::task::JoinHandle<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            use tokio::io::AsyncWriteExt as _;
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await;
        }
    })
}

// DL-44
#[tokio::test]
async fn configured_port_is_not_replaced() {
    let timing = DeployTimeouts { health: Duration::from_millis(600), ..unsettled() };
    let fixture = DeployFixture::with(timing);
    let tree = fixture.tree("configured", &[]);
    let (configured, actual) = (free_port(), free_port());
    // The user has changed the detected port, or the health URL.
    let other_port =
        Deployment { detected_port: Some(actual), ..serving(&silent_server(actual), configured) };
    let other_url = Deployment {
        health_check_url: Some(format!("http://127.0.0.1:{configured}/ready")),
        ..guessing(&silent_server(actual), configured)
    };
    for deployment in [other_port, other_url] {
        let started = fixture.start(&tree, deployment).await.unwrap();
        let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
        let reason = format!("nothing accepts connections on port {configured}");
        assert!(status["error"].as_str().unwrap().contains(&reason), "{status}");
    }
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
}

// DL-44
#[tokio::test]
async fn every_printed_url_is_checked() {
    // Listening ports are never checked.
    let fixture = DeployFixture::with(DeployTimeouts { settled: TIMEOUT * 60, ..DeployTimeouts::default() });
    for order in ["{actual} {other}", "{other} {actual}"] {
        let tree = fixture.tree("prints", &[]);
        let (guess, other, actual) = (free_port(), free_port(), free_port());
        let ports = order.replace("{actual}", &actual.to_string()).replace("{other}", &other.to_string());
        let command =
            format!("for port in {ports}; do echo http://127.0.0.1:$port/; done; {}", silent_server(actual));
        let started = fixture.start(&tree, guessing(&command, guess)).await.unwrap();
        let status = until(&fixture.deploys, &tree, started.pid, "completed").await;
        assert_eq!(status["deployedUrl"], format!("http://127.0.0.1:{actual}/"), "{order}");
        assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
    }
}

/// Listens on two ports; the one without a page has the lower number, like the debugger of Node.
// DL-44
#[tokio::test]
async fn port_with_a_page_is_preferred() {
    let fixture = DeployFixture::with(unsettled());
    let tree = fixture.tree("debugger", &[("page/index.html", "<p>"), ("none/x", "")]);
    let mut ports = [free_port(), free_port()];
    ports.sort_unstable();
    let server = r#"
import http.server, sys, threading
class Debugger(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self): self.send_error(400)
# Both ports are bound before the first answer.
one = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Debugger)
two = http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=one.serve_forever).start()
two.serve_forever()
"#;
    std::fs::write(tree.canonical().join("server.py"), server).unwrap();
    let command = format!("exec python3 server.py {} {}", ports[0], ports[1]);
    let started = fixture.start(&tree, guessing(&command, free_port())).await.unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "completed").await;
    assert_eq!(status["deployedUrl"], format!("http://localhost:{}/", ports[1]));
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
}

/// An HTTPS server with a certificate of its own. `strict` requires a certificate of the client; `polite` answers
/// requests without TLS with status 400, as Go and nginx do.
const SECURE: &str = r#"
import http.server, socket, ssl, sys
port, mode = int(sys.argv[1]), sys.argv[2]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
if mode == "strict":
    context.verify_mode = ssl.CERT_REQUIRED
class Server(http.server.ThreadingHTTPServer):
    def get_request(self):
        stream, address = super().get_request()
        return stream, address
    def finish_request(self, stream, address):
        if mode == "polite" and stream.recv(1, socket.MSG_PEEK) != b"\x16":
            stream.recv(4096)
            stream.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
            return
        with context.wrap_socket(stream, server_side=True) as secure:
            super().finish_request(secure, address)
server = Server(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler)
if mode == "prints":
    print(f"https://localhost:{port}/", flush=True)
server.serve_forever()
"#;

// DL-45
#[tokio::test]
async fn https_server_with_its_own_certificate_is_up() {
    let fixture = DeployFixture::with(unsettled());
    let install = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj /CN=dev -keyout key.pem -out cert.pem 2> /dev/null";
    for mode in ["prints", "silent", "strict", "polite"] {
        let tree = fixture.tree(mode, &[("server.py", SECURE)]);
        let port = free_port();
        let deployment = Deployment {
            install_command: Some(install.to_owned()),
            ..guessing(&format!("exec python3 server.py {port} {mode}"), port)
        };
        let started = fixture.start(&tree, deployment).await.unwrap();
        let status = until(&fixture.deploys, &tree, started.pid, "completed").await;
        assert_eq!(status["deployedUrl"], format!("https://localhost:{port}/"), "{mode}");
        assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
    }
}

/// Starts a process in a session of its own, outside the worktree, and writes its pid to `child`.
const ESCAPES: &str = "(cd /; exec setsid sleep 600) & echo $! > child";

// DL-46
#[tokio::test]
async fn processes_in_other_sessions_end_with_the_run() {
    let fixture = DeployFixture::new();
    let start = async |command: &str| {
        let tree = fixture.tree("escapes", &[]);
        let _ = std::fs::remove_file(tree.canonical().join("child"));
        let started = fixture.start(&tree, running(command)).await.unwrap();
        let child = read_pid(&tree.canonical().join("child")).await;
        (tree, started.pid, child)
    };
    let stays = format!("{ESCAPES}; exec sleep 600");

    let (tree, _, child) = start(&stays).await;
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
    assert!(!is_running(child), "teardown");

    let (_, pid, child) = start(&stays).await;
    assert_eq!(fixture.deploys.kill(pid.into()).await.unwrap(), KillOutcome::Terminated);
    assert!(!is_running(child), "kill");

    let (tree, _, child) = start(&stays).await;
    let next = fixture.start(&tree, running("exec sleep 600")).await.unwrap();
    assert!(!is_running(child), "replaced");
    assert_eq!(fixture.deploys.kill(next.pid.into()).await.unwrap(), KillOutcome::Terminated);

    let (tree, pid, child) = start(&format!("{ESCAPES}; exit 3")).await;
    until(&fixture.deploys, &tree, pid, "failed").await;
    assert!(!is_running(child), "failed start");

    let tree = fixture.tree("install", &[]);
    let deployment =
        Deployment { install_command: Some(format!("{ESCAPES}; exit 1")), ..running("exec sleep 600") };
    let started = fixture.start(&tree, deployment).await.unwrap();
    let child = read_pid(&tree.canonical().join("child")).await;
    until(&fixture.deploys, &tree, started.pid, "failed").await;
    assert!(!is_running(child), "failed install");

    // Has no mark, and is found by its parent only, which ends at SIGTERM.
    let unmarked = "env -i $(command -v setsid) /bin/bash -c 'trap \"\" TERM; echo $$ > child; \
        while :; do read -t 600 < <(:) || :; done' & exec sleep 600";
    let (_, pid, child) = start(unmarked).await;
    assert_eq!(fixture.deploys.kill(pid.into()).await.unwrap(), KillOutcome::Terminated);
    assert!(!is_running(child), "cleared environment");

    let (tree, _, child) = start(&stays).await;
    std::fs::remove_dir_all(tree.canonical()).unwrap();
    wait_for_exit(child).await;
}

/// A record that cannot be written leaves no process without a record.
// DL-46
#[tokio::test]
async fn run_that_cannot_be_recorded_is_terminated() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("unrecorded", &[]);
    let records = fixture.dir.path().join("data/deploys.json");
    std::fs::create_dir_all(records.join("directory")).unwrap();
    let deployment =
        Deployment { command: Some(format!("{ESCAPES}; exec sleep 600")), ..Deployment::default() };
    let error = fixture.start(&tree, deployment).await.unwrap_err();
    assert!(matches!(error, DeployError::Io(_)), "{error}");
    if let Ok(child) = std::fs::read_to_string(tree.canonical().join("child")) {
        assert!(!is_running(child.trim().parse().unwrap()));
    }
}

/// The start command starts its server in the background and exits with 0: in a session of its own, and in the
/// process group of the command.
// DL-47
#[tokio::test]
async fn server_in_the_background_is_the_deployment() {
    let fixture = DeployFixture::new();
    for launcher in ["setsid", "nohup"] {
        let tree = fixture.tree(launcher, &[]);
        let port = free_port();
        let command = format!("{launcher} bash -c '{}' & echo $! > server", silent_server(port));
        let started = fixture.start(&tree, serving(&command, port)).await.unwrap();
        let server = read_pid(&tree.canonical().join("server")).await;
        wait_for_exit(started.pid).await;
        let status = until(&fixture.deploys, &tree, started.pid, "completed").await;
        assert_eq!(status["deployedUrl"], format!("http://localhost:{port}"), "{launcher}");
        assert!(is_running(server));
        assert_eq!(fixture.deploys.worktrees_of(&[started.pid]), [tree.canonical()]);

        // The next Loopgate process follows the server too.
        let next = fixture.restarted();
        next.resume().await;
        assert_eq!(next.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
        assert!(!is_running(server));
        until(&next, &tree, started.pid, "not-started").await;
    }
}

// DL-47
#[tokio::test]
async fn end_of_a_server_in_the_background_is_reported() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("daemon", &[]);
    let port = free_port();
    let command = format!("setsid bash -c '{}' & echo $! > server", silent_server(port));
    let started = fixture.start(&tree, serving(&command, port)).await.unwrap();
    until(&fixture.deploys, &tree, started.pid, "completed").await;
    // A second check of the monitor, after which it knows that the server runs in the background.
    wait_for_exit(started.pid).await;
    kill_alone(read_pid(&tree.canonical().join("server")).await);
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    let error =
        "Deploy command failed with exit code 0: the server that it started in the background has exited";
    assert_eq!(status["error"], error);

    let started = fixture.start(&tree, serving("setsid sleep 0 &", port)).await.unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    let error = "Deploy command failed with exit code 0: the process exited before a health check succeeded";
    assert_eq!(status["error"], error);
}

/// `compose up -d` starts containers and exits with 0; no process of the run remains.
// DL-47
#[tokio::test]
async fn containers_in_the_background_are_the_deployment() {
    // The engine clears the environment, as a daemon that starts the containers has another one.
    let engine = r#"#!/bin/bash
here="$(dirname "$0")"
case "$1 $2" in
  info*|"compose version") ;;
  "compose up") env -i setsid "$(command -v python3)" -m http.server "$PUBLISHED" > /dev/null 2>&1 & echo $! > "$here/container" ;;
  "compose down") [ ! -e "$here/container" ] || kill -KILL "$(cat "$here/container")"; rm -f "$here/container" ;;
  *) exit 9 ;;
esac
"#;
    let fixture = with_programs(&[("docker", engine)], true);
    let port = free_port();
    let compose = format!("services:\n  a:\n    ports:\n      - \"{port}:80\"\n");
    let tree = fixture.tree("background", &[("compose.yaml", &compose)]);
    let command = format!("PUBLISHED={port} docker compose up -d");
    let deployment = Deployment { command: Some(command), ..detected(&tree) };
    let started = fixture.start(&tree, deployment).await.unwrap();
    let container = read_pid(&fixture.dir.path().join("bin/container")).await;
    let status = until(&fixture.deploys, &tree, started.pid, "completed").await;
    assert_eq!(status["deployedUrl"], format!("http://localhost:{port}"));
    assert_eq!(fixture.tear_down(&tree).await, TeardownOutcome::Stopped);
    wait_for_exit(container).await;
}

// DL-48
#[tokio::test]
async fn commands_run_in_the_directory_of_the_settings() {
    let fixture = DeployFixture::new();
    let tree = fixture.tree("mono", &[("apps/web/name", "web")]);
    std::os::unix::fs::symlink("/", tree.canonical().join("root")).unwrap();
    let at = |directory: &str| Deployment {
        directory: Some(directory.to_owned()),
        install_command: Some("cat name".to_owned()),
        ..running("cat name; exit 3")
    };
    let started = fixture.start(&tree, at("apps/web")).await.unwrap();
    let status = until(&fixture.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["logs"], "webweb");
    for (directory, reason) in [
        ("..", "is not inside the worktree"),
        ("/", "is not inside the worktree"),
        ("root", "is not inside the worktree"),
        ("apps/api", "has no directory `apps/api`"),
    ] {
        let error = fixture.start(&tree, at(directory)).await.unwrap_err();
        assert!(matches!(error, DeployError::Directory(_)), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}
