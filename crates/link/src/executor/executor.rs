//! The executor: which commands are taken, which run, and what is reported.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use loopgate_api::link::{
    Cancel, CommandAck, CommandEvent, CommandEventAck, CommandFailure, EventType, HelloAck, LinkCommand,
    Severity, Telemetry,
};
use loopgate_api::operation::{GATEWAY_PREFIX, OperationId};
use secrecy::SecretString;
use serde_json::json;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::answer;
use super::browser_key_command::KeyRequest;
use super::command_log::{CommandLog, CommandProgress};
use super::gateway::CommandHandler;
use super::lock;
use super::rejection::Rejection;
use super::request;
use super::signing::{SignatureVerifier, Signing};
use super::state::{AbortHandle, ExecutorReport, ExecutorState, QueueStats, QueuedCommand};
use super::timing::ExecutorTiming;

/// What is known of a command from before.
enum Recollection {
    /// It never came.
    Nothing,
    /// It asked for a loop and was unfinished when the program ended.
    LoopStarted,
    /// It runs, waits or ended, and its events tell so.
    Answered,
}

/// Why a command is not queued.
enum AdmitError {
    Rejected(Rejection),
    CommandLog(io::Error),
}

impl From<Rejection> for AdmitError {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl From<io::Error> for AdmitError {
    fn from(error: io::Error) -> Self {
        Self::CommandLog(error)
    }
}

/// What an executor works with.
pub struct ExecutorConfig {
    /// Answers the requests.
    pub gateway: Arc<dyn CommandHandler>,
    /// The gateway's credential for callers in this process.
    pub gateway_token: SecretString,
    /// Which commands were started.
    pub command_log: Arc<dyn CommandLog>,
    /// Whether the desktop is set up; until then every command is refused.
    pub setup_complete: Box<dyn Fn() -> bool + Send + Sync>,
    /// Signatures of browser keys.
    pub signing: Signing,
    /// Its time limits.
    pub timing: ExecutorTiming,
}

/// Executes commands; shared by the connections that come and go.
pub struct Executor {
    pub(super) config: ExecutorConfig,
    state: Mutex<ExecutorState>,
    signatures: Mutex<SignatureVerifier>,
    /// Woken when there may be something for the wire.
    pub(super) wake: Notify,
    stats: watch::Sender<QueueStats>,
    tasks: TaskTracker,
}

impl Executor {
    /// An executor without commands; nothing runs before the first connection.
    #[must_use]
    pub fn new(config: ExecutorConfig) -> Arc<Self> {
        let (stats, _) = watch::channel(QueueStats::default());
        let (state, wake, tasks) = (Mutex::default(), Notify::new(), TaskTracker::new());
        let signatures = Mutex::new(SignatureVerifier::new(Timestamp::now().as_second()));
        Arc::new(Self { config, state, signatures, wake, stats, tasks })
    }

    /// Numbers of commands that run and wait; seen as changed only when one of them differs.
    #[must_use]
    pub fn stats(&self) -> watch::Receiver<QueueStats> {
        self.stats.subscribe()
    }

