//! Connections of desktops. A desktop has at most one; the newest replaces its row.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "desktop_connections")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub compute_target_id: Uuid,
    // Distinguishes this connection from earlier ones of the desktop, whose end must change nothing.
    pub session_id: Uuid,
    // Process that holds the connection.
    pub instance_id: Uuid,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
