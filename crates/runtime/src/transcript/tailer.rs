//! Tails the output of a loop and queues it for the control plane.
//!
//! The events of a frame and the offset after it are stored in one transaction, so that a crash neither
//! repeats nor omits output. Woken by the file system, and periodically for file systems that report no
//! changes.

use std::path::PathBuf;

use loopgate_api::assistant_stream::StreamSummary;
use loopgate_api::event::LoopEvent;
use loopgate_api::event_body::ProgressEvent;
use loopgate_api::ids::LoopId;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::jobs::store::{OutboxMessage, StoreError};
use crate::jobs::{Job, Jobs};
use crate::messages::{DeliveryReader, delivery_event};
use crate::reporting::failure_streak::FailureStreak;
use crate::reporting::tokens::Tokens;
use crate::timing::RuntimeTiming;
use crate::transcript::progress::ProgressReader;
use crate::transcript::stream_reader::{Chunk, StreamPosition, StreamReader, TranscriptBatch};
use loopgate_tools::directory_watch::DirectoryWatch;

/// Follows the output of loops.
#[derive(Clone)]
pub(crate) struct Transcripts {
    jobs: Jobs,
    tokens: Tokens,
    directory_watch: DirectoryWatch,
    timing: RuntimeTiming,
    stop: CancellationToken,
}

impl Transcripts {
    pub const fn new(
        jobs: Jobs,
        tokens: Tokens,
        directory_watch: DirectoryWatch,
        timing: RuntimeTiming,
        stop: CancellationToken,
    ) -> Self {
        Self { jobs, tokens, directory_watch, timing, stop }
    }

    /// Follows the output of a loop until `ended`, then reads to the end of the stream. Returns early, with a
    /// partial summary, when the runtime stops.
    pub async fn follow(&self, job: &Job, work_dir: PathBuf, ended: CancellationToken) -> StreamSummary {
        Tailer::new(self.clone(), job, work_dir).run(ended).await
    }
}

/// State of tailing one loop.
struct Tailer {
    services: Transcripts,
    id: LoopId,
    work_dir: PathBuf,
    reader: StreamReader,
    /// `None` while a blocking thread uses it.
    progress: Option<ProgressReader>,
    /// `None` while a blocking thread uses it.
    deliveries: Option<DeliveryReader>,
    /// Frame that was read but could not be stored yet.
    unstored: Option<ReadFrame>,
}

/// What was read at once.
struct ReadFrame {
    batch: TranscriptBatch,
    /// Phase and tasks, if they have changed.
    progress: Option<ProgressEvent>,
    /// Messages that the assistant has received since, with the times.
    delivered: Vec<(Uuid, String)>,
}

impl Tailer {
    /// Creates a tailer that continues at the position in the job's record.
    fn new(services: Transcripts, job: &Job, work_dir: PathBuf) -> Self {
        let position = StreamPosition {
            file: job.transcript.stream_file,
            start: job.transcript.stream_start,
            announced: job.transcript.last_observed_jsonl_offset.unwrap_or(job.transcript.stream_start),
        };
        let reader = StreamReader::new(work_dir.clone(), position);
        let progress = Some(ProgressReader::new(work_dir.clone(), job.spawned()));
        let deliveries = Some(DeliveryReader::new(&work_dir, &job.transcript.delivered_messages));
        Self { services, id: job.id, work_dir, reader, progress, deliveries, unstored: None }
    }

    async fn run(mut self, ended: CancellationToken) -> StreamSummary {
        let mut changes = self.services.directory_watch.subscribe(&self.work_dir);
        let timing = self.services.timing;
        let stop = self.services.stop.clone();
        let mut failures = FailureStreak::default();
        loop {
            let has_ended = ended.is_cancelled();
            let started = Instant::now();
            let (next, more) = match self.step(has_ended).await {
                Ok(frame) => {
                    failures.reset();
                    ((!frame.chunks.is_empty()).then(|| started + timing.tail_wait()), frame.more)
                }
                Err(error) => {
                    tracing::warn!(loop_id = %self.id, %error, "cannot follow the loop's output");
                    match &error {
                        // The frame is retained in `unstored` and retried, so that no output is omitted.
                        TailError::Store(error) if error.is_transient() => {
                            failures.record_failure(&self.services.tokens, self.id, error).await;
                        }
                        _ if has_ended => break,
                        _ => {}
                    }
                    tokio::select! {
                        () = stop.cancelled() => break,
                        () = tokio::time::sleep(timing.tail_poll) => continue,
                    }
                }
            };
            if stop.is_cancelled() || (has_ended && !more) {
                break;
            }
            if has_ended || more {
                continue;
            }
            let next_read = async {
                // Limits the read rate while the stream grows.
                if let Some(next) = next {
                    tokio::time::sleep_until(next).await;
                }
                // A timeout is the poll for file systems that report no changes.
                let _ = tokio::time::timeout(timing.tail_poll, changes.next()).await;
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = ended.cancelled() => {}
                () = next_read => {}
            }
        }
        self.reader.into_summary()
    }

