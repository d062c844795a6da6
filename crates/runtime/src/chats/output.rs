//! The lines of a file that is still written.

use std::io;
use std::path::Path;

use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

/// Bytes read at once.
const PIECE: usize = 64 * 1024;
/// Longest line; a longer one is left out, never kept.
const LINE_CAP: usize = 8 * 1024 * 1024;

/// A reader that goes on where the file ended when it was last read.
#[derive(Debug)]
pub(super) struct GrowingFile {
    file: File,
    piece: Vec<u8>,
    /// The beginning of a line whose end is not there yet.
    line: Vec<u8>,
    /// The line is too long; what follows of it is dropped.
    skipping: bool,
}

impl GrowingFile {
    pub(super) async fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path).await?;
        Ok(Self { file, piece: Vec::with_capacity(PIECE), line: Vec::new(), skipping: false })
    }

    /// The lines that the next piece completes; `None` at the present end.
    pub(super) async fn more(&mut self) -> io::Result<Option<Vec<String>>> {
        self.piece.clear();
        if self.file.read_buf(&mut self.piece).await? == 0 {
            return Ok(None);
        }
        let mut lines = Vec::new();
        for part in self.piece.split_inclusive(|byte| *byte == b'\n') {
            if !self.skipping {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                if !self.skipping {
                    lines.push(String::from_utf8_lossy(&self.line).trim().to_owned());
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
}
