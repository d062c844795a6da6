//! Registration of a desktop: finds its row by gateway id, or creates one. Target id and machine name decide
//! only for desktops that name no gateway id.

use std::collections::HashSet;

use loopgate_api::launch::Harness;
use sea_orm::ActiveValue::Set;
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use crate::audit::{Actor, AuditAction};
use crate::change_requests;
use crate::store::column::StoredEnum;
use crate::store::entity::{compute_target, target_health_check};
use crate::store::{Store, is_duplicate, now};

/// Registration data of a desktop.
#[derive(Debug)]
pub struct DesktopRegistration {
    /// Organization of the owner.
    pub organization_id: Uuid,
    /// Id of the owner.
    pub user_id: Uuid,
    /// Id from an earlier registration.
    pub target_id: Option<Uuid>,
    /// Stable id of the Loopgate installation, if the key of the connection is bound to it.
    pub gateway_id: Option<Uuid>,
    /// Id of the Loopgate installation that the desktop names, bound or not.
    pub claimed_gateway_id: Option<Uuid>,
    /// Host name of the machine. Further desktops of the owner with the same name are displayed as `name (2)`.
    pub machine_name: String,
    /// Operating system: `darwin`, `linux` or `win32`.
    pub platform: String,
    /// Versions, limits and features; a JSON object.
    pub capabilities: Value,
    /// Ids of the supported gateway operations.
    pub supported_operations: Vec<String>,
}

/// Reason why a desktop could not be registered.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// Concurrent registrations of the owner have repeatedly inserted the same id or name.
    #[error("Other machines are being registered at the same time; try again")]
    Concurrent,
    /// The owner has [`MAX_DESKTOPS`] others.
    #[error("You have {MAX_DESKTOPS} machines. Remove machines that you no longer use in Settings, Machines")]
    TooMany,
    /// A database query has failed.
    #[error(transparent)]
    Store(DbErr),
}

impl From<DbErr> for RegisterError {
    fn from(error: DbErr) -> Self {
        if is_duplicate(&error) { Self::Concurrent } else { Self::Store(error) }
    }
}

/// Desktops of one user in an organization. Each has up to 64 KiB of capabilities, which lists contain, and a
/// registration reads all of them. Registrations at the same time can exceed the limit by their number.
const MAX_DESKTOPS: usize = 100;
// Attempts to register while concurrent registrations insert the same gateway id or name.
const ATTEMPTS: usize = 5;

/// Registers a desktop, marks it as online, and returns its row.
pub async fn register(
    store: &Store,
    new: &DesktopRegistration,
) -> Result<compute_target::Model, RegisterError> {
    for _ in 1..ATTEMPTS {
        match find_or_insert(store, new).await {
            // The next attempt finds the row that a concurrent registration has inserted.
            Err(RegisterError::Concurrent) => {}
            registered => return registered,
        }
    }
    find_or_insert(store, new).await
}

async fn find_or_insert(
    store: &Store,
    new: &DesktopRegistration,
) -> Result<compute_target::Model, RegisterError> {
    let tx = store.begin().await?;
    let own = compute_target::Entity::find()
        .filter(compute_target::Column::OrganizationId.eq(new.organization_id))
        .filter(compute_target::Column::UserId.eq(new.user_id))
        .all(&tx)
        .await?;
    let present = find(&own, new);
    let others = own.iter().filter(|row| present.is_none_or(|present| present.id != row.id));
    let taken: HashSet<&str> = others.map(|row| row.machine_name.as_str()).collect();
    let name = match present {
        // A desktop keeps its number when an earlier one of the same name was removed.
        Some(row) if is_numbered(&row.machine_name, &new.machine_name) => row.machine_name.clone(),
        _ => free_name(&new.machine_name, &taken),
    };
    let row = match present {
        Some(row) => {
            delete_stale_check(&tx, row, new).await?;
            compute_target::Entity::update(update(row, new, name)).exec(&tx).await?
        }
        None if own.len() >= MAX_DESKTOPS => return Err(RegisterError::TooMany),
        None => insert(&tx, new, name).await?,
    };
    tx.commit().await?;
    Ok(row)
}

/// Finds the row of a desktop among those of its owner.
fn find<'a>(
    own: &'a [compute_target::Model],
    new: &DesktopRegistration,
) -> Option<&'a compute_target::Model> {
    let first = |matches: &dyn Fn(&&compute_target::Model) -> bool| own.iter().find(|row| matches(row));
    let is_named =
        |row: &compute_target::Model| new.target_id == Some(row.id) || row.machine_name == new.machine_name;
    // The gateway id identifies the installation, so it takes precedence over a changed host name.
    let proven = new.gateway_id.and_then(|id| first(&|row| row.gateway_id == Some(id)));
    let Some(claimed) = new.claimed_gateway_id.or(new.gateway_id) else {
        return first(&|row| new.target_id == Some(row.id)).or_else(|| first(&|row| is_named(row)));
    };
    // The row of a proven id is never matched by a claim. A row without an id belongs to the first desktop
    // that names one.
    let unproven = |row: &&compute_target::Model| row.gateway_id.is_none();
    proven
        .or_else(|| first(&|row| unproven(row) && row.claimed_gateway_id == Some(claimed)))
        .or_else(|| first(&|row| unproven(row) && row.claimed_gateway_id.is_none() && is_named(row)))
}

