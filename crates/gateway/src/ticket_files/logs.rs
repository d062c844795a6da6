//! The end of a ticket's log.

use std::io;

use loopgate_api::names::LAUNCH_LOG;
use loopgate_runtime::stream_of_work_dir;
use serde::Serialize;
use utoipa::ToSchema;

use super::TicketFiles;
use super::stream::{LastLines, last_lines};

/// The end of a log, in one of its formats.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum LogTail {
    /// Raw records of the assistant.
    #[serde(rename_all = "camelCase")]
    Records {
        exists: bool,
        #[schema(example = "jsonl")]
        format: &'static str,
        lines: Vec<String>,
        total_lines: usize,
        returned_lines: usize,
    },
    /// Text of the launched script.
    #[serde(rename_all = "camelCase")]
    Text {
        exists: bool,
        #[schema(example = "text")]
        format: &'static str,
        content: String,
        total_lines: usize,
        returned_lines: usize,
    },
    /// There is none.
    Nothing {
        exists: bool,
        #[schema(example = "text")]
        format: &'static str,
        content: &'static str,
        lines: usize,
    },
}

impl LogTail {
    /// No log.
    pub(crate) const NOTHING: Self = Self::Nothing { exists: false, format: "text", content: "", lines: 0 };
}

impl TicketFiles {
    /// The last lines of the assistant's output, else of the launch log.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn log_tail(&self, wanted: usize) -> io::Result<LogTail> {
        let work_dir = self.work_dir();
        let records = match stream_of_work_dir(&work_dir) {
            Some(stream) => self.open(&stream)?,
            None => None,
        };
        if let Some(file) = records {
            let LastLines { lines, total } = last_lines(&file, wanted)?;
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
        let LastLines { lines, total } = last_lines(&file, wanted)?;
        Ok(LogTail::Text {
            exists: true,
            format: "text",
            content: lines.join("\n"),
            total_lines: total,
            returned_lines: lines.len(),
        })
    }
}
