//! Which commands may not run beside each other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::link::LinkCommand;
use loopgate_api::operation::OperationId;
use loopgate_home::expand_home;
use serde_json::Value;

/// Members of a body that name the place of the work; the first that is not blank counts.
const PLACES: [&str; 5] = ["repoPath", "worktreePath", "workDir", "runDir", "path"];

/// The key of a command, when it has one. Paths are compared in their true form, so that a link,
/// another case or a trailing slash is no way around a lock; a disk that does not answer in time
/// leaves the path as it is written.
pub(crate) async fn key(command: &LinkCommand, operation: OperationId, limit: Duration) -> Option<String> {
    let explicit = command.lock_key.as_deref().map(str::trim).filter(|key| !key.is_empty());
    if let Some(key) = explicit {
        return Some(key.to_owned());
    }
    let written = place(command.body.as_ref()?)?;
    let path = expand_home(written);
    let true_form = tokio::task::spawn_blocking({
        let path = path.clone();
        move || canonical(&path)
    });
    let path = match tokio::time::timeout(limit, true_form).await {
        Ok(Ok(true_form)) => true_form,
        _ => path,
    };
    Some(format!("{operation}:{}", path.display()))
}

fn place(body: &Value) -> Option<&str> {
    PLACES.iter().filter_map(|name| body.get(name)?.as_str()).map(str::trim).find(|path| !path.is_empty())
}

/// The true form of a path; of one that does not exist, of its nearest existing ancestor.
fn canonical(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(true_form) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return true_form.components().chain(rest.components()).collect();
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
    async fn first_place_counts() {
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
    async fn link_and_a_slash_are_no_way_around() {
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
