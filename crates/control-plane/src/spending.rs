//! Spending of loops per loop and day, and the limits of their organization.
//!
//! A launch carries the loop's budget, and the desktop enforces it. The control plane fails a loop when the
//! day's or month's limit of the organization is reached, and as a safeguard when the loop has spent twice
//! its own limit.

use http::StatusCode;
use jiff::tz::TimeZone;
use loopgate_api::event::code;
use loopgate_api::job::LoopStatus;
use loopgate_api::usd::Usd;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Alias, Condition, Expr, ExprTrait, OnConflict, SimpleExpr};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QuerySelect};
use serde_json::json;

use crate::error::{ApiError, ApiResult};
use crate::loop_state;
use crate::organizations::{self, SpendingLimits};
use crate::store::entity::loop_spending::{self, Column};
use crate::store::entity::{agent_loop, organization};
use crate::store::now;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

// A limit for all loops of an organization that has been reached.
struct ReachedLimit {
    limit: Usd,
    period: &'static str,
}

impl ReachedLimit {
    fn message(&self) -> String {
        format!("The organization has reached its spending limit of ${:.2} {}", self.limit, self.period)
    }
}

/// Records the total that a loop has spent. The difference to the recorded total counts for today. A smaller
/// total comes from a stale event and is ignored.
pub async fn record(tx: &DatabaseTransaction, row: &agent_loop::Model, total: Usd) -> Result<(), DbErr> {
    let delta = total.saturating_sub(sum(tx, Column::LoopId.eq(row.id)).await?);
    if delta.is_zero() {
        return Ok(());
    }
    let delta = i64::try_from(delta.micros()).unwrap_or(i64::MAX);
    let row_of_today = loop_spending::ActiveModel {
        loop_id: Set(row.id),
        day: Set(now() / DAY_MS),
        organization_id: Set(row.organization_id),
        micros: Set(delta),
    };
    let on_conflict = OnConflict::columns([Column::LoopId, Column::Day])
        .value(Column::Micros, Expr::col((loop_spending::Entity, Column::Micros)).add(delta))
        .to_owned();
    loop_spending::Entity::insert(row_of_today).on_conflict(on_conflict).exec_without_returning(tx).await?;
    Ok(())
}

/// Fails a loop that has exceeded a limit. Returns whether it did.
pub async fn enforce(tx: &DatabaseTransaction, row: &agent_loop::Model) -> Result<bool, DbErr> {
    let limits = limits(tx, row.organization_id).await?;
    let message = match reached(tx, row.organization_id, &limits).await? {
        Some(reached) => reached.message(),
        // The desktop enforces the loop's limit between steps, so some overshoot is normal. Twice the limit
        // means that it does not enforce it.
        None => match limits.per_loop_usd {
            Some(limit) if sum(tx, Column::LoopId.eq(row.id)).await?.saturating_sub(limit) >= limit => {
                format!("The loop has spent more than twice its limit of ${limit:.2}")
            }
            _ => return Ok(false),
        },
    };
    let error = json!({"code": code::SPENDING_LIMIT, "message": message});
    loop_state::end(tx, row.id, LoopStatus::Failed, error, json!({})).await
}

/// Returns 429 when the organization has reached its limit for today or this month.
pub async fn check(db: &impl ConnectionTrait, organization: &organization::Model) -> ApiResult<()> {
    let limits = organizations::settings(organization).spending_limits;
    match reached(db, organization.id, &limits).await? {
        Some(reached) => {
            Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, reached.message()).code(code::SPENDING_LIMIT))
        }
        None => Ok(()),
    }
}

/// Returns the budget of a loop that is launched now: the smallest remaining amount of all limits, or `None`
/// without a limit.
pub async fn budget(db: &impl ConnectionTrait, organization_id: Uuid) -> Result<Option<Usd>, DbErr> {
    let limits = limits(db, organization_id).await?;
    let mut budget = limits.per_loop_usd;
    for (limit, since, _) in periods(&limits) {
        let remaining = limit.saturating_sub(spent_since(db, organization_id, since).await?);
        budget = Some(budget.map_or(remaining, |budget| budget.min(remaining)));
    }
    Ok(budget)
}

async fn limits(db: &impl ConnectionTrait, organization_id: Uuid) -> Result<SpendingLimits, DbErr> {
    let row = organization::Entity::find_by_id(organization_id).one(db).await?;
    Ok(row.map(|row| organizations::settings(&row).spending_limits).unwrap_or_default())
}

async fn reached(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    limits: &SpendingLimits,
) -> Result<Option<ReachedLimit>, DbErr> {
    for (limit, since, period) in periods(limits) {
        if spent_since(db, organization_id, since).await? >= limit {
            return Ok(Some(ReachedLimit { limit, period }));
        }
    }
    Ok(None)
}

// Limit, first day (since the epoch) and name of each period that has a limit.
fn periods(limits: &SpendingLimits) -> impl Iterator<Item = (Usd, i64, &'static str)> {
    let today = now() / DAY_MS;
    let day = limits.per_day_usd.map(|limit| (limit, today, "a day"));
    let month = limits.per_month_usd.map(|limit| (limit, first_of_month(now()), "a month"));
    day.into_iter().chain(month)
}

// The first day of the month of an instant, in days since the epoch.
fn first_of_month(at: i64) -> i64 {
    let date = jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(TimeZone::UTC).date();
    at / DAY_MS - i64::from(date.day() - 1)
}

async fn spent_since(db: &impl ConnectionTrait, organization_id: Uuid, day: i64) -> Result<Usd, DbErr> {
    sum(db, Condition::all().add(Column::OrganizationId.eq(organization_id)).add(Column::Day.gte(day))).await
}

async fn sum(db: &impl ConnectionTrait, of: impl sea_orm::sea_query::IntoCondition) -> Result<Usd, DbErr> {
    // PostgreSQL returns `numeric` for SUM(bigint), which sqlx does not decode as i64.
    let total: SimpleExpr = Expr::col(Column::Micros).sum().cast_as(Alias::new("bigint"));
    let total: Option<Option<i64>> = loop_spending::Entity::find()
        .select_only()
        .column_as(total, "micros")
        .filter(of)
        .into_tuple()
        .one(db)
        .await?;
    Ok(Usd::from_micros(total.flatten().and_then(|micros| u64::try_from(micros).ok()).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_of_month_is_day_one_of_that_month() {
        let day = |text: &str| {
            let at: jiff::Timestamp = format!("{text}T00:00:00Z").parse().unwrap();
            at.as_millisecond() / DAY_MS
        };
        for (date, first) in
            [("2026-11-26", "2026-11-01"), ("2024-02-29", "2024-02-01"), ("2026-01-01", "2026-01-01")]
        {
            let at = (day(date) + 1) * DAY_MS - 1;
            assert_eq!(first_of_month(at), day(first), "{date}");
        }
    }
}
