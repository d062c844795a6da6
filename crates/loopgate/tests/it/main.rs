//! The real program, run as a user runs it: from its command line, over its ports, with the real
//! assistant, git and code-host CLI around it. Nothing here reaches into its internals.

mod afterwards;
mod approvals;
mod bad_input;
mod bootstrap;
mod busy;
mod cli;
mod commands;
mod crash;
mod data_dir;
mod default_branch;
mod delivery;
#[cfg(target_os = "linux")]
mod descriptors;
mod direct;
mod disk;
mod fallback;
mod files;
mod foreign;
mod forgery;
mod git;
mod halves;
mod health;
mod held_back;
mod hostile;
mod local;
mod many_requests;
mod mcp;
mod notify;
mod orchestrator;
mod owner;
mod page;
mod peer_refusals;
mod peers;
mod places;
#[cfg(target_os = "linux")]
mod presence;
mod pulls;
mod queue;
mod records;
mod relay;
mod reports;
mod review;
mod secrets;
mod settings;
mod spend;
mod stage;
mod stopping;
mod story;
mod streams;
mod stuck;
mod support_bundle;
mod tickets;
mod trust;
mod worktrees;
