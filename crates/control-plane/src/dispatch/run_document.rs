//! Start of a loop on a document: determines repository, desktop and parent loop, creates the loop, and
//! launches it in the background.

use std::collections::BTreeMap;

use loopgate_api::command::{InputRequirement, LoopCommand};
use loopgate_api::event::{code, warning};
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::{ArtifactType, LaunchContent, RepoRef, SignedLaunch};
use loopgate_api::usd::Usd;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryOrder};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::launch_content::{LaunchInputs, check_signed};
use super::signing::{self, UserIntentSignature};
use super::{launch, target};
use crate::app::ControlPlaneState;
use crate::auth::Caller;
use crate::change_requests::reviews::{self, LoopReview, ReviewSubmission};
use crate::documents::tree::root_of;
use crate::documents::{self, find, plan_of, slug};
use crate::error::{ApiError, ApiResult, ValidationIssues, bad_request, conflict};
use crate::idempotency::IdempotencyKey;
use crate::loop_state::status_values;
use crate::loops::contents;
use crate::loops::create::{self, LaunchMode, NewLoop, create, earlier};
use crate::loops::options::SelectedOptions;
use crate::loops::view::LoopStartResponse;
use crate::store::column::StoredEnum;
use crate::store::entity::{agent_loop, compute_target, document, ticket, user};
use crate::store::parse_json;
use crate::tickets;

/// Commands that can be started on a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunCommand {
    /// Creates a plan for a document.
    Plan,
    /// Implements a plan and delivers the changes.
    Execute,
    /// Revises a plan as the prompt requests.
    RequestChanges,
    /// Revises a requirements document.
    RequestPrdChanges,
    /// Splits a requirements document into features.
    Decompose,
    /// Evaluates a requirements document.
    EvaluatePrd,
    /// Creates a requirements document.
    GeneratePrd,
    /// Evaluates the plan of a document.
    EvaluatePlan,
    /// Evaluates the changes of a document.
    EvaluateCode,
    /// Evaluates a feature before it is planned.
    EvaluateFeature,
    /// Reviews the changes of a document.
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

/// Request to run a loop on a document.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunLoop {
    /// Command to run on the document.
    pub command: RunCommand,
    /// Additional request in natural language, at most 100,000 characters.
    pub prompt: Option<String>,
    /// Primary repository; by default that of the document.
    pub repo: Option<RepoRef>,
    /// Peer repositories, at most 5; by default those of the ticket or of the earlier loops.
    pub additional_repos: Option<Vec<RepoRef>>,
    /// Id of the desktop; by default chosen among the desktops that are online. `null` requests a cloud
    /// runner.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Uuid>)]
    pub compute_target_id: Option<Option<Uuid>>,
    /// Allows another desktop than that of the parent loop, whose worktree is then not available.
    pub backend_override: Option<bool>,
    /// Allows EXECUTE on a document without a plan: the loop plans and implements it.
    pub without_plan: Option<bool>,
    /// Model of the assistant, for example `opus`; by default that of the loop whose work is continued, else of the
    /// desktop's settings.
    pub model: Option<String>,
    /// Spending limit of the loop in US dollars, in addition to those of the organization and the desktop; by default
    /// that of the loop whose work is continued.
    #[schema(value_type = Option<f64>)]
    pub max_spend_usd: Option<Usd>,
    /// Slugs of the agents for the loop; by default those of the loop whose work is continued, else all that apply to its
    /// repositories.
    pub agents: Option<Vec<String>>,
    /// Whether the loop uses the learnings of earlier loops on its repository; by default that of the loop whose work is
    /// continued, else no.
    pub self_learning: Option<bool>,
    /// Comments of the user that the loop has to answer, only with `execute`. They are sent with the start.
    pub review: Option<ReviewSubmission>,
    /// Approval of the changes of the last `execute`, which has held its pull requests. The loop only opens them. Only with
    /// `execute`.
    pub approve: Option<ApprovedChanges>,
    /// Version of the document that the user has read: of the plan for EXECUTE, REQUEST_CHANGES and
    /// EVALUATE_PLAN. The start is refused when another one is current. May be left out only by the author of
    /// the current version.
    pub version: Option<i64>,
    /// Digests of what the user was shown by the preview; required by desktops that accept only signed
    /// commands. The start is refused when it would run something else.
    pub launch: Option<SignedLaunch>,
    /// Signature of the other members and `documentId` by a browser key; required by desktops that accept
    /// only signed commands.
    pub user_intent_signature: Option<UserIntentSignature>,
}

