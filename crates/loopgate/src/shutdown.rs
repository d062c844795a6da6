//! Shutdown: one cancellation token for all components, named phases, and two timeouts, so that the process
//! exits even when a component hangs, and reports which one.

use std::future::Future;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loopgate_api::link::{Severity, Telemetry};
use loopgate_home::{DataDir, files};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// Time after the limit of the phases at which the process exits even if the async runtime is blocked.
const HARD_EXIT_DELAY: Duration = Duration::from_secs(3);
/// Name of the report in the data directory. Written by a failed shutdown, read by the next start.
const RECORD: &str = "failed-stop.json";

/// The shutdown of this process, from the request to the exit.
pub struct Shutdown {
    requested: CancellationToken,
    /// Time limit of all phases together.
    limit: Duration,
    record: PathBuf,
    progress: Mutex<ShutdownProgress>,
}

#[derive(Default)]
struct ShutdownProgress {
    since: Option<Instant>,
    /// Phases that are in progress.
    phases: Vec<&'static str>,
}

/// Report of a failed shutdown, stored for the next start.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedShutdown {
    trigger: Trigger,
    result: ShutdownFailureKind,
    /// Phases that were in progress, separated by commas.
    phase: String,
    /// Milliseconds since the shutdown was requested.
    elapsed_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The mechanism that detected the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Trigger {
    /// The phases: one failed, or their time limit was exceeded.
    ShutdownSequence,
    /// The watchdog thread, [`HARD_EXIT_DELAY`] after that limit.
    OuterHardExit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ShutdownFailureKind {
    TimedOut,
    Failed,
}

impl Shutdown {
    /// Time limit for a desktop. With the watchdog's delay, it stays below the 10 s after which `docker stop`
    /// kills a container, so that the failure can still be recorded.
    pub const DESKTOP_LIMIT: Duration = Duration::from_secs(5);

    /// Creates a shutdown that is requested by Ctrl-C or SIGTERM. Further signals have no effect. `limit` is the
    /// time limit of all phases together.
    pub fn on_signals(dir: &DataDir, limit: Duration) -> io::Result<Arc<Self>> {
        let requested = CancellationToken::new();
        cancel_on_signals(requested.clone())?;
        Ok(Arc::new(Self { requested, limit, record: dir.file(RECORD), progress: Mutex::default() }))
    }

    /// Returns a token that is cancelled when the shutdown is requested.
    pub fn requested(&self) -> CancellationToken {
        self.requested.clone()
    }

    /// Runs a component. The work that it does after the request is a phase of the shutdown.
    pub async fn part<T>(&self, phase: &'static str, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            () = self.requested.cancelled() => {}
            output = &mut work => return output,
        }
        self.phase(phase, work).await
    }

    /// Runs one phase of the shutdown.
    pub async fn phase<T>(&self, name: &'static str, work: impl Future<Output = T>) -> T {
        tracing::info!(phase = name, "stopping");
        self.progress().phases.push(name);
        let output = work.await;
        self.progress().phases.retain(|phase| *phase != name);
        tracing::info!(phase = name, "stopped");
        output
    }

    /// Runs the service to completion. After the request it has the time limit to complete.
    pub async fn bound(
        self: Arc<Self>,
        service: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<ExitCode> {
        let watchdog = tokio::spawn(self.clone().watch());
        let limit = async {
            self.requested.cancelled().await;
            self.progress().since = Some(Instant::now());
            tokio::time::sleep(self.limit).await;
        };
        let result = tokio::select! {
            result = service => result,
            // The service is dropped here, but tasks that it spawned run until the process exits.
            () = limit => {
                self.report_failure(Trigger::ShutdownSequence, ShutdownFailureKind::TimedOut, None);
                return Ok(ExitCode::FAILURE);
            }
        };
        watchdog.abort();
        if let Err(error) = &result
            && self.requested.is_cancelled()
        {
            self.report_failure(
                Trigger::ShutdownSequence,
                ShutdownFailureKind::Failed,
                Some(format!("{error:#}")),
            );
        }
        result.map(|()| ExitCode::SUCCESS)
    }

    /// Returns the report of the previous shutdown if that failed, and deletes it.
    pub fn last_failure(&self) -> Option<FailedShutdown> {
        let text = std::fs::read(&self.record).ok()?;
        // Deleted even if it cannot be parsed, so that no start reports it again.
        let _ = std::fs::remove_file(&self.record);
        serde_json::from_slice(&text).ok()
    }

    /// Exits the process [`HARD_EXIT_DELAY`] after the time limit. Uses a thread, because a blocked async runtime does
    /// not fire timers.
    async fn watch(self: Arc<Self>) {
        self.requested.cancelled().await;
        std::thread::spawn(move || {
            // A receive that always times out: the thread only waits, and ends with the process.
            let (_sender, receiver) = std::sync::mpsc::channel::<()>();
            let _ = receiver.recv_timeout(self.limit + HARD_EXIT_DELAY);
            self.report_failure(Trigger::OuterHardExit, ShutdownFailureKind::TimedOut, None);
            std::process::exit(1);
        });
    }

    /// Reports the failure to the user and to the next start.
    fn report_failure(&self, trigger: Trigger, result: ShutdownFailureKind, error: Option<String>) {
        let progress = self.progress();
        let elapsed = progress.since.map(|since| since.elapsed()).unwrap_or_default();
        let failure = FailedShutdown {
            trigger,
            result,
            phase: progress.phases.join(", "),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            error,
        };
        // Errors are ignored: nothing may delay the exit, not even a full disk.
        let _ = writeln!(io::stderr(), "loopgate: {failure}");
        let _ = serde_json::to_vec(&failure).map(|text| files::write_private(&self.record, &text));
    }

    fn progress(&self) -> MutexGuard<'_, ShutdownProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FailedShutdown {
    /// Returns the report as telemetry for the control plane.
    pub fn telemetry(&self) -> Telemetry {
        let mut telemetry = Telemetry::new(Severity::Error, "desktop.shutdown_failed", self.to_string());
        telemetry.diagnostics = serde_json::to_value(self).ok().and_then(|value| value.as_object().cloned());
        telemetry
    }
}

impl std::fmt::Display for FailedShutdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.result, &self.error) {
            (ShutdownFailureKind::Failed, Some(error)) => write!(f, "shutdown failed: {error}"),
            _ => {
                let seconds = Duration::from_millis(self.elapsed_ms).as_secs();
                write!(f, "shutdown timed out after {seconds} s")?;
                if self.phase.is_empty() { Ok(()) } else { write!(f, ", in {}", self.phase) }
            }
        }
    }
}

fn cancel_on_signals(token: CancellationToken) -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            token.cancel();
        });
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            token.cancel();
        }
    });
    Ok(())
}
