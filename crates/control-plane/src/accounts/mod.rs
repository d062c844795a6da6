//! People and organizations: how accounts are created, and how users sign in.
//!
//! A person is an identity, with one user row per organization that contains the role and name there. An
//! e-mail address never identifies a person.

mod bootstrap;
pub mod email;
pub mod invitations;
pub mod members;
pub mod oidc;
pub mod password_reset;
pub mod sign_in;

pub use bootstrap::{FirstOwner, Owner, create_organization, ensure_first_owner, set_first_password, slug};

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, QueryOrder};
use uuid::Uuid;

use crate::store::column::StoredEnum;
use crate::store::entity::user::{self, Role};
use crate::store::entity::{identity, organization};
use crate::store::now;

/// Name, address and picture of a new user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub avatar_url: Option<String>,
}

impl Profile {
    /// Creates a profile from a full name, which is split at the first space.
    pub fn named(name: &str, email: &str) -> Self {
        let (first, last) = match name.trim().split_once(' ') {
            Some((first, last)) => (first, Some(last.trim().to_owned())),
            None => (name.trim(), None),
        };
        Self {
            email: email.to_owned(),
            first_name: (!first.is_empty()).then(|| first.to_owned()),
            last_name: last,
            avatar_url: None,
        }
    }
}

/// Adds an identity without any sign-in method.
pub async fn insert_identity(db: &impl ConnectionTrait) -> Result<Uuid, DbErr> {
    let id = Uuid::now_v7();
    let row = identity::ActiveModel { id: Set(id), created_at: Set(now()), ..Default::default() };
    identity::Entity::insert(row).exec_without_returning(db).await?;
    Ok(id)
}

/// Adds a user row for an identity in an organization.
pub async fn insert_user(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    identity_id: Uuid,
    profile: Profile,
    role: Role,
) -> Result<user::Model, DbErr> {
    let row = user::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(organization_id),
        identity_id: Set(identity_id),
        email: Set(profile.email),
        first_name: Set(profile.first_name),
        last_name: Set(profile.last_name),
        avatar_url: Set(profile.avatar_url),
        active: Set(true),
        role: Set(StoredEnum(role)),
        created_at: Set(now()),
        ..Default::default()
    };
    user::Entity::insert(row).exec_with_returning(db).await
}

/// Returns the active users of an identity in active organizations, oldest first.
pub async fn memberships(
    db: &impl ConnectionTrait,
    identity_id: Uuid,
) -> Result<Vec<(user::Model, organization::Model)>, DbErr> {
    let users = user::Entity::find()
        .filter(user::Column::IdentityId.eq(identity_id))
        .filter(user::Column::Active.eq(true))
        .order_by_asc(user::Column::CreatedAt)
        .order_by_asc(user::Column::Id)
        .all(db)
        .await?;
    let organizations = organization::Entity::find()
        .filter(organization::Column::Id.is_in(users.iter().map(|user| user.organization_id)))
        .filter(organization::Column::Active.eq(true))
        .all(db)
        .await?;
    let pair = |user: user::Model| {
        let organization = organizations.iter().find(|organization| organization.id == user.organization_id);
        organization.cloned().map(|organization| (user, organization))
    };
    Ok(users.into_iter().filter_map(pair).collect())
}
