//! `/api/gateway/git/pr*` and `git/user`: pull requests, through the user's code-host program.
//! `loopgate_tools` runs the program and interprets its output.

mod budget;
mod clone;
mod comment;
pub(crate) mod comments;
pub(crate) mod files;
pub(crate) mod inline_comment;
pub(crate) mod list;
pub(crate) mod merge;
pub(crate) mod open;
pub(crate) mod reply;
pub(crate) mod review;
pub(crate) mod reviews;
pub(crate) mod standing;
pub(crate) mod user;

use crate::app::App;

/// Reports the pull requests of this machine's loops to the control plane, after one of them was changed.
fn report_changes(app: &App) {
    if let Some(runtime) = &app.runtime {
        runtime.pull_requests.check();
    }
}
