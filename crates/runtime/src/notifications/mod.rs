//! Notifications for the user: a loop completed or failed, or a loop or a request needs an action.
//!
//! A notification of a loop is stored with the change that it reports, and removed before it is sent: it is
//! sent at most once, also after a restart.

mod approval;
mod desktop;
mod message;
mod sender;

pub use approval::ApprovalNotice;
pub use sender::Notifications;
