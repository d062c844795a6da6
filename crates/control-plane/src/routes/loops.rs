//! Loops: create, list, get, cancel and resume.

use std::collections::HashMap;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use http::StatusCode;
use http::request::Parts;
use loopgate_api::command::LoopCommand;
use loopgate_api::launch::{Harness, RepoRef};
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::{AdminSessionAuth, ReaderAuth, UserAuth, runner};
use crate::change_requests::reviews::LoopReview;
use crate::credentials::header::bearer;
use crate::credentials::runner_token;
use crate::dispatch::signing::UserIntentSignature;
use crate::dispatch::{self, cancel};
use crate::documents;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues, conflict};
use crate::extract::{Body, Id, OptionalBody, Query};
use crate::idempotency::IdempotencyKey;
use crate::loops::create::{CreatedLoop, LaunchMode, NewLoop, create as create_loop, earlier};
use crate::loops::list::{self, LoopPage, LoopQuery};
use crate::loops::summaries::{DocumentSummary, summarize};
use crate::loops::view::{LoopDetail, LoopStartResponse, RunnerView, RuntimeView, detail};
use crate::loops::{self, contents};
use crate::store::entity::{agent_loop, loop_content};
use crate::store::parse_json;

/// A document provided as context.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextRef {
    /// Id of the document.
    pub source_id: Uuid,
    /// Kind of the source; always `DOCUMENT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_type: Option<String>,
    /// Extent of the content: `full` or `summary`.
    pub include: String,
}

/// Request to create a loop.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateLoop {
    /// Command that the loop carries out.
    pub command: LoopCommand,
    /// Harness that runs the loop; the default harness when absent.
    pub harness: Option<Harness>,
    /// Id or slug of the document that the loop works on.
    pub document_id: Option<String>,
    /// Prompt, at most 100,000 characters.
    pub prompt: Option<String>,
    /// Primary repository of the loop.
    pub repo: Option<RepoRef>,
    /// Peer repositories, at most 5.
    pub additional_repos: Option<Vec<RepoRef>>,
    /// Documents provided as context.
    pub context_refs: Option<Vec<ContextRef>>,
}

/// Creates a loop without launching it. With the header `Idempotency-Key`, a repeated request within 24 hours returns
/// the loop of the first one.
#[utoipa::path(post, path = "/loops", tag = "loops", request_body = CreateLoop,
    responses((status = 200, body = Data<LoopStartResponse>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    key: IdempotencyKey,
    Body(body): Body<CreateLoop>,
) -> ApiResult<Data<LoopStartResponse>> {
    let created = async {
        let request = key.of(&caller, &("create", &body))?;
        let document = match &body.document_id {
            Some(id) => {
                let document = documents::find(app.store.reader(), caller.organization_id(), id).await?;
                Some((document.id, document.current_version))
            }
            None => None,
        };
        let new = NewLoop {
            document,
            harness: body.harness.unwrap_or_default(),
            prompt: body.prompt,
            repo: body.repo,
            additional_repos: body.additional_repos.unwrap_or_default(),
            context_refs: body.context_refs.map(serde_json::to_value).transpose()?,
            request,
            ..NewLoop::of(body.command)
        };
        create_loop(&app, &caller, new).await
    };
    match created.await.context("Failed to create loop")? {
        CreatedLoop::New(row) | CreatedLoop::Earlier(row) => Ok(Data::new(row.into())),
    }
}

/// Lists the loops of the organization, newest first.
#[utoipa::path(get, path = "/loops", tag = "loops", params(LoopQuery),
    responses((status = 200, body = LoopPage), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Query(query): Query<LoopQuery>,
) -> ApiResult<Json<LoopPage>> {
    let page = list::page(app.store.reader(), caller.organization_id(), query).await;
    page.context("Failed to fetch loops").map(Json)
}

/// Documents to summarize the loops of.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummariesQuery {
    /// Ids of 1 to 100 documents.
    pub document_ids: Vec<Uuid>,
}

/// Principal that reads a loop: a user of its organization, or its runner.
pub enum Viewer {
    /// Sees all details of the loop.
    User(Box<UserAuth>),
    /// Sees only the status of the loop.
    Runner(Box<runner_token::RunnerTokenClaims>),
}

