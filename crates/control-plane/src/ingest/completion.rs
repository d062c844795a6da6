//! Completion of a loop: converts results of either schema into one structure, and uploads of the runner into
//! documents and pull requests.

use std::collections::BTreeMap;

use loopgate_api::command::LoopCommand;
use loopgate_api::event::{ModelTokens, TokensUsed, code};
use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::ids::BranchName;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::RepoRef;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, OnConflict, SimpleExpr};
use sea_orm::{DatabaseTransaction, UpdateMany};
use serde_json::{Map, Value, json};

use super::cost;
use super::runner_event::{RunnerEvent, is_session_id};
use crate::agents::roster;
use crate::change_requests::{self, reviews};
use crate::documents;
use crate::error::{ApiResult, ValidationIssues, invalid_transition};
use crate::loop_state::{self, TransitionResult};
use crate::loops::contents;
use crate::store::entity::{agent_loop, loop_content, pull_request};
use crate::store::{now, parse_json};

/// Completes a loop with its results. Returns the event to store, or `None` when the loop has already
/// finished.
pub async fn completed(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    event: RunnerEvent,
) -> ApiResult<Option<RunnerEvent>> {
    if row.status.0 == LoopStatus::Completed {
        return Ok(None);
    }
    let outcome = CompletedEvent::read(tx, row, &event).await?;
    // An approved delivery runs no assistant.
    let must_work =
        row.command.0 == LoopCommand::Execute && reviews::approved_commits(tx, row.id).await?.is_none();
    if must_work && outcome.used_no_tokens() {
        return no_work(tx, row, event).await;
    }
    // An error in any of these steps rolls back the transaction, and the runner retries the event.
    if row.command.0 == LoopCommand::Bootstrap {
        roster::ingest_uploaded(tx, row).await?;
    }
    documents::ingest::uploaded(tx, row).await?;
    store_pull_requests(tx, row, &outcome.results).await?;
    if row.command.0 == LoopCommand::Execute && outcome.delivered() {
        documents::ingest::mark_executed(tx, row).await?;
    }
    let columns = |update| outcome.columns(row, update);
    match loop_state::apply(tx, row.id, LoopStatus::Completed, columns).await? {
        TransitionResult::Applied => {
            outcome.store_contents(tx, row.id).await?;
            // Again: the contents tell whether the work was delivered.
            change_requests::refresh_of_loop(tx, row.id).await?;
            Ok(Some(event))
        }
        TransitionResult::Refused(from) if from.is_terminal() => Ok(None),
        TransitionResult::Refused(from) => Err(invalid_transition(from)),
    }
}

/// Stores the deliveries of a failed or cancelled loop, also when the loop had a terminal status before this
/// event arrived. Returns whether the event contained any.
pub async fn delivered(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    event: &RunnerEvent,
) -> ApiResult<bool> {
    if event.results().is_none_or(|results| results.is_empty()) {
        return Ok(false);
    }
    let outcome = CompletedEvent::read(tx, row, event).await?;
    store_pull_requests(tx, row, &outcome.results).await?;
    let update =
        agent_loop::Entity::update_many().col_expr(agent_loop::Column::UpdatedAt, Expr::value(now()));
    outcome.delivery_columns(update).filter(agent_loop::Column::Id.eq(row.id)).exec(tx).await?;
    contents::update(tx, row.id, outcome.results_column()).await?;
    change_requests::refresh_of_loop(tx, row.id).await?;
    Ok(true)
}

/// Fails an EXECUTE loop without any tokens: the model was never called, so no work was done, regardless of
/// the reported result.
async fn no_work(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    mut event: RunnerEvent,
) -> ApiResult<Option<RunnerEvent>> {
    let message = "EXECUTE loop completed with 0 tokens -- no work was done";
    let error = json!({"code": code::NO_WORK_PRODUCED, "message": message});
    let columns = |update: UpdateMany<_>| update.col_expr(agent_loop::Column::Error, Expr::value(error));
    if loop_state::apply(tx, row.id, LoopStatus::Failed, columns).await? != TransitionResult::Applied {
        return Ok(None);
    }
    event.kind = "error".to_owned();
    event.members.insert("code".to_owned(), code::NO_WORK_PRODUCED.into());
    event.members.insert("message".to_owned(), message.into());
    Ok(Some(event))
}

