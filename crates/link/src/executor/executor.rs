//! The executor: admits commands, runs them, and provides their events for the link.

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

/// State of a command that may have been received before.
enum KnownCommand {
    /// Neither tracked nor in the command log.
    Unknown,
    /// Starts a loop and had no terminal event when the previous process exited.
    LoopStarted,
    /// Tracked: queued, running or ended. Its events answer the repeated command.
    Tracked,
}

/// Reason for which a command is not queued.
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

/// Configuration of an [`Executor`].
pub struct ExecutorConfig {
    /// Handles the requests of commands.
    pub gateway: Arc<dyn CommandHandler>,
    /// Credential for callers of the gateway in this process.
    pub gateway_token: SecretString,
    /// Durable progress of commands, for deduplication after a restart.
    pub command_log: Arc<dyn CommandLog>,
    /// Returns whether onboarding is complete. Until then, all commands except those about browser keys are
    /// rejected.
    pub setup_complete: Box<dyn Fn() -> bool + Send + Sync>,
    /// Verification of browser key signatures.
    pub signing: Signing,
    /// Timeouts and retention periods.
    pub timing: ExecutorTiming,
}

/// Executes commands. Independent of connections: running commands continue while there is none.
pub struct Executor {
    pub(super) config: ExecutorConfig,
    state: Mutex<ExecutorState>,
    signatures: Mutex<SignatureVerifier>,
    /// Notified when there may be a report to send.
    pub(super) wake: Notify,
    stats: watch::Sender<QueueStats>,
    tasks: TaskTracker,
}

impl Executor {
    /// Creates an executor. Commands run once a connection is registered.
    #[must_use]
    pub fn new(config: ExecutorConfig) -> Arc<Self> {
        let (stats, _) = watch::channel(QueueStats::default());
        let (state, wake, tasks) = (Mutex::default(), Notify::new(), TaskTracker::new());
        let signatures = Mutex::new(SignatureVerifier::new(Timestamp::now().as_second()));
        Arc::new(Self { config, state, signatures, wake, stats, tasks })
    }

    /// Subscribes to the numbers of running and queued commands. Notified only when one of them changes.
    #[must_use]
    pub fn stats(&self) -> watch::Receiver<QueueStats> {
        self.stats.subscribe()
    }

