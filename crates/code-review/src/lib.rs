#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod diff;
pub mod diff_data;
pub mod finding;
pub mod hygiene;
pub mod partition;
pub mod route;
pub mod validation;
pub mod verdict;
