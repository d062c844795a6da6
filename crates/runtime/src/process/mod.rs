//! Processes of loops under their shims: common start parameters and stall detection.

pub(crate) mod spawn;
pub(crate) mod stall_detection;
