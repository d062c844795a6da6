//! Tails the output of a loop: the stream of its assistant and its timing events.

pub(crate) mod perf;
mod progress;
pub(crate) mod state_file;
pub(crate) mod stream_file;
mod stream_reader;
pub(crate) mod tailer;

/// Limit of a line in bytes; longer lines are skipped. High, because the assistant embeds whole images in one
/// line.
const MAX_LINE: usize = 32 * 1024 * 1024;
