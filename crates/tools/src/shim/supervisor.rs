//! The shim itself: one thread, one program, one socket.
//!
//! Survives its parent, hang-ups, closed standard streams and a full disk. SIGTERM ends what it
//! watches and then itself. Prints nothing after its report.

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

/// What descendants get to end after the program itself has ended.
const LEFTOVER_GRACE: Duration = Duration::from_secs(2);
/// What everything gets to end when the shim is told to.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// How often those that were signalled are looked at.
const POLL: Duration = Duration::from_millis(25);
/// How long output is still copied after everybody who could write it is gone.
const LAST_OUTPUT: Duration = Duration::from_secs(2);
/// How long, and how often, writing the exit is tried.
const RECORD_TIME: Duration = Duration::from_secs(600);
const RECORD_RETRY: Duration = Duration::from_secs(1);
/// How long a client that is connected at the end may take to ask something.
const LAST_REQUEST: Duration = Duration::from_millis(100);
/// How long the last answers may take.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Clients at a time.
const CLIENTS: usize = 64;
/// A specification may have this many bytes.
const SPEC_CAP: u64 = 16 * 1024 * 1024;

/// See [`super::main`].
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
    // Already the leader of a session when started by the runtime; the call fails then.
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
    leave_starter();
    supervisor.run(listener, signals).await;
    Ok(())
}

/// Makes orphaned descendants children of this process, where the kernel can.
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

/// Lets go of the starter's pipes and directory.
fn leave_starter() {
    let _ = rustix::process::chdir("/");
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// One line to the starter, who may be gone.
fn report(report: &StartReport) {
    let mut stdout = io::stdout();
    let _ = stdout.write_all(&line(report)).and_then(|()| stdout.flush());
}

/// Listens where only the owner can connect. A socket that nobody serves any more is replaced.
fn listen(socket: &Path) -> io::Result<UnixListener> {
    let short = ShortPath::of(socket)?;
    if std::os::unix::net::UnixStream::connect(short.as_path()).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another process already watches this loop"));
    }
    let _ = std::fs::remove_file(socket);
    let before = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let listener = UnixListener::bind(short.as_path());
    rustix::process::umask(before);
    listener
}

/// Starts the program; with a JSON file its standard output comes through here, else it goes
/// straight to its log and needs the shim no more.
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
    /// Handled only so that they do not end the process.
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

    /// Waits for a signal that matters: `true` to stop, `false` for a child.
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

/// What clients see.
#[derive(Clone)]
struct StatusUpdate {
    state: ShimState,
    /// Everything is gone.
    over: bool,
}

