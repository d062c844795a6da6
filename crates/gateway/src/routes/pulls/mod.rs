//! `/api/gateway/git/pr*` and `git/user`: pull requests, through the user's code-host program.
//! `loopgate_tools` runs the program and interprets its output.

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
