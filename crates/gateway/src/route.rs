//! The type of a route, declared next to its handler, and the table that finds the route of a request.
//!
//! Dispatch, authentication, approval, body limits, the OpenAPI document and the tests all read this table.
//! No other code matches paths.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use http::Method;
use loopgate_api::operation::OperationId;
use utoipa::openapi::RefOr;
use utoipa::openapi::encoding::EncodingBuilder;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::app::App;
use crate::approval::{RequestValues, Source};

/// Credential that a caller must present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth {
    /// No credential is required.
    Public,
    /// No credential, but the request must come from a loopback address and have an `Origin` header.
    Loopback,
    /// The gateway token, or a session token together with the origin that it was issued to.
    Gateway,
}

/// Size limit of a route's request body in bytes, and its label in log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BodyLimit {
    pub(crate) bytes: u64,
    pub(crate) label: &'static str,
}

impl BodyLimit {
    /// Limit of routes that do not set one.
    pub(crate) const GENERIC: Self = Self { bytes: 262_144, label: "generic-json" };
    /// 4 KiB: a challenge token is short.
    pub(crate) const EXCHANGE: Self = Self { bytes: 4096, label: "gateway-auth-exchange" };
    /// 1 MiB: the request that launches a loop contains its documents.
    pub(crate) const LOOP: Self = Self { bytes: 1_048_576, label: "orchestrator-loop" };
    /// 50 MiB for the attachments of a ticket.
    pub(crate) const UPLOAD: Self = Self { bytes: 52_428_800, label: "orchestrator-upload" };
    /// 210 MiB: an archive of at most 200 MiB, plus the other parts of the multipart form.
    pub(crate) const RUN_VIEWER: Self = Self { bytes: 220_200_960, label: "run-viewer-extract" };
}

/// A handler and the request policy that is declared with it.
pub(crate) struct Endpoint {
    pub(crate) handler: Handler,
    pub(crate) policy: RequestPolicy,
}

/// Implementation of a route.
pub(crate) enum Handler {
    /// An axum handler with its OpenAPI description.
    Axum(Box<UtoipaMethodRouter<App>>),
    /// Handled by the pipeline before authentication; the document only describes it.
    Pipeline(Box<utoipa::openapi::OpenApi>),
}

/// Computes what a request would do when the request itself does not say so, for example the commands that
/// the settings of a repository define. Returns `None` when it would do nothing.
pub(crate) type ActionPreview = fn(App, RequestValues) -> BoxFuture<'static, Option<String>>;

/// How the pipeline treats the requests of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestPolicy {
    pub(crate) limit: BodyLimit,
    /// Members that refer to repositories and paths. Approval resolves them to directories.
    pub(crate) sources: &'static [Source],
    /// Members of the body that determine what a request does. An approval for one value does not cover
    /// another value.
    pub(crate) action_members: &'static [&'static str],
    /// Computes text that is shown next to the action members. An approval counts only while the preview is
    /// unchanged.
    pub(crate) action_preview: Option<ActionPreview>,
    /// Every request needs an approval, which no rule or policy replaces. Exempt are local callers with the
    /// gateway token.
    pub(crate) requires_approval_each_time: bool,
    /// Requests over the link are accepted at once, and their handler waits for the approval.
    pub(crate) is_accepted_before_approval: bool,
}

impl Endpoint {
    /// Creates an endpoint behind authentication. `sources` must list every member of the request from which
    /// the handler derives directories of this machine.
    pub(crate) fn new(handler: UtoipaMethodRouter<App>, sources: &'static [Source]) -> Self {
        Self::with_handler(Handler::Axum(Box::new(handler)), sources)
    }

    /// Creates an endpoint that the pipeline handles before authentication.
    pub(crate) fn of_pipeline(document: utoipa::openapi::OpenApi) -> Self {
        Self::with_handler(Handler::Pipeline(Box::new(document)), &[])
    }

    const fn with_handler(handler: Handler, sources: &'static [Source]) -> Self {
        let policy = RequestPolicy {
            limit: BodyLimit::GENERIC,
            sources,
            action_members: &[],
            action_preview: None,
            requires_approval_each_time: false,
            is_accepted_before_approval: false,
        };
        Self { handler, policy }
    }

    /// Lists the members of the body that are shown for approval; see [`RequestPolicy::action_members`].
    pub(crate) const fn with_action_members(mut self, members: &'static [&'static str]) -> Self {
        self.policy.action_members = members;
        self
    }

    /// Adds a preview that is shown for approval; see [`RequestPolicy::action_preview`].
    pub(crate) fn with_action_preview(mut self, preview: ActionPreview) -> Self {
        self.policy.action_preview = Some(preview);
        self
    }

    /// Requires approval for each request; see [`RequestPolicy::requires_approval_each_time`].
    pub(crate) const fn with_approval_each_time(mut self) -> Self {
        self.policy.requires_approval_each_time = true;
        self
    }

    /// Accepts requests over the link before their approval; see
    /// [`RequestPolicy::is_accepted_before_approval`].
    pub(crate) const fn accepted_before_approval(mut self) -> Self {
        self.policy.is_accepted_before_approval = true;
        self
    }

    /// Replaces the default limit [`BodyLimit::GENERIC`].
    pub(crate) const fn with_limit(mut self, limit: BodyLimit) -> Self {
        self.policy.limit = limit;
        self
    }

    /// Documents the media types that one part of the endpoint's multipart form accepts.
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

/// One row of the route table.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) method: Method,
    /// Path pattern with parameters in braces.
    pub(crate) path: &'static str,
    /// Enforced by the order of the pipeline, which handles `Public` and `Loopback` routes before
    /// authentication.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests try every route without a credential"))]
    pub(crate) auth: Auth,
    /// Operation for approval. `None`: the route needs no approval and is not recorded as activity.
    pub(crate) operation: Option<OperationId>,
    pub(crate) policy: RequestPolicy,
}

/// All routes, indexed by path and method.
pub(crate) struct RouteTable {
    matcher: matchit::Router<Vec<Route>>,
}

impl RouteTable {
    pub(crate) fn new(routes: Vec<Route>) -> Self {
        let mut by_path: BTreeMap<&str, Vec<Route>> = BTreeMap::new();
        for route in routes {
            // matchit allows one value per path, so the routes of all its methods share an entry.
            by_path.entry(route.path).or_default().push(route);
        }
        let mut matcher = matchit::Router::new();
        for (path, routes) in by_path {
            if let Err(error) = matcher.insert(path, routes) {
                tracing::error!(%error, path, "route conflicts with another one and is unreachable");
            }
        }
        Self { matcher }
    }

    /// Returns the route that matches a request.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Option<&Route> {
        self.matcher.at(path).ok()?.value.iter().find(|route| route.method == method)
    }
}
