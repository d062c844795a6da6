//! Usage of an organization: loops, tokens and cost.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use loopgate_api::command::LoopCommand;
use loopgate_api::event::ModelTokens;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, SimpleExpr};
use sea_orm::{FromQueryResult, QuerySelect};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::ControlPlaneState;
use crate::auth::{AdminSessionAuth, Caller};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, bad_request};
use crate::extract::Query;
use crate::store::column::StoredEnum;
use crate::store::entity::{agent_loop, user};
use crate::store::{iso, parse_json};

// Milliseconds per day, as SQL text: a bind parameter would make PostgreSQL treat the grouped and the
// selected expression as different.
const DAY_MILLIS: &str = "86400000";
// Length of the date in an ISO 8601 timestamp.
const DATE_CHARS: usize = 10;

/// Selects the loops to count.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// Earliest creation time, ISO 8601 date or timestamp.
    pub start_date: Option<String>,
    /// Latest creation time, ISO 8601 date or timestamp.
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
    pub total_cache_creation_tokens: u64,
    /// Tokens read from the prompt cache.
    pub total_cache_read_tokens: u64,
    /// Usage grouped by command.
    pub by_command: Vec<CommandUsage>,
    /// Usage grouped by user.
    pub by_user: Vec<UserUsage>,
    /// Usage by day, earliest first; days without loops are omitted.
    pub by_day: Vec<DayUsage>,
}

/// Totals of one group: command, user and day.
#[derive(Debug, FromQueryResult)]
struct UsageTotals {
    command: StoredEnum<LoopCommand>,
    user_id: Uuid,
    /// Days since the epoch, in UTC.
    day: i64,
    loops: i64,
    input: i64,
    output: i64,
    cost: Option<f64>,
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
        let query = loops_to_count(&caller, since, until, query.command);
        let totals = totals(&app, query.clone()).await?;
        let cache = cache_tokens(&app, query).await?;
        let users = user::Entity::find()
            .filter(user::Column::Id.is_in(totals.iter().map(|row| row.user_id)))
            .all(app.store.reader())
            .await?;
        Ok(usage(&totals, users, cache))
    };
    read.await.context("Failed to fetch loop usage").map(Data::new)
}

fn instant(text: Option<&str>, error: &str) -> ApiResult<Option<i64>> {
    let Some(text) = text else { return Ok(None) };
    // A bare date is the start of that day in UTC.
    let at = text.parse::<jiff::Timestamp>().or_else(|_| format!("{text}T00:00:00Z").parse());
    at.map(|at| Some(at.as_millisecond())).map_err(|_| bad_request(error))
}

/// Returns the query for the loops to count.
fn loops_to_count(
    caller: &Caller,
    since: Option<i64>,
    until: Option<i64>,
    command: Option<LoopCommand>,
) -> Select<agent_loop::Entity> {
    use agent_loop::Column;
    let mut loops = agent_loop::Entity::find().filter(Column::OrganizationId.eq(caller.organization_id()));
    if let Some(since) = since {
        loops = loops.filter(Column::CreatedAt.gte(since));
    }
    if let Some(until) = until {
        loops = loops.filter(Column::CreatedAt.lte(until));
    }
    if let Some(command) = command {
        loops = loops.filter(Column::Command.eq(StoredEnum(command)));
    }
    loops
}

/// Sums the tokens written to and read from the prompt cache. They are stored only per model, inside a JSON
/// column, so they cannot be summed in SQL.
async fn cache_tokens(
    app: &ControlPlaneState,
    loops: Select<agent_loop::Entity>,
) -> Result<(u64, u64), DbErr> {
    use agent_loop::Column;
    let counts =
        loops.select_only().column(Column::TokensByModel).filter(Column::TokensByModel.is_not_null());
    let counts: Vec<Json> = counts.into_tuple().all(app.store.reader()).await?;
    let models = counts.iter().filter_map(|json| parse_json::<BTreeMap<String, ModelTokens>>(Some(json)));
    Ok(models
        .flat_map(BTreeMap::into_values)
        .fold((0, 0), |(created, read), tokens| (created + tokens.cache_creation, read + tokens.cache_read)))
}

