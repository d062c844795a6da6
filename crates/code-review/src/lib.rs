#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod diff;
pub mod diff_data;
pub mod finding;
pub mod findings_cache;
pub mod hygiene;
pub mod incremental;
pub mod intent;
pub mod partition;
pub mod patch_text;
pub mod posting;
pub mod quotation;
pub mod route;
pub mod validation;
pub mod verdict;
