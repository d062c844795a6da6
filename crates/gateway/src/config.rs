//! Configuration of a gateway: its parts, modes and limits.

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

/// Everything that a gateway needs from the rest of the program.
pub struct GatewayConfig {
    /// Current settings; read from memory for each request.
    pub settings: Arc<SettingsStore>,
    /// Decides about paths.
    pub sandbox: Arc<Sandbox>,
    /// `repos.json`.
    pub repos: Arc<Repos>,
    /// Identity and API key.
    pub credentials: Arc<Credentials>,
    /// The five programs.
    pub programs: Arc<Programs>,
    /// Runs loops; without one the two loop routes answer 501.
    pub runtime: Option<Arc<Runtime>>,
    /// Asks the assistant and other providers; without it the routes of chats answer 501.
    pub agents: Option<Arc<Agents>>,
    /// Directory with one sub-directory a plugin that Loopgate brings along.
    pub plugin_root: Option<PathBuf>,
    /// Credential of in-process callers, at least 32 characters; without one every caller is let
    /// in (no-auth mode).
    pub gateway_token: Option<SecretString>,
    /// Desktop version, answered by `/health` and `version`.
    pub version: String,
    /// Private directory; holds the always-allow rules.
    pub data_dir: PathBuf,
    /// Directory of the discovery file, usually `~/.loopgate`; none writes no file.
    pub state_dir: Option<PathBuf>,
    /// Origin of another gateway, for requests that no handler here takes.
    pub fallback_origin: Option<String>,
    /// Pages on this machine are foreign too; only the web app is not.
    pub production_origins_only: bool,
    /// Limits; the default fits everything but tests.
    pub limits: ServerLimits,
}

/// Makes a page address that signs the owner in once. Present where the control plane runs in the
/// same process.
pub type SignIn = Arc<dyn Fn() -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// Time-outs, and how many connections are served.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    /// Connections that are open at once; the oldest idle one is closed for one more.
    pub connections: usize,
    /// For the header block of a request, also on an idle connection.
    pub header_timeout: Duration,
    /// For the whole body of a request.
    pub body_timeout: Duration,
    /// For the verification of a challenge.
    pub verify_timeout: Duration,
    /// For an approval of a request that came over the link. Below the 60 s after which the
    /// executor gives up.
    pub approval_over_link: Duration,
    /// For an approval of any other request.
    pub approval_otherwise: Duration,
    /// For one probe of the health check.
    pub probe_timeout: Duration,
    /// Silence after which a stream that is not relayed sends a keep-alive.
    pub stream_silence: Duration,
    /// Grace period of responses in flight at shutdown; then every connection is closed.
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
