//! `POST /api/gateway/reviewer/review-dedup/{ticketId}`: which findings of two reviews are the same.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::provider::ProviderId;
use loopgate_api::review::ReviewFinding;
use loopgate_review::{DuplicatePair, StructuredOutput, compare_findings, settle_doubts};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::body_of;
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;

/// The findings of two reviews of one change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "providerA": "assistant", "providerB": "reviewer", "findingsA": [{"file": "src/cart.rs", "message": "The sum overflows"}], "findingsB": [{"file": "src/cart.rs", "message": "The sum overflows"}]}))]
struct FindingLists {
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Where the first list comes from.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider_a: Option<String>,
    /// Where the second list comes from.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider_b: Option<String>,
    #[schema(value_type = Vec<ComparedFinding>)]
    #[serde(default)]
    findings_a: Value,
    #[schema(value_type = Vec<ComparedFinding>)]
    #[serde(default)]
    findings_b: Value,
    /// Who is asked about findings that are similar, and not similar enough to be the same for certain; nobody when
    /// it is missing or unknown.
    #[serde(default, deserialize_with = "lenient::any")]
    provider: Option<ProviderId>,
}

/// What of a finding is compared.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes the lists in the OpenAPI document; they hold whole findings")]
struct ComparedFinding {
    message: String,
    file: Option<String>,
}

/// Findings that are the same.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"duplicates": [[0, 0]]}))]
pub(crate) struct Duplicates {
    /// Index in the first list and index in the second one. Each is in one pair at most.
    #[schema(value_type = Vec<Vec<usize>>)]
    duplicates: Vec<DuplicatePair>,
}

/// Find the findings that two reviews share
///
/// Compares messages by their words. With a `provider`, pairs that are similar are put to it; when it fails, the words
/// alone decide.
#[utoipa::path(post, path = "/api/gateway/reviewer/review-dedup/{ticketId}", operation_id = "review_duplicates", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Ticket", example = "SHOP-7")),
    request_body = FindingLists,
    responses(
        (status = 200, body = Duplicates, description = "The pairs, in the order of the first list; those of the provider follow"),
        (status = 400, body = ErrorBody, description = "A member is missing, or an entry of a list is no finding",
            example = json!(ErrorBody::missing_field("repoPath, providerA, and providerB are required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
    ))]
async fn find(
    State(app): State<App>,
    body: Result<JsonBody<FindingLists>, HttpError>,
) -> JsonResult<Duplicates> {
    let body = body_of(body)?;
    let (Some(repo), Some(_), Some(_)) = (body.repo_path, body.provider_a, body.provider_b) else {
        return Err(HttpError::missing_field("repoPath, providerA, and providerB are required"));
    };
    let (first, second) = (findings(body.findings_a)?, findings(body.findings_b)?);
    let compared = {
        let app = app.clone();
        spawn_blocking(move || {
            let directory = app.sandbox.check(repo)?;
            Ok::<_, HttpError>((directory, compare_findings(&first, &second), first, second))
        })
    };
    let (directory, comparison, first, second) = compared.await??;
    let output = app.agents.as_ref().zip(body.provider).and_then(|(agents, id)| {
        Some(StructuredOutput::new(agents.runs.clone(), agents.providers.get(&id)?, directory))
    });
    let duplicates = match output {
        Some(output) => settle_doubts(comparison, &first, &second, &output).await,
        None => comparison.duplicates,
    };
    Ok(Json(Duplicates { duplicates }))
}

/// A list of findings; what is no list is an empty one.
fn findings(list: Value) -> Result<Vec<ReviewFinding>, HttpError> {
    if !list.is_array() {
        return Ok(Vec::new());
    }
    serde_json::from_value(list)
        .map_err(|_| HttpError::bad_request("findingsA and findingsB must hold nothing but findings"))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(find),
        &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Segment("ticketId"))],
    )
}
