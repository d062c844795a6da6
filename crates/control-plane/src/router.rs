//! All routes of the control plane.

use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};
use axum::{Json, Router};
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, PathItem};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::app::ControlPlaneState;
use crate::credentials::{cookie, session};
use crate::error::not_implemented;
use crate::routes::{
    agent_proposals, agents, api_keys, audit_log, auth, bootstrap, commands, compute_preference,
    compute_targets, documents, events, execution_credentials, feature_flags, github_token, health,
    health_checks, invitations, link, local_auth, loops, manual_loops, members, oidc, onboarding,
    organization, organizations, public_keys, repositories, runner, sessions, storage, tickets, usage,
};
use crate::{middleware, web};

/// The callers that a route accepts. The extractor in the handler's signature enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No authentication; the request body or URL carries the credential.
    Public,
    /// A signed-in browser, with any role.
    Session,
    /// A signed-in browser of an administrator.
    AdminSession,
    /// An API key with the scope that the method requires.
    ApiKey,
    /// A signed-in browser or an API key.
    Person,
    /// A signed-in browser or an API key; a key needs only the `read` scope.
    Reader,
    /// A signed-in browser or an API key of an administrator.
    Admin,
    /// The token of the loop in the path. The heartbeat also accepts the API key of the loop's desktop.
    Runner,
    /// A signed-in browser, an API key, or the token of the loop in the path.
    PersonOrRunner,
}

// Method, path, accepted callers, and the handler.
type RouteRow = (&'static str, &'static str, Access, UtoipaMethodRouter<ControlPlaneState>);

