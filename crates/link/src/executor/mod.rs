//! Runs the commands of the control plane against this desktop's own gateway.
//!
//! Commands wait in order, two run at a time, and those with one lock never beside each other.
//! Their events are kept until they are acknowledged. The executor lives longer than any
//! connection: what runs goes on while there is none.

mod answer;
mod gateway;
mod lock;
mod memory;
mod rejection;
mod replay;
mod request;
mod run;
mod state;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loopgate_api::link::{
    Cancel, Command, CommandAck, CommandEvent, CommandEventAck, CommandFailure, Severity, Telemetry,
};
use loopgate_api::operation::{GATEWAY_PREFIX, OperationId};
use secrecy::SecretString;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

pub use gateway::{Gateway, InProcess};
pub use memory::{CommandMemory, FileMemory, Remembered, VolatileMemory};
pub(crate) use rejection::Rejection;
pub(crate) use state::Report;
pub use state::{MAX_IN_FLIGHT, QueueStats};

use state::{Job, State, Switch};

/// Waits of the executor.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// For the head of an answer.
    pub header_wait: Duration,
    /// For the head of an answer that needs long preparation.
    pub long_header_wait: Duration,
    /// For an acknowledgement of what was sent; then it is sent again.
    pub ack_progress: Duration,
    /// How long an ended command with every event acknowledged is kept.
    pub settled_retention: Duration,
    /// How long any other ended command is kept.
    pub unsettled_retention: Duration,
    /// For the disk to tell the true form of a path.
    pub lock_path: Duration,
    /// For the memory of commands to be written.
    pub memory: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            header_wait: Duration::from_secs(60),
            long_header_wait: Duration::from_secs(600),
            ack_progress: Duration::from_secs(10),
            settled_retention: Duration::from_secs(600),
            unsettled_retention: Duration::from_secs(24 * 3600),
            lock_path: Duration::from_secs(2),
            memory: Duration::from_secs(5),
        }
    }
}

/// What an executor works with.
pub struct ExecutorConfig {
    /// Answers the requests.
    pub gateway: Arc<dyn Gateway>,
    /// The gateway's credential for callers in this process.
    pub gateway_token: SecretString,
    /// Which commands were started.
    pub memory: Arc<dyn CommandMemory>,
    /// Whether the desktop is set up; until then every command is refused.
    pub setup_complete: Box<dyn Fn() -> bool + Send + Sync>,
    /// Its waits.
    pub timing: Timing,
}

/// Executes commands; shared by the connections that come and go.
pub struct Executor {
    config: ExecutorConfig,
    state: Mutex<State>,
    /// Woken when there may be something for the wire.
    wake: Notify,
    stats: watch::Sender<QueueStats>,
    tasks: TaskTracker,
}

