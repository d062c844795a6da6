//! Event stream of a run for one client, read at the client's own pace.

use std::sync::Arc;
use std::time::Duration;

use loopgate_api::chat_event::{ChatEvent, RunStatus};
use loopgate_api::provider::ProviderId;
use tokio::sync::watch;
use tokio::time::timeout;

use super::FallbackRule;
use super::output::GrowingFile;
use super::progress::RunProgress;
use super::record::RunDirectory;
use crate::provider::{OutputReader, Provider, TurnOutput};

/// Content of the status events, in addition to status and pid.
#[derive(Debug, Clone, Default)]
pub struct RunAnnouncement {
    /// Whether a `spawning` event precedes the start of the program.
    pub spawning: bool,
    /// Provider that executes a review.
    pub provider: Option<ProviderId>,
    /// Provider that answers in a chat with several providers.
    pub mode: Option<ProviderId>,
    /// Whether an earlier session is resumed.
    pub resuming: Option<bool>,
}

impl RunAnnouncement {
    fn event(&self, status: RunStatus, pid: Option<u32>) -> ChatEvent {
        ChatEvent::Status {
            status: Some(status),
            pid,
            provider: self.provider.clone(),
            mode: self.mode.clone(),
            resuming: self.resuming.filter(|_| status == RunStatus::Spawning),
            session_id: None,
        }
    }
}

/// Event stream of a run. Dropping it does not affect the run.
pub struct RunStream {
    directory: RunDirectory,
    provider: Arc<dyn Provider>,
    progress: watch::Receiver<RunProgress>,
    announcement: RunAnnouncement,
    /// Number of the attempt being read.
    attempt: u32,
    output: GrowingFile,
    reader: Box<dyn OutputReader>,
    turn: TurnOutput,
    /// Events that are sent only if this attempt is the last one.
    held: Vec<ChatEvent>,
    fallback: Option<FallbackRule>,
    announced_spawning: bool,
    /// Pid of the last `running` event. A second attempt has another pid, by which the user can stop it.
    announced_pid: Option<u32>,
    is_finished: bool,
}

impl RunStream {
    pub(super) async fn open(
        directory: RunDirectory,
        provider: Arc<dyn Provider>,
        progress: watch::Receiver<RunProgress>,
        announcement: RunAnnouncement,
        fallback: Option<FallbackRule>,
    ) -> std::io::Result<Self> {
        Ok(Self {
            output: GrowingFile::open(&directory.output(0)).await?,
            reader: provider.reader(),
            announced_spawning: !announcement.spawning,
            directory,
            provider,
            progress,
            announcement,
            attempt: 0,
            turn: TurnOutput::default(),
            held: Vec::new(),
            fallback,
            announced_pid: None,
            is_finished: false,
        })
    }
}

/// A stream of event batches.
pub trait EventStream: Send {
    /// Waits for the next events; `None` at the end. Cancel-safe.
    fn events(&mut self) -> impl Future<Output = Option<Vec<ChatEvent>>> + Send;

    /// Waits for the next events; `None` at the end. Returns a keep-alive event after `silence` without
    /// events.
    fn next(&mut self, silence: Option<Duration>) -> impl Future<Output = Option<Vec<ChatEvent>>> + Send {
        async move {
            let Some(silence) = silence else { return self.events().await };
            match timeout(silence, self.events()).await {
                Ok(events) => events,
                Err(_) => Some(vec![ChatEvent::Keepalive]),
            }
        }
    }
}

impl EventStream for RunStream {
    async fn events(&mut self) -> Option<Vec<ChatEvent>> {
        if !self.announced_spawning {
            self.announced_spawning = true;
            return Some(vec![self.announcement.event(RunStatus::Spawning, None)]);
        }
        while !self.is_finished {
            // Borrowed before the output is read: output written before the run ended is then always read.
            let progress = self.progress.borrow_and_update().clone();
            // The `running` event precedes all output.
            if let Some(pid) = progress.pid
                && self.announced_pid != Some(pid)
            {
                self.announced_pid = Some(pid);
                return Some(vec![self.announcement.event(RunStatus::Running, Some(pid))]);
            }
            if progress.attempt != self.attempt {
                self.begin_attempt(progress.attempt).await;
            }
            if !progress.is_output_exceeded()
                && let Ok(Some(lines)) = self.output.read_lines().await
            {
                let (reader, turn) = (&mut self.reader, &mut self.turn);
                let events = lines.iter().flat_map(|line| reader.read_line(line, turn)).collect();
                let events = self.release(events);
                if events.is_empty() {
                    continue;
                }
                return Some(events);
            }
            if let Some(outcome) = progress.outcome {
                self.is_finished = true;
                let mut events = std::mem::take(&mut self.held);
                if let Some(line) = self.output.take_partial_line() {
                    events.extend(self.reader.read_line(&line, &mut self.turn));
                }
                events.extend(outcome.last_events.iter().cloned());
                return Some(events);
            }
            // An error means that the task was dropped on shutdown. The run itself continues.
            self.progress.changed().await.ok()?;
        }
        None
    }
}

