//! `GET /api/gateway/openapi.json`: the OpenAPI document of this build's routes.

use axum::extract::State;
use axum::response::IntoResponse;
use http::header::CONTENT_TYPE;
use loopgate_api::names::{GATEWAY_TOKEN_HEADER, SESSION_TOKEN_HEADER};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa_axum::routes;

use crate::app::App;
use crate::response::JSON;
use crate::route::Endpoint;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Loopgate gateway",
        description = "HTTP interface of a desktop on 127.0.0.1: local repositories, git, loops and their files. Called by signed-in pages, and by the control plane through the link."
    ),
    components(schemas(loopgate_api::error::ErrorBody))
)]
struct Base;

/// Returns the parts of the document that no route declares: title, error schema and security schemes.
pub(crate) fn base() -> Document {
    let mut document = Base::openapi();
    let header = |name: &str, about: &str| {
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(name, about)))
    };
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(
        "gatewayToken",
        header(GATEWAY_TOKEN_HEADER, "Gateway token, held by the link on this machine."),
    );
    components.add_security_scheme(
        "sessionToken",
        header(
            SESSION_TOKEN_HEADER,
            "Session token of a page. Accepted only with the `Origin` for which it was issued.",
        ),
    );
    let no_scopes: [&str; 0] = [];
    // Two list entries are alternatives in OpenAPI: either header is sufficient.
    document.security = Some(vec![
        SecurityRequirement::new("gatewayToken", no_scopes),
        SecurityRequirement::new("sessionToken", no_scopes),
    ]);
    document
}

/// Return this OpenAPI document
#[utoipa::path(get, path = "/api/gateway/openapi.json", operation_id = "openapi", tag = "gateway",
    responses((status = 200, body = Object, description = "The OpenAPI document", example = json!({"openapi": "3.1.0", "info": {"title": "Loopgate gateway", "version": "0.13.18"}, "paths": {}}))))]
async fn openapi(State(app): State<App>) -> impl IntoResponse {
    ([(CONTENT_TYPE, JSON)], app.openapi.clone())
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(openapi), &[])
}
