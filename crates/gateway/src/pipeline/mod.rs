//! The sequence of checks that every request passes: target, host, origin, preflight, exchange,
//! authentication, forgery, body limit, approval, dispatch.
//!
//! Cheap responses (`/health`, preflights, refusals by the head alone) need neither a task, a boxed future
//! nor the router. Handlers do not repeat any of these checks.

pub(crate) mod approval;
pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod caller;
mod challenge;
mod config_snapshot;
pub(crate) mod exchange;
mod fallback;
mod forgery;
mod host;
mod origin;
mod rate_limit;
mod resolver;
mod sessions;
pub(crate) mod state;
mod target;

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::body::Body;
use axum::response::IntoResponse as _;
use futures_util::FutureExt as _;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as HttpBody;
use loopgate_api::names::{CLOUD_SOURCE, SOURCE_HEADER};
use loopgate_api::operation::GATEWAY_PREFIX;
use tower::ServiceExt as _;

use self::approval::{ApprovalHold, PolicyDecision};
use self::auth::{Authenticator, Principal};
use self::body::{BodyError, BodyStorage, RequestBody};
use self::caller::RequestSource;
use self::config_snapshot::ConfigSnapshot;
use self::forgery::unsupported_media_type;
use self::origin::{CorsHeaders, named_origin};
use self::state::PipelineState;
use crate::activity::ActivityRecorder;
use crate::approval::Decision;
use crate::error::{HttpError, OutsideSandbox};
use crate::extract::RequestOrigin;
use crate::health::liveness::LIVENESS_PATH;
use crate::response::JSON;
use crate::route::{BodyLimit, Route};

const EXCHANGE_PATH: &str = "/gateway-auth/exchange";

/// Result of the checks that need only the head of a request.
enum CheckedHead {
    /// The response is final.
    Answered(Response<Body>),
    /// Authentication, body and approval are outstanding.
    Pending(PendingRequest),
}

/// A request whose head passed the checks.
struct PendingRequest {
    request: Request<Body>,
    cors: CorsHeaders,
    is_exchange: bool,
}

/// Runs the whole sequence. A panicking handler is caught and answered with a 500.
pub(crate) async fn handle(
    state: &PipelineState,
    request: Request<Body>,
    caller: RequestSource,
) -> Response<Body> {
    let snapshot = state.snapshot();
    match check_head(&snapshot, request, caller) {
        CheckedHead::Answered(response) => response,
        CheckedHead::Pending(pending) => respond(state, &snapshot, pending, caller).await,
    }
}

fn check_head(snapshot: &ConfigSnapshot, mut request: Request<Body>, caller: RequestSource) -> CheckedHead {
    match target::normalized(request.uri()) {
        Ok(None) => {}
        Ok(Some(normal)) => *request.uri_mut() = normal,
        // `OPTIONS *` is valid: it has no path.
        Err(target::MalformedTarget) if request.method() == Method::OPTIONS => {}
        Err(target::MalformedTarget) => {
            let failure =
                HttpError::bad_request("malformed request target").with_code("malformed_request_target");
            return CheckedHead::Answered(closing_with(snapshot, &request, failure));
        }
    }
    if caller != RequestSource::InProcess && !snapshot.hosts.accept(request.uri(), request.headers()) {
        // Without CORS headers, which would reveal the web app's origin to a rebinding page.
        let failure = HttpError::forbidden("host not allowed").with_code("host_not_allowed");
        return CheckedHead::Answered(failure.closing(has_body(&request)).into_response());
    }
    let path = request.uri().path();
    // Before authentication and without an activity record: supervisors poll this route.
    if path == LIVENESS_PATH && request.method() == Method::GET {
        return CheckedHead::Answered(liveness(snapshot, request.headers()));
    }
    // Browsers send preflights without credentials, so every path is answered alike.
    if request.method() == Method::OPTIONS {
        let mut reply = StatusCode::NO_CONTENT.into_response();
        snapshot.origins.headers_for(request.headers()).apply(reply.headers_mut());
        return CheckedHead::Answered(reply);
    }
    let is_exchange = path == EXCHANGE_PATH && request.method() == Method::POST;
    if !is_exchange && !path.starts_with(GATEWAY_PREFIX) {
        return CheckedHead::Answered(closing_with(snapshot, &request, HttpError::route_not_found()));
    }
    let cors = snapshot.origins.headers_for(request.headers());
    CheckedHead::Pending(PendingRequest { request, cors, is_exchange })
}

