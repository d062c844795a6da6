//! `/api/gateway/learnings`: the patterns learned from loops and chats, and decisions of a person about them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use loopgate_api::error::ErrorBody;
use loopgate_learnings::{AgreementError, LearningSource, ListedPattern, PatternHistory};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::route::Endpoint;

/// All stored patterns.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"patterns": [{"id": "P-001", "category": "pattern", "summary": "Check the lock, then write", "confidence": "high", "seen_count": 5, "success_rate": 0.85, "flags": [], "applies_to": ["*"], "context": ["io"], "repo": "*", "raw": "P-001,pattern,\"Check the lock, then write\",high,5,0.85,,*,io,*", "history": {"sources": [{"repo": "acme/shop", "run": "shop-SHOP-7", "ticket": "SHOP-7", "file": "src/lock.rs:12", "commit": "0123abcd", "evidence": "the lock was not checked"}], "proposed": true, "agreement": {"by": "Kim", "at": "2030-01-01T00:00:00Z", "repo": "acme/shop"}, "needsAgreement": false, "shown": 12, "uses": 4, "verified": 4, "lastUsedAt": "2030-01-02T00:00:00Z", "conflictsWith": []}}]}))]
pub(crate) struct LearnedPatterns {
    patterns: Vec<LearnedPattern>,
}

/// A pattern learned from loops or chats.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LearnedPattern {
    id: String,
    /// `pattern`, `mistake`, `convention` or `insight`
    category: String,
    /// At most 240 characters
    summary: String,
    /// `high`, `medium` or `low`
    confidence: &'static str,
    /// Number of times that the pattern was learned or used
    seen_count: u64,
    /// Share of successful uses, 0 to 1; 0 when the pattern was never used
    success_rate: f64,
    flags: Vec<String>,
    /// Agents to which the pattern applies; `*` is all
    applies_to: Vec<String>,
    context: Vec<String>,
    /// Name of the repository to which the pattern applies; `*` is all
    repo: String,
    /// Unparsed line of the pattern in its file
    raw: String,
    history: LearningHistory,
}

/// Where a pattern came from, who agreed to it, and what it did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LearningHistory {
    /// Origins, oldest first; at most 20, and none for a pattern that the user wrote
    sources: Vec<LearningOrigin>,
    /// Whether the assistant considers the pattern true for other repositories too
    proposed: bool,
    /// Agreement of a person that the pattern applies to all repositories; absent without one
    #[serde(skip_serializing_if = "Option::is_none")]
    agreement: Option<LearningAgreement>,
    /// Whether the pattern applies nowhere until a person agrees
    needs_agreement: bool,
    /// Number of agents that received the pattern
    shown: u64,
    /// Number of uses
    uses: u64,
    /// Number of uses that proved correct
    verified: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    /// Ids of contradicting patterns
    conflicts_with: Vec<String>,
}

/// Origin of a pattern. Unknown members are empty.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LearningOrigin {
    /// Owner and name of the repository
    repo: String,
    /// Name of the worktree's directory
    run: String,
    /// Id of the ticket, the loop's run or the session
    ticket: String,
    /// File in the repository, with `:line` when known
    file: String,
    commit: String,
    /// Words of the loop's records that show what was corrected
    evidence: String,
}

/// Agreement of a person that a pattern applies to all repositories.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LearningAgreement {
    /// The person, as the client named them
    by: String,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Repository of the pattern before
    repo: String,
}

/// Decision of a person about a pattern.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"id": "P-001", "summary": "Check the lock, then write", "action": "agree", "by": "Kim"}))]
struct LearningDecisionRequest {
    /// Id of the pattern
    id: String,
    /// The summary that the person has seen; a changed pattern is refused
    summary: String,
    action: LearningAction,
    /// Name of the person
    #[serde(default)]
    by: String,
}

/// What a person decides about a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum LearningAction {
    /// It applies to all repositories.
    Agree,
    /// It applies to its own repository only.
    Withdraw,
    /// It is deleted, and not learned again.
    Delete,
}

