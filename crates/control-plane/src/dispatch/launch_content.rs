//! What a launch runs: the members of the launch request that are known before the loop exists. The preview of
//! a start, the check of what its user signed, and the launch itself build it from the same inputs.

use std::collections::BTreeMap;

use loopgate_api::command::LoopCommand;
use loopgate_api::event::code;
use loopgate_api::launch::{
    Artifact, Attachment, Committer, Harness, LaunchContent, RepoRef, SignedLaunch, changed_members,
    launch_digests,
};
use loopgate_api::review_comments::ReviewComments;
use sea_orm::ConnectionTrait;
use sea_orm::prelude::*;
use serde_json::{Map, Value};

use crate::agents::for_loop;
use crate::app::ControlPlaneState;
use crate::auth::Caller;
use crate::change_requests::reviews::{self, LoopReview};
use crate::documents::{self, attachments};
use crate::error::{ApiError, ApiResult, conflict};
use crate::loops::contents;
use crate::loops::create::NewLoop;
use crate::loops::options::SelectedOptions;
use crate::organizations;
use crate::spending;
use crate::store::entity::{agent_loop, document, user};
use crate::store::parse_json;

/// The values of a loop that determine what it runs; of a stored loop, or of one that is about to be stored.
pub struct LaunchInputs {
    organization_id: Uuid,
    user_id: Uuid,
    command: LoopCommand,
    harness: Harness,
    document: Option<(Uuid, i64)>,
    parent_loop_id: Option<Uuid>,
    artifact_slug: Option<String>,
    prompt: Option<String>,
    repo: Option<RepoRef>,
    peers: Vec<RepoRef>,
    options: SelectedOptions,
    review: Option<ReviewComments>,
    approved: Option<BTreeMap<String, String>>,
}

impl LaunchInputs {
    /// Returns the inputs of a stored loop.
    pub async fn of(db: &impl ConnectionTrait, row: &agent_loop::Model) -> ApiResult<Self> {
        Ok(Self {
            organization_id: row.organization_id,
            user_id: row.user_id,
            command: row.command.0,
            harness: row.harness.0,
            document: row.document_id.zip(row.document_version),
            parent_loop_id: row.parent_loop_id,
            artifact_slug: row.artifact_slug.clone(),
            prompt: contents::prompt(db, row.id).await?,
            repo: parse_json(row.repo.as_ref()),
            peers: parse_json(row.additional_repos.as_ref()).unwrap_or_default(),
            options: contents::options(db, row.id).await?,
            review: reviews::of_loop(db, row.id).await?,
            approved: reviews::approved_commits(db, row.id).await?,
        })
    }

    /// Returns the inputs of a loop that its caller is about to create.
    pub fn of_new(caller: &Caller, new: &NewLoop) -> Self {
        Self {
            organization_id: caller.organization_id(),
            user_id: caller.user.id,
            command: new.command,
            harness: new.harness,
            document: new.document,
            parent_loop_id: new.parent_loop_id,
            artifact_slug: new.artifact_slug.clone(),
            prompt: new.prompt.clone(),
            repo: new.repo.clone(),
            peers: new.additional_repos.clone(),
            options: new.options.clone(),
            review: match &new.review {
                Some(LoopReview::New { comments, .. }) => Some(comments.clone()),
                _ => None,
            },
            approved: match &new.review {
                Some(LoopReview::Approval { heads, .. }) => Some(heads.clone()),
                _ => None,
            },
        }
    }

