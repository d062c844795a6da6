//! Envelope of successful responses.

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// Response envelope `{"success": true, "data": …}`.
#[derive(Debug, Serialize, ToSchema)]
pub struct Data<T> {
    /// Always `true` in a successful response.
    #[schema(example = true)]
    pub success: bool,
    /// The payload of the response.
    pub data: T,
}

impl<T> Data<T> {
    pub const fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

impl<T: Serialize> IntoResponse for Data<T> {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

/// Response to a deletion.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeleteResponse {
    /// Always `true`; failures have another status.
    pub deleted: bool,
}

impl DeleteResponse {
    pub const fn answer() -> Data<Self> {
        Data::new(Self { deleted: true })
    }
}
