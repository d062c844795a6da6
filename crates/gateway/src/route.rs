//! A route as one value, declared beside its handler, and the table in which requests find theirs.
//!
//! Dispatch, authentication, approval, body limits, the OpenAPI document and the tests read this table;
//! nothing else matches paths.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use http::Method;
use loopgate_api::operation::OperationId;
use utoipa::openapi::RefOr;
use utoipa::openapi::encoding::EncodingBuilder;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::app::App;
use crate::approval::{RequestValues, Source};

/// What a caller must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth {
    /// Nothing.
    Public,
    /// A loopback address and an origin.
    Loopback,
    /// The gateway token, or a session with its origin.
    Gateway,
}

/// Limit in bytes of a route's body, and its name in logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BodyLimit {
    pub(crate) bytes: u64,
    pub(crate) label: &'static str,
}

impl BodyLimit {
    /// Every route that names none.
    pub(crate) const GENERIC: Self = Self { bytes: 262_144, label: "generic-json" };
    /// The challenge exchange.
    pub(crate) const EXCHANGE: Self = Self { bytes: 4096, label: "gateway-auth-exchange" };
    /// The launch of a loop, with its documents.
    pub(crate) const LOOP: Self = Self { bytes: 1_048_576, label: "orchestrator-loop" };
    /// Uploaded files of a ticket.
    pub(crate) const UPLOAD: Self = Self { bytes: 52_428_800, label: "orchestrator-upload" };
    /// Archives of the run viewer.
    pub(crate) const RUN_VIEWER: Self = Self { bytes: 220_200_960, label: "run-viewer-extract" };
}

/// What answers the requests of a route, and what it says about them; declared beside the handler.
pub(crate) struct Endpoint {
    pub(crate) handler: Handler,
    pub(crate) policy: RequestPolicy,
}

/// What answers.
pub(crate) enum Handler {
    /// A handler of the router, with its description.
    Axum(Box<UtoipaMethodRouter<App>>),
    /// The pipeline itself, before authentication; the document only describes it.
    Pipeline(Box<utoipa::openapi::OpenApi>),
}

/// Finds out what a request would do, where its own words do not say it: the commands that a repository's settings
/// name, for example. `None` when it would do nothing.
pub(crate) type ActionPreview = fn(App, RequestValues) -> BoxFuture<'static, Option<String>>;

/// How the pipeline treats the requests of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestPolicy {
    pub(crate) limit: BodyLimit,
    /// Where requests name repositories and paths; approval judges those.
    pub(crate) sources: &'static [Source],
    /// Members of the body that tell what a request does. What a person allows of one value is not
    /// allowed of another.
    pub(crate) action_members: &'static [&'static str],
    /// Shown beside the action members. A decision counts only while the preview stays the same.
    pub(crate) action_preview: Option<ActionPreview>,
    /// A person is asked each time, unless the caller holds the gateway token on this machine.
    pub(crate) asks_each_time: bool,
    /// Requests over the link are answered as accepted while they wait for approval.
    pub(crate) accepts_while_held: bool,
}

impl Endpoint {
    /// An endpoint behind authentication. `sources` are all places of a request by which the handler
    /// finds directories of this machine.
    pub(crate) fn new(handler: UtoipaMethodRouter<App>, sources: &'static [Source]) -> Self {
        Self::with_handler(Handler::Axum(Box::new(handler)), sources)
    }

    /// An endpoint that the pipeline answers before authentication.
    pub(crate) fn of_pipeline(document: utoipa::openapi::OpenApi) -> Self {
        Self::with_handler(Handler::Pipeline(Box::new(document)), &[])
    }

    const fn with_handler(handler: Handler, sources: &'static [Source]) -> Self {
        let policy = RequestPolicy {
            limit: BodyLimit::GENERIC,
            sources,
            action_members: &[],
            action_preview: None,
            asks_each_time: false,
            accepts_while_held: false,
        };
        Self { handler, policy }
    }

    /// See [`RequestPolicy::action_members`].
    pub(crate) const fn with_action_members(mut self, members: &'static [&'static str]) -> Self {
        self.policy.action_members = members;
        self
    }

    /// See [`RequestPolicy::action_preview`].
    pub(crate) fn with_action_preview(mut self, preview: ActionPreview) -> Self {
        self.policy.action_preview = Some(preview);
        self
    }

    /// See [`RequestPolicy::asks_each_time`].
    pub(crate) const fn asking_each_time(mut self) -> Self {
        self.policy.asks_each_time = true;
        self
    }

    /// See [`RequestPolicy::accepts_while_held`].
    pub(crate) const fn accepting_while_held(mut self) -> Self {
        self.policy.accepts_while_held = true;
        self
    }

    /// Another limit than [`BodyLimit::GENERIC`].
    pub(crate) const fn with_limit(mut self, limit: BodyLimit) -> Self {
        self.policy.limit = limit;
        self
    }

    /// Describes the media types that a part of the endpoint's form may have.
    pub(crate) fn with_part(mut self, name: &str, types: &str) -> Self {
        if let Handler::Axum(handler) = &mut self.handler {
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
}

/// A row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) method: Method,
    /// With parameters in braces.
    pub(crate) path: &'static str,
    /// Checked by the pipeline's order: `Public` and `Loopback` routes are answered before
    /// authentication.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests try every route without a credential"))]
    pub(crate) auth: Auth,
    /// What approval knows it by. A route without one asks for no approval and is not recorded.
    pub(crate) operation: Option<OperationId>,
    pub(crate) policy: RequestPolicy,
}

/// All routes, looked up by method and path.
pub(crate) struct RouteTable {
    matcher: matchit::Router<Vec<Route>>,
}

impl RouteTable {
    pub(crate) fn new(routes: Vec<Route>) -> Self {
        let mut by_path: BTreeMap<&str, Vec<Route>> = BTreeMap::new();
        for route in routes {
            by_path.entry(route.path).or_default().push(route);
        }
        let mut matcher = matchit::Router::new();
        for (path, routes) in by_path {
            if let Err(error) = matcher.insert(path, routes) {
                tracing::error!(%error, path, "a route cannot be reached");
            }
        }
        Self { matcher }
    }

    /// The route of a request.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Option<&Route> {
        self.matcher.at(path).ok()?.value.iter().find(|route| route.method == method)
    }
}
