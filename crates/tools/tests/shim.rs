//! Tests with real shims and real processes.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loopgate_api::ids::LoopId;
use loopgate_testkit::wait;
use loopgate_tools::process::{Command, Limits, ProcessStart, alive, identity};
use loopgate_tools::shim::{Exit, ShimError, ShimHandle, ShimState, Spec, attach, reap, spawn};

const TIMEOUT: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(600);

fn probe() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_loopgate-shim-probe"))
}

/// A directory, and a specification of `sh -c <script>` that uses it.
struct ShimFixture {
    directory: tempfile::TempDir,
    spec: Spec,
}

impl ShimFixture {
    fn new(script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let environment =
            ["PATH", "HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut env: BTreeMap<_, _> = environment.map(|(name, value)| (name.into(), value)).collect();
        env.insert("HERE".into(), directory.path().into());
        let spec = Spec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into(), "sh".into()],
            cwd: directory.path().to_owned(),
            env,
            stdin_file: None,
            stdout: at("out.log"),
            stderr: at("err.log"),
            jsonl: None,
            exit_file: at("exit.json"),
            socket: at("shim.sock"),
            loop_id: LoopId(random_id()),
        };
        Self { directory, spec }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }

    async fn start(&self) -> (ShimHandle, ShimState) {
        spawn(probe(), &self.spec).await.unwrap()
    }

    /// Waits until the script has written a pid to this file. Returns the process.
    async fn process(&self, name: &str) -> (u32, ProcessStart) {
        let pid = wait::lines_of(&self.at(name)).await.unwrap().parse().unwrap();
        (pid, identity(pid).expect("the process runs"))
    }
}

fn random_id() -> uuid::Uuid {
    uuid::Uuid::new_v4()
}

async fn assert_ended((pid, started): (u32, ProcessStart)) {
    if alive(pid, started) {
        wait::until_exited(pid).await.unwrap();
    }
    assert!(!alive(pid, started));
}

async fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).run(Limits::time(TIMEOUT)).await;
    assert!(sent.unwrap().status.success());
}

async fn wait_for_exit(handle: &ShimHandle) -> Exit {
    tokio::time::timeout(TIMEOUT, handle.wait()).await.expect("the shim ends").unwrap()
}

