//! The real program, run as a user runs it: from its command line, over its ports, with the real
//! assistant, git and code-host CLI around it. Nothing here reaches into its internals.

mod approvals;
mod bad_input;
mod bootstrap;
mod busy;
mod cli;
#[allow(dead_code, clippy::unwrap_used, reason = "these tests use a part of it, and it is for tests alone")]
#[path = "../../../runtime/tests/support/cloud.rs"]
mod cloud;
mod commands;
mod crash;
mod direct;
mod disk;
mod fallback;
mod files;
mod foreign;
mod forgery;
mod git;
mod halves;
mod health;
mod local;
mod many_requests;
mod orchestrator;
mod owner;
mod page;
mod peer_refusals;
mod peers;
mod places;
mod pulls;
mod queue;
mod records;
mod review;
mod secrets;
mod settings;
mod spend;
mod stage;
mod story;
mod stuck;
mod tickets;
mod worktrees;
