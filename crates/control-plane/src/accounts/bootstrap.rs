//! The first organization and its owner, created at the first start.

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, QueryOrder};
use serde_json::json;
use uuid::Uuid;

use super::{Profile, insert_identity, insert_user};
use crate::store::column::StoredEnum;
use crate::store::entity::user::{self, Role};
use crate::store::entity::{identity, organization};
use crate::store::{Store, is_duplicate, now};
use crate::{agents, web};

/// The owner of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Id of the owner's user row.
    pub user_id: Uuid,
    pub organization_id: Uuid,
    /// Slug of the organization, the first segment of its paths in the web app.
    pub organization_slug: String,
    /// E-mail address; also the committer address of loops.
    pub email: String,
}

/// Values for the first start. Later starts change nothing.
#[derive(Debug, Clone)]
pub struct FirstOwner {
    /// Name of the organization.
    pub organization: String,
    /// Full name of the owner.
    pub name: String,
    /// E-mail address of the owner.
    pub email: String,
}

// Fallback when the name has no usable characters, or gives a reserved slug.
const DEFAULT_SLUG: &str = "home";

/// Returns the oldest administrator, or creates an organization and its owner.
pub async fn ensure_first_owner(store: &Store, first: &FirstOwner) -> Result<Owner, DbErr> {
    match find_or_create(store, first).await {
        // Another instance started concurrently and created the organization first; now it exists.
        Err(error) if is_duplicate(&error) => find_or_create(store, first).await,
        result => result,
    }
}

async fn find_or_create(store: &Store, first: &FirstOwner) -> Result<Owner, DbErr> {
    let tx = store.begin().await?;
    let oldest = user::Entity::find()
        .filter(user::Column::Role.eq(StoredEnum(Role::Admin)))
        .filter(user::Column::Active.eq(true))
        .order_by_asc(user::Column::CreatedAt)
        .one(&tx)
        .await?;
    let owner = match oldest {
        Some(row) => owner_of(&tx, row).await?,
        None => create_organization(&tx, first).await?,
    };
    tx.commit().await?;
    Ok(owner)
}

async fn owner_of(tx: &DatabaseTransaction, row: user::Model) -> Result<Owner, DbErr> {
    let organization = organization::Entity::find_by_id(row.organization_id).one(tx).await?;
    let organization = organization.ok_or_else(|| DbErr::RecordNotFound("organization".to_owned()))?;
    Ok(Owner {
        user_id: row.id,
        organization_id: organization.id,
        organization_slug: organization.slug,
        email: row.email,
    })
}

/// Creates an organization and its owner.
pub async fn create_organization(tx: &DatabaseTransaction, first: &FirstOwner) -> Result<Owner, DbErr> {
    let organization_id = Uuid::now_v7();
    let slug = slug(&first.organization);
    let organization = organization::ActiveModel {
        id: Set(organization_id),
        name: Set(first.organization.clone()),
        slug: Set(slug.clone()),
        active: Set(true),
        settings: Set(json!({})),
        created_at: Set(now()),
    };
    organization::Entity::insert(organization).exec_without_returning(tx).await?;
    let identity_id = insert_identity(tx).await?;
    let profile = Profile::named(&first.name, &first.email);
    let owner = insert_user(tx, organization_id, identity_id, profile, Role::Admin).await?;
    Ok(Owner { user_id: owner.id, organization_id, organization_slug: slug, email: owner.email })
}

/// Returns the slug of an organization: lower-case letters and digits of the name, joined by `-`.
pub fn slug(name: &str) -> String {
    let slug = agents::role_key(name);
    if slug.is_empty() || web::is_reserved(&slug) { DEFAULT_SLUG.to_owned() } else { slug }
}

/// Sets the owner's password unless one is set.
pub async fn set_first_password(
    store: &Store,
    user_id: Uuid,
    sign_in_email: &str,
    password_hash: String,
) -> Result<(), DbErr> {
    let user = user::Entity::find_by_id(user_id).one(store.reader()).await?;
    let user = user.ok_or_else(|| DbErr::RecordNotFound("user".to_owned()))?;
    identity::Entity::update_many()
        .col_expr(identity::Column::SignInEmail, Expr::value(sign_in_email))
        .col_expr(identity::Column::PasswordHash, Expr::value(password_hash))
        .filter(identity::Column::Id.eq(user.identity_id))
        // The condition keeps a password that the owner has set or changed in the web app.
        .filter(identity::Column::PasswordHash.is_null())
        .exec(store.writer())
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_falls_back_when_name_is_unusable_or_reserved() {
        assert_eq!(slug("Acme & Söhne 2"), "acme-s-hne-2");
        for name in ["Home", "", "日本", "Loops", "sign in", "API keys"] {
            assert_eq!(slug(name), "home", "{name}");
        }
    }
}
