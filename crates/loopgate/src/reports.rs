//! Reports of this desktop to the control plane, in addition to the events of its loops.
//!
//! Forwards telemetry and analytics of the components to the link, which buffers or drops them. Components
//! never wait for it. Pull requests, deployments and findings of reviews are reported while the link is online.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use loopgate_api::link::{Analytics, Telemetry};
use loopgate_api::time::now_iso;
use loopgate_deploy::Deploys;
use loopgate_gateway::{ApprovalEvent, Decision, ResolvedApproval};
use loopgate_link::client::{Client, LinkState};
use loopgate_link::executor::Executor;
use loopgate_review::Reviews;
use loopgate_runtime::{PullRequestReports, WorktreeReports};
use serde_json::{Value, json};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::watch;
use uuid::Uuid;

/// Wait after a report that the control plane has not stored.
const RETRY: Duration = Duration::from_secs(30);

/// Forwards the telemetry of a component until its sender is dropped.
pub async fn telemetry(mut events: Receiver<Telemetry>, executor: Arc<Executor>) {
    loop {
        match events.recv().await {
            Ok(telemetry) => executor.telemetry(telemetry),
            Err(RecvError::Lagged(dropped)) => tracing::info!(dropped, "dropped telemetry: too many events"),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Reports each path that was rejected because it is outside of the sandbox. Never reports the path itself.
pub async fn blocked(mut rejections: watch::Receiver<u64>, client: Arc<Client>) {
    let mut reported = 0;
    // A watch channel only keeps the latest value: one change can represent several rejections.
    while rejections.changed().await.is_ok() {
        let total = *rejections.borrow_and_update();
        for _ in reported..total {
            client.analytics(analytics(
                "sandbox_blocked_operation",
                &json!({"operation_class": "path_denied"}),
            ));
        }
        reported = total;
    }
}

/// Reports each request that needed an approval, and its outcome. Never reports its content.
pub async fn approvals(mut events: Receiver<ApprovalEvent>, client: Arc<Client>) {
    loop {
        match events.recv().await {
            Ok(event) => client.analytics(approval(&event)),
            Err(RecvError::Lagged(dropped)) => {
                tracing::info!(dropped, "dropped approval analytics: too many events")
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Reports the standing of pull requests while the link is online, until the link has ended.
pub async fn pull_requests(reports: PullRequestReports, link: watch::Receiver<LinkState>) {
    while_online(link, |target_id| reports.run(target_id)).await;
}

/// Reports the deployments of this machine while the link is online, until the link has ended.
pub async fn deployments(reports: WorktreeReports, deploys: Deploys, link: watch::Receiver<LinkState>) {
    let (reports, deploys) = (&reports, &deploys);
    while_online(link, |target_id| {
        after_each(deploys.changes(), move || report_deployments(reports, deploys, target_id))
    })
    .await;
}

async fn report_deployments(reports: &WorktreeReports, deploys: &Deploys, target_id: Uuid) -> Result<()> {
    let deploys = deploys.clone();
    let states = tokio::task::spawn_blocking(move || deploys.states()).await??;
    Ok(reports.deployments(target_id, states).await?)
}

/// Reports the findings of ended reviews while the link is online, until the link has ended.
pub async fn findings(reports: WorktreeReports, reviews: Reviews, link: watch::Receiver<LinkState>) {
    while_online(link, |_| after_each(reviews.ended(), || report_findings(&reports, &reviews))).await;
}

async fn report_findings(reports: &WorktreeReports, reviews: &Reviews) -> Result<()> {
    for (loop_id, repository) in reports.worktrees().await? {
        let (reviews, worktree) = (reviews.clone(), repository.worktree);
        let read = tokio::task::spawn_blocking(move || reviews.unreported_findings(&worktree));
        let unreported = match read.await? {
            Ok(Some(unreported)) => unreported,
            Ok(None) => continue,
            // The others are reported nevertheless.
            Err(error) => {
                tracing::warn!(%error, "cannot read the findings of a review");
                continue;
            }
        };
        reports.findings(loop_id, &repository.name, unreported.open()).await?;
        tracing::info!(%loop_id, open = unreported.open(), "reported findings to the control plane");
        tokio::task::spawn_blocking(move || unreported.set_reported()).await??;
    }
    Ok(())
}

/// Reports at once, because something may have changed while the desktop was offline, and after each change.
async fn after_each<Reported: Future<Output = Result<()>>>(
    mut changes: watch::Receiver<()>,
    report: impl Fn() -> Reported,
) {
    loop {
        match report().await {
            // The sender lives as long as the service that `report` reads.
            Ok(()) => drop(changes.changed().await),
            Err(error) => {
                tracing::debug!(%error, "cannot report to the control plane");
                let _ = tokio::time::timeout(RETRY, changes.changed()).await;
            }
        }
    }
}

/// Runs reports for the compute target of this desktop while the link is online, until the link has ended.
async fn while_online<Reports: Future<Output = ()>>(
    mut link: watch::Receiver<LinkState>,
    run: impl Fn(Uuid) -> Reports,
) {
    loop {
        let online = match *link.borrow_and_update() {
            LinkState::Online { target_id, .. } => Some(target_id),
            _ => None,
        };
        let reporting = async {
            match online {
                Some(target_id) => run(target_id).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = link.changed() => if changed.is_err() { return },
            () = reporting => {}
        }
    }
}

fn approval(event: &ApprovalEvent) -> Analytics {
    match event {
        ApprovalEvent::Requested(request) => {
            analytics("approval_requested", &json!({"operation_type": request.operation_id}))
        }
        ApprovalEvent::Resolved(resolved) => {
            let properties = json!({
                "operation_type": resolved.request.operation_id,
                "outcome": outcome(resolved.decision),
                "time_to_resolve_ms": waited_ms(resolved),
            });
            analytics("approval_resolved", &properties)
        }
    }
}

const fn outcome(decision: Decision) -> &'static str {
    match decision {
        Decision::Approved | Decision::AlwaysAllow => "granted",
        Decision::Denied => "denied",
        Decision::Expired => "timed_out",
    }
}

/// Returns how long a request waited, in milliseconds; 0 if the clock was set back in between.
fn waited_ms(resolved: &ResolvedApproval) -> u64 {
    let at = |time: &str| time.parse::<Timestamp>().map(Timestamp::as_millisecond).unwrap_or_default();
    let waited = at(&resolved.resolved_at) - at(&resolved.request.created_at);
    u64::try_from(waited).unwrap_or_default()
}

fn analytics(event: &str, properties: &Value) -> Analytics {
    Analytics {
        event: event.to_owned(),
        properties: properties.as_object().cloned().unwrap_or_default(),
        occurred_at: Some(now_iso()),
    }
}
