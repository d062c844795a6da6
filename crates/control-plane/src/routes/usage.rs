//! Usage of an organization: loops, tokens and cost.

use axum::extract::State;
use loopgate_api::command::LoopCommand;
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::ControlPlaneState;
use crate::auth::AdminSessionAuth;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, bad_request};
use crate::extract::Query;
use crate::loops::usage::{DAY_MS, UsagePeriod, UsageReport, UsageSum};
use crate::store::entity::user;
use crate::store::iso;

// Length of the date in an ISO 8601 timestamp.
const DATE_CHARS: usize = 10;

/// Selects the loops to count.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// First day, ISO 8601 date or timestamp. Days are those of the creation of loops, in UTC, and count
    /// completely.
    pub start_date: Option<String>,
    /// Last day, ISO 8601 date or timestamp.
    pub end_date: Option<String>,
    /// Counts only loops with this command.
    pub command: Option<LoopCommand>,
}

/// Usage of one command.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandUsage {
    /// Command of the loops.
    pub command: LoopCommand,
    /// Number of loops in this group.
    pub loop_count: i64,
    /// Number of input tokens.
    pub tokens_input: i64,
    /// Number of output tokens.
    pub tokens_output: i64,
    /// Estimated cost in US dollars.
    pub estimated_cost: f64,
}

/// Usage of one user.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserUsage {
    /// Id of the user.
    pub user_id: Uuid,
    /// Full name; null when unknown.
    pub user_name: Option<String>,
    /// E-mail address of the user.
    pub user_email: String,
    /// URL of the profile picture.
    pub user_avatar_url: Option<String>,
    /// Number of loops in this group.
    pub loop_count: i64,
    /// Number of input tokens.
    pub tokens_input: i64,
    /// Number of output tokens.
    pub tokens_output: i64,
    /// Estimated cost in US dollars.
    pub estimated_cost: f64,
}

/// Usage of the loops created on one day.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DayUsage {
    /// Day in UTC, for example `2026-11-27`.
    pub day: String,
    /// Number of loops in this group.
    pub loop_count: i64,
    /// Number of input tokens.
    pub tokens_input: i64,
    /// Number of output tokens.
    pub tokens_output: i64,
    /// Estimated cost in US dollars.
    pub estimated_cost: f64,
}

/// Usage of an organization.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Number of all counted loops.
    pub total_loops: i64,
    /// Number of input tokens.
    pub total_tokens_input: i64,
    /// Number of output tokens.
    pub total_tokens_output: i64,
    /// Estimated cost in US dollars.
    pub total_estimated_cost: f64,
    /// Tokens written to the prompt cache, as far as the harness reports them.
    pub total_cache_creation_tokens: i64,
    /// Tokens read from the prompt cache.
    pub total_cache_read_tokens: i64,
    /// Usage grouped by command.
    pub by_command: Vec<CommandUsage>,
    /// Usage grouped by user.
    pub by_user: Vec<UserUsage>,
    /// Usage by day, earliest first; days without loops are omitted.
    pub by_day: Vec<DayUsage>,
}

/// Returns the usage of the organization; for administrators.
#[utoipa::path(get, path = "/loops/usage", operation_id = "usage", tag = "loops", params(UsageQuery),
    responses((status = 200, body = Data<Usage>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    AdminSessionAuth(caller): AdminSessionAuth,
    Query(query): Query<UsageQuery>,
) -> ApiResult<Data<Usage>> {
    let since = instant(query.start_date.as_deref(), "Invalid startDate format")?;
    let until = instant(query.end_date.as_deref(), "Invalid endDate format")?;
    let read = async {
        let tx = app.store.begin_read().await?;
        let period = UsagePeriod {
            organization_id: caller.organization_id(),
            days: since.map(|at| at / DAY_MS)..=until.map(|at| at / DAY_MS),
            command: query.command,
        };
        let report = period.report(&tx).await?;
        let users = user::Entity::find().filter(user::Column::Id.is_in(report.users.keys().copied()));
        let users = users.all(&tx).await?;
        tx.rollback().await?;
        Ok(usage(report, users))
    };
    read.await.context("Failed to fetch loop usage").map(Data::new)
}

fn instant(text: Option<&str>, error: &str) -> ApiResult<Option<i64>> {
    let Some(text) = text else { return Ok(None) };
    // A bare date is the start of that day in UTC.
    let at = text.parse::<jiff::Timestamp>().or_else(|_| format!("{text}T00:00:00Z").parse());
    at.map(|at| Some(at.as_millisecond())).map_err(|_| bad_request(error))
}

fn usage(report: UsageReport, users: Vec<user::Model>) -> Usage {
    let UsageReport { commands, users: sums, days } = report;
    let all = commands.iter().fold(UsageSum::default(), |all, (_, sum)| all + *sum);
    let sum_of = |user: &user::Model| sums.get(&user.id).copied().unwrap_or_default();
    Usage {
        total_loops: all.loops,
        total_tokens_input: all.tokens_input,
        total_tokens_output: all.tokens_output,
        total_estimated_cost: all.dollars(),
        total_cache_creation_tokens: all.cache_creation_tokens,
        total_cache_read_tokens: all.cache_read_tokens,
        by_command: commands.into_iter().map(|(command, sum)| of_command(command, sum)).collect(),
        by_user: users.into_iter().map(|user| of_user(sum_of(&user), user)).collect(),
        by_day: days.into_iter().map(|(day, sum)| of_day(day, sum)).collect(),
    }
}

fn of_command(command: LoopCommand, sum: UsageSum) -> CommandUsage {
    CommandUsage {
        command,
        loop_count: sum.loops,
        tokens_input: sum.tokens_input,
        tokens_output: sum.tokens_output,
        estimated_cost: sum.dollars(),
    }
}

fn of_day(day: i64, sum: UsageSum) -> DayUsage {
    DayUsage {
        day: iso(day * DAY_MS).chars().take(DATE_CHARS).collect(),
        loop_count: sum.loops,
        tokens_input: sum.tokens_input,
        tokens_output: sum.tokens_output,
        estimated_cost: sum.dollars(),
    }
}

fn of_user(sum: UsageSum, user: user::Model) -> UserUsage {
    let names = [user.first_name, user.last_name].into_iter().flatten().collect::<Vec<_>>();
    UserUsage {
        user_id: user.id,
        user_name: (!names.is_empty()).then(|| names.join(" ")),
        user_email: user.email,
        user_avatar_url: user.avatar_url,
        loop_count: sum.loops,
        tokens_input: sum.tokens_input,
        tokens_output: sum.tokens_output,
        estimated_cost: sum.dollars(),
    }
}
