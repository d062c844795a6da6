//! OpenAPI entry of the challenge exchange. The pipeline answers the route, in [`crate::pipeline::exchange`].

use utoipa::OpenApi;

use crate::route::{BodyLimit, Endpoint};

#[derive(OpenApi)]
#[openapi(paths(crate::pipeline::exchange::exchange))]
struct ExchangeApi;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::of_pipeline(ExchangeApi::openapi()).with_limit(BodyLimit::EXCHANGE)
}