fn has_body(request: &Request<Body>) -> bool {
    !request.body().is_end_stream()
}

/// Refuses without reading the request body, so the connection cannot be reused.
fn closing_with(snapshot: &ConfigSnapshot, request: &Request<Body>, failure: HttpError) -> Response<Body> {
    let mut reply = failure.closing(has_body(request)).into_response();
    snapshot.origins.headers_for(request.headers()).apply(reply.headers_mut());
    reply
}

fn liveness(snapshot: &ConfigSnapshot, headers: &HeaderMap) -> Response<Body> {
    let mut reply = ([(CONTENT_TYPE, JSON)], snapshot.health.clone()).into_response();
    snapshot.origins.headers_for(headers).apply(reply.headers_mut());
    reply
}

async fn respond(
    state: &PipelineState,
    snapshot: &ConfigSnapshot,
    pending: PendingRequest,
    caller: RequestSource,
) -> Response<Body> {
    let PendingRequest { request, cors, is_exchange } = pending;
    let mut recorder = ActivityRecorder::start(&state.activity, request.method(), request.uri());
    let result = if is_exchange {
        // Boxed, because it is large and rare: the future of ordinary requests stays small.
        let exchange = Box::pin(exchange::exchange(state, snapshot, request, caller, &mut recorder));
        AssertUnwindSafe(exchange).catch_unwind().await
    } else {
        AssertUnwindSafe(gateway_route(state, snapshot, request, caller, &mut recorder)).catch_unwind().await
    };
    let mut reply = result.unwrap_or_else(|_| {
        tracing::error!("handler panicked");
        HttpError::internal().into_response()
    });
    if reply.extensions().get::<OutsideSandbox>().is_some() {
        state.blocked.send_modify(|times| *times += 1);
    }
    cors.apply(reply.headers_mut());
    recorder.record_response(reply)
}

