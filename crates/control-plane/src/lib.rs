#![doc = include_str!("../README.md")]

mod accounts;
mod acts;
mod administration;
mod agents;
mod app;
mod audit;
mod auth;
mod bus;
mod change_requests;
mod code_host;
mod conditional;
mod config;
mod control_plane;
mod credentials;
mod desktops;
mod dispatch;
mod documents;
mod envelope;
mod error;
mod extract;
mod idempotency;
mod ingest;
mod loop_state;
mod loops;
mod middleware;
mod nul;
mod organizations;
mod page;
mod public_keys;
mod repositories;
mod router;
mod routes;
mod spending;
mod storage;
mod store;
#[cfg(test)]
mod tests;
mod text_search;
mod tickets;
mod web;

pub use accounts::{FirstOwner, Owner};
pub use acts::authorization_page;
pub use administration::{Administration, AdministrationError, ListedOrganization, ListedUser};
pub use config::{CodeHostApp, Config, Demonstration, MachineRepositories, OidcProvider, Secrets};
pub use control_plane::{ControlPlane, ControlPlaneError};
pub use router::openapi;
