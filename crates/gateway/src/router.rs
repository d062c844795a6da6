//! Every route of the gateway, on one page: what is built, and what is to come.
//!
//! A [`Route`] is one value, declared beside its handler. Dispatch, approval, body limits, the
//! OpenAPI document and the tests read this table; nothing else matches paths.

use axum::Router;
use http::Method;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use utoipa::openapi::OpenApi;
use utoipa::openapi::encoding::EncodingBuilder;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::app::App;
use crate::approval::Source;
use crate::pipeline::body::BodyLimit;
use crate::routes;

/// The routes that are built. Each is made when it is asked for: all descriptions at once take more
/// memory than everything else at the start.
const BUILT: &[fn() -> Route] = &[
    routes::health::route,
    routes::exchange::route,
    routes::openapi::route,
    routes::approvals::route,
    routes::version::route,
    routes::health_check::route,
    routes::mcp_auth::route,
    routes::binary_paths::list_route,
    routes::binary_paths::update_route,
    routes::repos::list_route,
    routes::repos::add_route,
    routes::repos::remove_route,
    routes::repos::update_route,
    routes::git::action_route,
    routes::git::branches_route,
    routes::git::diff_route,
    routes::git::clean_up_route,
    routes::git::remove_route,
    routes::git::branch_worktree_route,
    routes::git::repo_path_route,
    routes::pulls::open_route,
    routes::pulls::list_route,
    routes::pulls::comments_route,
    routes::pulls::reviews_route,
    routes::pulls::reply_route,
    routes::pulls::files_route,
    routes::pulls::head_sha_route,
    routes::pulls::inline_comment_route,
    routes::pulls::user_route,
    routes::orchestrator::start_route,
    routes::orchestrator::end_route,
    routes::orchestrator::directory_status_route,
    routes::orchestrator::ticket_status_route,
    routes::orchestrator::ticket_logs_route,
    routes::orchestrator::ticket_plan_route,
    routes::orchestrator::judges::route,
    routes::orchestrator::sessions::list_route,
    routes::orchestrator::sessions::note_route,
    routes::orchestrator::sessions::forget_route,
    routes::orchestrator::sessions::unread_route,
    routes::orchestrator::commit_message::route,
    routes::orchestrator::launch::route,
    routes::orchestrator::plan_loop::prepare_route,
    routes::orchestrator::plan_loop::prepare_artifact_route,
    routes::orchestrator::plan_loop::confirm_route,
    routes::orchestrator::plan_loop::confirm_artifact_route,
    routes::orchestrator::plan_loop::cancel_route,
    routes::orchestrator::kill::route,
    routes::orchestrator::chat::route,
    routes::orchestrator::comment_chat::read_route,
    routes::orchestrator::comment_chat::chat_route,
    routes::orchestrator::comment_chat::mark_route,
    routes::orchestrator::comment_chat::forget_route,
    routes::orchestrator::chat_history::read_route,
    routes::orchestrator::chat_history::add_route,
    routes::orchestrator::chat_history::remove_route,
    routes::files::directories::route,
    routes::files::search::route,
    routes::files::attachments::route,
    routes::files::upload::route,
    routes::files::work_directory::route,
    routes::files::run_viewer::extract_route,
    routes::files::run_viewer::list_route,
    routes::files::run_viewer::remove_route,
    #[cfg(test)]
    routes::panicking::route,
];

