//! Every route of the control plane, on one page.

use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{any, get};
use axum::{Json, Router};
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, PathItem};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::session::COOKIE_NAME;
use crate::error::not_implemented;
use crate::routes::{
    api_keys, auth, commands, compute_targets, documents, events, feature_flags, health, link, local_auth,
    loops, onboarding, runner, storage, usage,
};
use crate::{guard, web};

/// The routes that the OpenAPI document describes.
fn described() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(description())
        // Health
        .routes(routes!(health::health))
        .routes(routes!(health::database))
        // People
        .routes(routes!(auth::sign_in))
        .routes(routes!(auth::sign_out))
        .routes(routes!(auth::me))
        .routes(routes!(api_keys::list, api_keys::create))
        .routes(routes!(api_keys::delete))
        .routes(routes!(feature_flags::list))
        .routes(routes!(feature_flags::set))
        // Desktops
        .routes(routes!(onboarding::attempt))
        .routes(routes!(onboarding::claim))
        .routes(routes!(local_auth::challenge))
        .routes(routes!(local_auth::verify))
        .routes(routes!(compute_targets::list))
        .routes(routes!(compute_targets::register))
        .routes(routes!(compute_targets::status_stream))
        .routes(routes!(compute_targets::update, compute_targets::delete))
        .routes(routes!(compute_targets::heartbeat))
        .routes(routes!(compute_targets::share))
        .routes(routes!(commands::list, commands::create))
        .routes(routes!(commands::get))
        .routes(routes!(commands::events))
        .routes(routes!(commands::cancel))
        // Documents
        .routes(routes!(documents::list, documents::create))
        .routes(routes!(documents::get, documents::update))
        .routes(routes!(documents::versions, documents::create_version))
        .routes(routes!(documents::run_loop))
        // Loops
        .routes(routes!(loops::list, loops::create))
        .routes(routes!(usage::get))
        .routes(routes!(loops::get, loops::delete))
        .routes(routes!(loops::cancel))
        .routes(routes!(loops::resume))
        .routes(routes!(events::list, runner::event))
        .routes(routes!(events::stream))
        // Runners
        .routes(routes!(runner::heartbeat))
        .routes(routes!(runner::refresh))
        .routes(routes!(runner::upload_artifacts))
        .routes(routes!(runner::upload_urls))
        .routes(routes!(runner::download_urls))
}

/// The whole service: API, the desktops' WebSocket, and the web app for everything else.
pub fn service(app: App) -> Router {
    let (routes, _) = described().split_for_parts();
    routes
        // A wildcard, which the OpenAPI document has no words for; see `storage` there.
        .route("/storage/{*key}", get(storage::get).put(storage::put))
        .route(loopgate_api::link::LINK_PATH, any(link::connect))
        .route("/openapi.json", get(async || Json(openapi())))
        .method_not_allowed_fallback(async || not_implemented())
        .fallback(web::fallback)
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(app.clone(), guard::check))
        .with_state(app)
}

/// The OpenAPI document, made from the handlers.
pub fn openapi() -> OpenApi {
    let storage = OpenApiRouter::<App>::new().routes(routes!(storage::get, storage::put));
    let mut document = described().merge(storage).split_for_parts().1;
    for path in document.paths.paths.values_mut() {
        let PathItem { get, put, post, delete, patch, .. } = path;
        [get, put, post, delete, patch].into_iter().flatten().for_each(name_by_tag);
    }
    document
}

/// Handlers of different resources share their names; the resource tells them apart.
fn name_by_tag(operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next().map(|tag| tag.replace('-', "_"));
    if let (Some(tag), Some(id)) = (tag, &mut operation.operation_id) {
        *id = format!("{tag}_{id}");
    }
}

fn description() -> OpenApi {
    use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApiBuilder, SecurityRequirement};
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(COOKIE_NAME)));
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    let info = InfoBuilder::new()
        .title("Loopgate control plane")
        .version(loopgate_api::DESKTOP_VERSION)
        .description(Some("Documents, loops, desktops and keys."))
        .build();
    OpenApiBuilder::new()
        .info(info)
        .components(Some(
            ComponentsBuilder::new()
                .security_scheme("session", cookie)
                .security_scheme("bearer", bearer)
                .build(),
        ))
        .security(Some([
            SecurityRequirement::new("session", Vec::<String>::new()),
            SecurityRequirement::new("bearer", Vec::<String>::new()),
        ]))
        .build()
}
