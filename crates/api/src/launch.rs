//! Body of `POST /api/gateway/orchestrator/loop`, with which the control plane dispatches a loop to a
//! desktop.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::link::canonical_json;
use crate::review_comments::ReviewComments;
use crate::usd::Usd;

/// `reason` of the 409 response when the loop already runs or is being started on the desktop. The sender
/// treats it as success.
pub const ALREADY_RUNNING: &str = "already_running";

/// A repository and the branch from which a loop starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoRef {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: String,
    /// Branch to start from; empty for the repository's default branch.
    #[serde(default)]
    pub branch: String,
}

/// A peer repository of a loop; needs a full name or a local path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerRef {
    /// Full name of the repository, `<org>/<repo>`; absent when only the path is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
    /// Path of a local clone; absent when only the name is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_repo_path: Option<String>,
    /// Branch to start from; empty for the repository's default branch.
    #[serde(default)]
    pub branch: String,
}

/// Type of a document that is passed to a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ArtifactType {
    /// Product requirements document, as Markdown.
    Prd,
    /// Plan for an EXECUTE loop.
    ImplementationPlan,
    /// Feature, part of a requirements document.
    Feature,
}

/// A document that is passed to a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Id of the document in the control plane.
    pub id: String,
    /// Type of the document.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Title of the document.
    pub title: String,
    /// Text of the document, as Markdown.
    pub content: String,
    /// Whole plan object from which `content` was extracted; absent for other documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub raw: Option<Map<String, Value>>,
}

/// Author and committer identity for commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Committer {
    /// Name, as in git's `user.name`.
    pub name: String,
    /// Email address, as in git's `user.email`.
    pub email: String,
}

/// A file to download before the loop starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Id of the attachment in the control plane.
    pub id: String,
    /// File name as uploaded.
    pub filename: String,
    /// Media type, for example `image/png`.
    pub mime_type: String,
    /// Expected size in bytes.
    pub size_bytes: u64,
    /// SHA-256 of the file in hexadecimal digits; absent when the sender does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Signed download URL; never logged, because it grants access.
    pub signed_url: String,
    /// Expiry of the signed URL, ISO 8601.
    pub signed_url_expires_at: String,
}

/// An agent definition to write to the worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentDefinition {
    /// Identifier of the agent, used as file name.
    pub slug: String,
    /// Display name of the agent.
    pub name: String,
    /// Complete prompt of the agent.
    pub prompt: String,
}

/// Critic gates of one repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoConfig {
    /// Full name of the repository, `<org>/<repo>`.
    pub repo_full_name: String,
    /// Critic gates, written to the worktree's settings unchanged.
    #[schema(value_type = Object)]
    pub critic_gates: Map<String, Value>,
}

/// Provider that runs a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Harness {
    /// The coding assistant, the default.
    #[default]
    Assistant,
    /// The second program, which also reviews.
    Reviewer,
}

impl Harness {
    /// Returns the wire name, for example `assistant`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::Reviewer => "reviewer",
        }
    }
}

/// Launch request for a loop, for serialization only.
///
/// The desktop parses the body member by member, because its error responses name the member of the wrong
/// type.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopLaunchBody {
    /// UUID of the loop, assigned by the control plane.
    pub loop_id: String,
    /// Runner token for requests to the control plane.
    pub loopgate_auth_token: String,
    /// Origin of the control plane; desktops use their configured origin instead.
    pub api_base_url: String,
    /// Key prefix for support files in the object store; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s3_state_key: Option<String>,
    /// What the loop works on.
    #[serde(flatten)]
    pub content: LaunchContent,
}

/// The members of a launch request that decide what runs. They are known before the loop exists, so that a
/// person can judge and sign them.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaunchContent {
    /// Name of the loop command, for example `PLAN`.
    pub command: String,
    /// Documents for the loop.
    pub artifacts: Vec<Artifact>,
    /// The user's request in natural language; null without one.
    pub prompt: Option<String>,
    /// Primary repository; null for commands without one.
    pub repo: Option<RepoRef>,
    /// Identity for commits; null for the desktop's git configuration.
    pub committer: Option<Committer>,
    /// Slug of the document, used in names of the worktree and the branch.
    pub artifact_slug: Option<String>,
    /// Id of the loop whose work is continued; null without one.
    pub parent_loop_id: Option<String>,
    /// Branch of the parent loop; null without one.
    pub parent_branch_name: Option<String>,
    /// Assistant session of the parent loop; null without one.
    pub parent_session_id: Option<String>,
    /// Path of a local clone of the primary repository; null when unknown.
    pub local_repo_path: Option<String>,
    /// Text appended to the requirements of a PLAN loop; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_context: Option<String>,
    /// Peer repositories; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_repos: Vec<RepoRef>,
    /// Id of the document that the loop is about; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_artifact_id: Option<String>,
    /// Files of the documents; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Agent definitions in effect at launch; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentDefinition>,
    /// Critic gates of the loop's repositories; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repo_configs: Vec<RepoConfig>,
    /// Provider that runs the loop; absent for the assistant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<Harness>,
    /// Whether the loop pushes its work without opening pull requests, until a person approves the changes; absent
    /// otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hold_pull_request: bool,
    /// Approved commits by repository: the loop changes nothing, and opens the pull requests of a loop that held them.
    /// Absent for other loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_commits: Option<BTreeMap<String, String>>,
    /// Comments of a review, each of which the loop has to answer; absent without a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_comments: Option<ReviewComments>,
    /// Model of the assistant; absent for that of the desktop's settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the loop uses and records learnings; absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub self_learning: bool,
    /// Spending limit of the loop in US dollars; absent when neither its user nor the organization sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub max_spend_usd: Option<Usd>,
}

