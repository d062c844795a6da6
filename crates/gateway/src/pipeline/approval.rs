//! Decides whether a request passes, is refused, or has to wait for the owner's approval.

use std::path::PathBuf;
use std::time::Duration;

use http::header::{ORIGIN, REFERER};
use http::{HeaderMap, HeaderName, Method, Uri};
use loopgate_api::event_body::ApprovalOutcome;
use loopgate_api::names::{
    APPROVAL_REASON_HEADER, CLOUD_SOURCE, FORCE_APPROVAL_HEADER, REQUESTER_HEADER, SOURCE_HEADER,
};
use loopgate_api::operation::{OperationId, RiskTier};
use loopgate_home::Settings;
use loopgate_runtime::Unapproved;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::auth::Principal;
use super::body::RequestBody;
use super::resolver;
use crate::app::App;
use crate::approval::{
    ApprovalPolicy, Approvals, At, Decision, Effect, PendingApproval, PolicyQuery, RequestValues, Source,
    Subject,
};
use crate::error::HttpError;
use crate::route::{ActionPreview, Route};

const DIRECTORY_CHANGED: &str =
    "the request now resolves to other directories than those approved; send it again";
const ACTION_CHANGED: &str = "the request would now run another command than the one approved; send it again";

const FORCE: HeaderName = HeaderName::from_static(FORCE_APPROVAL_HEADER);
const REASON: HeaderName = HeaderName::from_static(APPROVAL_REASON_HEADER);
const REQUESTER: HeaderName = HeaderName::from_static(REQUESTER_HEADER);
const REQUEST_SOURCE: HeaderName = HeaderName::from_static(SOURCE_HEADER);

/// Length limit in characters of header values and actions that the owner is shown.
const SHOWN_CHARACTERS: usize = 200;
/// Length limit in characters of an action preview. Higher than the limit of other texts, because a preview
/// contains complete commands that the owner must be able to read to the end.
const PREVIEW_CHARACTERS: usize = 4000;
/// Length limit in characters of the name of another user. Above the length of an e-mail address, which the
/// name begins with and which policies must be able to distinguish.
const REQUESTER_CHARACTERS: usize = 500;
/// Hex digits of a fingerprint that identify a request for the owner.
const SHOWN_FINGERPRINT: usize = 16;

/// The parts of a request that the policy depends on.
pub(crate) struct PolicyRequest<'a> {
    pub(crate) method: &'a Method,
    pub(crate) target: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a RequestBody,
    pub(crate) principal: Principal,
    pub(crate) over_link: bool,
    /// `None` when no handler of this gateway matches.
    pub(crate) route: Option<&'a Route>,
    /// Address of the peer. `None` for in-process callers.
    pub(crate) peer: Option<std::net::IpAddr>,
    pub(crate) setup_complete: bool,
}

/// Outcome of the policy.
pub(crate) enum PolicyDecision {
    Allow,
    Refuse(HttpError),
    Wait(Box<PendingApproval>),
}

