//! The gateway as a value: made once, bound to a port, called in process.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use http::{Request, Response};
use loopgate_api::link::Telemetry;
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

/// The gateway. Clones share everything.
#[derive(Clone)]
pub struct Gateway(Arc<ServerState>);

impl Gateway {
    /// A gateway that listens nowhere yet.
    #[must_use]
    pub fn new(config: GatewayConfig) -> Self {
        let approvals = Approvals::open(&config.data_dir);
        let routes = router::build();
        let openapi = serde_json::to_vec(&routes.document).unwrap_or_default().into();
        let app = App::new(&config, approvals.clone(), openapi);
        let router = routes.handlers.with_state(app.clone());
        Self(Arc::new(ServerState::new(PipelineState::new(config, approvals, app, routes.table, router))))
    }

    /// Listens on 127.0.0.1, on the first of the ports that is free, and writes the discovery
    /// file. Port 0 takes any.
    ///
    /// # Errors
    /// See [`BindError`].
    pub async fn bind(&self, ports: &[u16]) -> Result<BoundGateway, BindError> {
        let bound = BoundGateway::bind(self.0.clone(), ports).await?;
        self.0.pipeline.app.deploys.resume().await;
        Ok(bound)
    }

    /// Follows the chats and reviews that an earlier process started.
    pub fn recover_agents(&self) {
        if let Some(reviews) = &self.0.pipeline.app.reviews {
            reviews.recover();
        }
    }

    /// Whether it can be reached, from now on.
    #[must_use]
    pub fn health(&self) -> watch::Receiver<ListenerHealth> {
        self.0.health.subscribe()
    }

    /// Asks its own `/health` over the network; without a good answer within 2 s the listener is
    /// opened anew. Of several probes only the last one counts.
    pub async fn probe(&self) {
        self.0.health.probe(self.0.pipeline.port()).await;
    }

    /// Lets the owner's socket hand out sign-in links. Holds from the next
    /// [`BoundGateway::serve`](crate::BoundGateway::serve) on.
    pub fn offer_sign_in(&self, sign_in: SignIn) {
        let _ = self.0.sign_in.set(sign_in);
    }

    /// For callers in this process: the same sequence, but for the host and address that only the
    /// network has.
    #[must_use]
    pub fn service(&self) -> GatewayService {
        GatewayService(self.0.clone())
    }

    /// The person's side of approval.
    #[must_use]
    pub fn approvals(&self) -> Approvals {
        self.0.pipeline.approvals.clone()
    }

    /// What the owner types to approve a request.
    #[must_use]
    pub fn command_that_approves(&self, id: Uuid) -> String {
        self.0.pipeline.app.approvals_command.approve(id)
    }

    /// How often a path outside of the sandbox was refused since the start.
    #[must_use]
    pub fn blocked(&self) -> watch::Receiver<u64> {
        self.0.pipeline.blocked.subscribe()
    }

    /// Reports about the assistant's health, from now on.
    #[must_use]
    pub fn telemetry(&self) -> broadcast::Receiver<Telemetry> {
        self.0.pipeline.app.health.reports()
    }

    /// The latest requests.
    #[must_use]
    pub fn activity(&self) -> Arc<ActivityLog> {
        self.0.pipeline.activity.clone()
    }
}

/// The gateway for callers in this process.
#[derive(Clone)]
pub struct GatewayService(Arc<ServerState>);

impl GatewayService {
    /// Answers one request. The caller shows the gateway token like any other.
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
    /// A session without a control plane.
    pub(crate) fn session_for_test(
        &self,
        origin: &str,
        life: std::time::Duration,
        made: jiff::Timestamp,
    ) -> String {
        self.0.pipeline.sessions.create(origin, life, made).token
    }

    /// Makes it take another port for its own.
    pub(crate) fn believe_for_test(&self, port: u16) {
        self.0.pipeline.set_port(port);
    }

    /// Leaves an origin without exchanges and refusals, for longer than any test takes.
    pub(crate) fn exhaust_for_test(&self, origin: &str) {
        let later = std::time::Instant::now() + std::time::Duration::from_secs(3600);
        for limiter in [&self.0.pipeline.exchanges, &self.0.pipeline.refusals] {
            while limiter.take(origin, later).is_ok() {}
        }
    }
}