/// The routes that come later: method and path below `/api/gateway/`. They answer 501.
const LATER: &[(Method, &str)] = &[
    (Method::GET, "reviewer/available"),
    (Method::POST, "reviewer/review/{ticketId}"),
    (Method::GET, "reviewer/status/{ticketId}"),
    (Method::DELETE, "reviewer/status/{ticketId}"),
    (Method::POST, "reviewer/stop/{ticketId}"),
    (Method::DELETE, "reviewer/stop/{ticketId}"),
    (Method::GET, "reviewer/review-findings/{ticketId}"),
    (Method::POST, "reviewer/review-findings/{ticketId}"),
    (Method::POST, "reviewer/review-dedup/{ticketId}"),
    (Method::POST, "reviewer/review-extract/{ticketId}"),
    (Method::POST, "reviewer/review-verdict/{ticketId}"),
    (Method::POST, "reviewer/argue/{ticketId}"),
    (Method::POST, "reviewer/chat/{ticketId}"),
    (Method::GET, "reviewer/finding-chat/{findingId}"),
    (Method::POST, "reviewer/finding-chat/{findingId}"),
    (Method::PATCH, "reviewer/finding-chat/{findingId}"),
    (Method::DELETE, "reviewer/finding-chat/{findingId}"),
    (Method::GET, "terminal-chat"),
    (Method::POST, "terminal-chat"),
    (Method::DELETE, "terminal-chat"),
    (Method::GET, "ticket-chat"),
    (Method::POST, "ticket-chat"),
    (Method::DELETE, "ticket-chat"),
    (Method::GET, "run-viewer-chat"),
    (Method::POST, "run-viewer-chat"),
    (Method::DELETE, "run-viewer-chat"),
    (Method::POST, "deploy"),
    (Method::POST, "deploy/health"),
    (Method::POST, "deploy/kill"),
    (Method::POST, "deploy/teardown"),
    (Method::GET, "deploy/status/{ticketId}"),
    (Method::POST, "deploy/check-existing"),
    (Method::POST, "deploy/detect"),
    (Method::POST, "deploy/redetect"),
    (Method::POST, "deploy/extract-info"),
    (Method::GET, "learnings"),
    (Method::POST, "orchestrator/extract-learnings"),
    (Method::GET, "orchestrator/process-learnings"),
    (Method::POST, "orchestrator/process-learnings"),
    (Method::GET, "orchestrator/process-all-learnings"),
    (Method::POST, "orchestrator/process-all-learnings"),
    (Method::GET, "orchestrator/pending-learnings"),
    (Method::GET, "orchestrator/learnings-status/{ticketId}"),
    (Method::POST, "orchestrator/record-learning-use"),
];

/// What a caller must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth {
    /// Nothing.
    None,
    /// A loopback address and an origin.
    Loopback,
    /// The gateway token, or a session with its origin.
    Gateway,
}

/// One route.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// With parameters in braces.
    pub(crate) path: String,
    pub(crate) auth: Auth,
    pub(crate) operation: Option<OperationId>,
    pub(crate) limit: BodyLimit,
    /// Where its requests name repositories and paths.
    pub(crate) sources: &'static [Source],
    /// Members of the body that tell what a request does.
    pub(crate) action: &'static [&'static str],
    /// A person is asked each time, unless the caller holds the gateway token on this machine.
    pub(crate) asks_each_time: bool,
    /// Its requests over the link are answered as accepted while they wait for approval.
    pub(crate) accepts_held: bool,
    serving: Serving,
}

enum Serving {
    /// Through the router.
    Handler(Box<UtoipaMethodRouter<App>>),
    /// By the pipeline itself; the document only describes it.
    Pipeline(Box<OpenApi>),
    /// Not yet.
    Later,
}

impl Route {
    /// A route behind authentication. `handler` comes from `routes!`, so that method and path are
    /// those of its description. `sources` are all places of a request by which the handler finds
    /// directories of this machine: approval judges those.
    pub(crate) fn new(
        mut handler: UtoipaMethodRouter<App>,
        operation: OperationId,
        sources: &'static [Source],
    ) -> Self {
        let (path, method) = place_of(&handler.1.paths);
        handler.1.paths.values_mut().for_each(describe_refusals);
        Self {
            method,
            path,
            auth: Auth::Gateway,
            operation: Some(operation),
            limit: BodyLimit::GENERIC,
            sources,
            action: &[],
            asks_each_time: false,
            accepts_held: false,
            serving: Serving::Handler(Box::new(handler)),
        }
    }