/// Applies the policy. Refusals come first, then the owner's policies, the risk threshold, and the
/// always-allow rules.
pub(crate) async fn evaluate(
    request: &PolicyRequest<'_>,
    app: &App,
    settings: &Settings,
    approvals: &Approvals,
) -> PolicyDecision {
    if !request.setup_complete {
        let hint =
            "run `loopgate up` to complete onboarding; `loopgate gateway` prints the alternatives at start";
        return PolicyDecision::Refuse(
            HttpError::forbidden("onboarding not completed")
                .with_code("onboarding_not_completed")
                .with("hint", hint),
        );
    }
    let each_time = request.requires_approval_each_time();
    let Some(operation) = OperationId::of_path(request.target.path()) else {
        let text = format!("Unmapped operation: {}", request.target.path());
        return PolicyDecision::Refuse(HttpError::forbidden(text).with_code("unmapped_operation"));
    };
    let threshold =
        settings.auto_approval_rules.get(&operation).copied().unwrap_or(settings.default_approval_tier);
    let unreadable = approvals.policies_unreadable();
    let forced = each_time || unreadable || request.is_forced();
    let requester = request.requester();
    // Every user may stop a loop, so that another user can end a loop that the owner approved.
    let is_foreign = requester.is_some() && operation != OperationId::OrchestratorLoopKill;
    let passes = !forced && !is_foreign && operation.risk() <= threshold;
    // The common case. Resolving the directories costs file system calls, so it is skipped.
    if passes && !approvals.has_policies() {
        return PolicyDecision::Allow;
    }
    let values = request.values();
    let action = with_preview(app, request.action(&values), request.preview(), &values).await;
    let loop_id = request.loop_id(&values);
    let location = request.location();
    let resolved = resolver::resolve(app, request.sources(), values).await;
    let evaluated = match resolved {
        // Policies read the disk.
        Some(subject) => {
            let (approvals, location) = (approvals.clone(), location.clone());
            let evaluate = move || {
                let policy = approvals.applicable_policy(&PolicyQuery {
                    operation,
                    subject: &subject,
                    location: &location,
                    is_foreign,
                });
                (subject, policy)
            };
            tokio::task::spawn_blocking(evaluate).await.ok()
        }
        None => None,
    };
    let Some((subject, policy)) = evaluated else { return PolicyDecision::Refuse(HttpError::internal()) };
    // With an unreadable policies file no policy may allow or deny: everything waits for the owner.
    let policy = policy.filter(|_| !unreadable);
    match policy.as_ref().map(|policy| policy.effect) {
        Some(Effect::Deny) => {
            let refused = HttpError::forbidden("request denied").with_code("request_denied");
            return PolicyDecision::Refuse(refused.with("operationId", operation.as_str()));
        }
        Some(Effect::Allow) if !forced => return PolicyDecision::Allow,
        None if passes => return PolicyDecision::Allow,
        Some(_) | None => {}
    }
    let now = loopgate_api::time::now_iso();
    let pending = PendingApproval {
        id: Uuid::now_v7(),
        created_at: now.clone(),
        operation_id: operation,
        risk_tier: operation.risk(),
        method: request.method.to_string(),
        path: request.target.path().to_owned(),
        query: request.target.query().map(ToOwned::to_owned),
        action,
        loop_id,
        scope_path: subject.first().map(|path| path.to_string_lossy().into_owned()),
        directories: shown_directories(&subject),
        location,
        reason: match &requester {
            Some(name) => format!("requested by {name}, who does not own this machine"),
            None => request.reason(operation, threshold, policy.as_ref(), unreadable),
        },
        requester,
        fingerprint: request.fingerprint(),
        waits_until: now,
        each_time,
        subject,
    };
    // Rules come last: unlike policies, they compare the resolved directories and the action.
    if !forced && !is_foreign && approvals.rule_allows(&pending) {
        return PolicyDecision::Allow;
    }
    PolicyDecision::Wait(Box::new(pending))
}

/// Inputs from which the directories and the action of a request are resolved again after its approval.
#[derive(Clone)]
pub(crate) struct SubjectSources {
    sources: &'static [Source],
    values: RequestValues,
    action: Option<String>,
    preview: Option<ActionPreview>,
}

impl SubjectSources {
    /// Returns why an approval no longer applies: the request would now do something other than what the
    /// owner was shown, because repositories or settings have changed while it was pending.
    pub(crate) async fn outdated(self, app: &App, shown: &PendingApproval) -> Option<&'static str> {
        if with_preview(app, self.action, self.preview, &self.values).await != shown.action {
            return Some(ACTION_CHANGED);
        }
        let current = resolver::resolve(app, self.sources, self.values).await;
        let is_same = current.is_some_and(|subject| shown_directories(&subject) == shown.directories);
        (!is_same).then_some(DIRECTORY_CHANGED)
    }
}

