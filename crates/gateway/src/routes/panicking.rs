//! A handler that panics, in test builds only: the pipeline must answer for it.

use loopgate_api::operation::OperationId;
use utoipa_axum::routes;

use crate::router::Route;

#[utoipa::path(get, path = "/api/gateway/git/panicking", responses((status = 500)))]
async fn panicking() {
    panic!("in a handler, with a secret: lgk_live_0123456789");
}

pub(crate) fn route() -> Route {
    Route::new(routes!(panicking), OperationId::GitAction, &[])
}
