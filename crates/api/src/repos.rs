//! `repos.json` and the answers of `/api/gateway/repos`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// An entry of `repos.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManagedRepo {
    /// Path; below the home directory it begins with `~`.
    pub path: String,
    /// Text of the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What is known of running it; members that nobody here knows survive a rewrite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub deployment: Option<Map<String, Value>>,
    /// ISO 8601 with milliseconds.
    #[serde(default)]
    pub added_at: String,
}

/// Settings of `repos.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReposSettings {
    /// Where worktrees are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_parent_dir: Option<String>,
    /// Whether the owner agreed to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_parent_dir_confirmed: Option<bool>,
    /// Members that nobody here knows.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A repository as `GET /api/gateway/repos` lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedRepo {
    /// The stored entry.
    #[serde(flatten)]
    pub repo: ManagedRepo,
    /// Base name of the path.
    pub name: String,
    /// `<org>/<repo>` of its remote `origin`; left out when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
    /// Branch that the remote's HEAD names, else the one checked out; left out when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
}

/// Answer of `GET /api/gateway/repos`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"repos": [{"path": "~/src/shop", "description": "The shop", "addedAt": "2030-01-01T00:00:00.000Z", "name": "shop", "fullName": "acme/shop", "defaultBranch": "main"}], "settings": {"worktreeParentDir": "~/src/worktrees", "worktreeParentDirConfirmed": true}}))]
pub struct ReposAnswer {
    /// The repositories.
    pub repos: Vec<ListedRepo>,
    /// Their settings.
    pub settings: ReposSettings,
}
