//! The one task that follows a run: starts its program, reads and stores its output, and ends it when it must.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::chat_event::ChatEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::redact;
use loopgate_home::SandboxedPath;
use loopgate_tools::shim::{self, Exit, RegisteredProcess, ShimError, ShimHandle, Spec};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::output::{GrowingFile, MAX_OUTPUT};
use super::progress::{RunEnd, RunOutcome, RunProgress};
use super::record::{ProviderRun, RunDirectory};
use super::store::RunStore;
use super::{AgentRunsConfig, FallbackRule, SecondAttempt, spawn_blocking};
use crate::provider::{OutputReader, Provider, ProviderProgram, TurnOutput, TurnRequest};

/// Time between SIGTERM and SIGKILL.
pub(super) const KILL_GRACE: Duration = Duration::from_secs(5);
/// How long a program may go on after it said that its turn is over.
const FINISHED_GRACE: Duration = Duration::from_secs(30);
/// Programs that end later than this have worked, whatever they printed.
const NO_WORK_TIME: Duration = Duration::from_secs(60);
/// Bytes of the standard error that are shown, its end.
const STDERR_SHOWN: u64 = 4096;
/// Bytes of the standard error that are searched, its beginning.
const STDERR_SEARCHED: u64 = 64 * 1024;
/// Events that are held in memory before they are stored at once.
const EVENTS_MAX: usize = 4096;

/// A run in the hands of its task.
pub(super) struct RunTask {
    pub(super) config: AgentRunsConfig,
    /// This process stops; the program goes on.
    pub(super) shutdown: CancellationToken,
    /// The program is to end.
    pub(super) cancel: CancellationToken,
    pub(super) id: Uuid,
    pub(super) provider: Arc<dyn Provider>,
    pub(super) directory: RunDirectory,
    pub(super) record: ProviderRun,
    pub(super) progress: watch::Sender<RunProgress>,
    pub(super) attempt: u32,
    pub(super) reader: Box<dyn OutputReader>,
    pub(super) output: TurnOutput,
    /// Events since the output was last stored.
    pub(super) unstored: Vec<ChatEvent>,
    /// Whether the program printed more than it may.
    pub(super) output_exceeded: bool,
    /// Whether the session was stored.
    pub(super) session_stored: bool,
    /// When the output is stored next, because it has grown.
    pub(super) store_at: Option<Instant>,
    /// Absent only while a blocking thread has it.
    pub(super) store: Option<Box<dyn RunStore>>,
}

/// Why the task of a program ends.
enum ProgramEnd {
    /// The program and everything it started is gone.
    Exited(Result<Exit, ShimError>),
    /// It took too long.
    TimedOut,
    /// It printed too much.
    OutputExceeded,
    /// This process stops.
    Shutdown,
}

impl RunTask {
    pub(super) async fn start(
        mut self,
        cwd: SandboxedPath,
        turn: TurnRequest,
        fallback: Option<SecondAttempt>,
    ) {
        let begun = Instant::now();
        match self.run(&cwd, &turn).await {
            Ok(ProgramEnd::Shutdown) => {}
            Ok(end) => {
                let end = self.run_end(end).await;
                match fallback {
                    Some(fallback) if self.needs_fallback(fallback.rule, &end, begun).await => {
                        self.run_fallback(&cwd, fallback.turn).await;
                    }
                    _ => self.finish(end).await,
                }
            }
            Err(error) => self.finish(start_failure(&error)).await,
        }
    }

    async fn run_fallback(mut self, cwd: &SandboxedPath, turn: TurnRequest) {
        self.attempt = 1;
        self.output = TurnOutput::default();
        self.reader = self.provider.reader();
        self.unstored.clear();
        self.session_stored = false;
        let directory = self.directory.clone();
        let prompt = turn.prompt.clone();
        let prepared = spawn_blocking(move || directory.begin_attempt(1, &prompt)).await;
        self.with_store(|store| store.reset()).await;
        self.progress.send_modify(|progress| progress.attempt = 1);
        let ended = match prepared {
            Ok(()) => self.run(cwd, &turn).await,
            Err(error) => return self.finish(start_failure(&error)).await,
        };
        match ended {
            Ok(ProgramEnd::Shutdown) => {}
            Ok(end) => {
                let end = self.run_end(end).await;
                self.finish(end).await;
            }
            Err(error) => self.finish(start_failure(&error)).await,
        }
    }

