//! Monitors one run: health checks until one succeeds, then until its process ends.

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

/// Pause after the first look at a run; each further pause is half as long again.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(2);

impl Inner {
    /// Monitors a run to its end.
    pub(crate) async fn follow(self: Arc<Self>, mut run: DeployRun) {
        let inner = self;
        let markers = Markers::of(&run.worktree);
        let mut pause = FIRST_PAUSE;
        let begun = Instant::now();
        let mut installed_at: Option<Instant> = None;
        loop {
            let note = read_note(&inner.note_path(&run));
            if !run.is_alive() {
                record_exit(&inner, &run, &markers).await;
                return;
            }
            if !run.worktree.is_dir() {
                tracing::info!("a worktree was removed; its deploy is ended");
                end_process(&run, GRACE).await;
                advance(&inner, &run, DeployPhase::Ended, || {}).await;
                return;
            }
            match note {
                RunNote::Installing if begun.elapsed() > inner.timing.install => {
                    end_process(&run, GRACE).await;
                    let mut failure = DeployFailure::new(FailedCommand::Install, None);
                    failure.reason =
                        Some(format!("it took longer than {} s", inner.timing.install.as_secs()));
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

/// Records the exit of the group's leader, and ends what is left of the group. Exit code 0 is no failure, unless a
/// health check was expected to succeed and never did.
async fn record_exit(inner: &Arc<Inner>, run: &DeployRun, markers: &Markers) {
    end_process(run, GRACE).await;
    let note = inner.note_path(run);
    let failure = match read_note(&note) {
        RunNote::Failed(failure) => Some(failure),
        RunNote::Succeeded
            if run.phase == DeployPhase::Starting && run.health_url.is_some() && !run.in_container =>
        {
            let mut failure = DeployFailure::new(FailedCommand::Deploy, Some(0));
            failure.reason = Some("it ended without ever answering".to_owned());
            Some(failure)
        }
        RunNote::Succeeded => None,
        // The leader was killed before it could write how its command ended.
        RunNote::Installing => Some(DeployFailure::new(FailedCommand::Install, None)),
        RunNote::Running => Some(DeployFailure::new(FailedCommand::Deploy, None)),
    };
    match failure {
        Some(failure) => fail(inner, run, markers, failure, DeployPhase::Ended).await,
        None => advance(inner, run, DeployPhase::Ended, || {}).await,
    }
    let _ = std::fs::remove_file(note);
}

/// The URL at which a run answers; `None` while neither its settings nor its log nor its ports name one.
///
/// # Errors
/// Why it is not healthy yet, for a person.
async fn check(run: &DeployRun, markers: &Markers) -> Result<Option<String>, String> {
    let (checked, log_file) = (run.clone(), markers.log());
    let looked = blocking(move || (checked.listeners(), log::tail(&log_file).unwrap_or_default()));
    let (own, printed) = looked.await.map_err(|error| error.to_string())?;
    let owns = |url: &LoopbackUrl| run.in_container || own.iter().any(|one| one.port == url.port());
    let expected = run.health_url.as_deref().and_then(LoopbackUrl::parse);
    if let Some(pattern) = &run.health_log_pattern {
        let pattern =
            Regex::new(pattern).map_err(|_| "healthLogPattern is no regular expression".to_owned())?;
        if !printed.lines().any(|line| pattern.is_match(line)) {
            return Err(format!("no line of the log matches {pattern}"));
        }
        return Ok(expected.map(|url| url.as_str().to_owned()).or_else(|| log::local_url(&printed)));
    }
    let logged = log::local_url(&printed).and_then(|url| LoopbackUrl::parse(&url));
    // Without an expected URL, its first listening port is tried.
    let listening = own.first().filter(|_| expected.is_none());
    let listening = listening.and_then(|one| LoopbackUrl::parse(&format!("http://localhost:{}", one.port)));
    let mut reason = None;
    for url in [&expected, &logged, &listening].into_iter().flatten() {
        let answer: Result<(), String> = match health::is_up(url).await {
            Ok(()) if owns(url) => return Ok(Some(display_url(run, url))),
            Ok(()) => Err(format!("port {} belongs to another program", url.port())),
            Err(reason) => Err(reason),
        };
        reason = reason.or(answer.err());
    }
    reason.map_or(Ok(None), Err)
}

/// The health URL as its settings spell it; any other URL in its normal form.
fn display_url(run: &DeployRun, url: &LoopbackUrl) -> String {
    let written = run.health_url.as_deref().filter(|text| LoopbackUrl::parse(text).as_ref() == Some(url));
    written.unwrap_or_else(|| url.as_str()).to_owned()
}
