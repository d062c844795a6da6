//! `GET /api/gateway/openapi.json`: the description of the routes that are built.

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
        description = "Local repositories, git, loops and their files, on 127.0.0.1, for signed-in pages and the executor."
    ),
    components(schemas(loopgate_api::error::ErrorBody))
)]
struct Base;

/// What all routes share: title and the two sets of credentials.
pub(crate) fn base() -> Document {
    let mut document = Base::openapi();
    let header = |name: &str, about: &str| {
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(name, about)))
    };
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("gatewayToken", header(GATEWAY_TOKEN_HEADER, "The executor's token."));
    components.add_security_scheme(
        "sessionToken",
        header(SESSION_TOKEN_HEADER, "A page's session; goes together with the Origin it was made for."),
    );
    let no_scopes: [&str; 0] = [];
    document.security = Some(vec![
        SecurityRequirement::new("gatewayToken", no_scopes),
        SecurityRequirement::new("sessionToken", no_scopes),
    ]);
    document
}

/// This document
#[utoipa::path(get, path = "/api/gateway/openapi.json", operation_id = "openapi", tag = "gateway",
    responses((status = 200, body = Object, description = "The OpenAPI document", example = json!({"openapi": "3.1.0", "info": {"title": "Loopgate gateway", "version": "0.13.18"}, "paths": {}}))))]
async fn openapi(State(app): State<App>) -> impl IntoResponse {
    ([(CONTENT_TYPE, JSON)], app.openapi.clone())
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(openapi), &[])
}
