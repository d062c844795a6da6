//! Runs of small real servers, from their start to their end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_deploy::{
    DeployError, DeployHandle, DeployRequest, DeployTimeouts, Deployment, Deploys, EngineError, KillOutcome,
    Teardown, TeardownOutcome, candidates,
};
use loopgate_home::{Directory, Overrides, Sandbox, SandboxedPath, SettingsStore};
use loopgate_tools::login_path::LoginPath;
use loopgate_tools::process::{Command, Limits, alive, identity};
use loopgate_tools::programs::{ProgramSource, Programs};
use serde_json::{Value, json};
use tokio::time::{Instant, interval};

/// Longer than any test takes.
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

    /// Another process of Loopgate over the same records.
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

    async fn start(&self, tree: &SandboxedPath, deployment: Deployment) -> Result<DeployHandle, DeployError> {
        let request = DeployRequest { repository: tree.clone(), worktree: tree.clone(), deployment };
        self.deploys.start(request).await
    }

    async fn tear_down(&self, tree: &SandboxedPath) -> TeardownOutcome {
        let what = Teardown {
            worktree: tree.canonical().to_owned(),
            deployment: Deployment::default(),
            pid: None,
            port: None,
        };
        self.deploys.tear_down(what).await.unwrap()
    }
}

/// Asks again and again until a run is as it should.
async fn until(deploys: &Deploys, tree: &SandboxedPath, pid: u32, wanted: &str) -> Value {
    let end = Instant::now() + TIMEOUT;
    let mut ticks = interval(Duration::from_millis(50));
    loop {
        ticks.tick().await;
        let (deploys, place) = (deploys.clone(), tree.canonical().to_owned());
        let status =
            tokio::task::spawn_blocking(move || json!(deploys.status(&place, Some(pid)))).await.unwrap();
        if status["status"] == wanted {
            return status;
        }
        assert!(Instant::now() < end, "not {wanted}: {status}");
    }
}

fn lives(pid: u32) -> bool {
    identity(pid).is_some_and(|started| alive(pid, started))
}

