//! Reads a growing stream frame by frame: whole lines only, with flat memory.
//!
//! Blocks on the disk; its owner moves it to a thread that may. A renamed file is read on, another
//! file under the old name is read from its beginning.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use loopgate_api::assistant_stream::{StreamSummary, display_text};
use loopgate_api::ledger::LedgerEntry;
use loopgate_api::spend::{Run, Spend, Turn};
use loopgate_tools::process::LineBuffer;
use serde_json::Value;

use crate::jobs::FileIdentity;
use crate::transcript::MAX_LINE;
use crate::transcript::stream_file;

/// Bytes that are read at a time.
const FRAME_BYTES: usize = 1024 * 1024;
/// Turns, and runs, that one frame names.
const ENTRIES: usize = 20;
/// Bytes of text in one event.
const CHUNK_BYTES: usize = 32 * 1024;

/// Where in which file reading goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StreamPosition {
    /// The file; `None` before any was seen.
    pub file: Option<FileIdentity>,
    /// Where this run's part begins.
    pub start: u64,
    /// Up to where everything was announced.
    pub announced: u64,
}

/// What one read brought.
#[derive(Debug, Default)]
pub(crate) struct TranscriptBatch {
    /// Texts for people, packed into as few pieces as may be sent.
    pub chunks: Vec<String>,
    /// Whole lines.
    pub lines: u64,
    /// Where the frame ends.
    pub position: StreamPosition,
    /// Totals including this frame.
    pub spend: Spend,
    /// What the frame itself added to them, the newest of each.
    pub turns: Vec<Turn>,
    /// Runs of the assistant that ended in it.
    pub runs: Vec<Run>,
    /// Whether more can be read at once.
    pub more: bool,
}

/// A stream under way.
pub(crate) struct StreamReader {
    work_dir: PathBuf,
    open: Option<File>,
    position: StreamPosition,
    /// Absolute offset behind the last byte that was read.
    read_to: u64,
    lines: LineBuffer,
    summary: StreamSummary,
}

impl StreamReader {
    /// Reads from a position on; what is between its start and what was announced is only summed.
    pub fn new(work_dir: PathBuf, position: StreamPosition) -> Self {
        Self {
            work_dir,
            open: None,
            position,
            read_to: position.start,
            lines: LineBuffer::new(MAX_LINE),
            summary: StreamSummary::default(),
        }
    }

    /// What was learned so far.
    pub fn into_summary(self) -> StreamSummary {
        self.summary
    }

    /// Reads what was written since; at the end of a stream that nobody writes any more, a last
    /// line without its end counts too.
    pub fn read(&mut self, ended: bool) -> io::Result<TranscriptBatch> {
        self.follow()?;
        let mut frame = TranscriptBatch::default();
        let mut texts = Vec::new();
        if let Some(file) = &mut self.open {
            file.seek(SeekFrom::Start(self.read_to))?;
            let mut bytes = Vec::new();
            let read = file.take(FRAME_BYTES as u64).read_to_end(&mut bytes)?;
            self.read_to += read as u64;
            frame.more = read == FRAME_BYTES;
            self.take_lines(&bytes, &mut frame, &mut texts);
            if ended && !frame.more {
                self.take_unfinished(&mut frame, &mut texts);
            }
        }
        frame.chunks = pack(&texts);
        frame.position = self.position;
        frame.spend = self.summary.ledger.spend();
        Ok(frame)
    }

