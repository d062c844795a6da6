//! Requests that wait for a person, and everybody who waits with them.
//!
//! Identical requests share one entry. Each waiter has its own end; the entry goes with its last
//! waiter. In memory only: nobody waits any more after a restart.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loopgate_api::operation::{OperationId, RiskTier};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::{broadcast, watch};
use uuid::Uuid;

use super::policies::{ApprovalPolicy, Coverage, Effect, Policies, Question};
use super::rules::{AlwaysAllowRule, Rules};
use super::subject::Subject;

/// File of the always-allow rules, in the data directory.
const RULES_FILE: &str = "desktop-approvals.json";
/// File of the policies.
const POLICIES_FILE: &str = "approval-policies.json";
/// Decisions remembered.
const HISTORY: usize = 50;
/// Events kept for a receiver that is slow; it misses the oldest.
const BACKLOG: usize = 256;

/// How a held request ended. All of them are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// This one may pass.
    Approved,
    /// This one may not.
    Denied,
    /// This one and its like may pass for a while.
    AlwaysAllow,
    /// Nobody decided in time.
    Expired,
}

/// A request that waits. Its body is not kept.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingApproval {
    /// Id to decide by.
    pub id: Uuid,
    /// ISO 8601.
    pub created_at: String,
    /// Operation.
    pub operation_id: OperationId,
    /// Its tier.
    pub risk_tier: RiskTier,
    /// Upper case.
    pub method: String,
    /// Path without query.
    pub path: String,
    /// The query, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// What the request does, in the words of its body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The loop that the request is to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<String>,
    /// First directory that the request names, where it really is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_path: Option<String>,
    /// Every directory that the request is about, where it really is; in order.
    pub directories: Vec<String>,
    /// Who asks.
    pub location: String,
    /// Why a person is asked.
    pub reason: String,
    /// Hex SHA-256 over method, target and body.
    pub fingerprint: String,
    /// ISO 8601: when the last of those who ask gives up.
    pub waits_until: String,
    /// A person is asked each time: no rule and no policy lets it pass.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub each_time: bool,
    #[serde(skip)]
    pub(super) subject: Subject,
}

/// A request that may not pass without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is asked each time; approve or deny it")]
pub struct AskedEachTime;

/// A decided request.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedApproval {
    /// The request.
    #[serde(flatten)]
    pub request: PendingApproval,
    /// What was decided.
    pub decision: Decision,
    /// ISO 8601.
    pub resolved_at: String,
}

/// What becomes of requests that wait, in the order in which it happens.
#[derive(Debug, Clone)]
pub enum ApprovalEvent {
    /// One waits; whoever asks the same joins it without a word.
    Requested(PendingApproval),
    /// It was decided, or nobody waits for it any more.
    Resolved(ResolvedApproval),
}

struct Entry {
    request: PendingApproval,
    decision: watch::Sender<Option<Decision>>,
    /// When each of the waiters gives up.
    ends: Vec<Timestamp>,
}

impl Entry {
    fn tell_the_end(&mut self) {
        if let Some(last) = self.ends.iter().max() {
            self.request.waits_until = loopgate_api::time::iso(*last);
        }
    }
}

#[derive(Default)]
struct State {
    pending: HashMap<Uuid, Entry>,
    resolved: VecDeque<ResolvedApproval>,
}

struct Inner {
    state: Mutex<State>,
    rules: Rules,
    policies: Policies,
    /// The switch that lets everything pass; off at every start.
    auto_approve: AtomicBool,
    /// Number of pending requests, for whoever shows it.
    count: watch::Sender<usize>,
    /// What becomes of them, for whoever tells of it.
    events: broadcast::Sender<ApprovalEvent>,
}

/// The person's side of approval. Clones share one registry.
#[derive(Clone)]
pub struct Approvals(Arc<Inner>);

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals").field("pending", &*self.0.count.borrow()).finish_non_exhaustive()
    }
}

impl PendingApproval {
    /// Whether one decision may count for both: a person is shown the same of them.
    fn is_like(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
            && self.operation_id == other.operation_id
            && self.action == other.action
            && self.subject == other.subject
            && self.location == other.location
            && self.each_time == other.each_time
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
        Self(Arc::new(Inner {
            state: Mutex::default(),
            rules: Rules::open(&data_dir.join(RULES_FILE)),
            policies: Policies::open(&data_dir.join(POLICIES_FILE)),
            auto_approve: AtomicBool::new(false),
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

    /// Follows what becomes of waiting requests, from now on.
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
    pub fn always_allow(&self, id: Uuid) -> Result<Option<AlwaysAllowRule>, AskedEachTime> {
        if self.state().pending.get(&id).is_some_and(|entry| entry.request.each_time) {
            return Err(AskedEachTime);
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
    pub(super) fn asks_for_everything(&self) -> bool {
        self.0.policies.problem().is_some()
    }

    pub(super) fn has_policies(&self) -> bool {
        !self.0.policies.is_empty()
    }

    pub(super) fn effect(&self, question: &Question<'_>) -> Option<Effect> {
        self.0.policies.effect(question)
    }

    /// Refuses everything that waits.
    pub fn clear_pending(&self) {
        for request in self.pending() {
            self.deny(request.id);
        }
    }

    /// Lets everything pass without asking, until the process ends or it is switched off.
    pub fn set_auto_approve(&self, on: bool) {
        self.0.auto_approve.store(on, Ordering::Relaxed);
    }

    pub(super) fn auto_approves(&self) -> bool {
        self.0.auto_approve.load(Ordering::Relaxed)
    }

    pub(super) fn rule_allows(&self, request: &PendingApproval) -> bool {
        self.0.rules.allow(request, Timestamp::now())
    }

    /// Waits for a decision about the request, together with everybody who asked the same.
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
            Entry { request, decision: watch::Sender::new(None), ends: Vec::new() }
        });
        let is_new = entry.ends.is_empty();
        entry.ends.push(end);
        entry.tell_the_end();
        if is_new {
            self.tell(ApprovalEvent::Requested(entry.request.clone()));
        }
        let decision = entry.decision.subscribe();
        self.announce(&state);
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
            entry.tell_the_end();
            self.announce(&state);
        }
    }

    fn resolve(&self, id: Uuid, decision: Decision) -> Option<ResolvedApproval> {
        self.resolve_in(self.state(), id, decision)
    }

    fn resolve_in(
        &self,
        mut state: MutexGuard<'_, State>,
        id: Uuid,
        decision: Decision,
    ) -> Option<ResolvedApproval> {
        let entry = state.pending.remove(&id)?;
        let resolved =
            ResolvedApproval { request: entry.request, decision, resolved_at: loopgate_api::time::now_iso() };
        state.resolved.truncate(HISTORY - 1);
        state.resolved.push_front(resolved.clone());
        self.announce(&state);
        self.tell(ApprovalEvent::Resolved(resolved.clone()));
        drop(state);
        entry.decision.send_replace(Some(decision));
        Some(resolved)
    }

    fn announce(&self, state: &State) {
        self.0.count.send_replace(state.pending.len());
    }

    /// Called under the lock, so that events keep their order.
    fn tell(&self, event: ApprovalEvent) {
        let _ = self.0.events.send(event);
    }

    fn state(&self) -> MutexGuard<'_, State> {
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
