//! The one sequence that every request passes: target, host, origin, preflight, exchange,
//! authentication, forgery, body limit, approval, dispatch.
//!
//! Cheap answers (`/health`, preflights, refusals) are given without a task, a box or a router.
//! No handler repeats anything of this.

mod auth;
pub(crate) mod body;
mod forgery;
mod host;
mod origin;
mod target;

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::IntoResponse as _;
use futures_util::FutureExt as _;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as HttpBody;
use loopgate_api::names::{CLOUD_SOURCE, SOURCE_HEADER};
use loopgate_api::operation::GATEWAY_PREFIX;
use tower::ServiceExt as _;

pub(crate) use self::auth::Principal;
pub(crate) use self::forgery::is_forgeable;
pub(crate) use self::host::OwnHosts;
pub(crate) use self::origin::{Cors, OriginPolicy, named_origin};

use self::auth::Gatekeeper;
use self::body::{BodyLimit, Keep, Received, Unread};
use crate::activity::Capture;
use crate::answer::{Failure, JSON, OutsideSandbox};
use crate::approval::{self, Decision, PendingApproval, Verdict};
use crate::exchange::exchange;
use crate::facts::Facts;
use crate::gateway::Inner;
use crate::router::RouteFacts;
use crate::routes::{self, health};

const OUTDATED: &str = "the request would work in another directory than when it was asked about; ask again";

const EXCHANGE_PATH: &str = "/gateway-auth/exchange";

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Over the listener.
    Network(IpAddr),
    /// From this process; has no host and no address.
    InProcess,
}

impl Caller {
    pub(crate) const fn is_loopback(self) -> bool {
        match self {
            Self::Network(IpAddr::V4(address)) => address.is_loopback(),
            Self::Network(IpAddr::V6(address)) => {
                address.is_loopback()
                    || matches!(address.to_ipv4_mapped(), Some(mapped) if mapped.is_loopback())
            }
            Self::InProcess => true,
        }
    }

    const fn peer(self) -> Option<IpAddr> {
        match self {
            Self::Network(address) => Some(address),
            Self::InProcess => None,
        }
    }
}

/// Who a handler works for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requester {
    /// The request came over the link: said by a caller with the gateway token.
    pub(crate) over_link: bool,
}

/// A request after the part of the sequence that reads nothing but its head.
enum CheckedHead {
    /// It is answered.
    Answered(Response<Body>),
    /// It goes on.
    Pending(PendingRequest),
}

/// A request that needs more than its head.
struct PendingRequest {
    request: Request<Body>,
    cors: Cors,
    is_exchange: bool,
}

/// The whole sequence. Never panics: what a handler drops is answered with 500.
pub(crate) async fn handle(inner: Arc<Inner>, request: Request<Body>, caller: Caller) -> Response<Body> {
    let facts = inner.facts();
    match check_head(&facts, request, caller) {
        CheckedHead::Answered(response) => response,
        CheckedHead::Pending(pending) => respond(&inner, &facts, pending, caller).await,
    }
}

fn check_head(facts: &Facts, mut request: Request<Body>, caller: Caller) -> CheckedHead {
    match target::normalized(request.uri()) {
        Ok(None) => {}
        Ok(Some(normal)) => *request.uri_mut() = normal,
        Err(target::Malformed) if request.method() == Method::OPTIONS => {}
        Err(target::Malformed) => {
            let failure = Failure::bad_request("malformed request target");
            return CheckedHead::Answered(closing_with(facts, &request, failure));
        }
    }
    if caller != Caller::InProcess && !facts.hosts.accept(request.uri(), request.headers()) {
        // Without the cross-origin headers: they name the web app.
        let failure = Failure::forbidden("host not allowed");
        return CheckedHead::Answered(failure.closing(has_body(&request)).into_response());
    }
    let path = request.uri().path();
    if path == health::PATH && request.method() == Method::GET {
        return CheckedHead::Answered(health_of(facts, request.headers()));
    }
    if request.method() == Method::OPTIONS {
        let mut reply = StatusCode::NO_CONTENT.into_response();
        facts.origins.headers_for(request.headers()).apply(reply.headers_mut());
        return CheckedHead::Answered(reply);
    }
    let is_exchange = path == EXCHANGE_PATH && request.method() == Method::POST;
    if !is_exchange && !path.starts_with(GATEWAY_PREFIX) {
        return CheckedHead::Answered(closing_with(facts, &request, Failure::route_not_found()));
    }
    let cors = facts.origins.headers_for(request.headers());
    CheckedHead::Pending(PendingRequest { request, cors, is_exchange })
}

