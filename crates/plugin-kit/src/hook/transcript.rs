//! Reads the transcript that the assistant writes for a subagent's session.

use std::io::BufRead as _;
use std::path::Path;

use loopgate_api::assistant_record::{AssistantRecord, RecordKind};
use loopgate_api::assistant_stream::StreamSummary;

/// Facts from a finished transcript.
#[derive(Debug, Default)]
pub struct Transcript {
    /// Token usage and models of the subagent.
    pub summary: StreamSummary,
    /// The last text of the subagent.
    pub last_message: Option<String>,
}

/// Reads a transcript line by line; malformed lines are skipped. `None` when the file cannot be opened.
pub fn read(path: &Path) -> Option<Transcript> {
    let file = std::fs::File::open(path).ok()?;
    let mut transcript = Transcript::default();
    for line in std::io::BufReader::new(file).split(b'\n').map_while(Result::ok) {
        let Ok(record) = serde_json::from_slice::<AssistantRecord>(&line) else { continue };
        transcript.summary.feed_record(&record);
        if let RecordKind::Assistant(message) = &record.kind {
            let texts: Vec<&str> = message.content.texts().collect();
            if !texts.is_empty() {
                transcript.last_message = Some(texts.join("\n"));
            }
        }
    }
    Some(transcript)
}

/// Returns the content of the last promise tag of a text, with whitespace collapsed.
pub fn promise(text: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once("<promise>")?;
    let (inner, _) = rest.split_once("</promise>")?;
    Some(inner.split_whitespace().collect::<Vec<_>>().join(" "))
}
