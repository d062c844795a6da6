//! A handler that panics, in test builds only: the pipeline must answer for it.

use utoipa_axum::routes;

use crate::route::Endpoint;

#[utoipa::path(get, path = "/api/gateway/git/panicking", responses((status = 500)))]
async fn panicking() {
    panic!("in a handler, with a secret: lgk_live_0123456789");
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(panicking), &[])
}
