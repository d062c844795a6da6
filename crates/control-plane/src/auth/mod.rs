//! Authentication: one extractor for each class of caller.
//!
//! [`SessionAuth`] requires a signed-in browser, [`ApiKeyAuth`] an API key, and [`UserAuth`] either of
//! them. [`ReaderAuth`] is the same for routes that only read, whatever their method. [`AdminAuth`] and
//! [`AdminSessionAuth`] also require the role of an administrator. [`RunnerAuth`] requires the token of the
//! loop in the path. A handler runs only for the callers that the extractor in its signature accepts.

mod browser;
mod caller;
mod client;
pub mod runner;

pub use browser::SignInBrowser;
pub use caller::{
    AdminAuth, AdminSessionAuth, ApiKeyAuth, Caller, ReaderAuth, SessionAuth, UserAuth, verify_key,
};
pub use client::ClientInfo;
pub use runner::RunnerAuth;