async fn until_gone(pid: u32) {
    let mut ticks = interval(Duration::from_millis(20));
    let gone = async {
        while lives(pid) {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(TIMEOUT, gone).await.expect("it lives on");
}

fn running(command: &str) -> Deployment {
    Deployment { command: Some(command.to_owned()), ..Deployment::default() }
}

fn serving(command: &str, port: u16) -> Deployment {
    Deployment { port: Some(port), ..running(command) }
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

/// A static site, twice at once and beside a server that has its port: detected, started, up, and torn down.
// DL-09
#[tokio::test]
async fn two_worktrees_run_at_once_and_end_cleanly() {
    let place = DeployFixture::new();
    let (one, two) =
        (place.tree("one", &[("index.html", "<p>")]), place.tree("two", &[("index.html", "<p>")]));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let own = taken.local_addr().unwrap().port();
    let site = Deployment {
        port: Some(own),
        health_check_url: Some(format!("http://localhost:{own}")),
        ..detected(&one)
    };
    let (first, second) =
        (place.start(&one, site.clone()).await.unwrap(), place.start(&two, site).await.unwrap());
    let (port, other) = (first.port.unwrap(), second.port.unwrap());
    assert!(port != own && other != own && port != other);
    let up = until(&place.deploys, &one, first.pid, "completed").await;
    assert_eq!(up["deployedUrl"], format!("http://localhost:{port}"));
    assert_eq!(marker(&one, "deploy-result.json").unwrap()["url"], up["deployedUrl"]);
    assert_eq!(marker(&one, "deploy.pid").unwrap()["pid"], first.pid);
    until(&place.deploys, &two, second.pid, "completed").await;
    for (tree, started) in [(&one, &first), (&two, &second)] {
        assert_eq!(place.tear_down(tree).await, TeardownOutcome::Stopped);
        assert!(!lives(started.pid));
        assert!(std::net::TcpListener::bind(("127.0.0.1", started.port.unwrap())).is_ok());
        assert_eq!(place.tear_down(tree).await, TeardownOutcome::Stopped);
        assert_eq!(marker(tree, "deploy-result.json"), None);
    }
}

// DL-16
#[tokio::test]
async fn status_without_markers_comes_from_pid_and_log() {
    let place = DeployFixture::new();
    let tree = place.tree("bare", &[]);
    let status = |pid| place.deploys.status(tree.canonical(), Some(pid)).status;
    assert_eq!(status(std::process::id()), "running");
    let started = place.start(&tree, running("true")).await.unwrap();
    until_gone(started.pid).await;
    until(&place.deploys, &tree, started.pid, "not-started").await;
    let started = place.start(&tree, running("echo done")).await.unwrap();
    until_gone(started.pid).await;
    let status = until(&place.deploys, &tree, started.pid, "completed").await;
    assert_eq!(status["logs"], "done\n");
}

#[tokio::test]
async fn node_server_that_answers_with_an_error_is_up() {
    let place = DeployFixture::new();
    let manifest = json!({"scripts": {"dev": "node server.js"}}).to_string();
    let tree = place.tree("node", &[("package.json", &manifest), ("server.js", NODE)]);
    let config = Deployment {
        install_command: None,
        port: Some(free_port()),
        health_check_url: None,
        ..detected(&tree)
    };
    let command = Deployment { command: Some("node server.js".to_owned()), ..config };
    let port = command.port.unwrap();
    let with_port = Deployment { command: Some(format!("PORT={port} node server.js")), ..command };
    let started = place.start(&tree, with_port).await.unwrap();
    until(&place.deploys, &tree, started.pid, "completed").await;
    assert_eq!(place.deploys.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
    until(&place.deploys, &tree, started.pid, "not-started").await;
    assert_eq!(marker(&tree, "deploy-result.json"), None);
}

// DL-10
#[tokio::test]
async fn failed_command_is_reported_with_its_exit_code() {
    let place = DeployFixture::new();
    let tree = place.tree("fails", &[]);
    let started = place.start(&tree, running("echo so far; exit 3")).await.unwrap();
    let status = until(&place.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["error"], "Deploy command failed with exit code 3");
    assert_eq!(status["logs"], "so far\n");
    assert_eq!(marker(&tree, "deploy-exit.json"), Some(json!({"exitCode": 3, "failedCommand": "deploy"})));
}

// DL-11
#[tokio::test]
async fn command_that_never_listens_runs_and_then_times_out() {
    let place = DeployFixture::with(DeployTimeouts {
        health: Duration::from_millis(400),
        ..DeployTimeouts::default()
    });
    let tree = place.tree("silent", &[]);
    let started = place.start(&tree, serving("exec sleep 600", free_port())).await.unwrap();
    until(&place.deploys, &tree, started.pid, "running").await;
    let status = until(&place.deploys, &tree, started.pid, "failed").await;
    assert!(status["error"].as_str().unwrap().contains("nothing accepts connections on port"), "{status}");
    assert_eq!(marker(&tree, "deploy-exit.json").unwrap()["failedCommand"], "health-check-timeout");
    assert!(lives(started.pid));
    assert_eq!(place.tear_down(&tree).await, TeardownOutcome::Stopped);
    assert!(!lives(started.pid));
}

// DL-12
#[tokio::test]
async fn failed_install_is_told_and_nothing_is_started() {
    let place = DeployFixture::new();
    let tree = place.tree("install", &[]);
    let deployment = Deployment { install_command: Some("exit 1".to_owned()), ..running("touch started") };
    let started = place.start(&tree, deployment).await.unwrap();
    let status = until(&place.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["error"], "Install command failed with exit code 1");
    assert_eq!(marker(&tree, "deploy-exit.json"), Some(json!({"exitCode": 1, "failedCommand": "install"})));
    assert!(!tree.canonical().join("started").exists());
}

// DL-13
#[tokio::test]
async fn foreign_health_url_is_not_asked() {
    let place = DeployFixture::new();
    let tree = place.tree("foreign", &[]);
    let url = Some("http://10.0.0.1:3000".to_owned());
    let deployment = Deployment { health_check_url: url, ..serving("exec sleep 600", free_port()) };
    let started = place.start(&tree, deployment).await.unwrap();
    until(&place.deploys, &tree, started.pid, "failed").await;
    let written = marker(&tree, "deploy-exit.json");
    assert_eq!(written, Some(json!({"exitCode": -1, "failedCommand": "health-check-policy"})));
    place.tear_down(&tree).await;
}

// DL-14
#[tokio::test]
async fn run_has_only_the_documented_variables() {
    let place = DeployFixture::new();
    let tree = place.tree("environment", &[]);
    let started = place.start(&tree, running("env | cut -d= -f1 | sort; exit 3")).await.unwrap();
    let status = until(&place.deploys, &tree, started.pid, "failed").await;
    let known = ["PATH", "HOME", "USER", "SHELL", "TERM", "NODE_ENV", "PWD", "OLDPWD", "SHLVL", "_"];
    let seen: Vec<&str> = status["logs"].as_str().unwrap().lines().collect();
    assert!(seen.contains(&"NODE_ENV") && seen.contains(&"PATH"));
    assert!(seen.iter().all(|name| known.contains(name)), "{seen:?}");
}

/// The shell's own children and the grandchildren of the run end with it.
// DL-20
#[tokio::test]
async fn killing_a_run_ends_its_process_group() {
    let place = DeployFixture::new();
    let tree = place.tree("group", &[]);
    let command = "(trap '' TERM; echo $BASHPID > child; while :; do read -t 600 < <(:) || :; done) & wait";
    let started = place.start(&tree, running(command)).await.unwrap();
    let child = read_pid(&tree.canonical().join("child")).await;
    assert_eq!(place.deploys.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
    assert!(!lives(started.pid) && !lives(child));
    assert_eq!(place.deploys.kill(started.pid.into()).await.unwrap(), KillOutcome::NotAlive);
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
    tokio::time::timeout(TIMEOUT, read).await.expect("it never starts")
}

// DL-21
#[tokio::test]
async fn processes_of_others_are_not_signalled() {
    let place = DeployFixture::new();
    for pid in [0, 1, u64::from(std::process::id()), u64::from(u32::MAX) + 2] {
        assert_eq!(place.deploys.kill(pid).await.unwrap(), KillOutcome::NotOurs, "{pid}");
    }
}

/// What follows a run is a process like any other; the run itself is not.
#[tokio::test]
async fn run_survives_a_restart_and_can_be_stopped_then() {
    let place = DeployFixture::new();
    let tree = place.tree("outlives", &[("index.html", "<p>")]);
    let port = free_port();
    let command = format!("python3 -m http.server {port} --bind 127.0.0.1");
    let started = place.start(&tree, serving(&command, port)).await.unwrap();
    let next = place.restarted();
    next.resume().await;
    until(&next, &tree, started.pid, "completed").await;
    assert_eq!(next.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
    assert!(!lives(started.pid));
}

/// SIGKILL leaves the leader no time to end its group.
#[tokio::test]
async fn rest_of_a_group_ends_with_its_leader() {
    let place = DeployFixture::new();
    let tree = place.tree("leader", &[]);
    let command = "trap '' TERM; echo $BASHPID > child; while :; do read -t 600 < <(:) || :; done";
    let started = place.start(&tree, running(command)).await.unwrap();
    let child = read_pid(&tree.canonical().join("child")).await;
    kill_alone(started.pid);
    let status = until(&place.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["error"], "Deploy command failed because of a signal");
    assert!(!lives(started.pid) && !lives(child));
}

/// The same while no Loopgate is there to see it, once ended by the next one and once by a request.
#[tokio::test]
async fn rest_of_a_group_without_leader_is_found_after_a_restart() {
    let place = DeployFixture::new();
    for resumes in [true, false] {
        let tree = place.tree("orphans", &[]);
        let earlier = place.restarted();
        let request = DeployRequest {
            repository: tree.clone(),
            worktree: tree.clone(),
            deployment: running("echo $BASHPID > child; exec sleep 600"),
        };
        let _ = std::fs::remove_file(tree.canonical().join("child"));
        // Its monitor ends with its runtime.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let started = runtime.spawn(async move { earlier.start(request).await.unwrap() }).await.unwrap();
        let child = read_pid(&tree.canonical().join("child")).await;
        runtime.shutdown_background();
        kill_alone(started.pid);
        until_gone(started.pid).await;
        assert!(lives(child));
        let next = place.restarted();
        if resumes {
            next.resume().await;
            until(&next, &tree, started.pid, "failed").await;
        } else {
            assert_eq!(next.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
        }
        assert!(!lives(child), "resumes: {resumes}");
    }
}

/// SIGKILL to a process, and not to its group.
fn kill_alone(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn run_ends_with_its_worktree() {
    let place = DeployFixture::new();
    let tree = place.tree("removed", &[]);
    let started = place.start(&tree, running("exec sleep 600")).await.unwrap();
    until(&place.deploys, &tree, started.pid, "running").await;
    std::fs::remove_dir_all(tree.canonical()).unwrap();
    until_gone(started.pid).await;
}

#[tokio::test]
async fn second_start_ends_the_first() {
    let place = DeployFixture::new();
    let tree = place.tree("again", &[]);
    let first = place.start(&tree, running("echo first; exec sleep 600")).await.unwrap();
    until(&place.deploys, &tree, first.pid, "running").await;
    let second = place.start(&tree, running("echo second; exit 4")).await.unwrap();
    assert!(!lives(first.pid));
    let status = until(&place.deploys, &tree, second.pid, "failed").await;
    assert_eq!(status["logs"], "second\n");
}

#[tokio::test]
async fn answer_of_another_process_is_not_healthy() {
    let place = DeployFixture::with(DeployTimeouts {
        health: Duration::from_millis(300),
        ..DeployTimeouts::default()
    });
    let tree = place.tree("stranger", &[]);
    let port = free_port();
    let started = place.start(&tree, serving("exec sleep 600", port)).await.unwrap();
    let stranger = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = stranger.accept().await {
            use tokio::io::AsyncWriteExt as _;
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await;
        }
    });
    let status = until(&place.deploys, &tree, started.pid, "failed").await;
    assert!(status["error"].as_str().unwrap().contains("belongs to another program"), "{status}");
    assert_eq!(place.deploys.kill(started.pid.into()).await.unwrap(), KillOutcome::Terminated);
}

// DL-B21
#[tokio::test]
async fn environment_files_of_all_packages_are_copied_and_links_are_not() {
    let place = DeployFixture::new();
    let tree = place.tree("fresh", &[("web/app.js", ""), ("web/.env.local", "D=own")]);
    let files = [
        (".env.local", "A=1"),
        ("secret", "S=1"),
        ("web/.env", "B=2"),
        ("web/.env.local", "C=3"),
        ("node_modules/x/.env", "E=5"),
        ("gone/.env", "F=6"),
    ];
    let repository = place.tree("clone", &files);
    let link: PathBuf = repository.canonical().join(".env.test.local");
    std::os::unix::fs::symlink("secret", link).unwrap();
    let request = DeployRequest {
        repository,
        worktree: tree.clone(),
        deployment: running(
            "shopt -s globstar dotglob; for file in **/.env*; do echo $file $(cat $file); done; exit 3",
        ),
    };
    let started = place.deploys.start(request).await.unwrap();
    let status = until(&place.deploys, &tree, started.pid, "failed").await;
    assert_eq!(status["logs"], ".env.local A=1\nweb/.env B=2\nweb/.env.local D=own\n");
}

/// A place whose login shell has only these programs on its PATH, beside the system's own where `inherits`.
fn with_programs(programs: &[(&str, &str)], inherits: bool) -> DeployFixture {
    let mut place = DeployFixture::new();
    let bin = place.dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, text) in programs {
        script(&bin.join(name), text);
    }
    let shell = place.dir.path().join("shell");
    let rest = if inherits { std::env::var("PATH").unwrap() } else { String::new() };
    script(&shell, &format!("#!/bin/sh\necho {}:{rest}\n", bin.display()));
    let settings =
        SettingsStore::open(&place.dir.path().join("settings.toml"), Overrides::default()).unwrap();
    let programs = Programs::with_login_path(Arc::new(settings), LoginPath::new(shell, BTreeMap::new()));
    place.deploys =
        Deploys::open(&place.dir.path().join("data"), Arc::new(programs), DeployTimeouts::default());
    place
}

fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

async fn engine_error(place: &DeployFixture, file: &str) -> EngineError {
    let tree = place.tree("image", &[(file, "FROM scratch\n")]);
    let error = place.start(&tree, detected(&tree)).await.unwrap_err();
    let DeployError::Engine(error) = error else { unreachable!("{error}") };
    error
}

#[tokio::test]
async fn missing_engine_is_reported() {
    let error = engine_error(&with_programs(&[], false), "Dockerfile").await;
    assert_eq!(error, EngineError::NotInstalled);
    assert!(error.to_string().contains("install docker or podman"), "{error}");
}

/// The real docker, where it is installed: a client without a daemon says why.
#[tokio::test]
async fn answer_of_the_installed_docker_is_reported() {
    let place = DeployFixture::new();
    let asked = Programs::new(Arc::new(
        SettingsStore::open(&place.dir.path().join("settings.toml"), Overrides::default()).unwrap(),
    ));
    let docker = asked.search("docker").await;
    if docker.source != ProgramSource::Path {
        eprintln!("docker is not installed here");
        return;
    }
    let info = Command::new(docker.path).arg("info").environment(asked.environment().await);
    let has_daemon = info.run(Limits::time(TIMEOUT)).await.unwrap().status.success();
    let tree = place.tree("image", &[("Dockerfile", "FROM scratch\n"), ("compose.yaml", "services: {}\n")]);
    let started = place.start(&tree, detected(&tree)).await;
    if has_daemon {
        // With a daemon, the empty image and the empty project are what fails, unless Compose is missing.
        assert!(matches!(started, Ok(_) | Err(DeployError::Engine(EngineError::NoCompose { .. }))));
        place.tear_down(&tree).await;
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
async fn engine_that_does_not_run_or_has_no_compose_is_reported() {
    let stopped = "#!/bin/sh\necho Client: 1; echo 'Cannot connect to the daemon.' >&2; exit 1\n";
    let error = engine_error(&with_programs(&[("podman", stopped)], false), "Dockerfile").await;
    let reason = "Cannot connect to the daemon".to_owned();
    assert_eq!(error, EngineError::NotRunning { engine: "podman", reason });
    let plain = "#!/bin/sh\n[ \"$1\" = info ]\n";
    let error = engine_error(&with_programs(&[("docker", plain)], false), "compose.yaml").await;
    assert_eq!(error, EngineError::NoCompose { engine: "docker" });
}

/// Stands for an engine with a daemon: the container is a process outside the group of the run, as that of a daemon
/// is, and the client neither ends it nor waits for it when it is killed.
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
async fn container_is_removed_by_teardown_and_by_the_next_start() {
    let place = with_programs(&[("docker", ENGINE)], true);
    let tree = place.tree("boxed", &[("Dockerfile", &format!("FROM scratch\nEXPOSE {}\n", free_port()))]);
    let image = detected(&tree);
    let container = place.dir.path().join("bin/loopgate-boxed");
    let first = place.start(&tree, image.clone()).await.unwrap();
    until(&place.deploys, &tree, first.pid, "completed").await;
    let server = read_pid(&container).await;
    let second = place.start(&tree, image).await.unwrap();
    until_gone(server).await;
    until(&place.deploys, &tree, second.pid, "completed").await;
    let server = read_pid(&container).await;
    assert_eq!(place.tear_down(&tree).await, TeardownOutcome::Stopped);
    assert!(!lives(second.pid) && !lives(server));
    assert_eq!(place.tear_down(&tree).await, TeardownOutcome::Stopped);
}
