//! Reports the state of this desktop to the control plane: whether the gateway is reachable, and whether the
//! previous shutdown failed.

use std::sync::Arc;

use loopgate_gateway::Gateway;
use loopgate_link::client::{Client, LinkState};
use loopgate_link::executor::Executor;

use crate::shutdown::FailedShutdown;

/// Reports until the gateway and the link have ended.
pub async fn run(
    gateway: Gateway,
    executor: Arc<Executor>,
    client: Arc<Client>,
    failed_shutdown: Option<FailedShutdown>,
) {
    tokio::join!(
        forward_health(&gateway, &executor),
        report_on_connect(&gateway, &executor, &client, failed_shutdown)
    );
}

/// Makes the executor reject commands while the gateway is unreachable.
async fn forward_health(gateway: &Gateway, executor: &Executor) {
    let mut health = gateway.health();
    loop {
        executor.set_gateway_unreachable(health.borrow_and_update().recovering.clone());
        if health.changed().await.is_err() {
            return;
        }
    }
}

/// Each time the link comes online, probes the gateway, so that the control plane learns its current state.
async fn report_on_connect(
    gateway: &Gateway,
    executor: &Executor,
    client: &Client,
    mut failed_shutdown: Option<FailedShutdown>,
) {
    let mut link = client.state();
    loop {
        let online = matches!(*link.borrow_and_update(), LinkState::Online { .. });
        if online {
            // Reported once, not after every reconnect.
            if let Some(failed) = failed_shutdown.take() {
                executor.telemetry(failed.telemetry());
            }
            gateway.probe().await;
        }
        if link.changed().await.is_err() {
            return;
        }
    }
}
