//! The body of a loop request: parses it member by member, and checks that the inputs of its command are
//! present.
//!
//! The order of the checks is part of the interface: a body with several errors is answered with a defined
//! one. The checks have no side effects. A parsed request is well-typed, so later code does not validate it
//! again.

mod extensions;
mod fields;

use std::collections::BTreeMap;

use loopgate_api::bootstrap::BootstrapOrder;
use loopgate_api::command::{InputRequirement, Inputs, LoopCommand};
use loopgate_api::ids::{BranchName, LoopId, is_option_value};
use loopgate_api::launch::{
    AgentDefinition, Artifact, ArtifactType, Attachment, Committer, Harness, PeerRef, RepoConfig, RepoRef,
};
use loopgate_api::review_comments::ReviewComments;
use loopgate_api::usd::Usd;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use extensions::{
    BranchMaterialization, BranchRole, CodeEvaluationContext, DetectedContext, MaterializedBranch,
    PullRequestContext, RepoContext, SchemaV1, SupportingArtifact,
};
use fields::Fields;
pub(crate) use fields::members;

use crate::error::LoopRequestError;

// Longest accepted `cloudSessionToken`, in characters after trimming.
const MAX_SESSION_TOKEN: usize = 4096;

/// Headers of a loop request that are stored with the loop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopHeaders {
    /// Id of the command that the link delivered; absent for local requests.
    pub command_id: Option<String>,
    /// Operation id of the sender, for correlation.
    pub operation_id: Option<String>,
    /// Whether the request was received over the link.
    pub from_cloud: bool,
}

/// A validated loop request.
#[derive(Debug, Clone)]
pub struct LoopRequest {
    pub loop_id: LoopId,
    pub command: LoopCommand,
    /// Runner token for reports to the control plane.
    pub token: SecretString,
    /// Documents that the loop works from.
    pub artifacts: Vec<Artifact>,
    /// Primary repository, by name.
    pub repo: Option<RepoRef>,
    /// Path of the primary repository's clone; takes precedence over the name.
    pub local_repo_path: Option<String>,
    /// Peer repositories; empty for commands that do not support them.
    pub additional_repos: Vec<PeerRef>,
    /// Author of the loop's commits.
    pub committer: Option<Committer>,
    /// Slug of the document; determines the names of worktree and branch.
    pub artifact_slug: Option<String>,
    /// Loop whose worktree may be reused.
    pub parent_loop_id: Option<String>,
    /// Branch of the parent loop.
    pub parent_branch_name: Option<String>,
    /// Assistant session of the parent loop.
    pub parent_session_id: Option<String>,
    /// The user's request as text; never blank.
    pub prompt: Option<String>,
    /// Repositories of a BOOTSTRAP; `None` means all known repositories.
    pub bootstrap: Option<BootstrapOrder>,
    /// Additional constraints, appended to the requirements of a PLAN; never blank.
    pub user_context: Option<String>,
    /// Files to download before the start.
    pub attachments: Vec<Attachment>,
    /// Additional documents of an evaluation.
    pub supporting_artifacts: Vec<SupportingArtifact>,
    /// Location of the code under evaluation.
    pub code_evaluation_context: Option<CodeEvaluationContext>,
    /// Summaries of earlier loops, passed through unchanged.
    pub prior_loop_summaries: Option<Value>,
    /// Id of the document that the loop is about.
    pub primary_artifact_id: Option<String>,
    /// Agent definitions for the worktree, not validated.
    pub agents: Vec<Value>,
    /// Critic gates, one entry per repository.
    pub repo_configs: Vec<RepoConfig>,
    /// Branches that the control plane has reserved for the loop.
    pub branch_materialization: Option<BranchMaterialization>,
    /// Program that executes the loop.
    pub harness: Harness,
    /// Whether the delivery of an EXECUTE stops before the pull request.
    pub hold_pull_request: bool,
    /// Approved commits by repository: the loop only delivers.
    pub approved_commits: Option<BTreeMap<String, String>>,
    /// Comments of a review, which an EXECUTE has to answer.
    pub review_comments: Option<ReviewComments>,
    /// Whether the loop uses learnings.
    pub self_learning: bool,
    /// Model of the assistant; `None` for that of the settings.
    pub model: Option<String>,
    /// Spending limit set by the user or the organization; more than 0.
    pub max_spend: Option<Usd>,
    /// MCP server whose tools are allowed if the assistant is connected to it.
    pub expected_mcp_url: Option<String>,
    /// Prefix for the object keys of support files.
    pub s3_state_key: Option<String>,
    /// Id of the ticket, for correlation.
    pub ticket_id: Option<String>,
    /// Id of the document, for correlation.
    pub artifact_id: Option<String>,
    /// Id of the issue, for correlation.
    pub issue_id: Option<String>,
    /// Default branch of the repository. Filled in after parsing when the request names no branch.
    pub default_branch: Option<String>,
}

