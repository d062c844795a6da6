//! `/api/gateway/git/pr*` and `git/user`: pull requests, through the user's code-host program. What
//! that is asked, and what its answers mean, the tools know.

mod budget;
mod clone;
mod comment;
pub(crate) mod comments;
pub(crate) mod files;
pub(crate) mod inline_comment;
pub(crate) mod list;
pub(crate) mod open;
pub(crate) mod reply;
pub(crate) mod reviews;
pub(crate) mod user;
