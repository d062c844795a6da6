//! Configuration of the gateway: services, modes and limits.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use loopgate_agents::Agents;
use loopgate_home::{Credentials, Repos, Sandbox, SettingsStore};
use loopgate_runtime::Runtime;
use loopgate_tools::programs::Programs;
use secrecy::SecretString;

use crate::server::connections::share_of_descriptors;

/// Services and options of a gateway.
pub struct GatewayConfig {
    /// Settings; every request reads the current snapshot from memory.
    pub settings: Arc<SettingsStore>,
    /// Restricts which paths requests may access.
    pub sandbox: Arc<Sandbox>,
    /// The managed repositories, as stored in `repos.json`.
    pub repos: Arc<Repos>,
    /// Identity of this gateway and API key for the control plane.
    pub credentials: Arc<Credentials>,
    /// Resolves and runs the external programs.
    pub programs: Arc<Programs>,
    /// Runs loops. Without it, the routes that start and end loops respond with 501.
    pub runtime: Option<Arc<Runtime>>,
    /// Runs conversations with the providers. Without it, the chat routes respond with 501.
    pub agents: Option<Arc<Agents>>,
    /// Directory of the bundled plugins, with one subdirectory per plugin.
    pub plugin_root: Option<PathBuf>,
    /// Token of in-process callers, at least 32 characters. Without it, every caller is accepted (no-auth
    /// mode).
    pub gateway_token: Option<SecretString>,
    /// Version of the desktop, reported by `/health` and `/api/gateway/version`.
    pub version: String,
    /// Private directory for rules, policies, the activity log and spooled bodies.
    pub data_dir: PathBuf,
    /// Directory of the discovery file, usually `~/.loopgate`. `None` writes no file.
    pub state_dir: Option<PathBuf>,
    /// Origin of another gateway to which requests without a matching route are forwarded.
    pub fallback_origin: Option<String>,
    /// Accepts only the origin of the web app, not those of loopback pages.
    pub production_origins_only: bool,
    /// Timeouts and capacities. Only tests deviate from the default.
    pub limits: ServerLimits,
}

/// Creates a single-use URL that signs the owner in. Available when the control plane runs in the same
/// process.
pub type SignIn = Arc<dyn Fn() -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// Timeouts and the connection limit of the server.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    /// Maximum number of open connections. At the limit, the oldest idle connection is closed to accept
    /// another.
    pub connections: usize,
    /// Time to receive the headers of a request. Also the idle timeout of a connection.
    pub header_timeout: Duration,
    /// Time to receive the whole body of a request.
    pub body_timeout: Duration,
    /// Time for the control plane to verify a challenge.
    pub verify_timeout: Duration,
    /// Time to approve a request that came over the link. Must be shorter than the executor's own timeout of
    /// 60 s, so that the executor receives the 408 instead of timing out.
    pub approval_over_link: Duration,
    /// Time to approve any other request.
    pub approval_otherwise: Duration,
    /// Timeout of a single probe of the health check.
    pub probe_timeout: Duration,
    /// Idle time after which a stream that is not relayed sends a keep-alive.
    pub stream_silence: Duration,
    /// Grace period for responses in flight at shutdown. All connections are closed afterwards.
    pub stop_grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: share_of_descriptors(),
            header_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(300),
            verify_timeout: Duration::from_secs(5),
            approval_over_link: Duration::from_secs(50),
            approval_otherwise: Duration::from_secs(120),
            probe_timeout: Duration::from_secs(3),
            stream_silence: Duration::from_secs(25),
            stop_grace: Duration::from_millis(200),
        }
    }
}
