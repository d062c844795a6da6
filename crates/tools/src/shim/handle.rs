//! The runtime's side of a shim: start, re-attach, query, terminate.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::names::env;
use loopgate_home::untrusted;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout};

use super::address::ShortPath;
use super::descendants::processes_of_loop;
use super::protocol::{LINE_CAP, ShimReply, ShimRequest, ShimState, StartReport, line};
use super::{Exit, Spec};
use crate::process::{Command, StartError};

/// Timeout from the start of the shim to the start of its program. Includes two `execve` on a loaded machine.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a shim whose starter died may take to create its socket. Its start report was lost with the
/// starter.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(5);
const SOCKET_POLL: Duration = Duration::from_millis(20);
/// Timeout of a state request, which the shim answers from memory.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// Time in addition to the grace period for a termination: the shim waits up to ten seconds after SIGKILL,
/// and then copies remaining output.
const TERMINATION_MARGIN: Duration = Duration::from_secs(15);
/// How long the shim may take from its last reply to closing the socket.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// An error of a shim or of its program.
#[derive(Debug, Error)]
pub enum ShimError {
    /// The shim itself did not start.
    #[error(transparent)]
    Shim(#[from] StartError),
    /// The program did not start.
    #[error("{message}")]
    Program {
        /// `ENOENT`, `EACCES`, or `SPAWN` for any other error of the operating system.
        code: String,
        /// Error message for the user.
        message: String,
    },
    /// The shim did not answer within the timeout, or its answer was invalid.
    #[error("the shim process does not respond")]
    Unresponsive,
    /// The shim is not running and left no exit file: it was killed.
    #[error("the shim process was killed")]
    Lost,
    /// An input or output error of a file or of the socket.
    #[error("the shim process cannot be reached: {0}")]
    Io(#[from] io::Error),
}

/// The address of a shim that is or was running.
#[derive(Debug, Clone)]
pub struct ShimHandle {
    socket: PathBuf,
    exit_file: PathBuf,
}

/// Starts a shim and returns when its program runs. The shim outlives this process.
///
/// # Errors
/// Fails with [`ShimError`]; no process is running then.
pub async fn spawn(loopgate: &Path, spec: &Spec) -> Result<(ShimHandle, ShimState), ShimError> {
    // The shim changes its working directory to `/`, where a relative path would mean another file.
    if !spec.paths().all(Path::is_absolute) {
        return Err(
            io::Error::new(io::ErrorKind::InvalidInput, "all paths of a shim must be absolute").into()
        );
    }
    let stderr = untrusted::append(&spec.stderr)?;
    let command = Command::new(loopgate)
        .args(["shim", "-"])
        .environment(spec.env.clone())
        .env(env::LOOP_ID, spec.loop_id.to_string())
        .session();
    let mut child = command.spawn_with(Stdio::piped(), Stdio::piped(), stderr)?;
    let handshake = async {
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&serde_json::to_vec(spec).map_err(io::Error::other)?).await?;
            stdin.shutdown().await?;
        }
        let stdout = child.stdout.take().ok_or(ShimError::Unresponsive)?;
        read::<StartReport>(&mut BufReader::new(stdout)).await?.ok_or(ShimError::Unresponsive)
    };
    match timeout(START_TIMEOUT, handshake).await {
        Ok(Ok(StartReport::Started(state))) => {
            let handle = ShimHandle { socket: spec.socket.clone(), exit_file: spec.exit_file.clone() };
            Ok((handle, state))
        }
        Ok(Ok(StartReport::Failed { code, message })) => Err(ShimError::Program { code, message }),
        failure => {
            // The shim may have started its program without reporting it, so everything with its mark is
            // terminated.
            super::reap(spec.loop_id, Duration::ZERO).await;
            let _ = child.start_kill();
            Err(failure
                .map_or(ShimError::Unresponsive, |report| report.err().unwrap_or(ShimError::Unresponsive)))
        }
    }
}

/// Re-attaches to a shim by its socket and exit file. Returns `None` when the shim is not running; the exit
/// file then has the exit status, unless the shim was killed.
pub async fn attach(socket: &Path, exit_file: &Path) -> Option<ShimHandle> {
    let handle = ShimHandle { socket: socket.to_owned(), exit_file: exit_file.to_owned() };
    match handle.state().await {
        // Checked by a request rather than a connect: the kernel accepts connections into the backlog of a
        // process that is exiting.
        Err(ShimError::Lost) => None,
        // A shim that accepts the connection is alive, even when it is too busy to answer in time.
        _ => Some(handle),
    }
}