    /// A route behind authentication that is part of asking for approval, so it asks for none itself,
    /// and is no event of the activity log.
    pub(crate) fn about_approval(handler: UtoipaMethodRouter<App>) -> Self {
        Self { operation: None, ..Self::new(handler, OperationId::HealthCheck, &[]) }
    }

    /// A route that the pipeline answers before authentication.
    pub(crate) fn of_pipeline(document: OpenApi, auth: Auth, limit: BodyLimit) -> Self {
        let (path, method) = place_of(&document.paths.paths);
        let serving = Serving::Pipeline(Box::new(document));
        let (sources, action) = (&[], &[]);
        let (asks_each_time, accepts_held) = (false, false);
        let operation = None;
        Self { method, path, auth, operation, limit, sources, action, asks_each_time, accepts_held, serving }
    }

    /// Names the members of the body that tell what a request does. What a person allows of one value is
    /// not allowed of another.
    pub(crate) const fn with_action(mut self, members: &'static [&'static str]) -> Self {
        self.action = members;
        self
    }

    /// A person is asked each time, unless the caller holds the gateway token on this machine.
    pub(crate) const fn asking_each_time(mut self) -> Self {
        self.asks_each_time = true;
        self
    }

    /// Its requests over the link are answered as accepted while they wait for approval.
    pub(crate) const fn accepting_held(mut self) -> Self {
        self.accepts_held = true;
        self
    }

    /// Another limit than the generic one.
    pub(crate) const fn with_limit(mut self, limit: BodyLimit) -> Self {
        self.limit = limit;
        self
    }

    /// Names the types that a part of the route's form may have.
    pub(crate) fn with_part(mut self, name: &str, types: &str) -> Self {
        if let Serving::Handler(handler) = &mut self.serving {
            let operations = handler.1.paths.values_mut().filter_map(|item| item.post.as_mut());
            let bodies = operations.filter_map(|operation| match operation.request_body.as_mut()? {
                RefOr::T(body) => Some(body),
                RefOr::Ref(_) => None,
            });
            for form in bodies.flat_map(|body| body.content.values_mut()) {
                if let RefOr::T(form) = form {
                    let encoding = EncodingBuilder::new().content_type(Some(types)).build();
                    form.encoding.insert(name.to_owned(), encoding);
                }
            }
        }
        self
    }

    fn later(method: &Method, rest: &str) -> Self {
        let path = format!("{}{rest}", loopgate_api::operation::GATEWAY_PREFIX);
        let operation = OperationId::of_path(&path);
        Self {
            method: method.clone(),
            path,
            auth: Auth::Gateway,
            operation,
            limit: BodyLimit::GENERIC,
            sources: &[Source::Anything],
            action: &[],
            asks_each_time: false,
            accepts_held: false,
            serving: Serving::Later,
        }
    }
}

/// Every route can be refused by the pipeline, always in the one shape.
fn describe_refusals(item: &mut PathItem) {
    let PathItem { get, post, put, patch, delete, .. } = item;
    for operation in [get, post, put, patch, delete].into_iter().flatten() {
        let example = ErrorBody::new(401, "unauthorized").with("reason", "no credential provided");
        let body = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("ErrorBody")))
            .example(serde_json::to_value(example).ok())
            .build();
        let refusal = ResponseBuilder::new()
            .description("Refused or failed: credential, approval, body size, or the route's own reasons")
            .content("application/json", body)
            .build();
        operation.responses.responses.insert("default".to_owned(), refusal.into());
    }
}

/// Path and method of a description that holds one operation.
fn place_of(paths: &utoipa::openapi::path::PathsMap<String, PathItem>) -> (String, Method) {
    let found = paths.iter().find_map(|(path, item)| Some((path.clone(), method_of(item)?)));
    found.unwrap_or_default()
}

fn method_of(item: &PathItem) -> Option<Method> {
    let PathItem { get, post, put, patch, delete, .. } = item;
    [
        (get, Method::GET),
        (post, Method::POST),
        (put, Method::PUT),
        (patch, Method::PATCH),
        (delete, Method::DELETE),
    ]
    .into_iter()
    .find_map(|(operation, method)| operation.as_ref().map(|_| method))
}