    /// Continues where an earlier process was: all output is read again.
    pub(super) async fn resume(mut self) {
        self.attempt = self.directory.last_attempt();
        let attempt = self.attempt;
        self.progress.send_modify(|progress| progress.attempt = attempt);
        self.with_store(|store| store.reset()).await;
        let exit = self.directory.exit(attempt);
        let end = match shim::attach(&self.socket(), &exit).await {
            Some(shim) => {
                let pid = shim.state().await.map_or(0, |state| state.pid);
                self.follow(shim, pid).await
            }
            None => {
                shim::reap(LoopId(self.id), KILL_GRACE).await;
                let mut output = GrowingFile::open(&self.directory.output(attempt)).await.ok();
                self.read(&mut output).await;
                self.read_rest(&mut output);
                if self.output_exceeded {
                    ProgramEnd::OutputExceeded
                } else {
                    ProgramEnd::Exited(Exit::read(&exit).ok_or(ShimError::Lost))
                }
            }
        };
        if !matches!(end, ProgramEnd::Shutdown) {
            let end = self.run_end(end).await;
            self.finish(end).await;
        }
    }

    fn socket(&self) -> PathBuf {
        self.config.shims.socket(self.id, "chat")
    }

    async fn run(&mut self, cwd: &SandboxedPath, turn: &TurnRequest) -> Result<ProgramEnd, ShimError> {
        let (environment, guard) = self.config.environment.guarded(&[cwd.canonical()]).await;
        let command = self.provider.command(turn, &guard);
        let program = match command.program {
            ProviderProgram::Known(program) => self.config.programs.resolve(program).await.path,
            ProviderProgram::Path(path) => path,
        };
        let mut env = environment;
        env.extend(command.variables);
        let spec = Spec {
            program,
            args: command.args,
            cwd: cwd.canonical().to_owned(),
            env,
            stdin_file: Some(self.directory.prompt(self.attempt)),
            stdout: self.directory.output(self.attempt),
            stderr: self.directory.stderr(self.attempt),
            jsonl: None,
            exit_file: self.directory.exit(self.attempt),
            socket: self.socket(),
            // Marks every process of the run.
            loop_id: LoopId(self.id),
        };
        let (shim, state) = self.config.shims.spawn(&spec).await?;
        Ok(self.follow(shim, state.pid).await)
    }

    /// Reads until the program and everything it started is gone.
    async fn follow(&mut self, shim: ShimHandle, pid: u32) -> ProgramEnd {
        let about = self.record.about.clone();
        let process = RegisteredProcess { pid, shim: shim.clone(), worktree: None, about };
        self.config.processes.add(self.id, process);
        self.with_store(move |store| store.store_pid(pid)).await;
        self.progress.send_modify(|progress| progress.pid = Some(pid));
        let end = self.follow_output(&shim).await;
        self.config.processes.remove(self.id);
        end
    }