impl Executor {
    /// An executor without commands; nothing runs before the first connection.
    #[must_use]
    pub fn new(config: ExecutorConfig) -> Arc<Self> {
        let (stats, _) = watch::channel(QueueStats::default());
        let (state, wake, tasks) = (Mutex::default(), Notify::new(), TaskTracker::new());
        Arc::new(Self { config, state, wake, stats, tasks })
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
    /// program ends is not answered, so that it comes again.
    pub(crate) async fn receive(self: &Arc<Self>, command: Command) -> Option<CommandAck> {
        if self.lock().is_stopping() {
            return None;
        }
        let command_id = command.command_id.clone();
        Some(match self.admit(command).await {
            Ok(()) => CommandAck::accepted(command_id),
            Err(rejection) => {
                tracing::info!(command_id, %rejection, "command rejected");
                CommandAck::rejected(command_id, rejection.code(), rejection.to_string())
            }
        })
    }

    async fn admit(self: &Arc<Self>, command: Command) -> Result<(), Rejection> {
        if !(self.config.setup_complete)() {
            return Err(Rejection::OnboardingNotCompleted);
        }
        let operation =
            OperationId::of_path(request::path(&command)).ok_or(Rejection::OperationPathMismatch)?;
        if let Some(rejection) = self.lock().closed() {
            return Err(rejection);
        }
        if self.is_known(&command.command_id, Some(operation)) {
            return Ok(());
        }
        if command.command_id.is_empty() {
            return Err(Rejection::MissingCommandId);
        }
        if request::method(&command).is_none() {
            return Err(Rejection::UnsupportedMethod);
        }
        if !command.path.starts_with(GATEWAY_PREFIX) {
            return Err(Rejection::ForeignPath);
        }
        if self.lock().queue_is_full() {
            return Err(Rejection::QueueFull);
        }
        let lock = lock::key(&command, operation, self.config.timing.lock_path).await;
        self.trace(Severity::Info, "command.initiated", "Command received", &command, operation);
        self.lock().enqueue(Job { command, operation, lock, switch: Arc::new(Switch::default()) });
        self.start_ready();
        Ok(())
    }

    /// Whether a command came before, in this life or an earlier one. An ended one is answered
    /// with its events once more; one that an earlier life left unfinished is interrupted.
    ///
    /// Not so the start of a loop. The loop may have outlived us, and to call it interrupted would
    /// fail it in the control plane while it works on. Its id keeps it from being started twice,
    /// so it is asked for again: what runs says so, what never began begins.
    fn is_known(&self, command_id: &str, operation: Option<OperationId>) -> bool {
        let mut state = self.lock();
        if !state.is_known(command_id) {
            let Some(remembered) = self.config.memory.recall(command_id) else { return false };
            if remembered == Remembered::Started && operation == Some(OperationId::OrchestratorLoop) {
                return false;
            }
            let seed = state.seed(command_id);
            state.track(command_id);
            for event in ending(remembered, seed) {
                state.push(command_id, (event.0, event.1), event.2, Instant::now());
            }
        }
        state.repeat_if_ended(command_id);
        drop(state);
        self.wake.notify_one();
        true
    }

    /// Ends a command that waits or runs. The server repeats the wish until it has the command's last
    /// event; so one that never came is ended here, too, and one that ended says so again.
    pub(crate) fn cancel(self: &Arc<Self>, cancel: &Cancel) {
        let reason = cancel.reason.as_deref().unwrap_or("cancelled");
        let mut state = self.lock();
        let Some(job) = state.unqueue(&cancel.command_id) else {
            let runs = state.pull_switch(&cancel.command_id, reason);
            drop(state);
            if !runs && !self.is_known(&cancel.command_id, None) {
                self.cancel_unknown(&cancel.command_id, reason);
            }
            return;
        };
        let (event, bytes) = run::weighed(answer::cancelled(reason));
        state.push(&cancel.command_id, event, bytes, Instant::now());
        drop(state);
        self.trace(Severity::Info, "command.cancelled", "Command cancelled", &job.command, job.operation);
        self.tasks.spawn(Arc::clone(self).remember_end(cancel.command_id.clone()));
        self.start_ready();
    }

    /// Ends a command that has not come: when it comes after all, it is known as ended.
    fn cancel_unknown(self: &Arc<Self>, command_id: &str, reason: &str) {
        let mut state = self.lock();
        state.track(command_id);
        let (event, bytes) = run::weighed(answer::cancelled(reason));
        state.push(command_id, event, bytes, Instant::now());
        drop(state);
        self.tasks.spawn(Arc::clone(self).remember_end(command_id.to_owned()));
        self.wake.notify_one();
    }

    /// A hello was acknowledged; commands run from now on.
    pub(crate) fn resume(self: &Arc<Self>, resume: &BTreeMap<String, u64>) {
        self.lock().resume(resume);
        self.start_ready();
    }

    /// The connection is gone; nothing new starts.
    pub(crate) fn disconnected(&self) {
        self.lock().disconnect();
    }

    /// The server has an event.
    pub(crate) fn acknowledged(&self, ack: &CommandEventAck) {
        self.lock().acknowledge(&ack.command_id, ack.sequence, Instant::now());
    }

    /// The next thing for the wire, as soon as there is one. For one connection at a time; nothing
    /// is lost when the future is dropped.
    pub(crate) async fn next_report(&self) -> Report {
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
    fn start_ready(self: &Arc<Self>) {
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

    fn trace(
        &self,
        severity: Severity,
        category: &str,
        message: &str,
        command: &Command,
        operation: OperationId,
    ) {
        let mut telemetry = Telemetry::new(severity, category, message);
        telemetry.trace.command_id.clone_from(&command.command_id);
        telemetry.trace.operation_id = operation.to_string();
        self.telemetry(telemetry);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events that end a command of an earlier life, given the last sequence that the server has.
fn ending(
    remembered: Remembered,
    seed: u64,
) -> Vec<(loopgate_api::link::EventType, serde_json::Value, usize)> {
    let known: Vec<CommandEvent> = match remembered {
        Remembered::Finished { events } => events.into_iter().filter(|event| event.sequence > seed).collect(),
        Remembered::Started => Vec::new(),
    };
    let whole = known.first().is_some_and(|first| first.sequence == seed + 1);
    let events = if whole {
        known.into_iter().map(|event| (event.event_type, event.data)).collect()
    } else {
        vec![answer::failure(CommandFailure::Interrupted, "the desktop was restarted while the command ran")]
    };
    let weigh = |event| {
        let (event, bytes): (answer::Event, usize) = run::weighed(event);
        (event.0, event.1, bytes)
    };
    events.into_iter().map(weigh).collect()
}

#[cfg(test)]
mod tests;
