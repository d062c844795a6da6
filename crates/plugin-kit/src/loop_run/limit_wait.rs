//! How the driver waits while the assistant's account is limited, and where it shows that.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use loopgate_api::assistant_stream::WAITING_FOR_LIMIT;
use loopgate_api::names::ASSISTANT_OUTPUT;
use loopgate_home::{AssistantLimit, untrusted};
use serde_json::{Value, json};

use super::driver::Driver;
use super::failure::KnownFailure;
use super::limits::AccountState;
use crate::console::print_error;
use crate::plan;

/// Longest time between two looks at the stored limit.
const LOOK: Duration = Duration::from_secs(1);
/// The loops of an account go on within this many pauses between iterations.
const STAGGER_PAUSES: f64 = 10.0;
impl Driver {
    /// Waits while the assistant's account is limited.
    pub(super) async fn wait_for_account(&mut self) -> AccountState {
        let mut announced = None;
        let state = loop {
            let Some(limit) = self.limits.current(&self.context.env) else {
                let stagger = self.context.pause.mul_f64(rand::random::<f64>() * STAGGER_PAUSES);
                let goes_on = announced.is_none() || self.sleep(stagger).await;
                break if goes_on { AccountState::Usable(None) } else { AccountState::Stopped };
            };
            let left = Duration::try_from(limit.until.duration_since(Timestamp::now())).unwrap_or_default();
            if left.is_zero()
                && let Some(probe) = self.limits.try_probe()
            {
                // Another loop may have tried the account between the look and the lock.
                if self.limits.current(&self.context.env).as_ref() == Some(&limit) {
                    break AccountState::Usable(probe);
                }
                continue;
            }
            if announced != Some(limit.until) {
                announced = Some(limit.until);
                self.announce_wait(&limit);
            }
            let look = if left.is_zero() { LOOK } else { left.min(LOOK) };
            if !self.sleep(look).await {
                break AccountState::Stopped;
            }
        };
        if announced.is_some() && matches!(state, AccountState::Usable(_)) {
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

    /// Says in `state.json`, the stream and the progress log until when the loop waits.
    fn announce_wait(&self, limit: &AssistantLimit) {
        let until = limit.until.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let message = format!("{} The loop waits until {until} and then goes on by itself.", limit.reason);
        if let Err(message) = plan::set_waiting_until(&self.state.workdir, Some(&until)) {
            print_error(message);
        }
        let record =
            json!({"type": "system", "subtype": WAITING_FOR_LIMIT, "until": until, "message": message});
        if let Err(error) = append_record(&self.state.workdir, &record) {
            print_error(format!("Warning: the wait is not shown in the output: {error}"));
        }
        self.journal.progress(&message);
    }

    /// `false` when the driver is asked to stop.
    async fn sleep(&self, time: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.stop.cancelled() => false,
        }
    }
}

fn append_record(workdir: &Path, record: &Value) -> io::Result<()> {
    untrusted::append(&workdir.join(ASSISTANT_OUTPUT))?.write_all(format!("{record}\n").as_bytes())
}