/// What a signature of the start of a loop covers besides the request: all of [`LaunchContent`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedLaunch {
    /// Digest of each member of the content, see [`launch_digests`].
    pub digests: BTreeMap<String, String>,
    /// Highest spending limit in US dollars; absent when the content had none. Not a digest, because the
    /// organization's budget decreases while other loops run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub max_spend_usd: Option<Usd>,
}

/// Members of a launch request that the control plane assigns at the launch, and the spending limit.
const WITHOUT_DIGEST: [&str; 5] = ["loopId", "loopgateAuthToken", "apiBaseUrl", "s3StateKey", "maxSpendUsd"];
/// Member with a list of files, and the members of a file that change with each request. Their `sha256` is signed.
const ATTACHMENTS: &str = "attachments";
const WITHOUT_ATTACHMENT_DIGEST: [&str; 2] = ["signedUrl", "signedUrlExpiresAt"];

/// Returns the digest of each member of a launch request that decides what runs: SHA-256 of its canonical JSON
/// (RFC 8785), in hexadecimal digits.
#[must_use]
pub fn launch_digests(body: &Map<String, Value>) -> BTreeMap<String, String> {
    let signed = body.iter().filter(|(name, _)| !WITHOUT_DIGEST.contains(&name.as_str()));
    let digest = |value: &Value| hex::encode(Sha256::digest(canonical_json(value)));
    signed
        .map(|(name, value)| match name.as_str() {
            ATTACHMENTS => (name.clone(), digest(&without_urls(value))),
            _ => (name.clone(), digest(value)),
        })
        .collect()
}

/// Returns the list of files without their URLs.
fn without_urls(attachments: &Value) -> Value {
    let mut attachments = attachments.clone();
    for attachment in attachments.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        attachment.retain(|name, _| !WITHOUT_ATTACHMENT_DIGEST.contains(&name.as_str()));
    }
    attachments
}

/// Returns the names of the digests that differ.
#[must_use]
pub fn changed_members<'a>(
    signed: &'a BTreeMap<String, String>,
    current: &'a BTreeMap<String, String>,
) -> BTreeSet<&'a str> {
    let names = signed.keys().chain(current.keys());
    names.filter(|name| signed.get(*name) != current.get(*name)).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn digests_cover_all_members_but_those_of_the_launch() {
        let Value::Object(body) = json!({
            "loopId": "1", "loopgateAuthToken": "t", "apiBaseUrl": "http://a", "s3StateKey": "k", "maxSpendUsd": 1,
            "prompt": null, "agents": [], "artifacts": [{"id": "a"}, {"id": "b"}], "unknown": 1,
        }) else {
            unreachable!("an object")
        };
        let digests = launch_digests(&body);
        let names: Vec<_> = digests.keys().map(String::as_str).collect();
        assert_eq!(names, ["agents", "artifacts", "prompt", "unknown"]);
        // SHA-256 of `null` and of `[]`, as sha256sum prints them.
        assert!(digests["prompt"].starts_with("74234e98afe7498fb5daf1f36ac2d78a"));
        assert!(digests["agents"].starts_with("4f53cda18c2baa0c0354bb5f9a3ecbe5"));
        let mut changed = digests.clone();
        changed.remove("unknown");
        changed.insert("prompt".to_owned(), String::new());
        changed.insert("added".to_owned(), String::new());
        assert_eq!(changed_members(&digests, &changed), BTreeSet::from(["added", "prompt", "unknown"]));
    }

    #[test]
    fn digest_of_attachments_covers_their_content_but_not_their_urls() {
        let digest = |sha256: &str, url: &str| {
            let attachments =
                json!([{"id": "a", "sha256": sha256, "signedUrl": url, "signedUrlExpiresAt": url}]);
            launch_digests(&Map::from_iter([("attachments".to_owned(), attachments)]))
        };
        assert_eq!(digest("1", "http://a"), digest("1", "http://b"));
        assert_ne!(digest("1", "http://a"), digest("2", "http://a"));
    }
}
