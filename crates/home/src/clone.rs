//! What the files of a clone say of it, read without starting git: where git keeps its records, the
//! repository that it came from, its default branch. A worktree speaks for the clone it belongs to.

use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;

/// The repository that the `origin` remote of a clone names, read from its configuration file
/// without starting git. Worktrees are followed to the clone they belong to.
#[must_use]
pub fn origin_of(clone: &Path) -> Option<RepoFullName> {
    let config = std::fs::read_to_string(git_dir(clone)?.join("config")).ok()?;
    RepoFullName::from_remote_url(&origin_url(&config)?)
}

/// The directory that holds the shared configuration of a clone, a worktree or a bare repository.
fn git_dir(checkout: &Path) -> Option<PathBuf> {
    let dot_git = checkout.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let pointer = std::fs::read_to_string(checkout.join(".git")).ok();
    let linked =
        pointer.as_deref().and_then(|text| Some(checkout.join(text.strip_prefix("gitdir:")?.trim())));
    let Some(own) = linked else {
        let bare = checkout.join("HEAD").is_file() && checkout.join("objects").is_dir();
        return bare.then(|| checkout.to_owned());
    };
    match std::fs::read_to_string(own.join("commondir")) {
        Ok(common) => Some(own.join(common.trim())),
        Err(_) => Some(own),
    }
}

fn origin_url(config: &str) -> Option<String> {
    let mut in_origin = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_origin =
                line.strip_prefix("[remote").is_some_and(|rest| rest.trim_start().starts_with("\"origin\"]"));
        } else if in_origin
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("url")
        {
            return Some(value.trim().trim_matches('"').to_owned());
        }
    }
    None
}