// The routes of the OpenAPI document.
#[rustfmt::skip]
fn table() -> Vec<RouteRow> {
    use Access::{Admin, AdminSession, ApiKey, Person, PersonOrRunner, Public, Reader, Runner, Session};
    vec![
        // Health
        ("GET", "/health", Public, routes!(health::health)),
        ("GET", "/health/db", Public, routes!(health::database)),
        // People
        ("GET", "/auth/methods", Public, routes!(auth::methods)),
        ("POST", "/auth/sign-in-link", Public, routes!(auth::sign_in)),
        ("POST", "/auth/sign-in", Public, routes!(auth::password_sign_in)),
        ("GET", "/auth/oidc/start", Public, routes!(oidc::start)),
        ("GET", "/auth/oidc/callback", Public, routes!(oidc::callback)),
        ("POST", "/auth/password-reset", Public, routes!(auth::reset_password)),
        ("PUT", "/auth/password", Session, routes!(auth::change_password)),
        ("POST", "/auth/sign-out", Session, routes!(auth::sign_out)),
        ("GET", "/me", Person, routes!(auth::me)),
        ("PUT", "/auth/organization", Session, routes!(organizations::select)),
        ("GET", "/organizations", Session, routes!(organizations::list)),
        ("GET", "/members", Person, routes!(members::list)),
        ("PATCH", "/members/{id}", AdminSession, routes!(members::update)),
        ("POST", "/members/{id}/password-reset", AdminSession, routes!(members::reset_password)),
        ("GET", "/invitations", AdminSession, routes!(invitations::list)),
        ("POST", "/invitations", AdminSession, routes!(invitations::create)),
        ("DELETE", "/invitations/{id}", AdminSession, routes!(invitations::delete)),
        ("POST", "/invitations/preview", Public, routes!(invitations::preview)),
        ("POST", "/invitations/accept", Public, routes!(invitations::accept)),
        ("GET", "/audit-log", Admin, routes!(audit_log::list)),
        ("GET", "/sessions", Session, routes!(sessions::list)),
        ("DELETE", "/sessions/{id}", Session, routes!(sessions::delete)),
        ("GET", "/api-keys", Session, routes!(api_keys::list)),
        ("POST", "/api-keys", Session, routes!(api_keys::create)),
        ("DELETE", "/api-keys/{id}", Session, routes!(api_keys::delete)),
        ("GET", "/feature-flags", Person, routes!(feature_flags::list)),
        ("PUT", "/feature-flags/{key}", Admin, routes!(feature_flags::set)),
        ("GET", "/organization/settings", Person, routes!(organization::get)),
        ("GET", "/settings/compute-preference", Person, routes!(compute_preference::get)),
        ("PUT", "/settings/compute-preference", Person, routes!(compute_preference::set)),
        ("PUT", "/organization/settings", Admin, routes!(organization::set)),
        // Desktops
        ("POST", "/desktop/onboarding-attempt", Session, routes!(onboarding::attempt)),
        ("POST", "/desktop/bootstrap/claim", Public, routes!(onboarding::claim)),
        ("POST", "/compute-targets/local-auth/challenge", Session, routes!(local_auth::challenge)),
        ("POST", "/compute-targets/local-auth/verify", ApiKey, routes!(local_auth::verify)),
        ("GET", "/compute-targets", Person, routes!(compute_targets::list)),
        ("POST", "/compute-targets/register", Person, routes!(compute_targets::register)),
        ("GET", "/compute-targets/status-stream", Person, routes!(compute_targets::status_stream)),
        ("PUT", "/compute-targets/{id}", Person, routes!(compute_targets::update)),
        ("DELETE", "/compute-targets/{id}", Person, routes!(compute_targets::delete)),
        ("POST", "/compute-targets/{id}/heartbeat", Person, routes!(compute_targets::heartbeat)),
        ("GET", "/compute-targets/{id}/health-check", Person, routes!(health_checks::get)),
        ("PUT", "/compute-targets/{id}/health-check", Person, routes!(health_checks::put)),
        ("PATCH", "/compute-targets/{id}/sharing", Person, routes!(compute_targets::share)),
        ("GET", "/compute-targets/{id}/commands", Person, routes!(commands::list)),
        ("POST", "/compute-targets/{id}/commands", Person, routes!(commands::create)),
        ("GET", "/compute-targets/{id}/commands/{command_id}", Person, routes!(commands::get)),
        ("GET", "/compute-targets/{id}/commands/{command_id}/events", Person, routes!(commands::events)),
        ("POST", "/compute-targets/{id}/commands/{command_id}/cancel", Person, routes!(commands::cancel)),
        ("POST", "/compute-targets/{id}/loops/{loop_id}/execution-credentials", ApiKey, routes!(execution_credentials::create)),
        ("GET", "/public-keys", Person, routes!(public_keys::list)),
        ("POST", "/public-keys", Session, routes!(public_keys::register)),
        ("DELETE", "/public-keys", Session, routes!(public_keys::delete)),
        // Agents
        ("GET", "/agents", Person, routes!(agents::list)),
        ("POST", "/agents", Admin, routes!(agents::create)),
        ("POST", "/agents/bulk-ingest", Admin, routes!(agents::bulk_ingest)),
        ("POST", "/agents/bootstrap/start", Person, routes!(bootstrap::start)),
        ("GET", "/agents/{idOrSlug}", Person, routes!(agents::get)),
        ("PATCH", "/agents/{idOrSlug}", Admin, routes!(agents::update)),
        ("DELETE", "/agents/{idOrSlug}", Admin, routes!(agents::delete)),
        ("GET", "/agents/{idOrSlug}/versions", Person, routes!(agents::versions)),
        ("GET", "/agents/{idOrSlug}/versions/{version}", Person, routes!(agents::version)),
        ("GET", "/agent-proposals", Person, routes!(agent_proposals::list)),
        ("POST", "/agent-proposals/{id}/accept", Admin, routes!(agent_proposals::accept)),
        ("POST", "/agent-proposals/{id}/reject", Admin, routes!(agent_proposals::reject)),
        // Repositories
        ("GET", "/repositories", Person, routes!(repositories::list)),
        ("POST", "/repositories", Admin, routes!(repositories::allow)),
        ("DELETE", "/repositories/{owner}/{name}", Admin, routes!(repositories::forbid)),
        // Documents
        ("GET", "/documents", Person, routes!(documents::list)),
        ("POST", "/documents", Person, routes!(documents::create)),
        ("GET", "/documents/{idOrSlug}", Person, routes!(documents::get)),
        ("PATCH", "/documents/{idOrSlug}", Person, routes!(documents::update)),
        ("GET", "/documents/{idOrSlug}/versions", Person, routes!(documents::versions)),
        ("POST", "/documents/{idOrSlug}/versions", Person, routes!(documents::create_version)),
        ("GET", "/documents/{idOrSlug}/versions/{version}", Person, routes!(documents::version)),
        ("POST", "/documents/{idOrSlug}/run-loop", Person, routes!(documents::run_loop)),
        // Tickets
        ("GET", "/tickets", Person, routes!(tickets::list)),
        ("POST", "/tickets", Person, routes!(tickets::create)),
        ("GET", "/tickets/{idOrSlug}", Person, routes!(tickets::get)),
        ("PATCH", "/tickets/{idOrSlug}", Person, routes!(tickets::update)),
        // Loops
        ("GET", "/loops", Person, routes!(loops::list)),
        ("POST", "/loops", Person, routes!(loops::create)),
        ("GET", "/loops/usage", AdminSession, routes!(usage::get)),
        ("POST", "/loops/summaries", Reader, routes!(loops::summaries)),
        ("GET", "/loops/{id}", PersonOrRunner, routes!(loops::get)),
        ("PATCH", "/loops/{id}", Person, routes!(manual_loops::update)),
        ("DELETE", "/loops/{id}", Person, routes!(loops::delete)),
        ("POST", "/loops/{id}/cancel", Person, routes!(loops::cancel)),
        ("POST", "/loops/{id}/resume", Person, routes!(loops::resume)),
        ("POST", "/loops/{id}/manual-events", Person, routes!(manual_loops::event)),
        ("GET", "/loops/{id}/runtime", AdminSession, routes!(loops::runtime)),
        ("GET", "/loops/{id}/events", Session, routes!(events::list)),
        ("GET", "/loops/{id}/stream", Session, routes!(events::stream)),
        // Runners
        ("POST", "/loops/{id}/events", Runner, routes!(runner::event)),
        ("POST", "/loops/{id}/heartbeat", Runner, routes!(runner::heartbeat)),
        ("POST", "/loops/{id}/refresh-token", Runner, routes!(runner::refresh)),
        ("POST", "/loops/{id}/github-token", Runner, routes!(github_token::create)),
        ("POST", "/loops/{id}/upload-artifacts", Runner, routes!(runner::upload_artifacts)),
        ("POST", "/loops/{id}/upload-urls", Runner, routes!(runner::upload_urls)),
        ("POST", "/loops/{id}/download-urls", Runner, routes!(runner::download_urls)),
    ]
}

