//! What single loop commands need beyond the common path, and the plugins that they use.

pub(crate) mod bootstrap;
pub(crate) mod plugins;
pub(crate) mod review;
