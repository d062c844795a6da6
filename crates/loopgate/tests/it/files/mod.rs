//! The file routes, with real directories.

mod directories;
pub mod form;
mod run_viewer;
mod sandbox;
mod search;
mod upload;
mod work_directory;
