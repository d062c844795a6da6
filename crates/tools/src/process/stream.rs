//! Running a command whose output is consumed while it runs.
//!
//! For programs that run for hours and print more than fits into memory. As with [`Command::run`], a run ends
//! when the process exits, not when its pipes close, and the process group is terminated when a limit is
//! exceeded or the caller stops the run.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::command::{Command, StartError};
use super::group::OwnedGroup;
use super::output::{Limits, ProcessStatus};

/// Initial capacity of a read buffer, in bytes: the capacity of a pipe on Linux.
const CHUNK: usize = 64 * 1024;
/// After the process exited, a pipe without data for this long counts as fully read.
const DRAIN_IDLE: Duration = Duration::from_millis(100);
/// Upper bound on reading after the process exited, for a grandchild that keeps writing.
const DRAIN_TOTAL: Duration = Duration::from_secs(2);

/// The result of a streamed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamOutcome {
    /// How the process ended; `None` when the caller stopped the run, by `stop` or by a limit of silence.
    pub status: Option<ProcessStatus>,
    /// The tail of standard error, up to [`Limits::output`] bytes.
    pub stderr: Vec<u8>,
}

impl Command {
    /// Runs to completion and passes standard output to `output` as it arrives. [`Limits::output`] applies to
    /// standard error only, of which the tail is kept. Dropping the future kills the process group;
    /// cancelling `stop` terminates it with the grace period. `output` returns for how long no further output may
    /// arrive until the run is stopped; `None` for any time.
    ///
    /// # Errors
    /// Fails with [`StartError`] when the process cannot be started.
    pub async fn stream(
        &self,
        limits: Limits,
        stop: &CancellationToken,
        output: impl FnMut(&[u8]) -> Option<Duration>,
    ) -> Result<StreamOutcome, StartError> {
        self.stream_with_input(Stdio::null(), limits, stop, output).await
    }

    /// As [`Self::stream`], with standard input.
    ///
    /// # Errors
    /// Fails with [`StartError`] when the process cannot be started.
    pub async fn stream_with_input(
        &self,
        input: Stdio,
        limits: Limits,
        stop: &CancellationToken,
        mut output: impl FnMut(&[u8]) -> Option<Duration>,
    ) -> Result<StreamOutcome, StartError> {
        let mut child = self.spawn_with(input, Stdio::piped(), Stdio::piped())?;
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let mut group = OwnedGroup::new(child);
        let (mut out, mut err) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        let mut tail = Vec::new();
        let mut ended = None;
        let mut deadline = Instant::now() + limits.time;
        let mut drain_deadline = None;
        let mut silence_deadline = None;
        // Continues after the exit until both pipes are closed or `drain_deadline` has passed.
        while ended.is_none() || stdout.is_some() || stderr.is_some() {
            tokio::select! {
                more = chunk(&mut stdout, &mut out) => {
                    if more {
                        silence_deadline = output(&out).map(|limit| Instant::now() + limit);
                    } else {
                        stdout = None;
                    }
                    out.clear();
                }
                more = chunk(&mut stderr, &mut err) => {
                    if more { append_tail(&mut tail, &err, limits.output) } else { stderr = None }
                    err.clear();
                }
                status = group.leader_end(self.ends_group), if ended.is_none() => {
                    ended = Some(match status {
                        Some(status) => status,
                        None => group.end(limits.grace).await,
                    });
                    drain_deadline = Some(Instant::now() + DRAIN_TOTAL);
                }
                () = stop.cancelled() => {
                    group.terminate(limits.grace).await;
                    return Ok(StreamOutcome { status: None, stderr: tail });
                }
                () = due(silence_deadline), if ended.is_none() => {
                    group.terminate(limits.grace).await;
                    return Ok(StreamOutcome { status: None, stderr: tail });
                }
                () = sleep_until(deadline) => {
                    group.terminate(limits.grace).await;
                    return Ok(StreamOutcome { status: ended.or(Some(ProcessStatus::TimedOut)), stderr: tail });
                }
            }
            // After the exit, the timeout of the run is replaced by that of draining the pipes.
            if let Some(end) = drain_deadline {
                deadline = end.min(Instant::now() + DRAIN_IDLE);
            }
        }
        Ok(StreamOutcome { status: ended, stderr: tail })
    }
}

/// Reads a chunk. Returns `false` at the end of file. Never completes for a pipe that was closed, so that its
/// branch of the `select!` is not taken again.
async fn chunk(pipe: &mut Option<impl AsyncRead + Unpin>, buffer: &mut Vec<u8>) -> bool {
    match pipe {
        Some(pipe) => pipe.read_buf(buffer).await.is_ok_and(|count| count > 0),
        None => std::future::pending().await,
    }
}

