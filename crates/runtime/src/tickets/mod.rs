//! What is done about a ticket outside of the job queue: its loop script, plans that a page agrees on, and
//! the text of a commit.

pub(crate) mod commit_text;
pub(crate) mod launch;
pub(crate) mod plan_loop;
