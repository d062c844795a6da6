//! Requests that wait for approval, and their waiters.
//!
//! Identical requests share one entry. Each waiter has its own end; the entry goes with its last
//! waiter. In memory only: a restart ends all waiters.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use tokio::sync::{broadcast, watch};
use uuid::Uuid;

use super::policies::{ApprovalPolicy, Coverage, Effect, Policies, PolicyQuery};
use super::request::{AskEachTimeError, Decision, PendingApproval, ResolvedApproval};
use super::rules::{AlwaysAllowRule, AlwaysAllowRules};

/// File of the always-allow rules, in the data directory.
const RULES_FILE: &str = "desktop-approvals.json";
/// File of the policies.
const POLICIES_FILE: &str = "approval-policies.json";
/// Decisions remembered.
const HISTORY: usize = 50;
/// Events kept for a receiver that is slow; it misses the oldest.
const BACKLOG: usize = 256;

/// Events of waiting requests, in order.
#[derive(Debug, Clone)]
pub enum ApprovalEvent {
    /// A request waits; an identical one joins it without an event.
    Requested(PendingApproval),
    /// It was decided, or its last waiter left.
    Resolved(ResolvedApproval),
}

struct ApprovalEntry {
    request: PendingApproval,
    decision: watch::Sender<Option<Decision>>,
    /// When each of the waiters gives up.
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
    /// Number of pending requests.
    count: watch::Sender<usize>,
    /// Events of requests, in order.
    events: broadcast::Sender<ApprovalEvent>,
}

/// The person's side of approval. Clones share one registry.
#[derive(Clone)]
pub struct Approvals(Arc<Registry>);

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals").field("pending", &*self.0.count.borrow()).finish_non_exhaustive()
    }
}

/// What a remembered decision holds for, besides the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remember {
    /// The directory that the request is about.
    Repository,
    /// Whoever asked.
    Origin,
}

impl Approvals {
    /// A registry that keeps its always-allow rules and policies in the data directory.
    pub(crate) fn open(data_dir: &Path) -> Self {
        Self(Arc::new(Registry {
            state: Mutex::default(),
            rules: AlwaysAllowRules::open(&data_dir.join(RULES_FILE)),
            policies: Policies::open(&data_dir.join(POLICIES_FILE)),
            count: watch::Sender::new(0),
            events: broadcast::channel(BACKLOG).0,
        }))
    }

