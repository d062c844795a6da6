//! Reader of the growing file with timing events. Performs blocking I/O.

use std::collections::HashMap;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use loopgate_api::perf::{CleanText, ParseFailure, PerfRecord};
use loopgate_tools::process::LineBuffer;

use crate::jobs::{FileIdentity, PerfMark};
use crate::transcript::MAX_LINE;
use crate::transcript::stream_file;

/// Limit of bytes per read.
const PIECE: u64 = 1024 * 1024;
/// Malformed lines that are reported individually per read; further ones are only counted.
const MAX_FAILURES: usize = 20;
/// Limit of iterations whose phase is cached.
const MAX_PHASES: usize = 64;

/// A timing event or a parse failure to report.
#[derive(Debug, PartialEq)]
pub(super) enum PerfItem {
    Event(Box<PerfRecord>),
    Failure(ParseFailure),
}

/// Result of one read.
#[derive(Debug, Default)]
pub(super) struct PerfBatch {
    pub items: Vec<PerfItem>,
    /// Whether more data can be read immediately.
    pub more: bool,
}

/// Reader of the timing events of a loop.
pub(super) struct PerfReader {
    path: PathBuf,
    file: Option<FileIdentity>,
    read_to: u64,
    /// Number of the last line that was read.
    line: u64,
    lines: LineBuffer,
    /// Offset up to which everything was reported.
    reported: u64,
    /// Current phase of each iteration of a run.
    phases: HashMap<(CleanText, u64), CleanText>,
}

impl PerfReader {
    /// Creates a reader at a mark. Lines that were reported before only update the phases.
    pub fn new(path: PathBuf, mark: PerfMark) -> Self {
        Self {
            path,
            file: mark.file,
            read_to: mark.start,
            line: mark.lines,
            lines: LineBuffer::new(MAX_LINE),
            reported: mark.reported,
            phases: HashMap::new(),
        }
    }

    /// Returns the file and the offset after the last line that was read.
    pub fn position(&self) -> (Option<FileIdentity>, u64) {
        (self.file, self.reported)
    }

    /// Reads new lines. Once the file has `ended`, an unterminated last line counts as well. A missing or
    /// unreadable file yields nothing.
    pub fn read(&mut self, ended: bool) -> PerfBatch {
        self.read_piece(ended).unwrap_or_default()
    }

    fn read_piece(&mut self, ended: bool) -> io::Result<PerfBatch> {
        let mut file = loopgate_home::untrusted::open(&self.path)?;
        let metadata = file.metadata()?;
        let identity = stream_file::identity(&metadata);
        if self.file.is_some_and(|current| current != identity) || metadata.len() < self.read_to {
            self.reset();
        }
        self.file = Some(identity);
        file.seek(SeekFrom::Start(self.read_to))?;
        let mut bytes = Vec::new();
        let read = file.take(PIECE).read_to_end(&mut bytes)? as u64;
        let at = self.read_to;
        self.read_to += read;
        let mut batch = PerfBatch { items: Vec::new(), more: read == PIECE };
        let mut failures = ParseFailures::default();
        let mut lines = std::mem::replace(&mut self.lines, LineBuffer::new(MAX_LINE));
        lines.feed(&bytes, |line, end| {
            self.take_line(line, at + end as u64, &mut batch.items, &mut failures);
        });
        if ended && !batch.more && !lines.partial().is_empty() {
            self.take_line(Some(lines.partial()), self.read_to, &mut batch.items, &mut failures);
            lines.clear();
        }
        self.lines = lines;
        batch.items.extend(failures.summary());
        Ok(batch)
    }

    fn reset(&mut self) {
        (self.read_to, self.line, self.reported) = (0, 0, 0);
        self.lines.clear();
    }

    fn take_line(
        &mut self,
        line: Option<&[u8]>,
        end: u64,
        items: &mut Vec<PerfItem>,
        failures: &mut ParseFailures,
    ) {
        self.line += 1;
        let is_new = end > self.reported;
        self.reported = self.reported.max(end);
        let read = match line {
            Some(line) if line.trim_ascii().is_empty() => return,
            Some(line) => serde_json::from_slice(line).map_err(|error| error.to_string()),
            None => Err("the line is too long".to_owned()),
        };
        match read {
            Ok(record) => {
                let record = self.with_phase(record);
                self.record_phase(&record);
                if is_new {
                    items.push(PerfItem::Event(Box::new(record)));
                }
            }
            Err(reason) if is_new => {
                let failure = ParseFailure::new(self.line, line.unwrap_or_default(), &reason);
                items.extend(failures.admit(failure));
            }
            Err(_) => {}
        }
    }

