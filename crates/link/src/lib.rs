//! The connection between a desktop and the control plane: both ends, the executor, replay.
//!
//! The desktop connects out and stays connected; commands come in, events go back, and each event
//! is retained until the other end acknowledges it. [`server`] knows no storage (it asks its
//! [`server::Host`]), [`client`] knows no commands (it asks its [`executor`]), and the executor
//! knows no route (it asks its gateway).

pub mod client;
pub mod executor;
pub mod server;

mod outbox;
