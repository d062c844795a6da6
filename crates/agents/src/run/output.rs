//! Reads the lines of a file that another process still writes.

use std::io;
use std::path::Path;

use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

/// Bytes of one read.
const READ_SIZE: usize = 64 * 1024;
/// Longest line; a longer one is skipped, and never held in memory.
const LINE_CAP: usize = 8 * 1024 * 1024;

/// A reader that continues where the file ended at the last read.
#[derive(Debug)]
pub(super) struct GrowingFile {
    file: File,
    buffer: Vec<u8>,
    /// The beginning of a line whose end is not written yet.
    line: Vec<u8>,
    /// The line is too long; the rest of it is dropped.
    skipping: bool,
}

impl GrowingFile {
    pub(super) async fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path).await?;
        Ok(Self { file, buffer: Vec::with_capacity(READ_SIZE), line: Vec::new(), skipping: false })
    }

    /// The lines that the next read completes, without their ends; `None` at the present end of the file.
    pub(super) async fn read_lines(&mut self) -> io::Result<Option<Vec<String>>> {
        self.buffer.clear();
        if self.file.read_buf(&mut self.buffer).await? == 0 {
            return Ok(None);
        }
        let mut lines = Vec::new();
        for part in self.buffer.split_inclusive(|byte| *byte == b'\n') {
            if !self.skipping {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                if !self.skipping {
                    lines.push(String::from_utf8_lossy(&self.line).trim_end().to_owned());
                }
                self.line.clear();
                self.skipping = false;
            } else if self.line.len() > LINE_CAP {
                self.line = Vec::new();
                self.skipping = true;
            }
        }
        Ok(Some(lines))
    }

    /// The last line, when the writer is gone and did not end it.
    pub(super) fn take_rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.line);
        let is_line = !std::mem::take(&mut self.skipping) && !rest.is_empty();
        is_line.then(|| String::from_utf8_lossy(&rest).trim_end().to_owned())
    }
}
