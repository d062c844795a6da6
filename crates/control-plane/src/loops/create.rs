//! Creation of a loop. Nothing is dispatched here.
//!
//! The checks run in one transaction that locks the user's row, so that two concurrent requests cannot both
//! take the last free slot.

use loopgate_api::bootstrap::BootstrapOrder;
use loopgate_api::command::LoopCommand;
use loopgate_api::event::code;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::{Harness, RepoRef};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{Condition, ConnectionTrait, DatabaseTransaction, QueryOrder, QuerySelect};
use serde_json::{Map, Value, json};

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::Caller;
use crate::bus::Topic;
use crate::change_requests::reviews::{self, LoopReview, ReviewSubmission};
use crate::change_requests::{self, deletion};
use crate::dispatch::launch_queue;
use crate::error::{ApiError, ApiResult, ValidationIssues, bad_request, conflict};
use crate::idempotency::{self, CreatedRows, KeyedRequest};
use crate::loop_state::{self, ACTIVE, status_values};
use crate::loops::options::SelectedOptions;
use crate::organizations;
use crate::repositories;
use crate::spending;
use crate::store::column::StoredEnum;
use crate::store::entity::change_review::ReviewKind;
use crate::store::entity::{agent_loop, loop_content, user};
use crate::store::{is_duplicate, now};

// Active loops per user, unless the organization sets another limit.
const ACTIVE_LIMIT: u64 = 10;
// A loop that was not dispatched after this many milliseconds releases its document.
const STALE_AFTER: i64 = 30_000;
// Longest prompt, in characters.
const PROMPT_LIMIT: usize = 100_000;
// Peer repositories per loop. Each is cloned on the desktop.
const PEER_LIMIT: usize = 5;
// Length of the excerpt of a prompt in lists, in characters.
const EXCERPT_CHARS: usize = 200;

/// A loop that is not stored yet.
#[derive(Debug, Clone)]
pub struct NewLoop {
    /// Command that the loop carries out.
    pub command: LoopCommand,
    /// Harness that runs it.
    pub harness: Harness,
    /// Document that the loop works on, with its current version.
    pub document: Option<(Uuid, i64)>,
    /// Loop whose work it continues.
    pub parent_loop_id: Option<Uuid>,
    /// Desktop that runs it.
    pub compute_target_id: Option<Uuid>,
    /// Slug that names worktree and branch.
    pub artifact_slug: Option<String>,
    /// Request in natural language.
    pub prompt: Option<String>,
    /// Primary repository of the loop.
    pub repo: Option<RepoRef>,
    /// Peer repositories of the loop.
    pub additional_repos: Vec<RepoRef>,
    /// Documents provided as context.
    pub context_refs: Option<Value>,
    /// What its user selected.
    pub options: SelectedOptions,
    /// Review whose comments the loop has to answer.
    pub review: Option<LoopReview>,
    /// Open object, shown with the loop.
    pub metadata: Value,
    /// How the loop is launched.
    pub launch: LaunchMode,
    /// The request that creates it, if it carries an idempotency key.
    pub request: Option<KeyedRequest>,
}

/// How a new loop is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchMode {
    /// Not at all: its user does the work, or starts it elsewhere.
    None,
    /// With a command to its desktop.
    Command,
    /// With a command that its user has signed.
    SignedCommand,
}

impl NewLoop {
    /// Creates a loop of a command with defaults for all other members.
    pub fn of(command: LoopCommand) -> Self {
        Self {
            command,
            harness: Harness::Assistant,
            document: None,
            parent_loop_id: None,
            compute_target_id: None,
            artifact_slug: None,
            prompt: None,
            repo: None,
            additional_repos: Vec::new(),
            context_refs: None,
            options: SelectedOptions::default(),
            review: None,
            metadata: Value::Object(Map::new()),
            launch: LaunchMode::None,
            request: None,
        }
    }
}

