//! Files of this machine for the page: folder listing, file search, ticket attachments, uploaded runs, and
//! the multipart forms that uploads arrive in.
//!
//! Paths from requests are opened only through the sandbox, as a [`loopgate_home::SandboxedPath`]. Uploaded
//! runs are outside of it and identified by the format of their path. The crate knows nothing about HTTP and
//! starts no programs.

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