    /// Returns what runs. Returns 409 when the document of an EXECUTE loop is no longer available.
    pub async fn content(self, app: &ControlPlaneState) -> ApiResult<LaunchContent> {
        let db = app.store.reader();
        let (artifacts, attachments) = self.artifacts(app).await?;
        let parent = match self.parent_loop_id {
            Some(id) => agent_loop::Entity::find_by_id(id).one(db).await?,
            None => None,
        };
        let owner = user::Entity::find_by_id(self.user_id).one(db).await?;
        // Only REQUEST_CHANGES continues the assistant's session; EXECUTE starts with a fresh context.
        let session = parent.as_ref().filter(|_| self.command == LoopCommand::RequestChanges);
        let repos: Vec<RepoRef> = self.repo.iter().chain(&self.peers).cloned().collect();
        let agents = for_loop::agents(db, self.organization_id, &repos).await?;
        let budget = spending::budget(db, self.organization_id).await?;
        Ok(LaunchContent {
            command: self.command.to_string(),
            artifacts,
            prompt: self.prompt,
            repo: self.repo,
            committer: owner.map(committer),
            artifact_slug: self.artifact_slug,
            parent_loop_id: self.parent_loop_id.map(|id| id.to_string()),
            parent_branch_name: parent.as_ref().and_then(|parent| parent.branch_name.clone()),
            parent_session_id: session.and_then(|parent| parent.session_id.clone()),
            local_repo_path: None,
            user_context: None,
            additional_repos: if self.command.spec().takes_peers() { self.peers } else { Vec::new() },
            primary_artifact_id: self.document.map(|(id, _)| id.to_string()),
            attachments,
            agents: agents.into_iter().filter(|agent| self.options.includes(&agent.slug)).collect(),
            repo_configs: for_loop::repo_configs(db, self.organization_id, &repos).await?,
            harness: Some(self.harness),
            model: self.options.model,
            hold_pull_request: self.command == LoopCommand::Execute
                && self.approved.is_none()
                && organizations::find_settings(db, self.organization_id).await?.hold_pull_requests,
            approved_commits: self.approved,
            review_comments: self.review,
            self_learning: self.options.self_learning == Some(true),
            max_spend_usd: budget.into_iter().chain(self.options.max_spend_usd).min(),
        })
    }

    /// Returns the loop's document, in the version with which the loop was created, and the documents that it
    /// was derived from, and the files of these documents.
    async fn artifacts(&self, app: &ControlPlaneState) -> ApiResult<(Vec<Artifact>, Vec<Attachment>)> {
        let db = app.store.reader();
        let (mut artifacts, mut files) = (Vec::new(), Vec::new());
        let mut next = self.document.map(|(id, version)| (id, Some(version)));
        while let Some((id, version)) = next {
            let Some(document) = document::Entity::find_by_id(id).one(db).await? else { break };
            next = document.source_document_id.map(|id| (id, None));
            files.extend(attachments::for_launch(db, &app.storage, &document).await?);
            let version = version.unwrap_or(document.current_version);
            let Some(text) = documents::version(db, document.id, version).await? else { continue };
            artifacts.push(Artifact {
                id: document.id.to_string(),
                kind: document.kind.0,
                title: document.title,
                content: text.content,
                raw: parse_json(text.raw.as_ref()),
            });
        }
        let own = self.document.map(|(id, _)| id.to_string());
        let is_missing = own.is_some_and(|id| artifacts.iter().all(|artifact| artifact.id != id));
        if self.command == LoopCommand::Execute && is_missing {
            let text = "Parent loop state is unavailable, cannot resume execution";
            return Err(conflict(text).code(code::PLAN_STATE_UNAVAILABLE));
        }
        Ok((artifacts, files))
    }
}

fn committer(owner: user::Model) -> Committer {
    let name = [owner.first_name, owner.last_name].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let name = if name.trim().is_empty() { owner.email.clone() } else { name };
    Committer { name, email: owner.email }
}

/// Returns 409 when something that a user signed has changed since: the desktop would refuse the launch.
pub fn check_signed(signed: &SignedLaunch, content: &LaunchContent) -> ApiResult<()> {
    let current = match serde_json::to_value(content)? {
        Value::Object(members) => launch_digests(&members),
        _ => launch_digests(&Map::new()),
    };
    let changed = changed_members(&signed.digests, &current);
    if changed.is_empty() {
        return Ok(());
    }
    let names = changed.iter().copied().collect::<Vec<_>>().join(", ");
    let text = format!(
        "What the loop runs has changed since it was displayed: {names}. Reload the page and start it again."
    );
    let data = serde_json::json!({"changed": changed});
    Err(ApiError::typed_conflict(&text, "launch_changed", data))
}