#[tokio::test]
async fn program_runs_as_specified_and_its_exit_is_recorded() {
    let mut a_loop =
        ShimFixture::new(r#"cat; echo "$1|$LOOPGATE_LOOP_ID|$PWD"; echo bad >&2; umask; exit 7"#);
    fs::write(a_loop.at("prompt"), "the prompt\n").unwrap();
    a_loop.spec.stdin_file = Some(a_loop.at("prompt"));
    a_loop.spec.args.push("$(x) 'y".into());
    fs::write(&a_loop.spec.stdout, "before\n").unwrap();
    let (handle, state) = a_loop.start().await;
    assert_eq!(state.loop_id, a_loop.spec.loop_id);
    assert_ne!(state.pid, state.shim_pid);
    let exit = wait_for_exit(&handle).await;
    assert_eq!((exit.code, exit.signal, exit.success()), (Some(7), None, false));
    assert!(exit.max_rss_kb.unwrap() > 100 && exit.user_ms.is_some() && exit.sys_ms.is_some());
    assert_eq!(Exit::read(&a_loop.spec.exit_file).unwrap(), exit);
    let place = a_loop.directory.path().display();
    let id = a_loop.spec.loop_id;
    assert!(a_loop.read("out.log").starts_with(&format!("before\nthe prompt\n$(x) 'y|{id}|{place}\n")));
    assert!(!a_loop.read("out.log").ends_with("0077\n"), "the shim's umask is not inherited");
    assert_eq!(a_loop.read("err.log"), "bad\n");
    for (name, mode) in [("err.log", 0o600), ("exit.json", 0o600)] {
        assert_eq!(fs::metadata(a_loop.at(name)).unwrap().permissions().mode() & 0o777, mode, "{name}");
    }
    assert!(!a_loop.spec.socket.exists());
    assert!(attach(&a_loop.spec.socket, &a_loop.spec.exit_file).await.is_none());
    assert_eq!(handle.wait().await.unwrap(), exit, "read from the exit file after the shim has ended");
    assert_eq!(handle.kill(LONG).await.unwrap(), exit);
}

#[tokio::test]
async fn json_lines_are_copied_to_a_separate_file() {
    let script = r#"i=0; while [ $i -lt 2000 ]; do echo noise; echo "{\"n\":$i}"; i=$((i+1)); done; printf '{"last":1}'"#;
    let mut a_loop = ShimFixture::new(script);
    a_loop.spec.jsonl = Some(a_loop.at("out.jsonl"));
    let (handle, _) = a_loop.start().await;
    assert!(wait_for_exit(&handle).await.success());
    let lines = a_loop.read("out.jsonl");
    assert_eq!(lines.lines().count(), 2001);
    assert!(lines.ends_with("{\"n\":1999}\n{\"last\":1}\n"));
    assert_eq!(a_loop.read("out.log").lines().count(), 4001);
}

#[tokio::test]
async fn failed_start_is_reported_and_cleaned_up() {
    let mut a_loop = ShimFixture::new("");
    a_loop.spec.program = a_loop.at("missing");
    let error = spawn(probe(), &a_loop.spec).await.unwrap_err();
    assert!(matches!(error, ShimError::Program { ref code, .. } if code == "ENOENT"), "{error:?}");
    fs::write(a_loop.at("plain"), "text").unwrap();
    a_loop.spec.program = a_loop.at("plain");
    let error = spawn(probe(), &a_loop.spec).await.unwrap_err();
    assert!(matches!(error, ShimError::Program { ref code, .. } if code == "EACCES"), "{error:?}");
    assert!(!a_loop.spec.socket.exists());
    let error = spawn(Path::new("/no/such/loopgate"), &a_loop.spec).await.unwrap_err();
    assert!(matches!(error, ShimError::Shim(_)), "{error:?}");
    a_loop.spec.socket = "relative.sock".into();
    let error = spawn(probe(), &a_loop.spec).await.unwrap_err();
    assert!(matches!(error, ShimError::Io(_)), "{error:?}");
}

#[tokio::test]
async fn kill_reaches_descendants_outside_the_group() {
    // The grandchild has its own session, no parent, an empty environment, and ignores SIGTERM.
    let hidden = "trap '' TERM HUP; echo $$ > $HERE/hidden; while :; do sleep 1; done";
    let script = format!(r#"env -i HERE=$HERE PATH="$PATH" setsid sh -c "({hidden}) & true"; sleep 600"#);
    let a_loop = ShimFixture::new(&script.replace("$$", "$(sh -c 'echo \\$PPID')"));
    let (handle, state) = a_loop.start().await;
    let hidden = a_loop.process("hidden").await;
    let start = Instant::now();
    let exit = handle.kill(Duration::from_millis(200)).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!((exit.code, exit.signal), (None, Some(15)));
    assert!(!alive(hidden.0, hidden.1), "not running when kill returns");
    assert!(identity(state.pid).is_none());
}

#[tokio::test]
async fn kill_returns_before_the_grace_period_when_all_have_exited() {
    let a_loop =
        ShimFixture::new("trap 'echo bye; exit 0' TERM; echo $$ > $HERE/pid; while :; do sleep 0.05; done");
    let (handle, _) = a_loop.start().await;
    a_loop.process("pid").await;
    let start = Instant::now();
    let exit = handle.kill(LONG).await.unwrap();
    assert!(start.elapsed() < TIMEOUT);
    assert_eq!((exit.code, a_loop.read("out.log").as_str()), (Some(0), "bye\n"));
}

#[tokio::test]
async fn no_descendant_outlives_the_program() {
    let a_loop = ShimFixture::new("setsid sleep 600 & echo $! > $HERE/left; exit 3");
    let (handle, _) = a_loop.start().await;
    let exit = wait_for_exit(&handle).await;
    assert_eq!(exit.code, Some(3), "the exit code of the program, not of its descendants");
    let pid: u32 = a_loop.read("left").trim().parse().unwrap();
    assert!(identity(pid).is_none());
}

#[tokio::test]
async fn exit_is_on_disk_before_the_connection_ends() {
    use tokio::io::AsyncReadExt;

    let a_loop = ShimFixture::new("mkfifo $HERE/go; read word < $HERE/go; exit 5");
    a_loop.start().await;
    let mut held = tokio::net::UnixStream::connect(&a_loop.spec.socket).await.unwrap();
    assert!(Exit::read(&a_loop.spec.exit_file).is_none());
    fs::write(a_loop.at("go"), "").unwrap();
    let end = tokio::time::timeout(TIMEOUT, held.read(&mut [0; 16])).await.unwrap();
    assert_eq!(end.unwrap(), 0, "end of file without data");
    assert_eq!(Exit::read(&a_loop.spec.exit_file).unwrap().code, Some(5));
    assert!(!a_loop.spec.socket.exists());
}

#[tokio::test]
async fn sighup_is_ignored_and_sigterm_stops_the_loop() {
    let a_loop = ShimFixture::new("echo $$ > $HERE/pid; sleep 600");
    let (handle, state) = a_loop.start().await;
    let program = a_loop.process("pid").await;
    for harmless in ["-HUP", "-PIPE", "-QUIT", "-CHLD"] {
        signal(state.shim_pid, harmless).await;
        assert_eq!(handle.state().await.unwrap().pid, state.pid, "{harmless}");
    }
    assert!(alive(program.0, program.1));
    signal(state.shim_pid, "-TERM").await;
    assert_eq!(wait_for_exit(&handle).await.signal, Some(15));
    assert_ended(program).await;
}

#[tokio::test]
async fn shim_outlives_its_starter_and_can_be_attached() {
    let a_loop =
        ShimFixture::new("while [ ! -e $HERE/go ]; do echo out; echo err >&2; sleep 0.02; done; exit 4");
    // The starter exits immediately, which closes the shim's standard streams.
    let spec = serde_json::to_string(&a_loop.spec).unwrap();
    fs::write(a_loop.at("spec.json"), spec).unwrap();
    let starter = format!(
        "HERE='{}' '{}' shim '{}' >/dev/null <&- & exit 0",
        a_loop.directory.path().display(),
        probe().display(),
        a_loop.at("spec.json").display()
    );
    let started = Command::new("sh").args(["-c", &starter]).run(Limits::time(TIMEOUT)).await.unwrap();
    assert!(started.status.success());
    // The program writes to the directory of the socket, so `wait::until` is notified and tries again.
    let attached = async || attach(&a_loop.spec.socket, &a_loop.spec.exit_file).await;
    let handle = wait::until(a_loop.directory.path(), attached).await.unwrap();
    let state = handle.state().await.unwrap();
    assert_eq!((state.loop_id, state.exit), (a_loop.spec.loop_id, None));
    assert!(alive(state.pid, state.started.unwrap()));
    fs::write(a_loop.at("go"), "").unwrap();
    assert_eq!(wait_for_exit(&handle).await.code, Some(4));
}

#[tokio::test]
async fn second_shim_for_a_loop_is_rejected() {
    let a_loop = ShimFixture::new("sleep 600");
    let (handle, state) = a_loop.start().await;
    let again = spawn(probe(), &a_loop.spec).await.unwrap_err();
    assert!(matches!(again, ShimError::Program { .. }), "{again:?}");
    assert!(alive(state.pid, state.started.unwrap()), "the first one keeps running");
    handle.kill(LONG).await.unwrap();
    // The exit file of the first run exists when the second one starts.
    let (second, _) = a_loop.start().await;
    assert_eq!(Exit::read(&a_loop.spec.exit_file), None, "the exit of the previous run is removed");
    second.kill(LONG).await.unwrap();
}

#[tokio::test]
async fn processes_of_a_killed_shim_are_reaped() {
    let a_loop = ShimFixture::new(
        "(setsid sleep 600 & echo $! > $HERE/one); trap '' TERM; echo $$ > $HERE/two; while :; do sleep 1; done",
    );
    let bystander = ShimFixture::new("echo $$ > $HERE/pid; sleep 600");
    let (handle, state) = a_loop.start().await;
    // Another loop's processes on the same machine must not be affected.
    let (other, _) = bystander.start().await;
    let (one, two) = (a_loop.process("one").await, a_loop.process("two").await);
    let waiting = tokio::spawn({
        let handle = handle.clone();
        async move { handle.wait().await }
    });
    // A round trip, after which the request of `waiting` is connected as well.
    handle.state().await.unwrap();
    signal(state.shim_pid, "-KILL").await;
    let lost = tokio::time::timeout(TIMEOUT, waiting).await.unwrap().unwrap();
    assert!(matches!(lost, Err(ShimError::Lost)), "{lost:?}");
    assert!(attach(&a_loop.spec.socket, &a_loop.spec.exit_file).await.is_none());
    assert!(matches!(handle.state().await, Err(ShimError::Lost)));
    let reaped = reap(a_loop.spec.loop_id, Duration::from_millis(200)).await;
    assert!(reaped.running >= 2 && reaped.all_ended(), "{reaped:?}");
    assert_ended(one).await;
    assert_ended(two).await;
    // The stale socket of the killed shim must not prevent a new one.
    assert_eq!(other.state().await.unwrap().exit, None);
    other.kill(LONG).await.unwrap();
    let (again, _) = a_loop.start().await;
    again.kill(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn socket_works_below_a_long_data_directory() {
    let mut a_loop = ShimFixture::new("echo $$ > $HERE/pid; sleep 600");
    let deep = a_loop.at(&"deep".repeat(20)).join("deeper".repeat(20));
    fs::create_dir_all(&deep).unwrap();
    a_loop.spec.socket = deep.join("shim.sock");
    a_loop.start().await;
    let mode = fs::metadata(&a_loop.spec.socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "only the owner may connect");
    let handle = attach(&a_loop.spec.socket, &a_loop.spec.exit_file).await.unwrap();
    assert_eq!(handle.kill(LONG).await.unwrap().signal, Some(15));
}

#[tokio::test]
async fn exit_that_cannot_be_written_is_reported_and_retried() {
    let mut a_loop = ShimFixture::new("exit 6");
    let place = a_loop.at("results");
    fs::create_dir(&place).unwrap();
    // A file cannot replace a non-empty directory, so writing the exit file fails, as on a full disk.
    a_loop.spec.exit_file = place.join("exit.json");
    fs::create_dir(&a_loop.spec.exit_file).unwrap();
    fs::write(a_loop.spec.exit_file.join("full"), "").unwrap();
    let (handle, _) = a_loop.start().await;
    assert_eq!(wait_for_exit(&handle).await.code, Some(6));
    assert!(a_loop.spec.socket.exists(), "the shim is still retrying");
    fs::remove_dir_all(&a_loop.spec.exit_file).unwrap();
    wait::until(&place, async || Exit::read(&a_loop.spec.exit_file)).await.unwrap();
    wait::until_removed(&a_loop.spec.socket).await.unwrap();
}

#[tokio::test]
async fn invalid_socket_requests_are_ignored() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let a_loop = ShimFixture::new("sleep 600");
    let (handle, _) = a_loop.start().await;
    // An empty line, a missing operation, a missing member, invalid UTF-8, and a line beyond the cap.
    for nonsense in [&b"\n"[..], b"{}\n", b"{\"op\":\"kill\"}\n", b"\xff\xfe\n", &[b'x'; 100_000]] {
        let mut stream = tokio::net::UnixStream::connect(&a_loop.spec.socket).await.unwrap();
        let _ = stream.write_all(nonsense).await;
        let mut answer = String::new();
        let read = tokio::time::timeout(TIMEOUT, stream.read_to_string(&mut answer)).await.unwrap();
        assert!(read.is_err() || answer.contains("error"), "{answer}");
    }
    assert_eq!(handle.state().await.unwrap().exit, None);
    handle.kill(LONG).await.unwrap();
}