/// Sleeps until the deadline. Never completes if there is none.
async fn due(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn append_tail(tail: &mut Vec<u8>, chunk: &[u8], cap: usize) {
    tail.extend_from_slice(chunk);
    if tail.len() > cap {
        tail.drain(..tail.len() - cap);
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::unix::pipe;

    use super::*;
    use crate::process::table;

    fn shell(script: &str) -> Command {
        Command::new("/bin/sh").args(["-c", script])
    }

    fn limits(time: Duration) -> Limits {
        Limits { grace: Duration::from_millis(300), ..Limits::time(time).output(8) }
    }

    #[tokio::test]
    async fn output_is_streamed_and_the_tail_of_stderr_is_returned() {
        let mut seen = Vec::new();
        let script = shell("echo out; echo 0123456789 >&2; exit 7");
        let ended = script
            .stream(limits(Duration::from_secs(20)), &CancellationToken::new(), |chunk| {
                seen.extend_from_slice(chunk);
                None
            })
            .await
            .unwrap();
        assert_eq!(
            (ended.status, ended.stderr.as_slice()),
            (Some(ProcessStatus::Exited(7)), &b"3456789\n"[..])
        );
        assert_eq!(seen, b"out\n");
    }

    #[tokio::test]
    async fn run_times_out() {
        let limits = limits(Duration::from_millis(50));
        let ended = shell("exec sleep 300").stream(limits, &CancellationToken::new(), |_| None).await;
        assert_eq!(ended.unwrap().status, Some(ProcessStatus::TimedOut));
    }

    #[tokio::test]
    async fn stopping_early_kills_the_process_group() {
        let folder = tempfile::tempdir().unwrap();
        // Every process of the group inherits the write end of the FIFO, so its end of file proves that all
        // have exited.
        let pipe = folder.path().join("held");
        let mkfifo = Command::new("mkfifo").arg(&pipe).run(Limits::time(Duration::from_secs(20))).await;
        assert!(mkfifo.unwrap().status.success());
        let mut receiver = pipe::OpenOptions::new().open_receiver(&pipe).unwrap();
        let stop = CancellationToken::new();
        let ended = shell("exec 3>\"$HELD\"; trap '' TERM; sleep 300 & echo ready; wait; sleep 300")
            .env("HELD", pipe)
            .stream(limits(Duration::from_secs(60)), &stop, |_| {
                stop.cancel();
                None
            })
            .await;
        assert_eq!(ended.unwrap().status, None);
        let end = tokio::time::timeout(Duration::from_secs(60), receiver.read_to_end(&mut Vec::new())).await;
        assert_eq!(end.expect("no process of the group is running").unwrap(), 0);
    }

    #[tokio::test]
    async fn process_in_the_background_ends_with_the_run() {
        let folder = tempfile::tempdir().unwrap();
        // The first process ends at SIGTERM, the second one ignores it.
        let script =
            "(sleep 300 & echo $! > one); (trap '' TERM; sleep 300 & echo $! > two; echo done); exit 4";
        let script = shell(script).directory(folder.path()).end_group();
        let ended = script.stream(limits(Duration::from_secs(60)), &CancellationToken::new(), |_| None).await;
        assert_eq!(ended.unwrap().status, Some(ProcessStatus::Exited(4)));
        for name in ["one", "two"] {
            let pid = std::fs::read_to_string(folder.path().join(name)).unwrap();
            let process = table::find(pid.trim().parse().unwrap());
            assert!(process.is_none_or(|process| !process.running), "{name}");
        }
    }

    #[tokio::test]
    async fn silence_stops_the_run() {
        let (limits, stop) = (limits(Duration::from_secs(60)), CancellationToken::new());
        let silent = shell("echo one; exec sleep 300");
        let ended = silent.stream(limits, &stop, |_| Some(Duration::from_millis(10))).await.unwrap();
        assert_eq!(ended.status, None);
        let exits = shell("echo one; exit 3");
        let ended = exits.stream(limits, &stop, |_| Some(Duration::from_secs(60))).await.unwrap();
        assert_eq!(ended.status, Some(ProcessStatus::Exited(3)));
    }

    #[tokio::test]
    async fn open_pipe_of_a_grandchild_does_not_block() {
        let script = shell("sleep 300 & echo done");
        let start = std::time::Instant::now();
        let ended = script.stream(limits(Duration::from_secs(60)), &CancellationToken::new(), |_| None).await;
        assert_eq!(ended.unwrap().status, Some(ProcessStatus::Exited(0)));
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn missing_program_is_not_found() {
        let missing = Command::new("/nonexistent/assistant");
        let ended = missing.stream(limits(Duration::from_secs(1)), &CancellationToken::new(), |_| None).await;
        assert!(matches!(ended, Err(StartError::NotFound(_))));
    }
}
