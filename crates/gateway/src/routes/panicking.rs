//! Test-only handler that panics, to check that the pipeline turns a panic into a 500 without its message.

use utoipa_axum::routes;

use crate::route::Endpoint;

#[utoipa::path(get, path = "/api/gateway/git/panicking", responses((status = 500)))]
async fn panicking() {
    // The message resembles an API key, so that tests can check that it does not reach the response.
    panic!("in a handler, with a secret: lgk_live_0123456789");
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(panicking), &[])
}
