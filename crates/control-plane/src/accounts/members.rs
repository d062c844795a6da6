//! Roles and activation of an organization's members.

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{DatabaseTransaction, QueryOrder, QuerySelect};
use serde_json::json;
use uuid::Uuid;

use crate::audit::{Actor, AuditAction};
use crate::auth::Caller;
use crate::credentials::session;
use crate::dispatch::command;
use crate::error::{ApiResult, conflict, not_found};
use crate::store::Store;
use crate::store::column::StoredEnum;
use crate::store::entity::user::{self, Column, Role};
use crate::store::entity::{desktop_command, organization};

/// Changes to a member; `None` keeps the value.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemberChange {
    pub role: Option<Role>,
    /// Whether the member may sign in and use API keys.
    pub active: Option<bool>,
}

/// Lists the members of an organization, including inactive ones, oldest first.
pub async fn list(store: &Store, organization_id: Uuid) -> Result<Vec<user::Model>, DbErr> {
    user::Entity::find()
        .filter(Column::OrganizationId.eq(organization_id))
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id)
        .all(store.reader())
        .await
}

/// Changes a member. Deactivation revokes all sessions; API keys of inactive members are rejected.
///
/// # Errors
/// Fails with 404 for an unknown member, and with 409 `last_administrator` when the organization would be
/// left without one.
pub async fn update(
    store: &Store,
    caller: &Caller,
    id: Uuid,
    change: MemberChange,
) -> ApiResult<user::Model> {
    let organization_id = caller.organization_id();
    let tx = store.begin().await?;
    // Locks the organization: otherwise two administrators could demote each other at the same time.
    organization::Entity::find_by_id(organization_id).lock_exclusive().one(&tx).await?;
    let row =
        user::Entity::find_by_id(id).filter(Column::OrganizationId.eq(organization_id)).one(&tx).await?;
    let row = row.ok_or_else(|| not_found("Member"))?;
    let role = change.role.unwrap_or(row.role.0);
    let active = change.active.unwrap_or(row.active);
    let is_active_admin = |role: Role, active: bool| role == Role::Admin && active;
    if is_active_admin(row.role.0, row.active)
        && !is_active_admin(role, active)
        && !has_other_admin(&tx, &row).await?
    {
        let text = "An organization needs at least one active administrator. Promote another member first.";
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
        command::withdraw(&tx, desktop_command::Column::UserId.eq(id)).await?;
        session::revoke_user(&tx, id).await?;
    }
    tx.commit().await?;
    Ok(changed)
}

/// Sets the role that a member's groups at the OpenID provider map to. The last administrator keeps the role.
pub async fn set_role(
    tx: &DatabaseTransaction,
    actor: &Actor,
    row: user::Model,
    role: Role,
) -> Result<user::Model, DbErr> {
    let organization_id = row.organization_id;
    organization::Entity::find_by_id(organization_id).lock_exclusive().one(tx).await?;
    let from = row.role.0;
    // A sign-in must not fail because of this, so no error here.
    if role == from || (from == Role::Admin && !has_other_admin(tx, &row).await?) {
        return Ok(row);
    }
    let changed = user::ActiveModel { id: Set(row.id), role: Set(StoredEnum(role)), ..Default::default() };
    let changed = user::Entity::update(changed).exec(tx).await?;
    let details = json!({"from": from, "to": role, "method": "oidc"});
    actor.record(tx, organization_id, AuditAction::MemberRoleChanged, row.id, details).await?;
    Ok(changed)
}

/// Returns whether the organization has another active administrator.
async fn has_other_admin(tx: &DatabaseTransaction, row: &user::Model) -> Result<bool, DbErr> {
    let others = user::Entity::find()
        .filter(Column::OrganizationId.eq(row.organization_id))
        .filter(Column::Role.eq(StoredEnum(Role::Admin)))
        .filter(Column::Active.eq(true))
        .filter(Column::Id.ne(row.id));
    Ok(others.count(tx).await? > 0)
}