/// Validates prompt and repositories.
pub fn check_inputs(
    issues: &mut ValidationIssues,
    prompt: Option<&str>,
    repo: Option<&RepoRef>,
    peers: &[RepoRef],
) {
    if prompt.is_some_and(|prompt| prompt.chars().count() > PROMPT_LIMIT) {
        issues.push("prompt", format!("must have at most {PROMPT_LIMIT} character(s)"));
    }
    if let Some(repo) = repo {
        check_repo(issues, "repo", repo);
    }
    if peers.len() > PEER_LIMIT {
        issues.push("additionalRepos", format!("must have at most {PEER_LIMIT} item(s)"));
    }
    for (index, peer) in peers.iter().enumerate() {
        let path = format!("additionalRepos.{index}");
        check_repo(issues, &path, peer);
        let earlier = peers[..index].iter().chain(repo);
        if earlier.into_iter().any(|other| other.full_name.eq_ignore_ascii_case(&peer.full_name)) {
            issues.push(format!("{path}.fullName"), format!("Duplicate repository: \"{}\"", peer.full_name));
        }
    }
}

/// Returns the repositories of a BOOTSTRAP loop, which its prompt names.
fn explored(prompt: Option<&str>) -> ApiResult<Vec<RepoRef>> {
    let order = prompt.and_then(|prompt| serde_json::from_str::<BootstrapOrder>(prompt).ok());
    let order = order.ok_or_else(|| bad_request("prompt: must name the repositories to explore"))?;
    let mut issues = ValidationIssues::default();
    let mut repos = Vec::new();
    for (index, repo) in order.repos.iter().enumerate() {
        let repo = RepoRef { full_name: repo.full_name.clone(), branch: String::new() };
        check_repo(&mut issues, &format!("repos.{index}"), &repo);
        repos.push(repo);
    }
    issues.into_result()?;
    Ok(repos)
}

fn check_repo(issues: &mut ValidationIssues, path: &str, repo: &RepoRef) {
    if let Err(error) = repo.full_name.parse::<loopgate_api::ids::RepoFullName>() {
        issues.push(format!("{path}.fullName"), error.to_string());
    }
    if !repo.branch.is_empty()
        && let Err(error) = repo.branch.parse::<loopgate_api::ids::BranchName>()
    {
        issues.push(format!("{path}.branch"), error.to_string());
    }
}

/// A loop that a request created.
pub enum CreatedLoop {
    /// Created by this request. The caller launches it.
    New(agent_loop::Model),
    /// Created by an earlier attempt of the same request.
    Earlier(agent_loop::Model),
}

/// Returns the loop that an earlier attempt of a request created.
pub async fn earlier(
    db: &impl ConnectionTrait,
    request: Option<&KeyedRequest>,
) -> ApiResult<Option<agent_loop::Model>> {
    match idempotency::earlier(db, request).await?.loop_id {
        Some(id) => Ok(agent_loop::Entity::find_by_id(id).one(db).await?),
        None => Ok(None),
    }
}

/// Creates a loop. Returns 429 when the user has too many active loops, and 409 when the document already has
/// an active loop of the command.
pub async fn create(app: &ControlPlaneState, caller: &Caller, new: NewLoop) -> ApiResult<CreatedLoop> {
    check(app, caller, &new).await?;
    let tx = begin(app, caller).await?;
    if let Some(row) = earlier(&tx, new.request.as_ref()).await? {
        return Ok(CreatedLoop::Earlier(row));
    }
    let row = insert_checked(app, &tx, caller, new).await?;
    tx.commit().await?;
    app.bus.publish(Topic::Organization(row.organization_id));
    Ok(CreatedLoop::New(row))
}

/// Validates the inputs of a loop, and whether its repositories may be used.
pub async fn check(app: &ControlPlaneState, caller: &Caller, new: &NewLoop) -> ApiResult<()> {
    let mut issues = ValidationIssues::default();
    check_inputs(&mut issues, new.prompt.as_deref(), new.repo.as_ref(), &new.additional_repos);
    new.options.check(&mut issues);
    issues.into_result()?;
    repositories::authorize(app, &caller.organization, new.repo.as_ref(), &new.additional_repos).await?;
    if new.command == LoopCommand::Bootstrap {
        let explored = explored(new.prompt.as_deref())?;
        repositories::authorize(app, &caller.organization, None, &explored).await?;
    }
    Ok(())
}