/// Appends the preview of the route to an action.
async fn with_preview(
    app: &App,
    action: Option<String>,
    preview: Option<ActionPreview>,
    values: &RequestValues,
) -> Option<String> {
    let Some(preview) = preview else { return action };
    let text = preview(app.clone(), values.clone()).await.unwrap_or_default();
    // Previews may span lines, but are shown on one.
    let text = text.replace(char::is_control, " ");
    let shown = shown_within(&text, PREVIEW_CHARACTERS);
    let parts: Vec<String> = action.into_iter().chain(shown).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The outstanding approval of a request over the link that was already accepted. The control plane does not
/// wait for the owner, but the loop does, for as long as the owner's settings allow.
#[derive(Clone)]
pub(crate) struct ApprovalHold {
    request: PendingApproval,
    hours: u32,
    sources: SubjectSources,
}

impl ApprovalHold {
    pub(super) const fn new(request: PendingApproval, hours: u32, sources: SubjectSources) -> Self {
        Self { request, hours, sources }
    }

    pub(crate) const fn id(&self) -> Uuid {
        self.request.id
    }

    /// Returns how long the request stays pending.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_secs(u64::from(self.hours) * 60 * 60)
    }

    /// Waits for the decision.
    ///
    /// # Errors
    /// Fails when the request was denied, expired, or changed since it was shown.
    pub(crate) async fn decision(self, app: App) -> Result<(), Unapproved> {
        let (limit, shown) = (self.limit(), self.request.clone());
        let (outcome, reason) = match app.approvals.wait(self.request, limit).await.1 {
            Decision::Approved | Decision::AlwaysAllow => {
                let Some(reason) = self.sources.outdated(&app, &shown).await else { return Ok(()) };
                (ApprovalOutcome::Outdated, reason.to_owned())
            }
            Decision::Denied => (ApprovalOutcome::Denied, "The loop was denied on its machine.".to_owned()),
            Decision::Expired => (
                ApprovalOutcome::Expired,
                format!(
                    "The loop was not approved on its machine within {} hours. Run it again.",
                    self.hours
                ),
            ),
        };
        Err(Unapproved { outcome, reason })
    }
}

fn shown_directories(subject: &Subject) -> Vec<String> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    subject.directories().into_iter().map(text).collect()
}

