//! The connection of a case to its remote repository.

use anyhow::{Result, ensure};
use loopgate_api::proxy::PROXY_VARIABLES;
use loopgate_testkit::http_remotes::HttpRemotes;
use loopgate_testkit::tcp_proxy::{TcpProxy, Uplink};
use loopgate_testkit::testbed::Testbed;

use crate::case::{Network, STALL_AFTER};

/// Address of a proxy that does not answer: no program listens on this port.
const DEAD_PROXY: &str = "http://127.0.0.1:1";
/// Address of the remote repositories for which git uses the proxy.
const OUTSIDE: &str = "http://git.example.test/";

/// Servers through which git reaches the remote repository. They stop when dropped.
pub struct RemoteConnection {
    network: Network,
    http: Option<HttpRemotes>,
    _uplink: Option<TcpProxy>,
}

impl RemoteConnection {
    /// Starts the servers, and configures git to use them.
    pub async fn open(network: Network, testbed: &mut Testbed) -> Result<Self> {
        let (bytes_per_second, stalls_after) = match network {
            Network::Ssh | Network::DeadProxy => return Ok(Self { network, http: None, _uplink: None }),
            Network::Proxy => {
                testbed.home.reach_remotes_at(OUTSIDE)?;
                let http = HttpRemotes::start(&testbed.remotes).await?;
                return Ok(Self { network, http: Some(http), _uplink: None });
            }
            Network::SlowUplink(bytes) => (bytes, None),
            Network::StalledUplink(bytes) => (bytes, Some(STALL_AFTER)),
        };
        let http = HttpRemotes::start(&testbed.remotes).await?;
        let uplink = TcpProxy::slow(http.port(), Uplink { bytes_per_second, stalls_after }).await?;
        testbed.home.reach_remotes_at(&format!("http://127.0.0.1:{}/", uplink.port()))?;
        Ok(Self { network, http: Some(http), _uplink: Some(uplink) })
    }

    /// Returns the environment variables that name the proxy.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let proxy = match (self.network, &self.http) {
            (Network::DeadProxy, _) => DEAD_PROXY.to_owned(),
            (Network::Proxy, Some(http)) => format!("http://127.0.0.1:{}", http.port()),
            _ => return Vec::new(),
        };
        PROXY_VARIABLES.map(|name| (name, proxy.clone())).into()
    }

    /// Checks that a proxy got the requests to the remote repository, and no others.
    pub fn check(&self) -> Result<()> {
        if self.network != Network::Proxy {
            return Ok(());
        }
        let requests = self.http.as_ref().map(HttpRemotes::requests).unwrap_or_default();
        let is_outside = |request: &&String| request.contains(OUTSIDE);
        ensure!(requests.iter().any(|request| is_outside(&request)), "the proxy was not used: {requests:?}");
        let other = requests.iter().find(|request| !is_outside(request));
        ensure!(other.is_none(), "the proxy received {other:?}");
        Ok(())
    }
}