/// Begins a transaction that creates a loop. Serializes the creation of loops per user, so that its checks see all
/// earlier loops.
pub async fn begin(app: &ControlPlaneState, caller: &Caller) -> Result<DatabaseTransaction, DbErr> {
    let tx = app.store.begin().await?;
    user::Entity::find_by_id(caller.user.id).lock_exclusive().one(&tx).await?;
    Ok(tx)
}

/// Inserts a loop that [`check`] accepted, its launch, and the key of its request.
pub async fn insert_checked(
    app: &ControlPlaneState,
    tx: &DatabaseTransaction,
    caller: &Caller,
    mut new: NewLoop,
) -> ApiResult<agent_loop::Model> {
    if let Some((document, _)) = new.document {
        deletion::lock(tx, document).await?;
        release_stale(tx, document, new.command).await?;
    }
    check_capacity(tx, caller).await?;
    spending::check(tx, &caller.organization).await?;
    if let Some((document, _)) = new.document {
        check_manual(tx, caller, document, new.command).await?;
        check_slot(tx, document, new.command).await?;
    }
    let (command, launch, request) = (new.command, new.launch, new.request.take());
    let review = new.review.take();
    let details = json!({
        "command": command,
        "computeTargetId": new.compute_target_id,
        "documentId": new.document.map(|(id, _)| id),
        "parentLoopId": new.parent_loop_id,
    });
    // The unique partial index still decides between two users who start the same command on one document.
    match insert(tx, caller, new).await {
        Ok(row) => {
            let organization = caller.organization_id();
            caller.actor().record(tx, organization, AuditAction::LoopStarted, row.id, details).await?;
            match review {
                Some(LoopReview::New { document_id, submission, .. }) => {
                    let kind = ReviewKind::RequestChanges;
                    reviews::finish(tx, caller, document_id, kind, submission, Some(row.id)).await?;
                }
                Some(LoopReview::Approval { document_id, heads }) => {
                    let submission = ReviewSubmission { comment_ids: Vec::new(), summary: None, heads };
                    let kind = ReviewKind::Approve;
                    reviews::finish(tx, caller, document_id, kind, submission, Some(row.id)).await?;
                }
                Some(LoopReview::Of(earlier)) => reviews::reassign(tx, earlier, row.id).await?,
                None => {}
            }
            if launch != LaunchMode::None {
                launch_queue::insert(app, tx, &row, launch == LaunchMode::SignedCommand).await?;
            }
            if let Some(request) = request {
                let created = CreatedRows { document_id: row.document_id, loop_id: Some(row.id) };
                request.store(tx, created).await?;
            }
            Ok(row)
        }
        Err(error) if is_duplicate(&error) => {
            Err(conflict(format!("A {command} loop is already active for this document"))
                .code("loop_already_active"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Fails loops that were never dispatched, for example after a crash, so that they do not block the document.
async fn release_stale(tx: &DatabaseTransaction, document: Uuid, command: LoopCommand) -> Result<(), DbErr> {
    let stale = of_document(document, command)
        .filter(status_in([LoopStatus::Pending, LoopStatus::Claimed]))
        // `container_id` is set as soon as the desktop has the command.
        .filter(agent_loop::Column::ContainerId.is_null())
        .filter(agent_loop::Column::CreatedAt.lt(now() - STALE_AFTER))
        .all(tx)
        .await?;
    for row in stale {
        loop_state::fail(tx, row.id, code::STALE_DISPATCH, "Loop was never dispatched").await?;
    }
    Ok(())
}

fn of_document(document: Uuid, command: LoopCommand) -> Select<agent_loop::Entity> {
    agent_loop::Entity::find()
        .filter(agent_loop::Column::DocumentId.eq(document))
        .filter(agent_loop::Column::Command.eq(StoredEnum(command)))
}

fn status_in(statuses: impl IntoIterator<Item = LoopStatus>) -> Condition {
    Condition::all().add(agent_loop::Column::Status.is_in(status_values(statuses)))
}

async fn check_capacity(tx: &DatabaseTransaction, caller: &Caller) -> ApiResult<()> {
    let limit = organizations::settings(&caller.organization).max_concurrent_loops;
    let limit = limit.filter(|limit| *limit > 0).unwrap_or(ACTIVE_LIMIT);
    let active = agent_loop::Entity::find()
        .filter(agent_loop::Column::UserId.eq(caller.user.id))
        .filter(status_in(ACTIVE))
        .count(tx)
        .await?;
    if active < limit {
        return Ok(());
    }
    let text = format!(
        "Too many active loops ({active}). Maximum {limit} concurrent loops allowed. \
         Wait for existing loops to complete or cancel them."
    );
    Err(ApiError::new(http::StatusCode::TOO_MANY_REQUESTS, text))
}

async fn check_manual(
    tx: &DatabaseTransaction,
    caller: &Caller,
    document: Uuid,
    command: LoopCommand,
) -> ApiResult<()> {
    if command != LoopCommand::Manual {
        return Ok(());
    }
    let other = agent_loop::Entity::find()
        .filter(agent_loop::Column::DocumentId.eq(document))
        .filter(agent_loop::Column::UserId.eq(caller.user.id))
        .filter(status_in(ACTIVE))
        .count(tx)
        .await?;
    if other == 0 { Ok(()) } else { Err(conflict("Another loop is running on this document")) }
}

async fn check_slot(tx: &DatabaseTransaction, document: Uuid, command: LoopCommand) -> ApiResult<()> {
    // A document may have several active chats; the unique index exempts them as well.
    if command == LoopCommand::Chat {
        return Ok(());
    }
    let holder = of_document(document, command)
        .filter(status_in(ACTIVE))
        .order_by_desc(agent_loop::Column::CreatedAt)
        .one(tx)
        .await?;
    let Some(holder) = holder else { return Ok(()) };
    let data = json!({"loopId": holder.id, "command": command, "status": holder.status.0});
    let text = format!("A {command} loop is already active for this document");
    Err(ApiError::typed_conflict(&text, "loop_already_active", data))
}

async fn insert(tx: &DatabaseTransaction, caller: &Caller, new: NewLoop) -> Result<agent_loop::Model, DbErr> {
    // The user does the work of a MANUAL loop, so nothing is dispatched and it starts immediately.
    let running = new.command == LoopCommand::Manual;
    let json = |error: serde_json::Error| DbErr::Json(error.to_string());
    let repo = new.repo.map(serde_json::to_value).transpose().map_err(json)?;
    let peers = (!new.additional_repos.is_empty()).then(|| serde_json::to_value(&new.additional_repos));
    let options = (new.options != SelectedOptions::default()).then(|| serde_json::to_value(&new.options));
    let id = Uuid::now_v7();
    let excerpt = new.prompt.as_ref().map(|prompt| prompt.chars().take(EXCERPT_CHARS).collect());
    let row = agent_loop::ActiveModel {
        id: Set(id),
        organization_id: Set(caller.organization_id()),
        user_id: Set(caller.user.id),
        status: Set(StoredEnum(if running { LoopStatus::Running } else { LoopStatus::Pending })),
        command: Set(StoredEnum(new.command)),
        harness: Set(StoredEnum(new.harness)),
        document_id: Set(new.document.map(|(id, _)| id)),
        document_version: Set(new.document.map(|(_, version)| version)),
        parent_loop_id: Set(new.parent_loop_id),
        compute_target_id: Set(new.compute_target_id),
        artifact_slug: Set(new.artifact_slug),
        prompt_excerpt: Set(excerpt),
        repo: Set(repo),
        additional_repos: Set(peers.transpose().map_err(json)?),
        tokens_input: Set(0),
        tokens_output: Set(0),
        cache_creation_tokens: Set(0),
        cache_read_tokens: Set(0),
        runner_capabilities: Set(json!({})),
        last_sequence: Set(0),
        started_at: Set(running.then(now)),
        created_at: Set(now()),
        updated_at: Set(now()),
        ..Default::default()
    };
    let row = agent_loop::Entity::insert(row).exec_with_returning(tx).await?;
    let content = loop_content::ActiveModel {
        loop_id: Set(id),
        prompt: Set(new.prompt),
        context_refs: Set(new.context_refs),
        metadata: Set(new.metadata),
        options: Set(options.transpose().map_err(json)?),
        ..Default::default()
    };
    loop_content::Entity::insert(content).exec_without_returning(tx).await?;
    change_requests::refresh_of_loop(tx, id).await?;
    Ok(row)
}
