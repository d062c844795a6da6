//! Starts a loop about a document: finds the repository, the desktop and the work to continue,
//! makes the record, and leaves the dispatch to the background.

use loopgate_api::command::{InputRequirement, LoopCommand};
use loopgate_api::event::code;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::{ArtifactType, RepoRef};
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, QueryOrder};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::signing::{self, UserIntentSignature};
use super::{launch, target};
use crate::app::ControlPlaneState;
use crate::auth::Caller;
use crate::documents::{find, next_number, plan_of, slug};
use crate::error::{ApiError, ApiResult, bad_request};
use crate::loop_state::stored_statuses;
use crate::loops::create::{NewLoop, create};
use crate::loops::view::LoopStartResponse;
use crate::store::column::StoredEnum;
use crate::store::entity::{agent_loop, compute_target, document, ticket};
use crate::store::parse_json;
use crate::tickets;

/// Commands that can be started from a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunCommand {
    /// Writes a plan.
    Plan,
    /// Carries a plan out.
    Execute,
    /// Changes a plan.
    RequestChanges,
    /// Changes requirements.
    RequestPrdChanges,
    /// Splits requirements into features.
    Decompose,
    /// Judges requirements.
    EvaluatePrd,
    /// Writes requirements.
    GeneratePrd,
    /// Judges a plan.
    EvaluatePlan,
    /// Judges code.
    EvaluateCode,
    /// Judges a feature.
    EvaluateFeature,
    /// Reviews code.
    CodeReview,
}

impl From<RunCommand> for LoopCommand {
    fn from(command: RunCommand) -> Self {
        match command {
            RunCommand::Plan => Self::Plan,
            RunCommand::Execute => Self::Execute,
            RunCommand::RequestChanges => Self::RequestChanges,
            RunCommand::RequestPrdChanges => Self::RequestPrdChanges,
            RunCommand::Decompose => Self::Decompose,
            RunCommand::EvaluatePrd => Self::EvaluatePrd,
            RunCommand::GeneratePrd => Self::GeneratePrd,
            RunCommand::EvaluatePlan => Self::EvaluatePlan,
            RunCommand::EvaluateCode => Self::EvaluateCode,
            RunCommand::EvaluateFeature => Self::EvaluateFeature,
            RunCommand::CodeReview => Self::CodeReview,
        }
    }
}

/// What is to be run.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunLoop {
    /// The command.
    pub command: RunCommand,
    /// The wish in plain words; at most 100 000 characters.
    pub prompt: Option<String>,
    /// Instead of the document's repository.
    pub repo: Option<RepoRef>,
    /// Peers, at most 5; left out, those of the ticket or of the earlier loops are taken.
    pub additional_repos: Option<Vec<RepoRef>>,
    /// The desktop; left out, the best one that is online. `null` asks for a cloud.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Uuid>)]
    pub compute_target_id: Option<Option<Uuid>>,
    /// Runs on another desktop than the work that is continued.
    pub backend_override: Option<bool>,
    /// The other members and `documentId`, signed by a browser key for a desktop that demands it.
    pub user_intent_signature: Option<UserIntentSignature>,
}

/// What a person signs to start a loop.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StartIntent<'a> {
    /// As the path names it.
    document_id: &'a str,
    command: RunCommand,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compute_target_id: Option<Uuid>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    backend_override: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<&'a RepoRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_repos: Option<&'a [RepoRef]>,
}

impl<'a> StartIntent<'a> {
    fn of(document_id: &'a str, body: &'a RunLoop) -> Self {
        Self {
            document_id,
            command: body.command,
            prompt: body.prompt.as_deref(),
            compute_target_id: body.compute_target_id.flatten(),
            backend_override: body.backend_override == Some(true),
            repo: body.repo.as_ref(),
            additional_repos: body.additional_repos.as_deref(),
        }
    }
}

/// Tells `null` from a member that is left out.
#[expect(clippy::option_option, reason = "left out, null and an id are three different wishes")]
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Uuid>>, D::Error> {
    Option::<Uuid>::deserialize(deserializer).map(Some)
}

