//! Pending requests and their waiters.
//!
//! Identical requests share one entry. Each waiter has its own deadline, and the entry expires with its last
//! waiter. In memory only: a restart drops all pending requests.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loopgate_api::link::{APPROVAL_POLICIES_CHANGED, Severity, Telemetry};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{broadcast, watch};
use uuid::Uuid;

use super::policies::{ApprovalPolicy, Coverage, Effect, Policies, PolicyQuery};
use super::request::{ApprovalEachTimeError, Decision, PendingApproval, ResolvedApproval};
use super::rules::{AlwaysAllowRule, AlwaysAllowRules};

/// Name of the rules file in the data directory.
const RULES_FILE: &str = "desktop-approvals.json";
/// Name of the policies file in the data directory.
const POLICIES_FILE: &str = "approval-policies.json";
/// Number of decided requests that are kept for display.
const HISTORY: usize = 50;
/// Capacity of the event channel. A receiver that lags further behind misses the oldest events.
const BACKLOG: usize = 256;

/// Lifecycle event of a pending request.
#[derive(Debug, Clone)]
pub enum ApprovalEvent {
    /// A request became pending. Sent once for identical requests.
    Requested(PendingApproval),
    /// The request was decided, or its last waiter left.
    Resolved(ResolvedApproval),
}

struct ApprovalEntry {
    request: PendingApproval,
    decision: watch::Sender<Option<Decision>>,
    /// Deadlines of the waiters.
    ends: Vec<Timestamp>,
}

impl ApprovalEntry {
    fn update_deadline(&mut self) {
        if let Some(last) = self.ends.iter().max() {
            self.request.waits_until = loopgate_api::time::iso(*last);
        }
    }
}

#[derive(Default)]
struct Requests {
    pending: HashMap<Uuid, ApprovalEntry>,
    resolved: VecDeque<ResolvedApproval>,
}

struct Registry {
    state: Mutex<Requests>,
    rules: AlwaysAllowRules,
    policies: Policies,
    count: watch::Sender<usize>,
    events: broadcast::Sender<ApprovalEvent>,
    reports: broadcast::Sender<Telemetry>,
}

/// The owner's interface to approval. Clones share one registry.
#[derive(Clone)]
pub struct Approvals(Arc<Registry>);

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals").field("pending", &*self.0.count.borrow()).finish_non_exhaustive()
    }
}

/// Coverage, within its operation, of a policy that is set for a pending request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remember {
    /// The repository that the request concerns.
    Repository,
    /// The source of the request.
    Origin,
}

impl Approvals {
    /// Opens the registry with the rules and policies in the data directory.
    pub(crate) fn open(data_dir: &Path) -> Self {
        Self(Arc::new(Registry {
            state: Mutex::default(),
            rules: AlwaysAllowRules::open(&data_dir.join(RULES_FILE)),
            policies: Policies::open(&data_dir.join(POLICIES_FILE)),
            count: watch::Sender::new(0),
            events: broadcast::channel(BACKLOG).0,
            reports: broadcast::channel(BACKLOG).0,
        }))
    }

