//! `record-learning-use`: records which learnings helped with a ticket.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use loopgate_api::error::ErrorBody;
use loopgate_learnings::{LearningUse, UseEffect, record_uses};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{TICKET_MEMBERS, worktree};
use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::directory::TicketMembers;
use crate::routes::orchestrator::params::TicketErrors;

/// Learnings that helped with a ticket.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop", "learnings": [{"summary": "Check the lock, then write"}]}))]
struct RecordLearningUse {
    #[serde(flatten)]
    ticket: TicketMembers,
    #[serde(default, deserialize_with = "lenient::elements")]
    learnings: Vec<UsedLearning>,
}

/// A learning that helped.
#[derive(Debug, Deserialize, ToSchema)]
struct UsedLearning {
    /// Summary of the learning; identifies its pattern.
    summary: String,
}

/// Number of recorded uses.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LearningUsesRecorded, example = json!({"status": "recorded", "count": 2}))]
struct RecordedUses {
    /// Always `recorded`.
    status: &'static str,
    count: usize,
}

/// Record that learnings helped
#[utoipa::path(post, path = "/api/gateway/orchestrator/record-learning-use", operation_id = "record_learning_use", tag = "learnings",
    request_body = RecordLearningUse,
    responses(
        (status = 200, body = RecordedUses, description = "The uses were recorded"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "The ticket has no worktree"),
        (status = 500, body = ErrorBody, description = "The log cannot be written"),
    ))]
async fn record(
    State(app): State<App>,
    JsonBody(body): JsonBody<RecordLearningUse>,
) -> JsonResult<RecordedUses> {
    let reference = body.ticket.required()?;
    // A blank summary cannot be attributed to a pattern.
    let used = body.learnings.into_iter().filter(|used| !used.summary.trim().is_empty());
    let to_use = |used: UsedLearning| LearningUse {
        id: None,
        summary: used.summary,
        effect: UseEffect::Verified,
        key: String::new(),
    };
    let uses: Vec<_> = used.map(to_use).collect();
    if uses.is_empty() {
        return Err(HttpError::missing_field("learnings array is required and must not be empty"));
    }
    let (_, place) = reference.existing(&app).await?;
    let count = uses.len();
    let recorded = spawn_blocking(move || {
        let now = Timestamp::now();
        record_uses(&worktree(&place).work_dir, reference.ticket.as_str(), &uses, now)?;
        // Not an error for the caller: the uses are already in the log of the work directory.
        if let Err(error) = app.learnings.patterns.count_uses(&uses, now) {
            tracing::warn!(%error, "failed to count learning uses");
        }
        Ok::<_, std::io::Error>(())
    });
    recorded.await?.map_err(|error| HttpError::operation("Failed to record learning use", &error))?;
    Ok(Json(RecordedUses { status: "recorded", count }))
}

pub(crate) fn record_endpoint() -> Endpoint {
    Endpoint::new(routes!(record), TICKET_MEMBERS)
}