    /// Reads one frame and stores it.
    async fn step(&mut self, ended: bool) -> Result<TranscriptBatch, TailError> {
        let frame = match self.unstored.take() {
            Some(mut frame) => {
                // More output may have followed, and the loop may have ended since, so read again.
                frame.batch.more = true;
                frame
            }
            None => self.read(ended).await?,
        };
        if (frame.batch.lines > 0 || frame.progress.is_some() || !frame.delivered.is_empty())
            && let Err(error) = self.store(&frame).await
        {
            self.unstored = Some(frame);
            return Err(error.into());
        }
        Ok(frame.batch)
    }

    async fn read(&mut self, ended: bool) -> Result<ReadFrame, TailError> {
        // The readers move to a blocking thread and back; a placeholder is left in between.
        let work_dir = self.work_dir.clone();
        let empty = StreamReader::new(work_dir, StreamPosition::default());
        let mut reader = std::mem::replace(&mut self.reader, empty);
        let (mut progress_reader, mut delivery_reader) = (self.progress.take(), self.deliveries.take());
        let (readers, frame) = tokio::task::spawn_blocking(move || {
            let batch = reader.read(ended);
            let progress = progress_reader.as_mut().and_then(ProgressReader::read);
            let delivered = delivery_reader.as_mut().map(DeliveryReader::read).unwrap_or_default();
            let frame = batch.map(|batch| ReadFrame { batch, progress, delivered });
            ((reader, progress_reader, delivery_reader), frame)
        })
        .await
        .map_err(|_| TailError::Stopped)?;
        (self.reader, self.progress, self.deliveries) = readers;
        Ok(frame?)
    }

    async fn store(
        &self,
        ReadFrame { batch: frame, progress, delivered }: &ReadFrame,
    ) -> Result<(), StoreError> {
        let last = frame.chunks.len().saturating_sub(1);
        let output =
            frame.chunks.iter().enumerate().map(|(at, chunk)| output_event(chunk, frame, at == last));
        let progress = progress.iter().map(|progress| LoopEvent::new("progress", progress));
        let deliveries = delivered.iter().map(|(id, at)| delivery_event(*id, at));
        let events: Vec<LoopEvent> = output.chain(progress).chain(deliveries).collect();
        let position = frame.position;
        let activity =
            frame.chunks.last().and_then(|chunk| chunk.text.lines().next_back()).map(str::to_owned);
        self.services
            .jobs
            .change(self.id, |now| {
                let job = &mut *now.job;
                job.transcript.stream_file = position.file;
                job.transcript.stream_start = position.start;
                job.transcript.last_observed_jsonl_offset = Some(position.announced);
                job.transcript.spend = Some(Box::new(frame.spend.clone()));
                job.transcript.delivered_messages.extend(delivered.iter().map(|(id, _)| *id));
                job.progress.live_activity = activity.or(job.progress.live_activity.take());
                for event in &events {
                    now.send(OutboxMessage::event(event));
                }
                Ok(())
            })
            .await?;
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
enum TailError {
    #[error("{0}")]
    Read(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the reading thread was stopped")]
    Stopped,
}

/// Creates the event for a chunk of output. The last event of a frame contains the frame's turns, runs and
/// cost.
fn output_event(Chunk { text, parts }: &Chunk, frame: &TranscriptBatch, is_last: bool) -> LoopEvent {
    let mut data = json!({"chunk": text, "parts": parts});
    let TranscriptBatch { spend, turns, runs, .. } = frame;
    if !spend.tokens.is_zero() {
        data["tokenUsage"] = json!(spend.tokens);
    }
    if is_last && !turns.is_empty() {
        data["turns"] = json!(turns);
    }
    if is_last && !runs.is_empty() {
        data["runs"] = json!(runs);
        data["cost"] = json!(spend.cost);
    }
    LoopEvent::new("output", &json!({"data": data}))
}
