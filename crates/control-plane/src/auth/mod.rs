//! Who calls: one extractor for each class of caller.
//!
//! [`SessionAuth`] is a signed-in browser, [`ApiKeyAuth`] a key, [`PersonAuth`] either of them,
//! [`AdminAuth`] either one with the administrator's role, [`RunnerAuth`] the token of one loop. A
//! handler that takes one of them runs only for such a caller.

mod caller;
pub mod runner;

pub use caller::{AdminAuth, ApiKeyAuth, Caller, PersonAuth, SessionAuth, verify_key};
pub use runner::RunnerAuth;
