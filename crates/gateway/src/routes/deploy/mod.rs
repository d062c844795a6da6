//! `/api/gateway/deploy`: servers of ticket worktrees, run on this machine.

pub(crate) mod detection;
pub(crate) mod health;
pub(crate) mod lookup;
pub(crate) mod start;
pub(crate) mod stop;

use loopgate_deploy::{Candidate, Deployment};
use loopgate_home::{Directory, Repository, SandboxedPath};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::lenient;

/// A repository.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop"}))]
#[schema(as = DeployedRepository)]
struct RepositoryBody {
    /// Clone of the repository, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
}

/// A worktree of a repository.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "worktreePath": "~/src/worktrees/shop-AB-1"}))]
#[schema(as = DeployedWorktree)]
struct WorktreeBody {
    /// Clone of the repository, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Working directory of the run, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    worktree_path: Option<String>,
}

impl WorktreeBody {
    /// Both paths, checked by the sandbox. `missing` makes the error when one is absent.
    async fn resolve(
        self,
        app: &App,
        missing: impl FnOnce() -> HttpError,
    ) -> Result<(SandboxedPath, SandboxedPath), HttpError> {
        let (Some(repository), Some(worktree)) = (self.repo_path, self.worktree_path) else {
            return Err(missing());
        };
        Ok((allowed(app, repository).await?, allowed(app, worktree).await?))
    }
}

/// A path, checked by the sandbox. 503 while no sandbox is set.
async fn allowed(app: &App, path: String) -> Result<SandboxedPath, HttpError> {
    app.sandbox.base().ok_or_else(HttpError::not_configured)?;
    let app = app.clone();
    Ok(spawn_blocking(move || app.sandbox.check(path)).await??)
}

/// The integer part of a number, or of a string that begins with one.
fn number_like<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<i64>, D::Error> {
    Ok(match Value::deserialize(input)? {
        Value::Number(number) => {
            number.as_i64().or_else(|| format!("{:.0}", number.as_f64()?.trunc()).parse().ok())
        }
        Value::String(text) => leading_integer(&text),
        _ => None,
    })
}

fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with(['-', '+']));
    text.get(..sign + digits).filter(|_| digits > 0)?.parse().ok()
}

/// The stored run settings of a repository. Blocks on the disk.
fn stored_settings(app: &App, repository: &SandboxedPath) -> Result<Option<Deployment>, HttpError> {
    let list = app.repos.list().map_err(|error| HttpError::operation("Failed to read repos", &error))?;
    let is_same = |path: &str| {
        path == repository.as_path().to_string_lossy()
            || app.sandbox.check(path).is_ok_and(|known| known.canonical() == repository.canonical())
    };
    let entry = list.repos.into_iter().find(|repo| is_same(&repo.path));
    Ok(entry.and_then(|entry| entry.deployment).map(|members| Deployment::read(&members)))
}

/// Changes the stored run settings of a repository. Returns whether it is in the list. Blocks on the disk.
fn update_settings(
    app: &App,
    repository: &SandboxedPath,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<bool, HttpError> {
    let stored = app.repos.update_deployment(&repository.as_path().to_string_lossy(), change);
    stored
        .map(|found| found.is_some())
        .map_err(|error| HttpError::operation("Failed to store the deployment", &error))
}

/// All ways to run a tree, the best one first; none when it cannot be opened. Blocks on the disk.
fn candidates(tree: &SandboxedPath, has_engine: bool) -> Vec<Candidate> {
    let found = tree.open_directory().map(|tree: Directory| loopgate_deploy::candidates(&tree));
    loopgate_deploy::best(found.unwrap_or_default(), has_engine)
}

/// Checks that a directory is the repository itself or a worktree of it: 400 otherwise. Blocks on the disk.
fn check_worktree_of(
    app: &App,
    worktree: &SandboxedPath,
    repository: &SandboxedPath,
) -> Result<(), HttpError> {
    let clone = |path: &SandboxedPath| {
        let found: Option<Repository> = app.sandbox.repository_at(path.as_path());
        found.map(|found| found.clone_root().to_owned())
    };
    let belongs = worktree.canonical() == repository.canonical()
        || clone(worktree).is_some_and(|of_worktree| clone(repository) == Some(of_worktree));
    if belongs { Ok(()) } else { Err(HttpError::bad_request("worktreePath is no worktree of repoPath")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_clients_write_them() {
        let read = |text: &str| number_like(&mut serde_json::Deserializer::from_str(text)).ok().flatten();
        for (text, wanted) in [
            ("7", Some(7)),
            ("7.9", Some(7)),
            ("-5", Some(-5)),
            ("\"12\"", Some(12)),
            ("\" 12abc\"", Some(12)),
            ("\"-5\"", Some(-5)),
            ("\"abc\"", None),
            ("\"\"", None),
            ("\"-\"", None),
            ("1e300", None),
            ("null", None),
            ("[7]", None),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }
}
