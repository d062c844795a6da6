//! Liveness probe.

use axum::extract::State;
use sea_orm::ConnectionTrait;

use crate::app::ControlPlaneState;
use crate::error::{ApiError, ApiResult};

/// Answers while the process lives.
#[utoipa::path(get, path = "/health", tag = "health", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn health() -> &'static str {
    "OK"
}

/// Answers while the database does.
#[utoipa::path(get, path = "/health/db", tag = "health", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn database(State(app): State<ControlPlaneState>) -> ApiResult<&'static str> {
    app.store
        .reader()
        .execute_unprepared("SELECT 1")
        .await
        .map_err(|_| ApiError::new(http::StatusCode::SERVICE_UNAVAILABLE, "Database unavailable"))?;
    Ok("OK")
}
