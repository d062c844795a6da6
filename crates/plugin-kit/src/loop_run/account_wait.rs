//! Waits for the rate limits of the assistant's account in a loop without iterations.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use loopgate_api::names::STATE_JSON;
use loopgate_home::{AssistantLimit, untrusted};
use tokio_util::sync::CancellationToken;

use super::context;
use super::limit_wait::{end_of, wait_for_account, wait_record};
use super::limits::{AccountState, LimitTracker};
use crate::console::{print_error, print_line};
use crate::plan;

/// Limits of the account, and the announcement of a wait for them.
#[derive(Debug)]
pub struct AccountWait {
    pub limits: LimitTracker,
    /// Whether the loop waits for the end of a limit instead of failing.
    pub waits: bool,
    shown: ShownWait,
}

impl AccountWait {
    /// Creates the waits of a loop whose assistant has this environment. `workdir`: directory of `state.json`.
    pub fn new(env: &BTreeMap<OsString, OsString>, workdir: Option<PathBuf>) -> Self {
        Self {
            limits: LimitTracker::of_environment(env),
            waits: context::waits_for_limits(context::settings().as_ref()),
            shown: ShownWait { workdir, begun: false },
        }
    }

    /// Waits until the account is usable, if the loop waits for limits. The wait is announced in the stream, which is
    /// standard output, and in `state.json`.
    pub async fn wait(
        &mut self,
        env: &BTreeMap<OsString, OsString>,
        stop: &CancellationToken,
    ) -> AccountState {
        if !self.waits {
            return AccountState::Usable(None);
        }
        let Self { limits, shown, .. } = self;
        let announce = |limit: &AssistantLimit| shown.show(limit);
        let state = wait_for_account(limits, env, context::pause(), stop, announce).await;
        if matches!(state, AccountState::Usable(_)) {
            self.shown.end();
        }
        state
    }
}

/// Announced wait, to be withdrawn after it.
#[derive(Debug)]
struct ShownWait {
    workdir: Option<PathBuf>,
    begun: bool,
}

impl ShownWait {
    fn show(&mut self, limit: &AssistantLimit) {
        self.begun = true;
        print_line(wait_record(limit));
        if let Some(workdir) = &self.workdir
            && let Err(message) = plan::set_waiting_until(workdir, Some(&end_of(limit)))
        {
            print_error(message);
        }
    }

    /// Withdraws the announcement. A loop without iterations keeps nothing else in `state.json`, so the file
    /// is removed.
    fn end(&mut self) {
        if std::mem::take(&mut self.begun)
            && let Some(workdir) = &self.workdir
            && let Err(error) = untrusted::remove(&workdir.join(STATE_JSON))
        {
            print_error(format!("Warning: the wait is still shown: {error}"));
        }
    }
}
