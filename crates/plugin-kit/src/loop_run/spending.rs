//! Budget of a loop: its spending limit and the amount spent.
//!
//! Every assistant run of the driver counts: iterations, corrections, reviews and fixes. Each run is started
//! with the remaining amount as its budget. The cost that a run reports counts; for a run that was killed
//! before its report, the list price of its answers counts instead.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;

use loopgate_api::ledger::Ledger;
use loopgate_api::names::ASSISTANT_OUTPUT;
use loopgate_api::usd::Usd;
use loopgate_home::untrusted;

use super::driver::Driver;
use super::loop_end::LoopEnd;
use super::state_file::LoopState;
use super::stream;
use crate::console::print_error;

impl LoopState {
    /// Returns the remaining amount. `None` without a limit.
    #[must_use]
    pub fn remaining_budget(&self) -> Option<Usd> {
        (!self.max_spend.is_zero()).then(|| self.max_spend.saturating_sub(self.spent))
    }

    /// Returns whether the limit is reached.
    #[must_use]
    pub fn has_used_up_budget(&self) -> bool {
        self.remaining_budget().is_some_and(Usd::is_zero)
    }

    /// Adds the cost of a run. `output_length` is the length of the stream file including the run, in bytes.
    pub fn charge(&mut self, usd: f64, output_length: u64) {
        self.spent += Usd::try_from(usd).unwrap_or_default();
        self.counted_output = output_length;
    }

    /// Adds the cost of the records beyond `counted_output`: the output of a run during which the driver was
    /// killed.
    ///
    /// # Errors
    /// Fails on any file system error except a missing file.
    pub fn charge_interrupted_run(&mut self) -> io::Result<()> {
        let file = match untrusted::open(&self.workdir.join(ASSISTANT_OUTPUT)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length > self.counted_output {
            self.charge(cost_since(file, self.counted_output)?, length);
        }
        Ok(())
    }
}

impl Driver {
    /// Charges a run and saves the state.
    pub(super) fn charge(&mut self, usd: f64) {
        let length = output_length(&self.state.workdir);
        // Without a saved state the offset stays behind, so the run is charged from the stream on resume. The
        // order never loses a cost.
        self.state.charge(usd, length);
        if let Err(error) = self.save_state() {
            print_error(format!("Warning: cannot save the amount that the loop has spent: {error}"));
        }
    }

    /// Records that the loop ended at its spending limit.
    pub(super) fn end_at_spending_limit(&self) -> LoopEnd {
        let LoopState { max_spend, spent, .. } = &self.state;
        self.journal.progress(&format!("The spending limit of ${max_spend:.2} is reached"));
        self.record("spending_limit");
        let message = format!(
            "The loop reached its spending limit of ${max_spend:.2} before the assistant reported completion; it \
             has spent ${spent:.2}. The work so far is kept; start the loop again to continue, with a higher \
             limit if necessary."
        );
        self.fail(loopgate_api::event::code::SPENDING_LIMIT, &message);
        LoopEnd::SpendingLimit
    }
}

fn output_length(workdir: &Path) -> u64 {
    untrusted::metadata(&workdir.join(ASSISTANT_OUTPUT)).map_or(0, |metadata| metadata.len())
}

/// Estimates the cost of the records after `offset`.
fn cost_since(mut file: File, offset: u64) -> io::Result<f64> {
    file.seek(SeekFrom::Start(offset))?;
    let mut ledger = Ledger::default();
    stream::read(file, |record| {
        ledger.feed(record);
    })?;
    Ok(ledger.estimated_usd())
}
