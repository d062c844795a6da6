//! The files of this machine as a page sees them: folders, search by name, the images of a ticket,
//! and runs that were sent as an archive; and the forms in which both are sent.
//!
//! A path from outside is opened through the sandbox alone, as a [`loopgate_home::SandboxedPath`].
//! Runs are elsewhere, and are known by the form of their path. Knows nothing of HTTP, and starts no
//! program.

mod archive;
mod attachments;
mod folders;
mod form;
mod images;
mod plain_text;
mod runs;
mod search;
mod spool;

pub use archive::UnpackError;
pub use attachments::{Attachments, OpenAttachmentError};
pub use folders::{Folder, FoldersError, folders};
pub use form::{FormError, MultipartForm, SentImage};
pub use images::{ImageKind, SavedImage};
pub use plain_text::plain_text;
pub use runs::{RunDir, RunError};
pub use search::{FileSearch, Matches};
pub use spool::{Spool, SpoolFile};
