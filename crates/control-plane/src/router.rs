//! All routes of the control plane.

use std::sync::LazyLock;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{any, get};
use axum::{Extension, Router};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, PathItem};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::app::ControlPlaneState;
use crate::credentials::{cookie, session};
use crate::error::not_implemented;
use crate::extract::RouteBodyLimit;
use crate::routes::{
    agent_proposals, agents, api_keys, audit_log, auth, bootstrap, change_requests, commands,
    compute_preference, compute_targets, deployments, documents, events, execution_credentials,
    feature_flags, findings, github_token, health, health_checks, invitations, link, list_changes,
    local_auth, loop_messages, loops, manual_loops, members, oidc, onboarding, organization, organizations,
    public_keys, pull_requests, repositories, reviews, runner, sessions, storage, tickets, usage,
};
use crate::storage::OBJECT_LIMIT;
use crate::{conditional, middleware, web};

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

/// The handler reads no body.
const NONE: RouteBodyLimit = RouteBodyLimit(0);
/// Ids, names, credentials and switches. All routes that need no authentication.
const SMALL: RouteBodyLimit = RouteBodyLimit(4 * 1024);
/// Settings, keys and lists of ids.
const FORM: RouteBodyLimit = RouteBodyLimit(16 * 1024);
/// Reports of desktops.
const REPORT: RouteBodyLimit = RouteBodyLimit(64 * 1024);
/// A prompt of 100,000 characters, which are up to six bytes each in JSON, or a command that contains one.
const PROMPT: RouteBodyLimit = RouteBodyLimit(1024 * 1024);
/// The content of a document, 1,000,000 characters.
const DOCUMENT: RouteBodyLimit = RouteBodyLimit(8 * 1024 * 1024);
/// The content of a document and 10 MiB of files in base64.
const DOCUMENT_WITH_FILES: RouteBodyLimit = RouteBodyLimit(22 * 1024 * 1024);
/// Events and artifacts of a loop. The terminal event carries the loop's results.
const EVENT: RouteBodyLimit = RouteBodyLimit(20_000_000);
/// Files of a loop.
const FILE: RouteBodyLimit = RouteBodyLimit(OBJECT_LIMIT);

// Method, path, accepted callers, size limit of the body, and the handler.
type RouteRow = (&'static str, &'static str, Access, RouteBodyLimit, UtoipaMethodRouter<ControlPlaneState>);

