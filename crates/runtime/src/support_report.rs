//! Diagnostics of a loop for a support report: values from its records, and the files to attach.
//!
//! All values are redacted. The files are not: the caller that copies a file redacts it.

use std::path::{Path, PathBuf};

use loopgate_api::ids::LoopId;
use loopgate_api::names::{ASSISTANT_OUTPUT, EXIT_FILE, PERF_JSONL, STATE_JSON};
use loopgate_api::redact;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::delivery::diagnostics;
use crate::jobs::Job;
use crate::jobs::store::{JobStore, StoreError};
use crate::transcript::stream_file;

/// Diagnostics of a loop, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopDiagnostics {
    pub loop_id: LoopId,
    /// The redacted job record.
    pub job: Value,
    /// Exit, elapsed time, output size, token spend and warnings.
    pub diagnostics: Value,
    /// Messages that the control plane has not acknowledged, in order.
    pub unsent: Vec<Value>,
    /// Tail of the loop's log, at most 32 KiB.
    pub log_tail: Option<String>,
    /// Tail of the assistant's standard error, at most 4 KiB.
    pub stderr_tail: Option<String>,
    /// Files with more detail; some may not exist.
    pub files: Vec<SupportFile>,
}

/// A file for a support report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupportFile {
    /// File name in the report.
    pub name: String,
    pub path: PathBuf,
}

/// Collects diagnostics of loops for support reports.
pub struct SupportReports {
    pub(crate) store: JobStore,
}

impl SupportReports {
    /// Returns the diagnostics of a loop, by default the one that started last; `None` when there is no such
    /// loop.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn loop_diagnostics(&self, id: Option<LoopId>) -> Result<Option<LoopDiagnostics>, StoreError> {
        let job = match id {
            Some(id) => self.store.job(id).await?,
            None => self.store.jobs().await?.into_iter().max_by(|a, b| a.started_at.cmp(&b.started_at)),
        };
        let Some(job) = job else { return Ok(None) };
        let unsent = self.store.unsent_messages(job.id).await?;
        let unsent = unsent.iter().filter_map(|outgoing| serde_json::from_str(&outgoing.body).ok());
        let unsent = unsent.map(redact::json).collect();
        let report = tokio::task::spawn_blocking(move || diagnose(job, unsent)).await;
        Ok(report.ok())
    }
}

/// Builds the diagnostics of a loop. Performs blocking I/O.
fn diagnose(mut job: Job, unsent: Vec<Value>) -> LoopDiagnostics {
    job.run.sealed_failure_secret = None;
    job.run.sealed_driver_launch = None;
    let directory = job.work_dir();
    let stream = stream_file::resolve_live(&directory).unwrap_or_else(|| directory.join(ASSISTANT_OUTPUT));
    let file = |name: &str, path| SupportFile { name: name.to_owned(), path };
    let mut files = vec![file(ASSISTANT_OUTPUT, stream.clone())];
    files.extend([PERF_JSONL, STATE_JSON, EXIT_FILE].map(|name| file(name, directory.join(name))));
    let test_evidence = job.delivery.iter().flat_map(|delivery| delivery.tests.values());
    let runs = test_evidence.flat_map(|evidence| evidence.base.iter().chain(&evidence.head));
    files.extend(runs.map(|run| file(&run.log, directory.join(&run.log))));
    let tails = diagnostics::tails(&directory);
    LoopDiagnostics {
        loop_id: job.id,
        diagnostics: redact::json(diagnosis(&job, &stream)),
        job: redact::json(json!(job)),
        unsent,
        log_tail: tails.log,
        stderr_tail: tails.stderr,
        files,
    }
}

fn diagnosis(job: &Job, stream: &Path) -> Value {
    // The stream may also contain earlier runs; `stream_start` is subtracted below.
    let stream_bytes =
        loopgate_home::untrusted::metadata(stream).map(|metadata| metadata.len()).unwrap_or_default();
    let ended = job.report.completed_at.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let ended = ended.unwrap_or_else(jiff::Timestamp::now).as_millisecond();
    let elapsed =
        job.run.spawned_at.map(|spawned| u64::try_from(ended).unwrap_or_default().saturating_sub(spawned));
    json!({
        "diagnosticsVersion": 2,
        "exitCode": job.run.exit_code,
        "exitSignal": job.run.exit_signal,
        "elapsedMs": elapsed,
        "stdoutBytes": stream_bytes.saturating_sub(job.transcript.stream_start),
        "spawnMeta": job.run.spawn_meta,
        "spend": job.transcript.spend,
        "warnings": job.warnings(),
    })
}
