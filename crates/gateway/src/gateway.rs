//! The gateway: created once, then bound to a port or called in process.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use http::{Request, Response};
use loopgate_api::link::Telemetry;
use loopgate_deploy::Deploys;
use loopgate_review::Reviews;
use tokio::sync::{broadcast, watch};
use uuid::Uuid;

use crate::activity::ActivityLog;
use crate::app::App;
use crate::approval::Approvals;
use crate::config::{GatewayConfig, SignIn};
use crate::pipeline;
use crate::pipeline::caller::RequestSource;
use crate::pipeline::state::PipelineState;
use crate::router;
use crate::server::health::ListenerHealth;
use crate::server::listener::{BindError, BoundGateway};
use crate::server::state::ServerState;

/// Handle to the gateway. Clones share one state.
#[derive(Clone)]
pub struct Gateway(Arc<ServerState>);

impl Gateway {
    /// Creates a gateway that does not listen yet.
    #[must_use]
    pub fn new(config: GatewayConfig) -> Self {
        let approvals = Approvals::open(&config.data_dir);
        let routes = router::build();
        let app = App::new(&config, approvals.clone());
        let router = routes.handlers.with_state(app.clone());
        Self(Arc::new(ServerState::new(PipelineState::new(config, approvals, app, routes.table, router))))
    }

    /// Listens on 127.0.0.1, on the first free port of `ports`, and writes the discovery file. Port 0 lets
    /// the kernel choose.
    ///
    /// # Errors
    /// Fails with [`BindError`] when no port can be bound.
    pub async fn bind(&self, ports: &[u16]) -> Result<BoundGateway, BindError> {
        let bound = BoundGateway::bind(self.0.clone(), ports).await?;
        self.0.pipeline.app.deploys.resume().await;
        Ok(bound)
    }

    /// Resumes the chats and reviews that a previous process started.
    pub fn recover_agents(&self) {
        if let Some(reviews) = &self.0.pipeline.app.reviews {
            reviews.recover();
        }
    }

    /// Subscribes to the reachability of the listener, as the probes report it.
    #[must_use]
    pub fn health(&self) -> watch::Receiver<ListenerHealth> {
        self.0.health.subscribe()
    }

    /// Requests `/health` over the network and reopens the listener when no valid response arrives within 2
    /// s. When several probes run at once, only the last one counts.
    pub async fn probe(&self) {
        self.0.health.probe(self.0.pipeline.port()).await;
    }

    /// Lets the control socket hand out sign-in links. Takes effect with the next call of
    /// [`BoundGateway::serve`](crate::BoundGateway::serve).
    pub fn offer_sign_in(&self, sign_in: SignIn) {
        // A second call is a no-op: one control plane per process signs users in.
        let _ = self.0.sign_in.set(sign_in);
    }

    /// Returns a service for callers in this process. It runs the same checks except for the `Host` header
    /// and the peer address, which only network requests have.
    #[must_use]
    pub fn service(&self) -> GatewayService {
        GatewayService(self.0.clone())
    }

    /// Returns the owner's view of approvals: pending requests, rules and policies.
    #[must_use]
    pub fn approvals(&self) -> Approvals {
        self.0.pipeline.approvals.clone()
    }

    /// Returns the shell command with which the owner approves a request.
    #[must_use]
    pub fn approval_command(&self, id: Uuid) -> String {
        self.0.pipeline.app.approvals_command.approve(id)
    }

    /// Counts requests that were refused because of a path outside of the sandbox, since the start of this
    /// process.
    #[must_use]
    pub fn blocked(&self) -> watch::Receiver<u64> {
        self.0.pipeline.blocked.subscribe()
    }

    /// Returns the deployments of this machine.
    #[must_use]
    pub fn deploys(&self) -> Deploys {
        self.0.pipeline.app.deploys.clone()
    }

    /// Returns the reviews of this machine; `None` in a gateway without agents.
    #[must_use]
    pub fn reviews(&self) -> Option<Reviews> {
        self.0.pipeline.app.reviews.clone()
    }

    /// Subscribes to telemetry about the assistant's health.
    #[must_use]
    pub fn telemetry(&self) -> broadcast::Receiver<Telemetry> {
        self.0.pipeline.app.health.reports()
    }

    /// Subscribes to telemetry about changed approval policies.
    #[must_use]
    pub fn approval_telemetry(&self) -> broadcast::Receiver<Telemetry> {
        self.0.pipeline.app.approvals.reports()
    }

    /// Returns the log of recent requests.
    #[must_use]
    pub fn activity(&self) -> Arc<ActivityLog> {
        self.0.pipeline.activity.clone()
    }
}

/// Calls the gateway in process, without a socket.
#[derive(Clone)]
pub struct GatewayService(Arc<ServerState>);

impl GatewayService {
    /// Handles one request. The caller must send the gateway token, as over the network.
    pub async fn call<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: Into<Body>,
    {
        pipeline::handle(&self.0.pipeline, request.map(Into::into), RequestSource::InProcess).await
    }
}

impl tower::Service<Request<Body>> for GatewayService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(GatewayService::call(&service, request).await) })
    }
}

#[cfg(test)]
impl Gateway {
    /// Creates a session without an exchange at a control plane.
    pub(crate) fn session_for_test(
        &self,
        origin: &str,
        life: std::time::Duration,
        created_at: jiff::Timestamp,
    ) -> String {
        self.0.pipeline.sessions.create(origin, life, created_at).token
    }

    /// Overrides the port that the gateway considers its own.
    pub(crate) fn override_port_for_test(&self, port: u16) {
        self.0.pipeline.set_port(port);
    }

    /// Exhausts the rate limits of an origin, so that every further exchange and refused credential gets a
    /// 429.
    pub(crate) fn exhaust_rate_limits_for_test(&self, origin: &str) {
        // An hour ahead: the buckets do not refill within any test.
        let later = std::time::Instant::now() + std::time::Duration::from_secs(3600);
        for limiter in [&self.0.pipeline.exchanges, &self.0.pipeline.refusals] {
            while limiter.take(origin, later).is_ok() {}
        }
    }
}
