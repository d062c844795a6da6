//! The files of this machine as a page sees them: folders, search by name, the images of a ticket,
//! and runs that were sent as an archive.
//!
//! Every path from outside comes as a [`loopgate_home::SandboxedPath`], and is opened through it.
//! Knows nothing of HTTP, and starts no program.

mod archive;
mod attachments;
mod folders;
mod images;
mod runs;
mod search;

pub use archive::UnpackError;
pub use attachments::{Attachments, OpenError};
pub use folders::{Folder, FoldersError, folders, plain_text};
pub use images::{ImageKind, SavedImage};
pub use runs::{RunDir, RunError};
pub use search::{FileSearch, Matches};
