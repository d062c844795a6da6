//! Where the records of a repository lie, and what git tells of it before it is watched.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::Repository as Found;

use super::Refusal;
use super::repository::GIT;
use crate::git::{Caller, Git, checked, finish, parse_status, time};

/// The records of a repository that can be watched.
pub(super) struct Layout {
    pub(super) own: PathBuf,
    pub(super) common: PathBuf,
    /// Whether the directory is the root of a working tree.
    pub(super) root: bool,
}

impl Layout {
    pub(super) fn of(found: &Found, directory: &Path) -> Result<Self, Refusal> {
        let Found { own, common, .. } = found;
        let root = !found.bare && found.prefix.as_os_str().is_empty();
        let inside = |records: &PathBuf| records.starts_with(directory) && *records != directory.join(GIT);
        if root && (inside(own) || inside(common)) {
            return Err(Refusal::Unusual("the records lie within the working tree"));
        }
        if root || found.bare {
            return Ok(Self { own: own.clone(), common: common.clone(), root });
        }
        Err(Refusal::Unusual("a directory below the root of a working tree"))
    }
}

/// The directories that git ignores as a whole.
pub(super) async fn ignored_directories(git: &Git, directory: &Path) -> Result<BTreeSet<PathBuf>, Refusal> {
    let asked = async {
        let repository = git.repository(directory).await?;
        let command = git.status_command(&repository).await?;
        let command = command.args(["--ignored=matching", "--untracked-files=normal"]);
        let args = ["status"];
        checked(&args, finish(&command, &args, time::LOCAL, Caller::Needed).await?)
    };
    let status = parse_status(&asked.await.map_err(Refusal::Git)?.stdout);
    let ignored = status.changes.iter().filter(|change| change.tree == '!');
    let directories = ignored.filter_map(|change| change.path.strip_suffix(b"/"));
    Ok(directories.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
}

pub(super) async fn config(git: &Git, found: &Arc<Found>) -> Result<Vec<u8>, Refusal> {
    git.settings(found, &["config", "--list", "--show-origin", "-z"]).await.map_err(Refusal::Git)
}
