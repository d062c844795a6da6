//! Monitor of one run: health checks until one succeeds, then waiting until the process exits.

use std::sync::Arc;
use std::time::Duration;

use regex::Regex;
use tokio::time::{Instant, sleep};

use crate::blocking::blocking;
use crate::deploys::Inner;
use crate::health;
use crate::log;
use crate::loopback::LoopbackUrl;
use crate::markers::{DeployFailure, FailedCommand, Markers};
use crate::run::{DeployPhase, DeployRun, GRACE, RunNote, end_process, read_note};

// Interval of the first checks; it grows by half each time up to `MAX_PAUSE`, so that fast servers are
// detected quickly.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(2);

impl Inner {
    /// Monitors a run until it ends.
    pub(crate) async fn follow(self: Arc<Self>, mut run: DeployRun) {
        let inner = self;
        let markers = Markers::of(&run.worktree);
        let mut pause = FIRST_PAUSE;
        let started_at = Instant::now();
        let mut installed_at: Option<Instant> = None;
        loop {
            // Read before the liveness check: a run that exits in between has written its final note, which
            // `record_exit` reads.
            let note = read_note(&inner.note_path(&run));
            if !run.is_alive() {
                record_exit(&inner, &run, &markers).await;
                return;
            }
            if !run.worktree.is_dir() {
                tracing::info!("worktree removed, terminating its deployment");
                end_process(&run, GRACE).await;
                advance(&inner, &run, DeployPhase::Ended, || {}).await;
                return;
            }
            match note {
                RunNote::Installing if started_at.elapsed() > inner.timing.install => {
                    end_process(&run, GRACE).await;
                    let mut failure = DeployFailure::new(FailedCommand::Install, None);
                    failure.reason =
                        Some(format!("time limit of {} s exceeded", inner.timing.install.as_secs()));
                    fail(&inner, &run, &markers, failure, DeployPhase::Ended).await;
                    return;
                }
                RunNote::Running if run.phase == DeployPhase::Starting => {
                    let since = *installed_at.get_or_insert_with(Instant::now);
                    match check(&run, &markers).await {
                        Ok(Some(url)) => {
                            run.phase = DeployPhase::Up;
                            let markers = markers.clone();
                            advance(&inner, &run, DeployPhase::Up, move || markers.write_success(&url)).await;
                        }
                        Ok(None) => {}
                        Err(reason) if since.elapsed() > inner.timing.health => {
                            run.phase = DeployPhase::Failed;
                            let mut failure = DeployFailure::new(FailedCommand::HealthCheckTimeout, Some(-1));
                            failure.reason = Some(reason);
                            fail(&inner, &run, &markers, failure, DeployPhase::Failed).await;
                        }
                        Err(reason) => inner.set_unhealthy(run.id, reason),
                    }
                }
                _ => {}
            }
            sleep(pause).await;
            pause = MAX_PAUSE.min(pause * 3 / 2);
        }
    }
}

async fn advance(
    inner: &Arc<Inner>,
    run: &DeployRun,
    phase: DeployPhase,
    write_marker: impl FnOnce() + Send + 'static,
) {
    let (inner, run) = (inner.clone(), run.clone());
    let _ = blocking(move || inner.advance(&run, phase, write_marker)).await;
}

async fn fail(
    inner: &Arc<Inner>,
    run: &DeployRun,
    markers: &Markers,
    failure: DeployFailure,
    phase: DeployPhase,
) {
    let markers = markers.clone();
    advance(inner, run, phase, move || markers.write_failure(&failure)).await;
}

/// Records the exit of the group's leader and terminates the remaining processes of the group. Exit code 0 is
/// a failure only when a health check was expected to succeed and never did.
async fn record_exit(inner: &Arc<Inner>, run: &DeployRun, markers: &Markers) {
    end_process(run, GRACE).await;
    let note = inner.note_path(run);
    let failure = match read_note(&note) {
        RunNote::Failed(failure) => Some(failure),
        // `compose up -d` exits with 0 while its containers run, so containers are exempt.
        RunNote::Succeeded
            if run.phase == DeployPhase::Starting && run.health_url.is_some() && !run.in_container =>
        {
            let mut failure = DeployFailure::new(FailedCommand::Deploy, Some(0));
            failure.reason = Some("the process exited before a health check succeeded".to_owned());
            Some(failure)
        }
        RunNote::Succeeded => None,
        // The leader was killed before it could write the exit code.
        RunNote::Installing => Some(DeployFailure::new(FailedCommand::Install, None)),
        RunNote::Running => Some(DeployFailure::new(FailedCommand::Deploy, None)),
    };
    match failure {
        Some(failure) => fail(inner, run, markers, failure, DeployPhase::Ended).await,
        None => advance(inner, run, DeployPhase::Ended, || {}).await,
    }
    // Best-effort: a leftover note is never read again, because run ids are unique.
    let _ = std::fs::remove_file(note);
}

/// Returns the URL at which a run responds, or `None` when its settings, log and listening ports contain no
/// URL.
///
/// # Errors
/// Returns the reason for the user when the run is not healthy yet.
async fn check(run: &DeployRun, markers: &Markers) -> Result<Option<String>, String> {
    let (checked, log_file) = (run.clone(), markers.log());
    let state = blocking(move || (checked.listeners(), log::tail(&log_file).unwrap_or_default()));
    let (listeners, output) = state.await.map_err(|error| error.to_string())?;
    // Another program may listen on the expected port and respond in place of the run. Ports of containers
    // belong to the engine, so they cannot be attributed.
    let owns =
        |url: &LoopbackUrl| run.in_container || listeners.iter().any(|listener| listener.port == url.port());
    let expected = run.health_url.as_deref().and_then(LoopbackUrl::parse);
    if let Some(pattern) = &run.health_log_pattern {
        let pattern = Regex::new(pattern)
            .map_err(|_| "healthLogPattern is not a valid regular expression".to_owned())?;
        if !output.lines().any(|line| pattern.is_match(line)) {
            return Err(format!("no line of the log matches {pattern}"));
        }
        return Ok(expected.map(|url| url.as_str().to_owned()).or_else(|| log::local_url(&output)));
    }
    let logged = log::local_url(&output).and_then(|url| LoopbackUrl::parse(&url));
    // Without an expected URL, the run's first listening port is checked.
    let listening = listeners.first().filter(|_| expected.is_none());
    let listening =
        listening.and_then(|listener| LoopbackUrl::parse(&format!("http://localhost:{}", listener.port)));
    let mut reason = None;
    for url in [&expected, &logged, &listening].into_iter().flatten() {
        let outcome: Result<(), String> = match health::is_up(url).await {
            Ok(()) if owns(url) => return Ok(Some(display_url(run, url))),
            Ok(()) => Err(format!("port {} belongs to another program", url.port())),
            Err(reason) => Err(reason),
        };
        reason = reason.or(outcome.err());
    }
    reason.map_or(Ok(None), Err)
}

/// Returns the health URL as spelled in the settings; other URLs in normalized form.
fn display_url(run: &DeployRun, url: &LoopbackUrl) -> String {
    let configured = run.health_url.as_deref().filter(|text| LoopbackUrl::parse(text).as_ref() == Some(url));
    configured.unwrap_or_else(|| url.as_str()).to_owned()
}