async fn gateway_route(
    state: &PipelineState,
    snapshot: &ConfigSnapshot,
    request: Request<Body>,
    caller: RequestSource,
    recorder: &mut ActivityRecorder,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let authenticator = Authenticator {
        gateway_token: state.config.gateway_token.as_ref(),
        origins: &snapshot.origins,
        production_only: snapshot.production_only,
        sessions: &state.sessions,
    };
    let principal = match authenticator.authenticate(&parts.headers) {
        Ok(principal) => principal,
        Err(reason) => {
            recorder.security(reason);
            return unauthorized(state, &parts.headers, reason, !body.is_end_stream());
        }
    };
    let route = state.table.find(&parts.method, parts.uri.path());
    // The routes with a larger limit are those that accept uploads as multipart forms.
    let form = route.is_some_and(|route| route.policy.limit.bytes > BodyLimit::LOOP.bytes);
    // A page of another site cannot know the gateway token, so its holder is not checked for forgery.
    if principal != Principal::Internal
        && !body.is_end_stream()
        && forgery::is_forgeable(&parts.headers, form)
    {
        let failure = unsupported_media_type();
        recorder.security(failure.body.error.clone());
        return failure.into_response();
    }
    let received = match read_body(state, &parts, body, route, recorder).await {
        Ok(received) => received,
        Err(failure) => return failure.into_response(),
    };
    // The header counts only together with the gateway token, which the executor has.
    let over_link = principal == Principal::Internal
        && parts.headers.get(SOURCE_HEADER).is_some_and(|source| source == CLOUD_SOURCE);
    let request = approval::PolicyRequest {
        method: &parts.method,
        target: &parts.uri,
        headers: &parts.headers,
        body: &received,
        principal,
        over_link,
        route,
        peer: caller.peer(),
        setup_complete: snapshot.setup_complete,
    };
    let mut held = None;
    if route.is_some_and(|route| route.operation.is_none()) {
        recorder.discard();
    } else {
        match approve(state, snapshot, &request).await {
            Ok(hold) => held = hold,
            Err(failure) => {
                recorder.detail = Some(failure.body.error.clone());
                return failure.into_response();
            }
        }
    }
    // Before dispatch: handlers receive percent-decoded parameters and cannot report this error.
    if !target::decodes(parts.uri.path()) {
        return HttpError::malformed_path().into_response();
    }
    if route.is_none() {
        return match &state.fallback {
            Some(fallback) => Box::pin(fallback.forward(&parts, received.into_bytes())).await,
            None => HttpError::not_implemented(&parts.method, parts.uri.path()).into_response(),
        };
    }
    parts.extensions.insert(RequestOrigin { over_link });
    if let Some(hold) = held {
        parts.extensions.insert(hold);
    }
    let request = Request::from_parts(parts, received.into_body());
    match state.router.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn unauthorized(
    state: &PipelineState,
    headers: &HeaderMap,
    reason: &'static str,
    unread: bool,
) -> Response<Body> {
    // Requests without an origin share one bucket.
    let origin = named_origin(headers).unwrap_or_default();
    if let Err(wait) = state.refusals.take(origin, Instant::now()) {
        let failure =
            HttpError::new(StatusCode::TOO_MANY_REQUESTS, "too many unauthorized requests, retry shortly");
        let mut reply = failure.closing(true).into_response();
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        return reply;
    }
    HttpError::new(StatusCode::UNAUTHORIZED, "unauthorized")
        .with("reason", reason)
        .closing(unread)
        .into_response()
}

async fn read_body(
    state: &PipelineState,
    parts: &http::request::Parts,
    body: Body,
    route: Option<&Route>,
    recorder: &mut ActivityRecorder,
) -> Result<RequestBody, HttpError> {
    let limit = route.map_or(BodyLimit::GENERIC, |route| route.policy.limit);
    // A large body without a handler is counted but not stored.
    let storage = if limit.bytes <= BodyLimit::LOOP.bytes {
        BodyStorage::Memory
    } else if route.is_some() {
        BodyStorage::File(&state.config.data_dir, approval::start_fingerprint(&parts.method, &parts.uri))
    } else {
        BodyStorage::Discard
    };
    let result = body::read(body, &parts.headers, limit, storage, &state.config.limits).await;
    match result {
        Ok(received) => {
            recorder.request_size = Some(received.length());
            Ok(received)
        }
        Err(error) => {
            if let BodyError::TooLarge { declared, observed } = &error {
                recorder.security("request_body_too_large");
                recorder.request_size = observed.or(*declared);
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
            Err(error.into_http_error(limit))
        }
    }
}

/// Applies the policy and waits for a decision if needed. Returns an [`ApprovalHold`] when the request is
/// dispatched before it is decided; the handler then waits for it.
async fn approve(
    state: &PipelineState,
    snapshot: &ConfigSnapshot,
    request: &approval::PolicyRequest<'_>,
) -> Result<Option<ApprovalHold>, HttpError> {
    let verdict = approval::evaluate(request, &state.app, &snapshot.settings, &state.approvals);
    let pending = match Box::pin(verdict).await {
        PolicyDecision::Allow => return Ok(None),
        PolicyDecision::Refuse(failure) => return Err(failure),
        PolicyDecision::Wait(pending) => *pending,
    };
    if request.over_link && request.route.is_some_and(|route| route.policy.is_accepted_before_approval) {
        // Zero hours would expire the request before the owner can see it.
        let hours = snapshot.settings.loop_approval_hours.max(1);
        return Ok(Some(ApprovalHold::new(pending, hours, request.subject_sources())));
    }
    let limits = &state.config.limits;
    let limit = if request.over_link { limits.approval_over_link } else { limits.approval_otherwise };
    let operation = pending.operation_id.as_str();
    let shown = pending.clone();
    let (id, decision) = Box::pin(state.approvals.wait(pending, limit)).await;
    let refused = match decision {
        // Symlinks or settings may have changed while the request was pending, so what the owner was shown
        // must be what runs now.
        Decision::Approved | Decision::AlwaysAllow => {
            match request.subject_sources().outdated(&state.app, &shown).await {
                None => return Ok(None),
                Some(reason) => HttpError::new(StatusCode::CONFLICT, reason).with_code("approval_outdated"),
            }
        }
        Decision::Denied => HttpError::forbidden("request denied").with_code("request_denied"),
        Decision::Expired => {
            HttpError::new(StatusCode::REQUEST_TIMEOUT, "approval timed out").with_code("approval_timed_out")
        }
    };
    Err(refused.with("operationId", operation).with("approvalId", id.to_string()))
}
