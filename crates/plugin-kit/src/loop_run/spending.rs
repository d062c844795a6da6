//! What the loop may spend, and what it has spent.
//!
//! Every run of the assistant that the driver starts counts: iterations, corrections, reviews and fixes. A run is
//! started with the rest as its own budget. What it says that it cost counts; where it was cut off before it could
//! say so, the list price of its answers does.

use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;

use loopgate_api::ledger::Ledger;
use loopgate_api::names::ASSISTANT_OUTPUT;
use loopgate_api::usd::Usd;
use loopgate_home::untrusted;

use super::driver::Driver;
use super::loop_end::LoopEnd;
use super::state_file::LoopState;
use super::stream::MAX_LINE;
use crate::console::print_error;

impl LoopState {
    /// What the loop may still spend; `None` without a limit.
    #[must_use]
    pub fn remaining_budget(&self) -> Option<Usd> {
        (!self.max_spend.is_zero()).then(|| self.max_spend.saturating_sub(self.spent))
    }

    /// Whether the limit is reached.
    #[must_use]
    pub fn has_used_up_budget(&self) -> bool {
        self.remaining_budget().is_some_and(Usd::is_zero)
    }

    /// Adds what a run has cost. `output_length` is the length of the stream file with the run in it, in bytes.
    pub fn charge(&mut self, usd: f64, output_length: u64) {
        self.spent += Usd::try_from(usd).unwrap_or_default();
        self.counted_output = output_length;
    }

    /// Adds what the stream file holds beyond what was counted: the output of a run during which the driver died.
    ///
    /// # Errors
    /// Any failure of the file system but a missing file.
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
    /// Counts a run. A state that cannot be saved leaves the run in the stream to be counted again.
    pub(super) fn charge(&mut self, usd: f64) {
        let length = output_length(&self.state.workdir);
        self.state.charge(usd, length);
        if let Err(error) = self.save_state() {
            print_error(format!("Warning: what the loop has spent could not be saved: {error}"));
        }
    }

    /// Ends the loop at its spending limit.
    pub(super) fn end_at_spending_limit(&self) -> LoopEnd {
        let LoopState { max_spend, spent, .. } = &self.state;
        self.journal.progress(&format!("The spending limit of ${max_spend:.2} is reached"));
        self.record("spending_limit");
        let message = format!(
            "The loop reached its spending limit of ${max_spend:.2} before the assistant said that it was done; it \
             has spent ${spent:.2}. What was done is kept; start the loop again to go on with it, with a higher \
             limit where it needs one."
        );
        self.fail(loopgate_api::event::code::SPENDING_LIMIT, &message);
        LoopEnd::SpendingLimit
    }
}

fn output_length(workdir: &Path) -> u64 {
    untrusted::metadata(&workdir.join(ASSISTANT_OUTPUT)).map_or(0, |metadata| metadata.len())
}

/// Estimated cost of the records from a place in a stream on; broken lines cost nothing.
fn cost_since(mut file: std::fs::File, offset: u64) -> io::Result<f64> {
    file.seek(SeekFrom::Start(offset))?;
    let mut ledger = Ledger::default();
    for line in BufReader::new(file).split(b'\n') {
        let line = line?;
        if line.len() <= MAX_LINE
            && let Ok(record) = serde_json::from_slice(&line)
        {
            ledger.feed(&record);
        }
    }
    Ok(ledger.estimated_usd())
}
