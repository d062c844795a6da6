//! Usage of loops. Finished loops are summed per day, so that the cost of a report does not depend on the
//! number of loops.
//!
//! A loop counts on the day of its creation, from its first terminal status on. A loop that is resumed is
//! subtracted until it ends again.

use std::collections::BTreeMap;
use std::ops::{Add, RangeInclusive};

use loopgate_api::command::LoopCommand;
use loopgate_api::usd::Usd;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict, SimpleExpr};
use sea_orm::{ConnectionTrait, DatabaseTransaction, FromQueryResult, QueryOrder, QueryResult, QuerySelect};

use crate::loop_state::{ACTIVE, status_values};
use crate::store::column::StoredEnum;
use crate::store::entity::agent_loop;
use crate::store::entity::usage_day::{self, Column};

pub const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Largest number of tokens that a loop counts for. Runners report the number: without a limit, the sum of
/// two loops could exceed the range of the column.
pub const COUNT_LIMIT: i64 = 1_000_000_000_000;

/// Usage of one loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopUsage {
    organization_id: Uuid,
    day: i64,
    user_id: Uuid,
    command: LoopCommand,
    counts: [i64; COUNTS.len()],
}

const COUNTS: [Column; 6] = [
    Column::Loops,
    Column::TokensInput,
    Column::TokensOutput,
    Column::CacheCreationTokens,
    Column::CacheReadTokens,
    Column::CostMicros,
];

impl From<&agent_loop::Model> for LoopUsage {
    fn from(row: &agent_loop::Model) -> Self {
        let cost = row.estimated_cost.and_then(|dollars| Usd::try_from(dollars).ok()).unwrap_or_default();
        let micros = i64::try_from(cost.micros()).unwrap_or(COUNT_LIMIT);
        let tokens =
            [row.tokens_input, row.tokens_output, row.cache_creation_tokens, row.cache_read_tokens, micros];
        let [input, output, creation, read, micros] = tokens.map(|count| Ord::min(count, COUNT_LIMIT));
        Self {
            organization_id: row.organization_id,
            day: row.created_at / DAY_MS,
            user_id: row.user_id,
            command: row.command.0,
            counts: [1, input, output, creation, read, micros],
        }
    }
}

/// Updates the sums for a loop that counted as `before` and counts as `after` from now on.
pub async fn replace(
    tx: &DatabaseTransaction,
    before: Option<&LoopUsage>,
    after: Option<&LoopUsage>,
) -> Result<(), DbErr> {
    // Day, user and command of a loop never change, so one row is affected.
    let Some(LoopUsage { organization_id, day, user_id, command, .. }) = after.or(before) else {
        return Ok(());
    };
    let count = |usage: Option<&LoopUsage>, index: usize| usage.map_or(0, |usage| usage.counts[index]);
    let delta = |index| count(after, index) - count(before, index);
    let row = usage_day::ActiveModel {
        organization_id: Set(*organization_id),
        day: Set(*day),
        user_id: Set(*user_id),
        command: Set(StoredEnum(*command)),
        loops: Set(delta(0)),
        tokens_input: Set(delta(1)),
        tokens_output: Set(delta(2)),
        cache_creation_tokens: Set(delta(3)),
        cache_read_tokens: Set(delta(4)),
        cost_micros: Set(delta(5)),
    };
    let mut add = OnConflict::columns([Column::OrganizationId, Column::Day, Column::UserId, Column::Command]);
    for (index, column) in COUNTS.into_iter().enumerate() {
        add.value(column, Expr::col((usage_day::Entity, column)).add(delta(index)));
    }
    usage_day::Entity::insert(row).on_conflict(add).exec_without_returning(tx).await?;
    Ok(())
}

/// Selects the usage of loops that were created within a period.
#[derive(Debug, Clone)]
pub struct UsagePeriod {
    /// Organization of the loops.
    pub organization_id: Uuid,
    /// First and last day, in days since the Unix epoch, in UTC; unlimited where `None`.
    pub days: RangeInclusive<Option<i64>>,
    /// Only loops of this command.
    pub command: Option<LoopCommand>,
}

/// Sums of a group of loops.
#[derive(Debug, Clone, Copy, Default, FromQueryResult)]
pub struct UsageSum {
    pub loops: i64,
    pub tokens_input: i64,
    pub tokens_output: i64,
    /// Tokens written to the prompt cache.
    pub cache_creation_tokens: i64,
    /// Tokens read from the prompt cache.
    pub cache_read_tokens: i64,
    /// Estimated cost in millionths of a US dollar.
    pub cost_micros: i64,
}

impl UsageSum {
    /// Returns the estimated cost in US dollars.
    pub fn dollars(self) -> f64 {
        Usd::from_micros(u64::try_from(self.cost_micros).unwrap_or_default()).into()
    }
}

