//! Loops with the command MANUAL, whose work the user does: their results and events.

use axum::extract::State;
use http::StatusCode;
use loopgate_api::command::LoopCommand;
use loopgate_api::ids::BranchName;
use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;
use utoipa::ToSchema;

use super::runner::{EVENT_FAILED, event_body};
use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::UserAuth;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::{Body, Id};
use crate::ingest::runner_event::RunnerEvent;
use crate::ingest::{self, ReceivedView};
use crate::loops::view::{LoopDetail, detail};
use crate::loops::{self, contents};
use crate::store::entity::agent_loop;
use crate::store::now;

// Longest accepted pull request URL, in characters.
const URL_LIMIT: usize = 2048;
// Longest accepted summary, in characters.
const SUMMARY_LIMIT: usize = 10_000;

/// Results that the user records for a loop. Absent members remain unchanged.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateLoop {
    /// URL of the pull request, `http` or `https`, at most 2048 characters.
    pub pr_url: Option<String>,
    /// Name of the branch with the work.
    pub branch_name: Option<String>,
    /// Description of the work, at most 10,000 characters; stored as `summary` in the loop's metadata.
    pub summary: Option<String>,
}

impl UpdateLoop {
    fn check(&self) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        if let Some(url) = &self.pr_url {
            issues.length("prUrl", url, 1, URL_LIMIT);
            let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            issues.require(parsed.is_some(), "prUrl", "must be a URL");
        }
        if let Some(Err(error)) = self.branch_name.as_ref().map(|branch| branch.parse::<BranchName>()) {
            issues.push("branchName", error.to_string());
        }
        if let Some(summary) = &self.summary {
            issues.length("summary", summary, 0, SUMMARY_LIMIT);
        }
        issues.into_result()
    }
}

/// Records the results of a MANUAL loop. Returns 403 for a loop with another command.
#[utoipa::path(patch, path = "/loops/{id}", operation_id = "update_loop", tag = "loops",
    params(("id" = Uuid, Path)), request_body = UpdateLoop,
    responses((status = 200, body = Data<LoopDetail>), ErrorResponses))]
pub async fn update(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    Body(body): Body<UpdateLoop>,
) -> ApiResult<Data<LoopDetail>> {
    let updated = async {
        let tx = app.store.begin().await?;
        // Locked, because the metadata is read, merged and written back.
        let row = loops::find_locked(&tx, caller.organization_id(), id.or_unknown("Loop")?).await?;
        require_manual(&row, "Metadata updates are only allowed for MANUAL loops")?;
        body.check()?;
        let row = store(&tx, row, body).await?;
        let (organization, details) = (caller.organization_id(), json!({"prUrl": row.pr_url}));
        caller.actor().record(&tx, organization, AuditAction::ManualLoopRecorded, row.id, details).await?;
        tx.commit().await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    updated.await.context("Failed to update loop").map(Data::new)
}

fn require_manual(row: &agent_loop::Model, refusal: &str) -> ApiResult<()> {
    if row.command.0 == LoopCommand::Manual {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::FORBIDDEN, refusal))
}

async fn store(
    tx: &DatabaseTransaction,
    row: agent_loop::Model,
    body: UpdateLoop,
) -> Result<agent_loop::Model, DbErr> {
    let summary = body.summary.map(|summary| ("summary".to_owned(), json!(summary)));
    contents::merge_metadata(tx, row.id, summary.into_iter().collect()).await?;
    let update = agent_loop::ActiveModel {
        id: Unchanged(row.id),
        pr_url: Set(body.pr_url.or(row.pr_url)),
        branch_name: Set(body.branch_name.or(row.branch_name)),
        updated_at: Set(now()),
        ..Default::default()
    };
    update.update(tx).await
}

/// Accepts an event of a MANUAL loop: `output`, `progress`, `completed`, `error` or `cancelled`, with the
/// same members as a runner's events. Returns 403 for a loop with another command.
#[utoipa::path(post, path = "/loops/{id}/manual-events", operation_id = "manual_event", tag = "loops",
    params(("id" = Uuid, Path)), request_body = HashMap<String, Value>,
    responses((status = 200, body = Data<ReceivedView>), ErrorResponses))]
pub async fn event(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    body: ApiResult<Body<Value>>,
) -> ApiResult<Data<ReceivedView>> {
    let received = async {
        let row = loops::find(app.store.reader(), caller.organization_id(), id.or_unknown("Loop")?).await?;
        require_manual(&row, "Manual events are only accepted for MANUAL loops")?;
        let event = RunnerEvent::parse_manual(event_body(body)?, app.config.code_host_url.as_deref())?;
        ingest::receive_manual(&app, row.id, event, &caller.actor()).await
    };
    received.await.context(EVENT_FAILED).map(|outcome| Data::new(outcome.into()))
}
