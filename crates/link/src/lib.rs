#![doc = include_str!("../README.md")]

pub mod client;
pub mod executor;
pub mod server;

mod outbox;
