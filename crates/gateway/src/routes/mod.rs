//! Request handlers, one file per resource. Each file declares its endpoints; [`crate::router`] lists them.

mod agents;
pub(crate) mod approvals;
pub(crate) mod binary_paths;
pub(crate) mod chats;
pub(crate) mod deploy;
mod directory;
pub(crate) mod exchange;
pub(crate) mod files;
pub(crate) mod git;
pub(crate) mod health;
pub(crate) mod learnings;
pub(crate) mod mcp_auth;
pub(crate) mod openapi;
pub(crate) mod orchestrator;
#[cfg(test)]
pub(crate) mod panicking;
pub(crate) mod pulls;
pub(crate) mod repos;
pub(crate) mod reviewer;
pub(crate) mod version;
