//! The extension members of a loop request, each with the strictness that its senders count on.

use loopgate_api::ids::{BranchName, RepoFullName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A document beside the artifacts; unknown members are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SupportingArtifact {
    /// Id, may be empty.
    #[serde(default)]
    pub id: String,
    /// Kind, may be empty.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// Title, may be empty.
    #[serde(default)]
    pub title: String,
    /// Text.
    pub content: String,
    /// Every other member.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A pull request under evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestContext {
    /// Number.
    pub number: Option<serde_json::Number>,
    /// Page.
    pub url: Option<String>,
    /// Its branch.
    pub head_branch: Option<String>,
    /// The branch that it goes into.
    pub base_branch: Option<String>,
    /// Its last commit.
    pub head_sha: Option<String>,
    /// `<org>/<repo>`.
    pub repository_full_name: Option<String>,
}

/// What the sender found out about the local clone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DetectedContext {
    /// Branch that is checked out.
    pub branch: Option<String>,
    /// Its commit.
    pub head_sha: Option<String>,
    /// Why git could not tell.
    pub git_detection_error: Option<String>,
}

/// Repository and branch as the sender names them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepoContext {
    /// `<org>/<repo>`.
    pub full_name: Option<String>,
    /// Branch.
    pub branch: Option<String>,
}

/// Where the code under evaluation lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeEvaluationContext {
    /// 1.
    #[serde(default)]
    pub schema_version: SchemaV1,
    /// Path of a clone.
    pub local_repo_path: Option<String>,
    /// Branch of the parent loop.
    pub parent_branch_name: Option<String>,
    /// Session of the parent loop.
    pub parent_session_id: Option<String>,
    /// Names worktree and branch.
    pub artifact_slug: Option<String>,
    /// Repository.
    pub repo: Option<RepoContext>,
    /// Pull request.
    pub pull_request: Option<PullRequestContext>,
    /// What was detected.
    pub detected: Option<DetectedContext>,
}

/// A schema version that can only be 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "u8")]
pub struct SchemaV1;

impl Default for SchemaV1 {
    fn default() -> Self {
        Self
    }
}

impl From<SchemaV1> for u8 {
    fn from(_: SchemaV1) -> Self {
        1
    }
}

impl TryFrom<f64> for SchemaV1 {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        if (value - 1.0).abs() < f64::EPSILON { Ok(Self) } else { Err("must be 1") }
    }
}

/// Which repository of a loop a branch belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BranchRole {
    /// The primary.
    Primary,
    /// A peer.
    Additional,
}

/// A branch that the control plane has reserved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MaterializedBranch {
    /// Repository's role.
    pub role: BranchRole,
    /// `<org>/<repo>`.
    #[serde(deserialize_with = "trimmed")]
    pub repository_full_name: RepoFullName,
    /// Branch to start from.
    #[serde(deserialize_with = "trimmed")]
    pub base_branch: BranchName,
    /// Branch to make.
    #[serde(deserialize_with = "trimmed")]
    pub branch_name: BranchName,
}

/// Branches that the control plane has reserved for a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BranchMaterialization {
    /// 1.
    pub schema_version: SchemaV1,
    /// One entry a repository.
    #[serde(deserialize_with = "not_empty")]
    pub branches: Vec<MaterializedBranch>,
}

fn trimmed<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = String::deserialize(deserializer)?;
    text.trim().parse().map_err(serde::de::Error::custom)
}

fn not_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<MaterializedBranch>, D::Error> {
    let branches = Vec::deserialize(deserializer)?;
    if branches.is_empty() {
        return Err(serde::de::Error::custom("must not be empty"));
    }
    Ok(branches)
}
