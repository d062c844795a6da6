#![doc = include_str!("../README.md")]

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
