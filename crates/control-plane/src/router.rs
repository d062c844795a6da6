//! Every route of the control plane, on one page.

use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{any, get};
use axum::{Json, Router};
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, PathItem};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::{cookie, session};
use crate::error::not_implemented;
use crate::routes::{
    api_keys, auth, commands, compute_targets, documents, events, feature_flags, health, link, local_auth,
    loops, onboarding, runner, storage, usage,
};
use crate::{guard, web};

/// The handlers that the OpenAPI document describes.
fn handlers() -> Vec<UtoipaMethodRouter<App>> {
    vec![
        // Health
        routes!(health::health),
        routes!(health::database),
        // People
        routes!(auth::sign_in),
        routes!(auth::sign_out),
        routes!(auth::me),
        routes!(api_keys::list, api_keys::create),
        routes!(api_keys::delete),
        routes!(feature_flags::list),
        routes!(feature_flags::set),
        // Desktops
        routes!(onboarding::attempt),
        routes!(onboarding::claim),
        routes!(local_auth::challenge),
        routes!(local_auth::verify),
        routes!(compute_targets::list),
        routes!(compute_targets::register),
        routes!(compute_targets::status_stream),
        routes!(compute_targets::update, compute_targets::delete),
        routes!(compute_targets::heartbeat),
        routes!(compute_targets::share),
        routes!(commands::list, commands::create),
        routes!(commands::get),
        routes!(commands::events),
        routes!(commands::cancel),
        // Documents
        routes!(documents::list, documents::create),
        routes!(documents::get, documents::update),
        routes!(documents::versions, documents::create_version),
        routes!(documents::run_loop),
        // Loops
        routes!(loops::list, loops::create),
        routes!(usage::get),
        routes!(loops::get, loops::delete),
        routes!(loops::cancel),
        routes!(loops::resume),
        routes!(events::list, runner::event),
        routes!(events::stream),
        // Runners
        routes!(runner::heartbeat),
        routes!(runner::refresh),
        routes!(runner::upload_artifacts),
        routes!(runner::upload_urls),
        routes!(runner::download_urls),
    ]
}

fn described() -> OpenApiRouter<App> {
    handlers().into_iter().fold(OpenApiRouter::with_openapi(description()), OpenApiRouter::routes)
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
    let cookie = ApiKeyValue::with_description(
        cookie::NAME,
        "The name goes on with an underscore and the installation's id; over https it begins with `__Host-`.",
    );
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(cookie));
    let session_key = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
        session::KEY_HEADER,
        "`sessionKey` of the answer to the sign-in.",
    )));
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
                .security_scheme("sessionKey", session_key)
                .security_scheme("bearer", bearer)
                .build(),
        ))
        .security(Some([
            SecurityRequirement::new("session", Vec::<String>::new()).add("sessionKey", Vec::<String>::new()),
            SecurityRequirement::new("bearer", Vec::<String>::new()),
        ]))
        .build()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The document keeps one schema a name; of two it would show the wrong one somewhere.
    #[test]
    fn a_name_means_one_schema() {
        let mut known = BTreeMap::new();
        let storage = [routes!(storage::get, storage::put)];
        for (name, schema) in handlers().into_iter().chain(storage).flat_map(|handler| handler.0) {
            let schema = serde_json::to_value(schema).unwrap();
            let first = known.entry(name.clone()).or_insert_with(|| schema.clone());
            assert_eq!(*first, schema, "two schemas are named {name}; only one would be described");
        }
        assert!(known.len() > 20, "the handlers name their schemas: {}", known.len());
    }
}