// The routes of the OpenAPI document.
#[rustfmt::skip]
fn table() -> Vec<RouteRow> {
    use Access::{Admin, AdminSession, ApiKey, Person, PersonOrRunner, Public, Reader, Runner, Session};
    vec![
        // Health
        ("GET", "/health", Public, NONE, routes!(health::health)),
        ("GET", "/health/live", Public, NONE, routes!(health::live)),
        ("GET", "/health/ready", Public, NONE, routes!(health::ready)),
        ("GET", "/health/db", Public, NONE, routes!(health::database)),
        // People
        ("GET", "/auth/methods", Public, NONE, routes!(auth::methods)),
        ("POST", "/auth/sign-in-link", Public, SMALL, routes!(auth::sign_in)),
        ("POST", "/auth/sign-in", Public, SMALL, routes!(auth::password_sign_in)),
        ("GET", "/auth/oidc/start", Public, NONE, routes!(oidc::start)),
        ("GET", "/auth/oidc/callback", Public, NONE, routes!(oidc::callback)),
        ("POST", "/auth/password-reset", Public, SMALL, routes!(auth::reset_password)),
        ("PUT", "/auth/password", Session, SMALL, routes!(auth::change_password)),
        ("POST", "/auth/sign-out", Session, SMALL, routes!(auth::sign_out)),
        ("GET", "/me", Person, NONE, routes!(auth::me)),
        ("PUT", "/auth/organization", Session, SMALL, routes!(organizations::select)),
        ("GET", "/organizations", Session, NONE, routes!(organizations::list)),
        ("GET", "/members", Person, NONE, routes!(members::list)),
        ("PATCH", "/members/{id}", AdminSession, SMALL, routes!(members::update)),
        ("POST", "/members/{id}/password-reset", AdminSession, SMALL, routes!(members::reset_password)),
        ("GET", "/invitations", AdminSession, NONE, routes!(invitations::list)),
        ("POST", "/invitations", AdminSession, SMALL, routes!(invitations::create)),
        ("DELETE", "/invitations/{id}", AdminSession, NONE, routes!(invitations::delete)),
        ("POST", "/invitations/preview", Public, SMALL, routes!(invitations::preview)),
        ("POST", "/invitations/accept", Public, SMALL, routes!(invitations::accept)),
        ("GET", "/audit-log", Admin, NONE, routes!(audit_log::list)),
        ("GET", "/sessions", Session, NONE, routes!(sessions::list)),
        ("DELETE", "/sessions/{id}", Session, NONE, routes!(sessions::delete)),
        ("GET", "/api-keys", Session, NONE, routes!(api_keys::list)),
        ("POST", "/api-keys", Session, FORM, routes!(api_keys::create)),
        ("DELETE", "/api-keys/{id}", Session, NONE, routes!(api_keys::delete)),
        ("GET", "/feature-flags", Person, NONE, routes!(feature_flags::list)),
        ("PUT", "/feature-flags/{key}", Admin, SMALL, routes!(feature_flags::set)),
        ("GET", "/organization/settings", Person, NONE, routes!(organization::get)),
        ("GET", "/organization/changes", Person, NONE, routes!(list_changes::list_changes)),
        ("GET", "/settings/compute-preference", Person, NONE, routes!(compute_preference::get)),
        ("PUT", "/settings/compute-preference", Person, FORM, routes!(compute_preference::set)),
        ("PUT", "/organization/settings", Admin, FORM, routes!(organization::set)),
        // Desktops
        ("POST", "/desktop/onboarding-attempt", Session, SMALL, routes!(onboarding::attempt)),
        ("POST", "/desktop/bootstrap/claim", Public, SMALL, routes!(onboarding::claim)),
        ("POST", "/compute-targets/local-auth/challenge", Session, SMALL, routes!(local_auth::challenge)),
        ("POST", "/compute-targets/local-auth/verify", ApiKey, SMALL, routes!(local_auth::verify)),
        ("GET", "/compute-targets", Person, NONE, routes!(compute_targets::list)),
        ("POST", "/compute-targets/register", Person, REPORT, routes!(compute_targets::register)),
        ("GET", "/compute-targets/status-stream", Person, NONE, routes!(compute_targets::status_stream)),
        ("PUT", "/compute-targets/{id}", Person, FORM, routes!(compute_targets::update)),
        ("DELETE", "/compute-targets/{id}", Person, NONE, routes!(compute_targets::delete)),
        ("POST", "/compute-targets/{id}/heartbeat", Person, NONE, routes!(compute_targets::heartbeat)),
        ("GET", "/compute-targets/{id}/health-check", Person, NONE, routes!(health_checks::get)),
        ("PUT", "/compute-targets/{id}/health-check", Person, REPORT, routes!(health_checks::put)),
        ("PATCH", "/compute-targets/{id}/sharing", Person, SMALL, routes!(compute_targets::share)),
        ("GET", "/compute-targets/{id}/commands", Person, NONE, routes!(commands::list)),
        ("POST", "/compute-targets/{id}/commands", Person, PROMPT, routes!(commands::create)),
        ("GET", "/compute-targets/{id}/commands/{command_id}", Person, NONE, routes!(commands::get)),
        ("GET", "/compute-targets/{id}/commands/{command_id}/events", Person, NONE, routes!(commands::events)),
        ("POST", "/compute-targets/{id}/commands/{command_id}/cancel", Person, NONE, routes!(commands::cancel)),
        ("POST", "/compute-targets/{id}/loops/{loop_id}/execution-credentials", ApiKey, FORM, routes!(execution_credentials::create)),
        ("POST", "/compute-targets/{id}/pull-requests", ApiKey, REPORT, routes!(pull_requests::report)),
        ("PUT", "/compute-targets/{id}/deployments", ApiKey, REPORT, routes!(deployments::put)),
        ("GET", "/public-keys", Person, NONE, routes!(public_keys::list)),
        ("POST", "/public-keys", Session, FORM, routes!(public_keys::register)),
        ("DELETE", "/public-keys", Session, NONE, routes!(public_keys::delete)),
        // Agents
        ("GET", "/agents", Person, NONE, routes!(agents::list)),
        ("POST", "/agents", Admin, PROMPT, routes!(agents::create)),
        ("POST", "/agents/bulk-ingest", Admin, DOCUMENT, routes!(agents::bulk_ingest)),
        ("POST", "/agents/bootstrap/start", Person, REPORT, routes!(bootstrap::start)),
        ("GET", "/agents/{idOrSlug}", Person, NONE, routes!(agents::get)),
        ("PATCH", "/agents/{idOrSlug}", Admin, PROMPT, routes!(agents::update)),
        ("DELETE", "/agents/{idOrSlug}", Admin, NONE, routes!(agents::delete)),
        ("GET", "/agents/{idOrSlug}/versions", Person, NONE, routes!(agents::versions)),
        ("GET", "/agents/{idOrSlug}/versions/{version}", Person, NONE, routes!(agents::version)),
        ("GET", "/agent-proposals", Person, NONE, routes!(agent_proposals::list)),
        ("POST", "/agent-proposals/{id}/accept", Admin, SMALL, routes!(agent_proposals::accept)),
        ("POST", "/agent-proposals/{id}/reject", Admin, SMALL, routes!(agent_proposals::reject)),
        // Repositories
        ("GET", "/repositories", Person, NONE, routes!(repositories::list)),
        ("POST", "/repositories", Admin, FORM, routes!(repositories::allow)),
        ("DELETE", "/repositories/{owner}/{name}", Admin, NONE, routes!(repositories::forbid)),
        // Documents
        ("GET", "/documents", Person, NONE, routes!(documents::list)),
        ("POST", "/documents", Person, DOCUMENT_WITH_FILES, routes!(documents::create)),
        ("POST", "/documents/run-loop", Person, DOCUMENT_WITH_FILES, routes!(documents::run_new)),
        ("GET", "/documents/{idOrSlug}", Person, NONE, routes!(documents::get)),
        ("PATCH", "/documents/{idOrSlug}", Person, DOCUMENT, routes!(documents::update)),
        ("GET", "/documents/{idOrSlug}/versions", Person, NONE, routes!(documents::versions)),
        ("GET", "/documents/{idOrSlug}/versions/{version}", Person, NONE, routes!(documents::version)),
        ("POST", "/documents/{idOrSlug}/versions", Person, DOCUMENT, routes!(documents::create_version)),
        ("POST", "/documents/{idOrSlug}/run-loop", Person, PROMPT, routes!(documents::run_loop)),
        ("POST", "/documents/{idOrSlug}/run-loop/preview", Person, PROMPT, routes!(documents::preview_loop)),
        // Change requests
        ("GET", "/change-requests", Person, NONE, routes!(change_requests::list)),
        ("GET", "/change-requests/groups", Person, NONE, routes!(change_requests::groups)),
        ("GET", "/change-requests/views", Person, NONE, routes!(change_requests::views)),
        ("PUT", "/change-requests/views", Person, REPORT, routes!(change_requests::set_views)),
        ("GET", "/change-requests/{idOrSlug}", Person, NONE, routes!(change_requests::get)),
        ("PATCH", "/change-requests/{idOrSlug}", Person, SMALL, routes!(change_requests::update)),
        ("DELETE", "/change-requests/{idOrSlug}", Person, NONE, routes!(change_requests::delete)),
        ("GET", "/change-requests/{idOrSlug}/history", Person, NONE, routes!(change_requests::history)),
        ("POST", "/change-requests/{idOrSlug}/restore", Person, NONE, routes!(change_requests::restore)),
        ("PUT", "/change-requests/{idOrSlug}/mark", Person, SMALL, routes!(change_requests::mark)),
        ("GET", "/change-requests/{idOrSlug}/reviews", Person, NONE, routes!(reviews::list)),
        ("POST", "/change-requests/{idOrSlug}/reviews", Person, PROMPT, routes!(reviews::finish)),
        ("PUT", "/change-requests/{idOrSlug}/comments/{commentId}", Person, PROMPT, routes!(reviews::store_comment)),
        ("DELETE", "/change-requests/{idOrSlug}/comments/{commentId}", Person, NONE, routes!(reviews::delete_comment)),
        // Tickets
        ("GET", "/tickets", Person, NONE, routes!(tickets::list)),
        ("POST", "/tickets", Person, DOCUMENT, routes!(tickets::create)),
        ("GET", "/tickets/{idOrSlug}", Person, NONE, routes!(tickets::get)),
        ("PATCH", "/tickets/{idOrSlug}", Person, DOCUMENT, routes!(tickets::update)),
        // Loops
        ("GET", "/loops", Person, NONE, routes!(loops::list)),
        ("POST", "/loops", Person, PROMPT, routes!(loops::create)),
        ("GET", "/loops/usage", AdminSession, NONE, routes!(usage::get)),
        ("POST", "/loops/summaries", Reader, FORM, routes!(loops::summaries)),
        ("GET", "/loops/{id}", PersonOrRunner, NONE, routes!(loops::get)),
        ("PATCH", "/loops/{id}", Person, REPORT, routes!(manual_loops::update)),
        ("DELETE", "/loops/{id}", Person, NONE, routes!(loops::delete)),
        ("POST", "/loops/{id}/cancel", Person, FORM, routes!(loops::cancel)),
        ("POST", "/loops/{id}/resume", Person, PROMPT, routes!(loops::resume)),
        ("PUT", "/loops/{id}/findings", Person, SMALL, routes!(findings::put)),
        ("POST", "/loops/{id}/messages", Person, PROMPT, routes!(loop_messages::send)),
        ("POST", "/loops/{id}/manual-events", Person, EVENT, routes!(manual_loops::event)),
        ("GET", "/loops/{id}/runtime", AdminSession, NONE, routes!(loops::runtime)),
        ("GET", "/loops/{id}/events", Session, NONE, routes!(events::list)),
        ("GET", "/loops/{id}/events/{sequence}", Session, NONE, routes!(events::get)),
        ("GET", "/loops/{id}/stream", Session, NONE, routes!(events::stream)),
        // Runners
        ("POST", "/loops/{id}/events", Runner, EVENT, routes!(runner::event)),
        ("POST", "/loops/{id}/heartbeat", Runner, FORM, routes!(runner::heartbeat)),
        ("POST", "/loops/{id}/refresh-token", Runner, SMALL, routes!(runner::refresh)),
        ("POST", "/loops/{id}/github-token", Runner, FORM, routes!(github_token::create)),
        ("POST", "/loops/{id}/upload-artifacts", Runner, EVENT, routes!(runner::upload_artifacts)),
        ("POST", "/loops/{id}/upload-urls", Runner, PROMPT, routes!(runner::upload_urls)),
        ("POST", "/loops/{id}/download-urls", Runner, PROMPT, routes!(runner::download_urls)),
    ]
}

