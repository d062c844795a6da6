//! Tails the timing events that a loop's driver and hooks write, and reports each of them.
//!
//! Best-effort: never delays a loop or affects its result. An event is reported at most once; a crash or a
//! full disk may lose some.

mod reader;
mod tool_calls;

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

use loopgate_api::link::{Severity, Trace};
use loopgate_api::names::PERF_JSONL;
use loopgate_api::perf::{ParseFailure, PerfRecord};
use loopgate_home::untrusted;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::reader::{PerfBatch, PerfItem, PerfReader};
use crate::jobs::store::JobStore;
use crate::jobs::{FileIdentity, Job, PerfMark};
use crate::reporting::telemetry::{self, TelemetrySender};
use crate::transcript::stream_file;
use loopgate_tools::directory_watch::DirectoryWatch;

/// Delay before a read, so that a burst of lines is read at once.
const DEBOUNCE: Duration = Duration::from_millis(250);
/// Poll interval for file systems that report no changes.
const POLL: Duration = Duration::from_secs(1);

/// Returns the position after the timing events of earlier runs. Performs blocking I/O.
pub(crate) fn mark_of(work_dir: &Path) -> PerfMark {
    let tool_calls = tool_calls::names(work_dir);
    let path = work_dir.join(PERF_JSONL);
    let Ok((file, lines, start)) = measure(&path) else {
        return PerfMark { tool_calls, ..PerfMark::default() };
    };
    PerfMark { file, start, lines, reported: start, tool_calls }
}

/// Returns the identity, the number of lines and the size of a file.
fn measure(path: &Path) -> io::Result<(Option<FileIdentity>, u64, u64)> {
    let mut file = BufReader::new(untrusted::open(path)?);
    let identity = stream_file::identity(&file.get_ref().metadata()?);
    let (mut lines, mut bytes) = (0, 0);
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok((Some(identity), lines, bytes));
        }
        lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        let length = piece.len();
        bytes += length as u64;
        file.consume(length);
    }
}

/// Reports the timing events of loops.
#[derive(Clone)]
pub(crate) struct PerfEvents {
    store: JobStore,
    telemetry: TelemetrySender,
    directory_watch: DirectoryWatch,
    stop: CancellationToken,
}

impl PerfEvents {
    pub const fn new(
        store: JobStore,
        telemetry: TelemetrySender,
        directory_watch: DirectoryWatch,
        stop: CancellationToken,
    ) -> Self {
        Self { store, telemetry, directory_watch, stop }
    }

    /// Reports a loop's timing events until `ended`, then the remaining ones and the tool calls that did not
    /// end. A loop without a mark writes none.
    pub async fn follow(&self, job: &Job, work_dir: &Path, ended: &CancellationToken) {
        follow(self, job, work_dir, ended).await;
    }
}

async fn follow(services: &PerfEvents, job: &Job, work_dir: &Path, ended: &CancellationToken) {
    let Some(mark) = job.transcript.perf.as_deref().cloned() else { return };
    let reports = Reports { services, trace: telemetry::of_job(job) };
    let mut changes = services.directory_watch.subscribe(work_dir);
    let earlier_calls = mark.tool_calls.clone();
    let mut reader = PerfReader::new(work_dir.join(PERF_JSONL), mark);
    loop {
        let has_ended = ended.is_cancelled();
        let Some((returned, batch)) = read(reader, has_ended).await else { return };
        reader = returned;
        if !batch.items.is_empty() {
            reports.store_position(job, &reader).await;
            batch.items.into_iter().for_each(|item| reports.report(item));
        }
        if has_ended && !batch.more {
            break;
        }
        let next_read = async {
            tokio::time::sleep(DEBOUNCE).await;
            let _ = tokio::time::timeout(POLL, changes.next()).await;
        };
        tokio::select! {
            // Biased: a shutdown comes first, and available data before any wait.
            biased;
            () = services.stop.cancelled() => return,
            () = std::future::ready(()), if batch.more => {}
            () = ended.cancelled() => {}
            () = next_read => {}
        }
    }
    let directory = work_dir.to_owned();
    let unfinished =
        tokio::task::spawn_blocking(move || tool_calls::unfinished(&directory, &earlier_calls)).await;
    for call in unfinished.unwrap_or_default() {
        reports.report_event(&reader.with_phase(call));
    }
}

/// Reads on a blocking thread; returns `None` when the thread was stopped.
async fn read(mut reader: PerfReader, ended: bool) -> Option<(PerfReader, PerfBatch)> {
    let read = tokio::task::spawn_blocking(move || {
        let batch = reader.read(ended);
        (reader, batch)
    });
    read.await.ok()
}

struct Reports<'a> {
    services: &'a PerfEvents,
    trace: Trace,
}

impl Reports<'_> {
    /// Stores the reported position before the events are sent, so that none is sent twice.
    async fn store_position(&self, job: &Job, reader: &PerfReader) {
        let (file, reported) = reader.position();
        let update = self.services.store.update(job.id, |job| {
            if let Some(mark) = &mut job.transcript.perf {
                (mark.file, mark.reported) = (file, reported);
            }
        });
        if let Err(error) = update.await {
            tracing::info!(loop_id = %job.id, %error, "cannot store the position of the reported timing events");
        }
    }

    fn report(&self, item: PerfItem) {
        match item {
            PerfItem::Event(record) => self.report_event(&record),
            PerfItem::Failure(failure) => self.report_failure(&failure),
        }
    }

    fn report_event(&self, record: &PerfRecord) {
        if let Some(name) = record.event.name() {
            let message = format!("A {} was timed", name.replace('_', " "));
            let diagnostics = json!({"loopPerf": record});
            let category = format!("loop.perf.{name}");
            self.services.telemetry.report(
                self.trace.clone(),
                Severity::Info,
                &category,
                &message,
                diagnostics,
            );
        }
    }

    fn report_failure(&self, failure: &ParseFailure) {
        let (category, message) = ("loop.perf.parse_failure", "A timing event cannot be read");
        let diagnostics = json!({"loopPerf": failure});
        self.services.telemetry.report(self.trace.clone(), Severity::Warn, category, message, diagnostics);
    }
}
