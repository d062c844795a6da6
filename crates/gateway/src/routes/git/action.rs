//! `POST /api/gateway/git`: one git action in a repository.
//!
//! Read-only actions are cancelled when the client disconnects. Actions that change the repository run to
//! completion.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_tools::git::{self, Action, FailureCategory, GitError, SwitchName};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::answers::ActionAnswer;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::directory::existing_directory;

/// Base branch of a comparison without `baseBranch` in a clone that records no default branch of `origin`.
const DEFAULT_BASE: &str = "main";

/// A git action and the repository to run it in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct GitRequest {
    /// `status`, `branch`, `commit`, `push`, `pull`, `branch-diff` or `sync-status`.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::any")]
    action: Option<String>,
    /// Directory inside the sandbox; a leading `~` is the home directory.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    repo_path: Option<String>,
    /// For `branch`: branch to check out, created if it does not exist. Characters outside `[A-Za-z0-9_/-]`
    /// are replaced with `-`.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    branch_name: Option<String>,
    /// For `commit`: the commit message.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    message: Option<String>,
    /// For `branch-diff`: branch of `origin` to compare with; its default branch when it is missing.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    base_branch: Option<String>,
}

/// Run a git action
///
/// When git fails, `code` is `SPAWN_FAILED` or `PROCESS_FAILED`, and the object `details` has `action`,
/// `category`, `stderrExcerpt`, and `exitCode` or `hookType`.
#[utoipa::path(post, path = "/api/gateway/git", operation_id = "git_action", tag = "git",
    request_body(content = GitRequest, examples(
        ("status" = (value = json!({"action": "status", "repoPath": "~/src/shop"}))),
        ("branch" = (value = json!({"action": "branch", "repoPath": "~/src/shop", "branchName": "dark-theme"}))),
        ("commit" = (value = json!({"action": "commit", "repoPath": "~/src/shop", "message": "Add a dark theme"}))),
        ("push" = (value = json!({"action": "push", "repoPath": "~/src/shop"}))),
        ("pull" = (value = json!({"action": "pull", "repoPath": "~/src/shop"}))),
        ("branch-diff" = (value = json!({"action": "branch-diff", "repoPath": "~/src/shop", "baseBranch": "main"}))),
        ("sync-status" = (value = json!({"action": "sync-status", "repoPath": "~/src/shop"}))),
    )),
    responses(
        (status = 200, body = ActionAnswer, description = "Result of the action; its shape depends on the action", examples(
            ("status" = (value = json!({"currentBranch": "dark-theme", "hasChanges": true, "files": {"modified": ["styles.css"], "created": ["theme.js"], "deleted": [], "staged": ["styles.css"]}}))),
            ("branch" = (value = json!({"success": true, "branchName": "dark-theme", "message": "Switched to branch 'dark-theme'"}))),
            ("commit" = (value = json!({"success": true, "commit": "1f3c2ab", "message": "Committed changes"}))),
            ("push" = (value = json!({"success": true, "pushed": true, "message": "Pushed branch 'dark-theme' to remote"}))),
            ("pull" = (value = json!({"success": true, "message": "Pulled latest changes for 'dark-theme'"}))),
            ("branch-diff" = (value = json!({"baseBranch": "main", "currentBranch": "dark-theme", "files": {"modified": ["styles.css"], "created": ["theme.js"], "deleted": []}, "totalChanges": 2}))),
            ("sync-status" = (value = json!({"isUpToDate": false, "behindBy": 0, "aheadBy": 1, "currentBranch": "dark-theme", "trackingBranch": "origin/main"}))),
        )),
        (status = 400, body = ErrorBody, description = "A member is missing or invalid", example = json!(ErrorBody::new(400, "Invalid action"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed().with_code("REPO_NOT_ALLOWED").with("details", json!({"category": "repo_not_allowed"})))),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found").with_code("REPO_NOT_FOUND").with("details", json!({"category": "repo_not_found"})))),
        (status = 500, body = ErrorBody, description = "git or one of its hooks failed", example = json!(ErrorBody::new(500, "Nothing to commit").with_code("PROCESS_FAILED").with("details", json!({"action": "commit", "category": "git_command_failed", "exitCode": 1, "stderrExcerpt": ""})))),
    ))]
async fn act(State(app): State<App>, JsonBody(body): JsonBody<GitRequest>) -> JsonResult<ActionAnswer> {
    let path = body.repo_path.as_deref().ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let missing = |_| HttpError::not_found("repository not found");
    let repository = existing_directory(&app, path, missing).await.map_err(with_repository_code)?;
    let command = GitCommand::read(body)?;
    let (action, is_mutation) = (command.action(), command.is_mutation());
    let work = async move { command.run(&app, repository.canonical()).await };
    // A spawned task is not cancelled with the request: killing git halfway can leave an index lock or a
    // commit that was not pushed.
    let outcome =
        if is_mutation { tokio::spawn(work).await.map_err(|_| HttpError::internal())? } else { work.await };
    outcome.map(Json).map_err(|error| failed(action, &error))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(act), &[Source::Path(At::Body("repoPath"))]).with_action_members(&["action"])
}

