//! Copying a program's output: all of it to its log, its JSON lines to a file of their own.
//!
//! Memory stays flat: a line longer than the cap is left out of the JSON file, never kept. A full
//! disk holds the program up for a while instead of losing its output.

use std::fs::File;
use std::io::{self, Write as _};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, sleep};

/// Longest line that is copied to the JSON file, in bytes.
const LINE_CAP: usize = 8 * 1024 * 1024;
/// Bytes read at once.
const CHUNK: usize = 64 * 1024;
/// A buffer that grew beyond this is given back after its line.
const KEPT_BUFFER: usize = 256 * 1024;
/// How long a write that fails is tried again, and how often.
const STUBBORN: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_millis(250);

/// Copies until the source ends.
pub(super) async fn copy(mut source: impl AsyncRead + Unpin, mut log: File, mut jsonl: File) {
    let mut lines = JsonLines::new(LINE_CAP);
    let mut chunk = vec![0; CHUNK];
    let mut whole = Vec::new();
    loop {
        let read = match source.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        write(&mut log, &chunk[..read]).await;
        lines.feed(&chunk[..read], &mut whole);
        write(&mut jsonl, &whole).await;
        if whole.capacity() > KEPT_BUFFER {
            whole = Vec::new();
        }
        whole.clear();
    }
    lines.finish(&mut whole);
    write(&mut jsonl, &whole).await;
}

/// Writes all bytes, trying again while the disk is full; what cannot be written in time is lost.
async fn write(file: &mut File, mut bytes: &[u8]) {
    let mut until = None;
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return,
            Ok(written) => {
                bytes = &bytes[written..];
                until = None;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => {
                let until = *until.get_or_insert_with(|| Instant::now() + STUBBORN);
                if Instant::now() >= until {
                    return;
                }
                sleep(RETRY).await;
            }
        }
    }
}

/// Picks the lines that begin with `{` out of a stream that arrives in pieces.
struct JsonLines {
    /// The beginning of a line that is being kept.
    line: Vec<u8>,
    state: LineState,
    cap: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// At the beginning of a line.
    Fresh,
    /// Inside a line that is wanted.
    Kept,
    /// Inside a line that is not wanted, or too long.
    Skipped,
}

impl JsonLines {
    fn new(cap: usize) -> Self {
        Self { line: Vec::new(), state: LineState::Fresh, cap }
    }

    /// Takes the next piece and appends every line that it completes.
    fn feed(&mut self, mut bytes: &[u8], whole: &mut Vec<u8>) {
        while let Some(first) = bytes.first() {
            if self.state == LineState::Fresh {
                self.state = if *first == b'{' { LineState::Kept } else { LineState::Skipped };
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            self.take(part);
            if end.is_some() {
                self.complete(whole);
            }
            bytes = rest;
        }
    }

    /// Ends the stream; a last line without its line feed counts, and gets one.
    fn finish(&mut self, whole: &mut Vec<u8>) {
        if self.state == LineState::Kept {
            self.line.push(b'\n');
            self.complete(whole);
        }
    }

    fn take(&mut self, part: &[u8]) {
        if self.state != LineState::Kept {
            return;
        }
        if self.line.len() + part.len() > self.cap {
            self.line = Vec::new();
            self.state = LineState::Skipped;
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn complete(&mut self, whole: &mut Vec<u8>) {
        if self.state == LineState::Kept {
            whole.extend_from_slice(&self.line);
        }
        if self.line.capacity() > KEPT_BUFFER {
            self.line = Vec::new();
        }
        self.line.clear();
        self.state = LineState::Fresh;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picked(pieces: &[&[u8]], cap: usize) -> Vec<u8> {
        let mut lines = JsonLines::new(cap);
        let mut whole = Vec::new();
        for piece in pieces {
            lines.feed(piece, &mut whole);
        }
        lines.finish(&mut whole);
        whole
    }

    #[test]
    fn only_lines_that_begin_like_json_are_picked() {
        let pieces: [&[u8]; 3] = [b"noise {\n{\"a\":", b"1}\n\n {no}\n{}", b"\n{\"last\":2}"];
        assert_eq!(picked(&pieces, 100), b"{\"a\":1}\n{}\n{\"last\":2}\n");
    }

    #[test]
    fn line_that_is_too_long_is_left_out_and_the_next_is_not() {
        let long = format!("{{{}}}\n{{}}\n", "x".repeat(50));
        assert_eq!(picked(&[long.as_bytes()], 20), b"{}\n");
    }

    #[tokio::test]
    async fn all_output_is_logged() {
        let directory = tempfile::tempdir().unwrap();
        let (log, jsonl) = (directory.path().join("log"), directory.path().join("jsonl"));
        let text = "noise\n{\"a\":1}\n".repeat(20_000) + "tail";
        copy(text.as_bytes(), File::create(&log).unwrap(), File::create(&jsonl).unwrap()).await;
        assert_eq!(std::fs::read_to_string(&log).unwrap(), text);
        assert_eq!(std::fs::read_to_string(&jsonl).unwrap(), "{\"a\":1}\n".repeat(20_000));
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(text in "([{a\n]|\\{a\n){0,80}", cuts in proptest::collection::vec(0usize..80, 0..6), cap in 1usize..20) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            let expected: String = text
                .split_inclusive('\n')
                .filter(|line| line.starts_with('{') && line.len() <= cap)
                .map(|line| format!("{}\n", line.trim_end_matches('\n')))
                .collect();
            prop_assert_eq!(picked(&pieces, cap), expected.into_bytes());
        }
    }
}