/// Re-attaches to a shim whose starter died during the start: a shim without a socket has [`SOCKET_TIMEOUT`]
/// to create it. Returns `None` when the shim is not running, or exited before it started its program;
/// [`has_started`] distinguishes the two.
pub async fn attach_starting(loop_id: LoopId, socket: &Path, exit_file: &Path) -> Option<ShimHandle> {
    let until = Instant::now() + SOCKET_TIMEOUT;
    loop {
        // Checked before the connection attempt: a shim that creates its socket in between is then found by
        // the attempt.
        let socket_path = socket.to_owned();
        let check = tokio::task::spawn_blocking(move || {
            !socket_path.exists() && !processes_of_loop(loop_id).is_ok_and(|running| running.is_empty())
        });
        let may_appear = check.await.unwrap_or(false) && Instant::now() < until;
        if let Some(shim) = attach(socket, exit_file).await {
            return Some(shim);
        }
        if !may_appear {
            return None;
        }
        sleep(SOCKET_POLL).await;
    }
}

/// Returns whether a shim that is not running has started its program. A shim creates its socket before that,
/// and removes it only after the exit file was written. Blocks.
#[must_use]
pub fn has_started(socket: &Path, exit_file: &Path) -> bool {
    socket.exists() || exit_file.exists()
}

fn means_not_running(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | ConnectionRefused | ConnectionReset | BrokenPipe)
}

impl ShimHandle {
    /// Returns the state of the program.
    ///
    /// # Errors
    /// Fails with [`ShimError::Lost`] when the shim is not running, and with [`ShimError::Unresponsive`] when it
    /// does not answer.
    pub async fn state(&self) -> Result<ShimState, ShimError> {
        let reply = timeout(REPLY_TIMEOUT, async {
            let mut stream = self.open().await?;
            match request_reply(&mut stream, &ShimRequest::ShimState).await {
                Ok(Some(ShimReply::ShimState(state))) => Ok(state),
                Ok(Some(_)) => Err(ShimError::Unresponsive),
                Ok(None) => Err(ShimError::Lost),
                Err(error) if means_not_running(&error) => Err(ShimError::Lost),
                Err(error) => Err(error.into()),
            }
        });
        reply.await.map_err(|_| ShimError::Unresponsive)?
    }

    /// Terminates the program and all its descendants: SIGTERM, the grace period, SIGKILL. Returns when none
    /// is left.
    ///
    /// # Errors
    /// Fails with [`ShimError::Lost`] when the shim is not running and left no exit file, and with
    /// [`ShimError::Unresponsive`] when the termination takes much longer than the grace period.
    pub async fn kill(&self, grace: Duration) -> Result<Exit, ShimError> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let reply = timeout(grace.saturating_add(TERMINATION_MARGIN), async {
            match self.open().await {
                Ok(mut stream) => {
                    request_reply(&mut stream, &ShimRequest::Kill { grace_ms }).await?;
                    self.wait_for_end(&mut stream).await
                }
                Err(ShimError::Lost) => self.read_exit(),
                Err(error) => Err(error),
            }
        });
        reply.await.map_err(|_| ShimError::Unresponsive)?
    }

    /// Waits without a timeout until the program and all its descendants have exited.
    ///
    /// # Errors
    /// Fails with [`ShimError::Lost`] when the shim was killed and left no exit file.
    pub async fn wait(&self) -> Result<Exit, ShimError> {
        match self.open().await {
            Ok(mut stream) => self.wait_for_end(&mut stream).await,
            Err(ShimError::Lost) => self.read_exit(),
            Err(error) => Err(error),
        }
    }

    async fn wait_for_end(&self, stream: &mut BufReader<UnixStream>) -> Result<Exit, ShimError> {
        match request_reply(stream, &ShimRequest::Wait).await {
            Ok(Some(ShimReply::Ended(exit))) => {
                // The shim closes the connection after the exit is on disk and the socket removed. A caller
                // that returned earlier could still see a live socket.
                let _ = timeout(CLOSE_TIMEOUT, stream.read_u8()).await;
                Ok(exit)
            }
            Ok(Some(_)) => Err(ShimError::Unresponsive),
            Ok(None) | Err(_) => self.read_exit(),
        }
    }

    fn read_exit(&self) -> Result<Exit, ShimError> {
        Exit::read(&self.exit_file).ok_or(ShimError::Lost)
    }

    async fn open(&self) -> Result<BufReader<UnixStream>, ShimError> {
        match self.connect().await {
            Ok(stream) => Ok(BufReader::new(stream)),
            Err(error) if means_not_running(&error) => Err(ShimError::Lost),
            Err(error) => Err(error.into()),
        }
    }

    // The alias must outlive the connect.
    async fn connect(&self) -> io::Result<UnixStream> {
        let short = ShortPath::of(&self.socket)?;
        UnixStream::connect(short.as_path()).await
    }
}

async fn request_reply(
    stream: &mut BufReader<UnixStream>,
    request: &ShimRequest,
) -> io::Result<Option<ShimReply>> {
    stream.write_all(&line(request)).await?;
    read(stream).await
}

/// Reads one line as JSON. Returns `None` at the end of the stream.
pub(super) async fn read<M: serde::de::DeserializeOwned>(
    stream: &mut BufReader<impl AsyncRead + Unpin>,
) -> io::Result<Option<M>> {
    let mut text = Vec::new();
    stream.take(LINE_CAP).read_until(b'\n', &mut text).await?;
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&text).map(Some).map_err(io::Error::other)
}
