//! Files of this machine: directory listings, search by name, and files of tickets and runs. The handlers
//! translate HTTP; `loopgate_files` implements search, storage and extraction.

pub(crate) mod attachments;
pub(crate) mod directories;
pub(crate) mod run_viewer;
pub(crate) mod search;
pub(crate) mod upload;
pub(crate) mod work_directory;