/// The changes that a user approves.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovedChanges {
    /// Approved commit of each repository, by name. A repository at another commit is not delivered.
    pub heads: BTreeMap<String, String>,
}

/// The intent that a user signs to start a loop.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StartIntent<'a> {
    /// Id or slug of the document, exactly as in the path.
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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_plan: bool,
    #[serde(flatten)]
    options: SelectedOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<&'a ReviewSubmission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approve: Option<&'a ApprovedChanges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<&'a SignedLaunch>,
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
            without_plan: body.without_plan == Some(true),
            options: body.options(),
            review: body.review.as_ref(),
            approve: body.approve.as_ref(),
            version: body.version,
            launch: body.launch.as_ref(),
        }
    }
}

impl RunLoop {
    fn options(&self) -> SelectedOptions {
        SelectedOptions {
            model: self.model.clone(),
            max_spend_usd: self.max_spend_usd,
            agents: self.agents.clone(),
            self_learning: self.self_learning,
        }
    }

    /// Returns what all attempts of a request have in common: it without signature and digests.
    pub fn unsigned(&self) -> impl Serialize {
        StartIntent { launch: None, ..StartIntent::of("", self) }
    }
}

/// Deserializes a member so that `null` (`Some(None)`) differs from an absent member (`None`).
#[expect(clippy::option_option, reason = "left out, null and an id are three different requests")]
fn nullable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Uuid>>, D::Error> {
    Option::<Uuid>::deserialize(deserializer).map(Some)
}

/// What a start on a document would run, for the user to judge and sign.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaunchPreview {
    /// Id of the document that the loop would work on.
    pub document_id: Uuid,
    /// Current version of that document.
    pub version: i64,
    /// The launch request without what is assigned at the launch.
    pub launch: LaunchContent,
}

/// Returns what a start with this body would run.
pub async fn preview(
    app: &ControlPlaneState,
    caller: &Caller,
    id_or_slug: &str,
    body: RunLoop,
) -> ApiResult<LaunchPreview> {
    let db = app.store.reader();
    let document = find(db, caller.organization_id(), id_or_slug).await?;
    let (subject, new, _) = prepare(app, caller, document, body).await?;
    let launch = LaunchInputs::of_new(caller, &new).content(app).await?;
    Ok(LaunchPreview { document_id: subject.id, version: subject.current_version, launch })
}

/// Starts a loop on a document. A repeated request returns the loop of the first one.
pub async fn run(
    app: &ControlPlaneState,
    caller: &Caller,
    id_or_slug: &str,
    key: IdempotencyKey,
    mut body: RunLoop,
) -> ApiResult<LoopStartResponse> {
    let db = app.store.reader();
    let request = key.of(caller, &("run-loop", id_or_slug, body.unsigned()))?;
    // Before all checks: the loop of the earlier attempt is why some of them would fail now.
    if let Some(row) = earlier(db, request.as_ref()).await? {
        return Ok(row.into());
    }
    let document = find(db, caller.organization_id(), id_or_slug).await?;
    let intent = match body.user_intent_signature.take() {
        Some(signed) => {
            let expected = serde_json::to_value(StartIntent::of(id_or_slug, &body))?;
            let mismatch = "Signed run-loop intent does not match request";
            Some(signed.check(db, caller, &expected, mismatch).await?)
        }
        None => None,
    };
    let (version, signed_launch) = (body.version, body.launch.take());
    let (subject, new, desktop) = prepare(app, caller, document, body).await?;
    check_version(db, caller, &subject, version).await?;
    if let Some(signed) = &signed_launch {
        check_signed(signed, &LaunchInputs::of_new(caller, &new).content(app).await?)?;
    }
    signing::require_signature(db, &desktop, intent.is_some()).await?;
    // Older desktops cannot verify intents. They receive an unsigned launch with the complete request body.
    let intent = if signing::verifies_intents(db, &desktop).await? { intent } else { None };
    let launch = if intent.is_some() { LaunchMode::SignedCommand } else { LaunchMode::Command };
    let created = create(app, caller, NewLoop { launch, request, ..new }).await?;
    Ok(launch::spawn_created(app, created, intent))
}