/// What dispatch needs to know of a route.
#[derive(Debug, Clone)]
pub(crate) struct RouteFacts {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// What approval knows it by; none asks for no approval.
    pub(crate) operation: Option<OperationId>,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests try every route without a credential"))]
    pub(crate) auth: Auth,
    pub(crate) limit: BodyLimit,
    /// See [`Route::sources`].
    pub(crate) sources: &'static [Source],
    /// See [`Route::action`].
    pub(crate) action: &'static [&'static str],
    /// See [`Route::asks_each_time`].
    pub(crate) asks_each_time: bool,
    /// See [`Route::accepts_held`].
    pub(crate) accepts_held: bool,
    pub(crate) built: bool,
}

impl Route {
    fn facts(&self) -> RouteFacts {
        RouteFacts {
            method: self.method.clone(),
            path: self.path.clone(),
            operation: self.operation,
            auth: self.auth,
            limit: self.limit,
            sources: self.sources,
            action: self.action,
            asks_each_time: self.asks_each_time,
            accepts_held: self.accepts_held,
            built: !matches!(self.serving, Serving::Later),
        }
    }
}

/// All routes, to be asked by method and path.
pub(crate) struct Table {
    matcher: matchit::Router<Vec<RouteFacts>>,
}

impl Table {
    /// The route of a request, when there is one.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Option<&RouteFacts> {
        self.matcher.at(path).ok()?.value.iter().find(|route| route.method == method)
    }
}

fn routes() -> impl Iterator<Item = Route> {
    let later = LATER.iter().map(|(method, rest)| Route::later(method, rest));
    BUILT.iter().map(|route| route()).chain(later)
}

/// The table for dispatch and the router behind it.
pub(crate) fn build(app: App) -> (Table, Router) {
    let mut by_path: std::collections::BTreeMap<String, Vec<RouteFacts>> = std::collections::BTreeMap::new();
    let mut router = Router::new();
    for route in routes() {
        let facts = route.facts();
        if let Serving::Handler(handler) = route.serving {
            let (_, _, answers) = *handler;
            router = router.route(&route.path, answers);
        }
        by_path.entry(route.path).or_default().push(facts);
    }
    let mut matcher = matchit::Router::new();
    for (path, facts) in by_path {
        if let Err(error) = matcher.insert(path.as_str(), facts) {
            tracing::error!(%error, path, "a route cannot be reached");
        }
    }
    (Table { matcher }, router.with_state(app))
}

/// Every route with its facts, for the tests.
#[cfg(test)]
pub(crate) fn all_facts() -> Vec<RouteFacts> {
    routes().map(|route| route.facts()).collect()
}

/// The schemas of every handler by name, before the document makes them one a name.
#[cfg(test)]
pub(crate) fn all_schemas() -> Vec<(String, RefOr<utoipa::openapi::Schema>)> {
    let handlers = BUILT.iter().filter_map(|route| match route().serving {
        Serving::Handler(handler) => Some(handler.0),
        Serving::Pipeline(_) | Serving::Later => None,
    });
    handlers.flatten().collect()
}

/// The OpenAPI document alone.
pub(crate) fn document() -> OpenApi {
    let mut router: OpenApiRouter<App> = OpenApiRouter::with_openapi(routes::openapi::base());
    for route in BUILT {
        match route().serving {
            Serving::Handler(handler) => router = router.routes(*handler),
            Serving::Pipeline(document) => router.get_openapi_mut().merge(*document),
            Serving::Later => {}
        }
    }
    let mut document = router.into_openapi();
    name_wildcards(&mut document);
    document
}

/// Descriptions know no wildcards: there a parameter for the rest of a path is one like any other.
fn name_wildcards(document: &mut OpenApi) {
    let paths = std::mem::take(&mut document.paths.paths);
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
}
