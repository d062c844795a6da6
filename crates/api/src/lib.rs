#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod agent_failure;
pub mod assistant_events;
pub mod assistant_record;
pub mod assistant_stream;
pub mod bootstrap;
pub mod chat;
pub mod chat_event;
pub mod command;
pub mod critic_gates;
pub mod debate;
pub mod deployment;
pub mod error;
pub mod event;
pub mod event_body;
pub mod execution_result;
pub mod failure_marker;
pub mod generated_files;
pub mod git_quoting;
pub mod held_back;
pub mod ids;
pub mod job;
pub mod json_size;
pub mod judge_report;
pub mod launch;
pub mod ledger;
pub mod link;
pub mod loop_message;
pub mod markdown;
pub mod mcp;
pub mod names;
pub mod operation;
pub mod perf;
pub mod plan;
pub mod price;
pub mod provider;
pub mod proxy;
pub mod pull_request;
pub mod redact;
pub mod repos;
pub mod review;
pub mod review_comments;
pub mod run_phase;
pub mod shell;
pub mod spend;
pub mod terminal_text;
pub mod test_evidence;
pub mod ticket;
pub mod time;
pub mod tokens;
pub mod undelivered;
pub mod usd;
pub mod word_similarity;

/// Version of the desktop program. Sent as `desktopClientVersion` and returned by the `version` route.
pub const DESKTOP_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Version of the gateway's wire protocol. Sent as `gatewayProtocolVersion`.
pub const GATEWAY_PROTOCOL_VERSION: &str = "0.1.0";
