//! Chats with the assistant about a ticket or a review comment: their histories on disk, and their
//! runs.

pub mod history;
mod output;
mod progress;
mod run;
mod stream;

pub use run::{ChatRequest, Chats};
pub use stream::ChatStream;