impl PolicyRequest<'_> {
    fn is_forced(&self) -> bool {
        self.headers.get(FORCE).is_some_and(|value| {
            let value = value.as_bytes();
            value == b"1" || value.eq_ignore_ascii_case(b"true")
        })
    }

    /// Whether the route needs an approval for each request. The owner's own programs (local, with the
    /// gateway token) are exempt.
    fn requires_approval_each_time(&self) -> bool {
        let is_owner = self.principal == Principal::Internal && !self.over_link;
        self.route.is_some_and(|route| route.policy.requires_approval_each_time) && !is_owner
    }

    pub(crate) fn subject_sources(&self) -> SubjectSources {
        let values = self.values();
        let action = self.action(&values);
        SubjectSources { sources: self.sources(), values, action, preview: self.preview() }
    }

    fn preview(&self) -> Option<ActionPreview> {
        self.route.and_then(|route| route.policy.action_preview)
    }

    /// Returns the id of the loop that the request launches.
    fn loop_id(&self, values: &RequestValues) -> Option<String> {
        self.route.filter(|route| route.policy.is_accepted_before_approval)?;
        shown(values.texts(At::Body("loopId")).first()?)
    }

    /// Returns where the request names directories. Without a known route, any value may be one.
    fn sources(&self) -> &'static [Source] {
        self.route.map_or(&[Source::Anything], |route| route.policy.sources)
    }

    fn values(&self) -> RequestValues {
        RequestValues::read(self.route.map(|route| route.path), self.target, self.whole_body())
    }

    /// Describes what the request does by the members of its body. A request without a known route is
    /// described by its fingerprint instead, so that an approval covers identical requests only.
    fn action(&self, values: &RequestValues) -> Option<String> {
        match self.route {
            Some(route) => shown(&values.action(route.policy.action_members)?),
            None if self.whole_body().is_empty() => None,
            None => Some(format!("request {}", &self.fingerprint().get(..SHOWN_FINGERPRINT)?)),
        }
    }

    /// Returns the body in memory. A spooled body is not JSON, so it names nothing.
    pub(crate) fn whole_body(&self) -> &[u8] {
        match self.body {
            RequestBody::Memory(body) => body,
            RequestBody::File(_) => &[],
        }
    }

    /// Returns a header in which the caller describes itself. Only callers with the gateway token are
    /// trusted: a page could pretend to be another source.
    fn trusted_header(&self, name: &HeaderName) -> Option<String> {
        let value = self.headers.get(name).filter(|_| self.principal == Principal::Internal)?;
        shown(&String::from_utf8_lossy(value.as_bytes()))
    }

    /// Returns the name of the user who made the request, when it is not the owner of this desktop.
    fn requester(&self) -> Option<String> {
        let encoded = self.headers.get(REQUESTER).filter(|_| self.principal == Principal::Internal)?;
        let pair = [b"name=".as_slice(), encoded.as_bytes()].concat();
        let name = url::form_urlencoded::parse(&pair).next();
        let name = name.and_then(|(_, name)| shown_within(&name, REQUESTER_CHARACTERS));
        Some(name.unwrap_or_else(|| "another user".to_owned()))
    }

    fn location(&self) -> String {
        if let Some(name) = self.requester() {
            return format!("{CLOUD_SOURCE}: {name}");
        }
        let header = |name| self.headers.get(name).and_then(|v| v.to_str().ok()).and_then(shown);
        self.trusted_header(&REQUEST_SOURCE)
            .or_else(|| header(ORIGIN))
            .or_else(|| header(REFERER))
            .or_else(|| self.peer.map(|address| address.to_string()))
            .unwrap_or_else(|| "unknown".to_owned())
    }

    /// Returns why the request waits. Conditions that hold whatever the policies say come first.
    fn reason(
        &self,
        operation: OperationId,
        threshold: RiskTier,
        policy: Option<&ApprovalPolicy>,
        unreadable: bool,
    ) -> String {
        if let Some(stated) = self.trusted_header(&REASON) {
            return stated;
        }
        if unreadable {
            return "the file of the policies is unreadable, so that all requests require approval"
                .to_owned();
        }
        if self.requires_approval_each_time() {
            return format!("every {operation} request requires approval");
        }
        if let Some(policy) = policy.filter(|policy| policy.effect == Effect::Ask) {
            return format!("a policy requires approval for {}", policy.coverage);
        }
        if operation.risk() <= threshold {
            return "the sender of the request asked for an approval".to_owned();
        }
        format!(
            "{operation} has risk tier {}; requests above {} require approval",
            tier(operation.risk()),
            tier(threshold)
        )
    }

    fn fingerprint(&self) -> String {
        let whole = match self.body {
            RequestBody::Memory(body) => body,
            RequestBody::File(spool) => return spool.hash.clone().unwrap_or_default(),
        };
        let mut hash = start_fingerprint(self.method, self.target);
        hash.update(whole);
        hex::encode(hash.finalize())
    }
}

/// Starts the hash that identifies a request, which the caller completes with the body.
pub(crate) fn start_fingerprint(method: &Method, target: &Uri) -> Sha256 {
    let mut hash = Sha256::new();
    let query = target.query().map(|query| format!("?{query}")).unwrap_or_default();
    hash.update(format!("{method}\n{}{query}\n", target.path()));
    hash
}

const fn tier(tier: RiskTier) -> &'static str {
    match tier {
        RiskTier::None => "none",
        RiskTier::Low => "low",
        RiskTier::Medium => "medium",
        RiskTier::High => "high",
    }
}

/// Formats text for display to the owner: one line, without control characters, of limited length. `None`
/// when the result is empty.
fn shown(text: &str) -> Option<String> {
    shown_within(text, SHOWN_CHARACTERS)
}

fn shown_within(text: &str, characters: usize) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_control()).take(characters).collect();
    let text = loopgate_api::redact::credentials(text.trim());
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_text_is_one_line_of_limited_length() {
        assert_eq!(shown("a\u{1b}[31mb\n").as_deref(), Some("a[31mb"));
        assert_eq!(shown(&"x".repeat(500)).unwrap().len(), SHOWN_CHARACTERS);
        assert_eq!(shown(" \n"), None);
    }
}
