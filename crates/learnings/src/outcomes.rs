//! `outcomes.log` of a work directory: one line a use of a learning.

use std::io::{self, Write as _};
use std::path::Path;

use jiff::Timestamp;
use loopgate_api::ids::safe_id;
use loopgate_home::untrusted;

use crate::pattern::one_line;
use crate::pending::LEARNINGS_DIR;

const OUTCOMES: &str = "outcomes.log";
/// Characters of a summary in the log.
const SUMMARY_MOST: usize = 500;

/// A learning that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningUse {
    /// What it says.
    pub summary: String,
    /// Whether it held.
    pub verified: bool,
}

/// Notes uses of a ticket's chat, in their order. Blocks on the disk.
///
/// # Errors
/// Any failure of the file system, and links on the way.
pub fn record_uses(work_dir: &Path, ticket: &str, uses: &[LearningUse], now: Timestamp) -> io::Result<()> {
    let mut lines = String::new();
    for used in uses {
        let summary = one_line(&used.summary, SUMMARY_MOST).replace('|', "/");
        let ticket = safe_id(ticket);
        lines.push_str(&format!("{now:.3}|chat-{ticket}|0|interactive-chat|{summary}|applied|\n"));
    }
    let mut log = untrusted::append(&work_dir.join(LEARNINGS_DIR).join(OUTCOMES))?;
    log.write_all(lines.as_bytes())?;
    log.sync_data()
}
