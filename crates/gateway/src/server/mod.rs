//! The network side: the listener on 127.0.0.1, its connections, and whether it can be reached.

pub(crate) mod connection;
pub(crate) mod connections;
mod discovery;
pub(crate) mod health;
pub(crate) mod in_flight;
pub(crate) mod limited;
pub(crate) mod listener;
pub(crate) mod state;
