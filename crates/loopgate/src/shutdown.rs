//! Stopping: one token that every part holds, phases with names, and two limits, so that the process
//! ends whatever hangs and says what it was.

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

/// What the phases may take together.
const SEQUENCE_LIMIT: Duration = Duration::from_secs(5);
/// After this long the process is cut short, even when nothing in it runs any more.
const HARD_EXIT: Duration = Duration::from_secs(8);
/// In the data directory, from a stop that failed to the next start.
const RECORD: &str = "failed-stop.json";

/// The stop of this process, from the request to the end.
pub struct Shutdown {
    requested: CancellationToken,
    record: PathBuf,
    progress: Mutex<ShutdownProgress>,
}

#[derive(Default)]
struct ShutdownProgress {
    since: Option<Instant>,
    /// The phases that run.
    phases: Vec<&'static str>,
}

/// A stop that did not end as it should, kept for the next start.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedStop {
    trigger: Trigger,
    result: FailedStopKind,
    /// What was not over; several are parted by commas.
    phase: String,
    /// Since the stop was asked for.
    elapsed_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What noticed that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Trigger {
    /// The phases themselves.
    ShutdownSequence,
    /// The thread that watches over the process.
    OuterHardExit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FailedStopKind {
    TimedOut,
    Failed,
}

impl Shutdown {
    /// A stop that Ctrl-C or a termination signal asks for. A second request changes nothing.
    pub fn on_signals(dir: &DataDir) -> io::Result<Arc<Self>> {
        let requested = CancellationToken::new();
        cancel_on_signals(requested.clone())?;
        Ok(Arc::new(Self { requested, record: dir.file(RECORD), progress: Mutex::default() }))
    }

    /// Cancelled as soon as the process is to stop.
    pub fn requested(&self) -> CancellationToken {
        self.requested.clone()
    }

    /// Runs a part of the program. What it does after the request is a phase of the stop.
    pub async fn part<T>(&self, phase: &'static str, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            () = self.requested.cancelled() => {}
            done = &mut work => return done,
        }
        self.phase(phase, work).await
    }

    /// Runs one phase of the stop.
    pub async fn phase<T>(&self, name: &'static str, work: impl Future<Output = T>) -> T {
        tracing::info!(phase = name, "stopping");
        self.progress().phases.push(name);
        let done = work.await;
        self.progress().phases.retain(|phase| *phase != name);
        tracing::info!(phase = name, "stopped");
        done
    }

    /// Runs the service to its end. Once the stop is asked for, it has [`SEQUENCE_LIMIT`].
    pub async fn bound(
        self: Arc<Self>,
        service: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<ExitCode> {
        let watching = tokio::spawn(self.clone().watch());
        let limit = async {
            self.requested.cancelled().await;
            self.progress().since = Some(Instant::now());
            tokio::time::sleep(SEQUENCE_LIMIT).await;
        };
        let ended = tokio::select! {
            ended = service => ended,
            () = limit => {
                self.report_failure(Trigger::ShutdownSequence, FailedStopKind::TimedOut, None);
                return Ok(ExitCode::FAILURE);
            }
        };
        watching.abort();
        if let Err(error) = &ended
            && self.requested.is_cancelled()
        {
            self.report_failure(
                Trigger::ShutdownSequence,
                FailedStopKind::Failed,
                Some(format!("{error:#}")),
            );
        }
        ended.map(|()| ExitCode::SUCCESS)
    }

    /// How the last stop failed, if it did; told once.
    pub fn last_failure(&self) -> Option<FailedStop> {
        let text = std::fs::read(&self.record).ok()?;
        let _ = std::fs::remove_file(&self.record);
        serde_json::from_slice(&text).ok()
    }

    /// Ends the process by force unless it has ended by itself in [`HARD_EXIT`]. That happens on a
    /// thread of its own, so that a stuck async runtime cannot hold it.
    async fn watch(self: Arc<Self>) {
        self.requested.cancelled().await;
        std::thread::spawn(move || {
            let (_keep, never) = std::sync::mpsc::channel::<()>();
            let _ = never.recv_timeout(HARD_EXIT);
            self.report_failure(Trigger::OuterHardExit, FailedStopKind::TimedOut, None);
            std::process::exit(1);
        });
    }

    /// Says to the person and to the next start that this stop failed.
    fn report_failure(&self, trigger: Trigger, result: FailedStopKind, error: Option<String>) {
        let progress = self.progress();
        let elapsed = progress.since.map(|since| since.elapsed()).unwrap_or_default();
        let failed = FailedStop {
            trigger,
            result,
            phase: progress.phases.join(", "),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            error,
        };
        // Nothing may hold the end up: not even a disk that takes no word about it.
        let _ = writeln!(io::stderr(), "loopgate: {failed}");
        let _ = serde_json::to_vec(&failed).map(|text| files::write_private(&self.record, &text));
    }

    fn progress(&self) -> MutexGuard<'_, ShutdownProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FailedStop {
    /// What the control plane is told of it.
    pub fn telemetry(&self) -> Telemetry {
        let mut telemetry = Telemetry::new(Severity::Error, "desktop.shutdown_failed", self.to_string());
        telemetry.diagnostics = serde_json::to_value(self).ok().and_then(|value| value.as_object().cloned());
        telemetry
    }
}

impl std::fmt::Display for FailedStop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.result, &self.error) {
            (FailedStopKind::Failed, Some(error)) => write!(f, "the stop failed: {error}"),
            _ => {
                let seconds = Duration::from_millis(self.elapsed_ms).as_secs();
                write!(f, "the stop was cut short after {seconds} s")?;
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
