//! The body of a loop request: parsed member by member, then held against what its command needs.
//!
//! The checks are in the order in which callers know their answers; none of them has a side
//! effect. Whatever comes out of here is well-typed, so nothing behind it checks a shape again.

mod extensions;
mod fields;

use loopgate_api::bootstrap::BootstrapOrder;
use loopgate_api::command::{InputRequirement, Inputs, LoopCommand};
use loopgate_api::ids::{BranchName, LoopId};
use loopgate_api::launch::{
    AgentDefinition, Artifact, ArtifactType, Attachment, Committer, Harness, PeerRef, RepoConfig, RepoRef,
};
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

/// Longest `cloudSessionToken`, in characters.
const MAX_SESSION_TOKEN: usize = 4096;

/// Headers of a loop request that matter beside its body.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopHeaders {
    /// Id of the relayed command.
    pub command_id: Option<String>,
    /// Operation id of the sender.
    pub operation_id: Option<String>,
    /// Whether the request came over the link.
    pub from_cloud: bool,
}

/// A loop request whose every member has its right type.
#[derive(Debug, Clone)]
pub struct LoopRequest {
    /// Id of the loop.
    pub loop_id: LoopId,
    /// What to do.
    pub command: LoopCommand,
    /// Runner token for callbacks.
    pub token: SecretString,
    /// Documents.
    pub artifacts: Vec<Artifact>,
    /// Primary repository by name.
    pub repo: Option<RepoRef>,
    /// Primary repository by path; goes before the name.
    pub local_repo_path: Option<String>,
    /// Peers; empty for commands without peers.
    pub additional_repos: Vec<PeerRef>,
    /// Whose name is in the commits.
    pub committer: Option<Committer>,
    /// Names worktree and branch.
    pub artifact_slug: Option<String>,
    /// Loop whose worktree may be continued.
    pub parent_loop_id: Option<String>,
    /// Its branch.
    pub parent_branch_name: Option<String>,
    /// Its assistant session.
    pub parent_session_id: Option<String>,
    /// Wish in plain words; never blank.
    pub prompt: Option<String>,
    /// The repositories of a BOOTSTRAP; all that are known when it names none.
    pub bootstrap: Option<BootstrapOrder>,
    /// Appended to the requirements of a PLAN; never blank.
    pub user_context: Option<String>,
    /// Files to download.
    pub attachments: Vec<Attachment>,
    /// Documents beside the artifacts.
    pub supporting_artifacts: Vec<SupportingArtifact>,
    /// Where the code under evaluation lies.
    pub code_evaluation_context: Option<CodeEvaluationContext>,
    /// Summaries of earlier loops, passed through.
    pub prior_loop_summaries: Option<Value>,
    /// The document that the loop is about.
    pub primary_artifact_id: Option<String>,
    /// Agent definitions for the worktree.
    pub agents: Vec<Value>,
    /// Critic gates a repository.
    pub repo_configs: Vec<RepoConfig>,
    /// Branches that the control plane has reserved.
    pub branch_materialization: Option<BranchMaterialization>,
    /// Provider.
    pub harness: Harness,
    /// What the organization lets the loop spend.
    pub max_spend: Option<Usd>,
    /// MCP server whose tools are allowed when the assistant knows it.
    pub expected_mcp_url: Option<String>,
    /// Prefix for support files.
    pub s3_state_key: Option<String>,
    /// Correlation: ticket.
    pub ticket_id: Option<String>,
    /// Correlation: document.
    pub artifact_id: Option<String>,
    /// Correlation: issue.
    pub issue_id: Option<String>,
    /// The default branch of its repository, where it names no branch.
    pub default_branch: Option<String>,
}

