//! Waits for the end of a rate limit and announces the wait in `state.json`, the stream and the progress log.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use loopgate_api::assistant_record::WAITING_FOR_LIMIT;
use loopgate_api::names::ASSISTANT_OUTPUT;
use loopgate_home::{AssistantLimit, untrusted};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::driver::Driver;
use super::failure::KnownFailure;
use super::journal::Journal;
use super::limits::{AccountState, LimitTracker};
use crate::console::print_error;
use crate::plan;

/// Polling interval for the stored limit; another loop may clear it early.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Upper bound of the random delay after a limit, in pauses between iterations, so that the loops of an
/// account do not resume in the same instant and run into the limit again.
const STAGGER_PAUSES: f64 = 10.0;

/// Waits until the account is usable. Calls `announce` for each distinct end of a limit.
pub(crate) async fn wait_for_account(
    limits: &mut LimitTracker,
    env: &BTreeMap<OsString, OsString>,
    pause: Duration,
    stop: &CancellationToken,
    mut announce: impl FnMut(&AssistantLimit),
) -> AccountState {
    let mut announced = None;
    loop {
        let Some(limit) = limits.current(env) else {
            // Jitter applies only to loops that waited, and not to the loop with the probe (returned below).
            let stagger = pause.mul_f64(rand::random::<f64>() * STAGGER_PAUSES);
            let resumed = announced.is_none() || sleep(stagger, stop).await;
            return if resumed { AccountState::Usable(None) } else { AccountState::Stopped };
        };
        // A negative span, that is a limit that has ended, does not convert and counts as zero.
        let remaining = Duration::try_from(limit.until.duration_since(Timestamp::now())).unwrap_or_default();
        if remaining.is_zero()
            && let Some(probe) = limits.try_probe()
        {
            // Another loop may have probed the account between the read and the lock; then re-evaluate.
            if limits.current(env).as_ref() == Some(&limit) {
                return AccountState::Usable(probe);
            }
            continue;
        }
        // Announce again only when another loop has extended the limit.
        if announced != Some(limit.until) {
            announced = Some(limit.until);
            announce(&limit);
        }
        // Poll at least every second: the limit may be cleared early, or its probe be released by a killed
        // loop.
        let delay = if remaining.is_zero() { POLL_INTERVAL } else { remaining.min(POLL_INTERVAL) };
        if !sleep(delay, stop).await {
            return AccountState::Stopped;
        }
    }
}

/// Sleeps; returns `false` when the driver is stopped.
async fn sleep(time: Duration, stop: &CancellationToken) -> bool {
    stop.run_until_cancelled(tokio::time::sleep(time)).await.is_some()
}

/// Formats the end of a limit for display.
pub(crate) fn end_of(limit: &AssistantLimit) -> String {
    limit.until.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Builds the stream record that announces the wait.
pub(crate) fn wait_record(limit: &AssistantLimit) -> Value {
    let until = end_of(limit);
    let message = format!("{} The loop waits until {until} and then resumes by itself.", limit.reason);
    json!({"type": "system", "subtype": WAITING_FOR_LIMIT, "until": until, "message": message})
}

impl Driver {
    /// Waits until the account of the assistant is usable, and shows the wait.
    pub(super) async fn wait_for_account(&mut self) -> AccountState {
        let (workdir, journal) = (&self.state.workdir, &self.journal);
        let mut announced = false;
        let announce = |limit: &AssistantLimit| {
            announced = true;
            announce_wait(workdir, journal, limit);
        };
        let Self { limits, context, stop, .. } = self;
        let state = wait_for_account(limits, &context.env, context.pause, stop, announce).await;
        if announced && matches!(state, AccountState::Usable(_)) {
            self.journal.progress("The limit has ended; the loop resumes");
            if let Err(message) = plan::set_waiting_until(&self.state.workdir, None) {
                print_error(message);
            }
        }
        state
    }

    /// Stores the limit that ended a run, and the session to resume after it.
    pub(super) fn meet_limit(&mut self, failure: &KnownFailure, session: Option<&str>) {
        // The session is saved before the wait: a driver that is killed while waiting resumes the same
        // session.
        self.limits.store(failure);
        let Some(session) = session else { return };
        session.clone_into(&mut self.state.session);
        if let Err(error) = self.save_state() {
            print_error(format!("Warning: the session cannot be resumed after a restart: {error}"));
        }
    }
}

/// Announces the end of the wait in `state.json`, the stream and the progress log.
fn announce_wait(workdir: &Path, journal: &Journal, limit: &AssistantLimit) {
    if let Err(message) = plan::set_waiting_until(workdir, Some(&end_of(limit))) {
        print_error(message);
    }
    let record = wait_record(limit);
    // Failures are reported and ignored: the wait is the same whether it is shown or not.
    if let Err(error) = append_record(workdir, &record) {
        print_error(format!("Warning: cannot announce the wait in the output: {error}"));
    }
    journal.progress(record["message"].as_str().unwrap_or_default());
}

fn append_record(workdir: &Path, record: &Value) -> io::Result<()> {
    untrusted::append(&workdir.join(ASSISTANT_OUTPUT))?.write_all(format!("{record}\n").as_bytes())
}
