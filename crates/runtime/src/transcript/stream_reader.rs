//! Reads a growing stream in frames: complete lines only, in bounded memory.
//!
//! Performs blocking I/O; the caller runs it on a blocking thread. A renamed file is read to its end, another
//! file under the old name from its start.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::Instant;

use loopgate_api::assistant_events::AssistantEvents;
use loopgate_api::assistant_record::AssistantRecord;
use loopgate_api::assistant_stream::{StreamSummary, display_text};
use loopgate_api::event_body::EventBody;
use loopgate_api::ledger::LedgerEntry;
use loopgate_api::spend::{Run, Spend, Turn};
use loopgate_tools::process::LineBuffer;

use crate::jobs::FileIdentity;
use crate::transcript::MAX_LINE;
use crate::transcript::stream_file;

/// Limit of bytes per read.
const FRAME_BYTES: usize = 1024 * 1024;
/// Limit of the turns, and of the runs, in one frame.
const ENTRIES: usize = 20;
/// Limit of text bytes per event.
const CHUNK_BYTES: usize = 32 * 1024;
/// Limit of the parts per event in bytes of JSON, far below the control plane's limit for an event.
const PART_BYTES: usize = 4 * 1024 * 1024;

/// Position at which reading continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StreamPosition {
    /// The file; `None` before one was opened.
    pub file: Option<FileIdentity>,
    /// Offset at which this run's part begins.
    pub start: u64,
    /// Offset up to which all output is queued for the control plane.
    pub announced: u64,
}

/// Output of one or more lines.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// One line of text for each record that has one.
    pub text: String,
    /// What the records report.
    pub parts: Vec<EventBody>,
}

/// Result of one read.
#[derive(Debug, Default)]
pub(crate) struct TranscriptBatch {
    /// Output for the user, packed into as few chunks as possible.
    pub chunks: Vec<Chunk>,
    /// Number of complete lines.
    pub lines: u64,
    /// Position at the end of the frame.
    pub position: StreamPosition,
    /// Token totals including this frame.
    pub spend: Spend,
    /// Turns in this frame, at most the newest [`ENTRIES`].
    pub turns: Vec<Turn>,
    /// Runs of the assistant that ended in this frame.
    pub runs: Vec<Run>,
    /// Whether more data can be read immediately.
    pub more: bool,
}

/// Reader of a growing stream.
pub(crate) struct StreamReader {
    work_dir: PathBuf,
    open: Option<File>,
    position: StreamPosition,
    /// Absolute offset after the last byte that was read.
    read_to: u64,
    lines: LineBuffer,
    summary: StreamSummary,
    events: AssistantEvents,
}

impl StreamReader {
    /// Creates a reader at a position. Lines between its start and the announced offset only count towards
    /// the totals.
    pub fn new(work_dir: PathBuf, position: StreamPosition) -> Self {
        Self {
            work_dir,
            open: None,
            position,
            read_to: position.start,
            lines: LineBuffer::new(MAX_LINE),
            summary: StreamSummary::default(),
            events: AssistantEvents::default(),
        }
    }

    /// Returns the summary of everything that was read.
    pub fn into_summary(self) -> StreamSummary {
        self.summary
    }

    /// Reads new data. Once the stream has `ended`, an unterminated last line counts as well.
    pub fn read(&mut self, ended: bool) -> io::Result<TranscriptBatch> {
        self.follow()?;
        let mut frame = TranscriptBatch::default();
        let mut output = Vec::new();
        if let Some(file) = &mut self.open {
            file.seek(SeekFrom::Start(self.read_to))?;
            let mut bytes = Vec::new();
            let read = file.take(FRAME_BYTES as u64).read_to_end(&mut bytes)?;
            self.read_to += read as u64;
            // A full buffer means that more data is probably available.
            frame.more = read == FRAME_BYTES;
            self.take_lines(&bytes, &mut frame, &mut output);
            if ended && !frame.more {
                self.take_unfinished(&mut frame, &mut output);
            }
        }
        frame.chunks = pack(output);
        frame.position = self.position;
        frame.spend = self.summary.ledger.spend();
        Ok(frame)
    }

    /// Opens the stream, or its successor after the current one was read and replaced.
    fn follow(&mut self) -> io::Result<()> {
        if let Some(file) = &self.open {
            let length = file.metadata()?.len();
            if length > self.read_to {
                return Ok(());
            }
            if length < self.read_to {
                // The file was truncated.
                self.restart();
            }
        }
        let Some(path) = stream_file::resolve_live(&self.work_dir) else { return Ok(()) };
        let file = match loopgate_home::untrusted::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let identity = stream_file::identity(&file.metadata()?);
        if self.position.file != Some(identity) {
            // Before a file is opened, the position already contains the start of this run's part.
            if self.position.file.is_some() {
                self.restart();
            }
            self.position.file = Some(identity);
        }
        self.open = Some(file);
        Ok(())
    }

