//! Approval: which requests pass by policy, which wait for a person, and what that person said.
//!
//! A request that must wait is held without an answer. It is decided only through [`Approvals`],
//! which no HTTP route reaches: a page that asks can never approve itself.

mod pending;
mod policies;
mod policy;
mod resolver;
mod rules;
mod source;
mod stored;
mod subject;

pub use pending::{
    ApprovalEvent, Approvals, AskedEachTime, Decision, PendingApproval, Remember, ResolvedApproval,
};
pub use policies::{ApprovalPolicy, Coverage, Effect};
pub(crate) use policy::{Request, Verdict, begin_fingerprint, evaluate};
pub use rules::AlwaysAllowRule;
pub(crate) use source::{At, Source};
