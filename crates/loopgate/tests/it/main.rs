//! The real program, run as a user runs it: from its command line, over its ports, with the real
//! assistant, git and code-host CLI around it. Nothing here reaches into its internals.

mod bad_input;
mod cli;
#[allow(dead_code, clippy::unwrap_used, reason = "these tests use a part of it, and it is for tests alone")]
#[path = "../../../runtime/tests/support/cloud.rs"]
mod cloud;
mod crash;
mod direct;
mod disk;
mod files;
mod foreign;
mod git;
mod halves;
mod local;
mod page;
mod pulls;
mod settings;
mod stage;
mod story;
mod tickets;