impl From<PatternHistory> for LearningHistory {
    fn from(history: PatternHistory) -> Self {
        let origin = |source: LearningSource| LearningOrigin {
            repo: source.repo,
            run: source.run,
            ticket: source.ticket,
            file: source.file,
            commit: source.commit,
            evidence: source.evidence,
        };
        let agreement = history.agreement;
        Self {
            sources: history.sources.into_iter().map(origin).collect(),
            proposed: history.proposed,
            agreement: agreement.map(|it| LearningAgreement { by: it.by, at: it.at, repo: it.repo }),
            needs_agreement: history.needs_agreement,
            shown: history.shown,
            uses: history.uses,
            verified: history.verified,
            last_used_at: history.last_used_at,
            conflicts_with: history.conflicts_with,
        }
    }
}

impl From<ListedPattern> for LearnedPattern {
    fn from(ListedPattern { pattern, raw, history }: ListedPattern) -> Self {
        Self {
            id: pattern.id,
            category: pattern.category,
            summary: pattern.summary,
            confidence: pattern.confidence.as_str(),
            seen_count: pattern.seen_count,
            // The interface has no null here: a pattern without uses is reported as 0.
            success_rate: pattern.success_rate.unwrap_or(0.0),
            // The file stores all flags as one string, the interface is a list.
            flags: Some(pattern.flags).filter(|flags| !flags.is_empty()).into_iter().collect(),
            applies_to: pattern.applies_to,
            context: pattern.context,
            repo: pattern.repo,
            raw,
            history: history.into(),
        }
    }
}

/// List the learned patterns
#[utoipa::path(get, path = "/api/gateway/learnings", operation_id = "list_learnings", tag = "learnings",
    responses(
        (status = 200, body = LearnedPatterns, description = "The patterns in file order"),
        (status = 500, body = ErrorBody, description = "The file cannot be read", example = json!(ErrorBody::new(500, "Failed to read learnings: stream did not contain valid UTF-8"))),
    ))]
async fn list(State(app): State<App>) -> JsonResult<LearnedPatterns> {
    let listed = spawn_blocking(move || app.learnings.patterns.list()).await?;
    let listed = listed.map_err(|error| HttpError::operation("Failed to read learnings", &error))?;
    Ok(Json(LearnedPatterns { patterns: listed.into_iter().map(Into::into).collect() }))
}

/// Decide about a learned pattern
///
/// Nothing that was learned in one repository is used in another before a person has agreed.
#[utoipa::path(post, path = "/api/gateway/learnings/decision", operation_id = "decide_learning", tag = "learnings",
    request_body = LearningDecisionRequest,
    responses(
        (status = 200, body = LearnedPatterns, description = "The patterns after the decision"),
        (status = 400, body = ErrorBody, description = "A member is missing or invalid", example = json!(ErrorBody::missing_field("summary is required"))),
        (status = 404, body = ErrorBody, description = "There is no pattern with this id", example = json!(ErrorBody::new(404, "There is no learning with this id"))),
        (status = 409, body = ErrorBody, description = "The text of the pattern has changed", example = json!(ErrorBody::new(409, "The learning has changed; load the list again"))),
        (status = 500, body = ErrorBody, description = "The files cannot be read or written", example = json!(ErrorBody::new(500, "Failed to write learnings: permission denied"))),
    ))]
async fn decide(
    State(app): State<App>,
    JsonBody(body): JsonBody<LearningDecisionRequest>,
) -> JsonResult<LearnedPatterns> {
    let store = app.learnings.patterns.clone();
    let decision = spawn_blocking(move || {
        let now = Timestamp::now();
        let LearningDecisionRequest { id, summary, action, by } = body;
        match action {
            LearningAction::Agree => {
                let by = Some(by.trim()).filter(|by| !by.is_empty()).unwrap_or("the owner of this machine");
                store.agree(&id, &summary, by, now)
            }
            LearningAction::Withdraw => store.withdraw(&id, &summary, now),
            LearningAction::Delete => store.delete(&id, &summary, now),
        }
    });
    decision.await?.map_err(|error| match error {
        AgreementError::Unknown => HttpError::not_found("There is no learning with this id"),
        AgreementError::Changed => {
            HttpError::new(StatusCode::CONFLICT, "The learning has changed; load the list again")
        }
        AgreementError::Io(error) => HttpError::operation("Failed to write learnings", &error),
    })?;
    list(State(app)).await
}

pub(crate) fn decide_endpoint() -> Endpoint {
    Endpoint::new(routes!(decide), &[])
}

pub(crate) fn list_endpoint() -> Endpoint {
    Endpoint::new(routes!(list), &[])
}
