//! `repos.json` and the response of `/api/gateway/repos`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A repository in `repos.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManagedRepo {
    /// Path of the repository, with `~` for the home directory.
    pub path: String,
    /// Description written by the owner; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Deployment settings; unknown members are preserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub deployment: Option<Map<String, Value>>,
    /// Time of addition, ISO 8601 with milliseconds.
    #[serde(default)]
    pub added_at: String,
}

/// General settings in `repos.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReposSettings {
    /// Parent directory of new worktrees; absent for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_parent_dir: Option<String>,
    /// Whether the owner confirmed the parent directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_parent_dir_confirmed: Option<bool>,
    /// Unknown members, preserved when the file is rewritten.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A repository as listed by `GET /api/gateway/repos`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedRepo {
    /// Entry as stored in `repos.json`.
    #[serde(flatten)]
    pub repo: ManagedRepo,
    /// Last component of the path.
    pub name: String,
    /// `<org>/<repo>` of the remote `origin`; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
    /// Branch of the remote's HEAD, else the checked-out branch; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
}

/// Response of `GET /api/gateway/repos`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"repos": [{"path": "~/src/shop", "description": "The shop", "addedAt": "2030-01-01T00:00:00.000Z", "name": "shop", "fullName": "acme/shop", "defaultBranch": "main"}], "settings": {"worktreeParentDir": "~/src/worktrees", "worktreeParentDirConfirmed": true}}))]
pub struct ReposAnswer {
    /// All repositories of `repos.json`.
    pub repos: Vec<ListedRepo>,
    /// Settings that apply to all repositories.
    pub settings: ReposSettings,
}
