//! Parts of individual loop commands, and the lookup of the plugins that they use.

pub(crate) mod bootstrap;
pub(crate) mod plugins;
pub(crate) mod review;
