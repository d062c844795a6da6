//! Lock keys: commands with the same key do not run concurrently.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::link::LinkCommand;
use loopgate_api::operation::OperationId;
use loopgate_home::expand_home;
use serde_json::Value;

/// Members of a body that name the path a command works in, in order of precedence. Blank values are skipped.
const PATH_MEMBERS: [&str; 5] = ["repoPath", "worktreePath", "workDir", "runDir", "path"];

/// Returns the lock key of a command: its explicit one, or its operation and path. Paths are canonicalized,
/// so that a symlink, different case or a trailing slash yields the same key. A disk that does not respond in
/// time leaves the path as written.
pub(crate) async fn key(command: &LinkCommand, operation: OperationId, limit: Duration) -> Option<String> {
    let explicit = command.lock_key.as_deref().map(str::trim).filter(|key| !key.is_empty());
    if let Some(key) = explicit {
        return Some(key.to_owned());
    }
    let written = path_of(command.body.as_ref()?)?;
    let path = expand_home(written);
    let canonicalization = tokio::task::spawn_blocking({
        let path = path.clone();
        move || canonical(&path)
    });
    let path = match tokio::time::timeout(limit, canonicalization).await {
        Ok(Ok(canonical_path)) => canonical_path,
        _ => path,
    };
    Some(format!("{operation}:{}", path.display()))
}

fn path_of(body: &Value) -> Option<&str> {
    PATH_MEMBERS
        .iter()
        .filter_map(|name| body.get(name)?.as_str())
        .map(str::trim)
        .find(|path| !path.is_empty())
}

/// Canonicalizes a path. If it does not exist, canonicalizes its nearest existing ancestor.
fn canonical(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(canonical_path) = ancestor.canonicalize() {
            let suffix = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return canonical_path.components().chain(suffix.components()).collect();
        }
    }
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn of(body: Value) -> Option<String> {
        let command = LinkCommand { body: Some(body), ..LinkCommand::default() };
        key(&command, OperationId::GitAction, Duration::from_secs(5)).await
    }

    #[tokio::test]
    async fn first_path_that_is_not_blank_is_used() {
        assert_eq!(
            of(json!({"repoPath": " ", "path": "/nope/b", "runDir": "/nope/a/"})).await.unwrap(),
            "git_action:/nope/a"
        );
        assert_eq!(of(json!({"repoPath": 1})).await, None);
        assert_eq!(of(json!([])).await, None);
        let explicit = LinkCommand { lock_key: Some(" k ".into()), ..LinkCommand::default() };
        assert_eq!(key(&explicit, OperationId::GitPr, Duration::ZERO).await.as_deref(), Some("k"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn symlink_and_trailing_slash_yield_the_same_key() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let through = |path: &Path, rest: &str| of(json!({"repoPath": format!("{}{rest}", path.display())}));
        assert_eq!(through(&real, "/").await, through(&link, "").await);
        assert_eq!(through(&real, "/new").await, through(&link, "//new/").await);
    }
}