// Files of loops behind signed URLs. They are served under a wildcard path, which OpenAPI cannot express, so
// the document describes them with a single segment.
fn storage_table() -> Vec<RouteRow> {
    vec![
        ("GET", "/storage/{key}", Access::Public, routes!(storage::get)),
        ("PUT", "/storage/{key}", Access::Public, routes!(storage::put)),
    ]
}

fn documented(
    table: Vec<RouteRow>,
    router: OpenApiRouter<ControlPlaneState>,
) -> OpenApiRouter<ControlPlaneState> {
    table.into_iter().fold(router, |router, (_, _, _, handler)| router.routes(handler))
}

/// Builds the service: API, WebSocket of the desktops, and the web app for all other paths.
pub fn service(app: ControlPlaneState) -> Router {
    let (routes, _) = documented(table(), OpenApiRouter::new()).split_for_parts();
    routes
        .route("/storage/{*key}", get(storage::get).put(storage::put))
        .route(loopgate_api::link::LINK_PATH, any(link::connect))
        .route("/openapi.json", get(async || Json(openapi())))
        .method_not_allowed_fallback(async || not_implemented())
        .fallback(web::fallback)
        // axum's default limit is 2 MiB; the body extractors enforce a limit per route.
        .layer(DefaultBodyLimit::disable())
        // The last layer is the outermost one: it also covers the fallbacks.
        .layer(from_fn_with_state(app.clone(), middleware::check))
        .with_state(app)
}

/// Generates the OpenAPI document from the handlers' annotations.
pub fn openapi() -> OpenApi {
    let router = documented(table(), OpenApiRouter::with_openapi(description()));
    let mut document = documented(storage_table(), router).split_for_parts().1;
    for path in document.paths.paths.values_mut() {
        let PathItem { get, put, post, delete, patch, .. } = path;
        [get, put, post, delete, patch].into_iter().flatten().for_each(name_by_tag);
    }
    document
}

// Handlers of different resources share names such as `list`, and operation ids must be unique: prefix them
// with the tag.
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
        "Session cookie. The name is followed by an underscore and an id of the installation, and over https preceded by `__Host-`.",
    );
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(cookie));
    let session_key = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
        session::KEY_HEADER,
        "Session key, returned as `sessionKey` by the sign-in.",
    )));
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    let info = InfoBuilder::new()
        .title("Loopgate control plane")
        .version(loopgate_api::DESKTOP_VERSION)
        .description(Some("Documents, loops, agents, desktops and keys."))
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
pub(crate) fn all_routes() -> Vec<(&'static str, &'static str, Access)> {
    let routes = table().into_iter().chain(storage_table());
    routes.map(|(method, path, access, _)| (method, path, access)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn table_matches_method_and_path_of_each_handler() {
        for (method, path, _, (_, paths, _)) in table().into_iter().chain(storage_table()) {
            let (declared, item) = paths.paths.first_key_value().unwrap();
            assert_eq!(declared, path, "{method} {path}");
            let json = serde_json::to_value(item).unwrap();
            assert!(json.get(method.to_lowercase()).is_some(), "{method} {path}");
            assert_eq!((paths.paths.len(), json.as_object().unwrap().len()), (1, 1), "{method} {path}");
        }
    }

    #[test]
    fn first_path_segments_are_reserved_slugs() {
        for (_, path, _) in all_routes() {
            let first = path.trim_start_matches('/').split('/').next().unwrap();
            assert!(web::is_reserved(first), "{path}");
        }
    }

    /// The document has one schema per name, so two types of the same name would describe each other.
    #[test]
    fn schema_names_are_unique() {
        let mut schemas = BTreeMap::new();
        for (_, _, _, handler) in table().into_iter().chain(storage_table()) {
            for (name, schema) in handler.0 {
                let schema = serde_json::to_value(schema).unwrap();
                let first = schemas.entry(name.clone()).or_insert_with(|| schema.clone());
                assert_eq!(*first, schema, "two different schemas share the name {name}");
            }
        }
        assert!(schemas.len() > 20, "handlers declare named schemas: {}", schemas.len());
    }
}
