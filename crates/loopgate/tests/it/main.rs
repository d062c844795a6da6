//! The real program, run as a user runs it: from its command line, over its ports, with the real
//! assistant, git and code-host CLI around it. Nothing here reaches into its internals.

mod bad_input;
mod cli;
mod crash;
mod direct;
mod foreign;
mod git;
mod local;
mod page;
mod stage;
mod story;