impl LoopRequest {
    /// Parses and validates a body.
    ///
    /// # Errors
    /// Fails with 400 and the text of the first check that fails.
    pub fn parse(body: &[u8]) -> Result<Self, LoopRequestError> {
        let members = members(body)?;
        let fields = Fields(&members);
        // Malformed extensions are reported before missing required members; clients rely on this order.
        let extensions = Extensions::read(&fields)?;
        let (id, command, token) = required(&fields)?;
        let command = supported(&command)?;
        let loop_id: LoopId =
            id.parse().map_err(|_| LoopRequestError::bad_request("loopId must be a valid UUID"))?;
        if !members.get("artifacts").is_some_and(Value::is_array) {
            return Err(LoopRequestError::bad_request("artifacts must be an array"));
        }
        let mut request = Self::read(&fields, loop_id, command, token.into(), extensions)?;
        // Only well-typed requests are checked for missing inputs, so a type error is reported first.
        request.check_inputs()?;
        if command.spec().inputs == Inputs::Repositories {
            request.bootstrap = request.prompt.as_deref().map(bootstrap_order).transpose()?;
        }
        Ok(request)
    }

    fn read(
        fields: &Fields<'_>,
        loop_id: LoopId,
        command: LoopCommand,
        token: SecretString,
        extensions: Extensions,
    ) -> Result<Self, LoopRequestError> {
        // Commands without peers ignore the member, even when it is malformed.
        let peers: Vec<PeerRef> =
            if command.spec().takes_peers() { fields.list("additionalRepos")? } else { Vec::new() };
        let repo: Option<RepoRef> = fields.object("repo")?;
        let branches = repo.iter().map(|repo| ("repo", "branch".to_owned(), &repo.branch));
        let peer_branches = peers.iter().enumerate();
        let peer_branches =
            peer_branches.map(|(index, peer)| ("additionalRepos", format!("{index}.branch"), &peer.branch));
        // Branch names are passed to git, so they are checked in every position.
        for (field, path, branch) in branches.chain(peer_branches) {
            check_branch(field, &path, branch)?;
        }
        let max_spend: Option<Usd> = fields.object("maxSpendUsd")?;
        if max_spend.is_some_and(Usd::is_zero) {
            return Err(LoopRequestError::bad_request("maxSpendUsd must be more than 0"));
        }
        Ok(Self {
            loop_id,
            command,
            token,
            artifacts: fields.list("artifacts")?,
            repo,
            local_repo_path: fields.non_blank("localRepoPath")?,
            additional_repos: peers,
            committer: fields.object("committer")?,
            artifact_slug: fields.non_blank("artifactSlug")?,
            parent_loop_id: fields.non_blank("parentLoopId")?,
            parent_branch_name: fields.non_blank("parentBranchName")?,
            parent_session_id: fields.non_blank("parentSessionId")?,
            prompt: fields.non_blank("prompt")?,
            bootstrap: None,
            user_context: fields.non_blank("userContext")?,
            attachments: fields.list("attachments")?,
            supporting_artifacts: extensions.supporting_artifacts,
            code_evaluation_context: extensions.code_evaluation_context,
            prior_loop_summaries: fields.value("priorLoopSummaries").cloned(),
            primary_artifact_id: fields.non_blank("primaryArtifactId")?,
            agents: fields.list("agents")?,
            repo_configs: fields.list("repoConfigs")?,
            branch_materialization: extensions.branch_materialization,
            harness: harness(fields),
            model: model(fields)?,
            hold_pull_request: fields.value("holdPullRequest") == Some(&Value::Bool(true)),
            approved_commits: fields.object("approvedCommits")?,
            review_comments: fields.object("reviewComments")?,
            self_learning: fields.value("selfLearning") == Some(&Value::Bool(true)),
            max_spend,
            expected_mcp_url: fields.non_blank("expectedMcpUrl")?,
            s3_state_key: fields.non_blank("s3StateKey")?,
            ticket_id: fields.non_blank("ticketId")?,
            artifact_id: fields.non_blank("artifactId")?,
            issue_id: fields.non_blank("issueId")?,
            default_branch: None,
        })
    }