impl RunStream {
    async fn begin_attempt(&mut self, attempt: u32) {
        self.attempt = attempt;
        // There is at most one fallback, so nothing of this attempt is withheld.
        self.fallback = None;
        self.held.clear();
        self.turn = TurnOutput::default();
        self.reader = self.provider.reader();
        // Fails when the run has ended and its files were removed. The outcome then ends the stream.
        if let Ok(output) = GrowingFile::open(&self.directory.output(attempt)).await {
            self.output = output;
        }
    }

    /// Withholds events that a fallback may still invalidate.
    fn release(&mut self, events: Vec<ChatEvent>) -> Vec<ChatEvent> {
        let Some(rule) = self.fallback else { return events };
        if rule.is_settled(&self.turn) {
            self.fallback = None;
            let mut all = std::mem::take(&mut self.held);
            all.extend(events);
            return all;
        }
        if !rule.holds() {
            return events;
        }
        self.held.extend(events);
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::assistant::Assistant;
    use crate::run::progress::{RunEnd, RunOutcome};

    async fn stream(
        fallback: Option<FallbackRule>,
    ) -> (tempfile::TempDir, watch::Sender<RunProgress>, RunStream) {
        let dir = tempfile::tempdir().unwrap();
        let directory = RunDirectory(dir.path().to_owned());
        directory.begin_attempt(0, "").unwrap();
        let (sender, progress) = watch::channel(RunProgress::default());
        let stream =
            RunStream::open(directory, Arc::new(Assistant), progress, RunAnnouncement::default(), fallback);
        (dir, sender, stream.await.unwrap())
    }

    fn outcome(error: Option<&str>) -> Option<Arc<RunOutcome>> {
        let end = RunEnd {
            success: false,
            exit_code: 1,
            was_started: true,
            timed_out: false,
            output_exceeded: false,
            error: error.map(str::to_owned),
            failure: None,
        };
        let error = end.error.clone().map(ChatEvent::error);
        let last_events =
            error.into_iter().chain([ChatEvent::Result { success: false }, ChatEvent::DONE]).collect();
        Some(Arc::new(RunOutcome { output: TurnOutput::default(), end, last_events }))
    }

    fn text(content: &str) -> String {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{content}\"}}]}}}}\n"
        )
    }

    const FAILED: &str = "{\"type\":\"result\",\"is_error\":true,\"result\":\"no\"}\n";

    #[tokio::test(start_paused = true)]
    async fn keepalive_is_sent_during_silence_without_losing_events() {
        let (dir, sender, mut stream) = stream(None).await;
        let silence = Some(Duration::from_secs(25));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Keepalive]));
        sender.send_modify(|progress| progress.pid = Some(7));
        let running = RunAnnouncement::default().event(RunStatus::Running, Some(7));
        assert_eq!(stream.next(silence).await, Some(vec![running]));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Keepalive]));
        // Written without a notification of the stream: it must be read before the end is reported.
        std::fs::write(dir.path().join("output.jsonl"), text("late")).unwrap();
        sender.send_modify(|progress| progress.outcome = outcome(Some("why")));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Text { content: "late".to_owned() }]));
        let last =
            vec![ChatEvent::error("why".to_owned()), ChatEvent::Result { success: false }, ChatEvent::DONE];
        assert_eq!(stream.next(silence).await, Some(last));
        assert_eq!(stream.next(silence).await, None);
    }

    #[tokio::test]
    async fn stream_ends_when_the_task_is_dropped() {
        let (_dir, sender, mut stream) = stream(None).await;
        // The task drops its sender on shutdown, before the run has an outcome.
        drop(sender);
        assert_eq!(stream.next(None).await, None);
    }

    // RC-48, RC-49
    #[tokio::test]
    async fn errors_are_sent_once_and_not_from_a_discarded_attempt() {
        let (dir, sender, mut stream) = stream(Some(FallbackRule::SessionMissing)).await;
        std::fs::write(dir.path().join("output.jsonl"), FAILED).unwrap();
        std::fs::write(dir.path().join("output-1.jsonl"), text("second")).unwrap();
        sender.send_modify(|progress| progress.attempt = 1);
        assert_eq!(stream.next(None).await, Some(vec![ChatEvent::Text { content: "second".to_owned() }]));
        std::fs::write(dir.path().join("output-1.jsonl"), text("second") + FAILED).unwrap();
        sender.send_modify(|progress| progress.outcome = outcome(Some("no")));
        let last =
            vec![ChatEvent::error("no".to_owned()), ChatEvent::Result { success: false }, ChatEvent::DONE];
        assert_eq!(stream.next(None).await, Some(last));
    }

    #[tokio::test]
    async fn pid_of_a_second_attempt_is_announced() {
        let (_dir, sender, mut stream) = stream(Some(FallbackRule::SessionMissing)).await;
        for pid in [7, 8] {
            sender.send_modify(|progress| (progress.pid, progress.attempt) = (Some(pid), pid - 7));
            let running = RunAnnouncement::default().event(RunStatus::Running, Some(pid));
            assert_eq!(stream.next(None).await, Some(vec![running]));
        }
    }
}
