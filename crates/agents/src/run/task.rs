//! Task of a run: starts the program, parses and stores its output, and terminates it if necessary.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::agent_failure::FailureKind;
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::redact;
use loopgate_api::run_phase::RunPhase;
use loopgate_home::SandboxedPath;
use loopgate_tools::environment::TrustGuard;
use loopgate_tools::shim::{self, Exit, RegisteredProcess, ShimError, ShimHandle, Spec};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::failure::{self, ProgramExit};
use super::output::{GrowingFile, MAX_OUTPUT};
use super::progress::{RunEnd, RunOutcome, RunProgress};
use super::record::{ProviderRun, RunDirectory};
use super::store::RunStore;
use super::{AgentRunsConfig, FallbackRule, SecondAttempt, spawn_blocking};
use crate::provider::{OutputReader, Provider, ProviderProgram, TurnError, TurnOutput, TurnRequest};

/// Grace period between SIGTERM and SIGKILL.
pub(super) const KILL_GRACE: Duration = Duration::from_secs(5);
/// Time after which a termination is repeated, in case the shim could not be reached.
const KILL_RETRY: Duration = Duration::from_secs(30);
/// Programs that run longer than this are considered to have worked, whatever they printed.
const NO_WORK_TIME: Duration = Duration::from_secs(60);
/// Bytes searched at each end of standard error: sessions and startup errors are reported at the start, the reason of a
/// failure at the end.
const STDERR_SEARCHED: u64 = 64 * 1024;
/// Events buffered in memory before they are stored, regardless of the interval.
const EVENTS_MAX: usize = 4096;

/// State of the task that follows a run.
pub(super) struct RunTask {
    pub(super) config: AgentRunsConfig,
    /// Cancelled on shutdown; the program continues.
    pub(super) shutdown: CancellationToken,
    /// Cancelled to terminate the program.
    pub(super) cancel: CancellationToken,
    pub(super) id: Uuid,
    pub(super) provider: Arc<dyn Provider>,
    pub(super) directory: RunDirectory,
    pub(super) record: ProviderRun,
    pub(super) progress: watch::Sender<RunProgress>,
    pub(super) attempt: u32,
    pub(super) reader: Box<dyn OutputReader>,
    pub(super) output: TurnOutput,
    /// Events since the last store call.
    pub(super) unstored: Vec<ChatEvent>,
    /// Whether the output exceeded [`MAX_OUTPUT`].
    pub(super) output_exceeded: bool,
    /// Whether the session id was passed to the store.
    pub(super) session_stored: bool,
    /// Time of the next store call; `None` if there is no new output.
    pub(super) store_at: Option<Instant>,
    /// Time of the last output, by which the silence of the program is measured.
    pub(super) last_output_at: Instant,
    /// `None` only while a blocking thread uses it.
    pub(super) store: Option<Box<dyn RunStore>>,
}

/// Reason for which the task stops following a program.
enum ProgramEnd {
    /// The program and all its descendants have exited.
    Exited(Result<Exit, ShimError>),
    /// The program reported the end of its turn, and was terminated because it did not exit.
    Finished,
    /// The timeout of the run elapsed.
    TimedOut,
    /// The output exceeded the limit.
    OutputExceeded,
    /// This process shuts down.
    Shutdown,
}

/// Environment of the program, and its restrictions in a checkout that the user has not trusted.
pub(super) type GuardedEnvironment = (BTreeMap<OsString, OsString>, TrustGuard);