impl From<[i64; COUNTS.len()]> for UsageSum {
    fn from(counts: [i64; COUNTS.len()]) -> Self {
        let [loops, tokens_input, tokens_output, cache_creation_tokens, cache_read_tokens, cost_micros] =
            counts;
        Self { loops, tokens_input, tokens_output, cache_creation_tokens, cache_read_tokens, cost_micros }
    }
}

impl Add for UsageSum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            loops: self.loops + other.loops,
            tokens_input: self.tokens_input + other.tokens_input,
            tokens_output: self.tokens_output + other.tokens_output,
            cache_creation_tokens: self.cache_creation_tokens + other.cache_creation_tokens,
            cache_read_tokens: self.cache_read_tokens + other.cache_read_tokens,
            cost_micros: self.cost_micros + other.cost_micros,
        }
    }
}

/// Usage of a period, grouped in three ways.
#[derive(Debug, Default)]
pub struct UsageReport {
    pub commands: Vec<(LoopCommand, UsageSum)>,
    pub users: BTreeMap<Uuid, UsageSum>,
    /// Sums by day, in days since the Unix epoch, in UTC.
    pub days: BTreeMap<i64, UsageSum>,
}

impl UsageReport {
    fn add(&mut self, command: LoopCommand, user_id: Uuid, sum: UsageSum) {
        match self.commands.iter_mut().find(|(known, _)| *known == command) {
            Some((_, total)) => *total = *total + sum,
            None => self.commands.push((command, sum)),
        }
        let total = self.users.entry(user_id).or_default();
        *total = *total + sum;
    }

    fn add_day(&mut self, day: i64, sum: UsageSum) {
        let total = self.days.entry(day).or_default();
        *total = *total + sum;
    }
}

impl UsagePeriod {
    /// Returns the sums of finished and active loops. Pass a transaction, so that a loop that ends in between is
    /// counted once.
    pub async fn report(&self, tx: &DatabaseTransaction) -> Result<UsageReport, DbErr> {
        let mut report = UsageReport::default();
        // Each grouping is the order of an index of the table, so that neither statement sorts.
        for row in self.finished(tx, &[Column::Command, Column::UserId]).await? {
            let command: StoredEnum<LoopCommand> = row.try_get("", Column::Command.as_str())?;
            let user_id = row.try_get("", Column::UserId.as_str())?;
            report.add(command.0, user_id, UsageSum::from_query_result(&row, "")?);
        }
        for row in self.finished(tx, &[Column::Day]).await? {
            let day = row.try_get("", Column::Day.as_str())?;
            report.add_day(day, UsageSum::from_query_result(&row, "")?);
        }
        for row in self.active().all(tx).await? {
            let LoopUsage { day, user_id, command, counts, .. } = LoopUsage::from(&row);
            let sum = UsageSum::from(counts);
            report.add(command, user_id, sum);
            report.add_day(day, sum);
        }
        Ok(report)
    }

    async fn finished(&self, db: &impl ConnectionTrait, keys: &[Column]) -> Result<Vec<QueryResult>, DbErr> {
        let mut sums = usage_day::Entity::find().filter(Column::OrganizationId.eq(self.organization_id));
        if let Some(first) = self.days.start() {
            sums = sums.filter(Column::Day.gte(*first));
        }
        if let Some(last) = self.days.end() {
            sums = sums.filter(Column::Day.lte(*last));
        }
        if let Some(command) = self.command {
            sums = sums.filter(Column::Command.eq(StoredEnum(command)));
        }
        let mut sums = sums.select_only();
        for key in keys {
            sums = sums.column(*key).group_by(*key).order_by_asc(*key);
        }
        for column in COUNTS {
            // PostgreSQL returns the sum of a bigint column as numeric, which does not decode into i64.
            let sum: SimpleExpr = Expr::col(column).sum().cast_as(Alias::new("bigint"));
            sums = sums.column_as(sum, column.as_str());
        }
        db.query_all(QuerySelect::query(&mut sums)).await
    }

    fn active(&self) -> Select<agent_loop::Entity> {
        use agent_loop::Column;
        let mut loops = agent_loop::Entity::find()
            .filter(Column::OrganizationId.eq(self.organization_id))
            .filter(Column::Status.is_in(status_values(ACTIVE)));
        if let Some(first) = self.days.start() {
            loops = loops.filter(Column::CreatedAt.gte(first.saturating_mul(DAY_MS)));
        }
        if let Some(last) = self.days.end() {
            loops = loops.filter(Column::CreatedAt.lt(last.saturating_add(1).saturating_mul(DAY_MS)));
        }
        if let Some(command) = self.command {
            loops = loops.filter(Column::Command.eq(StoredEnum(command)));
        }
        loops
    }
}
