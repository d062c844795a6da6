//! How loops wait while the assistant's account is limited, and where it shows that.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use loopgate_api::assistant_stream::WAITING_FOR_LIMIT;
use loopgate_api::names::ASSISTANT_OUTPUT;
use loopgate_home::{AssistantLimit, untrusted};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::driver::Driver;
use super::failure::KnownFailure;
use super::journal::Journal;
use super::limits::{AccountLimits, AccountState};
use crate::console::print_error;
use crate::plan;

/// Longest time between two looks at the stored limit.
const LOOK: Duration = Duration::from_secs(1);
/// The loops of an account go on within this many pauses between iterations.
const STAGGER_PAUSES: f64 = 10.0;

/// Waits while an account is limited. `announce` is told of each end that it waits for.
pub(super) async fn wait_for_account(
    limits: &mut AccountLimits,
    env: &BTreeMap<OsString, OsString>,
    pause: Duration,
    stop: &CancellationToken,
    mut announce: impl FnMut(&AssistantLimit),
) -> AccountState {
    let mut announced = None;
    loop {
        let Some(limit) = limits.current(env) else {
            let stagger = pause.mul_f64(rand::random::<f64>() * STAGGER_PAUSES);
            let goes_on = announced.is_none() || sleep(stagger, stop).await;
            return if goes_on { AccountState::Usable(None) } else { AccountState::Stopped };
        };
        let left = Duration::try_from(limit.until.duration_since(Timestamp::now())).unwrap_or_default();
        if left.is_zero()
            && let Some(probe) = limits.try_probe()
        {
            // Another loop may have tried the account between the look and the lock.
            if limits.current(env).as_ref() == Some(&limit) {
                return AccountState::Usable(probe);
            }
            continue;
        }
        if announced != Some(limit.until) {
            announced = Some(limit.until);
            announce(&limit);
        }
        let look = if left.is_zero() { LOOK } else { left.min(LOOK) };
        if !sleep(look, stop).await {
            return AccountState::Stopped;
        }
    }
}

/// `false` when it is asked to stop.
async fn sleep(time: Duration, stop: &CancellationToken) -> bool {
    stop.run_until_cancelled(tokio::time::sleep(time)).await.is_some()
}

/// When a limit ends, as it is shown.
pub(super) fn end_of(limit: &AssistantLimit) -> String {
    limit.until.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The record of the stream that says until when the loop waits.
pub(super) fn wait_record(limit: &AssistantLimit) -> Value {
    let until = end_of(limit);
    let message = format!("{} The loop waits until {until} and then goes on by itself.", limit.reason);
    json!({"type": "system", "subtype": WAITING_FOR_LIMIT, "until": until, "message": message})
}

impl Driver {
    /// Waits while the assistant's account is limited.
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
            self.journal.progress("The loop goes on after the limit");
            if let Err(message) = plan::set_waiting_until(&self.state.workdir, None) {
                print_error(message);
            }
        }
        state
    }

    /// Stores the limit that the assistant met, and the session that goes on after it.
    pub(super) fn meet_limit(&mut self, failure: &KnownFailure, session: Option<&str>) {
        self.limits.store(failure);
        let Some(session) = session else { return };
        session.clone_into(&mut self.state.session);
        if let Err(error) = self.save_state() {
            print_error(format!("Warning: the session cannot be resumed after a restart: {error}"));
        }
    }
}

/// Says in `state.json`, the stream and the progress log until when the loop waits.
fn announce_wait(workdir: &Path, journal: &Journal, limit: &AssistantLimit) {
    if let Err(message) = plan::set_waiting_until(workdir, Some(&end_of(limit))) {
        print_error(message);
    }
    let record = wait_record(limit);
    if let Err(error) = append_record(workdir, &record) {
        print_error(format!("Warning: the wait is not shown in the output: {error}"));
    }
    journal.progress(record["message"].as_str().unwrap_or_default());
}

fn append_record(workdir: &Path, record: &Value) -> io::Result<()> {
    untrusted::append(&workdir.join(ASSISTANT_OUTPUT))?.write_all(format!("{record}\n").as_bytes())
}
