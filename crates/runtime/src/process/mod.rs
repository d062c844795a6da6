//! Processes of loops under their shims: how they are started, which are alive, and whether they are stuck.

pub(crate) mod spawn;
pub(crate) mod stall_detection;
