//! Files of this machine: directories, search by name, and what belongs to a ticket. How they are found
//! and kept, the files crate knows.

pub(crate) mod attachments;
pub(crate) mod directories;
pub(crate) mod run_viewer;
pub(crate) mod search;
pub(crate) mod upload;
pub(crate) mod work_directory;
