//! `GET /api/gateway/learnings`: the patterns that loops and chats taught.

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

/// Every pattern.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"patterns": [{"id": "P-001", "category": "pattern", "summary": "Check the lock, then write", "confidence": "high", "seen_count": 5, "success_rate": 0.85, "flags": [], "applies_to": ["*"], "context": ["io"], "repo": "*", "raw": "P-001,pattern,\"Check the lock, then write\",high,5,0.85,,*,io,*"}]}))]
pub(crate) struct LearnedPatterns {
    patterns: Vec<LearnedPattern>,
}

/// One pattern.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LearnedPattern {
    id: String,
    /// `pattern`, `mistake`, `convention` or `insight`
    category: String,
    /// At most 240 characters
    summary: String,
    /// `high`, `medium` or `low`
    confidence: &'static str,
    /// How often it was learned or used
    seen_count: u64,
    /// Share of uses that held, 0 to 1; 0 without a use
    success_rate: f64,
    flags: Vec<String>,
    /// Agents that it is meant for
    applies_to: Vec<String>,
    context: Vec<String>,
    /// Name of the repository; `*` is all
    repo: String,
    /// The text in the file
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
            success_rate: pattern.success_rate.unwrap_or(0.0),
            flags: Some(pattern.flags).filter(|flags| !flags.is_empty()).into_iter().collect(),
            applies_to: pattern.applies_to,
            context: pattern.context,
            repo: pattern.repo,
            raw,
        }
    }
}

/// List what was learned
#[utoipa::path(get, path = "/api/gateway/learnings", operation_id = "list_learnings", tag = "learnings",
    responses(
        (status = 200, body = LearnedPatterns, description = "The patterns, in the order of their file"),
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
