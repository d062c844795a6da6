//! Notifies the person: a loop completed or failed, or a loop or a request waits for them.
//!
//! A notification of a loop is stored with the change that it reports, and removed before it is sent: none is
//! sent twice, and none is lost while Loopgate does not run.

mod approval;
mod desktop;
mod message;
mod sender;

pub use approval::ApprovalNotice;
pub use sender::Notifications;
