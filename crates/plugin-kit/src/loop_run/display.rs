//! Standard output of the driver: the assistant's text and tool calls for programs, progress for a user.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopgate_api::assistant_record::AssistantRecord;

use super::progress_form::ProgressForm;
use super::progress_view::{ProgressLimits, ProgressView};
use super::summary::FinalSummary;
use crate::console::print_error;
use crate::formatter::Formatter;

/// Printer for one of the output formats. Clones share it.
#[derive(Clone)]
pub struct Display(Arc<Mutex<Printer>>);

enum Printer {
    Stream { formatter: Formatter, out: Box<dyn Write + Send> },
    Progress(Box<ProgressView>),
}

impl Display {
    /// Creates a display on standard output.
    #[must_use]
    pub fn new(form: ProgressForm, workdir: &Path, limits: ProgressLimits) -> Self {
        let progress =
            |live| Self::of(Printer::Progress(Box::new(ProgressView::new(live, workdir.to_owned(), limits))));
        match form {
            ProgressForm::Live => progress(true),
            ProgressForm::Plain => progress(false),
            ProgressForm::Stream => Self::stream_to(Box::new(io::stdout()), Formatter::for_stdout()),
        }
    }

    /// Creates a display that prints the assistant's stream to `out`. Write errors are ignored.
    #[must_use]
    pub fn stream_to(out: Box<dyn Write + Send>, formatter: Formatter) -> Self {
        Self::of(Printer::Stream { formatter, out })
    }

    fn of(printer: Printer) -> Self {
        Self(Arc::new(Mutex::new(printer)))
    }

    /// Prints the description of the loop at its start.
    pub fn begin(&self, description: &[String]) {
        if let Printer::Progress(view) = &mut *self.lock() {
            view.begin(description);
        }
    }

    /// Starts an iteration. `message` is the line for programs.
    pub fn iteration(&self, number: u64, message: &str) {
        match &mut *self.lock() {
            Printer::Stream { out, .. } => write_line(out, message),
            Printer::Progress(view) => view.iteration(number),
        }
    }

    /// Prints a line about the loop.
    pub fn line(&self, text: &str) {
        match &mut *self.lock() {
            Printer::Stream { out, .. } => write_line(out, text),
            Printer::Progress(view) => view.note(text),
        }
    }

    /// Shows a record of the assistant's stream.
    pub fn record(&self, record: &AssistantRecord) {
        match &mut *self.lock() {
            Printer::Stream { formatter, out } => {
                // A closed reader must not end the loop: its result is in the files.
                let _ = formatter.record(record, out).and_then(|()| out.flush());
            }
            Printer::Progress(view) => view.record(record),
        }
    }

    /// Ends a run of the assistant.
    pub fn end_run(&self) {
        match &mut *self.lock() {
            Printer::Stream { formatter, out } => {
                let _ = formatter.totals(out).and_then(|()| out.flush());
                // Token counts are printed per run, so the next run starts at zero.
                *formatter = formatter.reset();
            }
            Printer::Progress(view) => view.end_run(),
        }
    }

    /// Shows the standard error of a failed run.
    pub fn standard_error(&self, text: &str) {
        match &mut *self.lock() {
            Printer::Stream { .. } => print_error(text),
            Printer::Progress(view) => view.standard_error(text),
        }
    }

    /// Shows the reason for which the loop fails.
    pub fn failure(&self, subcode: &str, message: &str) {
        match &mut *self.lock() {
            Printer::Stream { .. } => print_error(format!("LOOPGATE_FATAL[{subcode}]: {message}")),
            Printer::Progress(view) => view.failure(message),
        }
    }

    /// Returns whether [`Self::end`] prints anything, so that callers can skip collecting the summary.
    #[must_use]
    pub fn wants_summary(&self) -> bool {
        matches!(&*self.lock(), Printer::Progress(_))
    }

    /// Prints the final summary.
    pub fn end(&self, summary: &FinalSummary) {
        if let Printer::Progress(view) = &mut *self.lock() {
            view.end(summary);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Printer> {
        // A panic while printing leaves the printer usable; the lock protects no invariant.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Display {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Display").finish_non_exhaustive()
    }
}

fn write_line(out: &mut dyn Write, text: &str) {
    // Ignored like every display error: the loop continues without a reader.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
