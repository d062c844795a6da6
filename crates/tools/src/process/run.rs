//! Running a command to completion within limits.
//!
//! A run ends when the process exits, not when its pipes close: buffered output is still read, but a
//! grandchild that keeps a pipe open does not block the run. Dropping a run kills its process group.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use tokio::time::{Instant, sleep_until, timeout};

use super::command::{Command, StartError, Stdin};
use super::group::OwnedGroup;
use super::output::{Limits, Output, ProcessStatus};
use super::work::{ProcessTreeSample, TransferState, sample_process_tree, transfer_state};

/// After the process exited, a pipe without data for this long counts as fully read.
const DRAIN_IDLE: Duration = Duration::from_millis(100);
/// Upper bound on reading after the process exited, for a grandchild that keeps writing.
const DRAIN_TOTAL: Duration = Duration::from_secs(2);

impl Command {
    /// Runs to completion. Dropping the future kills the process group.
    ///
    /// # Errors
    /// Fails with [`StartError`] when the process cannot be started. Everything later is reported as a
    /// [`ProcessStatus`].
    pub async fn run(&self, limits: Limits) -> Result<Output, StartError> {
        let (stdin, input) = match &self.stdin {
            Stdin::Null => (std::process::Stdio::null(), &[][..]),
            Stdin::Bytes(bytes) => (std::process::Stdio::piped(), &bytes[..]),
        };
        let (mut group, pipes) = self.spawn_piped(stdin).await?;
        let feed = feed(pipes.stdin, input);
        let mut out = Capture::new(pipes.stdout, limits.output);
        let mut err = Capture::new(pipes.stderr, limits.output);

        let mut deadline = Deadline::new(&group, limits);
        let status = read_until_exit(&mut group, &mut out, &mut err, feed, &mut deadline).await;
        if matches!(status, ProcessStatus::TimedOut | ProcessStatus::OutputTooLarge) {
            group.terminate(limits.grace).await;
        }
        Ok(Output {
            status,
            stdout: out.bytes,
            stderr: err.bytes,
            last_program: deadline.sample.last_started,
        })
    }

    /// Runs to completion even when the future is dropped. For commands that must not be interrupted, such as
    /// a commit.
    ///
    /// # Errors
    /// As [`Command::run`].
    pub async fn run_to_completion(&self, limits: Limits) -> Result<Output, StartError> {
        let command = self.clone();
        // A spawned task is not cancelled when its join handle is dropped.
        match tokio::spawn(async move { command.run(limits).await }).await {
            Ok(result) => result,
            Err(error) => Err(StartError::Refused {
                program: self.program_name(),
                source: std::io::Error::other(error.to_string()),
            }),
        }
    }
}

async fn read_until_exit(
    group: &mut OwnedGroup,
    out: &mut Capture<impl AsyncRead + Unpin>,
    err: &mut Capture<impl AsyncRead + Unpin>,
    feed: impl Future<Output = ()>,
    deadline: &mut Deadline,
) -> ProcessStatus {
    tokio::pin!(feed);
    let mut feeding = true;
    loop {
        tokio::select! {
            () = &mut feed, if feeding => feeding = false,
            () = out.read(), if out.open() => deadline.note_activity(),
            () = err.read(), if err.open() => deadline.note_activity(),
            () = sleep_until(deadline.next_check) => {
                if deadline.is_over().await {
                    return ProcessStatus::TimedOut;
                }
            }
            status = group.wait() => {
                if !drain(out, err).await {
                    return ProcessStatus::OutputTooLarge;
                }
                return status;
            }
        }
        if out.overflowed || err.overflowed {
            return ProcessStatus::OutputTooLarge;
        }
    }
}

/// Parts of an idle limit after which the activity is compared.
const CHECKS: u32 = 4;

/// Decides when the time of a run is over.
struct Deadline {
    limits: Limits,
    pid: Option<u32>,
    last_activity: Instant,
    next_check: Instant,
    /// The process tree at the last check.
    sample: ProcessTreeSample,
    transfer: TransferState,
}

impl Deadline {
    fn new(group: &OwnedGroup, limits: Limits) -> Self {
        let now = Instant::now();
        let next_check = now + if limits.idle { limits.time / CHECKS } else { limits.time };
        let (sample, transfer) = (ProcessTreeSample::default(), TransferState::default());
        Self { limits, pid: group.pid(), last_activity: now, next_check, sample, transfer }
    }

    fn note_activity(&mut self) {
        if self.limits.idle {
            self.last_activity = Instant::now();
        }
    }

    /// Returns whether the run must end, at the time of a check.
    async fn is_over(&mut self) -> bool {
        let Some(pid) = self.pid else { return true };
        // Taken before the sample: reading the process table can take seconds on a loaded machine, and output waits
        // in the pipe until then.
        let now = Instant::now();
        let read = move || {
            let sample = sample_process_tree(pid)?;
            let transfer = transfer_state(&sample.pids);
            Some((sample, transfer))
        };
        let read = tokio::task::spawn_blocking(read).await.ok().flatten();
        let Some((sample, transfer)) = read else { return true };
        // A program can send megabytes within the resolution of the processor time, which is 10 ms.
        let worked = sample.cpu_ms > self.sample.cpu_ms || transfer != self.transfer;
        if self.limits.idle && worked {
            self.last_activity = now;
        }
        (self.sample, self.transfer) = (sample, transfer);
        self.next_check = Instant::now() + self.limits.time / CHECKS;
        now.duration_since(self.last_activity) >= self.limits.time
    }
}

/// Reads the remaining data in the pipes. Returns `false` when a stream exceeded its cap.
async fn drain(out: &mut Capture<impl AsyncRead + Unpin>, err: &mut Capture<impl AsyncRead + Unpin>) -> bool {
    let end = Instant::now() + DRAIN_TOTAL;
    while out.open() || err.open() {
        let step = async {
            tokio::select! {
                () = out.read(), if out.open() => {}
                () = err.read(), if err.open() => {}
            }
        };
        let idle = end.saturating_duration_since(Instant::now()).min(DRAIN_IDLE);
        if timeout(idle, step).await.is_err() {
            break;
        }
    }
    !(out.overflowed || err.overflowed)
}

async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        // A process may exit without reading its input, which fails with EPIPE. Its exit code is what
        // matters.
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
}

/// An output stream, collected up to a cap.
struct Capture<R> {
    source: Option<R>,
    bytes: Vec<u8>,
    cap: usize,
    overflowed: bool,
}

impl<R: AsyncRead + Unpin> Capture<R> {
    fn new(source: Option<R>, cap: usize) -> Self {
        Self { source, bytes: Vec::new(), cap, overflowed: false }
    }

    fn open(&self) -> bool {
        self.source.is_some() && !self.overflowed
    }

    /// Reads once. End of file or an error closes the stream. Cancel-safe.
    async fn read(&mut self) {
        let Some(source) = &mut self.source else { return };
        match source.read_buf(&mut self.bytes).await {
            Ok(0) | Err(_) => self.source = None,
            Ok(_) => {
                self.overflowed = self.bytes.len() > self.cap;
                self.bytes.truncate(self.cap);
            }
        }
    }
}
