//! `GET /api/gateway/version`: the desktop's version; also the probe by which clients find out
//! whether the namespace is served, so it starts nothing and reads nothing.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::route::Endpoint;

/// The desktop's version.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"version": "0.13.18", "commits": []}))]
pub(crate) struct Version {
    version: String,
    /// Always empty in a release.
    #[schema(value_type = Vec<Object>)]
    commits: [(); 0],
}

/// The desktop's version
#[utoipa::path(get, path = "/api/gateway/version", operation_id = "version", tag = "gateway",
    responses((status = 200, body = Version, description = "The version")))]
async fn version(State(app): State<App>) -> Json<Version> {
    Json(Version { version: app.version.clone(), commits: [] })
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(version), &[])
}
