//! `/api/gateway/reviewer/review-findings/{ticketId}`: the findings of a review and their state.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use http::StatusCode;
use http::request::Parts;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_api::provider::ProviderId;
use loopgate_api::review::{ReviewFinding, ReviewFindings};
use loopgate_review::{FindingsError, FindingsFile};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::review_directory;
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::parse_provider;

/// Change to the findings. If several of `commentedIndex`, `declinedIndex`, `declined` and `findings` are
/// present, the first in this order is applied.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"model": "m-1", "findings": [{"severity": "high", "file": "src/cart.rs", "line": 14, "message": "The sum overflows"}]}))]
struct ChangeFindings {
    /// Zero-based index of the finding that was posted as a comment.
    #[schema(value_type = Option<u32>)]
    #[serde(default, deserialize_with = "lenient::any")]
    commented_index: Option<Number>,
    /// Zero-based index of the finding that a person declines or, with `declined` = false, restores.
    #[schema(value_type = Option<u32>)]
    #[serde(default, deserialize_with = "lenient::any")]
    declined_index: Option<Number>,
    /// Text of the finding at `declinedIndex`: the change is refused if the finding is another one.
    #[serde(default, deserialize_with = "lenient::any")]
    message: Option<String>,
    /// Whether the change, or the finding at `declinedIndex`, was declined. For a change, `declineReason` is
    /// required.
    #[serde(default, deserialize_with = "lenient::any")]
    declined: Option<bool>,
    /// Reason for declining; must not be blank.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    decline_reason: Option<String>,
    /// Findings that replace all stored ones.
    #[serde(default, deserialize_with = "lenient::any")]
    findings: Option<Vec<ReviewFinding>>,
    /// Provider of the findings; the one in the query when it is missing.
    #[serde(default, deserialize_with = "lenient::any")]
    provider: Option<ProviderId>,
    /// Model that produced the findings.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    model: Option<String>,
}

/// Result of a change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "count": 1}))]
pub(crate) struct FindingsChanged {
    success: bool,
    /// Number of stored findings; present only when they were replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

/// Query that selects the findings.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
struct FindingsQuery {
    /// Path of the repository
    #[param(example = "~/src/shop")]
    repo: String,
    /// Provider of the review; `reviewer` when it is missing
    #[param(example = "reviewer")]
    provider: Option<ProviderId>,
}

/// Ticket, repository and provider that select the findings.
struct FindingsKey {
    ticket: TicketId,
    repo: String,
    provider: ProviderId,
}

impl FromRequestParts<App> for FindingsKey {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let TicketPath(ticket) = TicketPath::from_request_parts(parts, app).await?;
        // Extraction of a query is infallible.
        let Ok(query) = QueryMembers::from_request_parts(parts, app).await;
        let repo = query.required("repo", "ticketId and repo are required")?.to_owned();
        let provider = query.get("provider").filter(|name| !name.is_empty());
        let provider = provider.map_or(Ok(ProviderId::REVIEWER), |name| parse_provider(app, name))?;
        Ok(Self { ticket, repo, provider })
    }
}

impl FindingsKey {
    /// Returns the findings file. Performs blocking I/O.
    fn file(&self, app: &App) -> Result<FindingsFile, HttpError> {
        let directory = review_directory(app, &self.repo, &self.ticket)?;
        Ok(FindingsFile::new(app.sandbox.clone(), &directory, &self.provider))
    }
}

