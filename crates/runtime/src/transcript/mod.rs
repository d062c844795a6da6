//! Follows what a loop writes: the stream of its assistant and its timing events.

pub(crate) mod perf;
pub(crate) mod state_file;
pub(crate) mod stream_file;
mod stream_reader;
pub(crate) mod tailer;

/// Longest line that is read, in bytes; the assistant puts whole images into one. A longer one is skipped.
const MAX_LINE: usize = 32 * 1024 * 1024;
