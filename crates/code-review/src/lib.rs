#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod diff;
pub mod diff_data;
pub mod finding;
pub mod findings_cache;
pub mod hygiene;
pub mod incremental;
pub mod partition;
pub mod posting;
pub mod route;
pub mod validation;
pub mod verdict;