    async fn follow_output(&mut self, shim: &ShimHandle) -> ProgramEnd {
        let mut changes = self.config.directory_watch.subscribe(self.directory.path());
        let (shutdown, cancel) = (self.shutdown.clone(), self.cancel.clone());
        let mut output = GrowingFile::open(&self.directory.output(self.attempt)).await.ok();
        let deadline = Instant::now() + self.record.time_left();
        let mut kill_at = None;
        let mut timed_out = false;
        let exit = shim.wait();
        tokio::pin!(exit);
        let exit = loop {
            self.read(&mut output).await;
            if self.output_exceeded {
                // Without a grace: every moment more fills the disk.
                drop(shim.kill(Duration::ZERO).await);
                break exit.await;
            }
            if self.output.finished && kill_at.is_none() {
                kill_at = Some(Instant::now() + FINISHED_GRACE);
            }
            tokio::select! {
                exit = &mut exit => break exit,
                () = shutdown.cancelled() => return ProgramEnd::Shutdown,
                () = cancel.cancelled(), if kill_at.is_none_or(|at| at > Instant::now()) => {
                    kill_at = Some(Instant::now());
                }
                () = sleep_until(deadline), if !timed_out => {
                    timed_out = true;
                    kill_at = Some(Instant::now());
                }
                () = due(kill_at) => {
                    kill_at = Some(Instant::now() + FINISHED_GRACE);
                    drop(shim.kill(KILL_GRACE).await);
                }
                () = due(self.store_at) => self.store(None).await,
                _ = timeout(self.config.poll, changes.next()) => {}
            }
        };
        self.read(&mut output).await;
        self.read_rest(&mut output);
        if self.output_exceeded {
            ProgramEnd::OutputExceeded
        } else if timed_out {
            ProgramEnd::TimedOut
        } else {
            ProgramEnd::Exited(exit)
        }
    }

    /// Reads everything that was written since the last read, unless that is too much.
    async fn read(&mut self, output: &mut Option<GrowingFile>) {
        self.check_size(output.as_ref()).await;
        let Some(output) = output else { return };
        while !self.output_exceeded
            && let Ok(Some(lines)) = output.read_lines().await
        {
            for line in lines {
                self.read_line(&line);
            }
            self.progress.send_modify(|progress| progress.reads += 1);
            if self.output.session_id.is_some() && !self.session_stored {
                self.session_stored = true;
                self.store(None).await;
            } else if self.unstored.len() > EVENTS_MAX {
                self.store(None).await;
            }
            self.check_size(Some(&*output)).await;
        }
    }

    /// Notes when the program printed more than it may.
    async fn check_size(&mut self, output: Option<&GrowingFile>) {
        let printed = match output {
            Some(output) => output.size().await.unwrap_or(0),
            None => 0,
        };
        let stderr = tokio::fs::metadata(self.directory.stderr(self.attempt)).await;
        let complained = stderr.map_or(0, |metadata| metadata.len());
        self.output_exceeded |= printed.max(complained) > MAX_OUTPUT;
    }

    fn read_line(&mut self, line: &str) {
        let events = self.reader.read_line(line, &mut self.output);
        if !events.is_empty() {
            let interval = self.store.as_ref().map_or(Duration::ZERO, |store| store.interval());
            self.store_at.get_or_insert_with(|| Instant::now() + interval);
            if self.store.as_ref().is_some_and(|store| store.takes_events()) {
                self.unstored.extend(events);
            }
        }
    }

    fn read_rest(&mut self, output: &mut Option<GrowingFile>) {
        if let Some(line) = output.as_mut().and_then(GrowingFile::take_rest) {
            self.read_line(&line);
        }
    }

    async fn needs_fallback(&self, rule: FallbackRule, end: &RunEnd, begun: Instant) -> bool {
        if self.cancel.is_cancelled() || end.output_exceeded || rule.is_settled(&self.output) {
            return false;
        }
        match rule {
            FallbackRule::SessionMissing => {
                let stderr = read_start(&self.directory.stderr(self.attempt)).await;
                !end.success && self.provider.is_session_missing(&stderr)
            }
            FallbackRule::NoWork => begun.elapsed() < NO_WORK_TIME,
        }
    }