impl FromRequestParts<ControlPlaneState> for Viewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        // The form of the bearer token decides which kind of credential is verified.
        if bearer(&parts.headers).is_some_and(runner_token::looks_like_token) {
            let runner::RunnerClaims(claims) = runner::RunnerClaims::from_request_parts(parts, app).await?;
            return Ok(Self::Runner(Box::new(claims)));
        }
        UserAuth::from_request_parts(parts, app).await.map(|any| Self::User(Box::new(any)))
    }
}

/// View of a loop, depending on the principal.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum LoopView {
    /// View for users of the organization.
    Detail(Box<LoopDetail>),
    /// View for the loop's own runner.
    Runner(RunnerView),
}

/// Returns a loop. A runner token sees only the status.
#[utoipa::path(get, path = "/loops/{id}", tag = "loops", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<LoopDetail>), ErrorResponses))]
pub async fn get(State(app): State<ControlPlaneState>, viewer: Viewer, id: Id) -> ApiResult<Data<LoopView>> {
    let read = async {
        let db = app.store.reader();
        match viewer {
            Viewer::Runner(claims) => {
                let row = runner::loop_of(&app.store, &claims).await?;
                Ok(LoopView::Runner(RunnerView::from(&row)))
            }
            Viewer::User(any) => {
                let UserAuth(caller) = *any;
                let row = loops::find(db, caller.organization_id(), id.or_unknown("Loop")?).await?;
                Ok(LoopView::Detail(Box::new(detail(db, row).await?)))
            }
        }
    };
    read.await.context("Failed to fetch loop").map(Data::new)
}

/// Returns the connection state of a loop's runner; for administrators.
#[utoipa::path(get, path = "/loops/{id}/runtime", operation_id = "loop_runtime", tag = "loops", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<RuntimeView>), ErrorResponses))]
pub async fn runtime(
    State(app): State<ControlPlaneState>,
    AdminSessionAuth(caller): AdminSessionAuth,
    id: Id,
) -> ApiResult<Data<RuntimeView>> {
    let row = loops::find(app.store.reader(), caller.organization_id(), id.or_unknown("Loop")?).await;
    row.context("Failed to fetch loop").map(|row| Data::new(row.into()))
}

/// Summarizes the loops of documents: for each document the active loop, the last completed and the last
/// failed one, including loops of documents that were derived from it.
#[utoipa::path(post, path = "/loops/summaries", operation_id = "loop_summaries", tag = "loops", request_body = SummariesQuery,
    responses((status = 200, body = Data<HashMap<Uuid, DocumentSummary>>), ErrorResponses))]
pub async fn summaries(
    State(app): State<ControlPlaneState>,
    ReaderAuth(caller): ReaderAuth,
    Body(body): Body<SummariesQuery>,
) -> ApiResult<Data<HashMap<Uuid, DocumentSummary>>> {
    let mut issues = ValidationIssues::default();
    issues.require((1..=100).contains(&body.document_ids.len()), "documentIds", "must have 1 to 100 items");
    issues.into_result()?;
    let read = summarize(app.store.reader(), caller.organization_id(), &body.document_ids).await;
    read.map_err(ApiError::from).context("Failed to fetch loop summaries").map(Data::new)
}

/// Options of a cancellation.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelLoop {
    /// Signature of the intent `{loopId}` by a browser key; required by desktops that accept only signed
    /// commands.
    pub user_intent_signature: Option<UserIntentSignature>,
}

/// Cancels a loop. Returns 409 when it has a terminal status.
#[utoipa::path(post, path = "/loops/{id}/cancel", tag = "loops", params(("id" = Uuid, Path)), request_body = Option<CancelLoop>,
    responses((status = 200, body = Data<LoopDetail>), ErrorResponses))]
