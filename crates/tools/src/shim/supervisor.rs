//! The shim process: one thread, one program, one socket.
//!
//! Survives its parent, SIGHUP, closed standard streams and a full disk. SIGTERM terminates the program, its
//! descendants, and then the shim. Prints nothing after its start report.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use loopgate_home::untrusted;
use rustix::fs::Mode;
use rustix::process::WaitOptions;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::process::ChildStdout;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use super::address::ShortPath;
use super::descendants::{Descendants, Termination};
use super::protocol::{ShimReply, ShimRequest, ShimState, StartReport, line};
use super::{Exit, Spec, handle, jsonl};
use crate::process::{Command, StartError, identity};

/// Grace period for descendants after the program itself has exited.
const LEFTOVER_GRACE: Duration = Duration::from_secs(2);
/// Grace period for all processes after the shim received SIGTERM or SIGINT.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// Interval between checks of the processes that were signalled.
const POLL: Duration = Duration::from_millis(25);
/// How long output is copied after all known writers have exited. A process outside the tree may keep the
/// pipe open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long writing the exit file is retried, for example while the disk is full.
const RECORD_TIMEOUT: Duration = Duration::from_secs(600);
const RECORD_RETRY: Duration = Duration::from_secs(1);
/// How long a client that is connected at the end may take to send its request.
const LAST_REQUEST_TIMEOUT: Duration = Duration::from_millis(100);
/// Timeout of the last replies, after which clients that do not read are disconnected.
const LAST_REPLY_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of concurrent connections, well below the limit on open files.
const MAX_CLIENTS: usize = 64;
/// Largest accepted specification, in bytes.
const SPEC_CAP: u64 = 16 * 1024 * 1024;

pub(super) fn main(spec: &Path) -> ExitCode {
    let supervised = read_spec(spec).and_then(|spec| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(supervise(spec))
    });
    match supervised {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&StartReport::Failed { code: "SPAWN".to_owned(), message: error.to_string() });
            ExitCode::FAILURE
        }
    }
}

fn read_spec(spec: &Path) -> io::Result<Spec> {
    let mut text = Vec::new();
    if spec == Path::new("-") {
        io::stdin().take(SPEC_CAP).read_to_end(&mut text)?;
    } else {
        File::open(spec)?.take(SPEC_CAP).read_to_end(&mut text)?;
    }
    Ok(serde_json::from_slice(&text)?)
}

async fn supervise(spec: Spec) -> io::Result<()> {
    // Fails with EPERM when the runtime already started this process as a session leader.
    let _ = rustix::process::setsid();
    let complete_tree = adopt_orphans();
    let signals = SupervisorSignals::new()?;
    let listener = listen(&spec.socket)?;
    let started = start(&spec);
    let supervisor = match started {
        Ok((child, output)) => ShimSupervisor::new(spec, complete_tree, child, output),
        Err(error) => {
            let _ = std::fs::remove_file(&spec.socket);
            report(&StartReport::Failed { code: error.code().to_owned(), message: error.to_string() });
            return Ok(());
        }
    };
    report(&StartReport::Started(supervisor.progress.borrow().state.clone()));
    detach_from_starter();
    supervisor.run(listener, signals).await;
    Ok(())
}

/// Makes this process a subreaper, so that orphaned descendants become its children. Returns whether the
/// kernel supports that.
fn adopt_orphans() -> bool {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        false
    }
}

/// Releases the starter's pipes and working directory, which would otherwise stay open or busy as long as the
/// shim runs.
fn detach_from_starter() {
    let _ = rustix::process::chdir("/");
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// Prints the report to the starter. Errors are ignored: the starter may have exited.
fn report(report: &StartReport) {
    let mut stdout = io::stdout();
    let _ = stdout.write_all(&line(report)).and_then(|()| stdout.flush());
}

/// Binds the socket, accessible by its owner only. Replaces a stale socket, on which no process accepts
/// connections.
fn listen(socket: &Path) -> io::Result<UnixListener> {
    let short = ShortPath::of(socket)?;
    if std::os::unix::net::UnixStream::connect(short.as_path()).is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another shim is already running for this loop",
        ));
    }
    // A socket without a listener refuses connections, but `bind` fails while its file exists.
    let _ = std::fs::remove_file(socket);
    // Set before the bind: a chmod afterwards would leave a moment in which others could connect.
    let before = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let listener = UnixListener::bind(short.as_path());
    rustix::process::umask(before);
    listener
}

