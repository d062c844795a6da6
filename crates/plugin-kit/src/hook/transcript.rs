//! Reads the transcript that the assistant writes for a subagent's session.

use std::io::BufRead as _;
use std::path::Path;

use loopgate_api::assistant_stream::StreamSummary;
use serde_json::Value;

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
        let Ok(record) = serde_json::from_slice::<Value>(&line) else { continue };
        transcript.summary.feed_record(&record);
        if let Some(text) = assistant_text(&record) {
            transcript.last_message = Some(text);
        }
    }
    Some(transcript)
}

fn assistant_text(record: &Value) -> Option<String> {
    let message = record.get("message")?;
    let by_assistant = message.get("role").and_then(Value::as_str) == Some("assistant");
    let blocks = message.get("content")?.as_array()?;
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    (by_assistant && !texts.is_empty()).then(|| texts.join("\n"))
}

/// Returns the content of the last promise tag of a text, with whitespace collapsed.
pub fn promise(text: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once("<promise>")?;
    let (inner, _) = rest.split_once("</promise>")?;
    Some(inner.split_whitespace().collect::<Vec<_>>().join(" "))
}
