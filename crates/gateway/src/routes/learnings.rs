//! `GET /api/gateway/learnings`: the patterns learned from loops and chats.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_learnings::ListedPattern;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::route::Endpoint;

/// All stored patterns.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"patterns": [{"id": "P-001", "category": "pattern", "summary": "Check the lock, then write", "confidence": "high", "seen_count": 5, "success_rate": 0.85, "flags": [], "applies_to": ["*"], "context": ["io"], "repo": "*", "raw": "P-001,pattern,\"Check the lock, then write\",high,5,0.85,,*,io,*"}]}))]
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
}

impl From<ListedPattern> for LearnedPattern {
    fn from(ListedPattern { pattern, raw }: ListedPattern) -> Self {
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

pub(crate) fn list_endpoint() -> Endpoint {
    Endpoint::new(routes!(list), &[])
}
