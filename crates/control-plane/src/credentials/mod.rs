//! Credentials of people, desktops and runners: how they are made, stored and verified.
//!
//! Knows nothing of requests beyond their headers; [`crate::auth`] turns a request into its caller.

pub mod api_key;
pub mod attempt;
pub mod challenge;
pub mod cookie;
pub mod header;
pub mod origin;
pub mod password;
pub mod proof;
pub mod runner_token;
pub mod secret;
pub mod session;