async fn totals(
    app: &ControlPlaneState,
    loops: Select<agent_loop::Entity>,
) -> Result<Vec<UsageTotals>, DbErr> {
    use agent_loop::Column;
    // PostgreSQL returns the sum of a bigint column as numeric, which does not decode into i64.
    let total = |column: Column| -> SimpleExpr { Expr::col(column).sum().cast_as(Alias::new("bigint")) };
    // Integer division truncates in both databases, so this is the day number in UTC.
    let day = || Expr::col(Column::CreatedAt).div(Expr::cust(DAY_MILLIS));
    loops
        .select_only()
        .columns([Column::Command, Column::UserId])
        .column_as(day(), "day")
        .column_as(Column::Id.count(), "loops")
        .column_as(total(Column::TokensInput), "input")
        .column_as(total(Column::TokensOutput), "output")
        .column_as(Column::EstimatedCost.sum(), "cost")
        .group_by(Column::Command)
        .group_by(Column::UserId)
        .group_by(day())
        .into_model()
        .all(app.store.reader())
        .await
}

fn usage(totals: &[UsageTotals], users: Vec<user::Model>, cache: (u64, u64)) -> Usage {
    let days: BTreeSet<i64> = totals.iter().map(|row| row.day).collect();
    let mut commands: Vec<LoopCommand> = Vec::new();
    for row in totals {
        if !commands.contains(&row.command.0) {
            commands.push(row.command.0);
        }
    }
    let all = UsageSum::of(totals.iter());
    Usage {
        total_loops: all.loops,
        total_tokens_input: all.input,
        total_tokens_output: all.output,
        total_estimated_cost: all.cost,
        total_cache_creation_tokens: cache.0,
        total_cache_read_tokens: cache.1,
        by_command: commands.into_iter().map(|command| of_command(totals, command)).collect(),
        by_user: users.into_iter().map(|user| of_user(totals, user)).collect(),
        by_day: days.into_iter().map(|day| of_day(totals, day)).collect(),
    }
}

fn of_command(totals: &[UsageTotals], command: LoopCommand) -> CommandUsage {
    let total = UsageSum::of(totals.iter().filter(|row| row.command.0 == command));
    CommandUsage {
        command,
        loop_count: total.loops,
        tokens_input: total.input,
        tokens_output: total.output,
        estimated_cost: total.cost,
    }
}

fn of_day(totals: &[UsageTotals], day: i64) -> DayUsage {
    let total = UsageSum::of(totals.iter().filter(|row| row.day == day));
    DayUsage {
        day: iso(day * 86_400_000).chars().take(DATE_CHARS).collect(),
        loop_count: total.loops,
        tokens_input: total.input,
        tokens_output: total.output,
        estimated_cost: total.cost,
    }
}

fn of_user(totals: &[UsageTotals], user: user::Model) -> UserUsage {
    let total = UsageSum::of(totals.iter().filter(|row| row.user_id == user.id));
    let names = [user.first_name, user.last_name].into_iter().flatten().collect::<Vec<_>>();
    UserUsage {
        user_id: user.id,
        user_name: (!names.is_empty()).then(|| names.join(" ")),
        user_email: user.email,
        user_avatar_url: user.avatar_url,
        loop_count: total.loops,
        tokens_input: total.input,
        tokens_output: total.output,
        estimated_cost: total.cost,
    }
}

#[derive(Default)]
struct UsageSum {
    loops: i64,
    input: i64,
    output: i64,
    cost: f64,
}

impl UsageSum {
    fn of<'a>(totals: impl Iterator<Item = &'a UsageTotals>) -> Self {
        totals.fold(Self::default(), |total, row| Self {
            loops: total.loops + row.loops,
            input: total.input + row.input,
            output: total.output + row.output,
            cost: total.cost + row.cost.unwrap_or_default(),
        })
    }
}