/// Content of a `completed` event.
struct CompletedEvent {
    result: Map<String, Value>,
    tokens: TokensUsed,
    by_model: Option<BTreeMap<String, ModelTokens>>,
    api_key_source: Option<String>,
    warnings: Option<Value>,
    results: Vec<ResultEntry>,
    /// Members of the event itself; older runners send members of `result` here.
    top: Map<String, Value>,
}

impl CompletedEvent {
    async fn read(tx: &DatabaseTransaction, row: &agent_loop::Model, event: &RunnerEvent) -> ApiResult<Self> {
        let members = &event.members;
        let result = members.get("result").and_then(Value::as_object).cloned().unwrap_or_default();
        let outcome = Self {
            results: normalized(tx, row, event, &result).await?,
            result,
            tokens: parse_json(members.get("tokensUsed")).unwrap_or_default(),
            by_model: event.tokens_by_model(),
            api_key_source: event.text("apiKeySource").map(str::to_owned),
            warnings: members.get("warnings").filter(|warnings| warnings.is_array()).cloned(),
            top: members.clone(),
        };
        outcome.check_repositories(row)?;
        outcome.check_delivery()?;
        Ok(outcome)
    }

    /// Rejects results for repositories that the loop was not authorized for.
    fn check_repositories(&self, row: &agent_loop::Model) -> ApiResult<()> {
        let mut authorized: Vec<RepoRef> = parse_json(row.additional_repos.as_ref()).unwrap_or_default();
        authorized.extend(parse_json::<RepoRef>(row.repo.as_ref()));
        let mut issues = ValidationIssues::default();
        for (index, entry) in self.results.iter().enumerate() {
            if !authorized.iter().any(|repo| repo.full_name.eq_ignore_ascii_case(entry.full_name())) {
                issues.push(format!("results.{index}.fullName"), "fullName not in authorized repo set");
            }
        }
        issues.into_result()
    }

