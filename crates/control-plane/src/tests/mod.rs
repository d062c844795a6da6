//! Tests that call the whole service over HTTP, and over WebSocket where a desktop takes part.
//!
//! Each test starts its own control plane on a SQLite file, or in a new PostgreSQL schema when
//! `LOOPGATE_TEST_POSTGRES` is the URL of a server.

mod acts;
mod administration;
mod body_limits;
mod cancelled_requests;
mod client;
mod conditional;
mod desktop;
mod event_ranges;
mod events;
mod first_starts;
mod instances;
mod large_values;
mod launches;
mod loop_state;
pub mod plane;
mod repeated_requests;
mod routes;

pub use client::{TestClient, TestResponse};
pub use desktop::LinkedDesktop;
pub use plane::{ORIGIN, TestApp};