    /// Returns the artifacts of one type in the order of the request.
    pub fn artifacts_of(&self, kind: ArtifactType) -> impl Iterator<Item = &Artifact> {
        self.artifacts.iter().filter(move |artifact| artifact.kind == kind)
    }

    /// Returns the valid agent definitions. Others are skipped, so that one malformed agent does not fail the
    /// loop.
    #[must_use]
    pub fn agent_definitions(&self) -> Vec<AgentDefinition> {
        self.agents.iter().filter_map(|agent| serde_json::from_value(agent.clone()).ok()).collect()
    }

    /// Returns the branch to start from: the named branch or the repository's default branch. Empty when both
    /// are unknown.
    #[must_use]
    pub fn base_branch(&self) -> &str {
        let requested = self.repo.as_ref().map(|repo| repo.branch.trim()).filter(|branch| !branch.is_empty());
        requested.or(self.default_branch.as_deref()).unwrap_or_default()
    }

    /// Returns whether the request names a branch to start from.
    #[must_use]
    pub fn names_branch(&self) -> bool {
        self.repo.as_ref().is_some_and(|repo| !repo.branch.trim().is_empty())
    }

    fn names_repository(&self) -> bool {
        self.local_repo_path.is_some()
            || self.repo.as_ref().is_some_and(|repo| !repo.full_name.trim().is_empty())
    }

    fn check_inputs(&self) -> Result<(), LoopRequestError> {
        let spec = self.command.spec();
        let name = self.command;
        let refuse = |text: String| Err(LoopRequestError::bad_request(text));
        if spec.prompt == InputRequirement::Required && self.prompt.is_none() {
            return refuse(format!("{name} requires a non-empty prompt"));
        }
        if spec.artifacts == InputRequirement::Required && self.artifacts.is_empty() {
            return refuse(format!("{name} requires artifacts in the context pack"));
        }
        if name == LoopCommand::Execute && self.prompt.is_none() && self.artifacts.is_empty() {
            return refuse("EXECUTE requires either a prompt or artifacts in the context pack".to_owned());
        }
        self.check_evaluation()
    }

    fn check_evaluation(&self) -> Result<(), LoopRequestError> {
        let has = |kind| self.artifacts_of(kind).next().is_some();
        let plan = has(ArtifactType::ImplementationPlan);
        let prd = has(ArtifactType::Prd) || has(ArtifactType::Feature) || self.prompt.is_some();
        let text = match self.command {
            LoopCommand::EvaluatePlan if !plan || !prd => {
                "EVALUATE_PLAN requires a PRD artifact (or prompt) and an implementation plan artifact"
            }
            LoopCommand::EvaluateCode if !plan => "EVALUATE_CODE requires an implementation plan artifact",
            LoopCommand::EvaluatePlan if !self.names_repository() => {
                "EVALUATE_PLAN requires a repository (repo.fullName or localRepoPath)"
            }
            LoopCommand::EvaluateCode if !self.names_repository() => {
                "EVALUATE_CODE requires a repository (repo.fullName or localRepoPath)"
            }
            LoopCommand::EvaluateFeature if !has(ArtifactType::Feature) => {
                "EVALUATE_FEATURE requires a feature artifact"
            }
            _ => return Ok(()),
        };
        Err(LoopRequestError::bad_request(text))
    }
}

