//! Members: one row for each person and organization.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// Role of a member in an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Role {
    /// Administrator of the organization.
    #[serde(rename = "org:admin")]
    Admin,
    /// Member without administrative permissions.
    #[serde(rename = "org:member")]
    Member,
}

/// Where a user's loops run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ComputeMode {
    /// On a desktop that the user may access.
    Local,
    /// In a cloud environment.
    Cloud,
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    // The person; shared by the rows in other organizations.
    pub identity_id: Uuid,
    // Contact address. Never used to identify a person: it may be reassigned.
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub avatar_url: Option<String>,
    pub active: bool,
    pub role: StoredEnum<Role>,
    pub preferred_compute_mode: Option<StoredEnum<ComputeMode>>,
    pub preferred_compute_target_id: Option<Uuid>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    /// Returns first and last name, or the e-mail address when both are missing.
    pub fn full_name(&self) -> String {
        full_name(self.first_name.as_deref(), self.last_name.as_deref(), &self.email)
    }
}

/// Returns first and last name, or the e-mail address when both are missing.
pub fn full_name(first: Option<&str>, last: Option<&str>, email: &str) -> String {
    let name = [first, last].into_iter().flatten().collect::<Vec<_>>().join(" ");
    if name.is_empty() { email.to_owned() } else { name }
}
