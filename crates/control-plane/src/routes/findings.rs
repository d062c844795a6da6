//! Findings of reviews that wait for a decision.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::UserAuth;
use crate::bus::Topic;
use crate::change_requests::findings;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::{Body, Id};
use crate::loops;
use crate::store::entity::open_findings;

// More than any review reports.
const COUNT_LIMIT: u32 = 10_000;
// Longest name of a directory, in characters.
const NAME_LIMIT: usize = 255;

/// How many findings of reviews wait for a decision.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenFindings {
    /// Name of the repository with the reviewed changes, as the list of the loop's changes names it.
    #[schema(example = "acme/shop")]
    pub repository: String,
    /// Number of findings that are neither declined nor sent to a loop; at most 10,000.
    pub count: u32,
}

/// Stores how many findings about the changes of a loop wait for a decision. While there are some, and no later loop has
/// started, the change request needs a person. The findings are files on the machine, which reports their number when a
/// review has ended. Pages report it after a decision.
#[utoipa::path(put, path = "/loops/{id}/findings", operation_id = "report_open_findings", tag = "loops",
    params(("id" = Uuid, Path)), request_body = OpenFindings,
    responses((status = 200, body = Data<OpenFindings>), ErrorResponses))]
pub async fn put(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    Body(body): Body<OpenFindings>,
) -> ApiResult<Data<OpenFindings>> {
    let mut issues = ValidationIssues::default();
    let length = body.repository.chars().count();
    issues.require((1..=NAME_LIMIT).contains(&length), "repository", "must have 1 to 255 characters");
    issues.require(body.count <= COUNT_LIMIT, "count", "must be at most 10000");
    issues.into_result()?;
    let stored = async {
        let organization = caller.organization_id();
        let row = loops::find(app.store.reader(), organization, id.or_unknown("Loop")?).await?;
        let findings = open_findings::Model {
            loop_id: row.id,
            repository: body.repository.clone(),
            count: i32::try_from(body.count).unwrap_or(i32::MAX),
        };
        if findings::report(&app.store, findings).await? {
            app.bus.publish(Topic::Organization(organization));
        }
        Ok(())
    };
    stored.await.context("Failed to store the findings").map(|()| Data::new(body))
}
