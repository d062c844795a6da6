//! Runs of real processes: limits, groups, and who may be signalled.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use loopgate_testkit::wait;
use loopgate_tools::process::{
    Command, GroupKillOutcome, Limits, ProcessStart, RunStatus, StartError, Stdin, alive, identity,
    kill_group,
};

const TIMEOUT: Duration = Duration::from_secs(20);

fn sh(script: &str) -> Command {
    Command::new("sh").arg("-c").arg(script)
}

async fn gone(pid: u32, started: ProcessStart) {
    if alive(pid, started) {
        wait::end_of(pid).await.unwrap();
    }
    assert!(!alive(pid, started));
}

#[tokio::test]
async fn run_carries_arguments_input_environment_and_directory() {
    let directory = tempfile::tempdir().unwrap();
    let output = sh(r#"cat; printf '%s|' "$1" "$WORD" "$PWD"; echo bad >&2; exit 3"#)
        .args(["sh", "$(touch x) 'a b'"])
        .env("WORD", "w")
        .directory(directory.path().canonicalize().unwrap())
        .stdin(Stdin::Bytes(b"in;".to_vec()))
        .run(Limits::time(TIMEOUT))
        .await
        .unwrap();
    let expected = format!("in;$(touch x) 'a b'|w|{}|", directory.path().canonicalize().unwrap().display());
    assert_eq!(output.stdout_text(), expected);
    assert_eq!(output.stderr_text(), "bad\n");
    assert_eq!(output.status, RunStatus::Exited(3));
}

/// The input comes when the process has stepped back.
#[tokio::test]
async fn low_priority_run_lowers_its_nice_value() {
    let nice = async |command: Command| {
        let command = command.stdin(Stdin::Bytes(b"go\n".to_vec()));
        let output = command.run(Limits::time(TIMEOUT)).await.unwrap();
        output.stdout_text().trim().parse::<i32>().unwrap()
    };
    let script = || sh("read go; nice");
    let usual = nice(script()).await;
    assert_eq!(usual, rustix::process::getpriority_process(None).unwrap());
    // There is a last step.
    assert_eq!(nice(script().modest()).await, (usual + 5).min(19));
}

#[tokio::test]
async fn input_larger_than_a_pipe_does_not_lock() {
    let input: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
    let output =
        Command::new("cat").stdin(Stdin::Bytes(input.clone())).run(Limits::time(TIMEOUT)).await.unwrap();
    assert_eq!(output.stdout, input);
}

#[tokio::test]
async fn run_that_takes_too_long_ends_with_its_group() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let script = format!("trap '' TERM; sleep 600 & echo $! > {}; wait; sleep 600", file.display());
    let mut limits = Limits::time(Duration::from_millis(300));
    limits.grace = Duration::from_millis(100);
    let begun = Instant::now();
    let run = tokio::spawn(async move { sh(&script).run(limits).await });
    let pid: u32 = wait::lines_of(&file).await.unwrap().parse().unwrap();
    let started = identity(pid).unwrap();
    let output = run.await.unwrap().unwrap();
    assert_eq!(output.status, RunStatus::TimedOut);
    assert!(begun.elapsed() < TIMEOUT);
    gone(pid, started).await;
}

#[tokio::test]
async fn dropping_a_run_kills_its_process_group() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", file.display());
    let run = tokio::spawn(async move { sh(&script).run(Limits::time(TIMEOUT)).await });
    let pid: u32 = wait::lines_of(&file).await.unwrap().parse().unwrap();
    let started = identity(pid).unwrap();
    run.abort();
    gone(pid, started).await;
}

#[tokio::test]
async fn undisturbed_run_ends_even_when_its_caller_does_not_wait() {
    let directory = tempfile::tempdir().unwrap();
    let (begun, go, done) =
        (directory.path().join("begun"), directory.path().join("go"), directory.path().join("done"));
    let script = format!(
        "mkfifo {go}; echo x > {begun}; read word < {go}; echo y > {done}",
        begun = begun.display(),
        go = go.display(),
        done = done.display()
    );
    let run = tokio::spawn(async move { sh(&script).run_undisturbed(Limits::time(TIMEOUT)).await });
    wait::lines_of(&begun).await.unwrap();
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    std::fs::write(&go, "go\n").unwrap();
    assert_eq!(wait::lines_of(&done).await.unwrap(), "y");
}

#[tokio::test]
async fn too_much_output_ends_the_run_and_is_cut() {
    let output = sh("yes").run(Limits::time(TIMEOUT).output(10_000)).await.unwrap();
    assert_eq!(output.status, RunStatus::OutputTooLarge);
    assert_eq!(output.stdout.len(), 10_000);
}

