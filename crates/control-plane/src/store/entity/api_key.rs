//! API keys. Only the hash of a key is stored.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::store::column::StoredEnum;

/// The way in which a key was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ApiKeySource {
    /// Created by a user.
    UserCreated,
    /// Issued when a desktop claimed it; bound to the desktop's signing key.
    DesktopManaged,
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "api_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub user_id: Uuid,
    pub name: String,
    pub key_hash: String,
    pub source: StoredEnum<ApiKeySource>,
    #[sea_orm(column_type = "JsonBinary")]
    pub scopes: Json,
    pub gateway_id: Option<Uuid>,
    // PEM of the Ed25519 key that signs every request with a desktop-managed key.
    pub bound_public_key: Option<String>,
    pub expires_at: Option<i64>,
    pub last_used_at: Option<i64>,
    pub created_at: i64,
    pub revoked_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(belongs_to = "super::user::Entity", from = "Column::UserId", to = "super::user::Column::Id")]
    User,
}

impl Related<super::user::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::User.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    /// Returns the gateway id that the key is bound to: every request with the key proves the possession of the
    /// gateway's signing key.
    pub fn bound_gateway(&self) -> Option<Uuid> {
        let is_bound = self.source.0 == ApiKeySource::DesktopManaged && self.bound_public_key.is_some();
        self.gateway_id.filter(|_| is_bound)
    }
}
