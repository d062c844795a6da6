//! What the driver prints: for programs everything that the assistant says, for a person how far the loop is.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::progress_form::ProgressForm;
use super::progress_view::{ProgressLimits, ProgressView};
use super::summary::LoopSummary;
use crate::console::print_error;
use crate::formatter::Formatter;

/// Prints in one of the forms. Clones print to the same place.
#[derive(Clone)]
pub struct Display(Arc<Mutex<Printer>>);

enum Printer {
    Stream { formatter: Formatter, out: Box<dyn Write + Send> },
    Progress(Box<ProgressView>),
}

impl Display {
    /// Prints to standard output.
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

    /// Prints what the assistant says to a writer. One that is gone does not disturb the loop.
    #[must_use]
    pub fn stream_to(out: Box<dyn Write + Send>, formatter: Formatter) -> Self {
        Self::of(Printer::Stream { formatter, out })
    }

    fn of(printer: Printer) -> Self {
        Self(Arc::new(Mutex::new(printer)))
    }

    /// The beginning of the loop, with the lines that describe it to a person.
    pub fn begin(&self, description: &[String]) {
        if let Printer::Progress(view) = &mut *self.lock() {
            view.begin(description);
        }
    }

    /// The beginning of an iteration. `message` is the line for programs.
    pub fn iteration(&self, number: u64, message: &str) {
        match &mut *self.lock() {
            Printer::Stream { out, .. } => write_line(out, message),
            Printer::Progress(view) => view.iteration(number),
        }
    }

    /// A line about the loop.
    pub fn line(&self, text: &str) {
        match &mut *self.lock() {
            Printer::Stream { out, .. } => write_line(out, text),
            Printer::Progress(view) => view.note(text),
        }
    }

    /// A record of the assistant's stream.
    pub fn record(&self, record: &Value) {
        match &mut *self.lock() {
            Printer::Stream { formatter, out } => {
                let _ = formatter.record(record, out).and_then(|()| out.flush());
            }
            Printer::Progress(view) => view.record(record),
        }
    }

    /// The end of a run of the assistant.
    pub fn end_run(&self) {
        match &mut *self.lock() {
            Printer::Stream { formatter, out } => {
                let _ = formatter.totals(out).and_then(|()| out.flush());
                *formatter = formatter.renewed();
            }
            Printer::Progress(view) => view.end_run(),
        }
    }

    /// What a failed run of the assistant wrote to standard error.
    pub fn standard_error(&self, text: &str) {
        match &mut *self.lock() {
            Printer::Stream { .. } => print_error(text),
            Printer::Progress(view) => view.standard_error(text),
        }
    }

    /// Why the loop fails.
    pub fn failure(&self, subcode: &str, message: &str) {
        match &mut *self.lock() {
            Printer::Stream { .. } => print_error(format!("LOOPGATE_FATAL[{subcode}]: {message}")),
            Printer::Progress(view) => view.failure(message),
        }
    }

    /// Whether [`Self::end`] prints anything.
    #[must_use]
    pub fn wants_summary(&self) -> bool {
        matches!(&*self.lock(), Printer::Progress(_))
    }

    /// The end of the loop.
    pub fn end(&self, summary: &LoopSummary) {
        if let Printer::Progress(view) = &mut *self.lock() {
            view.end(summary);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Printer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Display {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Display").finish_non_exhaustive()
    }
}

fn write_line(out: &mut dyn Write, text: &str) {
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
