//! Processes of loops under their shims: how they are started, which are alive, and whether they are stuck.

pub(crate) mod environment;
pub(crate) mod registry;
pub(crate) mod shims;
pub(crate) mod spawn;
pub(crate) mod stall_detection;