    /// How the program ended, with what its standard error says.
    async fn run_end(&mut self, end: ProgramEnd) -> RunEnd {
        let stderr = read_start(&self.directory.stderr(self.attempt)).await;
        if self.output.session_id.is_none() {
            self.output.session_id = self.provider.session_in_stderr(&stderr);
        }
        let exit = match end {
            ProgramEnd::Exited(exit) => exit,
            ProgramEnd::TimedOut | ProgramEnd::Shutdown => {
                let error = format!("{} did not finish in time and was stopped", self.provider.id());
                return RunEnd { timed_out: true, ..stopped(error) };
            }
            ProgramEnd::OutputExceeded => {
                let max = MAX_OUTPUT / (1024 * 1024);
                let error = format!("{} printed more than {max} MB and was stopped", self.provider.id());
                return RunEnd { output_exceeded: true, ..stopped(error) };
            }
        };
        let success = exit.as_ref().is_ok_and(Exit::success);
        let exit_code = exit.as_ref().ok().and_then(|exit| exit.code).unwrap_or(1);
        let stderr = if success { None } else { self.stderr_tail().await };
        let error = stderr.or_else(|| exit.err().map(|error| error.to_string()));
        RunEnd { success, exit_code, was_started: true, timed_out: false, output_exceeded: false, error }
    }

    /// The end of the standard error as a person reads it; `None` when there is none.
    async fn stderr_tail(&self) -> Option<String> {
        let path = self.directory.stderr(self.attempt);
        let text = spawn_blocking(move || read_part(&path, Part::End(STDERR_SHOWN))).await.ok()?;
        let text = self.provider.readable_stderr(&text);
        Some(redact::cause(text.trim())).filter(|text| !text.is_empty())
    }

    async fn finish(mut self, end: RunEnd) {
        self.store(Some(end.clone())).await;
        let store = self.store.as_ref();
        let last_events = store.map(|store| store.last_events(&self.output, &end)).unwrap_or_default();
        let directory = self.directory.clone();
        let outcome = RunOutcome { output: self.output, end, last_events };
        self.progress.send_modify(|progress| progress.outcome = Some(Arc::new(outcome)));
        if let Err(error) = spawn_blocking(move || directory.remove()).await {
            tracing::warn!(%error, "the files of an agent's run cannot be removed");
        }
    }

    async fn store(&mut self, end: Option<RunEnd>) {
        self.store_at = None;
        let (output, events) = (self.output.clone(), std::mem::take(&mut self.unstored));
        self.with_store(move |store| store.store(&output, &events, end.as_ref())).await;
    }

    /// Calls the store on a thread that may block.
    async fn with_store(&mut self, call: impl FnOnce(&mut dyn RunStore) -> io::Result<()> + Send + 'static) {
        let Some(mut store) = self.store.take() else { return };
        let called = spawn_blocking(move || {
            let result = call(store.as_mut());
            Ok((store, result))
        });
        match called.await {
            Ok((store, result)) => {
                self.store = Some(store);
                if let Err(error) = result {
                    tracing::warn!(%error, "the output of an agent cannot be stored");
                }
            }
            Err(error) => tracing::error!(%error, "the store of an agent's output failed"),
        }
    }
}

/// Pending until the instant; for ever without one.
async fn due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn start_failure(error: &dyn std::fmt::Display) -> RunEnd {
    RunEnd { was_started: false, ..stopped(error.to_string()) }
}

/// The end of a program that was not left to end by itself.
const fn stopped(error: String) -> RunEnd {
    RunEnd {
        success: false,
        exit_code: 1,
        was_started: true,
        timed_out: false,
        output_exceeded: false,
        error: Some(error),
    }
}

async fn read_start(path: &Path) -> String {
    let path = path.to_owned();
    spawn_blocking(move || read_part(&path, Part::Start(STDERR_SEARCHED))).await.unwrap_or_default()
}

/// Which bytes of a file are read, at most.
enum Part {
    Start(u64),
    End(u64),
}

fn read_part(path: &Path, part: Part) -> io::Result<String> {
    let mut file = File::open(path)?;
    let max = match part {
        Part::Start(max) => max,
        Part::End(max) => {
            let start = file.metadata()?.len().saturating_sub(max);
            file.seek(SeekFrom::Start(start))?;
            max
        }
    };
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
