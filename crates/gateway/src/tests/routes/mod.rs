//! Tests of the routes, one file per resource.

mod binary_paths;
mod deploy;
mod health;
mod learnings;
mod loop_changes;
mod loops;
mod mcp_auth;
mod openapi;
mod repos;
mod repository_preview;
mod reviewer;
mod tickets;