/// Return the findings of a review
///
/// Line numbers follow the code as it has changed since the review. A finding whose code no longer exists
/// keeps its line and is `outdated`.
#[utoipa::path(get, path = "/api/gateway/reviewer/review-findings/{ticketId}", operation_id = "review_findings", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "SHOP-7"), FindingsQuery),
    responses(
        (status = 200, body = ReviewFindings, description = "The findings; empty when none are stored"),
        (status = 400, body = ErrorBody, description = "Repository path missing, or unknown provider",
            example = json!(ErrorBody::missing_field("ticketId and repo are required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
    ))]
async fn read(State(app): State<App>, key: FindingsKey) -> JsonResult<ReviewFindings> {
    let findings = spawn_blocking(move || {
        let stored = key.file(&app)?.read().inspect_err(|error| {
            tracing::warn!(%error, "failed to read review findings");
        });
        Ok(stored.ok().flatten().unwrap_or_default())
    });
    findings.await?.map(Json)
}

/// Change the findings of a review
///
/// `commentedIndex` marks a finding as posted, `declinedIndex` records the decision on one finding, `declined`
/// records that the change was declined, and `findings` replaces all stored findings.
#[utoipa::path(post, path = "/api/gateway/reviewer/review-findings/{ticketId}", operation_id = "change_review_findings", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "SHOP-7"), FindingsQuery),
    request_body = ChangeFindings,
    responses(
        (status = 200, body = FindingsChanged, description = "The change was stored"),
        (status = 400, body = ErrorBody, description = "Repository path missing, unknown provider, index out of range, or nothing to change",
            example = json!(ErrorBody::new(400, "Index out of range"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "No findings are stored",
            example = json!(ErrorBody::new(404, "No findings file found"))),
        (status = 409, body = ErrorBody, description = "The finding at `declinedIndex` has another text: a review has replaced the findings",
            example = json!(ErrorBody::new(409, "The findings have changed"))),
        (status = 500, body = ErrorBody, description = "The findings cannot be written",
            example = json!(ErrorBody::new(500, "Failed to update findings: no space left"))),
    ))]
async fn change(
    State(app): State<App>,
    key: FindingsKey,
    JsonBody(body): JsonBody<ChangeFindings>,
) -> JsonResult<FindingsChanged> {
    let changed = spawn_blocking(move || {
        let file = key.file(&app)?;
        let updated = if let Some(index) = &body.commented_index {
            Some(file.mark_commented(index_of(index)))
        } else if let Some(index) = &body.declined_index {
            let message = body.message.unwrap_or_default();
            let declined = body.declined != Some(false);
            Some(file.decline_finding(index_of(index), &message, declined, body.decline_reason.clone()))
        } else {
            None
        };
        if let Some(updated) = updated {
            return updated
                .map(|()| None)
                .map_err(|error| findings_error("Failed to update findings", &error));
        }
        // Without a reason, `declined` is ignored and `findings` applies.
        if let Some(reason) = body.decline_reason.filter(|_| body.declined == Some(true)) {
            let declined = file.decline(reason);
            return declined
                .map(|()| None)
                .map_err(|error| findings_error("Failed to mark declined", &error));
        }
        let findings = body.findings.ok_or_else(|| HttpError::bad_request("Invalid request body"))?;
        let count = findings.len();
        let provider = body.provider.filter(|provider| parse_provider(&app, provider.as_str()).is_ok());
        let review = ReviewFindings::new(&provider.unwrap_or(key.provider), body.model, findings);
        file.replace(review).map_err(|error| HttpError::operation("Failed to save findings", &error))?;
        Ok(Some(count))
    });
    Ok(Json(FindingsChanged { success: true, count: changed.await?? }))
}

/// Returns a list index. A fractional or negative number results in an index that is always out of range.
fn index_of(number: &Number) -> usize {
    let index = number.as_u64().or_else(|| lenient::whole(number));
    index.and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX)
}

fn findings_error(context: &str, error: &FindingsError) -> HttpError {
    match error {
        FindingsError::Missing => HttpError::not_found(error.to_string()),
        FindingsError::OutOfRange => HttpError::bad_request(error.to_string()),
        FindingsError::Changed => HttpError::new(StatusCode::CONFLICT, error.to_string()),
        FindingsError::File(error) => HttpError::operation(context, error),
    }
}

/// Parameters that name the directories of a request.
const SOURCES: &[Source] = &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))];

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), SOURCES)
}

pub(crate) fn change_endpoint() -> Endpoint {
    Endpoint::new(routes!(change), SOURCES)
}
