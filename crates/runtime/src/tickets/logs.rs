//! Tails of the logs of a ticket.

use std::io;

use loopgate_api::names::LAUNCH_LOG;
use loopgate_api::ticket::LogTail;

use super::files::TicketFiles;
use super::last_lines::{LastLines, last_lines};
use super::line_counts::LineCounts;
use crate::transcript::stream_file;

impl TicketFiles {
    /// Returns the last lines of the assistant's output, or of the launch log if there is no output.
    ///
    /// # Errors
    /// Fails when a file cannot be read.
    pub fn log_tail(&self, limit: usize, counts: &LineCounts) -> io::Result<LogTail> {
        let work_dir = self.work_dir();
        let records = match stream_file::resolve(&work_dir) {
            Some(stream) => self.open(&stream)?,
            None => None,
        };
        if let Some(file) = records {
            let LastLines { lines, total } = last_lines(&file, limit, counts)?;
            let returned_lines = lines.len();
            return Ok(LogTail::Records {
                exists: true,
                format: "jsonl",
                lines,
                total_lines: total,
                returned_lines,
            });
        }
        let Some(file) = self.open(&work_dir.join(LAUNCH_LOG))? else { return Ok(LogTail::NOTHING) };
        let LastLines { lines, total } = last_lines(&file, limit, counts)?;
        Ok(LogTail::Text {
            exists: true,
            format: "text",
            content: lines.join("\n"),
            total_lines: total,
            returned_lines: lines.len(),
        })
    }
}