// Files of loops behind signed URLs. They are served under a wildcard path, which OpenAPI cannot express, so
// the document describes them with a single segment.
fn storage_table() -> Vec<RouteRow> {
    vec![
        ("GET", "/storage/{key}", Access::Public, NONE, routes!(storage::get)),
        ("PUT", "/storage/{key}", Access::Public, FILE, routes!(storage::put)),
    ]
}

fn documented(
    table: Vec<RouteRow>,
    router: OpenApiRouter<ControlPlaneState>,
) -> OpenApiRouter<ControlPlaneState> {
    table.into_iter().fold(router, |router, (_, _, _, limit, (schemas, paths, methods))| {
        router.routes((schemas, paths, methods.layer(Extension(limit))))
    })
}

/// Builds the service: API, WebSocket of the desktops, and the web app for all other paths.
pub fn service(app: ControlPlaneState) -> Router {
    let (routes, _) = documented(table(), OpenApiRouter::new()).split_for_parts();
    routes
        .route("/storage/{*key}", get(storage::get).put(storage::put).layer(Extension(FILE)))
        .route(loopgate_api::link::LINK_PATH, any(link::connect))
        .route("/openapi.json", get(openapi_document))
        .method_not_allowed_fallback(async || not_implemented())
        .fallback(web::fallback)
        // The last layer is the outermost one: it also covers the fallbacks.
        .layer(from_fn(conditional::tag))
        .layer(from_fn_with_state(app.clone(), middleware::check))
        .layer(middleware::compression())
        .with_state(app)
}

