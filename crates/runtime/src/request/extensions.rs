//! Optional members of a loop request for evaluations and reserved branches. Each type is as strict as its
//! senders expect.

use loopgate_api::ids::{BranchName, RepoFullName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Supporting document of an evaluation, in addition to the artifacts. Unknown members are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SupportingArtifact {
    /// Id of the document; may be empty.
    #[serde(default)]
    pub id: String,
    /// Kind of the document, as free text; may be empty.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// Title of the document; may be empty.
    #[serde(default)]
    pub title: String,
    pub content: String,
    /// All other members, unchanged.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Pull request under evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestContext {
    pub number: Option<serde_json::Number>,
    pub url: Option<String>,
    pub head_branch: Option<String>,
    /// Branch that the pull request is merged into.
    pub base_branch: Option<String>,
    /// Commit at the head of the pull request.
    pub head_sha: Option<String>,
    /// Full name of the repository, `<org>/<repo>`.
    pub repository_full_name: Option<String>,
}

/// State of the local clone, as detected by the sender or by git.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DetectedContext {
    /// Branch that is checked out; absent on a detached HEAD.
    pub branch: Option<String>,
    pub head_sha: Option<String>,
    /// Error of git, when branch or commit could not be determined.
    pub git_detection_error: Option<String>,
}

/// Repository and branch as named by the sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepoContext {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: Option<String>,
    pub branch: Option<String>,
}

/// Location of the code under evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeEvaluationContext {
    /// Version of this object, always 1.
    #[serde(default)]
    pub schema_version: SchemaV1,
    /// Path of a local clone.
    pub local_repo_path: Option<String>,
    /// Branch of the parent loop.
    pub parent_branch_name: Option<String>,
    /// Assistant session of the parent loop.
    pub parent_session_id: Option<String>,
    /// Slug of the document; determines the names of worktree and branch.
    pub artifact_slug: Option<String>,
    pub repo: Option<RepoContext>,
    pub pull_request: Option<PullRequestContext>,
    pub detected: Option<DetectedContext>,
}

/// Schema version of which only 1 is valid.
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
        // JSON numbers are floating-point: 1.0 is valid, too.
        if (value - 1.0).abs() < f64::EPSILON { Ok(Self) } else { Err("must be 1") }
    }
}

/// Role of a repository in a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BranchRole {
    Primary,
    Additional,
}

/// Branch that the control plane has reserved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MaterializedBranch {
    pub role: BranchRole,
    /// Full name of the repository, `<org>/<repo>`.
    #[serde(deserialize_with = "trimmed")]
    pub repository_full_name: RepoFullName,
    /// Branch to start from.
    #[serde(deserialize_with = "trimmed")]
    pub base_branch: BranchName,
    /// New branch, created from `base_branch`.
    #[serde(deserialize_with = "trimmed")]
    pub branch_name: BranchName,
}

/// Branches that the control plane has reserved for a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BranchMaterialization {
    /// Version of this object, always 1.
    pub schema_version: SchemaV1,
    /// One entry per repository; never empty.
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