/// Returns the name, or `name (2)`, `name (3)`, … when it is taken.
fn free_name(name: &str, taken: &HashSet<&str>) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name.as_str())).unwrap_or_default()
}

/// Whether a stored name is a host name with or without a number.
fn is_numbered(stored: &str, name: &str) -> bool {
    let Some(suffix) = stored.strip_prefix(name) else { return false };
    let number = suffix.strip_prefix(" (").and_then(|suffix| suffix.strip_suffix(')'));
    suffix.is_empty() || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Deletes the health check when platform, gateway or capabilities have changed: it may no longer apply.
async fn delete_stale_check(
    tx: &DatabaseTransaction,
    row: &compute_target::Model,
    new: &DesktopRegistration,
) -> Result<(), DbErr> {
    let is_same = row.platform == new.platform
        && new.gateway_id.is_none_or(|gateway| row.gateway_id == Some(gateway))
        && row.capabilities == new.capabilities
        && row.supported_operations == json!(new.supported_operations);
    if !is_same {
        target_health_check::Entity::delete_many()
            .filter(target_health_check::Column::ComputeTargetId.eq(row.id))
            .exec(tx)
            .await?;
    }
    Ok(())
}

fn update(
    row: &compute_target::Model,
    new: &DesktopRegistration,
    machine_name: String,
) -> compute_target::ActiveModel {
    compute_target::ActiveModel {
        id: Set(row.id),
        machine_name: Set(machine_name),
        platform: Set(new.platform.clone()),
        // A registration without a gateway id must not remove the stored one.
        gateway_id: Set(new.gateway_id.or(row.gateway_id)),
        claimed_gateway_id: Set(new.claimed_gateway_id.or(row.claimed_gateway_id)),
        capabilities: Set(new.capabilities.clone()),
        supported_operations: Set(json!(new.supported_operations)),
        is_online: Set(true),
        last_seen_at: Set(now()),
        updated_at: Set(now()),
        ..Default::default()
    }
}

async fn insert(
    tx: &DatabaseTransaction,
    new: &DesktopRegistration,
    machine_name: String,
) -> Result<compute_target::Model, DbErr> {
    let row = compute_target::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(new.organization_id),
        user_id: Set(new.user_id),
        machine_name: Set(machine_name),
        platform: Set(new.platform.clone()),
        gateway_id: Set(new.gateway_id),
        claimed_gateway_id: Set(new.claimed_gateway_id),
        capabilities: Set(new.capabilities.clone()),
        supported_operations: Set(json!(new.supported_operations)),
        selected_harness: Set(StoredEnum(Harness::Assistant)),
        is_online: Set(true),
        is_shared_with_org: Set(false),
        grants_commands: Set(false),
        last_seen_at: Set(now()),
        created_at: Set(now()),
        updated_at: Set(now()),
        ..Default::default()
    };
    let row = compute_target::Entity::insert(row).exec_with_returning(tx).await?;
    let (actor, details) = (Actor::user(row.user_id), json!({"machineName": row.machine_name}));
    actor.record(tx, row.organization_id, AuditAction::TargetRegistered, row.id, details).await?;
    Ok(row)
}

/// Marks a desktop as online or offline. Returns whether the status changed.
pub async fn set_online(store: &Store, id: Uuid, online: bool) -> Result<bool, DbErr> {
    use compute_target::Column;
    let mut update = compute_target::Entity::update_many().filter(Column::Id.eq(id));
    if online {
        update = update.col_expr(Column::LastSeenAt, Expr::value(now()));
    }
    let tx = store.begin().await?;
    let before = compute_target::Entity::find_by_id(id).one(&tx).await?;
    update.col_expr(Column::IsOnline, Expr::value(online)).exec(&tx).await?;
    tx.commit().await?;
    let has_changed = before.is_some_and(|row| row.is_online != online);
    if has_changed {
        change_requests::refresh_waiting(store, id).await?;
    }
    Ok(has_changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered() {
        let taken = HashSet::from(["bench", "bench (2)"]);
        assert_eq!(free_name("bench", &taken), "bench (3)");
        assert_eq!(free_name("desk", &taken), "desk");
        assert!(is_numbered("bench", "bench") && is_numbered("bench (12)", "bench"));
        assert!(
            !is_numbered("bench (x)", "bench")
                && !is_numbered("bench2", "bench")
                && !is_numbered("x", "bench")
        );
    }
}