    /// The user's switch: a paused desktop refuses new commands, what runs goes on.
    pub fn set_paused(&self, paused: bool) {
        let mut state = self.lock();
        if state.paused != paused {
            state.paused = paused;
            state.announce();
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Why the gateway cannot be reached, or that it can again. Meanwhile new commands are refused
    /// and the control plane sees why; what runs goes on.
    pub fn set_gateway_lost(&self, reason: Option<String>) {
        let mut state = self.lock();
        if state.gateway_lost != reason {
            state.gateway_lost = reason;
            state.announce();
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Queues a telemetry event; dropped while there is no connection.
    pub fn telemetry(&self, telemetry: Telemetry) {
        self.lock().telemetry(telemetry);
        self.wake.notify_one();
    }

    /// Takes no command any more and aborts every request, without a word to anybody; returns when
    /// all have ended.
    pub async fn shutdown(&self) {
        self.lock().abandon();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Decides about a command; an accepted one is queued, or known already. One that comes while the
    /// program ends, or while the command log cannot be read, is not answered, so that it comes again.
    pub(crate) async fn receive(self: &Arc<Self>, command: LinkCommand) -> Option<CommandAck> {
        if self.lock().is_stopping() {
            return None;
        }
        let command_id = command.command_id.clone();
        match self.admit(command).await {
            Ok(()) => Some(CommandAck::accepted(command_id)),
            Err(AdmitError::Rejected(rejection)) => {
                tracing::info!(command_id, %rejection, "command rejected");
                Some(CommandAck::rejected(command_id, rejection.code(), rejection.to_string()))
            }
            Err(AdmitError::CommandLog(error)) => {
                tracing::warn!(command_id, %error, "the command log cannot be read");
                None
            }
        }
    }

    async fn admit(self: &Arc<Self>, command: LinkCommand) -> Result<(), AdmitError> {
        let target_id = self.lock().target_id();
        let gateway_id = self.config.signing.gateway_id;
        if let Some(about_key) = KeyRequest::of(&command, target_id, gateway_id) {
            return Ok(self.carry_out(&command.command_id, about_key?).await?);
        }
        if !(self.config.setup_complete)() {
            return Err(Rejection::OnboardingNotCompleted.into());
        }
        let operation =
            OperationId::of_path(request::path(&command)).ok_or(Rejection::OperationPathMismatch)?;
        if let Some(rejection) = self.lock().rejection() {
            return Err(rejection.into());
        }
        match self.recall(&command.command_id, Some(operation)).await? {
            Recollection::Answered => return Ok(()),
            Recollection::Nothing if self.lock().has_expired(&command, Timestamp::now()) => {
                return Err(Rejection::Expired.into());
            }
            Recollection::Nothing | Recollection::LoopStarted => {}
        }
        self.check_signature(&command).await?;
        if command.command_id.is_empty() {
            return Err(Rejection::MissingCommandId.into());
        }
        if request::method(&command).is_none() {
            return Err(Rejection::UnsupportedMethod.into());
        }
        if !command.path.starts_with(GATEWAY_PREFIX) {
            return Err(Rejection::ForeignPath.into());
        }
        if self.lock().queue_is_full() {
            return Err(Rejection::QueueFull.into());
        }
        let lock = lock::key(&command, operation, self.config.timing.lock_path).await;
        self.trace(Severity::Info, "command.initiated", "Command received", &command, operation);
        self.lock().enqueue(QueuedCommand {
            command,
            operation,
            lock,
            abort_handle: Arc::new(AbortHandle::default()),
        });
        self.start_ready();
        Ok(())
    }

    /// Holds a command against the authorized keys, when user and server both want that.
    async fn check_signature(&self, command: &LinkCommand) -> Result<(), Rejection> {
        if !(self.lock().supports_signing() && (self.config.signing.required)()) {
            return Ok(());
        }
        let keys = self.config.signing.keys.clone();
        let keys = tokio::task::spawn_blocking(move || keys.usable()).await.unwrap_or_default();
        let mut signatures = self.signatures.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(signatures.verify(&keys, command, Timestamp::now().as_second())?)
    }

    /// Carries out a command about a browser key. One that comes again is answered as before.
    async fn carry_out(&self, command_id: &str, command: KeyRequest) -> Result<(), Rejection> {
        if self.lock().is_known(command_id) {
            self.lock().repeat_if_ended(command_id);
            self.wake.notify_one();
            return Ok(());
        }
        let done = match command {
            KeyRequest::Revoke(fingerprint) => {
                let (keys, name) = (self.config.signing.keys.clone(), fingerprint.clone());
                let removed = tokio::task::spawn_blocking(move || keys.remove(&name)).await;
                let removed = match removed {
                    Ok(Ok(removed)) => removed,
                    Ok(Err(error)) => {
                        tracing::error!(%fingerprint, %error, "a browser key could not be taken out");
                        return Err(Rejection::RevocationFailed);
                    }
                    Err(_) => return Err(Rejection::RevocationFailed),
                };
                json!({"type": "done", "fingerprint": fingerprint, "removed": removed})
            }
            KeyRequest::RequestApproval(fingerprint) => {
                let done = json!({"type": "done", "fingerprint": fingerprint});
                (self.config.signing.key_asks)(fingerprint);
                done
            }
        };
        let (event, bytes) = answer::weighed((EventType::Done, done));
        let mut state = self.lock();
        state.track(command_id);
        state.push(command_id, event, bytes, Instant::now());
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// What is known of a command that came before, also before a restart. An ended one is answered with its
    /// events once more; one that was unfinished at the restart is interrupted.
    ///
    /// Not so the start of a loop. The loop may have outlived us, and to call it interrupted would
    /// fail it in the control plane while it works on. Its id keeps it from being started twice,
    /// so it is asked for again: what runs says so, what never began begins.
    ///
    /// # Errors
    /// The command log cannot be read.
    async fn recall(&self, command_id: &str, operation: Option<OperationId>) -> io::Result<Recollection> {
        let is_tracked = self.lock().is_known(command_id);
        if !is_tracked {
            let Some(progress) = self.config.command_log.find(command_id).await? else {
                return Ok(Recollection::Nothing);
            };
            if progress == CommandProgress::Started && operation == Some(OperationId::OrchestratorLoop) {
                return Ok(Recollection::LoopStarted);
            }
            let mut state = self.lock();
            if !state.is_known(command_id) {
                let seed = state.seed(command_id);
                state.track(command_id);
                for event in terminal_events(progress, seed) {
                    let (event, bytes) = answer::weighed(event);
                    state.push(command_id, event, bytes, Instant::now());
                }
            }
        }
        self.lock().repeat_if_ended(command_id);
        self.wake.notify_one();
        Ok(Recollection::Answered)
    }

    /// Ends a command that waits or runs. The server repeats the request until it has the command's last
    /// event; so one that never came is ended here, too, and one that ended says so again.
    pub(crate) async fn cancel(self: &Arc<Self>, cancel: &Cancel) {
        let reason = cancel.reason.as_deref().unwrap_or("cancelled");
        let (queued, runs) = {
            let mut state = self.lock();
            let queued = state.unqueue(&cancel.command_id);
            let runs = queued.is_none() && state.abort_running(&cancel.command_id, reason);
            (queued, runs)
        };
        match queued {
            Some(queued) => {
                self.end_cancelled(&cancel.command_id, reason);
                let QueuedCommand { command, operation, .. } = &queued;
                self.trace(Severity::Info, "command.cancelled", "Command cancelled", command, *operation);
                self.start_ready();
            }
            None if runs => {}
            None => match self.recall(&cancel.command_id, None).await {
                Ok(Recollection::Answered) => {}
                // It has not come: when it comes after all, it is known as ended.
                Ok(Recollection::Nothing | Recollection::LoopStarted) => {
                    self.lock().track(&cancel.command_id);
                    self.end_cancelled(&cancel.command_id, reason);
                    self.wake.notify_one();
                }
                Err(error) => {
                    tracing::warn!(command_id = cancel.command_id, %error, "the command log cannot be read");
                }
            },
        }
    }

    /// Ends a tracked command that does not run.
    fn end_cancelled(self: &Arc<Self>, command_id: &str, reason: &str) {
        let (event, bytes) = answer::weighed(answer::cancelled(reason));
        self.lock().push(command_id, event, bytes, Instant::now());
        self.tasks.spawn(Arc::clone(self).log_end(command_id.to_owned()));
    }

    /// The server knows this desktop: under which id, whether it hands signatures on, and what its clock says.
    pub(crate) fn registered(&self, ack: &HelloAck) {
        let mut state = self.lock();
        state.register(ack.compute_target_id, ack.server_capabilities.compute_target_signing);
        state.set_server_time(&ack.server_time, Timestamp::now());
    }

    /// A hello was acknowledged; commands run from now on.
    pub(crate) fn resume(self: &Arc<Self>, resume: &BTreeMap<String, u64>) {
        self.lock().resume(resume);
        self.start_ready();
    }

    /// The connection was lost; nothing new starts.
    pub(crate) fn disconnected(&self) {
        self.lock().disconnect();
    }

    /// The server has an event.
    pub(crate) fn acknowledged(&self, ack: &CommandEventAck) {
        self.lock().acknowledge(&ack.command_id, ack.sequence, Instant::now());
    }

    /// The next thing for the wire, as soon as there is one. For one connection at a time; nothing
    /// is lost when the future is dropped.
    pub(crate) async fn next_report(&self) -> ExecutorReport {
        let timing = &self.config.timing;
        loop {
            let overdue_at = {
                let mut state = self.lock();
                if let Some(report) = state.next_report(Instant::now()) {
                    return report;
                }
                state.overdue_at(timing)
            };
            match overdue_at {
                None => self.wake.notified().await,
                Some(at) => tokio::select! {
                    () = self.wake.notified() => {}
                    () = tokio::time::sleep_until(at) => self.lock().replay_overdue(Instant::now(), timing),
                },
            }
        }
    }

    /// Starts what may run, and tells of changed counters.
    pub(super) fn start_ready(self: &Arc<Self>) {
        let mut jobs = Vec::new();
        let mut state = self.lock();
        while let Some(job) = state.start_next() {
            jobs.push(job);
        }
        state.prune(Instant::now(), &self.config.timing);
        if let Some(stats) = state.note_stats() {
            self.stats.send_replace(stats);
        }
        drop(state);
        for job in jobs {
            self.tasks.spawn(Arc::clone(self).run(job));
        }
        self.wake.notify_one();
    }

    pub(super) fn trace(
        &self,
        severity: Severity,
        category: &str,
        message: &str,
        command: &LinkCommand,
        operation: OperationId,
    ) {
        let mut telemetry = Telemetry::new(severity, category, message);
        telemetry.trace.command_id.clone_from(&command.command_id);
        telemetry.trace.operation_id = operation.to_string();
        self.telemetry(telemetry);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ExecutorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events that end a command from before a restart, given the last sequence that the server has.
fn terminal_events(progress: CommandProgress, seed: u64) -> Vec<answer::EventBody> {
    let logged: Vec<CommandEvent> = match progress {
        CommandProgress::Finished { events } => {
            events.into_iter().filter(|event| event.sequence > seed).collect()
        }
        CommandProgress::Started => Vec::new(),
    };
    let is_complete = logged.first().is_some_and(|first| first.sequence == seed + 1);
    if is_complete {
        logged.into_iter().map(|event| (event.event_type, event.data)).collect()
    } else {
        let text = "the desktop was restarted while the command ran";
        vec![answer::failure(CommandFailure::Interrupted, text)]
    }
}
