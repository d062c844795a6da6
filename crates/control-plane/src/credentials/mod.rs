//! Credentials of users, desktops and runners: how they are issued, stored and verified.
//!
//! Depends on a request's headers only; [`crate::auth`] resolves a request to its caller.

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