/// Members that are validated before all others.
struct Extensions {
    supporting_artifacts: Vec<SupportingArtifact>,
    code_evaluation_context: Option<CodeEvaluationContext>,
    branch_materialization: Option<BranchMaterialization>,
}

impl Extensions {
    fn read(fields: &Fields<'_>) -> Result<Self, LoopRequestError> {
        let extensions = Self {
            supporting_artifacts: fields.list("supportingArtifacts")?,
            code_evaluation_context: fields.object("codeEvaluationContext")?,
            branch_materialization: fields.object("branchMaterialization")?,
        };
        // Validated for compatibility; the value is not used.
        let token = fields.text("cloudSessionToken")?.unwrap_or_default();
        if token.trim().chars().count() > MAX_SESSION_TOKEN {
            return Err(LoopRequestError::malformed(
                "cloudSessionToken",
                "cloudSessionToken: longer than 4096 characters",
            ));
        }
        Ok(extensions)
    }
}

fn required(fields: &Fields<'_>) -> Result<(String, String, String), LoopRequestError> {
    let present = |name: &str| fields.value(name).is_some_and(|value| value.as_str() != Some(""));
    // Both spellings are accepted; the first one takes precedence.
    let token_name = if present("loopgateAuthToken") { "loopgateAuthToken" } else { "loopGateAuthToken" };
    if !present("loopId") || !present("command") || !present(token_name) {
        return Err(LoopRequestError::missing_field(
            "Missing required fields: loopId, command, loopgateAuthToken",
        ));
    }
    let text = |name: &str| fields.text(name).map(Option::unwrap_or_default);
    Ok((text("loopId")?, text("command")?, text(token_name)?))
}

/// Checks a named branch. Git must not be able to interpret it as an option or a path.
fn check_branch(field: &str, path: &str, branch: &str) -> Result<(), LoopRequestError> {
    let branch = branch.trim();
    match branch.parse::<BranchName>() {
        Err(error) if !branch.is_empty() => {
            Err(LoopRequestError::malformed(field, &format!("{path}: {error}")))
        }
        _ => Ok(()),
    }
}

fn supported(command: &str) -> Result<LoopCommand, LoopRequestError> {
    match command.parse::<LoopCommand>() {
        Ok(command) if command.runs_on_desktop() => Ok(command),
        _ => Err(LoopRequestError::bad_request(format!("Invalid command: {command}"))),
    }
}

/// Returns the requested model. The assistant gets it as the value of an option.
fn model(fields: &Fields<'_>) -> Result<Option<String>, LoopRequestError> {
    let model = fields.non_blank("model")?;
    match &model {
        Some(name) if !is_option_value(name) => {
            Err(LoopRequestError::malformed("model", "must be the name of a model"))
        }
        _ => Ok(model),
    }
}

/// Returns the requested harness. Unknown values fall back to the assistant instead of failing.
fn harness(fields: &Fields<'_>) -> Harness {
    match fields.value("harness").map(|value| serde_json::from_value(value.clone())) {
        Some(Ok(harness)) => harness,
        Some(Err(_)) => {
            tracing::warn!("unknown harness; falling back to the assistant");
            Harness::Assistant
        }
        None => Harness::Assistant,
    }
}

fn bootstrap_order(prompt: &str) -> Result<BootstrapOrder, LoopRequestError> {
    serde_json::from_str(prompt).map_err(|_| {
        LoopRequestError::bad_request("BOOTSTRAP requires a JSON prompt with a non-empty repos array")
    })
}

#[cfg(test)]
mod tests;
