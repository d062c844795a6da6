//! Tests with real processes: limits, process groups, and the rules for sending signals.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use loopgate_testkit::wait;
use loopgate_tools::process::{
    Command, GroupKillOutcome, Limits, ProcessStart, ProcessStatus, StartError, Stdin, alive, identity,
    kill_group,
};

const TIMEOUT: Duration = Duration::from_secs(20);

fn sh(script: &str) -> Command {
    Command::new("sh").arg("-c").arg(script)
}

async fn assert_ended(pid: u32, started: ProcessStart) {
    if alive(pid, started) {
        wait::until_exited(pid).await.unwrap();
    }
    assert!(!alive(pid, started));
}

#[tokio::test]
async fn run_passes_arguments_input_environment_and_directory() {
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
    assert_eq!(output.status, ProcessStatus::Exited(3));
}

/// The script waits for its input, which is written after the priority was lowered.
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
    // 19 is the lowest priority.
    assert_eq!(nice(script().low_priority()).await, (usual + 5).min(19));
}

#[tokio::test]
async fn input_larger_than_a_pipe_does_not_deadlock() {
    // Larger than the pipes in both directions: writing all input before reading would deadlock.
    let input: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
    let output =
        Command::new("cat").stdin(Stdin::Bytes(input.clone())).run(Limits::time(TIMEOUT)).await.unwrap();
    assert_eq!(output.stdout, input);
}

#[tokio::test]
async fn timeout_kills_the_process_group() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    // The shell ignores SIGTERM, so that only SIGKILL to the whole group ends its child.
    let script = format!("trap '' TERM; sleep 600 & echo $! > {}; wait; sleep 600", file.display());
    let mut limits = Limits::time(Duration::from_millis(300));
    limits.grace = Duration::from_millis(100);
    let start = Instant::now();
    let run = tokio::spawn(async move { sh(&script).run(limits).await });
    let pid: u32 = wait::lines_of(&file).await.unwrap().parse().unwrap();
    let started = identity(pid).unwrap();
    let output = run.await.unwrap().unwrap();
    assert_eq!(output.status, ProcessStatus::TimedOut);
    assert!(start.elapsed() < TIMEOUT);
    assert_ended(pid, started).await;
}

#[tokio::test]
async fn idle_limit_counts_from_the_last_output_or_use_of_the_processor() {
    let limit = Limits::idle(Duration::from_secs(1));
    // Each runs for longer than the limit: one prints, the other one computes.
    let printing = sh("for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done");
    let computing = sh("end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done");
    let (printing, computing) = tokio::join!(printing.run(limit), computing.run(limit));
    assert_eq!(printing.unwrap().status, ProcessStatus::Exited(0));
    assert_eq!(computing.unwrap().status, ProcessStatus::Exited(0));
    let idle = sh("echo begin; sleep 600; true").run(limit).await.unwrap();
    assert_eq!((idle.status, idle.last_program.as_deref()), (ProcessStatus::TimedOut, Some("sleep")));
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
    assert_ended(pid, started).await;
}

#[tokio::test]
async fn undisturbed_run_completes_after_its_caller_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let (start, go, done) =
        (directory.path().join("start"), directory.path().join("go"), directory.path().join("done"));
    let script = format!(
        "mkfifo {go}; echo x > {start}; read word < {go}; echo y > {done}",
        start = start.display(),
        go = go.display(),
        done = done.display()
    );
    let run = tokio::spawn(async move { sh(&script).run_to_completion(Limits::time(TIMEOUT)).await });
    wait::lines_of(&start).await.unwrap();
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    std::fs::write(&go, "go\n").unwrap();
    assert_eq!(wait::lines_of(&done).await.unwrap(), "y");
}

#[tokio::test]
async fn output_beyond_the_cap_ends_the_run_and_is_truncated() {
    let output = sh("yes").run(Limits::time(TIMEOUT).output(10_000)).await.unwrap();
    assert_eq!(output.status, ProcessStatus::OutputTooLarge);
    assert_eq!(output.stdout.len(), 10_000);
}

#[tokio::test]
async fn output_of_exactly_the_cap_is_accepted() {
    let output = sh("printf 12345").run(Limits::time(TIMEOUT).output(5)).await.unwrap();
    assert_eq!((output.status, output.stdout.as_slice()), (ProcessStatus::Exited(0), b"12345".as_slice()));
    let output = sh("printf 123456").run(Limits::time(TIMEOUT).output(5)).await.unwrap();
    assert_eq!(output.status, ProcessStatus::OutputTooLarge);
}

#[tokio::test]
async fn output_pipe_of_a_grandchild_does_not_block() {
    let start = Instant::now();
    let output = sh("sleep 600 & echo $!; echo end").run(Limits::time(TIMEOUT)).await.unwrap();
    // Well below the 600 seconds for which the grandchild keeps the pipe open.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let text = output.stdout_text().into_owned();
    let (pid, rest) = text.split_once('\n').unwrap();
    assert_eq!((output.status, rest), (ProcessStatus::Exited(0), "end\n"));
    let grandchild: u32 = pid.parse().unwrap();
    let started = identity(grandchild).expect("background processes of a successful run keep running");
    let killer = Command::new("kill").args(["-9", pid]).run(Limits::time(TIMEOUT)).await.unwrap();
    assert!(killer.status.success());
    assert_ended(grandchild, started).await;
}

#[tokio::test]
async fn exit_by_signal_differs_from_an_exit_code() {
    let output = sh("kill -USR1 $$").run(Limits::time(TIMEOUT)).await.unwrap();
    assert!(matches!(output.status, ProcessStatus::Signalled(_)), "{:?}", output.status);
}

#[tokio::test]
async fn start_errors_are_distinguished() {
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
    wait::until_exited(started.pid).await.unwrap();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "out\nerr\n");
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn group_is_terminated_then_killed_if_the_start_time_matches() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let grace = Duration::from_secs(10);

    let polite = sh("sleep 600 & wait").spawn_detached(&log).unwrap();
    let start = polite.started.unwrap();
    // A start time that differs by more than the tolerance is that of another process.
    let other_start = ProcessStart(start.0 - 60_000);
    assert_eq!(kill_group(polite.pid, other_start, grace).await, GroupKillOutcome::NotOurs);
    assert!(alive(polite.pid, start) && !alive(polite.pid, other_start));
    assert_eq!(kill_group(polite.pid, start, grace).await, GroupKillOutcome::Terminated);
    assert_eq!(kill_group(polite.pid, start, grace).await, GroupKillOutcome::NotAlive);

    let ready = directory.path().join("ready");
    let ignoring_term = sh(&format!("trap '' TERM; echo x > {}; while :; do sleep 1; done", ready.display()))
        .spawn_detached(&log)
        .unwrap();
    wait::lines_of(&ready).await.unwrap();
    let outcome =
        kill_group(ignoring_term.pid, ignoring_term.started.unwrap(), Duration::from_millis(50)).await;
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
    assert_ended(member, start).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn session_has_no_terminal_and_a_new_group() {
    let ids = r#"cut -d' ' -f1,5,6 /proc/$$/stat; (: </dev/tty) 2>/dev/null && echo terminal; true"#;
    let output = sh(ids).session().run(Limits::time(TIMEOUT)).await.unwrap();
    let text = output.stdout_text().into_owned();
    let ids: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(ids.len(), 3, "{text}");
    assert!(ids.iter().all(|id| id == &ids[0]), "pid, group and session are one: {text}");
}