    fn record_phase(&mut self, record: &PerfRecord) {
        if let Some((iteration, phase)) = record.event.started_phase() {
            if self.phases.len() >= MAX_PHASES {
                // Only the current iterations matter, so eviction can be crude.
                self.phases.clear();
            }
            self.phases.insert((record.run_id.clone(), iteration), phase.clone());
        }
    }

    /// Sets the current phase of an event's iteration.
    pub fn with_phase(&self, mut record: PerfRecord) -> PerfRecord {
        if let Some((iteration, phase)) = record.event.phase_slot() {
            *phase = self.phases.get(&(record.run_id.clone(), iteration)).cloned();
        }
        record
    }
}

/// Malformed lines of one read.
#[derive(Debug, Default)]
struct ParseFailures {
    admitted: usize,
    /// Line number of the first failure that was only counted.
    first_counted: u64,
    counted: usize,
}

impl ParseFailures {
    fn admit(&mut self, failure: ParseFailure) -> Option<PerfItem> {
        if self.admitted == MAX_FAILURES {
            if self.counted == 0 {
                self.first_counted = failure.line_number;
            }
            self.counted += 1;
            return None;
        }
        self.admitted += 1;
        Some(PerfItem::Failure(failure))
    }

    fn summary(self) -> Option<PerfItem> {
        let reason = format!("{} more lines cannot be read", self.counted);
        (self.counted > 0).then(|| PerfItem::Failure(ParseFailure::new(self.first_counted, b"", &reason)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use serde_json::{Value, json};

    use super::super::mark_of;
    use super::*;

    fn append(path: &Path, text: &str) {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn phase(name: &str) -> String {
        let line = json!({"event": "phase", "run_id": "r", "iteration": 1, "phase": name,
            "status": "IN_PROGRESS", "started_at": "then"});
        format!("{line}\n")
    }

    fn spawn() -> String {
        let line = json!({"event": "spawn", "run_id": "r", "iteration": 1, "parent_agent_id": "a",
            "started_at": "then"});
        format!("{line}\n")
    }

    /// Returns events as name and phase, and failures as line number.
    fn summarize(batch: &PerfBatch) -> Vec<Value> {
        let each = |items: &PerfItem| match items {
            PerfItem::Event(record) => {
                let value = serde_json::to_value(record).unwrap();
                json!([value["event"], value["phase"]])
            }
            PerfItem::Failure(failure) => json!(failure.line_number),
        };
        batch.items.iter().map(each).collect()
    }

    // LR-55
    #[test]
    fn line_numbers_start_at_the_file_and_only_new_events_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("perf.jsonl");
        append(&path, &format!("{}{}", phase("of an earlier run"), spawn()));
        let mark = mark_of(dir.path());
        assert_eq!((mark.lines, mark.start), (2, path.metadata().unwrap().len()));
        let mut reader = PerfReader::new(path.clone(), mark.clone());
        assert_eq!(summarize(&reader.read(false)), Vec::<Value>::new());
        append(&path, &format!("{}no json\n\n{}", phase("1"), &spawn()[..9]));
        assert_eq!(summarize(&reader.read(false)), [json!(["phase", "1"]), json!(4)]);
        append(&path, &spawn()[9..]);
        let (_, reported) = reader.position();
        assert_eq!(summarize(&reader.read(false)), [json!(["spawn", "1"])], "in the phase of this run");
        // After a restart the phase is restored, and no event is reported again.
        let mut resumed = PerfReader::new(path.clone(), PerfMark { reported, ..mark });
        append(&path, "last");
        assert_eq!(summarize(&resumed.read(true)), [json!(["spawn", "1"]), json!(7)]);
        assert_eq!(summarize(&resumed.read(true)), Vec::<Value>::new());
    }

    #[test]
    fn replaced_file_is_read_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("perf.jsonl");
        append(&path, &phase("old").repeat(3));
        let mut reader = PerfReader::new(path.clone(), mark_of(dir.path()));
        assert!(reader.read(false).items.is_empty());
        std::fs::rename(&path, dir.path().join("elsewhere")).unwrap();
        assert!(reader.read(false).items.is_empty());
        append(&path, "broken\n");
        assert_eq!(summarize(&reader.read(false)), [json!(1)]);
    }

    #[test]
    fn malformed_lines_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("perf.jsonl");
        append(&path, &"{\n".repeat(50));
        let mut reader = PerfReader::new(path, PerfMark::default());
        let batch = reader.read(false);
        assert_eq!(batch.items.len(), MAX_FAILURES + 1);
        let Some(PerfItem::Failure(summary)) = batch.items.last() else { panic!("{batch:?}") };
        assert_eq!(
            (summary.line_number, summary.error_message.as_str()),
            (21, "30 more lines cannot be read")
        );
    }
}