    /// Waiting requests, newest first.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingApproval> {
        let mut pending: Vec<_> = self.state().pending.values().map(|entry| entry.request.clone()).collect();
        // Ids are made in order of time.
        pending.sort_by_key(|request| std::cmp::Reverse(request.id));
        pending
    }

    /// Follows the number of waiting requests.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<usize> {
        self.0.count.subscribe()
    }

    /// Subscribes to events of waiting requests.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<ApprovalEvent> {
        self.0.events.subscribe()
    }

    /// Decided requests, newest first.
    #[must_use]
    pub fn resolved(&self) -> Vec<ResolvedApproval> {
        self.state().resolved.iter().cloned().collect()
    }

    /// Forgets the decided requests.
    pub fn clear_resolved(&self) {
        self.state().resolved.clear();
    }

    /// Lets a request pass. `None` for an unknown id.
    pub fn approve(&self, id: Uuid) -> Option<ResolvedApproval> {
        self.resolve(id, Decision::Approved)
    }

    /// Refuses a request. `None` for an unknown id.
    pub fn deny(&self, id: Uuid) -> Option<ResolvedApproval> {
        self.resolve(id, Decision::Denied)
    }

    /// Lets a request and its like pass for seven days. Blocks on the disk. `None` for an unknown
    /// id.
    ///
    /// # Errors
    /// Its like asks each time; it goes on waiting.
    pub fn always_allow(&self, id: Uuid) -> Result<Option<AlwaysAllowRule>, AskEachTimeError> {
        if self.state().pending.get(&id).is_some_and(|entry| entry.request.each_time) {
            return Err(AskEachTimeError);
        }
        let resolved = self.resolve(id, Decision::AlwaysAllow);
        Ok(resolved.map(|resolved| self.0.rules.add(&resolved.request, Timestamp::now())))
    }

    /// Rules in force.
    #[must_use]
    pub fn rules(&self) -> Vec<AlwaysAllowRule> {
        self.0.rules.list(Timestamp::now())
    }

    /// Ends a rule; answers whether it was there. Blocks on the disk.
    #[must_use]
    pub fn remove_rule(&self, id: Uuid) -> bool {
        self.0.rules.remove(id)
    }

    /// Policies in force.
    #[must_use]
    pub fn policies(&self) -> Vec<ApprovalPolicy> {
        self.0.policies.list()
    }

    /// Decides beforehand. Blocks on the disk.
    ///
    /// # Errors
    /// The policy could not be written, and does not hold.
    pub fn set_policy(&self, coverage: Coverage, effect: Effect) -> std::io::Result<ApprovalPolicy> {
        self.0.policies.set(coverage, effect)
    }

    /// Takes such a decision back; answers whether it was there. Blocks on the disk.
    ///
    /// # Errors
    /// It could not be written, and still holds.
    pub fn remove_policy(&self, id: Uuid) -> std::io::Result<bool> {
        self.0.policies.remove(id)
    }

    /// What a policy for the like of a waiting request would cover. `None` when the request does
    /// not wait any more, asks each time whatever a policy allows, or is not about one repository.
    #[must_use]
    pub fn coverage_of(&self, id: Uuid, remember: Remember, effect: Effect) -> Option<Coverage> {
        let state = self.state();
        let request = &state.pending.get(&id)?.request;
        let opens = effect == Effect::Allow;
        if opens && request.each_time {
            return None;
        }
        let mut coverage = Coverage { operation_id: Some(request.operation_id), ..Coverage::default() };
        match remember {
            Remember::Repository => {
                coverage.repository = Some(request.subject.repository(opens)?.to_string_lossy().into_owned());
            }
            Remember::Origin => coverage.origin = Some(request.location.clone()),
        }
        Some(coverage)
    }

    /// What is wrong with the files of rules and policies, and what follows from it.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let policies = self.0.policies.problem().map(|problem| {
            format!("{problem}: every request asks. Mend it and restart Loopgate, or set a policy: then it is moved aside")
        });
        let rules = self.0.rules.problem().map(|problem| {
            format!("{problem}: no rule of always holds. Mend it and restart Loopgate; the next rule moves it aside")
        });
        policies.into_iter().chain(rules).collect()
    }

    /// Whether what a person decided beforehand could not be read, so that nothing passes by itself.
    pub(crate) fn asks_for_everything(&self) -> bool {
        self.0.policies.problem().is_some()
    }

    pub(crate) fn has_policies(&self) -> bool {
        !self.0.policies.is_empty()
    }

    pub(crate) fn effect(&self, question: &PolicyQuery<'_>) -> Option<Effect> {
        self.0.policies.effect(question)
    }

    /// Refuses everything that waits.
    pub fn clear_pending(&self) {
        for request in self.pending() {
            self.deny(request.id);
        }
    }

    pub(crate) fn rule_allows(&self, request: &PendingApproval) -> bool {
        self.0.rules.allow(request, Timestamp::now())
    }

    /// Waits for a decision about the request, shared with identical requests.
    /// Answers the id of the shared entry.
    pub(crate) async fn wait(&self, request: PendingApproval, limit: Duration) -> (Uuid, Decision) {
        let mut waiter = self.join(request, Timestamp::now().saturating_add(limit).unwrap_or(Timestamp::MAX));
        let id = waiter.id;
        let decided = tokio::time::timeout(limit, waiter.decision.wait_for(Option::is_some)).await;
        let decision = match decided {
            Ok(Ok(decision)) => decision.unwrap_or(Decision::Expired),
            Ok(Err(_)) | Err(_) => Decision::Expired,
        };
        (id, decision)
    }

    fn join(&self, request: PendingApproval, end: Timestamp) -> Waiter {
        let mut state = self.state();
        let known = state.pending.values().find(|entry| entry.request.is_like(&request));
        let id = known.map_or(request.id, |entry| entry.request.id);
        let entry = state.pending.entry(id).or_insert_with(|| {
            tracing::info!(%id, operation = %request.operation_id, "a request waits for approval");
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
        if let Some(own) = entry.ends.iter().position(|known| *known == end) {
            entry.ends.swap_remove(own);
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
        drop(state);
        entry.decision.send_replace(Some(decision));
        Some(resolved)
    }

    fn publish_count(&self, state: &Requests) {
        self.0.count.send_replace(state.pending.len());
    }

    /// Called under the lock, so that events keep their order.
    fn send_event(&self, event: ApprovalEvent) {
        let _ = self.0.events.send(event);
    }

    fn state(&self) -> MutexGuard<'_, Requests> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits. Leaves when dropped, which is also what a lost connection does.
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
