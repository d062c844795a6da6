//! A proxy in the environment, as on machines in a company's network.

use anyhow::{Result, ensure};
use futures_util::FutureExt as _;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::Setup;
use tokio::net::TcpListener;

#[tokio::test]
async fn proxy_receives_no_request_to_this_machine() -> Result<()> {
    let proxy = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", proxy.local_addr()?);
    let home = UserHome::temporary()?;
    let mut setup = Setup::new(&home)?;
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
        setup = setup.env(name, &address);
    }
    let mut loopgate = setup.start().await?;
    loopgate.sign_in().await?;
    loopgate.stop().await?;
    // The second start checks the stored key, and sends it.
    let mut loopgate = loopgate.start_again().await?;
    loopgate.stop().await?;
    ensure!(proxy.accept().now_or_never().is_none(), "the proxy was used");
    Ok(())
}
