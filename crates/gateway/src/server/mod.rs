//! The network side of the gateway: listener, connections and reachability.

pub(crate) mod connection;
pub(crate) mod connections;
mod discovery;
pub(crate) mod health;
pub(crate) mod in_flight;
pub(crate) mod limited;
pub(crate) mod listener;
pub(crate) mod state;