pub async fn cancel(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    OptionalBody(body): OptionalBody<CancelLoop>,
) -> ApiResult<Data<LoopDetail>> {
    let cancelled = async {
        let db = app.store.reader();
        let row = loops::find(db, caller.organization_id(), id.or_unknown("Loop")?).await?;
        let intent = match body.user_intent_signature {
            Some(signed) => {
                let mismatch = "Signed cancel intent does not match loop";
                Some(signed.check(db, &caller, &json!({"loopId": row.id}), mismatch).await?)
            }
            None => None,
        };
        let row = cancel::cancel(&app, row, intent, &caller.actor()).await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    cancelled.await.context("Failed to cancel loop").map(Data::new)
}

/// Cancels a loop; same as `POST /loops/{id}/cancel`.
#[utoipa::path(delete, path = "/loops/{id}", tag = "loops", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<LoopDetail>), ErrorResponses))]
pub async fn delete(app: State<ControlPlaneState>, caller: UserAuth, id: Id) -> ApiResult<Data<LoopDetail>> {
    cancel(app, caller, id, OptionalBody(CancelLoop::default())).await
}

/// Options for resuming a loop.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResumeLoop {
    /// Id of the desktop; by default chosen among the desktops that are online.
    pub compute_target_id: Option<Uuid>,
    /// Prompt that replaces the previous one.
    pub prompt: Option<String>,
}

/// Resumes a finished loop: creates a child loop with the same inputs and launches it. With the header
/// `Idempotency-Key`, a repeated request within 24 hours returns the loop of the first one.
#[utoipa::path(post, path = "/loops/{id}/resume", tag = "loops", params(("id" = Uuid, Path)), request_body = Option<ResumeLoop>,
    responses((status = 200, body = Data<LoopStartResponse>), ErrorResponses))]
pub async fn resume(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    key: IdempotencyKey,
    OptionalBody(body): OptionalBody<ResumeLoop>,
) -> ApiResult<Data<LoopStartResponse>> {
    let resumed = async {
        let request = key.of(&caller, &("resume", id.0, &body))?;
        if let Some(row) = earlier(app.store.reader(), request.as_ref()).await? {
            return Ok(row.into());
        }
        let row = loops::find(app.store.reader(), caller.organization_id(), id.or_unknown("Loop")?).await?;
        if row.user_id != caller.user.id {
            return Err(ApiError::new(StatusCode::FORBIDDEN, "You can only resume your own loops"));
        }
        if !row.status.0.is_terminal() {
            return Err(conflict(format!(
                "Cannot resume loop in {} status. Only CANCELLED, COMPLETED, FAILED, or TIMED_OUT loops can be resumed.",
                row.status.0.as_str()
            )));
        }
        let content = contents::find(app.store.reader(), row.id).await?;
        let target = dispatch::target::choose(&app, &caller, body.compute_target_id.map(Some)).await?;
        dispatch::signing::require_signature(app.store.reader(), &target, false).await?;
        let new = NewLoop { request, ..child_of(row, content, target.id, body.prompt)? };
        let child = create_loop(&app, &caller, new).await?;
        Ok(dispatch::launch::spawn_created(&app, child, None))
    };
    resumed.await.context("Failed to resume loop").map(Data::new)
}

fn child_of(
    row: agent_loop::Model,
    content: loop_content::Model,
    target_id: Uuid,
    prompt: Option<String>,
) -> ApiResult<NewLoop> {
    // Fails on unreadable peers instead of dropping them: the child would run without repositories that the
    // parent had.
    let peers: Option<Vec<RepoRef>> = row.additional_repos.map(serde_json::from_value).transpose()?;
    let mut issues = ValidationIssues::default();
    issues.require(row.command.0.runs_on_desktop(), "command", "cannot run on a machine");
    issues.into_result()?;
    Ok(NewLoop {
        harness: row.harness.0,
        document: row.document_id.zip(row.document_version),
        parent_loop_id: Some(row.id),
        compute_target_id: Some(target_id),
        artifact_slug: row.artifact_slug,
        prompt: prompt.or(content.prompt),
        repo: row.repo.map(serde_json::from_value).transpose()?,
        additional_repos: peers.unwrap_or_default(),
        context_refs: content.context_refs,
        options: parse_json(content.options.as_ref()).unwrap_or_default(),
        review: Some(LoopReview::Of(row.id)),
        launch: LaunchMode::Command,
        ..NewLoop::of(row.command.0)
    })
}