/// Returns the loop that starts on a document that does not exist yet. Returns the error of an unsigned command when
/// the desktop accepts only signed ones: a signature names the document.
pub async fn prepare_new(
    app: &ControlPlaneState,
    caller: &Caller,
    repo: Option<RepoRef>,
    body: RunLoop,
) -> ApiResult<NewLoop> {
    if body.review.is_some() || body.approve.is_some() {
        return Err(review_without_execute());
    }
    let desktop = target::choose(app, caller, body.compute_target_id).await?;
    signing::require_signature(app.store.reader(), &desktop, false).await?;
    let new = NewLoop {
        compute_target_id: Some(desktop.id),
        options: body.options(),
        prompt: body.prompt.filter(|prompt| !prompt.trim().is_empty()),
        repo: body.repo.or(repo),
        additional_repos: body.additional_repos.unwrap_or_default(),
        harness: desktop.selected_harness.0,
        launch: LaunchMode::Command,
        ..NewLoop::of(body.command.into())
    };
    require_repository(new.repo.as_ref(), new.command)?;
    create::check(app, caller, &new).await?;
    Ok(new)
}

/// Inserts the loop of [`prepare_new`] in the transaction that creates its document. `without_plan` is that of the
/// request.
pub async fn insert_new(
    app: &ControlPlaneState,
    tx: &DatabaseTransaction,
    caller: &Caller,
    document: &document::Model,
    new: NewLoop,
    without_plan: bool,
) -> ApiResult<agent_loop::Model> {
    // Fails for commands that need a plan.
    subject(tx, document.clone(), new.command, without_plan).await?;
    let slug = match new.command {
        LoopCommand::Plan => {
            slug(ArtifactType::ImplementationPlan, documents::reserve_plan_number(tx, document).await?)
        }
        _ => document.slug.clone(),
    };
    let document = Some((document.id, document.current_version));
    create::insert_checked(app, tx, caller, NewLoop { document, artifact_slug: Some(slug), ..new }).await
}

/// Determines the document that a loop works on, its inputs, and the desktop that runs it.
async fn prepare(
    app: &ControlPlaneState,
    caller: &Caller,
    document: document::Model,
    body: RunLoop,
) -> ApiResult<(document::Model, NewLoop, compute_target::Model)> {
    let db = app.store.reader();
    let command = LoopCommand::from(body.command);
    let continues = command.spec().needs_parent;
    let subject = subject(db, document, command, body.without_plan == Some(true)).await?;
    let selected = body.options();
    let review = match body.approve {
        Some(approved) => Some(approval(db, &subject, command, approved).await?),
        None => review(db, caller, &subject, command, body.review).await?,
    };
    let desktop = target::choose(app, caller, body.compute_target_id).await?;
    let parent = parent(db, &subject, command).await?;
    let inherited = match parent.as_ref().filter(|_| continues) {
        Some(parent) => contents::options(db, parent.id).await?,
        None => SelectedOptions::default(),
    };
    let options = selected.or(inherited);
    // The worktree of the parent loop exists only on the desktop that ran it.
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
    let prompt = body.prompt.filter(|prompt| !prompt.trim().is_empty());
    let new = NewLoop {
        document: Some((subject.id, subject.current_version)),
        parent_loop_id: parent.filter(|_| continues).map(|row| row.id),
        compute_target_id: Some(desktop.id),
        artifact_slug: Some(artifact_slug(app, &subject, ticket, command).await?),
        options,
        prompt: prompt.or_else(|| match &review {
            Some(LoopReview::New { comments, .. }) => comments.summary.clone(),
            _ => None,
        }),
        review,
        repo,
        additional_repos: peers,
        harness: desktop.selected_harness.0,
        ..NewLoop::of(command)
    };
    Ok((subject, new, desktop))
}

