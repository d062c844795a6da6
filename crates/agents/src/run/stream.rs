//! The events of a run for one client, in order, read at the client's own pace.

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

/// What the status events of a run say beside the pid.
#[derive(Debug, Clone, Default)]
pub struct RunAnnouncement {
    /// Whether an event precedes the start.
    pub spawning: bool,
    /// Who answers, in a review.
    pub provider: Option<ProviderId>,
    /// Who answers, in a chat with several.
    pub mode: Option<ProviderId>,
    /// Whether an earlier session goes on.
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

/// The events of a run. Dropping it does nothing to the run.
pub struct RunStream {
    directory: RunDirectory,
    provider: Arc<dyn Provider>,
    progress: watch::Receiver<RunProgress>,
    announcement: RunAnnouncement,
    /// Number of the attempt that is read.
    attempt: u32,
    output: GrowingFile,
    reader: Box<dyn OutputReader>,
    turn: TurnOutput,
    /// Events that count only if the attempt is the last one.
    held: Vec<ChatEvent>,
    fallback: Option<FallbackRule>,
    announced_spawning: bool,
    announced_pid: bool,
    is_over: bool,
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
            announced_pid: false,
            is_over: false,
        })
    }
}

/// Events for one client.
pub trait EventStream: Send {
    /// The next events; `None` after the last. The future may be dropped and made again: nothing is lost.
    fn events(&mut self) -> impl Future<Output = Option<Vec<ChatEvent>>> + Send;

    /// The next events; `None` after the last. After so much silence, a keep-alive.
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
        while !self.is_over {
            // Taken before the output is read, so that nothing written before the end is missed.
            let progress = self.progress.borrow_and_update().clone();
            if let (Some(pid), false) = (progress.pid, self.announced_pid) {
                self.announced_pid = true;
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
                self.is_over = true;
                let mut events = std::mem::take(&mut self.held);
                if let Some(line) = self.output.take_rest() {
                    events.extend(self.reader.read_line(&line, &mut self.turn));
                }
                events.extend(outcome.last_events.iter().cloned());
                return Some(events);
            }
            // The sender is gone when this program stops; the run itself goes on.
            self.progress.changed().await.ok()?;
        }
        None
    }
}

impl RunStream {
    async fn begin_attempt(&mut self, attempt: u32) {
        self.attempt = attempt;
        self.fallback = None;
        self.held.clear();
        self.turn = TurnOutput::default();
        self.reader = self.provider.reader();
        if let Ok(output) = GrowingFile::open(&self.directory.output(attempt)).await {
            self.output = output;
        }
    }

    /// Holds events back while a fallback may still make them void.
    fn release(&mut self, events: Vec<ChatEvent>) -> Vec<ChatEvent> {
        let Some(rule) = self.fallback else { return events };
        if rule.is_settled(&self.turn) {
            self.fallback = None;
            let mut all = std::mem::take(&mut self.held);
            all.extend(events);
            return all;
        }
        let (held, shown) = events.into_iter().partition(|event| rule.holds(event));
        self.held.extend::<Vec<_>>(held);
        shown
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
    async fn silence_is_broken_and_loses_nothing() {
        let (dir, sender, mut stream) = stream(None).await;
        let silence = Some(Duration::from_secs(25));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Keepalive]));
        sender.send_modify(|progress| progress.pid = Some(7));
        let running = RunAnnouncement::default().event(RunStatus::Running, Some(7));
        assert_eq!(stream.next(silence).await, Some(vec![running]));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Keepalive]));
        std::fs::write(dir.path().join("output.jsonl"), text("late")).unwrap();
        sender.send_modify(|progress| progress.outcome = outcome(Some("why")));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Text { content: "late".to_owned() }]));
        let last =
            vec![ChatEvent::error("why".to_owned()), ChatEvent::Result { success: false }, ChatEvent::DONE];
        assert_eq!(stream.next(silence).await, Some(last));
        assert_eq!(stream.next(silence).await, None);
    }

    #[tokio::test]
    async fn run_that_is_given_up_ends_its_streams() {
        let (_dir, sender, mut stream) = stream(None).await;
        drop(sender);
        assert_eq!(stream.next(None).await, None);
    }

    // RC-48
    #[tokio::test]
    async fn errors_of_an_attempt_without_text_vanish_with_it() {
        let (dir, sender, mut stream) = stream(Some(FallbackRule::SessionMissing)).await;
        std::fs::write(dir.path().join("output.jsonl"), FAILED).unwrap();
        std::fs::write(dir.path().join("output-1.jsonl"), text("anew")).unwrap();
        sender.send_modify(|progress| progress.attempt = 1);
        assert_eq!(stream.next(None).await, Some(vec![ChatEvent::Text { content: "anew".to_owned() }]));
    }

    // RC-49
    #[tokio::test]
    async fn held_errors_follow_once_the_attempt_is_the_last() {
        let (dir, sender, mut stream) = stream(Some(FallbackRule::SessionMissing)).await;
        std::fs::write(dir.path().join("output.jsonl"), FAILED).unwrap();
        sender.send_modify(|progress| progress.outcome = outcome(None));
        let last =
            vec![ChatEvent::error("no".to_owned()), ChatEvent::Result { success: false }, ChatEvent::DONE];
        assert_eq!(stream.next(None).await, Some(last));
    }
}
