//! Where git found a repository, and what else it tells before that is watched.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::Refusal;
use super::repository::GIT;
use crate::git::{Git, checked, parse_status, time};

/// Where git found a repository.
pub(super) struct Layout {
    pub(super) own: PathBuf,
    pub(super) common: PathBuf,
    /// Whether the directory is the root of a working tree.
    pub(super) root: bool,
}

impl Layout {
    pub(super) async fn of(git: &Git, directory: &Path) -> Result<Self, Refusal> {
        let args = [
            "rev-parse",
            "--path-format=absolute",
            "--absolute-git-dir",
            "--git-common-dir",
            "--is-inside-work-tree",
            "--show-cdup",
        ];
        let printed = git_output(git, directory, &args).await?;
        let lines: Vec<&[u8]> = printed.split(|byte| *byte == b'\n').collect();
        let (own, common, root) = match lines[..] {
            // The last of these is empty at the root.
            [own, common, b"true", b"", b""] => (own, common, true),
            [own, common, ..] if lines.len() <= 5 => (own, common, false),
            _ => return Err(Refusal::Unusual("the records lie at a strange path")),
        };
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes)).canonicalize();
        let (own, common) = (path(own)?, path(common)?);
        let inside = |records: &PathBuf| records.starts_with(directory) && *records != directory.join(GIT);
        if root && (inside(&own) || inside(&common)) {
            return Err(Refusal::Unusual("the records lie within the working tree"));
        }
        if root || common == directory {
            return Ok(Self { own, common, root });
        }
        Err(Refusal::Unusual("a directory below the root of a working tree"))
    }
}

/// The directories that git ignores as a whole.
pub(super) async fn ignored_directories(git: &Git, directory: &Path) -> Result<BTreeSet<PathBuf>, Refusal> {
    let args = ["status", "--porcelain=v2", "-z", "--ignored=matching", "--untracked-files=normal"];
    let status = parse_status(&git_output(git, directory, &args).await?);
    let ignored = status.changes.iter().filter(|change| change.tree == '!');
    let directories = ignored.filter_map(|change| change.path.strip_suffix(b"/"));
    Ok(directories.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
}

pub(super) async fn config(git: &Git, directory: &Path) -> Result<Vec<u8>, Refusal> {
    git_output(git, directory, &["config", "--list", "--show-origin", "-z"]).await
}

pub(super) async fn git_output(git: &Git, directory: &Path, args: &[&str]) -> Result<Vec<u8>, Refusal> {
    let output = git.output(directory, args, time::LOCAL).await;
    Ok(checked(args, output.map_err(Refusal::Git)?).map_err(Refusal::Git)?.stdout)
}