    fn restart(&mut self) {
        let file = self.position.file;
        self.position = StreamPosition { file, ..StreamPosition::default() };
        self.read_to = 0;
        self.lines.clear();
        self.summary = StreamSummary::default();
        self.events = AssistantEvents::default();
    }

    fn take_lines(&mut self, bytes: &[u8], frame: &mut TranscriptBatch, output: &mut Vec<Chunk>) {
        let at = self.read_to - bytes.len() as u64;
        let mut lines = std::mem::replace(&mut self.lines, LineBuffer::new(MAX_LINE));
        lines.feed(bytes, |line, end| {
            let end = at + end as u64;
            match line {
                Some(line) => self.take_line(line, end, frame, output),
                None => tracing::warn!("skipped an overlong line of the assistant's output"),
            }
            frame.lines += 1;
            self.position.announced = self.position.announced.max(end);
        });
        self.lines = lines;
    }

    fn take_unfinished(&mut self, frame: &mut TranscriptBatch, output: &mut Vec<Chunk>) {
        let lines = std::mem::replace(&mut self.lines, LineBuffer::new(MAX_LINE));
        let line = lines.partial();
        if line.is_empty() || serde_json::from_slice::<AssistantRecord>(line).is_err() {
            // A truncated record, for example of a killed assistant.
            self.lines = lines;
            return;
        }
        self.take_line(line, self.read_to, frame, output);
        frame.lines += 1;
        self.position.announced = self.position.announced.max(self.read_to);
    }

    fn take_line(&mut self, line: &[u8], end: u64, frame: &mut TranscriptBatch, output: &mut Vec<Chunk>) {
        let Ok(record) = serde_json::from_slice(line) else { return };
        let entry = self.summary.feed_record(&record);
        if end <= self.position.announced {
            // Queued before a restart: counts towards the totals, but is not shown again.
            self.events.skip(&record);
            return;
        }
        match entry {
            Some(LedgerEntry::Turn(turn)) => push_limited(&mut frame.turns, turn),
            Some(LedgerEntry::Run(run)) => push_limited(&mut frame.runs, run),
            None => {}
        }
        let text = display_text(&record).unwrap_or_default();
        let parts = self.events.parts(&record, Instant::now());
        if !text.is_empty() || !parts.is_empty() {
            output.push(Chunk { text, parts });
        }
    }
}

fn push_limited<T>(list: &mut Vec<T>, item: T) {
    if list.len() == ENTRIES {
        list.remove(0);
    }
    list.push(item);
}

/// Joins output into chunks. Texts are separated by line breaks, and limited to [`CHUNK_BYTES`] and [`PART_BYTES`], unless
/// the output of a single line is larger.
fn pack(output: Vec<Chunk>) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut bytes = 0;
    for item in output {
        let size: usize = item.parts.iter().map(size).sum();
        match chunks.last_mut() {
            Some(chunk)
                if chunk.text.len() + 1 + item.text.len() <= CHUNK_BYTES && bytes + size <= PART_BYTES =>
            {
                if !chunk.text.is_empty() && !item.text.is_empty() {
                    chunk.text.push('\n');
                }
                chunk.text.push_str(&item.text);
                chunk.parts.extend(item.parts);
                bytes += size;
            }
            _ => {
                chunks.push(item);
                bytes = size;
            }
        }
    }
    chunks
}

