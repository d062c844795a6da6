//! Running a command whose output is taken piece by piece while it runs.
//!
//! For programs that run for hours and print more than anybody wants to keep. Ends like any other
//! run: with the process, not with its pipes, and with the whole group when a limit is passed or the
//! caller has enough.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::command::{Command, StartError};
use super::group::OwnedGroup;
use super::output::{Limits, RunStatus};

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;
/// How long a pipe may stay silent after the process ended before it counts as read.
const DRAIN_IDLE: Duration = Duration::from_millis(100);
/// How long pipes are read after the process ended, at most.
const DRAIN_TOTAL: Duration = Duration::from_secs(2);

/// A streamed run that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamOutcome {
    /// How it ended; `None` when it was ended here because the caller asked for it.
    pub status: Option<RunStatus>,
    /// The end of standard error, as much as the limits allow.
    pub stderr: Vec<u8>,
}

impl Command {
    /// Runs to the end and hands standard output on as it arrives. The limits' cap is for standard
    /// error, of which the end is kept. Such a run reads nothing. Dropping the future
    /// kills the process and its group; cancelling `stop` ends them in peace first.
    ///
    /// # Errors
    /// [`StartError`] when the process could not be started.
    pub async fn stream(
        &self,
        limits: Limits,
        stop: &CancellationToken,
        output: impl FnMut(&[u8]),
    ) -> Result<StreamOutcome, StartError> {
        self.stream_with_input(Stdio::null(), limits, stop, output).await
    }

    /// As [`Self::stream`], for a program that reads from `input`.
    ///
    /// # Errors
    /// [`StartError`] when the process could not be started.
    pub async fn stream_with_input(
        &self,
        input: Stdio,
        limits: Limits,
        stop: &CancellationToken,
        mut output: impl FnMut(&[u8]),
    ) -> Result<StreamOutcome, StartError> {
        let mut child = self.spawn_with(input, Stdio::piped(), Stdio::piped())?;
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let mut group = OwnedGroup::new(child);
        let (mut out, mut err) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
        let mut kept = Vec::new();
        let mut ended = None;
        let mut deadline = Instant::now() + limits.time;
        let mut drained = None;
        while ended.is_none() || stdout.is_some() || stderr.is_some() {
            tokio::select! {
                more = piece(&mut stdout, &mut out) => {
                    if more { output(&out) } else { stdout = None }
                    out.clear();
                }
                more = piece(&mut stderr, &mut err) => {
                    if more { keep_end(&mut kept, &err, limits.output) } else { stderr = None }
                    err.clear();
                }
                status = group.wait(), if ended.is_none() => {
                    ended = Some(status);
                    drained = Some(Instant::now() + DRAIN_TOTAL);
                }
                () = stop.cancelled() => {
                    group.terminate(limits.grace).await;
                    return Ok(StreamOutcome { status: None, stderr: kept });
                }
                () = sleep_until(deadline) => {
                    group.terminate(limits.grace).await;
                    return Ok(StreamOutcome { status: ended.or(Some(RunStatus::TimedOut)), stderr: kept });
                }
            }
            if let Some(end) = drained {
                deadline = end.min(Instant::now() + DRAIN_IDLE);
            }
        }
        Ok(StreamOutcome { status: ended, stderr: kept })
    }
}

/// Reads a piece; `false` at the end. A pipe that is done stays pending.
async fn piece(pipe: &mut Option<impl AsyncRead + Unpin>, buffer: &mut Vec<u8>) -> bool {
    match pipe {
        Some(pipe) => pipe.read_buf(buffer).await.is_ok_and(|count| count > 0),
        None => std::future::pending().await,
    }
}

fn keep_end(kept: &mut Vec<u8>, piece: &[u8], cap: usize) {
    kept.extend_from_slice(piece);
    if kept.len() > cap {
        kept.drain(..kept.len() - cap);
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::unix::pipe;

    use super::*;

    fn shell(script: &str) -> Command {
        Command::new("/bin/sh").args(["-c", script])
    }

    fn limits(time: Duration) -> Limits {
        Limits { time, output: 8, grace: Duration::from_millis(300) }
    }

    #[tokio::test]
    async fn output_arrives_and_the_end_of_the_errors_is_kept() {
        let mut seen = Vec::new();
        let script = shell("echo out; echo 0123456789 >&2; exit 7");
        let ended = script
            .stream(limits(Duration::from_secs(20)), &CancellationToken::new(), |piece| {
                seen.extend_from_slice(piece);
            })
            .await
            .unwrap();
        assert_eq!((ended.status, ended.stderr.as_slice()), (Some(RunStatus::Exited(7)), &b"3456789\n"[..]));
        assert_eq!(seen, b"out\n");
    }

    #[tokio::test]
    async fn limit_ends_the_run() {
        let limits = limits(Duration::from_millis(50));
        let ended = shell("exec sleep 300").stream(limits, &CancellationToken::new(), |_| {}).await;
        assert_eq!(ended.unwrap().status, Some(RunStatus::TimedOut));
    }

    /// Every process of the group holds the pipe open, so its end says that all of them are gone.
    #[tokio::test]
    async fn stopping_early_kills_the_process_group() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("held");
        let made = Command::new("mkfifo").arg(&pipe).run(Limits::time(Duration::from_secs(20))).await;
        assert!(made.unwrap().status.success());
        let mut held = pipe::OpenOptions::new().open_receiver(&pipe).unwrap();
        let stop = CancellationToken::new();
        let ended = shell("exec 3>\"$HELD\"; trap '' TERM; sleep 300 & echo ready; wait; sleep 300")
            .env("HELD", pipe)
            .stream(limits(Duration::from_secs(60)), &stop, |_| stop.cancel())
            .await;
        assert_eq!(ended.unwrap().status, None);
        let gone = tokio::time::timeout(Duration::from_secs(60), held.read_to_end(&mut Vec::new())).await;
        assert_eq!(gone.expect("a process of the group is left").unwrap(), 0);
    }

    #[tokio::test]
    async fn open_pipe_of_a_grandchild_does_not_block() {
        let script = shell("sleep 300 & echo done");
        let start = std::time::Instant::now();
        let ended = script.stream(limits(Duration::from_secs(60)), &CancellationToken::new(), |_| {}).await;
        assert_eq!(ended.unwrap().status, Some(RunStatus::Exited(0)));
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn missing_program_is_named() {
        let missing = Command::new("/nonexistent/assistant");
        let ended = missing.stream(limits(Duration::from_secs(1)), &CancellationToken::new(), |_| {}).await;
        assert!(matches!(ended, Err(StartError::NotFound(_))));
    }
}
