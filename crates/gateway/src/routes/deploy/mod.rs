//! `/api/gateway/deploy`: servers that run from the worktrees of tickets on this machine.

pub(crate) mod detection;
pub(crate) mod health;
pub(crate) mod lookup;
pub(crate) mod start;
pub(crate) mod stop;

use std::path::PathBuf;

use loopgate_deploy::{Candidate, DeployError, Deployment};
use loopgate_home::{Directory, Repository, SandboxedPath};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::lenient;

/// The repository that a request is about.
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

/// The worktree that a request is about, and its repository.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "worktreePath": "~/src/worktrees/shop-AB-1"}))]
#[schema(as = DeployedWorktree)]
struct WorktreeBody {
    /// Clone of the repository, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Working directory of the deployment, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    worktree_path: Option<String>,
}

impl WorktreeBody {
    /// Checks both paths against the sandbox. `missing` builds the error for an absent path.
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

/// Checks a path against the sandbox.
///
/// # Errors
/// 503 when no sandbox is configured; 403 when the path is outside it.
async fn allowed(app: &App, path: String) -> Result<SandboxedPath, HttpError> {
    // Without a sandbox `check` denies every path, which would hide the actual cause.
    app.sandbox.base().ok_or_else(HttpError::not_configured)?;
    let app = app.clone();
    Ok(spawn_blocking(move || app.sandbox.check(path)).await??)
}

/// Deserializes a number, truncated, or the integer prefix of a string. Clients send pids and ports in both
/// forms; other values count as absent.
fn number_like<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<i64>, D::Error> {
    Ok(match Value::deserialize(input)? {
        // Formatting and parsing rejects values outside `i64`, which an `as` cast would saturate.
        Value::Number(number) => {
            number.as_i64().or_else(|| format!("{:.0}", number.as_f64()?.trunc()).parse().ok())
        }
        Value::String(text) => leading_integer(&text),
        _ => None,
    })
}

fn leading_integer(text: &str) -> Option<i64> {
    // Accepts what `parseInt` accepts in JavaScript, the language of the clients.
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with(['-', '+']));
    text.get(..sign + digits).filter(|_| digits > 0)?.parse().ok()
}

/// Returns the stored deployment settings of a repository. Performs blocking I/O.
fn stored_settings(app: &App, repository: &SandboxedPath) -> Result<Option<Deployment>, HttpError> {
    let list = app.repos.list().map_err(|error| HttpError::operation("Failed to read repos", &error))?;
    // Entries may be stored with `~` or through a symbolic link, so the resolved paths are compared as well.
    let is_same = |path: &str| {
        path == repository.as_path().to_string_lossy()
            || app.sandbox.check(path).is_ok_and(|listed| listed.canonical() == repository.canonical())
    };
    let entry = list.repos.into_iter().find(|repo| is_same(&repo.path));
    Ok(entry.and_then(|entry| entry.deployment).map(|members| Deployment::read(&members)))
}

/// Changes the stored deployment settings of a repository. Returns whether the repository is managed.
/// Performs blocking I/O.
fn update_settings(
    app: &App,
    repository: &SandboxedPath,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<bool, HttpError> {
    let updated = app.repos.update_deployment(&repository.as_path().to_string_lossy(), change);
    updated
        .map(|deployment| deployment.is_some())
        .map_err(|error| HttpError::operation("Failed to store the deployment", &error))
}

/// Returns all ways to run a tree, or one directory of it, best first; none when it cannot be opened. Performs
/// blocking I/O.
fn candidates(tree: &SandboxedPath, directory: Option<&str>, has_engine: bool) -> Vec<Candidate> {
    let candidates = tree.open_directory().map(|tree: Directory| match directory {
        Some(directory) => loopgate_deploy::candidates_in(&tree, directory),
        None => loopgate_deploy::candidates(&tree),
    });
    loopgate_deploy::best(candidates.unwrap_or_default(), has_engine)
}

/// Returns the root of the clone that a repository's path belongs to. Performs blocking I/O.
fn clone_of(app: &App, repository: &SandboxedPath) -> PathBuf {
    let found = app.sandbox.repository_at(repository.as_path());
    found.map_or_else(|| repository.canonical().to_owned(), |found| found.clone_root().to_owned())
}

/// Converts an error of a deployment.
fn deploy_error(what: &str, error: &DeployError) -> HttpError {
    match error {
        DeployError::NotAgreed(refusal) => {
            HttpError::forbidden(format!("{what}: {refusal}")).with_code("command_not_trusted")
        }
        error => HttpError::operation(what, error),
    }
}

/// Checks that a directory is the repository or one of its worktrees. Performs blocking I/O.
///
/// # Errors
/// 400 when it is neither.
fn check_worktree_of(
    app: &App,
    worktree: &SandboxedPath,
    repository: &SandboxedPath,
) -> Result<(), HttpError> {
    // Without this check, a caller could run the commands of one repository in an unrelated directory of the
    // sandbox.
    let clone = |path: &SandboxedPath| {
        let repository: Option<Repository> = app.sandbox.repository_at(path.as_path());
        repository.map(|repository| repository.clone_root().to_owned())
    };
    let is_own = worktree.canonical() == repository.canonical()
        || clone(worktree).is_some_and(|of_worktree| clone(repository) == Some(of_worktree));
    if is_own { Ok(()) } else { Err(HttpError::bad_request("worktreePath is not a worktree of repoPath")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_numeric_strings_are_accepted() {
        let read = |text: &str| number_like(&mut serde_json::Deserializer::from_str(text)).ok().flatten();
        for (text, expected) in [
            ("7", Some(7)),
            ("7.9", Some(7)),
            ("-5", Some(-5)),
            ("\"12\"", Some(12)),
            ("\" 12abc\"", Some(12)),
            ("\"-5\"", Some(-5)),
            ("\"abc\"", None),
            ("\"\"", None),
            ("\"-\"", None),
            // Outside the range of `i64`.
            ("1e300", None),
            ("null", None),
            ("[7]", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
