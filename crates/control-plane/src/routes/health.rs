//! Liveness and readiness probes.

use axum::extract::State;
use sea_orm::ConnectionTrait;

use crate::app::ControlPlaneState;
use crate::error::{ApiError, ApiResult};

/// Returns 200 while the process serves requests. Does not use the database, so that a database outage does
/// not make an orchestrator restart the process.
#[utoipa::path(get, path = "/health", tag = "health", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn health() -> &'static str {
    "OK"
}

/// Returns 200 while the database answers, 503 otherwise.
#[utoipa::path(get, path = "/health/db", tag = "health", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn database(State(app): State<ControlPlaneState>) -> ApiResult<&'static str> {
    app.store
        .reader()
        .execute_unprepared("SELECT 1")
        .await
        .map_err(|_| ApiError::new(http::StatusCode::SERVICE_UNAVAILABLE, "Database unavailable"))?;
    Ok("OK")
}
