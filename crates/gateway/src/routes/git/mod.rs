//! `/api/gateway/git*`: one file a resource. What git is asked, and what its answers mean, the
//! tools know.

mod action;
mod answers;
mod branches;
mod diff;
mod lookup;
mod worktree;

use std::path::PathBuf;

use loopgate_home::SandboxedPath;

use crate::answer::Failure;
use crate::app::App;
use crate::routes::on_disk;

pub(crate) use action::route as action_route;
pub(crate) use branches::route as branches_route;
pub(crate) use diff::route as diff_route;
pub(crate) use lookup::{branch_worktree_route, repo_path_route};
pub(crate) use worktree::{clean_up_route, remove_route};

/// A directory that a caller names, when it is allowed and there. `missing` is told its path.
pub(super) async fn directory(
    app: &App,
    named: &str,
    missing: impl FnOnce(PathBuf) -> Failure,
) -> Result<SandboxedPath, Failure> {
    let (app, named) = (app.clone(), named.to_owned());
    let looked = on_disk(move || {
        let place = app.sandbox.check(named).ok()?;
        let there = place.canonical().is_dir();
        Some((place, there))
    });
    match looked.await? {
        Some((place, true)) => Ok(place),
        Some((place, false)) => Err(missing(place.as_path().to_owned())),
        None => Err(Failure::directory_not_allowed()),
    }
}
