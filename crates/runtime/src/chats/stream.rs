//! What one page sees of a run: its events in their order, read at the page's own pace.

use std::time::Duration;

use loopgate_api::chat_turn::{ChatEvent, ChatTurn};
use tokio::sync::watch;
use tokio::time::timeout;

use super::output::GrowingFile;
use super::progress::{RunOutcome, RunProgress};

/// The events of a run. Dropping it does nothing to the run.
#[derive(Debug)]
pub struct ChatStream {
    output: GrowingFile,
    progress: watch::Receiver<RunProgress>,
    turn: ChatTurn,
    /// Whether the page knows that the program runs.
    announced: bool,
    over: bool,
}

impl ChatStream {
    pub(super) fn new(output: GrowingFile, progress: watch::Receiver<RunProgress>) -> Self {
        Self { output, progress, turn: ChatTurn::default(), announced: false, over: false }
    }

    /// The next events; `None` when there are no more. After so much silence, a sign of life.
    pub async fn next(&mut self, silence: Option<Duration>) -> Option<Vec<ChatEvent>> {
        let Some(silence) = silence else { return self.events().await };
        match timeout(silence, self.events()).await {
            Ok(events) => events,
            Err(_) => Some(vec![ChatEvent::Keepalive]),
        }
    }

    /// Safe to drop and call again.
    async fn events(&mut self) -> Option<Vec<ChatEvent>> {
        while !self.over {
            // Looked at before the output: what was written before the end is read before it is told.
            let progress = self.progress.borrow_and_update().clone();
            if let (Some(pid), false) = (progress.pid, self.announced) {
                self.announced = true;
                return Some(vec![ChatEvent::Status { status: "running", pid }]);
            }
            while let Ok(Some(lines)) = self.output.more().await {
                let events: Vec<_> = lines.iter().flat_map(|line| self.turn.feed(line)).collect();
                if !events.is_empty() {
                    return Some(events);
                }
            }
            if let Some(outcome) = progress.outcome {
                self.over = true;
                return Some(last_words(outcome));
            }
            // The sender is gone when this program stops; the run itself goes on.
            self.progress.changed().await.ok()?;
        }
        None
    }
}

fn last_words(outcome: RunOutcome) -> Vec<ChatEvent> {
    let error = outcome.error.map(|error| ChatEvent::Error { error });
    let result = outcome.success.map(|success| ChatEvent::Result { success });
    error.into_iter().chain(result).chain([ChatEvent::Done]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_and_loses_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (sender, seen) = watch::channel(RunProgress::default());
        let mut stream = ChatStream::new(GrowingFile::open(file.path()).await.unwrap(), seen);
        let silence = Some(Duration::from_secs(25));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Keepalive]));
        sender.send_modify(|progress| progress.pid = Some(7));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Status { status: "running", pid: 7 }]));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Keepalive]));
        let line = br#"{"type":"assistant","message":{"content":[{"type":"text","text":"late"}]}}"#;
        std::fs::write(file.path(), [&line[..], b"\n"].concat()).unwrap();
        let outcome = RunOutcome { error: Some("why".to_owned()), success: Some(false) };
        sender.send_modify(|progress| progress.outcome = Some(outcome));
        assert_eq!(stream.next(silence).await, Some(vec![ChatEvent::Text { content: "late".to_owned() }]));
        let last = vec![
            ChatEvent::Error { error: "why".to_owned() },
            ChatEvent::Result { success: false },
            ChatEvent::Done,
        ];
        assert_eq!(stream.next(silence).await, Some(last));
        assert_eq!(stream.next(silence).await, None);
    }

    #[tokio::test]
    async fn a_run_that_is_given_up_ends_its_streams() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (sender, seen) = watch::channel(RunProgress::default());
        let mut stream = ChatStream::new(GrowingFile::open(file.path()).await.unwrap(), seen);
        drop(sender);
        assert_eq!(stream.next(None).await, None);
    }
}
