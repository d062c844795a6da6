//! What the control plane knows of this desktop beyond its loops: whether the gateway can be
//! reached, and how the last stop went wrong.

use std::sync::Arc;

use loopgate_gateway::Gateway;
use loopgate_link::client::{Client, LinkState};
use loopgate_link::executor::Executor;

use crate::shutdown::FailedStop;

/// Keeps that true for as long as it is polled.
pub async fn keep(
    gateway: Gateway,
    executor: Arc<Executor>,
    client: Arc<Client>,
    failed_stop: Option<FailedStop>,
) {
    tokio::join!(pass_health_on(&gateway, &executor), greet(&gateway, &executor, &client, failed_stop));
}

/// No command comes in while nobody could reach the gateway.
async fn pass_health_on(gateway: &Gateway, executor: &Executor) {
    let mut health = gateway.health();
    loop {
        executor.set_gateway_lost(health.borrow_and_update().recovering.clone());
        if health.changed().await.is_err() {
            return;
        }
    }
}

/// Whenever the control plane has come within reach, the gateway asks itself whether it is, too.
async fn greet(gateway: &Gateway, executor: &Executor, client: &Client, mut failed_stop: Option<FailedStop>) {
    let mut link = client.state();
    loop {
        let online = matches!(*link.borrow_and_update(), LinkState::Online { .. });
        if online {
            if let Some(failed) = failed_stop.take() {
                executor.telemetry(failed.telemetry());
            }
            gateway.probe().await;
        }
        if link.changed().await.is_err() {
            return;
        }
    }
}