    /// Rejects a pull request or branch outside of `results`, as older runners send them, that the form of
    /// `results` would not allow: the page links to it.
    fn check_delivery(&self) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        if let Some(url) = self.text("prUrl") {
            let is_result =
                |entry: &ResultEntry| matches!(entry, ResultEntry::Success(entry) if entry.pr_url == url);
            let text = "prUrl does not match canonical format";
            issues.require(self.results.iter().any(is_result), "prUrl", text);
        }
        if let Some(Err(error)) = self.text("branchName").map(|name| name.parse::<BranchName>()) {
            issues.push("branchName", error.to_string());
        }
        issues.into_result()
    }

    const fn used_no_tokens(&self) -> bool {
        self.tokens.input == 0
            && self.tokens.output == 0
            && self.tokens.cache_creation_input_tokens == 0
            && self.tokens.cache_read_input_tokens == 0
    }

    fn delivered(&self) -> bool {
        self.results.iter().any(|entry| matches!(entry, ResultEntry::Success(_)))
    }

    fn member(&self, name: &str) -> Option<&Value> {
        self.result.get(name).or_else(|| self.top.get(name)).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.member(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Adds the columns of the delivery to an update.
    fn delivery_columns(&self, mut update: UpdateMany<agent_loop::Entity>) -> UpdateMany<agent_loop::Entity> {
        use agent_loop::Column;
        for (name, column) in [("prUrl", Column::PrUrl), ("branchName", Column::BranchName)] {
            if let Some(text) = self.text(name) {
                update = update.col_expr(column, Expr::value(text));
            }
        }
        if let Some(number) = self.member("prNumber").and_then(Value::as_i64) {
            update = update.col_expr(Column::PrNumber, Expr::value(number));
        }
        update
    }

    fn results_column(&self) -> Option<(loop_content::Column, SimpleExpr)> {
        (!self.results.is_empty()).then(|| (loop_content::Column::Results, Expr::value(json!(self.results))))
    }

    fn columns(
        &self,
        row: &agent_loop::Model,
        update: UpdateMany<agent_loop::Entity>,
    ) -> UpdateMany<agent_loop::Entity> {
        use agent_loop::Column;
        // Counters never decrease: `output` events may have reported more than the final sum contains.
        let count = |reported: u64, current: i64| cost::stored_count(reported).max(current);
        let cost = cost::estimate(self.by_model.as_ref(), &self.tokens, self.api_key_source.as_deref());
        let mut update = self
            .delivery_columns(update)
            .col_expr(Column::TokensInput, Expr::value(count(self.tokens.input, row.tokens_input)))
            .col_expr(Column::TokensOutput, Expr::value(count(self.tokens.output, row.tokens_output)))
            .col_expr(Column::EstimatedCost, Expr::value(cost));
        if let Some(session) = self.text("sessionId").filter(|id| is_session_id(id)) {
            update = update.col_expr(Column::SessionId, Expr::value(session));
        }
        for (column, value) in self.by_model.iter().flat_map(cost::cache_columns) {
            update = update.col_expr(column, value);
        }
        update
    }

    async fn store_contents(&self, tx: &DatabaseTransaction, loop_id: Uuid) -> Result<(), DbErr> {
        let by_model = self.by_model.as_ref();
        let by_model =
            by_model.map(|tokens| (loop_content::Column::TokensByModel, Expr::value(json!(tokens))));
        contents::update(tx, loop_id, by_model.into_iter().chain(self.results_column())).await?;
        contents::merge_metadata(tx, loop_id, self.metadata()).await
    }

    /// Returns the members for the metadata of the loop.
    fn metadata(&self) -> Map<String, Value> {
        let mut metadata = Map::new();
        if let Some(source) = &self.api_key_source {
            metadata.insert(contents::API_KEY_SOURCE.to_owned(), source.clone().into());
        }
        if let Some(warnings) = &self.warnings {
            metadata.insert("warnings".to_owned(), warnings.clone());
        }
        // An unfinished review reports `null`, which the page distinguishes from an absent verdict.
        if let Some(verdict) = self.result.get("verdict") {
            metadata.insert("verdict".to_owned(), verdict.clone());
        }
        if let Some(cost) = self.top.get("cost").filter(|cost| cost.is_object()) {
            metadata.insert(cost::REPORTED.to_owned(), cost.clone());
        }
        metadata
    }
}

/// Returns the results in one schema: `results` of the event, or the uploaded result file, or else the
/// members of `result`.
async fn normalized(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    event: &RunnerEvent,
    result: &Map<String, Value>,
) -> Result<Vec<ResultEntry>, DbErr> {
    if let Some(results) = event.results() {
        return Ok(results);
    }
    let repo: Option<RepoRef> = parse_json(row.repo.as_ref());
    let Some(repo) = repo.filter(|_| row.command.0 == LoopCommand::Execute) else {
        return Ok(Vec::new());
    };
    let uploaded: Option<Value> = contents::artifact(tx, row.id, "executionResult").await?;
    let parsed = uploaded.and_then(|file| ExecutionResult::parse(&file, Some(&repo.full_name)).ok());
    if let Some(parsed) = parsed {
        return Ok(parsed.results);
    }
    let member = |name: &str| result.get(name).filter(|value| !value.is_null()).cloned();
    // The oldest runners report a single repository, with its members directly in `result`.
    let v1 = json!({
        "has_changes": member("has_changes").unwrap_or_else(|| member("prUrl").is_some().into()),
        "pr_url": member("prUrl").unwrap_or_else(|| "".into()),
        "pr_number": member("prNumber").unwrap_or_else(|| 0.into()),
        "branch_name": member("branchName").unwrap_or_else(|| "".into()),
        "base_ref": member("baseBranch").unwrap_or_else(|| repo.branch.clone().into()),
        "pr_title": member("prTitle"),
        "commit_sha": member("commitSha"),
    });
    Ok(ExecutionResult::parse(&v1, Some(&repo.full_name)).map(|parsed| parsed.results).unwrap_or_default())
}

async fn store_pull_requests(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    results: &[ResultEntry],
) -> Result<(), DbErr> {
    for entry in results {
        let ResultEntry::Success(entry) = entry else { continue };
        let title = entry.pr_title.clone().unwrap_or_else(|| format!("Loopgate: {}", entry.branch_name));
        let new = pull_request::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(row.organization_id),
            document_id: Set(row.document_id),
            loop_id: Set(row.id),
            full_name: Set(entry.pull_request_repository().to_owned()),
            number: Set(i64::try_from(entry.pr_number).unwrap_or_default()),
            url: Set(entry.pr_url.clone()),
            title: Set(title),
            branch_name: Set(entry.branch_name.clone()),
            base_branch: Set(entry.base_branch.clone()),
            created_at: Set(now()),
            standing: Set(None),
            reported_at: Set(None),
        };
        // A later loop that pushes to the same pull request reports it again.
        let keep_existing =
            OnConflict::columns([pull_request::Column::OrganizationId, pull_request::Column::Url])
                .do_nothing()
                .to_owned();
        pull_request::Entity::insert(new).on_conflict(keep_existing).exec_without_returning(tx).await?;
    }
    Ok(())
}
