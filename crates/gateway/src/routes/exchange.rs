//! The route of the challenge exchange; the pipeline answers it, in [`crate::pipeline::exchange`].

use utoipa::OpenApi;

use crate::route::{BodyLimit, Endpoint};

#[derive(OpenApi)]
#[openapi(paths(crate::pipeline::exchange::exchange))]
struct ExchangeApi;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::of_pipeline(ExchangeApi::openapi()).with_limit(BodyLimit::EXCHANGE)
}
