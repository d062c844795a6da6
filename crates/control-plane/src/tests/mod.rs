//! Tests that speak HTTP to the whole service, and WebSocket where a desktop takes part.
//!
//! Each test has a control plane of its own: a SQLite file, or a PostgreSQL schema when
//! `LOOPGATE_TEST_POSTGRES` names a server.

mod client;
mod desktop;
mod events;
mod machine;
mod plane;
mod routes;

pub use client::{TestClient, TestResponse};
pub use desktop::LinkedDesktop;
pub use plane::{ORIGIN, TestApp};
