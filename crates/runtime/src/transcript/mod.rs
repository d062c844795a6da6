//! Follows what a loop writes: the stream of its assistant and its timing events.

pub(crate) mod directory_watch;
mod lines;
pub(crate) mod perf;
pub(crate) mod state_file;
pub(crate) mod stream_file;
mod stream_reader;
pub(crate) mod tailer;
