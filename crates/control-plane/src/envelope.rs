//! The success envelope.

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// `{"success": true, "data": …}`.
#[derive(Debug, Serialize, ToSchema)]
pub struct Data<T> {
    /// Always `true`.
    #[schema(example = true)]
    pub success: bool,
    /// The answer.
    pub data: T,
}

impl<T> Data<T> {
    /// Wraps an answer.
    pub const fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

impl<T: Serialize> IntoResponse for Data<T> {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

/// Answer of a deletion.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeleteResponse {
    /// Always `true`.
    pub deleted: bool,
}

impl DeleteResponse {
    /// The answer.
    pub const fn answer() -> Data<Self> {
        Data::new(Self { deleted: true })
    }
}
