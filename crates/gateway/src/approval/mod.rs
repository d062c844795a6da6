//! Approval: policies and rules that the owner sets in advance, pending requests, and decisions about them.
//!
//! A pending request is held without a response. It is decided through [`Approvals`] alone, which no HTTP
//! route can modify, so that a page cannot approve its own requests. The pipeline determines which requests
//! need an approval.

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
pub use request::{ApprovalEachTimeError, Decision, PendingApproval, ResolvedApproval};
pub use rules::AlwaysAllowRule;
pub(crate) use source::{At, RequestValues, Source};
pub(crate) use subject::{Resolution, Subject, SubjectDirectory};
