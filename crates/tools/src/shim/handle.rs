//! The runtime's side: starting a shim, finding it again, asking it.

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

/// How long a shim may take to start its program.
const START_TIME: Duration = Duration::from_secs(20);
/// How long a shim without a starter may take to make its socket, and how often it is looked for.
const YOUTH: Duration = Duration::from_secs(5);
const YOUNG_POLL: Duration = Duration::from_millis(20);
/// How long a shim may take to answer a question.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// How much longer than its grace period an end may take.
const END_TIME: Duration = Duration::from_secs(15);
/// How long a shim may take from its last word to the end of file.
const CLOSE_TIME: Duration = Duration::from_secs(2);

/// What can go wrong with a shim.
#[derive(Debug, Error)]
pub enum ShimError {
    /// The shim itself did not start.
    #[error(transparent)]
    Shim(#[from] StartError),
    /// The program did not start: the operating system's name of the error, and a text.
    #[error("{message}")]
    Program {
        /// `ENOENT`, `EACCES` or another.
        code: String,
        /// What to tell a person.
        message: String,
    },
    /// The shim does not answer in time, or nonsense.
    #[error("the process that watches the loop does not answer")]
    Silent,
    /// The shim is gone and left no exit behind: it was killed.
    #[error("the process that watched the loop was killed")]
    Lost,
    /// A file or the socket could not be used.
    #[error("the process that watches the loop cannot be reached: {0}")]
    Io(#[from] io::Error),
}

/// A shim that is, or was, running.
#[derive(Debug, Clone)]
pub struct ShimHandle {
    socket: PathBuf,
    exit_file: PathBuf,
}

/// Starts a shim, and returns when its program runs. The shim outlives this process.
///
/// # Errors
/// [`ShimError`]; nothing is left running then.
pub async fn spawn(loopgate: &Path, spec: &Spec) -> Result<(ShimHandle, ShimState), ShimError> {
    if !spec.paths().all(Path::is_absolute) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "its paths must be absolute").into());
    }
    let complaints = untrusted::append(&spec.stderr)?;
    let command = Command::new(loopgate)
        .args(["shim", "-"])
        .environment(spec.env.clone())
        .env(env::LOOP_ID, spec.loop_id.to_string())
        .session();
    let mut child = command.spawn_with(Stdio::piped(), Stdio::piped(), complaints)?;
    let talk = async {
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&serde_json::to_vec(spec).map_err(io::Error::other)?).await?;
            stdin.shutdown().await?;
        }
        let stdout = child.stdout.take().ok_or(ShimError::Silent)?;
        read::<StartReport>(&mut BufReader::new(stdout)).await?.ok_or(ShimError::Silent)
    };
    match timeout(START_TIME, talk).await {
        Ok(Ok(StartReport::Started(state))) => {
            let handle = ShimHandle { socket: spec.socket.clone(), exit_file: spec.exit_file.clone() };
            Ok((handle, state))
        }
        Ok(Ok(StartReport::Failed { code, message })) => Err(ShimError::Program { code, message }),
        unclear => {
            // Whatever it was about to start ends with it.
            super::reap(spec.loop_id, Duration::ZERO).await;
            let _ = child.start_kill();
            Err(unclear.map_or(ShimError::Silent, |said| said.err().unwrap_or(ShimError::Silent)))
        }
    }
}

/// Finds a shim again by the socket and the exit file that it was started with; `None` when it is
/// gone. Then the exit file tells how its program ended, if the shim could still say so.
pub async fn attach(socket: &Path, exit_file: &Path) -> Option<ShimHandle> {
    let handle = ShimHandle { socket: socket.to_owned(), exit_file: exit_file.to_owned() };
    match handle.state().await {
        // The kernel may still take connections for a process that is being ended.
        Err(ShimError::Lost) => None,
        // Whoever takes connections lives, even when too busy to answer.
        _ => Some(handle),
    }
}