/// Returns the review of a start. Returns 409 when a comment was sent or deleted since.
async fn review(
    db: &impl ConnectionTrait,
    caller: &Caller,
    subject: &document::Model,
    command: LoopCommand,
    submission: Option<ReviewSubmission>,
) -> ApiResult<Option<LoopReview>> {
    let Some(submission) = submission else { return Ok(None) };
    if command != LoopCommand::Execute {
        return Err(review_without_execute());
    }
    submission.check("review")?;
    let document_id = root_of(db, subject.clone()).await?.id;
    let comments = reviews::submitted(db, caller, document_id, &submission).await?;
    Ok(Some(LoopReview::New { document_id, submission, comments }))
}

/// Returns the approval of the changes of the last execution. Returns 409 unless they wait for it.
async fn approval(
    db: &impl ConnectionTrait,
    subject: &document::Model,
    command: LoopCommand,
    approved: ApprovedChanges,
) -> ApiResult<LoopReview> {
    if command != LoopCommand::Execute {
        return Err(review_without_execute());
    }
    let mut issues = ValidationIssues::default();
    reviews::check_heads(&mut issues, "approve.heads", &approved.heads);
    issues.into_result()?;
    let executed = of_chain(subject, &[LoopCommand::Execute], &[LoopStatus::Completed]).one(db).await?;
    let is_held = match executed {
        Some(row) => {
            contents::warnings(db, row.id).await?.iter().any(|warning| warning == warning::PULL_REQUEST_HELD)
        }
        None => false,
    };
    if !is_held {
        return Err(conflict("No changes wait for an approval. Reload the page.").code("nothing_to_approve"));
    }
    let document_id = root_of(db, subject.clone()).await?.id;
    Ok(LoopReview::Approval { document_id, heads: approved.heads })
}

fn review_without_execute() -> ApiError {
    bad_request("review: only execute on an existing document answers the comments of a review")
}

/// Fails with 409 unless the caller has read the current version: names it, or wrote it. The error names who
/// changed the document.
pub async fn check_version(
    db: &impl ConnectionTrait,
    caller: &Caller,
    subject: &document::Model,
    displayed: Option<i64>,
) -> ApiResult<()> {
    let current = subject.current_version;
    if displayed == Some(current) {
        return Ok(());
    }
    let version = documents::current(db, subject).await?;
    let author = match version.and_then(|version| version.user_id) {
        Some(id) => user::Entity::find_by_id(id).one(db).await?,
        None => None,
    };
    if displayed.is_none() && author.as_ref().is_some_and(|author| author.id == caller.user.id) {
        return Ok(());
    }
    let name = author.as_ref().map_or_else(|| "Another user".to_owned(), user::Model::full_name);
    let text = format!(
        "{name} changed {}: version {current} is current. Read it and repeat the request with this version.",
        subject.slug
    );
    let data = json!({
        "documentId": subject.id,
        "displayedVersion": displayed,
        "currentVersion": current,
        "author": author.map(|author| json!({"userId": author.id, "name": author.full_name(), "email": author.email})),
    });
    Err(ApiError::typed_conflict(&text, "document_changed", data))
}