struct ShimSupervisor {
    spec: Spec,
    descendants: Descendants,
    child: u32,
    exit: Option<Exit>,
    ending: Option<Termination>,
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
        let progress = watch::Sender::new(StatusUpdate { state, over: false });
        Self { spec, descendants, child, exit: None, ending: None, output, progress }
    }

    async fn run(mut self, listener: UnixListener, mut signals: SupervisorSignals) {
        let mut clients = Clients::new(listener, self.progress.subscribe());
        let mut poll = interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                stop = signals.next() => if stop { self.end_within(STOP_GRACE) },
                grace = clients.next() => if let Some(grace) = grace { self.end_within(grace) },
                _ = poll.tick(), if self.ending.is_some() => {}
            }
            self.reap();
            if self.is_over() {
                break;
            }
        }
        // Whoever was still running at the last look may have ended since.
        self.reap();
        if let Some(output) = self.output.take() {
            let _ = timeout(LAST_OUTPUT, output).await;
        }
        self.record(&mut clients).await;
        clients.finish().await;
    }

    fn end_within(&mut self, grace: Duration) {
        match &mut self.ending {
            Some(ending) => ending.hurry(grace),
            None => self.ending = Some(Termination::within(grace)),
        }
    }

    /// Collects every child that ended, adopted ones included.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if u32::try_from(pid.as_raw_nonzero().get()) == Ok(self.child) && self.exit.is_none() {
                let exit = Exit::now(status);
                // Already now, so that no accident of the shim can lose it; again at the end.
                let _ = exit.write(&self.spec.exit_file);
                self.progress.send_modify(|progress| progress.state.exit = Some(exit.clone()));
                self.exit = Some(exit);
                self.end_within(LEFTOVER_GRACE);
            }
        }
    }

    /// Signals who is left, and tells whether nobody is.
    fn is_over(&mut self) -> bool {
        let Some(ending) = &mut self.ending else { return false };
        let running = self.descendants.running();
        ending.signal(&running);
        // Never gone while the program itself is there, whatever it takes.
        self.exit.is_some() && (running.is_empty() || ending.hopeless())
    }

    /// Writes the exit, removes the socket, and only then tells the clients that all is over. While
    /// the disk refuses, they are told first, and the socket stays.
    async fn record(&mut self, clients: &mut Clients) {
        let Some(mut exit) = self.exit.take() else { return };
        exit.measure();
        let mut written = self.try_record(&exit);
        if written {
            let _ = std::fs::remove_file(&self.spec.socket);
        }
        self.progress.send_modify(|progress| {
            progress.state.exit = Some(exit.clone());
            progress.over = true;
        });
        if written {
            return;
        }
        let until = Instant::now() + RECORD_TIME;
        while !written && Instant::now() < until {
            let _ = timeout(RECORD_RETRY, clients.next()).await;
            written = self.try_record(&exit);
        }
        let _ = std::fs::remove_file(&self.spec.socket);
    }

    /// Whether the exit is written, or nobody wants it: its directory is gone.
    fn try_record(&self, exit: &Exit) -> bool {
        match exit.write(&self.spec.exit_file) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// Everybody who is connected.
struct Clients {
    listener: UnixListener,
    talks: JoinSet<()>,
    progress: watch::Receiver<StatusUpdate>,
    kills: (mpsc::Sender<Duration>, mpsc::Receiver<Duration>),
}

impl Clients {
    fn new(listener: UnixListener, progress: watch::Receiver<StatusUpdate>) -> Self {
        Self { listener, talks: JoinSet::new(), progress, kills: mpsc::channel(8) }
    }

    /// Serves clients until one asks for the end, and returns the grace that it gives. Safe to drop
    /// and call again.
    async fn next(&mut self) -> Option<Duration> {
        loop {
            tokio::select! {
                grace = self.kills.1.recv() => return grace,
                _ = self.talks.join_next(), if !self.talks.is_empty() => {}
                accepted = self.listener.accept(), if self.talks.len() < CLIENTS => match accepted {
                    Ok((stream, _)) if is_owner(&stream) => {
                        self.talks.spawn(talk(stream, self.progress.clone(), self.kills.0.clone()));
                    }
                    Ok(_) => {}
                    // Out of descriptors, most likely; that passes.
                    Err(_) => sleep(POLL).await,
                },
            }
        }
    }

    /// Gives those who wait for the end a moment to hear of it.
    async fn finish(mut self) {
        drop(self.listener);
        let _ = timeout(LAST_WORDS, async { while self.talks.join_next().await.is_some() {} }).await;
    }
}

fn is_owner(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

async fn talk(
    stream: UnixStream,
    mut progress: watch::Receiver<StatusUpdate>,
    kills: mpsc::Sender<Duration>,
) {
    let mut stream = BufReader::new(stream);
    loop {
        let request = tokio::select! {
            request = handle::read::<ShimRequest>(&mut stream) => request,
            // One that holds its connection without a word gets its end of file.
            () = over(&mut progress) => {
                match timeout(LAST_REQUEST, handle::read::<ShimRequest>(&mut stream)).await {
                    Ok(request) => request,
                    Err(_) => return,
                }
            }
        };
        let reply = match request {
            Ok(None) => return,
            Ok(Some(ShimRequest::ShimState)) => ShimReply::ShimState(progress.borrow().state.clone()),
            Ok(Some(ShimRequest::Kill { grace_ms })) => {
                let _ = kills.send(Duration::from_millis(grace_ms)).await;
                ShimReply::Killing
            }
            Ok(Some(ShimRequest::Wait)) => {
                over(&mut progress).await;
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

async fn over(progress: &mut watch::Receiver<StatusUpdate>) {
    let _ = progress.wait_for(|progress| progress.over).await;
}
