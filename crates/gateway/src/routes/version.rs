//! `GET /api/gateway/version`: the version of the desktop. Clients also use it to probe whether the namespace
//! is served, so it performs no I/O.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::route::Endpoint;

/// Version of the desktop.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"version": "0.13.18", "commits": []}))]
pub(crate) struct Version {
    version: String,
    /// Commits since the last release; always empty in a release build.
    #[schema(value_type = Vec<Object>)]
    commits: [(); 0],
}

/// Return the version of the desktop
#[utoipa::path(get, path = "/api/gateway/version", operation_id = "version", tag = "gateway",
    responses((status = 200, body = Version, description = "The version")))]
async fn version(State(app): State<App>) -> Json<Version> {
    Json(Version { version: app.version.clone(), commits: [] })
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(version), &[])
}
