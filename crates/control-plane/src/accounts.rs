//! Organizations and people, made from within: the first organization and its owner.

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{DatabaseTransaction, QueryOrder};
use serde_json::json;
use uuid::Uuid;

use crate::store::column::StoredEnum;
use crate::store::entity::organization;
use crate::store::entity::user::{self, Role};
use crate::store::{Store, now};

/// The owner of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Id of the person.
    pub user_id: Uuid,
    /// Id of the organization.
    pub organization_id: Uuid,
    /// First segment of the web app's paths.
    pub organization_slug: String,
    /// E-mail address; the committer of the loops.
    pub email: String,
}

/// The first owner: the one that exists, else a new one in a new organization.
pub async fn ensure_first_owner(store: &Store, name: &str, email: &str) -> Result<Owner, DbErr> {
    let tx = store.begin().await?;
    let first = user::Entity::find()
        .filter(user::Column::Role.eq(StoredEnum(Role::Admin)))
        .order_by_asc(user::Column::CreatedAt)
        .one(&tx)
        .await?;
    let owner = match first {
        Some(row) => existing(&tx, row).await?,
        None => create(&tx, name, email).await?,
    };
    tx.commit().await?;
    Ok(owner)
}

async fn existing(tx: &DatabaseTransaction, row: user::Model) -> Result<Owner, DbErr> {
    let organization = organization::Entity::find_by_id(row.organization_id).one(tx).await?;
    let organization = organization.ok_or_else(|| DbErr::RecordNotFound("organization".to_owned()))?;
    Ok(Owner {
        user_id: row.id,
        organization_id: organization.id,
        organization_slug: organization.slug,
        email: row.email,
    })
}

async fn create(tx: &DatabaseTransaction, name: &str, email: &str) -> Result<Owner, DbErr> {
    let organization_id = Uuid::now_v7();
    let slug = "home".to_owned();
    let organization = organization::ActiveModel {
        id: Set(organization_id),
        name: Set("Home".to_owned()),
        slug: Set(slug.clone()),
        active: Set(true),
        settings: Set(json!({})),
        created_at: Set(now()),
    };
    organization::Entity::insert(organization).exec_without_returning(tx).await?;
    let owner = insert_user(tx, organization_id, name, email, Role::Admin).await?;
    Ok(Owner { user_id: owner, organization_id, organization_slug: slug, email: email.to_owned() })
}

/// Adds a person to an organization.
pub async fn insert_user(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    name: &str,
    email: &str,
    role: Role,
) -> Result<Uuid, DbErr> {
    let (first, last) = match name.trim().split_once(' ') {
        Some((first, last)) => (first, Some(last.trim().to_owned())),
        None => (name.trim(), None),
    };
    let id = Uuid::now_v7();
    let row = user::ActiveModel {
        id: Set(id),
        organization_id: Set(organization_id),
        email: Set(email.to_owned()),
        first_name: Set((!first.is_empty()).then(|| first.to_owned())),
        last_name: Set(last),
        active: Set(true),
        role: Set(StoredEnum(role)),
        created_at: Set(now()),
        ..Default::default()
    };
    user::Entity::insert(row).exec_without_returning(tx).await?;
    Ok(id)
}