    /// Sets the user's pause switch. A paused desktop rejects new commands; running ones continue.
    pub fn set_paused(&self, paused: bool) {
        let mut state = self.lock();
        if state.paused != paused {
            state.paused = paused;
            state.announce();
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Sets or clears the reason for which the gateway is unreachable. While set, new commands are rejected
    /// and the control plane is sent the reason; running commands continue.
    pub fn set_gateway_unreachable(&self, reason: Option<String>) {
        let mut state = self.lock();
        if state.gateway_lost != reason {
            state.gateway_lost = reason;
            state.announce();
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Queues a telemetry event. Dropped while there is no connection.
    pub fn telemetry(&self, telemetry: Telemetry) {
        self.lock().telemetry(telemetry);
        self.wake.notify_one();
    }

    /// Rejects further commands, aborts all running ones without emitting events, and waits for them to end.
    pub async fn shutdown(&self) {
        self.lock().abandon();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Admits or rejects a command. Returns no acknowledgement during a shutdown or when the command log
    /// cannot be read; the server then sends the command again.
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
                tracing::warn!(command_id, %error, "failed to read the command log");
                None
            }
        }
    }

    async fn admit(self: &Arc<Self>, command: LinkCommand) -> Result<(), AdmitError> {
        let target_id = self.lock().target_id();
        let gateway_id = self.config.signing.gateway_id;
        // Before all other checks: revoking a key must also work on a paused desktop.
        if let Some(key_request) = KeyRequest::of(&command, target_id, gateway_id) {
            return Ok(self.execute_key_command(&command.command_id, key_request?).await?);
        }
        if !(self.config.setup_complete)() {
            return Err(Rejection::OnboardingNotCompleted.into());
        }
        let operation =
            OperationId::of_path(request::path(&command)).ok_or(Rejection::OperationPathMismatch)?;
        if let Some(rejection) = self.lock().rejection() {
            return Err(rejection.into());
        }
        // Known commands are answered before the expiry check: they were admitted in time.
        match self.look_up(&command.command_id, Some(operation)).await? {
            KnownCommand::Tracked => return Ok(()),
            KnownCommand::Unknown if self.lock().has_expired(&command, Timestamp::now()) => {
                return Err(Rejection::Expired.into());
            }
            KnownCommand::Unknown | KnownCommand::LoopStarted => {}
        }
        let command = self.check_signature(command).await?;
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
        // Computed without holding the state lock, because it reads the disk.
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

    /// Verifies the signature of a command, if the user requires it, and removes what it does not cover. The
    /// user's setting alone decides: the capabilities of the server are a statement of the party that
    /// signatures protect against.
    async fn check_signature(&self, command: LinkCommand) -> Result<LinkCommand, Rejection> {
        if !(self.config.signing.required)() {
            return Ok(command);
        }
        let keys = self.config.signing.keys.clone();
        // Read for each command, so that an authorization or revocation applies immediately.
        let keys = tokio::task::spawn_blocking(move || keys.usable()).await.unwrap_or_default();
        let mut signatures = self.signatures.lock().unwrap_or_else(PoisonError::into_inner);
        signatures.verify(&keys, &command, Timestamp::now().as_second())?;
        Ok(command.into_signed_parts())
    }

    /// Executes a browser key command. A repeated command is answered with its retained events.
    async fn execute_key_command(&self, command_id: &str, command: KeyRequest) -> Result<(), Rejection> {
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
                        tracing::error!(%fingerprint, %error, "failed to remove a browser key");
                        return Err(Rejection::RevocationFailed);
                    }
                    Err(_) => return Err(Rejection::RevocationFailed),
                };
                json!({"type": "done", "fingerprint": fingerprint, "removed": removed})
            }
            KeyRequest::RequestApproval(fingerprint) => {
                let done = json!({"type": "done", "fingerprint": fingerprint});
                (self.config.signing.on_key_request)(fingerprint);
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

    /// Looks up a command that may have been received before, also by an earlier process. The events of an
    /// ended command are sent again; one that was unfinished at the restart is ended as interrupted.
    ///
    /// The start of a loop is an exception. The loop may have survived the restart, and reporting it as
    /// interrupted would fail it in the control plane. The loop's id prevents a second start, so the request
    /// is repeated: it either finds the loop running or starts it.
    ///
    /// # Errors
    /// Fails when the command log cannot be read.
    async fn look_up(&self, command_id: &str, operation: Option<OperationId>) -> io::Result<KnownCommand> {
        let is_tracked = self.lock().is_known(command_id);
        if !is_tracked {
            let Some(progress) = self.config.command_log.find(command_id).await? else {
                return Ok(KnownCommand::Unknown);
            };
            if progress == CommandProgress::Started && operation == Some(OperationId::OrchestratorLoop) {
                return Ok(KnownCommand::LoopStarted);
            }
            let mut state = self.lock();
            // Check again: another task may have tracked the command while the log was read without the lock.
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
        Ok(KnownCommand::Tracked)
    }

    /// Cancels a queued or running command. The server repeats a cancellation until it has the terminal
    /// event, so a command that is unknown here is ended as cancelled, and an ended one sends its events
    /// again.
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
            None => match self.look_up(&cancel.command_id, None).await {
                Ok(KnownCommand::Tracked) => {}
                // Not received yet, or lost. Track it as ended, so that it does not run if it arrives later.
                Ok(KnownCommand::Unknown | KnownCommand::LoopStarted) => {
                    self.lock().track(&cancel.command_id);
                    self.end_cancelled(&cancel.command_id, reason);
                    self.wake.notify_one();
                }
                Err(error) => {
                    tracing::warn!(command_id = cancel.command_id, %error, "failed to read the command log");
                }
            },
        }
    }

    /// Appends a terminal event to a tracked command that does not run.
    fn end_cancelled(self: &Arc<Self>, command_id: &str, reason: &str) {
        let (event, bytes) = answer::weighed(answer::cancelled(reason));
        self.lock().push(command_id, event, bytes, Instant::now());
        self.tasks.spawn(Arc::clone(self).log_end(command_id.to_owned()));
    }

    /// Stores the properties of the connection: target id and the server's clock.
    pub(crate) fn registered(&self, ack: &HelloAck) {
        let mut state = self.lock();
        state.register(ack.compute_target_id);
        state.set_server_time(&ack.server_time, Timestamp::now());
    }

    /// Handles the acknowledgement of a hello: replays events and starts queued commands.
    pub(crate) fn resume(self: &Arc<Self>, resume: &BTreeMap<String, u64>) {
        self.lock().resume(resume);
        self.start_ready();
    }

    /// Handles a lost connection: no queued command is started until the next hello.
    pub(crate) fn disconnected(&self) {
        self.lock().disconnect();
    }

    /// Handles the acknowledgement of an event.
    pub(crate) fn acknowledged(&self, ack: &CommandEventAck) {
        self.lock().acknowledge(&ack.command_id, ack.sequence, Instant::now());
    }

    /// Waits for the next report to send, and returns it. Supports one caller at a time. Cancel-safe.
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

    /// Starts all commands that may run, and publishes changed counters.
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

/// Returns the events that end a command of an earlier process, given the last sequence that the server has.
fn terminal_events(progress: CommandProgress, seed: u64) -> Vec<answer::EventBody> {
    let logged_events: Vec<CommandEvent> = match progress {
        CommandProgress::Finished { events } => {
            events.into_iter().filter(|event| event.sequence > seed).collect()
        }
        CommandProgress::Started => Vec::new(),
    };
    // The log may retain only the last event of a large result. The server rejects events after a gap.
    let is_complete = logged_events.first().is_some_and(|first| first.sequence == seed + 1);
    if is_complete {
        logged_events.into_iter().map(|event| (event.event_type, event.data)).collect()
    } else {
        let text = "Loopgate was restarted while the command was running";
        vec![answer::failure(CommandFailure::Interrupted, text)]
    }
}