// Serialized once, because anyone may request it.
static OPENAPI_DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| serde_json::to_vec(&openapi()).unwrap_or_default().into());

async fn openapi_document() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], OPENAPI_DOCUMENT.clone())
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
    routes.map(|(method, path, access, ..)| (method, path, access)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn table_matches_method_and_path_of_each_handler() {
        for (method, path, _, _, (_, paths, _)) in table().into_iter().chain(storage_table()) {
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

    #[test]
    fn bodies_of_public_routes_are_small_and_large_bodies_are_exceptions() {
        let mut large = Vec::new();
        for (method, path, access, limit, _) in table() {
            assert!(access != Access::Public || limit <= SMALL, "{method} {path}");
            if matches!(method, "GET" | "DELETE") {
                assert_eq!(limit, NONE, "{method} {path}");
            }
            if limit > REPORT {
                large.push(path);
            }
        }
        large.dedup();
        let with_text = [
            "commands",
            "agents",
            "documents",
            "tickets",
            "run-loop",
            "versions",
            "loops",
            "reviews",
            "comments",
        ];
        let of_runs = ["resume", "events", "upload-artifacts", "upload-urls", "download-urls"];
        for path in large {
            let is_known = with_text.iter().chain(&of_runs).any(|part| path.contains(part));
            assert!(is_known, "{path} accepts large bodies");
        }
    }

    /// The document has one schema per name, so two types of the same name would describe each other.
    #[test]
    fn schema_names_are_unique() {
        let mut schemas = BTreeMap::new();
        for (_, _, _, _, handler) in table().into_iter().chain(storage_table()) {
            for (name, schema) in handler.0 {
                let schema = serde_json::to_value(schema).unwrap();
                let first = schemas.entry(name.clone()).or_insert_with(|| schema.clone());
                assert_eq!(*first, schema, "two different schemas share the name {name}");
            }
        }
        assert!(schemas.len() > 20, "handlers declare named schemas: {}", schemas.len());
    }
}
