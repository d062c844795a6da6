//! `outcomes.log` of a work directory: one line per use of a learning.

use std::io::{self, Write as _};
use std::path::Path;

use jiff::Timestamp;
use loopgate_api::ids::safe_id;
use loopgate_home::untrusted;

use crate::pattern::one_line;
use crate::pending::LEARNINGS_DIR;

const OUTCOMES: &str = "outcomes.log";
/// Maximum length of a summary in the log, in characters.
const MAX_SUMMARY_CHARS: usize = 500;

/// A recorded use of a learning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningUse {
    /// Summary of the learning, as recorded by the caller.
    pub summary: String,
    /// Whether the learning proved correct.
    pub verified: bool,
}

/// Appends the uses of a ticket's chat to the log. Performs blocking I/O.
///
/// # Errors
/// Fails on I/O errors, and when a component of the path is a symbolic link.
pub fn record_uses(work_dir: &Path, ticket: &str, uses: &[LearningUse], now: Timestamp) -> io::Result<()> {
    let mut lines = String::new();
    for learning_use in uses {
        // `|` separates the columns of the log.
        let summary = one_line(&learning_use.summary, MAX_SUMMARY_CHARS).replace('|', "/");
        let ticket = safe_id(ticket);
        lines.push_str(&format!("{now:.3}|chat-{ticket}|0|interactive-chat|{summary}|applied|\n"));
    }
    let mut log = untrusted::append(&work_dir.join(LEARNINGS_DIR).join(OUTCOMES))?;
    log.write_all(lines.as_bytes())?;
    log.sync_data()
}