/// Starts a loop about a document.
pub async fn run(
    app: &ControlPlaneState,
    caller: &Caller,
    id_or_slug: &str,
    body: RunLoop,
) -> ApiResult<LoopStartResponse> {
    let db = app.store.reader();
    let named = find(db, caller.organization_id(), id_or_slug).await?;
    let intent = match body.user_intent_signature.clone() {
        Some(signed) => {
            let expected = serde_json::to_value(StartIntent::of(id_or_slug, &body))?;
            let mismatch = "Signed run-loop intent does not match request";
            Some(signed.check(db, caller, &expected, mismatch).await?)
        }
        None => None,
    };
    let command = LoopCommand::from(body.command);
    let continues = command.spec().needs_parent;
    let subject = subject(db, named, command).await?;
    let desktop = target::choose(app, caller, body.compute_target_id).await?;
    signing::demand(db, &desktop, intent.is_some()).await?;
    let intent = if signing::takes_intents(db, &desktop).await? { intent } else { None };
    let parent = parent(db, &subject, command).await?;
    if continues && !body.backend_override.unwrap_or(false) {
        check_machine(db, &subject, parent.as_ref(), &desktop).await?;
    }
    let repo = repository(&subject, parent.as_ref(), body.repo, command)?;
    let ticket = tickets::of_document(db, &subject).await?;
    let peers = match body.additional_repos {
        Some(peers) => peers,
        None => match &ticket {
            Some(ticket) if command == LoopCommand::Plan => tickets::peers(ticket),
            _ => inherited_peers(db, &subject, command).await?,
        },
    };
    let new = NewLoop {
        document: Some((subject.id, subject.current_version)),
        parent_loop_id: parent.filter(|_| continues).map(|row| row.id),
        compute_target_id: Some(desktop.id),
        artifact_slug: Some(artifact_slug(app, &subject, ticket, command).await?),
        prompt: body.prompt.filter(|prompt| !prompt.trim().is_empty()),
        repo,
        additional_repos: peers,
        harness: desktop.selected_harness.0,
        ..NewLoop::of(command)
    };
    let row = create(app, caller, new).await?;
    launch::spawn(app, row.id, intent);
    Ok(LoopStartResponse { loop_id: row.id, status: row.status.0 })
}

/// The document that a command works on: a plan is made from its source, and carried out from
/// the plan, whichever of the two was named. The work that is reviewed is where a plan was carried
/// out, when there is one.
async fn subject(
    db: &impl ConnectionTrait,
    named: document::Model,
    command: LoopCommand,
) -> ApiResult<document::Model> {
    let is_plan = named.kind.0 == ArtifactType::ImplementationPlan;
    match command {
        LoopCommand::Plan if is_plan => match named.source_document_id {
            Some(id) => Ok(document::Entity::find_by_id(id).one(db).await?.unwrap_or(named)),
            None => Ok(named),
        },
        LoopCommand::Execute | LoopCommand::RequestChanges | LoopCommand::EvaluatePlan if !is_plan => {
            plan_of(db, named.id).await?.ok_or_else(|| {
                bad_request("This document has no plan yet. Run plan first.")
                    .code(code::PLAN_STATE_UNAVAILABLE)
            })
        }
        LoopCommand::CodeReview if !is_plan => Ok(plan_of(db, named.id).await?.unwrap_or(named)),
        _ => Ok(named),
    }
}

/// Loops about a document or about the one it was made from, newest first.
fn of_chain(
    subject: &document::Model,
    commands: &[LoopCommand],
    statuses: &[LoopStatus],
) -> Select<agent_loop::Entity> {
    let chain = [Some(subject.id), subject.source_document_id];
    agent_loop::Entity::find()
        .filter(agent_loop::Column::DocumentId.is_in(chain.into_iter().flatten()))
        .filter(agent_loop::Column::Command.is_in(commands.iter().copied().map(StoredEnum)))
        .filter(agent_loop::Column::Status.is_in(stored_statuses(statuses.iter().copied())))
        .order_by_desc(agent_loop::Column::CreatedAt)
        .order_by_desc(agent_loop::Column::Id)
}

/// The newest one that completed, else the newest.
fn preferred(rows: Vec<agent_loop::Model>) -> Option<agent_loop::Model> {
    let completed = rows.iter().position(|row| row.status.0 == LoopStatus::Completed);
    rows.into_iter().nth(completed.unwrap_or(0))
}

