//! What a report about a loop needs: what the records say of it, and which files tell more.
//!
//! Everything in here has passed the redactor; the files have not, and whoever copies one cleans it.

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

/// What is known of a loop, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopDiagnostics {
    /// The loop.
    pub loop_id: LoopId,
    /// Its record.
    pub job: Value,
    /// How it was started, how it ended, what it used.
    pub diagnostics: Value,
    /// What the control plane has not heard yet, in order.
    pub unsent: Vec<Value>,
    /// End of the loop's log, at most 32 KiB.
    pub log_tail: Option<String>,
    /// End of the assistant's standard error, at most 4 KiB.
    pub stderr_tail: Option<String>,
    /// Files that tell more; they need not be there.
    pub files: Vec<SupportFile>,
}

/// A file of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupportFile {
    /// Its name in a report.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
}

/// Collects what a report about a loop needs.
pub struct SupportReports {
    pub(crate) store: JobStore,
}

impl SupportReports {
    /// What is known of a loop, or of the one that was started last; `None` when there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the records cannot be read.
    pub async fn loop_diagnostics(
        &self,
        which: Option<LoopId>,
    ) -> Result<Option<LoopDiagnostics>, StoreError> {
        let job = match which {
            Some(id) => self.store.job(id).await?,
            None => self.store.jobs().await?.into_iter().max_by(|a, b| a.started_at.cmp(&b.started_at)),
        };
        let Some(job) = job else { return Ok(None) };
        let unsent = self.store.unsent_messages(job.id).await?;
        let unsent = unsent.iter().filter_map(|outgoing| serde_json::from_str(&outgoing.body).ok());
        let unsent = unsent.map(redact::json).collect();
        let diagnosed = tokio::task::spawn_blocking(move || diagnose(job, unsent)).await;
        Ok(diagnosed.ok())
    }
}

/// Blocks on the disk.
fn diagnose(mut job: Job, unsent: Vec<Value>) -> LoopDiagnostics {
    job.run.sealed_failure_secret = None;
    job.run.sealed_driver_launch = None;
    let directory = job.work_dir();
    let stream = stream_file::resolve_live(&directory).unwrap_or_else(|| directory.join(ASSISTANT_OUTPUT));
    let file = |name: &str, path| SupportFile { name: name.to_owned(), path };
    let mut files = vec![file(ASSISTANT_OUTPUT, stream.clone())];
    files.extend([PERF_JSONL, STATE_JSON, EXIT_FILE].map(|name| file(name, directory.join(name))));
    let tested = job.delivery.iter().flat_map(|delivery| delivery.tests.values());
    let runs = tested.flat_map(|evidence| evidence.base.iter().chain(&evidence.head));
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
    let written =
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
        "stdoutBytes": written.saturating_sub(job.transcript.stream_start),
        "spawnMeta": job.run.spawn_meta,
        "spend": job.transcript.spend,
        "warnings": job.warnings(),
    })
}
