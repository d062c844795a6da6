//! Body of `POST /api/gateway/orchestrator/loop`: what the control plane orders from a desktop.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::usd::Usd;

/// `reason` of the 409 to an order whose loop runs, or is being started, on the desktop already. The order
/// was carried out, so its sender has nothing to do.
pub const ALREADY_RUNNING: &str = "already_running";

/// A repository with the branch that a loop starts from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoRef {
    /// `<org>/<repo>`.
    pub full_name: String,
    /// Branch to start from; empty for the repository's default branch.
    #[serde(default)]
    pub branch: String,
}

/// A peer repository of a loop; at least one of the first two members is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerRef {
    /// `<org>/<repo>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
    /// Path of a local clone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_repo_path: Option<String>,
    /// Branch to start from; empty for the repository's default branch.
    #[serde(default)]
    pub branch: String,
}

/// Kind of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ArtifactType {
    /// Requirements.
    Prd,
    /// A plan.
    ImplementationPlan,
    /// A feature.
    Feature,
}

/// A document handed to a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Id of the document.
    pub id: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Its title.
    pub title: String,
    /// Its text.
    pub content: String,
    /// The whole plan object, when the text was taken from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub raw: Option<Map<String, Value>>,
}

/// Whose name is in the commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Committer {
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
}

/// A file to download before the loop starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Id.
    pub id: String,
    /// Name as uploaded.
    pub filename: String,
    /// Content type.
    pub mime_type: String,
    /// Announced size in bytes.
    pub size_bytes: u64,
    /// Signed URL; never logged.
    pub signed_url: String,
    /// End of the signature's life, ISO 8601.
    pub signed_url_expires_at: String,
}

/// An agent definition to materialize in the worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentDefinition {
    /// Names the file.
    pub slug: String,
    /// Name for people.
    pub name: String,
    /// Whole prompt text.
    pub prompt: String,
}

/// Critic gates of one repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoConfig {
    /// `<org>/<repo>`.
    pub repo_full_name: String,
    /// Written to the worktree's settings as it is.
    #[schema(value_type = Object)]
    pub critic_gates: Map<String, Value>,
}

/// Provider that runs a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Harness {
    /// The coding assistant.
    #[default]
    Assistant,
    /// The second tool.
    Reviewer,
}

impl Harness {
    /// The name as it travels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::Reviewer => "reviewer",
        }
    }
}

/// What the control plane sends. The desktop reads it member by member, because a wrong type is
/// answered with the member's name; this form is for writing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopLaunchBody {
    /// Id of the loop.
    pub loop_id: String,
    /// Command name.
    pub command: String,
    /// Runner token for callbacks.
    pub loopgate_auth_token: String,
    /// Origin for callbacks; desktops use their configured one.
    pub api_base_url: String,
    /// Prefix for support files in the object store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s3_state_key: Option<String>,
    /// Documents.
    pub artifacts: Vec<Artifact>,
    /// Wish in plain words.
    pub prompt: Option<String>,
    /// Primary repository.
    pub repo: Option<RepoRef>,
    /// Whose name is in the commits.
    pub committer: Option<Committer>,
    /// Names worktree and branch.
    pub artifact_slug: Option<String>,
    /// Loop whose work is continued.
    pub parent_loop_id: Option<String>,
    /// Its branch.
    pub parent_branch_name: Option<String>,
    /// Its assistant session.
    pub parent_session_id: Option<String>,
    /// Path of a local clone.
    pub local_repo_path: Option<String>,
    /// Appended to the requirements of a PLAN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_context: Option<String>,
    /// Peers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_repos: Vec<RepoRef>,
    /// The document that the loop is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_artifact_id: Option<String>,
    /// Agents in force at launch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentDefinition>,
    /// Critic gates of its repositories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repo_configs: Vec<RepoConfig>,
    /// Provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<Harness>,
    /// What the loop may spend; left out when its organization sets no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub max_spend_usd: Option<Usd>,
}
