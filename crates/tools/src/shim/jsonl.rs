//! Copies a program's output: all of it to the log, and its JSON lines to a separate file.
//!
//! Memory is bounded: a line longer than the cap is omitted from the JSON file. While the disk is full, the
//! program is blocked by backpressure instead of losing output.

use std::fs::File;
use std::io::{self, Write as _};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, sleep};

/// Longest line that is copied to the JSON file, in bytes. The assistant embeds files that it reads in single
/// lines.
const LINE_CAP: usize = 8 * 1024 * 1024;
/// Size of one read, in bytes: the capacity of a pipe on Linux.
const CHUNK: usize = 64 * 1024;
/// Buffer capacity to keep for the next line, in bytes. More, after a single long line, is freed.
const RETAINED_CAPACITY: usize = 256 * 1024;
/// How long a failing write is retried; afterwards, output is dropped so that the program can finish.
const RETRY_TIMEOUT: Duration = Duration::from_secs(30);
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// Copies until the end of file.
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
        if whole.capacity() > RETAINED_CAPACITY {
            whole = Vec::new();
        }
        whole.clear();
    }
    lines.finish(&mut whole);
    write(&mut jsonl, &whole).await;
}

/// Writes all bytes, with retries while the disk is full. Drops them when that takes longer than
/// [`RETRY_TIMEOUT`].
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
                let until = *until.get_or_insert_with(|| Instant::now() + RETRY_TIMEOUT);
                if Instant::now() >= until {
                    return;
                }
                sleep(RETRY_DELAY).await;
            }
        }
    }
}

/// Extracts the lines that start with `{` from a stream that arrives in chunks.
struct JsonLines {
    /// The start of an accepted line whose line feed has not been read yet.
    line: Vec<u8>,
    state: LineState,
    cap: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// At the start of a line.
    Start,
    /// Inside an accepted line.
    Accepted,
    /// Inside a line that does not start with `{`, or is too long.
    Skipped,
}

impl JsonLines {
    fn new(cap: usize) -> Self {
        Self { line: Vec::new(), state: LineState::Start, cap }
    }

    /// Reads the next chunk and appends every line that ends in it to `whole`.
    fn feed(&mut self, mut bytes: &[u8], whole: &mut Vec<u8>) {
        while let Some(first) = bytes.first() {
            if self.state == LineState::Start {
                self.state = if *first == b'{' { LineState::Accepted } else { LineState::Skipped };
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

    /// Ends the stream. A last line without a line feed is accepted and terminated with one.
    // Readers of the file accept only lines that end with a line feed.
    fn finish(&mut self, whole: &mut Vec<u8>) {
        if self.state == LineState::Accepted {
            self.line.push(b'\n');
            self.complete(whole);
        }
    }

    fn take(&mut self, part: &[u8]) {
        if self.state != LineState::Accepted {
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
        if self.state == LineState::Accepted {
            whole.extend_from_slice(&self.line);
        }
        if self.line.capacity() > RETAINED_CAPACITY {
            self.line = Vec::new();
        }
        self.line.clear();
        self.state = LineState::Start;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn extract(pieces: &[&[u8]], cap: usize) -> Vec<u8> {
        let mut lines = JsonLines::new(cap);
        let mut whole = Vec::new();
        for piece in pieces {
            lines.feed(piece, &mut whole);
        }
        lines.finish(&mut whole);
        whole
    }

    #[test]
    fn only_lines_that_start_with_a_brace_are_extracted() {
        let pieces: [&[u8]; 3] = [b"noise {\n{\"a\":", b"1}\n\n {no}\n{}", b"\n{\"last\":2}"];
        assert_eq!(extract(&pieces, 100), b"{\"a\":1}\n{}\n{\"last\":2}\n");
    }

    #[test]
    fn only_the_line_that_is_too_long_is_omitted() {
        let long = format!("{{{}}}\n{{}}\n", "x".repeat(50));
        assert_eq!(extract(&[long.as_bytes()], 20), b"{}\n");
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
            prop_assert_eq!(extract(&pieces, cap), expected.into_bytes());
        }
    }
}
