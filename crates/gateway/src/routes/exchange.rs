//! The route of the challenge exchange; what it does stands in [`crate::exchange`].

use utoipa::OpenApi;

use crate::pipeline::body::BodyLimit;
use crate::router::{Auth, Route};

#[derive(OpenApi)]
#[openapi(paths(crate::exchange::exchange))]
struct Description;

pub(crate) fn route() -> Route {
    Route::of_pipeline(Description::openapi(), Auth::Loopback, BodyLimit::EXCHANGE)
}