    /// Returns the pending requests, newest first.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingApproval> {
        let mut pending: Vec<_> = self.state().pending.values().map(|entry| entry.request.clone()).collect();
        // UUIDv7: ids sort by creation time.
        pending.sort_by_key(|request| std::cmp::Reverse(request.id));
        pending
    }

    /// Subscribes to the number of pending requests.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<usize> {
        self.0.count.subscribe()
    }

    /// Subscribes to events of pending requests, in order.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<ApprovalEvent> {
        self.0.events.subscribe()
    }

    /// Returns the decided requests, newest first.
    #[must_use]
    pub fn resolved(&self) -> Vec<ResolvedApproval> {
        self.state().resolved.iter().cloned().collect()
    }

    /// Removes all decided requests from the history.
    pub fn clear_resolved(&self) {
        self.state().resolved.clear();
    }

    /// Approves a pending request. Returns `None` when the id is not pending.
    pub fn approve(&self, id: Uuid) -> Option<ResolvedApproval> {
        self.resolve(id, Decision::Approved)
    }

    /// Denies a pending request. Returns `None` when the id is not pending.
    pub fn deny(&self, id: Uuid) -> Option<ResolvedApproval> {
        self.resolve(id, Decision::Denied)
    }

    /// Approves a pending request and adds a rule that allows identical ones for seven days. Blocks on the
    /// disk. Returns `None` when the id is not pending.
    ///
    /// # Errors
    /// Fails with [`ApprovalEachTimeError`] when the operation needs an approval each time. The request stays
    /// pending.
    pub fn always_allow(&self, id: Uuid) -> Result<Option<AlwaysAllowRule>, ApprovalEachTimeError> {
        if self
            .state()
            .pending
            .get(&id)
            .is_some_and(|entry| entry.request.each_time || entry.request.requester.is_some())
        {
            return Err(ApprovalEachTimeError);
        }
        let resolved = self.resolve(id, Decision::AlwaysAllow);
        let rule = resolved.map(|resolved| self.0.rules.add(&resolved.request, Timestamp::now()));
        self.report_change();
        Ok(rule)
    }

    /// Returns the rules that have not expired.
    #[must_use]
    pub fn rules(&self) -> Vec<AlwaysAllowRule> {
        self.0.rules.list(Timestamp::now())
    }

    /// Removes a rule. Returns whether it existed. Blocks on the disk.
    #[must_use]
    pub fn remove_rule(&self, id: Uuid) -> bool {
        let is_removed = self.0.rules.remove(id);
        if is_removed {
            self.report_change();
        }
        is_removed
    }

    /// Returns the policies in effect.
    #[must_use]
    pub fn policies(&self) -> Vec<ApprovalPolicy> {
        self.0.policies.list()
    }

    /// Sets a policy. Blocks on the disk.
    ///
    /// # Errors
    /// Fails when the policy cannot be written. It does not take effect then.
    pub fn set_policy(&self, coverage: Coverage, effect: Effect) -> std::io::Result<ApprovalPolicy> {
        let policy = self.0.policies.set(coverage, effect)?;
        self.report_change();
        Ok(policy)
    }

    /// Removes a policy. Returns whether it existed. Blocks on the disk.
    ///
    /// # Errors
    /// Fails when the change cannot be written. The policy stays in effect then.
    pub fn remove_policy(&self, id: Uuid) -> std::io::Result<bool> {
        let is_removed = self.0.policies.remove(id)?;
        if is_removed {
            self.report_change();
        }
        Ok(is_removed)
    }

    /// Subscribes to reports of changed policies and rules, for the audit log of the control plane.
    pub(crate) fn reports(&self) -> broadcast::Receiver<Telemetry> {
        self.0.reports.subscribe()
    }

    fn report_change(&self) {
        let mut report =
            Telemetry::new(Severity::Info, APPROVAL_POLICIES_CHANGED, "Approval policies changed");
        let current = json!({"policies": self.policies(), "rules": self.rules()});
        report.diagnostics = current.as_object().cloned();
        // An error only means that there is no subscriber.
        let _ = self.0.reports.send(report);
    }

    /// Returns the coverage of a policy for requests like a pending one. Returns `None` when the request is
    /// no longer pending, when the policy would allow an operation that needs an approval each time, or when
    /// it should cover the repository and the request does not concern exactly one.
    #[must_use]
    pub fn coverage_of(&self, id: Uuid, remember: Remember, effect: Effect) -> Option<Coverage> {
        let state = self.state();
        let request = &state.pending.get(&id)?.request;
        let allows = effect == Effect::Allow;
        // A policy for the repository would allow the requests of the owner, not those of the other user.
        let is_without_effect = request.requester.is_some() && remember == Remember::Repository;
        if allows && (request.each_time || is_without_effect) {
            return None;
        }
        let mut coverage = Coverage { operation_id: Some(request.operation_id), ..Coverage::default() };
        match remember {
            Remember::Repository => {
                // A policy stores text. One for the text of another path would not cover this directory.
                coverage.repository = Some(request.subject.repository(allows)?.to_str()?.to_owned());
            }
            Remember::Origin => coverage.origin = Some(request.location.clone()),
        }
        Some(coverage)
    }

    /// Returns messages for the owner about unreadable rules and policies and the consequences.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let policies = self.0.policies.problem().map(|problem| {
            format!("{problem}: every request requires approval. Fix the file and restart Loopgate, or set a policy, which moves the file aside")
        });
        let rules = self.0.rules.problem().map(|problem| {
            format!("{problem}: always-allow rules are not applied. Fix the file and restart Loopgate; the next rule moves the file aside")
        });
        policies.into_iter().chain(rules).collect()
    }

    /// Whether the policies are unreadable, so that every request needs an approval.
    pub(crate) fn policies_unreadable(&self) -> bool {
        self.0.policies.problem().is_some()
    }

    pub(crate) fn has_policies(&self) -> bool {
        !self.0.policies.is_empty()
    }

    pub(crate) fn applicable_policy(&self, query: &PolicyQuery<'_>) -> Option<ApprovalPolicy> {
        self.0.policies.applicable(query)
    }

    /// Denies all pending requests.
    pub fn clear_pending(&self) {
        for request in self.pending() {
            self.deny(request.id);
        }
    }

    pub(crate) fn rule_allows(&self, request: &PendingApproval) -> bool {
        self.0.rules.allow(request, Timestamp::now())
    }

    /// Adds the request, or joins an identical pending one, and waits for the decision. Returns the id of the
    /// shared entry.
    pub(crate) async fn wait(&self, request: PendingApproval, limit: Duration) -> (Uuid, Decision) {
        let mut waiter = self.join(request, Timestamp::now().saturating_add(limit).unwrap_or(Timestamp::MAX));
        let id = waiter.id;
        let decided = tokio::time::timeout(limit, waiter.decision.wait_for(Option::is_some)).await;
        let decision = match decided {
            Ok(Ok(decision)) => decision.unwrap_or(Decision::Expired),
            // Dropping the waiter leaves the entry, which expires with its last waiter.
            Ok(Err(_)) | Err(_) => Decision::Expired,
        };
        (id, decision)
    }

    fn join(&self, request: PendingApproval, end: Timestamp) -> Waiter {
        let mut state = self.state();
        let existing = state.pending.values().find(|entry| entry.request.is_like(&request));
        let id = existing.map_or(request.id, |entry| entry.request.id);
        let entry = state.pending.entry(id).or_insert_with(|| {
            tracing::info!(%id, operation = %request.operation_id, "approval pending");
            ApprovalEntry { request, decision: watch::Sender::new(None), ends: Vec::new() }
        });
        let is_new = entry.ends.is_empty();
        entry.ends.push(end);
        entry.update_deadline();
        if is_new {
            self.send_event(ApprovalEvent::Requested(entry.request.clone()));
        }
        let decision = entry.decision.subscribe();
        self.publish_count(&state);
        Waiter { approvals: self.clone(), id, end, decision }
    }

    fn leave(&self, id: Uuid, end: Timestamp) {
        let mut state = self.state();
        let Some(entry) = state.pending.get_mut(&id) else { return };
        // Waiters with the same deadline are interchangeable.
        if let Some(index) = entry.ends.iter().position(|other| *other == end) {
            entry.ends.swap_remove(index);
        }
        if entry.ends.is_empty() {
            self.resolve_in(state, id, Decision::Expired);
        } else {
            entry.update_deadline();
            self.publish_count(&state);
        }
    }

    fn resolve(&self, id: Uuid, decision: Decision) -> Option<ResolvedApproval> {
        self.resolve_in(self.state(), id, decision)
    }

    fn resolve_in(
        &self,
        mut state: MutexGuard<'_, Requests>,
        id: Uuid,
        decision: Decision,
    ) -> Option<ResolvedApproval> {
        let entry = state.pending.remove(&id)?;
        let resolved =
            ResolvedApproval { request: entry.request, decision, resolved_at: loopgate_api::time::now_iso() };
        state.resolved.truncate(HISTORY - 1);
        state.resolved.push_front(resolved.clone());
        self.publish_count(&state);
        self.send_event(ApprovalEvent::Resolved(resolved.clone()));
        // Woken waiters acquire the lock in order to leave.
        drop(state);
        entry.decision.send_replace(Some(decision));
        Some(resolved)
    }

    fn publish_count(&self, state: &Requests) {
        self.0.count.send_replace(state.pending.len());
    }

    /// Sends an event. The caller holds the lock, so that events are in the order of the changes.
    fn send_event(&self, event: ApprovalEvent) {
        // Fails when there are no receivers.
        let _ = self.0.events.send(event);
    }

    fn state(&self) -> MutexGuard<'_, Requests> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A waiter of an entry. Leaves the entry on drop, also when the client disconnects.
struct Waiter {
    approvals: Approvals,
    id: Uuid,
    end: Timestamp,
    decision: watch::Receiver<Option<Decision>>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.approvals.leave(self.id, self.end);
    }
}
