//! Loops. The module is not named `loop`, which is a keyword.
//!
//! Rows are small, because every event updates the row of its loop, and lists read many of them.

use loopgate_api::command::LoopCommand;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::Harness;
use sea_orm::entity::prelude::*;

use crate::store::column::StoredEnum;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "loops")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub user_id: Uuid,
    pub status: StoredEnum<LoopStatus>,
    pub command: StoredEnum<LoopCommand>,
    pub harness: StoredEnum<Harness>,
    pub document_id: Option<Uuid>,
    pub document_version: Option<i64>,
    pub parent_loop_id: Option<Uuid>,
    pub compute_target_id: Option<Uuid>,
    pub artifact_slug: Option<String>,
    // First characters of the prompt, for lists. Large values are in `loop_contents` and `loop_artifacts`.
    pub prompt_excerpt: Option<String>,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub repo: Option<Json>,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub additional_repos: Option<Json>,
    pub container_id: Option<String>,
    pub s3_state_key: Option<String>,
    pub pr_url: Option<String>,
    pub pr_number: Option<i64>,
    pub branch_name: Option<String>,
    pub session_id: Option<String>,
    pub tokens_input: i64,
    pub tokens_output: i64,
    // Sums over the models.
    pub cache_creation_tokens: i64,
    pub cache_read_tokens: i64,
    pub estimated_cost: Option<f64>,
    // US dollars, as the assistant reported them.
    pub reported_cost: Option<f64>,
    pub api_key_source: Option<String>,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub error: Option<Json>,
    // What the loop waits for: `loops::activity::LoopActivity`.
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub activity: Option<Json>,
    // Tasks of the plan: `loopgate_api::event_body::TaskCounts`.
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub tasks: Option<Json>,
    // Slot of the runner token in force; cleared when the loop reaches a terminal status.
    pub active_token_jti: Option<Uuid>,
    // Slot of the last token that was issued. It may claim an empty slot again.
    pub last_token_jti: Option<Uuid>,
    pub token_expires_at: Option<i64>,
    #[sea_orm(column_type = "JsonBinary")]
    pub runner_capabilities: Json,
    pub last_runner_heartbeat_at: Option<i64>,
    // Sequence number of the latest event. Incrementing it serializes the writers of a loop.
    pub last_sequence: i64,
    pub started_at: Option<i64>,
    pub completed_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