/// Returns the document that a command works on. PLAN works on the source of a plan, EXECUTE on the plan of a
/// document, whichever of the two the path names; on the document itself if the request allows that, or if a loop did
/// so before. A code review works on the plan, when there is one, because its worktree contains the changes.
async fn subject(
    db: &impl ConnectionTrait,
    document: document::Model,
    command: LoopCommand,
    without_plan: bool,
) -> ApiResult<document::Model> {
    let is_plan = document.kind.0 == ArtifactType::ImplementationPlan;
    match command {
        LoopCommand::Plan if is_plan => match document.source_document_id {
            Some(id) => Ok(document::Entity::find_by_id(id).one(db).await?.unwrap_or(document)),
            None => Ok(document),
        },
        LoopCommand::Execute | LoopCommand::RequestChanges | LoopCommand::EvaluatePlan if !is_plan => {
            if let Some(plan) = plan_of(db, document.id).await? {
                return Ok(plan);
            }
            let may_lack_plan = command == LoopCommand::Execute
                && (without_plan
                    || parent(db, &document, command).await?.is_some_and(|row| row.command.0 == command));
            if may_lack_plan {
                return Ok(document);
            }
            let text = "This document has no plan yet. Run plan first.";
            Err(bad_request(text).code(code::PLAN_STATE_UNAVAILABLE))
        }
        LoopCommand::CodeReview if !is_plan => Ok(plan_of(db, document.id).await?.unwrap_or(document)),
        _ => Ok(document),
    }
}

/// Returns the query for loops on a document or on its source, newest first.
fn of_chain(
    subject: &document::Model,
    commands: &[LoopCommand],
    statuses: &[LoopStatus],
) -> Select<agent_loop::Entity> {
    // Loops on a plan and on its source work in the same worktree.
    let chain = [Some(subject.id), subject.source_document_id];
    agent_loop::Entity::find()
        .filter(agent_loop::Column::DocumentId.is_in(chain.into_iter().flatten()))
        .filter(agent_loop::Column::Command.is_in(commands.iter().copied().map(StoredEnum)))
        .filter(agent_loop::Column::Status.is_in(status_values(statuses.iter().copied())))
        .order_by_desc(agent_loop::Column::CreatedAt)
        .order_by_desc(agent_loop::Column::Id)
}

/// Returns the newest completed loop, or else the newest one.
fn preferred(rows: Vec<agent_loop::Model>) -> Option<agent_loop::Model> {
    let completed = rows.iter().position(|row| row.status.0 == LoopStatus::Completed);
    rows.into_iter().nth(completed.unwrap_or(0))
}

/// Returns the loop whose work a command continues.
async fn parent(
    db: &impl ConnectionTrait,
    subject: &document::Model,
    command: LoopCommand,
) -> Result<Option<agent_loop::Model>, DbErr> {
    let continued: &[LoopCommand] = match command {
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
    Ok(preferred(of_chain(subject, continued, &ended).all(db).await?))
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
    let message =
        "The work to continue is on another machine. Start the loop there, or override the machine.";
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
    requested: Option<RepoRef>,
    command: LoopCommand,
) -> ApiResult<Option<RepoRef>> {
    let repo = requested
        .or_else(|| parse_json(subject.repo.as_ref()))
        .or_else(|| parse_json(parent.and_then(|row| row.repo.as_ref())));
    require_repository(repo.as_ref(), command)?;
    Ok(repo)
}

fn require_repository(repo: Option<&RepoRef>, command: LoopCommand) -> ApiResult<()> {
    if repo.is_none() && command.spec().repository == InputRequirement::Required {
        return Err(bad_request(
            "No repository configured. Link a repository to the project or set a target repo on the artifact.",
        ));
    }
    Ok(())
}

/// Returns the peer repositories of the loop that a command inherits them from.
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

/// Returns the slug that names worktree and branch. All loops of a ticket share the ticket's slug. PLAN and
/// EXECUTE share the slug of the plan, and therefore the worktree; for a plan that does not exist yet, its
/// number is reserved.
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
    let kind = ArtifactType::ImplementationPlan;
    if let Some(number) = subject.planned_number {
        return Ok(slug(kind, number));
    }
    // Committed separately: the number stays reserved, so that a preview and all attempts to start name one
    // worktree.
    let tx = app.store.begin().await?;
    let number = documents::reserve_plan_number(&tx, subject).await?;
    tx.commit().await?;
    Ok(slug(kind, number))
}