/// Finds the shim again whose starter died while it started it: one that has no socket yet gets a
/// moment to make it. `None` when it is gone, or never came to start anything; then
/// [`has_begun`] tells which.
pub async fn attach_young(loop_id: LoopId, socket: &Path, exit_file: &Path) -> Option<ShimHandle> {
    let until = Instant::now() + YOUTH;
    loop {
        // Looked at before it is called, so that nothing comes unseen in between.
        let place = socket.to_owned();
        let look =
            tokio::task::spawn_blocking(move || !place.exists() && !processes_of_loop(loop_id).is_empty());
        let may_come = look.await.unwrap_or(false) && Instant::now() < until;
        if let Some(shim) = attach(socket, exit_file).await {
            return Some(shim);
        }
        if !may_come {
            return None;
        }
        sleep(YOUNG_POLL).await;
    }
}

/// Whether a shim that is gone came to start its program: it makes its socket before that, and leaves
/// the exit when it takes the socket away. Looks at the disk.
#[must_use]
pub fn has_begun(socket: &Path, exit_file: &Path) -> bool {
    socket.exists() || exit_file.exists()
}

fn means_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | ConnectionRefused | ConnectionReset | BrokenPipe)
}

impl ShimHandle {
    /// How the program is.
    ///
    /// # Errors
    /// [`ShimError::Lost`] when the shim is gone, [`ShimError::Silent`] when it does not answer.
    pub async fn state(&self) -> Result<ShimState, ShimError> {
        let asked = timeout(ANSWER_TIME, async {
            let mut stream = self.reach().await?;
            match ask(&mut stream, &ShimRequest::ShimState).await {
                Ok(Some(ShimReply::ShimState(state))) => Ok(state),
                Ok(Some(_)) => Err(ShimError::Silent),
                Ok(None) => Err(ShimError::Lost),
                Err(error) if means_gone(&error) => Err(ShimError::Lost),
                Err(error) => Err(error.into()),
            }
        });
        asked.await.map_err(|_| ShimError::Silent)?
    }

    /// Ends the program and everything it started: SIGTERM, the grace period, SIGKILL. Returns when
    /// all is gone.
    ///
    /// # Errors
    /// [`ShimError::Lost`] when the shim is gone and left no exit; [`ShimError::Silent`] when the
    /// end takes much longer than the grace period.
    pub async fn kill(&self, grace: Duration) -> Result<Exit, ShimError> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let asked = timeout(grace.saturating_add(END_TIME), async {
            match self.reach().await {
                Ok(mut stream) => {
                    ask(&mut stream, &ShimRequest::Kill { grace_ms }).await?;
                    self.ended(&mut stream).await
                }
                Err(ShimError::Lost) => self.recorded(),
                Err(error) => Err(error),
            }
        });
        asked.await.map_err(|_| ShimError::Silent)?
    }

    /// Waits until the program and everything it started is gone, for as long as that takes.
    ///
    /// # Errors
    /// [`ShimError::Lost`] when the shim was killed and left no exit.
    pub async fn wait(&self) -> Result<Exit, ShimError> {
        match self.reach().await {
            Ok(mut stream) => self.ended(&mut stream).await,
            Err(ShimError::Lost) => self.recorded(),
            Err(error) => Err(error),
        }
    }

    async fn ended(&self, stream: &mut BufReader<UnixStream>) -> Result<Exit, ShimError> {
        match ask(stream, &ShimRequest::Wait).await {
            Ok(Some(ShimReply::Ended(exit))) => {
                // The end of file follows when the exit is on disk and the socket gone.
                let _ = timeout(CLOSE_TIME, stream.read_u8()).await;
                Ok(exit)
            }
            Ok(Some(_)) => Err(ShimError::Silent),
            Ok(None) | Err(_) => self.recorded(),
        }
    }

    fn recorded(&self) -> Result<Exit, ShimError> {
        Exit::read(&self.exit_file).ok_or(ShimError::Lost)
    }

    async fn reach(&self) -> Result<BufReader<UnixStream>, ShimError> {
        match self.connect().await {
            Ok(stream) => Ok(BufReader::new(stream)),
            Err(error) if means_gone(&error) => Err(ShimError::Lost),
            Err(error) => Err(error.into()),
        }
    }

    async fn connect(&self) -> io::Result<UnixStream> {
        let short = ShortPath::of(&self.socket)?;
        UnixStream::connect(short.as_path()).await
    }
}

async fn ask(stream: &mut BufReader<UnixStream>, request: &ShimRequest) -> io::Result<Option<ShimReply>> {
    stream.write_all(&line(request)).await?;
    read(stream).await
}

/// Reads one line as JSON; `None` at the end of the stream.
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
