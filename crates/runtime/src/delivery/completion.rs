//! The `completed` event: schema v1, extended to v2 by `results` when a valid execution result exists.

use loopgate_api::command::LoopCommand;
use loopgate_api::event::{Completed, LoopEvent};
use loopgate_api::execution_result::{ResultEntry, SuccessEntry};
use serde_json::{Map, Value, json};

use super::artifacts::execution_facts;
use super::outcome::LoopOutcome;
use super::result::DeliveryOutcome;
use super::review_answers;
use crate::jobs::Job;

/// Builds the event from the job record, the stream summary and the delivery.
pub(super) async fn event(
    job: &Job,
    outcome: &LoopOutcome<'_>,
    delivered: Option<&DeliveryOutcome>,
    warnings: &[String],
) -> LoopEvent {
    let results = delivered.and_then(|outcome| outcome.result.as_ref()).map(|result| result.results.clone());
    let mut result = Map::new();
    result.insert("exitCode".to_owned(), json!(job.run.exit_code.unwrap_or(0)));
    result.insert("subtype".to_owned(), json!(job.command.lower()));
    if job.command == LoopCommand::Execute {
        result.extend(delivery(job, results.as_deref()));
        for (name, value) in execution_facts(job, outcome.source) {
            result.insert(name.to_owned(), value);
        }
    }
    // Results name the pushed branch, which may differ from the worktree's. Ask git only without one.
    if !result.contains_key("branchName") {
        let branch = outcome.branch_of(job).await;
        result.extend(branch.map(|branch| ("branchName".to_owned(), Value::from(branch))));
    }
    let answers = review_answers::read(job, results.as_deref()).await;
    let session = outcome.summary.session_id.clone();
    result.extend(session.map(|session| ("sessionId".to_owned(), Value::from(session))));
    let by_model = outcome.summary.ledger.by_model();
    let completed = Completed {
        result,
        tokens_used: outcome.summary.tokens_used(),
        tokens_by_model: (!by_model.is_empty()).then_some(by_model),
        cost: outcome.summary.ledger.cost().cloned(),
        api_key_source: outcome.summary.api_key_source.clone(),
        results,
        comment_answers: answers.map(|answers| answers.answers),
        warnings: warnings.to_vec(),
    };
    let mut event = LoopEvent::new("completed", &completed);
    event.members.insert("loopId".to_owned(), json!(job.id));
    event
}

/// Adds delivered pull requests to the terminal event of a loop that did not complete.
pub(super) fn add_delivery(event: &mut LoopEvent, job: &Job, results: Option<&[ResultEntry]>) {
    if let Some(results) = results {
        event.members.insert("result".to_owned(), delivery(job, Some(results)).into());
        event.members.insert("results".to_owned(), json!(results));
    }
}

/// Adds the answers to the comments of a review to the terminal event of a loop that did not complete.
pub(super) async fn add_answers(event: &mut LoopEvent, job: &Job, results: Option<&[ResultEntry]>) {
    if let Some(answers) = review_answers::read(job, results).await {
        event.members.insert("commentAnswers".to_owned(), json!(answers.answers));
    }
}

/// Returns the members that describe the loop's primary repository.
fn delivery(job: &Job, results: Option<&[ResultEntry]>) -> Map<String, Value> {
    let primary = results.and_then(|entries| primary(job, entries));
    let mut members = Map::new();
    members.insert("prUrl".to_owned(), json!(primary.map(|entry| &entry.pr_url)));
    members.insert("prNumber".to_owned(), json!(primary.map(|entry| entry.pr_number)));
    members.insert("has_changes".to_owned(), json!(primary.is_some_and(|entry| entry.has_changes)));
    let sha = primary.and_then(|entry| entry.commit_sha.as_ref());
    members.extend(sha.map(|sha| ("commitSha".to_owned(), json!(sha))));
    members.extend(primary.map(|entry| ("branchName".to_owned(), json!(entry.branch_name))));
    members
}

/// Returns the entry of the loop's primary repository if its work was delivered.
fn primary<'a>(job: &Job, entries: &'a [ResultEntry]) -> Option<&'a SuccessEntry> {
    let primary_name = job.workspace.primary_repo_full_name.as_deref();
    // Loops without a recorded repository name report it as the first entry.
    let entry =
        entries.iter().find(|entry| Some(entry.full_name()) == primary_name).or_else(|| entries.first())?;
    match entry {
        ResultEntry::Success(entry) => Some(entry),
        _ => None,
    }
}
