//! Approval: what a person decided beforehand, which requests wait for one, and what that person said.
//!
//! A request that must wait is held without an answer. It is decided only through [`Approvals`],
//! which no HTTP route reaches: a page that asks can never approve itself. Which requests pass, the
//! pipeline finds out.

pub(crate) mod command_line;
mod policies;
mod registry;
mod request;
mod rules;
mod source;
mod stored;
mod subject;

pub(crate) use policies::PolicyQuery;
pub use policies::{ApprovalPolicy, Coverage, Effect};
pub use registry::{ApprovalEvent, Approvals, Remember};
pub use request::{AskEachTimeError, Decision, PendingApproval, ResolvedApproval};
pub use rules::AlwaysAllowRule;
pub(crate) use source::{At, RequestValues, Source};
pub(crate) use subject::{Resolution, Subject, SubjectDirectory};
