//! Tails a file that another process writes, line by line.

use std::io;
use std::path::Path;

use loopgate_tools::process::LineBuffer;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

/// Bytes per read call.
const READ_SIZE: usize = 64 * 1024;
/// Longest line in bytes. Longer lines are skipped without being buffered.
const MAX_LINE: usize = 8 * 1024 * 1024;
/// Bytes of output per turn. The program is terminated above it, and later output is ignored.
pub(super) const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// Reader that continues at the position of the previous read.
#[derive(Debug)]
pub(super) struct GrowingFile {
    file: File,
    buffer: Vec<u8>,
    lines: LineBuffer,
    /// Total bytes read so far.
    read: u64,
}

impl GrowingFile {
    pub(super) async fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path).await?;
        Ok(Self { file, buffer: Vec::with_capacity(READ_SIZE), lines: LineBuffer::new(MAX_LINE), read: 0 })
    }

    /// Returns the lines that the next read completes, without line breaks; `None` at the current end of the
    /// file.
    pub(super) async fn read_lines(&mut self) -> io::Result<Option<Vec<String>>> {
        self.buffer.clear();
        if self.read >= MAX_OUTPUT || self.file.read_buf(&mut self.buffer).await? == 0 {
            return Ok(None);
        }
        self.read += self.buffer.len() as u64;
        let mut lines = Vec::new();
        // Lines above the limit arrive as `None` and are skipped.
        self.lines.feed(&self.buffer, |line, _| lines.extend(line.map(text)));
        Ok(Some(lines))
    }

    /// Returns an unterminated last line. Called after the writer has exited.
    pub(super) fn take_partial_line(&mut self) -> Option<String> {
        let line = text(self.lines.partial());
        self.lines.clear();
        Some(line).filter(|line| !line.is_empty())
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}
