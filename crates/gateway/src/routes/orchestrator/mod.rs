//! `/api/gateway/orchestrator/*`: loops, tickets and the chats about them. The handlers translate HTTP;
//! `loopgate_runtime` runs the loops.

pub(crate) mod chat;
pub(crate) mod chat_history;
pub(crate) mod comment_chat;
pub(crate) mod commit_message;
pub(crate) mod kill;
pub(crate) mod launch;
pub(crate) mod learnings;
pub(crate) mod loop_start;
pub(crate) mod loops;
mod params;
pub(crate) mod plan_loop;
mod runtime;
pub(crate) mod sessions;
pub(crate) mod tickets;
