//! Conversion of a runner's uploads into documents.

use loopgate_api::command::LoopCommand;
use loopgate_api::launch::ArtifactType;
use loopgate_api::plan::PlanArtifact;
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{NewDocument, VersionText, add_version, create, next_number, plan_of};
use crate::audit::{Actor, AuditAction};
use crate::loops::contents;
use crate::store::column::StoredEnum;
use crate::store::entity::document::DocumentStatus;
use crate::store::entity::{agent_loop, document};
use crate::store::parse_json;

/// Stores the uploads of a completed loop as document versions. Missing uploads are only logged, because the
/// work itself is done.
pub async fn uploaded(tx: &DatabaseTransaction, row: &agent_loop::Model) -> Result<(), DbErr> {
    let Some(subject) = subject(tx, row).await? else { return Ok(()) };
    match row.command.0 {
        LoopCommand::Plan | LoopCommand::RequestChanges => {
            if let Some(plan) = artifact::<PlanArtifact>(tx, row, "plan").await? {
                store_plan(tx, row, subject, plan).await?;
            }
        }
        LoopCommand::GeneratePrd | LoopCommand::RequestPrdChanges => {
            if let Some(prd) = artifact::<PlanArtifact>(tx, row, "prd").await? {
                let text = VersionText {
                    content: prd.content,
                    raw: None,
                    user_id: row.user_id,
                    loop_id: Some(row.id),
                };
                let document = add_version(tx, subject, text).await?;
                record(tx, row, AuditAction::DocumentVersionAdded, &document).await?;
            }
        }
        _ => {}
    }
    Ok(())
}

async fn artifact<T: DeserializeOwned>(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    name: &str,
) -> Result<Option<T>, DbErr> {
    let artifact = contents::artifact(tx, row.id, name).await?;
    if artifact.is_none() {
        tracing::warn!(loop_id = %row.id, artifact = name, "loop completed without its artifact");
    }
    Ok(artifact)
}

async fn subject(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
) -> Result<Option<document::Model>, DbErr> {
    match row.document_id {
        Some(id) => document::Entity::find_by_id(id).one(tx).await,
        None => Ok(None),
    }
}

async fn store_plan(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    subject: document::Model,
    plan: PlanArtifact,
) -> Result<(), DbErr> {
    let title = plan.raw.as_ref().and_then(|raw| raw.get("title")).and_then(Value::as_str);
    let title = title.filter(|title| !title.trim().is_empty()).unwrap_or(&subject.title).to_owned();
    let text = VersionText {
        content: plan.content,
        raw: plan.raw.map(Value::Object),
        user_id: row.user_id,
        loop_id: Some(row.id),
    };
    let existing = match subject.kind.0 {
        ArtifactType::ImplementationPlan => Some(subject.clone()),
        _ => plan_of(tx, subject.id).await?,
    };
    if let Some(plan) = existing {
        let document = add_version(tx, plan, text).await?;
        return record(tx, row, AuditAction::DocumentVersionAdded, &document).await;
    }
    let kind = ArtifactType::ImplementationPlan;
    let number = match row.artifact_slug.as_deref().and_then(reserved_number) {
        Some(number) => number,
        None => next_number(tx, row.organization_id, kind).await?,
    };
    let new = NewDocument {
        organization_id: row.organization_id,
        user_id: row.user_id,
        kind,
        number,
        title,
        repo: parse_json(row.repo.as_ref()),
        source_document_id: Some(subject.id),
    };
    let document = create(tx, new, text).await?;
    record(tx, row, AuditAction::DocumentCreated, &document).await
}

/// Records the change of a document by a loop, in the name of the user who started it.
async fn record(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    action: AuditAction,
    document: &document::Model,
) -> Result<(), DbErr> {
    let details = json!({"slug": document.slug, "version": document.current_version, "loopId": row.id});
    Actor::user(row.user_id).record(tx, row.organization_id, action, document.id, details).await
}

/// Returns the number that was reserved for the plan when its loop was created.
fn reserved_number(slug: &str) -> Option<i64> {
    slug.strip_prefix("plan-")?.parse().ok()
}

/// Marks the loop's document as executed.
pub async fn mark_executed(tx: &DatabaseTransaction, row: &agent_loop::Model) -> Result<(), DbErr> {
    let Some(id) = row.document_id else { return Ok(()) };
    document::Entity::update_many()
        .col_expr(document::Column::Status, Expr::value(StoredEnum(DocumentStatus::Executed)))
        .filter(document::Column::Id.eq(id))
        .exec(tx)
        .await?;
    let details = json!({"status": DocumentStatus::Executed, "loopId": row.id});
    Actor::user(row.user_id).record(tx, row.organization_id, AuditAction::DocumentUpdated, id, details).await
}