/// Starts the program. With a JSON file, the shim copies its standard output; otherwise it is redirected to
/// the log and does not depend on the shim.
fn start(spec: &Spec) -> Result<(u32, Option<JoinHandle<()>>), StartError> {
    let command = Command::new(&spec.program).args(&spec.args).directory(&spec.cwd);
    let refused = |source| StartError::Refused { program: command.program_name(), source };
    let _ = untrusted::remove(&spec.exit_file);
    let stdin = match &spec.stdin_file {
        Some(file) => Stdio::from(untrusted::open(file).map_err(refused)?),
        None => Stdio::null(),
    };
    let log = untrusted::append(&spec.stdout).map_err(refused)?;
    let stderr = untrusted::append(&spec.stderr).map_err(refused)?;
    let Some(jsonl) = &spec.jsonl else {
        return Ok((command.spawn_unreaped(stdin, log, stderr)?.id(), None));
    };
    let jsonl = untrusted::append(jsonl).map_err(refused)?;
    let mut child = command.spawn_unreaped(stdin, Stdio::piped(), stderr)?;
    let copying = child.stdout.take().and_then(|stdout| ChildStdout::from_std(stdout).ok());
    let copying = copying.map(|stdout| tokio::spawn(jsonl::copy(stdout, log, jsonl)));
    Ok((child.id(), copying))
}

struct SupervisorSignals {
    child: Signal,
    stop: [Signal; 2],
    /// Received without effect. Without a handler they would terminate the shim.
    ignored: [Signal; 2],
}

impl SupervisorSignals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            child: signal(SignalKind::child())?,
            stop: [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?],
            ignored: [signal(SignalKind::hangup())?, signal(SignalKind::quit())?],
        })
    }

    /// Waits for a relevant signal. Returns `true` for a request to stop and `false` for SIGCHLD.
    async fn next(&mut self) -> bool {
        let [terminate, interrupt] = &mut self.stop;
        let [hang_up, quit] = &mut self.ignored;
        loop {
            tokio::select! {
                _ = self.child.recv() => return false,
                _ = terminate.recv() => return true,
                _ = interrupt.recv() => return true,
                _ = hang_up.recv() => {}
                _ = quit.recv() => {}
            }
        }
    }
}

/// The state that clients observe.
#[derive(Clone)]
struct StatusUpdate {
    state: ShimState,
    /// Whether all processes have exited.
    finished: bool,
}

struct ShimSupervisor {
    spec: Spec,
    descendants: Descendants,
    child: u32,
    exit: Option<Exit>,
    termination: Option<Termination>,
    output: Option<JoinHandle<()>>,
    progress: watch::Sender<StatusUpdate>,
}

impl ShimSupervisor {
    fn new(spec: Spec, complete_tree: bool, child: u32, output: Option<JoinHandle<()>>) -> Self {
        let state = ShimState {
            loop_id: spec.loop_id,
            shim_pid: std::process::id(),
            pid: child,
            started: identity(child),
            exit: None,
            exit_file: spec.exit_file.clone(),
        };
        let descendants = Descendants { loop_id: spec.loop_id, complete_tree };
        let progress = watch::Sender::new(StatusUpdate { state, finished: false });
        Self { spec, descendants, child, exit: None, termination: None, output, progress }
    }