/// Returns the size of a part in bytes of JSON.
fn size(part: &EventBody) -> usize {
    serde_json::to_string(part).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> String {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\
                 \"usage\":{{\"input_tokens\":1,\"output_tokens\":2}}}}}}\n"
        )
    }

    fn append(dir: &std::path::Path, text: &str) {
        let path = dir.join("assistant-output.jsonl");
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn text_of(frame: &TranscriptBatch) -> String {
        frame.chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    // LR-47
    #[test]
    fn incomplete_line_is_read_when_complete() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = StreamReader::new(dir.path().to_owned(), StreamPosition::default());
        assert_eq!(reader.read(false).unwrap().lines, 0, "no stream yet");
        let (one, two) = (line("one"), line("two"));
        append(dir.path(), &one);
        append(dir.path(), &two[..10]);
        let frame = reader.read(false).unwrap();
        assert_eq!((text_of(&frame).as_str(), frame.position.announced), ("one", one.len() as u64));
        append(dir.path(), &two[10..]);
        let frame = reader.read(false).unwrap();
        assert_eq!(text_of(&frame), "two");
        assert_eq!(frame.spend.tokens.output_tokens, 4);
    }

    #[test]
    fn renamed_stream_is_read_to_its_end_and_a_new_one_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = StreamReader::new(dir.path().to_owned(), StreamPosition::default());
        append(dir.path(), &line("one"));
        reader.read(false).unwrap();
        append(dir.path(), &line("two"));
        let (fixed, renamed) = ("assistant-output.jsonl", "assistant-output-1.jsonl");
        std::fs::rename(dir.path().join(fixed), dir.path().join(renamed)).unwrap();
        std::fs::write(dir.path().join("assistant-output.name.txt"), renamed).unwrap();
        assert_eq!(text_of(&reader.read(false).unwrap()), "two");
        append(dir.path(), &line("three"));
        let frame = reader.read(true).unwrap();
        assert_eq!((text_of(&frame).as_str(), frame.spend.tokens.input_tokens), ("three", 1));
    }

    // LR-41
    #[test]
    fn restart_repeats_no_output_and_keeps_the_totals() {
        let dir = tempfile::tempdir().unwrap();
        append(dir.path(), &line("before this run"));
        let metadata = std::fs::metadata(dir.path().join("assistant-output.jsonl")).unwrap();
        let start = metadata.len();
        let file = Some(stream_file::identity(&metadata));
        let first = StreamPosition { file, start, announced: start };
        append(dir.path(), &line("one"));
        let mut reader = StreamReader::new(dir.path().to_owned(), first);
        let position = reader.read(false).unwrap().position;
        append(dir.path(), &line("two"));
        let mut resumed = StreamReader::new(dir.path().to_owned(), position);
        let frame = resumed.read(false).unwrap();
        assert_eq!(text_of(&frame), "two");
        assert_eq!(frame.spend.tokens.input_tokens, 2, "both lines of this run, none of the earlier one");
    }

    #[test]
    fn unterminated_last_line_counts_after_the_end() {
        let dir = tempfile::tempdir().unwrap();
        append(dir.path(), line("one").trim_end());
        let mut reader = StreamReader::new(dir.path().to_owned(), StreamPosition::default());
        assert_eq!(reader.read(false).unwrap().lines, 0);
        assert_eq!(text_of(&reader.read(true).unwrap()), "one");
        assert_eq!(reader.read(true).unwrap().lines, 0);
    }

    #[test]
    fn restart_keeps_the_open_tool_calls() {
        let dir = tempfile::tempdir().unwrap();
        let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}"#;
        append(dir.path(), &format!("{call}\n"));
        let mut reader = StreamReader::new(dir.path().to_owned(), StreamPosition::default());
        let frame = reader.read(false).unwrap();
        assert_eq!((text_of(&frame).as_str(), frame.chunks[0].parts.len()), ("Tool: Bash(ls)", 1));
        let end = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"a"}]}}"#;
        append(dir.path(), &format!("{end}\n"));
        let frame = StreamReader::new(dir.path().to_owned(), frame.position).read(false).unwrap();
        let part = serde_json::to_value(&frame.chunks[0].parts[0]).unwrap();
        assert_eq!((&part["tool"], &part["exitCode"]), (&"Bash".into(), &0.into()));
        assert_eq!(part.get("durationMs"), None, "the time of the start is unknown");
    }

    #[test]
    fn chunks_are_limited_by_their_parts() {
        let large = |text: &str| Chunk {
            text: text.to_owned(),
            parts: vec![EventBody::Limit(loopgate_api::event_body::LimitEvent {
                text: "x".repeat(PART_BYTES / 2),
            })],
        };
        let chunks = pack(vec![large("a"), large("b"), Chunk::default()]);
        let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(texts, ["a", "b"]);
    }

    proptest! {
        #[test]
        fn chunked_lines_are_shown_once(
            texts in proptest::collection::vec("[a-z]{1,30}", 1..20),
            cuts in proptest::collection::vec(1usize..60, 1..40),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let whole: String = texts.iter().map(|text| line(text)).collect();
            let mut reader = StreamReader::new(dir.path().to_owned(), StreamPosition::default());
            let mut seen = Vec::new();
            let mut rest = whole.as_str();
            for cut in cuts {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                rest = later;
                append(dir.path(), now);
                let frame = reader.read(false).unwrap();
                seen.extend(frame.chunks);
                // A crash at this point: the next reader continues at the stored position.
                reader = StreamReader::new(dir.path().to_owned(), frame.position);
            }
            append(dir.path(), rest);
            seen.extend(reader.read(true).unwrap().chunks);
            let seen: Vec<&str> = seen.iter().flat_map(|chunk: &Chunk| chunk.text.lines()).collect();
            prop_assert_eq!(seen, texts.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