/// An action with its validated parameters.
enum GitCommand {
    Status,
    Branch(SwitchName),
    Commit(String),
    Push,
    Pull,
    BranchDiff(Option<String>),
    SyncStatus,
}

impl GitCommand {
    fn read(body: GitRequest) -> Result<Self, HttpError> {
        let action = body.action.as_deref().and_then(Action::parse);
        Ok(match action.ok_or_else(|| HttpError::bad_request("Invalid action"))? {
            Action::Status => Self::Status,
            Action::Branch => {
                let missing = || HttpError::missing_field("branchName is required for branch action");
                let name = SwitchName::of(&body.branch_name.ok_or_else(missing)?);
                Self::Branch(name.ok_or_else(|| HttpError::bad_request("Invalid branch name"))?)
            }
            Action::Commit => {
                let missing = || HttpError::missing_field("message is required for commit action");
                Self::Commit(body.message.ok_or_else(missing)?)
            }
            Action::Push => Self::Push,
            Action::Pull => Self::Pull,
            Action::BranchDiff => {
                // The name becomes part of a git argument: a leading `-` would turn it into an option.
                body.base_branch.as_deref().map(validate_base_name).transpose()?;
                Self::BranchDiff(body.base_branch)
            }
            Action::SyncStatus => Self::SyncStatus,
        })
    }

    const fn action(&self) -> Action {
        match self {
            Self::Status => Action::Status,
            Self::Branch(_) => Action::Branch,
            Self::Commit(_) => Action::Commit,
            Self::Push => Action::Push,
            Self::Pull => Action::Pull,
            Self::BranchDiff(_) => Action::BranchDiff,
            Self::SyncStatus => Action::SyncStatus,
        }
    }

    const fn is_mutation(&self) -> bool {
        matches!(self, Self::Branch(_) | Self::Commit(_) | Self::Push | Self::Pull)
    }

    async fn run(self, app: &App, repository: &Path) -> Result<ActionAnswer, GitError> {
        let git = &app.git;
        Ok(match self {
            // Cached, because pages poll the status. File system events invalidate the entry.
            Self::Status => app.git_cache.status(repository).await?.as_ref().into(),
            Self::Branch(name) => {
                git.switch_to(repository, &name).await?;
                ActionAnswer::switched(name.as_str())
            }
            Self::Commit(message) => ActionAnswer::committed(git.commit_below(repository, &message).await?),
            Self::Push => ActionAnswer::pushed(&git.push_here(repository).await?),
            Self::Pull => ActionAnswer::pulled(&git.pull_here(repository).await?),
            Self::BranchDiff(base) => {
                let base = match base {
                    Some(base) => base,
                    None => git.default_branch(repository).await?.unwrap_or_else(|| DEFAULT_BASE.to_owned()),
                };
                let diff = git.branch_diff(repository, &base).await?;
                ActionAnswer::branch_diff(base, diff)
            }
            Self::SyncStatus => git.sync_status(repository).await?.into(),
        })
    }
}

/// Validates the name of a base branch.
pub(super) fn validate_base_name(text: &str) -> Result<&str, HttpError> {
    if git::is_base_name(text) { Ok(text) } else { Err(HttpError::bad_request("Invalid baseBranch")) }
}

/// Replaces the generic error code with the repository codes of this route.
fn with_repository_code(failure: HttpError) -> HttpError {
    let (code, category) = match failure.status {
        StatusCode::FORBIDDEN => ("REPO_NOT_ALLOWED", "repo_not_allowed"),
        StatusCode::NOT_FOUND => ("REPO_NOT_FOUND", "repo_not_found"),
        _ => return failure,
    };
    failure.with_code(code).with("details", json!({"category": category}))
}

fn failed(action: Action, error: &GitError) -> HttpError {
    let failure = git::GitFailure::of(action, error);
    let (code, category, more) = match failure.category {
        FailureCategory::Spawn => ("SPAWN_FAILED", "spawn_failed", None),
        FailureCategory::Hook(kind) => ("PROCESS_FAILED", "pre_commit_hook", Some(("hookType", json!(kind)))),
        FailureCategory::PushAuth => ("PROCESS_FAILED", "git_push_auth", None),
        FailureCategory::Command(code) => {
            ("PROCESS_FAILED", "git_command_failed", Some(("exitCode", json!(code))))
        }
    };
    let members = [("action", json!(action.as_str())), ("category", json!(category))];
    let excerpt = ("stderrExcerpt", Value::String(failure.excerpt));
    let members = members.into_iter().chain(more).chain([excerpt]);
    let details: Map<String, Value> = members.map(|(name, value)| (name.to_owned(), value)).collect();
    HttpError::failed(failure.error).with_code(code).with("details", details)
}
