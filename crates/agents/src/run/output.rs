//! Reads the lines of a file that another process still writes.

use std::io;
use std::path::Path;

use loopgate_tools::process::LineBuffer;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

/// Bytes of one read.
const READ_SIZE: usize = 64 * 1024;
/// Longest line in bytes; a longer one is skipped, and never held in memory.
const MAX_LINE: usize = 8 * 1024 * 1024;
/// Bytes that a program may print in one turn; what follows is not read.
pub(super) const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// A reader that continues where the file ended at the last read.
#[derive(Debug)]
pub(super) struct GrowingFile {
    file: File,
    buffer: Vec<u8>,
    lines: LineBuffer,
    /// Bytes that were read.
    read: u64,
}

impl GrowingFile {
    pub(super) async fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path).await?;
        Ok(Self { file, buffer: Vec::with_capacity(READ_SIZE), lines: LineBuffer::new(MAX_LINE), read: 0 })
    }

    /// The lines that the next read completes, without their ends; `None` at the present end of the file.
    pub(super) async fn read_lines(&mut self) -> io::Result<Option<Vec<String>>> {
        self.buffer.clear();
        if self.read >= MAX_OUTPUT || self.file.read_buf(&mut self.buffer).await? == 0 {
            return Ok(None);
        }
        self.read += self.buffer.len() as u64;
        let mut lines = Vec::new();
        self.lines.feed(&self.buffer, |line, _| lines.extend(line.map(text)));
        Ok(Some(lines))
    }

    /// Bytes that the file has now.
    pub(super) async fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata().await?.len())
    }

    /// The last line, when the writer is gone and did not end it.
    pub(super) fn take_rest(&mut self) -> Option<String> {
        let rest = text(self.lines.partial());
        self.lines.clear();
        Some(rest).filter(|rest| !rest.is_empty())
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}
