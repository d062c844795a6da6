//! Roles and activity of the members of an organization.

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{DatabaseTransaction, QueryOrder, QuerySelect};
use serde_json::json;
use uuid::Uuid;

use crate::audit::{Actor, AuditAction};
use crate::auth::Caller;
use crate::credentials::session;
use crate::error::{ApiResult, conflict, not_found};
use crate::store::Store;
use crate::store::column::StoredEnum;
use crate::store::entity::organization;
use crate::store::entity::user::{self, Column, Role};

/// What changes; `None` stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemberChange {
    /// Role.
    pub role: Option<Role>,
    /// Whether the member may sign in and its keys count.
    pub active: Option<bool>,
}

/// All members of an organization, inactive ones included, oldest first.
pub async fn list(store: &Store, organization_id: Uuid) -> Result<Vec<user::Model>, DbErr> {
    user::Entity::find()
        .filter(Column::OrganizationId.eq(organization_id))
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id)
        .all(store.reader())
        .await
}

/// Changes a member. The sessions of one that becomes inactive end; its keys count no longer.
///
/// # Errors
/// 404, and 409 `last_administrator` when nobody would administer the organization.
pub async fn update(
    store: &Store,
    caller: &Caller,
    id: Uuid,
    change: MemberChange,
) -> ApiResult<user::Model> {
    let organization_id = caller.organization_id();
    let tx = store.begin().await?;
    // One change of an organization's members at a time: two administrators cannot remove each other.
    organization::Entity::find_by_id(organization_id).lock_exclusive().one(&tx).await?;
    let row =
        user::Entity::find_by_id(id).filter(Column::OrganizationId.eq(organization_id)).one(&tx).await?;
    let row = row.ok_or_else(|| not_found("Member"))?;
    let role = change.role.unwrap_or(row.role.0);
    let active = change.active.unwrap_or(row.active);
    let administers = |role: Role, active: bool| role == Role::Admin && active;
    if administers(row.role.0, row.active) && !administers(role, active) && !has_other(&tx, &row).await? {
        let text = "The last administrator of an organization keeps its role and stays active.";
        return Err(conflict(text).code("last_administrator"));
    }
    let changed = user::ActiveModel {
        id: Set(id),
        role: Set(StoredEnum(role)),
        active: Set(active),
        ..Default::default()
    };
    let changed = user::Entity::update(changed).exec(&tx).await?;
    let actor = caller.actor();
    if role != row.role.0 {
        let details = json!({"from": row.role, "to": role});
        actor.record(&tx, organization_id, AuditAction::MemberRoleChanged, id, details).await?;
    }
    if active != row.active {
        let action = if active { AuditAction::MemberActivated } else { AuditAction::MemberDeactivated };
        actor.record(&tx, organization_id, action, id, json!({})).await?;
    }
    if !active {
        session::revoke_user(&tx, id).await?;
    }
    tx.commit().await?;
    Ok(changed)
}

/// Gives a member the role that its groups at the OpenID provider have. The last administrator keeps its own.
pub async fn set_role(
    tx: &DatabaseTransaction,
    actor: &Actor,
    row: user::Model,
    role: Role,
) -> Result<user::Model, DbErr> {
    let organization_id = row.organization_id;
    organization::Entity::find_by_id(organization_id).lock_exclusive().one(tx).await?;
    let from = row.role.0;
    if role == from || (from == Role::Admin && !has_other(tx, &row).await?) {
        return Ok(row);
    }
    let changed = user::ActiveModel { id: Set(row.id), role: Set(StoredEnum(role)), ..Default::default() };
    let changed = user::Entity::update(changed).exec(tx).await?;
    let details = json!({"from": from, "to": role, "method": "oidc"});
    actor.record(tx, organization_id, AuditAction::MemberRoleChanged, row.id, details).await?;
    Ok(changed)
}

/// Whether another member administers the organization.
async fn has_other(tx: &DatabaseTransaction, row: &user::Model) -> Result<bool, DbErr> {
    let others = user::Entity::find()
        .filter(Column::OrganizationId.eq(row.organization_id))
        .filter(Column::Role.eq(StoredEnum(Role::Admin)))
        .filter(Column::Active.eq(true))
        .filter(Column::Id.ne(row.id));
    Ok(others.count(tx).await? > 0)
}