/// The loop whose work a command continues.
async fn parent(
    db: &impl ConnectionTrait,
    subject: &document::Model,
    command: LoopCommand,
) -> Result<Option<agent_loop::Model>, DbErr> {
    let before: &[LoopCommand] = match command {
        LoopCommand::RequestPrdChanges => &[LoopCommand::GeneratePrd, LoopCommand::RequestPrdChanges],
        LoopCommand::RequestChanges => &[LoopCommand::Plan, LoopCommand::RequestChanges],
        _ => &[LoopCommand::Plan, LoopCommand::RequestChanges, LoopCommand::Execute],
    };
    let ended = [
        LoopStatus::Completed,
        LoopStatus::Cancelled,
        LoopStatus::Failed,
        LoopStatus::TimedOut,
        LoopStatus::AwaitingUser,
    ];
    Ok(preferred(of_chain(subject, before, &ended).all(db).await?))
}

async fn check_machine(
    db: &impl ConnectionTrait,
    subject: &document::Model,
    parent: Option<&agent_loop::Model>,
    target: &compute_target::Model,
) -> ApiResult<()> {
    let original = parent.and_then(|row| row.compute_target_id).filter(|id| *id != target.id);
    let Some(original) = original else { return Ok(()) };
    let name = compute_target::Entity::find_by_id(original).one(db).await?.map(|row| row.machine_name);
    let message = "The work that this continues lies on another machine.";
    let data = json!({
        "message": message,
        "originalComputeTargetId": original,
        "originalComputeTargetName": name,
        "preferredComputeTargetId": target.id,
        "documentId": subject.id,
    });
    Err(ApiError::typed_conflict(message, "backend_mismatch", data))
}

fn repository(
    subject: &document::Model,
    parent: Option<&agent_loop::Model>,
    given: Option<RepoRef>,
    command: LoopCommand,
) -> ApiResult<Option<RepoRef>> {
    let repo = given
        .or_else(|| parse_json(subject.repo.as_ref()))
        .or_else(|| parse_json(parent.and_then(|row| row.repo.as_ref())));
    if repo.is_none() && command.spec().repository == InputRequirement::Required {
        return Err(bad_request(
            "No repository configured. Link a repository to the project or set a target repo on the artifact.",
        ));
    }
    Ok(repo)
}

/// Peers of the loop that a command takes them over from.
async fn inherited_peers(
    db: &impl ConnectionTrait,
    subject: &document::Model,
    command: LoopCommand,
) -> ApiResult<Vec<RepoRef>> {
    let from: &[LoopCommand] = match command {
        LoopCommand::Plan => &[LoopCommand::Plan, LoopCommand::GeneratePrd],
        LoopCommand::GeneratePrd | LoopCommand::RequestPrdChanges => &[LoopCommand::GeneratePrd],
        LoopCommand::Execute => &[LoopCommand::Plan, LoopCommand::Execute],
        _ => return Ok(Vec::new()),
    };
    let ended =
        [LoopStatus::Completed, LoopStatus::Cancelled, LoopStatus::TimedOut, LoopStatus::AwaitingUser];
    match preferred(of_chain(subject, from, &ended).all(db).await?).and_then(|row| row.additional_repos) {
        Some(peers) => Ok(serde_json::from_value(peers)?),
        None => Ok(Vec::new()),
    }
}

/// The slug that names worktree and branch. All loops of a ticket share the ticket's. Making a plan and
/// carrying it out share the slug of the plan, so they share the worktree; for a plan that does not exist yet its
/// number is taken in advance.
async fn artifact_slug(
    app: &ControlPlaneState,
    subject: &document::Model,
    ticket: Option<ticket::Model>,
    command: LoopCommand,
) -> ApiResult<String> {
    if let Some(ticket) = ticket {
        return Ok(ticket.slug);
    }
    if command != LoopCommand::Plan || subject.kind.0 == ArtifactType::ImplementationPlan {
        return Ok(subject.slug.clone());
    }
    if let Some(plan) = plan_of(app.store.reader(), subject.id).await? {
        return Ok(plan.slug);
    }
    let earlier = agent_loop::Entity::find()
        .filter(agent_loop::Column::DocumentId.eq(subject.id))
        .filter(agent_loop::Column::Command.eq(StoredEnum(LoopCommand::Plan)))
        .filter(agent_loop::Column::ArtifactSlug.is_not_null())
        .order_by_desc(agent_loop::Column::CreatedAt)
        .one(app.store.reader())
        .await?;
    if let Some(reserved) = earlier.and_then(|row| row.artifact_slug) {
        return Ok(reserved);
    }
    let kind = ArtifactType::ImplementationPlan;
    let tx = app.store.begin().await?;
    let number = next_number(&tx, subject.organization_id, kind).await?;
    tx.commit().await?;
    Ok(slug(kind, number))
}
