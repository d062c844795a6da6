//! State of the pipeline.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use axum::Router;
use tokio::sync::watch;

use super::challenge::ChallengeVerifier;
use super::config_snapshot::{ConfigSnapshot, ConfigSnapshotCache};
use super::fallback::Fallback;
use super::rate_limit::{Rate, RateLimiter};
use super::sessions::GatewaySessions;
use crate::activity::ActivityLog;
use crate::app::App;
use crate::approval::Approvals;
use crate::config::GatewayConfig;
use crate::route::RouteTable;

/// State of the pipeline, shared by all connections and in-process callers.
pub(crate) struct PipelineState {
    pub(crate) config: GatewayConfig,
    snapshots: ConfigSnapshotCache,
    /// Port of the listener; 0 before it is bound.
    port: AtomicU16,
    pub(crate) sessions: GatewaySessions,
    /// Limits challenge exchanges per origin.
    pub(crate) exchanges: RateLimiter,
    /// Limits refused credentials per origin.
    pub(crate) refusals: RateLimiter,
    pub(crate) verifier: ChallengeVerifier,
    pub(crate) fallback: Option<Fallback>,
    pub(crate) approvals: Approvals,
    pub(crate) activity: Arc<ActivityLog>,
    /// Number of requests that were refused because of a path outside of the sandbox.
    pub(crate) blocked: watch::Sender<u64>,
    pub(crate) table: RouteTable,
    pub(crate) router: Router,
    pub(crate) app: App,
}

impl PipelineState {
    pub(crate) fn new(
        config: GatewayConfig,
        approvals: Approvals,
        app: App,
        table: RouteTable,
        router: Router,
    ) -> Self {
        Self {
            snapshots: ConfigSnapshotCache::new(),
            port: AtomicU16::new(0),
            sessions: GatewaySessions::default(),
            exchanges: RateLimiter::new(Rate::EXCHANGE),
            refusals: RateLimiter::new(Rate::REFUSED),
            verifier: ChallengeVerifier::default(),
            fallback: config.fallback_origin.clone().map(Fallback::new),
            activity: Arc::new(ActivityLog::open(&config.data_dir)),
            blocked: watch::Sender::default(),
            approvals,
            table,
            router,
            app,
            config,
        }
    }

    pub(crate) fn snapshot(&self) -> Arc<ConfigSnapshot> {
        self.snapshots.get(&self.config, self.port())
    }

    pub(crate) fn port(&self) -> u16 {
        self.port.load(Ordering::Relaxed)
    }

    pub(crate) fn set_port(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
    }
}