fn has_body(request: &Request<Body>) -> bool {
    !request.body().is_end_stream()
}

/// A refusal that does not wait for the rest of the request.
fn closing_with(facts: &Facts, request: &Request<Body>, failure: Failure) -> Response<Body> {
    let mut reply = failure.closing(has_body(request)).into_response();
    facts.origins.headers_for(request.headers()).apply(reply.headers_mut());
    reply
}

fn health_of(facts: &Facts, headers: &HeaderMap) -> Response<Body> {
    let mut reply = ([(CONTENT_TYPE, JSON)], facts.health.clone()).into_response();
    facts.origins.headers_for(headers).apply(reply.headers_mut());
    reply
}

async fn respond(inner: &Inner, facts: &Facts, pending: PendingRequest, caller: Caller) -> Response<Body> {
    let PendingRequest { request, cors, is_exchange } = pending;
    let mut capture = Capture::begin(&inner.activity, request.method(), request.uri());
    let answered = if is_exchange {
        let exchange = Box::pin(exchange(inner, facts, request, caller, &mut capture));
        AssertUnwindSafe(exchange).catch_unwind().await
    } else {
        AssertUnwindSafe(gateway_route(inner, facts, request, caller, &mut capture)).catch_unwind().await
    };
    let mut reply = answered.unwrap_or_else(|_| {
        tracing::error!("a handler panicked; its request was answered with 500");
        Failure::internal().into_response()
    });
    if reply.extensions().get::<OutsideSandbox>().is_some() {
        inner.blocked.send_modify(|times| *times += 1);
    }
    cors.apply(reply.headers_mut());
    capture.watch(reply)
}

async fn gateway_route(
    inner: &Inner,
    facts: &Facts,
    request: Request<Body>,
    caller: Caller,
    capture: &mut Capture,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let gatekeeper = Gatekeeper {
        gateway_token: inner.config.gateway_token.as_ref(),
        origins: &facts.origins,
        production_only: facts.production_only,
        sessions: &inner.sessions,
    };
    let principal = match gatekeeper.admit(&parts.headers) {
        Ok(principal) => principal,
        Err(reason) => {
            capture.security(reason);
            return unauthorized(inner, &parts.headers, reason, !body.is_end_stream());
        }
    };
    let route = inner.table.find(&parts.method, parts.uri.path());
    let form = route.is_some_and(|route| route.limit.bytes > BodyLimit::LOOP.bytes);
    if principal != Principal::Internal
        && !body.is_end_stream()
        && forgery::is_forgeable(&parts.headers, form)
    {
        let failure = unsupported_type();
        capture.security(failure.body.error.clone());
        return failure.into_response();
    }
    let received = match read_body(inner, &parts, body, route, capture).await {
        Ok(received) => received,
        Err(failure) => return failure.into_response(),
    };
    let over_link = principal == Principal::Internal
        && parts.headers.get(SOURCE_HEADER).is_some_and(|source| source == CLOUD_SOURCE);
    let built = route.filter(|route| route.built);
    let judged = approval::Request {
        method: &parts.method,
        target: &parts.uri,
        headers: &parts.headers,
        body: &received,
        principal,
        over_link,
        route: built,
        peer: caller.peer(),
        setup_complete: facts.setup_complete,
    };
    if built.is_some_and(|route| route.operation.is_none()) {
        capture.forget();
    } else {
        match approve(inner, facts, &judged).await {
            Ok(Approval::Passed) => {}
            Ok(Approval::Accepted(reply)) => return reply,
            Err(failure) => {
                capture.detail = Some(failure.body.error.clone());
                return failure.into_response();
            }
        }
    }
    if !target::decodes(parts.uri.path()) {
        return Failure::bad_request("malformed path").into_response();
    }
    if built.is_none() {
        return match &inner.fallback {
            Some(fallback) => Box::pin(fallback.forward(&parts, received.whole())).await,
            None => Failure::not_implemented(&parts.method, parts.uri.path()).into_response(),
        };
    }
    parts.extensions.insert(Requester { over_link });
    let request = Request::from_parts(parts, received.into_body());
    match inner.router.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// The refusal of a body that a foreign page could have sent.
pub(crate) fn unsupported_type() -> Failure {
    let error = "content type not supported, send application/json";
    Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error).closing(true)
}

fn unauthorized(inner: &Inner, headers: &HeaderMap, reason: &'static str, unread: bool) -> Response<Body> {
    let origin = named_origin(headers).unwrap_or_default();
    if let Err(wait) = inner.refusals.take(origin, Instant::now()) {
        let failure =
            Failure::new(StatusCode::TOO_MANY_REQUESTS, "too many unauthorized requests, retry shortly");
        let mut reply = failure.closing(true).into_response();
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        return reply;
    }
    Failure::new(StatusCode::UNAUTHORIZED, "unauthorized")
        .with("reason", reason)
        .closing(unread)
        .into_response()
}

