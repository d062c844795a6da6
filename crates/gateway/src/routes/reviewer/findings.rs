//! `/api/gateway/reviewer/review-findings/{ticketId}`: what a review found, and what became of it.

use axum::Json;
use axum::extract::{FromRequestParts, State};
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
use crate::routes::agents::known_provider;

/// What is to be changed; the first member of these that is there counts.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"model": "m-1", "findings": [{"severity": "high", "file": "src/cart.rs", "line": 14, "message": "The sum overflows"}]}))]
struct ChangeFindings {
    /// The finding with this index was posted as a comment.
    #[schema(value_type = Option<u32>)]
    #[serde(default, deserialize_with = "lenient::any")]
    commented_index: Option<Number>,
    /// The change is declined; needs `declineReason`.
    #[serde(default, deserialize_with = "lenient::any")]
    declined: Option<bool>,
    /// Not blank.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    decline_reason: Option<String>,
    /// Replaces everything that is stored.
    #[serde(default, deserialize_with = "lenient::any")]
    findings: Option<Vec<ReviewFinding>>,
    /// Whose findings they are; that of the query when it is missing.
    #[serde(default, deserialize_with = "lenient::any")]
    provider: Option<ProviderId>,
    /// Which model found them.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    model: Option<String>,
}

/// What was changed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "count": 1}))]
pub(crate) struct FindingsChanged {
    success: bool,
    /// How many findings were stored, when they were replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

/// Which findings are meant.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
struct FindingsQuery {
    /// Path of the repository
    #[param(example = "~/src/shop")]
    repo: String,
    /// Whose review; the reviewer's when it is missing
    #[param(example = "reviewer")]
    provider: Option<ProviderId>,
}

/// Whose findings about which ticket a request means.
struct FindingsKey {
    ticket: TicketId,
    repo: String,
    provider: ProviderId,
}

impl FromRequestParts<App> for FindingsKey {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let TicketPath(ticket) = TicketPath::from_request_parts(parts, app).await?;
        let Ok(query) = QueryMembers::from_request_parts(parts, app).await;
        let repo = query.required("repo", "ticketId and repo are required")?.to_owned();
        let provider = query.get("provider").filter(|name| !name.is_empty());
        let provider = provider.map_or(Ok(ProviderId::REVIEWER), |name| known_provider(app, name))?;
        Ok(Self { ticket, repo, provider })
    }
}

impl FindingsKey {
    /// Blocks on the disk.
    fn file(&self, app: &App) -> Result<FindingsFile, HttpError> {
        let directory = review_directory(app, &self.repo, &self.ticket)?;
        Ok(FindingsFile::new(app.sandbox.clone(), &directory, &self.provider))
    }
}

/// What a review found
///
/// At the lines where the code is now; a finding whose code is gone keeps its line and is `outdated`.
#[utoipa::path(get, path = "/api/gateway/reviewer/review-findings/{ticketId}", operation_id = "review_findings", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Ticket", example = "SHOP-7"), FindingsQuery),
    responses(
        (status = 200, body = ReviewFindings, description = "The findings; none when none are stored"),
        (status = 400, body = ErrorBody, description = "No repository, or an unknown provider",
            example = json!(ErrorBody::missing_field("ticketId and repo are required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
    ))]
async fn read(State(app): State<App>, key: FindingsKey) -> JsonResult<ReviewFindings> {
    let findings = spawn_blocking(move || {
        let stored = key.file(&app)?.read().inspect_err(|error| {
            tracing::warn!(%error, "the findings of a review cannot be read");
        });
        Ok(stored.ok().flatten().unwrap_or_default())
    });
    findings.await?.map(Json)
}

/// Store what a review found, or what became of it
///
/// With `commentedIndex` one finding was posted, with `declined` the change is declined, with `findings` they
/// replace those that are stored.
#[utoipa::path(post, path = "/api/gateway/reviewer/review-findings/{ticketId}", operation_id = "change_review_findings", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Ticket", example = "SHOP-7"), FindingsQuery),
    request_body = ChangeFindings,
    responses(
        (status = 200, body = FindingsChanged, description = "Stored"),
        (status = 400, body = ErrorBody, description = "No repository, an unknown provider, no such finding, or nothing to change",
            example = json!(ErrorBody::new(400, "Index out of range"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "No findings are stored",
            example = json!(ErrorBody::new(404, "No findings file found"))),
        (status = 500, body = ErrorBody, description = "The findings cannot be written",
            example = json!(ErrorBody::new(500, "Failed to update findings: no space left"))),
    ))]
async fn change(
    State(app): State<App>,
    key: FindingsKey,
    JsonBody(body): JsonBody<ChangeFindings>,
) -> JsonResult<FindingsChanged> {
    let declined = body.decline_reason.filter(|_| body.declined == Some(true));
    let changed = spawn_blocking(move || {
        let file = key.file(&app)?;
        if let Some(index) = body.commented_index {
            let index = index.as_u64().or_else(|| lenient::whole(&index));
            let index = index.and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX);
            let marked = file.mark_commented(index);
            return marked.map(|()| None).map_err(|error| refused("Failed to update findings", &error));
        }
        if let Some(reason) = declined {
            let declined = file.decline(reason);
            return declined.map(|()| None).map_err(|error| refused("Failed to mark declined", &error));
        }
        let findings = body.findings.ok_or_else(|| HttpError::bad_request("Invalid request body"))?;
        let count = findings.len();
        let provider = body.provider.filter(|provider| known_provider(&app, provider.as_str()).is_ok());
        let review = ReviewFindings::new(&provider.unwrap_or(key.provider), body.model, findings);
        file.replace(review).map_err(|error| HttpError::operation("Failed to save findings", &error))?;
        Ok(Some(count))
    });
    Ok(Json(FindingsChanged { success: true, count: changed.await?? }))
}

fn refused(failed: &str, error: &FindingsError) -> HttpError {
    match error {
        FindingsError::Missing => HttpError::not_found(error.to_string()),
        FindingsError::OutOfRange => HttpError::bad_request(error.to_string()),
        FindingsError::File(error) => HttpError::operation(failed, error),
    }
}

/// Where requests name what they are about.
const SOURCES: &[Source] = &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))];

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), SOURCES)
}

pub(crate) fn change_endpoint() -> Endpoint {
    Endpoint::new(routes!(change), SOURCES)
}
