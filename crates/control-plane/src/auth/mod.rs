//! Who calls: one extractor for each class of caller.
//!
//! [`SessionAuth`] is a signed-in browser, [`ApiKeyAuth`] a key, [`PersonAuth`] either of them,
//! [`ReaderAuth`] the same for a route that only reads, whatever its method,
//! [`AdminAuth`] either one with the administrator's role, [`AdminSessionAuth`] a browser with it,
//! [`RunnerAuth`] the token of one loop. A handler that takes one of them runs only for such a caller.

mod caller;
mod client;
pub mod runner;

pub use caller::{
    AdminAuth, AdminSessionAuth, ApiKeyAuth, Caller, PersonAuth, ReaderAuth, SessionAuth, verify_key,
};
pub use client::ClientInfo;
pub use runner::RunnerAuth;