async fn read_body(
    inner: &Inner,
    parts: &http::request::Parts,
    body: Body,
    route: Option<&RouteFacts>,
    capture: &mut Capture,
) -> Result<Received, Failure> {
    let limit = route.map_or(BodyLimit::GENERIC, |route| route.limit);
    // A large body that no handler will read is not gathered.
    let keep = if limit.bytes <= BodyLimit::LOOP.bytes {
        Keep::All
    } else if route.is_some_and(|route| route.built) {
        Keep::Spooled(&inner.config.data_dir, approval::begin_fingerprint(&parts.method, &parts.uri))
    } else {
        Keep::Nothing
    };
    let read = body::read(body, &parts.headers, limit, keep, &inner.config.limits).await;
    match read {
        Ok(received) => {
            capture.request_size = Some(received.length());
            Ok(received)
        }
        Err(unread) => {
            if let Unread::TooLarge { declared, observed } = &unread {
                capture.security("request_body_too_large");
                capture.request_size = observed.or(*declared);
                tracing::warn!(
                    method = %parts.method,
                    path = parts.uri.path(),
                    status = 413,
                    label = limit.label,
                    limit = limit.bytes,
                    ?declared,
                    ?observed,
                    "request body too large"
                );
            }
            Err(unread.into_failure(limit))
        }
    }
}

/// What approval makes of a request that it does not refuse.
enum Approval {
    /// It goes on.
    Passed,
    /// It is answered as accepted, and goes on without its caller when it is approved.
    Accepted(Response<Body>),
}

async fn approve(inner: &Inner, facts: &Facts, judged: &approval::Request<'_>) -> Result<Approval, Failure> {
    let verdict = approval::evaluate(judged, &inner.app, &facts.settings, &inner.approvals);
    let request = match Box::pin(verdict).await {
        Verdict::Allow => return Ok(Approval::Passed),
        Verdict::Refuse(failure) => return Err(failure),
        Verdict::Wait(request) => *request,
    };
    if judged.over_link && judged.route.is_some_and(|route| route.accepts_held) {
        return Box::pin(hold_launch(inner, facts, judged, request)).await.map(Approval::Accepted);
    }
    let limits = &inner.config.limits;
    let limit = if judged.over_link { limits.approval_over_link } else { limits.approval_otherwise };
    let operation = request.operation_id.as_str();
    let shown = request.directories.clone();
    let (id, decision) = Box::pin(inner.approvals.wait(request, limit)).await;
    let refused = match decision {
        // Whoever asks may have put something else in the place of what the person was shown.
        Decision::Approved | Decision::AlwaysAllow => {
            if !judged.subjects().lead_elsewhere(&inner.app, &shown).await {
                return Ok(Approval::Passed);
            }
            Failure::new(StatusCode::CONFLICT, OUTDATED).with_code("approval_outdated")
        }
        Decision::Denied => Failure::forbidden("request denied"),
        Decision::Expired => Failure::new(StatusCode::REQUEST_TIMEOUT, "approval timed out"),
    };
    Err(refused.with("operationId", operation).with("approvalId", id.to_string()))
}

/// The control plane waits for no person, but a loop does: as long as its owner's settings allow.
async fn hold_launch(
    inner: &Inner,
    facts: &Facts,
    judged: &approval::Request<'_>,
    request: PendingApproval,
) -> Result<Response<Body>, Failure> {
    let hours = facts.settings.loop_approval_hours.max(1);
    let limit = Duration::from_secs(u64::from(hours) * 60 * 60);
    let (id, app, subjects) = (request.id, inner.app.clone(), judged.subjects());
    let decision = Box::pin(async move {
        let shown = request.directories.clone();
        match app.approvals.wait(request, limit).await.1 {
            Decision::Approved | Decision::AlwaysAllow => {
                let outdated = subjects.lead_elsewhere(&app, &shown).await;
                if outdated { Err(OUTDATED.to_owned()) } else { Ok(()) }
            }
            Decision::Denied => Err("The loop was denied on its desktop.".to_owned()),
            Decision::Expired => {
                Err(format!("Nobody approved the loop on its desktop within {hours} hours. Run it again."))
            }
        }
    });
    let (headers, body) = (judged.headers, judged.whole_body());
    let held = routes::orchestrator::hold(&inner.app, headers, body, id, limit, decision).await?;
    Ok(held.into_response())
}