#[tokio::test]
async fn exactly_the_cap_is_not_too_much() {
    let output = sh("printf 12345").run(Limits::time(TIMEOUT).output(5)).await.unwrap();
    assert_eq!((output.status, output.stdout.as_slice()), (RunStatus::Exited(0), b"12345".as_slice()));
    let output = sh("printf 123456").run(Limits::time(TIMEOUT).output(5)).await.unwrap();
    assert_eq!(output.status, RunStatus::OutputTooLarge);
}

#[tokio::test]
async fn output_pipe_of_a_grandchild_does_not_block() {
    let begun = Instant::now();
    let output = sh("sleep 600 & echo $!; echo end").run(Limits::time(TIMEOUT)).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let text = output.stdout_text().into_owned();
    let (pid, rest) = text.split_once('\n').unwrap();
    assert_eq!((output.status, rest), (RunStatus::Exited(0), "end\n"));
    let left: u32 = pid.parse().unwrap();
    let started = identity(left).expect("a run that ended well leaves its background work alone");
    let killer = Command::new("kill").args(["-9", pid]).run(Limits::time(TIMEOUT)).await.unwrap();
    assert!(killer.status.success());
    gone(left, started).await;
}

#[tokio::test]
async fn exit_by_signal_differs_from_an_exit_code() {
    let output = sh("kill -USR1 $$").run(Limits::time(TIMEOUT)).await.unwrap();
    assert!(matches!(output.status, RunStatus::Signalled(_)), "{:?}", output.status);
}

#[tokio::test]
async fn failed_start_has_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("plain");
    std::fs::write(&file, "text").unwrap();
    let limits = Limits::time(TIMEOUT);
    let missing = Command::new("/no/such/program").run(limits).await.unwrap_err();
    assert!(matches!(missing, StartError::NotFound(ref name) if name == "program"), "{missing}");
    let plain = Command::new(&file).run(limits).await.unwrap_err();
    assert!(matches!(plain, StartError::NotExecutable(_)), "{plain}");
    let nowhere = sh("true").directory(directory.path().join("gone")).run(limits).await.unwrap_err();
    assert!(matches!(nowhere, StartError::DirectoryMissing), "{nowhere}");
}

#[tokio::test]
async fn detached_process_writes_to_its_private_log() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("deep").join("log");
    let started = sh("echo out; echo err >&2").spawn_detached(&log).unwrap();
    wait::end_of(started.pid).await.unwrap();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "out\nerr\n");
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn group_ends_politely_or_by_force_and_only_for_the_right_process() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let grace = Duration::from_secs(10);

    let polite = sh("sleep 600 & wait").spawn_detached(&log).unwrap();
    let start = polite.started.unwrap();
    let stranger = ProcessStart(start.0 - 60_000);
    assert_eq!(kill_group(polite.pid, stranger, grace).await, GroupKillOutcome::NotOurs);
    assert!(alive(polite.pid, start) && !alive(polite.pid, stranger));
    assert_eq!(kill_group(polite.pid, start, grace).await, GroupKillOutcome::Terminated);
    assert_eq!(kill_group(polite.pid, start, grace).await, GroupKillOutcome::NotAlive);

    let ready = directory.path().join("ready");
    let deaf = sh(&format!("trap '' TERM; echo x > {}; while :; do sleep 1; done", ready.display()))
        .spawn_detached(&log)
        .unwrap();
    wait::lines_of(&ready).await.unwrap();
    let outcome = kill_group(deaf.pid, deaf.started.unwrap(), Duration::from_millis(50)).await;
    assert_eq!(outcome, GroupKillOutcome::Killed);
}

#[tokio::test]
async fn low_pids_and_members_of_other_groups_are_never_signalled() {
    for pid in [0, 1] {
        let start = identity(pid).unwrap_or(ProcessStart(0));
        assert_eq!(kill_group(pid, start, Duration::ZERO).await, GroupKillOutcome::NotOurs);
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let leader = sh(&format!("sleep 600 & echo $! > {}; wait", file.display()))
        .spawn_detached(&directory.path().join("log"))
        .unwrap();
    let member: u32 = wait::lines_of(&file).await.unwrap().parse().unwrap();
    let start = identity(member).unwrap();
    assert_eq!(kill_group(member, start, Duration::ZERO).await, GroupKillOutcome::NotOurs);
    assert!(alive(member, start));
    kill_group(leader.pid, leader.started.unwrap(), Duration::from_secs(5)).await;
    gone(member, start).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn session_has_no_terminal_and_a_group_of_its_own() {
    let ids = r#"cut -d' ' -f1,5,6 /proc/$$/stat; (: </dev/tty) 2>/dev/null && echo terminal; true"#;
    let output = sh(ids).session().run(Limits::time(TIMEOUT)).await.unwrap();
    let text = output.stdout_text().into_owned();
    let ids: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(ids.len(), 3, "{text}");
    assert!(ids.iter().all(|id| id == &ids[0]), "pid, group and session are one: {text}");
}
