//! Follows one run: until it answers, and then until it ends.

use std::sync::Arc;
use std::time::Duration;

use regex::Regex;
use tokio::time::{Instant, sleep};

use crate::deploys::{Inner, blocking};
use crate::health;
use crate::log;
use crate::loopback::LoopbackUrl;
use crate::markers::{FailedCommand, Failure, Markers};
use crate::ports::{Listening, listening};
use crate::run::{Noted, Phase, Run, noted};
use crate::stop::{GRACE, end_process};

/// Between the first two looks at a run; each further pause is half as long again.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// Follows a run to its end.
pub(crate) async fn follow(inner: Arc<Inner>, mut run: Run) {
    let markers = Markers::of(&run.worktree);
    let mut pause = FIRST_PAUSE;
    let begun = Instant::now();
    let mut installed: Option<Instant> = None;
    loop {
        let note = noted(&inner.note_of(&run));
        if !run.is_alive() {
            ended(&inner, &run, &markers).await;
            return;
        }
        if !run.worktree.is_dir() {
            tracing::info!("a worktree is gone; its deploy is ended");
            end_process(&run, GRACE).await;
            advance(&inner, &run, Phase::Ended, || {}).await;
            return;
        }
        match note {
            Noted::Installing if begun.elapsed() > inner.timing.install => {
                end_process(&run, GRACE).await;
                let mut failure = Failure::new(FailedCommand::Install, None);
                failure.reason = Some(format!("it took longer than {} s", inner.timing.install.as_secs()));
                fail(&inner, &run, &markers, failure, Phase::Ended).await;
                return;
            }
            Noted::Running if run.phase == Phase::Starting => {
                let since = *installed.get_or_insert_with(Instant::now);
                match check(&run, &markers).await {
                    Ok(Some(url)) => {
                        run.phase = Phase::Up;
                        let told = markers.clone();
                        advance(&inner, &run, Phase::Up, move || told.write_success(&url)).await;
                    }
                    Ok(None) => {}
                    Err(reason) if since.elapsed() > inner.timing.health => {
                        run.phase = Phase::Failed;
                        let mut failure = Failure::new(FailedCommand::HealthCheckTimeout, Some(-1));
                        failure.reason = Some(reason);
                        fail(&inner, &run, &markers, failure, Phase::Failed).await;
                    }
                    Err(reason) => inner.note_silence(run.id, reason),
                }
            }
            _ => {}
        }
        sleep(pause).await;
        pause = LAST_PAUSE.min(pause * 3 / 2);
    }
}

async fn advance(inner: &Arc<Inner>, run: &Run, phase: Phase, tell: impl FnOnce() + Send + 'static) {
    let (inner, run) = (inner.clone(), run.clone());
    let _ = blocking(move || inner.advance(&run, phase, tell)).await;
}

async fn fail(inner: &Arc<Inner>, run: &Run, markers: &Markers, failure: Failure, phase: Phase) {
    let told = markers.clone();
    advance(inner, run, phase, move || told.write_failure(&failure)).await;
}

/// Its process is gone. One that ended well is no failure, unless it should have served and never did.
async fn ended(inner: &Arc<Inner>, run: &Run, markers: &Markers) {
    let note = inner.note_of(run);
    let failure = match noted(&note) {
        Noted::Failed(failure) => Some(failure),
        Noted::Done if run.phase == Phase::Starting && run.health_url.is_some() && !run.in_container => {
            let mut failure = Failure::new(FailedCommand::Deploy, Some(0));
            failure.reason = Some("it ended without ever answering".to_owned());
            Some(failure)
        }
        Noted::Done => None,
        // It could not even note its end.
        Noted::Installing => Some(Failure::new(FailedCommand::Install, None)),
        Noted::Running => Some(Failure::new(FailedCommand::Deploy, None)),
    };
    match failure {
        Some(failure) => fail(inner, run, markers, failure, Phase::Ended).await,
        None => {
            advance(inner, run, Phase::Ended, || {}).await;
        }
    }
    let _ = std::fs::remove_file(note);
}

/// The address at which a run answers; `None` while nothing tells where it should.
async fn check(run: &Run, markers: &Markers) -> Result<Option<String>, String> {
    let (asked, log_file) = (run.clone(), markers.log());
    let looked = blocking(move || {
        let own: Vec<Listening> = listening().into_iter().filter(|one| asked.owns(one)).collect();
        (own, log::tail(&log_file).unwrap_or_default())
    });
    let (own, printed) = looked.await.map_err(|error| error.to_string())?;
    let owns = |url: &LoopbackUrl| run.in_container || own.iter().any(|one| one.port == url.port());
    let wanted = run.health_url.as_deref().and_then(LoopbackUrl::parse);
    if let Some(pattern) = &run.health_log_pattern {
        let pattern =
            Regex::new(pattern).map_err(|_| "healthLogPattern is no regular expression".to_owned())?;
        if !printed.lines().any(|line| pattern.is_match(line)) {
            return Err(format!("no line of the log matches {pattern}"));
        }
        return Ok(wanted.map(|url| url.as_str().to_owned()).or_else(|| log::local_url(&printed)));
    }
    let told = log::local_url(&printed).and_then(|url| LoopbackUrl::parse(&url));
    // Without a known port, whatever it listens on is meant.
    let found = own.first().filter(|_| wanted.is_none());
    let found = found.and_then(|one| LoopbackUrl::parse(&format!("http://localhost:{}", one.port)));
    let mut reason = None;
    for url in [&wanted, &told, &found].into_iter().flatten() {
        let answer: Result<(), String> = match health::is_up(url).await {
            Ok(()) if owns(url) => return Ok(Some(shown(run, url))),
            Ok(()) => Err(format!("port {} belongs to another program", url.port())),
            Err(reason) => Err(reason),
        };
        reason = reason.or(answer.err());
    }
    reason.map_or(Ok(None), Err)
}

/// The health URL is told as it was written.
fn shown(run: &Run, url: &LoopbackUrl) -> String {
    let written = run.health_url.as_deref().filter(|text| LoopbackUrl::parse(text).as_ref() == Some(url));
    written.unwrap_or_else(|| url.as_str()).to_owned()
}