impl LoopRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// 400 with the text of the first check that fails.
    pub fn parse(body: &[u8]) -> Result<Self, LoopRequestError> {
        let members = members(body)?;
        let fields = Fields(&members);
        let extensions = Extensions::read(&fields)?;
        let (id, command, token) = required(&fields)?;
        let command = supported(&command)?;
        let loop_id: LoopId =
            id.parse().map_err(|_| LoopRequestError::bad_request("loopId must be a valid UUID"))?;
        if !members.get("artifacts").is_some_and(Value::is_array) {
            return Err(LoopRequestError::bad_request("artifacts must be an array"));
        }
        let mut request = Self::read(&fields, loop_id, command, token.into(), extensions)?;
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
        let peers: Vec<PeerRef> =
            if command.spec().takes_peers() { fields.list("additionalRepos")? } else { Vec::new() };
        let repo: Option<RepoRef> = fields.object("repo")?;
        let branches = repo.iter().map(|repo| ("repo", "branch".to_owned(), &repo.branch));
        let of_peers = peers.iter().enumerate();
        let of_peers =
            of_peers.map(|(index, peer)| ("additionalRepos", format!("{index}.branch"), &peer.branch));
        for (field, path, branch) in branches.chain(of_peers) {
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
            local_repo_path: fields.filled("localRepoPath")?,
            additional_repos: peers,
            committer: fields.object("committer")?,
            artifact_slug: fields.filled("artifactSlug")?,
            parent_loop_id: fields.filled("parentLoopId")?,
            parent_branch_name: fields.filled("parentBranchName")?,
            parent_session_id: fields.filled("parentSessionId")?,
            prompt: fields.filled("prompt")?,
            bootstrap: None,
            user_context: fields.filled("userContext")?,
            attachments: fields.list("attachments")?,
            supporting_artifacts: extensions.supporting_artifacts,
            code_evaluation_context: extensions.code_evaluation_context,
            prior_loop_summaries: fields.value("priorLoopSummaries").cloned(),
            primary_artifact_id: fields.filled("primaryArtifactId")?,
            agents: fields.list("agents")?,
            repo_configs: fields.list("repoConfigs")?,
            branch_materialization: extensions.branch_materialization,
            harness: harness(fields),
            max_spend,
            expected_mcp_url: fields.filled("expectedMcpUrl")?,
            s3_state_key: fields.filled("s3StateKey")?,
            ticket_id: fields.filled("ticketId")?,
            artifact_id: fields.filled("artifactId")?,
            issue_id: fields.filled("issueId")?,
            default_branch: None,
        })
    }

    /// Artifacts of one kind, in request order.
    pub fn artifacts_of(&self, kind: ArtifactType) -> impl Iterator<Item = &Artifact> {
        self.artifacts.iter().filter(move |artifact| artifact.kind == kind)
    }

    /// The agents whose every member is a text; others are skipped.
    #[must_use]
    pub fn agent_definitions(&self) -> Vec<AgentDefinition> {
        self.agents.iter().filter_map(|agent| serde_json::from_value(agent.clone()).ok()).collect()
    }

    /// The branch to start from: the one that is named, else the default branch of the repository;
    /// empty when that is unknown.
    #[must_use]
    pub fn base_branch(&self) -> &str {
        let named = self.repo.as_ref().map(|repo| repo.branch.trim()).filter(|branch| !branch.is_empty());
        named.or(self.default_branch.as_deref()).unwrap_or_default()
    }

    /// Whether a branch to start from is named.
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

/// The members whose malformation is answered before anything else.
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
        // Checked for its shape and never used.
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
    let token_name = if present("loopgateAuthToken") { "loopgateAuthToken" } else { "loopGateAuthToken" };
    if !present("loopId") || !present("command") || !present(token_name) {
        return Err(LoopRequestError::missing_field(
            "Missing required fields: loopId, command, loopgateAuthToken",
        ));
    }
    let text = |name: &str| fields.text(name).map(Option::unwrap_or_default);
    Ok((text("loopId")?, text("command")?, text(token_name)?))
}

/// A branch that is named must be a name that git can never take for an option or a path.
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
        Ok(known) if known.runs_on_desktop() => Ok(known),
        _ => Err(LoopRequestError::bad_request(format!("Invalid command: {command}"))),
    }
}

/// An unknown harness silently becomes the assistant.
fn harness(fields: &Fields<'_>) -> Harness {
    match fields.value("harness").map(|value| serde_json::from_value(value.clone())) {
        Some(Ok(harness)) => harness,
        Some(Err(_)) => {
            tracing::warn!("unknown harness; the assistant is used");
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