impl RunTask {
    pub(super) async fn start(
        mut self,
        cwd: SandboxedPath,
        turn: TurnRequest,
        fallback: Option<SecondAttempt>,
        environment: JoinHandle<GuardedEnvironment>,
    ) {
        let started_at = Instant::now();
        let result = match environment.await {
            Ok(environment) => self.run(&cwd, &turn, environment).await,
            Err(error) => Err(io::Error::other(error).into()),
        };
        match result {
            // The files are retained, so that the next process recovers the run.
            Ok(ProgramEnd::Shutdown) => {}
            Ok(end) => {
                let end = self.run_end(end).await;
                match fallback {
                    Some(fallback) if self.needs_fallback(fallback.rule, &end, started_at).await => {
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
        let preparation = spawn_blocking(move || directory.begin_attempt(1, &prompt)).await;
        // The output of the first attempt must not remain in the store.
        self.with_store(|store| store.reset()).await;
        // Until the second program runs, there is none to stop.
        self.progress.send_modify(|progress| (progress.attempt, progress.pid) = (1, None));
        let result = match preparation {
            Ok(()) => {
                let environment = self.config.environment.guarded(&[cwd.canonical()]).await;
                self.run(cwd, &turn, environment).await
            }
            Err(error) => return self.finish(start_failure(&error)).await,
        };
        match result {
            Ok(ProgramEnd::Shutdown) => {}
            Ok(end) => {
                let end = self.run_end(end).await;
                self.finish(end).await;
            }
            Err(error) => self.finish(start_failure(&error)).await,
        }
    }

    /// Recovers the run of an earlier process. All output is read again from the start.
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
                // The shim has exited. Descendants of the program may have survived it.
                shim::reap(LoopId(self.id), KILL_GRACE).await;
                let mut output = GrowingFile::open(&self.directory.output(attempt)).await.ok();
                self.read(&mut output).await;
                self.read_last_line(&mut output);
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

    async fn run(
        &mut self,
        cwd: &SandboxedPath,
        turn: &TurnRequest,
        (mut env, guard): GuardedEnvironment,
    ) -> Result<ProgramEnd, ShimError> {
        let command = self.provider.command(turn, &guard);
        let program = match command.program {
            ProviderProgram::Known(program) => self.config.programs.resolve(program).await.path,
            ProviderProgram::Path(path) => path,
        };
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
            // Set in the environment of every process of the run, by which they are found again.
            loop_id: LoopId(self.id),
        };
        let (shim, state) = self.config.shims.spawn(&spec).await?;
        Ok(self.follow(shim, state.pid).await)
    }

    /// Reads output until the program and all its descendants have exited.
    async fn follow(&mut self, shim: ShimHandle, pid: u32) -> ProgramEnd {
        let directories = self.record.directories.clone();
        let process = RegisteredProcess { pid, shim: shim.clone(), worktree: None, directories };
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
        let (mut timed_out, mut finished) = (false, false);
        let exit = shim.wait();
        tokio::pin!(exit);
        let exit = loop {
            self.read(&mut output).await;
            if self.output_exceeded {
                // Without a grace period, because the program continues to fill the disk. The error is
                // ignored: the shim reports the exit either way.
                drop(shim.kill(Duration::ZERO).await);
                break exit.await;
            }
            let silent_at = self.output.phase.silence_limit().map(|limit| self.last_output_at + limit);
            tokio::select! {
                exit = &mut exit => break exit,
                () = shutdown.cancelled() => return ProgramEnd::Shutdown,
                // Disabled once termination is due: a cancelled token is always ready, so the loop would
                // spin.
                () = cancel.cancelled(), if kill_at.is_none_or(|at| at > Instant::now()) => {
                    kill_at = Some(Instant::now());
                }
                () = sleep_until(deadline), if !timed_out => {
                    timed_out = true;
                    kill_at = Some(Instant::now());
                }
                () = due(kill_at.or(silent_at)) => {
                    finished |= kill_at.is_none();
                    kill_at = Some(Instant::now() + KILL_RETRY);
                    drop(shim.kill(KILL_GRACE).await);
                }
                () = due(self.store_at) => self.store(None).await,
                // Polling covers file systems without change notifications.
                _ = timeout(self.config.poll, changes.next()) => {}
            }
        };
        // Output that was written between the last read and the exit.
        self.read(&mut output).await;
        self.read_last_line(&mut output);
        if self.output_exceeded {
            ProgramEnd::OutputExceeded
        } else if timed_out {
            ProgramEnd::TimedOut
        } else if finished {
            ProgramEnd::Finished
        } else {
            ProgramEnd::Exited(exit)
        }
    }

    /// Reads the output since the last read, unless it exceeds the limit. The size is checked after each read,
    /// so that clients receive new output without delay.
    async fn read(&mut self, output: &mut Option<GrowingFile>) {
        let Some(output) = output else { return self.check_size().await };
        while !self.output_exceeded
            && let Ok(Some(lines)) = output.read_lines().await
        {
            for line in lines {
                self.read_line(&line);
            }
            self.last_output_at = Instant::now();
            self.progress.send_modify(|progress| progress.reads += 1);
            // Immediately, so that the conversation can be resumed if Loopgate is killed during the turn.
            if self.output.session_id.is_some() && !self.session_stored {
                self.session_stored = true;
                self.store(None).await;
            } else if self.unstored.len() > EVENTS_MAX {
                self.store(None).await;
            }
            self.check_size().await;
        }
        self.check_size().await;
    }

    /// Checks the sizes of standard output and standard error against the limit. Standard error is not
    /// streamed, but it occupies disk space as well.
    async fn check_size(&mut self) {
        let files = [self.directory.output(self.attempt), self.directory.stderr(self.attempt)];
        let size = |file: &PathBuf| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        let largest = spawn_blocking(move || Ok(files.iter().map(size).max())).await.ok().flatten();
        self.output_exceeded |= largest.is_some_and(|size| size > MAX_OUTPUT);
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

    fn read_last_line(&mut self, output: &mut Option<GrowingFile>) {
        if let Some(line) = output.as_mut().and_then(GrowingFile::take_partial_line) {
            self.read_line(&line);
        }
    }

    async fn needs_fallback(&self, rule: FallbackRule, end: &RunEnd, started_at: Instant) -> bool {
        if self.cancel.is_cancelled() || end.output_exceeded || rule.is_settled(&self.output) {
            return false;
        }
        match rule {
            FallbackRule::SessionMissing => {
                let stderr = read_start(&self.directory.stderr(self.attempt)).await;
                !end.success && self.provider.is_session_missing(&stderr)
            }
            FallbackRule::NoWork => started_at.elapsed() < NO_WORK_TIME,
        }
    }

    /// Determines the exit state, with one error message if the turn failed.
    async fn run_end(&mut self, end: ProgramEnd) -> RunEnd {
        let stderr = read_start(&self.directory.stderr(self.attempt)).await;
        if self.output.session_id.is_none() {
            self.output.session_id = self.provider.session_in_stderr(&stderr);
        }
        let program = failure::program_name(self.provider.id());
        let exit = match end {
            ProgramEnd::Exited(Ok(exit)) => {
                exit.code.map_or_else(|| ProgramExit::Signal(exit.signal.unwrap_or(0)), ProgramExit::Code)
            }
            ProgramEnd::Exited(Err(error)) => ProgramExit::Unknown(error.to_string()),
            // As the program would have exited.
            ProgramEnd::Finished => ProgramExit::Code(i32::from(self.output.failed)),
            // `Shutdown` does not occur here: callers return before.
            ProgramEnd::TimedOut | ProgramEnd::Shutdown => {
                let error =
                    format!("{program} did not finish in time and was stopped. Ask for less at once.");
                return RunEnd { timed_out: true, ..stopped(error) };
            }
            ProgramEnd::OutputExceeded => {
                let max = MAX_OUTPUT / (1024 * 1024);
                let error =
                    format!("{program} printed more than {max} MB and was stopped. Ask for less at once.");
                return RunEnd { output_exceeded: true, ..stopped(error) };
            }
        };
        let is_answered = self.is_answered();
        if exit == ProgramExit::Code(0) && self.output.error.is_none() && is_answered {
            return RunEnd { success: true, exit_code: 0, error: None, ..stopped(String::new()) };
        }
        let exit_code = match exit {
            ProgramExit::Code(code) if code != 0 => code,
            _ => 1,
        };
        let (failure, error) = self.reason(program, &exit, is_answered).await;
        RunEnd { exit_code, error, failure, ..stopped(String::new()) }
    }

    /// Returns whether the turn has an answer. A turn that only called tools has one if the program completed it.
    fn is_answered(&self) -> bool {
        let output = &self.output;
        !output.text.trim().is_empty()
            || !output.blocks.is_empty() && output.phase == RunPhase::Over
            || self.store.as_ref().is_some_and(|store| !store.requires_answer())
    }

    /// Returns the reason of a failed turn, and its kind if it is known.
    async fn reason(
        &self,
        program: &str,
        exit: &ProgramExit,
        is_answered: bool,
    ) -> (Option<FailureKind>, Option<String>) {
        if self.cancel.is_cancelled() {
            return (None, Some(failure::stopped(program)));
        }
        if let Some(error) = &self.output.error {
            let (kind, text) = failure::reported(program, error);
            return (kind, Some(text));
        }
        let path = self.directory.stderr(self.attempt);
        let stderr = spawn_blocking(move || read_part(&path, Part::End(STDERR_SEARCHED))).await;
        let stderr = stderr.unwrap_or_default();
        // The start of a secret may be cut off.
        let is_cut = stderr.len() as u64 >= STDERR_SEARCHED;
        let whole_lines = if is_cut { redact::skip_partial_line(&stderr) } else { &stderr };
        let readable = self.provider.readable_stderr(whole_lines);
        let is_blank = readable.trim().is_empty();
        let has_code = matches!(exit, ProgramExit::Code(_));
        if *exit == ProgramExit::Code(0) && !is_answered {
            let printed = self.output.result_text.as_deref().filter(|text| !text.trim().is_empty());
            return (None, Some(failure::no_answer(program, printed.unwrap_or(&readable))));
        }
        if !is_blank && has_code {
            let (kind, text) = failure::reported(program, &TurnError::new(readable));
            return (kind, Some(text));
        }
        // A program that printed only harmless messages gives no reason.
        let is_noise = has_code && is_blank && !stderr.trim().is_empty();
        (None, (!is_noise).then(|| failure::silent_exit(program, exit)))
    }

    async fn finish(mut self, end: RunEnd) {
        self.store(Some(end.clone())).await;
        let store = self.store.as_ref();
        let last_events = store.map(|store| store.last_events(&self.output, &end)).unwrap_or_default();
        let directory = self.directory.clone();
        // Published before the files are removed. Streams that are open continue to read through their
        // handles.
        let outcome = RunOutcome { output: self.output, end, last_events };
        self.progress.send_modify(|progress| progress.outcome = Some(Arc::new(outcome)));
        if let Err(error) = spawn_blocking(move || directory.remove()).await {
            tracing::warn!(%error, "failed to remove the files of a run");
        }
    }

    async fn store(&mut self, end: Option<RunEnd>) {
        self.store_at = None;
        let (output, events) = (self.output.clone(), std::mem::take(&mut self.unstored));
        self.with_store(move |store| store.store(&output, &events, end.as_ref())).await;
    }

    /// Calls the store on the blocking thread pool.
    async fn with_store(&mut self, call: impl FnOnce(&mut dyn RunStore) -> io::Result<()> + Send + 'static) {
        let Some(mut store) = self.store.take() else { return };
        let calling = spawn_blocking(move || {
            let result = call(store.as_mut());
            Ok((store, result))
        });
        match calling.await {
            Ok((store, result)) => {
                self.store = Some(store);
                if let Err(error) = result {
                    tracing::warn!(%error, "failed to store the output of a run");
                }
            }
            Err(error) => tracing::error!(%error, "the store of a run panicked"),
        }
    }
}

/// Sleeps until the instant. Never returns if there is none.
async fn due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn start_failure(error: &dyn std::fmt::Display) -> RunEnd {
    RunEnd { was_started: false, ..stopped(error.to_string()) }
}

/// Returns the exit state of a program that was terminated or not started.
const fn stopped(error: String) -> RunEnd {
    RunEnd {
        success: false,
        exit_code: 1,
        was_started: true,
        timed_out: false,
        output_exceeded: false,
        error: Some(error),
        failure: None,
    }
}

async fn read_start(path: &Path) -> String {
    let path = path.to_owned();
    spawn_blocking(move || read_part(&path, Part::Start(STDERR_SEARCHED))).await.unwrap_or_default()
}

/// Part of a file to read, with its maximum size in bytes.
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