    async fn run(mut self, listener: UnixListener, mut signals: SupervisorSignals) {
        let mut clients = Clients::new(listener, self.progress.subscribe());
        let mut poll = interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                stop = signals.next() => if stop { self.terminate_within(STOP_GRACE) },
                // SIGCHLD does not report the exit of grandchildren, and SIGKILL is due at a time, so both
                // are polled.
                grace = clients.next() => if let Some(grace) = grace { self.terminate_within(grace) },
                _ = poll.tick(), if self.termination.is_some() => {}
            }
            self.reap();
            if self.is_finished() {
                break;
            }
        }
        // A process that was running at the last check may have exited since.
        self.reap();
        if let Some(output) = self.output.take() {
            // After a timeout the output is incomplete, which is better than a shim that never ends.
            let _ = timeout(OUTPUT_TIMEOUT, output).await;
        }
        self.record(&mut clients).await;
        clients.finish().await;
    }

    fn terminate_within(&mut self, grace: Duration) {
        match &mut self.termination {
            Some(termination) => termination.shorten(grace),
            None => self.termination = Some(Termination::within(grace)),
        }
    }

    /// Reaps every child that has exited, including adopted orphans.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if u32::try_from(pid.as_raw_nonzero().get()) == Ok(self.child) && self.exit.is_none() {
                let exit = Exit::now(status);
                // Written already here, so that the status survives if the shim is killed; written again at
                // the end.
                let _ = exit.write(&self.spec.exit_file);
                self.progress.send_modify(|progress| progress.state.exit = Some(exit.clone()));
                self.exit = Some(exit);
                // Background processes of the program must not outlive it.
                self.terminate_within(LEFTOVER_GRACE);
            }
        }
    }

    /// Signals the remaining processes. Returns whether none is left.
    fn is_finished(&mut self) -> bool {
        let Some(termination) = &mut self.termination else { return false };
        // When the process table cannot be read, the processes are taken to be running until the time-out.
        let has_ended = self.descendants.running().is_ok_and(|running| {
            termination.signal(&running);
            running.is_empty()
        });
        // Without an exit status there is nothing to record, so the program itself is waited for without a
        // limit.
        self.exit.is_some() && (has_ended || termination.timed_out())
    }

    /// Writes the exit file, removes the socket, and then notifies the clients. When the disk is full, the
    /// clients are notified first, and the socket is kept until the file is written.
    async fn record(&mut self, clients: &mut Clients) {
        let Some(mut exit) = self.exit.take() else { return };
        exit.measure();
        let mut written = self.try_record(&exit);
        if written {
            let _ = std::fs::remove_file(&self.spec.socket);
        }
        self.progress.send_modify(|progress| {
            progress.state.exit = Some(exit.clone());
            progress.finished = true;
        });
        if written {
            return;
        }
        let until = Instant::now() + RECORD_TIMEOUT;
        while !written && Instant::now() < until {
            let _ = timeout(RECORD_RETRY, clients.next()).await;
            written = self.try_record(&exit);
        }
        let _ = std::fs::remove_file(&self.spec.socket);
    }

    /// Returns whether the exit file is written, or cannot be, because its directory was removed.
    fn try_record(&self, exit: &Exit) -> bool {
        match exit.write(&self.spec.exit_file) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// The socket and all open connections.
struct Clients {
    listener: UnixListener,
    connections: JoinSet<()>,
    progress: watch::Receiver<StatusUpdate>,
    kills: (mpsc::Sender<Duration>, mpsc::Receiver<Duration>),
}

impl Clients {
    fn new(listener: UnixListener, progress: watch::Receiver<StatusUpdate>) -> Self {
        Self { listener, connections: JoinSet::new(), progress, kills: mpsc::channel(8) }
    }

    /// Serves clients until one requests the termination, and returns its grace period. Cancel-safe.
    async fn next(&mut self) -> Option<Duration> {
        loop {
            tokio::select! {
                grace = self.kills.1.recv() => return grace,
                _ = self.connections.join_next(), if !self.connections.is_empty() => {}
                accepted = self.listener.accept(), if self.connections.len() < MAX_CLIENTS => match accepted {
                    Ok((stream, _)) if is_owner(&stream) => {
                        self.connections.spawn(serve(stream, self.progress.clone(), self.kills.0.clone()));
                    }
                    Ok(_) => {}
                    // Most likely EMFILE. Accepting immediately again would spin until a descriptor is
                    // closed.
                    Err(_) => sleep(POLL).await,
                },
            }
        }
    }

    /// Gives clients that wait for the end time to receive the last reply.
    async fn finish(mut self) {
        // New clients are refused from here on, and read the exit file instead.
        drop(self.listener);
        let _ = timeout(LAST_REPLY_TIMEOUT, async { while self.connections.join_next().await.is_some() {} })
            .await;
    }
}

fn is_owner(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

async fn serve(
    stream: UnixStream,
    mut progress: watch::Receiver<StatusUpdate>,
    kills: mpsc::Sender<Duration>,
) {
    let mut stream = BufReader::new(stream);
    loop {
        let request = tokio::select! {
            request = handle::read::<ShimRequest>(&mut stream) => request,
            // At the end, an idle connection is closed. Its client may be sending a request right now, which
            // is answered.
            () = finished(&mut progress) => {
                match timeout(LAST_REQUEST_TIMEOUT, handle::read::<ShimRequest>(&mut stream)).await {
                    Ok(request) => request,
                    Err(_) => return,
                }
            }
        };
        let reply = match request {
            Ok(None) => return,
            Ok(Some(ShimRequest::ShimState)) => ShimReply::ShimState(progress.borrow().state.clone()),
            Ok(Some(ShimRequest::Kill { grace_ms })) => {
                // Fails only after the receiver was dropped, at the end of the shim.
                let _ = kills.send(Duration::from_millis(grace_ms)).await;
                ShimReply::Killing
            }
            Ok(Some(ShimRequest::Wait)) => {
                finished(&mut progress).await;
                let exit = progress.borrow().state.exit.clone();
                if let Some(exit) = exit {
                    let _ = stream.write_all(&line(&ShimReply::Ended(exit))).await;
                }
                return;
            }
            Err(error) => ShimReply::Error(error.to_string()),
        };
        let failed = matches!(reply, ShimReply::Error(_));
        if stream.write_all(&line(&reply)).await.is_err() || failed {
            return;
        }
    }
}

async fn finished(progress: &mut watch::Receiver<StatusUpdate>) {
    let _ = progress.wait_for(|progress| progress.finished).await;
}