    /// Opens the stream, or another one when this one has been read and replaced.
    fn follow(&mut self) -> io::Result<()> {
        if let Some(file) = &self.open {
            let length = file.metadata()?.len();
            if length > self.read_to {
                return Ok(());
            }
            if length < self.read_to {
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
            // Before any stream was seen, the position says where this run's part begins.
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
    }

    fn take_lines(&mut self, bytes: &[u8], frame: &mut TranscriptBatch, texts: &mut Vec<String>) {
        let at = self.read_to - bytes.len() as u64;
        let mut lines = std::mem::replace(&mut self.lines, LineBuffer::new(MAX_LINE));
        lines.feed(bytes, |line, end| {
            let end = at + end as u64;
            match line {
                Some(line) => self.take_line(line, end, frame, texts),
                None => tracing::warn!("a line of the assistant's output was too long and was skipped"),
            }
            frame.lines += 1;
            self.position.announced = self.position.announced.max(end);
        });
        self.lines = lines;
    }

    fn take_unfinished(&mut self, frame: &mut TranscriptBatch, texts: &mut Vec<String>) {
        let lines = std::mem::replace(&mut self.lines, LineBuffer::new(MAX_LINE));
        let line = lines.partial();
        if line.is_empty() || serde_json::from_slice::<Value>(line).is_err() {
            self.lines = lines;
            return;
        }
        self.take_line(line, self.read_to, frame, texts);
        frame.lines += 1;
        self.position.announced = self.position.announced.max(self.read_to);
    }

    fn take_line(&mut self, line: &[u8], end: u64, frame: &mut TranscriptBatch, texts: &mut Vec<String>) {
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return };
        let entry = self.summary.feed_record(&record);
        if end <= self.position.announced {
            return;
        }
        match entry {
            Some(LedgerEntry::Turn(turn)) => keep(&mut frame.turns, turn),
            Some(LedgerEntry::Run(run)) => keep(&mut frame.runs, run),
            None => {}
        }
        texts.extend(display_text(&record));
    }
}

fn keep<T>(list: &mut Vec<T>, item: T) {
    if list.len() == ENTRIES {
        list.remove(0);
    }
    list.push(item);
}

/// Joins texts by line breaks into pieces of limited size.
fn pack(texts: &[String]) -> Vec<String> {
    let mut chunks: Vec<String> = Vec::new();
    for text in texts {
        match chunks.last_mut() {
            Some(chunk) if chunk.len() + 1 + text.len() <= CHUNK_BYTES => {
                chunk.push('\n');
                chunk.push_str(text);
            }
            _ => chunks.push(text.clone()),
        }
    }
    chunks
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

    fn shown(frame: &TranscriptBatch) -> String {
        frame.chunks.join("\n")
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
        assert_eq!((shown(&frame).as_str(), frame.position.announced), ("one", one.len() as u64));
        append(dir.path(), &two[10..]);
        let frame = reader.read(false).unwrap();
        assert_eq!(shown(&frame), "two");
        assert_eq!(frame.spend.tokens.output_tokens, 4);
    }

    #[test]
    fn renamed_stream_is_read_on_and_a_new_one_from_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = StreamReader::new(dir.path().to_owned(), StreamPosition::default());
        append(dir.path(), &line("one"));
        reader.read(false).unwrap();
        append(dir.path(), &line("two"));
        let (fixed, renamed) = ("assistant-output.jsonl", "assistant-output-1.jsonl");
        std::fs::rename(dir.path().join(fixed), dir.path().join(renamed)).unwrap();
        std::fs::write(dir.path().join("assistant-output.name.txt"), renamed).unwrap();
        assert_eq!(shown(&reader.read(false).unwrap()), "two");
        append(dir.path(), &line("three"));
        let frame = reader.read(true).unwrap();
        assert_eq!((shown(&frame).as_str(), frame.spend.tokens.input_tokens), ("three", 1));
    }

    // LR-41
    #[test]
    fn after_a_restart_nothing_is_shown_twice_and_everything_is_summed() {
        let dir = tempfile::tempdir().unwrap();
        append(dir.path(), &line("before this run"));
        let metadata = std::fs::metadata(dir.path().join("assistant-output.jsonl")).unwrap();
        let start = metadata.len();
        let file = Some(stream_file::identity(&metadata));
        let first = StreamPosition { file, start, announced: start };
        append(dir.path(), &line("one"));
        let mut reader = StreamReader::new(dir.path().to_owned(), first);
        let stored = reader.read(false).unwrap().position;
        append(dir.path(), &line("two"));
        let mut again = StreamReader::new(dir.path().to_owned(), stored);
        let frame = again.read(false).unwrap();
        assert_eq!(shown(&frame), "two");
        assert_eq!(frame.spend.tokens.input_tokens, 2, "both lines of this run, none of the earlier one");
    }

    #[test]
    fn unterminated_last_line_counts_after_the_end() {
        let dir = tempfile::tempdir().unwrap();
        append(dir.path(), line("one").trim_end());
        let mut reader = StreamReader::new(dir.path().to_owned(), StreamPosition::default());
        assert_eq!(reader.read(false).unwrap().lines, 0);
        assert_eq!(shown(&reader.read(true).unwrap()), "one");
        assert_eq!(reader.read(true).unwrap().lines, 0);
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
                // A crash now: the next reader goes on from what was stored.
                reader = StreamReader::new(dir.path().to_owned(), frame.position);
            }
            append(dir.path(), rest);
            seen.extend(reader.read(true).unwrap().chunks);
            let seen: Vec<&str> = seen.iter().flat_map(|chunk| chunk.lines()).collect();
            prop_assert_eq!(seen, texts.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
