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
use crate::run::{DeployPhase, DeployRun, GRACE, RunNote, read_note};

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
        let mut ports = SettledPorts::default();
        let mut is_daemon = false;
        loop {
            let has_leader = run.is_alive();
            // Read after the liveness check: a leader that has exited has written its final note.
            let note = read_note(&inner.note_path(&run));
            if !has_leader {
                let remains = note == RunNote::Succeeded && has_processes(&run).await;
                is_daemon |= remains;
                // The start command may have handed its containers to the engine, which has no process of the run.
                let is_pending = note == RunNote::Succeeded
                    && run.in_container
                    && run.phase == DeployPhase::Starting
                    && run.health_url.is_some();
                if !remains && !is_pending {
                    record_exit(&inner, &run, &markers, is_daemon).await;
                    return;
                }
            }
            if !run.worktree.is_dir() {
                tracing::info!("worktree removed, terminating its deployment");
                let _ = inner.end(&run, GRACE).await;
                advance(&inner, &run, DeployPhase::Ended, || {}).await;
                return;
            }
            match note {
                RunNote::Installing if started_at.elapsed() > inner.timing.install => {
                    let _ = inner.end(&run, GRACE).await;
                    let mut failure = DeployFailure::new(FailedCommand::Install, None);
                    failure.reason =
                        Some(format!("time limit of {} s exceeded", inner.timing.install.as_secs()));
                    fail(&inner, &run, &markers, failure, DeployPhase::Ended).await;
                    return;
                }
                RunNote::Running | RunNote::Succeeded if run.phase == DeployPhase::Starting => {
                    let since = *installed_at.get_or_insert_with(Instant::now);
                    match check(&run, &markers, &mut ports, inner.timing.settled).await {
                        Ok(Some(url)) => {
                            run.phase = DeployPhase::Up;
                            run.url = Some(url.clone());
                            // Before the marker, with which the status becomes `completed`.
                            let (recorder, recorded) = (inner.clone(), run.clone());
                            let record = move || {
                                recorder.amend(&recorded, |record| record.url.clone_from(&recorded.url));
                            };
                            let _ = blocking(record).await;
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

/// Returns whether processes of a run are running after its leader has exited.
async fn has_processes(run: &DeployRun) -> bool {
    let run = run.clone();
    // When the process table cannot be read, the run continues until it can be.
    !matches!(blocking(move || run.processes()).await, Ok(Ok(processes)) if processes.is_empty())
}

/// Records the exit of a run and terminates the remaining processes. Exit code 0 is a failure only when a health
/// check was expected to succeed and never did, or when a server in the background has exited.
async fn record_exit(inner: &Arc<Inner>, run: &DeployRun, markers: &Markers, is_daemon: bool) {
    let _ = inner.end(run, GRACE).await;
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
        RunNote::Succeeded if is_daemon && run.phase == DeployPhase::Up => {
            let mut failure = DeployFailure::new(FailedCommand::Deploy, Some(0));
            failure.reason = Some("the server that it started in the background has exited".to_owned());
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

/// The ports on which a run listens, and since when they are unchanged.
#[derive(Default)]
struct SettledPorts(Option<(Vec<u16>, Instant)>);

impl SettledPorts {
    /// Returns for how long the ports are unchanged.
    fn unchanged_for(&mut self, ports: &[u16]) -> Duration {
        match &self.0 {
            Some((earlier, since)) if earlier == ports => since.elapsed(),
            _ => {
                self.0 = Some((ports.to_vec(), Instant::now()));
                Duration::ZERO
            }
        }
    }
}

/// Returns the URL at which a run responds, or `None` when its settings, log and listening ports contain no
/// URL. Checks the URL of the settings, then the URLs in the log, the last one first, and then, when the port is
/// not configured, the ports on which the run listens.
///
/// # Errors
/// Returns the reason for the user when the run is not healthy yet.
async fn check(
    run: &DeployRun,
    markers: &Markers,
    settled: &mut SettledPorts,
    settling_time: Duration,
) -> Result<Option<String>, String> {
    let (checked, log_file) = (run.clone(), markers.log());
    let state = blocking(move || (checked.ports(), log::tail(&log_file).unwrap_or_default()));
    let (ports, output) = state.await.map_err(|error| error.to_string())?;
    // Another program may listen on a port and respond in place of the run. Ports of containers belong to the
    // engine, so they cannot be attributed.
    let owns = |url: &LoopbackUrl| run.in_container || ports.plausible.contains(&url.port());
    let expected = run.health_url.as_deref().and_then(LoopbackUrl::parse);
    let printed = log::local_urls(&output).into_iter().filter_map(|url| LoopbackUrl::parse(&url));
    let mut printed = printed.filter(|url| expected.as_ref() != Some(url) && owns(url));
    let is_hint = run.port_is_hint || expected.is_none();
    if let Some(pattern) = &run.health_log_pattern {
        let pattern = Regex::new(pattern)
            .map_err(|_| "healthLogPattern is not a valid regular expression".to_owned())?;
        if !output.lines().any(|line| pattern.is_match(line)) {
            return Err(format!("no line of the log matches {pattern}"));
        }
        let is_served = expected.as_ref().is_some_and(|url| !is_hint || owns(url));
        let served = expected.clone().filter(|_| is_served).or_else(|| printed.next());
        let served = served.or_else(|| LoopbackUrl::of_port("http", *ports.own.first().filter(|_| is_hint)?));
        let url = served.or(expected).map(|url| display_url(run, &url));
        return Ok(url.or_else(|| log::local_url(&output)));
    }
    let mut reason = None;
    if let Some(url) = &expected {
        match answer(url, is_hint).await {
            Ok((url, _)) if owns(&url) => return Ok(Some(display_url(run, &url))),
            Ok((url, _)) => reason = Some(format!("port {} belongs to another program", url.port())),
            Err(error) => reason = Some(error),
        }
    }
    for url in printed {
        match answer(&url, false).await {
            Ok((url, _)) => return Ok(Some(display_url(run, &url))),
            Err(error) => reason = reason.or(Some(error)),
        }
    }
    if is_hint && settled.unchanged_for(&ports.own) >= settling_time {
        let mut answers = Vec::new();
        for url in ports.own.iter().filter_map(|port| LoopbackUrl::of_port("http", *port)) {
            match answer(&url, true).await {
                Ok(answer) => answers.push(answer),
                Err(error) => reason = reason.or(Some(error)),
            }
        }
        // The others may be debuggers or servers for file changes, which have no page.
        let has_page = |(_, status): &&(LoopbackUrl, Option<u16>)| status.is_none_or(|status| status < 400);
        let best = answers.iter().find(has_page).or(answers.first());
        if let Some((url, _)) = best {
            return Ok(Some(display_url(run, url)));
        }
    }
    reason.map_or(Ok(None), Err)
}

/// Checks that a server is up. Returns its URL and HTTP status. If the scheme is a guess, HTTPS is tried when the
/// server rejects HTTP: some servers respond to HTTP on their HTTPS port with status 400.
async fn answer(url: &LoopbackUrl, scheme_is_guess: bool) -> Result<(LoopbackUrl, Option<u16>), String> {
    let result = health::is_up(url).await;
    let may_be_https = scheme_is_guess
        && url.url().scheme() == "http"
        && !matches!(result, Ok(Some(status)) if status != 400);
    if may_be_https
        && let Some(secure) = LoopbackUrl::of_port("https", url.port())
        && let Ok(status) = health::is_up(&secure).await
    {
        return Ok((secure, status));
    }
    result.map(|status| (url.clone(), status))
}

/// Returns the health URL as spelled in the settings; other URLs in normalized form.
fn display_url(run: &DeployRun, url: &LoopbackUrl) -> String {
    let configured = run.health_url.as_deref().filter(|text| LoopbackUrl::parse(text).as_ref() == Some(url));
    configured.unwrap_or_else(|| url.as_str()).to_owned()
}
