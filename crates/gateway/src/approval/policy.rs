//! The rules by which a request passes, is refused, or has to wait for a person.

use std::path::PathBuf;

use http::header::{ORIGIN, REFERER};
use http::{HeaderMap, HeaderName, Method, Uri};
use loopgate_api::names::{APPROVAL_REASON_HEADER, FORCE_APPROVAL_HEADER, SOURCE_HEADER};
use loopgate_api::operation::{OperationId, RiskTier};
use loopgate_home::Settings;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::pending::{Approvals, PendingApproval};
use super::policies::{Effect, Question};
use super::resolver;
use super::source::{At, Source, Values};
use super::subject::Subject;
use crate::answer::Failure;
use crate::app::App;
use crate::pipeline::Principal;
use crate::pipeline::body::Received;
use crate::router::RouteFacts;

const FORCE: HeaderName = HeaderName::from_static(FORCE_APPROVAL_HEADER);
const REASON: HeaderName = HeaderName::from_static(APPROVAL_REASON_HEADER);
const SOURCE: HeaderName = HeaderName::from_static(SOURCE_HEADER);

/// Characters of a text that is shown to a person.
const SHOWN_CHARACTERS: usize = 200;
/// Characters of a fingerprint that tell one request from another.
const SHOWN_FINGERPRINT: usize = 16;

/// A request, as the policy sees it.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a Method,
    pub(crate) target: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Received,
    pub(crate) principal: Principal,
    pub(crate) over_link: bool,
    /// Its route, when a handler of this gateway answers it.
    pub(crate) route: Option<&'a RouteFacts>,
    /// Address of the other side; in-process callers have none.
    pub(crate) peer: Option<std::net::IpAddr>,
    pub(crate) setup_complete: bool,
}

/// What becomes of it.
pub(crate) enum Verdict {
    Allow,
    Refuse(Failure),
    Wait(Box<PendingApproval>),
}

/// Decides, in the order of the policy's rules.
pub(crate) async fn evaluate(
    request: &Request<'_>,
    app: &App,
    settings: &Settings,
    approvals: &Approvals,
) -> Verdict {
    if !request.setup_complete {
        let hint =
            "run `loopgate up`, which completes it; `loopgate gateway` prints other ways when it starts";
        return Verdict::Refuse(Failure::forbidden("onboarding not completed").with("hint", hint));
    }
    let each_time = request.asks_each_time();
    if approvals.auto_approves() && !each_time {
        return Verdict::Allow;
    }
    let Some(operation) = OperationId::of_path(request.target.path()) else {
        let text = format!("Unmapped operation: {}", request.target.path());
        return Verdict::Refuse(Failure::forbidden(text));
    };
    let threshold =
        settings.auto_approval_rules.get(&operation).copied().unwrap_or(settings.default_approval_tier);
    let unreadable = approvals.asks_for_everything();
    let forced = each_time || unreadable || request.is_forced();
    let passes = !forced && operation.risk() <= threshold;
    if passes && !approvals.has_policies() {
        return Verdict::Allow;
    }
    let values = request.values();
    let action = request.action(&values);
    let loop_id = request.loop_id(&values);
    let location = request.location();
    let judged = resolver::resolve(app, request.sources(), values).await;
    let judged = match judged {
        // Policies look at the disk, too.
        Some(subject) => {
            let (approvals, location) = (approvals.clone(), location.clone());
            let judge = move || {
                let effect =
                    approvals.effect(&Question { operation, subject: &subject, location: &location });
                (subject, effect)
            };
            tokio::task::spawn_blocking(judge).await.ok()
        }
        None => None,
    };
    let Some((subject, effect)) = judged else { return Verdict::Refuse(Failure::internal()) };
    match effect.filter(|_| !unreadable) {
        Some(Effect::Deny) => {
            let refused = Failure::forbidden("request denied");
            return Verdict::Refuse(refused.with("operationId", operation.as_str()));
        }
        Some(Effect::Allow) if !forced => return Verdict::Allow,
        None if passes => return Verdict::Allow,
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
        reason: request.reason(operation, threshold),
        fingerprint: request.fingerprint(),
        waits_until: now,
        each_time,
        subject,
    };
    if !forced && approvals.rule_allows(&pending) {
        return Verdict::Allow;
    }
    Verdict::Wait(Box::new(pending))
}

/// What a request is about, to be looked at again after a decision.
pub(crate) struct Subjects {
    sources: &'static [Source],
    values: Values,
}

impl Subjects {
    /// Whether the request would now work elsewhere than where the person was shown.
    pub(crate) async fn lead_elsewhere(self, app: &App, shown: &[String]) -> bool {
        let now = resolver::resolve(app, self.sources, self.values).await;
        now.is_none_or(|subject| shown_directories(&subject) != shown)
    }
}

fn shown_directories(subject: &Subject) -> Vec<String> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    subject.directories().into_iter().map(text).collect()
}

impl Request<'_> {
    fn is_forced(&self) -> bool {
        self.headers.get(FORCE).is_some_and(|value| {
            let value = value.as_bytes();
            value == b"1" || value.eq_ignore_ascii_case(b"true")
        })
    }

    /// Whether the route asks a person each time, and the caller is not that person's own program.
    fn asks_each_time(&self) -> bool {
        let is_owner = self.principal == Principal::Internal && !self.over_link;
        self.route.is_some_and(|route| route.asks_each_time) && !is_owner
    }

    pub(crate) fn subjects(&self) -> Subjects {
        Subjects { sources: self.sources(), values: self.values() }
    }

    /// The loop that it is to start.
    fn loop_id(&self, values: &Values) -> Option<String> {
        self.route.filter(|route| route.accepts_held)?;
        shown(values.texts(At::Body("loopId")).first()?)
    }

    /// Where it names what it is about.
    fn sources(&self) -> &'static [Source] {
        self.route.map_or(&[Source::Anything], |route| route.sources)
    }

    fn values(&self) -> Values {
        Values::read(self.route.map(|route| route.path.as_str()), self.target, self.whole_body())
    }

    /// What it does, in the words of its body. Of a request whose meaning is not known here, only the very
    /// same is like it.
    fn action(&self, values: &Values) -> Option<String> {
        match self.route {
            Some(route) => shown(&values.action(route.action)?),
            None if self.whole_body().is_empty() => None,
            None => Some(format!("request {}", &self.fingerprint().get(..SHOWN_FINGERPRINT)?)),
        }
    }

    /// The body; what is sent in bulk is no JSON.
    pub(crate) fn whole_body(&self) -> &[u8] {
        match self.body {
            Received::Whole(body) => body,
            Received::Spooled(_) => &[],
        }
    }

    /// Texts that a caller gives about itself count only beside the gateway token.
    fn own_words(&self, name: &HeaderName) -> Option<String> {
        let value = self.headers.get(name).filter(|_| self.principal == Principal::Internal)?;
        shown(&String::from_utf8_lossy(value.as_bytes()))
    }

    fn location(&self) -> String {
        let header = |name| self.headers.get(name).and_then(|v| v.to_str().ok()).and_then(shown);
        self.own_words(&SOURCE)
            .or_else(|| header(ORIGIN))
            .or_else(|| header(REFERER))
            .or_else(|| self.peer.map(|address| address.to_string()))
            .unwrap_or_else(|| "unknown".to_owned())
    }

    fn reason(&self, operation: OperationId, threshold: RiskTier) -> String {
        self.own_words(&REASON).unwrap_or_else(|| {
            if self.asks_each_time() {
                return format!("{operation} is asked about each time");
            }
            format!(
                "{operation} is of the {} tier, and requests above {} ask first",
                tier(operation.risk()),
                tier(threshold)
            )
        })
    }

    fn fingerprint(&self) -> String {
        let whole = match self.body {
            Received::Whole(body) => body,
            Received::Spooled(spool) => return spool.hash.clone().unwrap_or_default(),
        };
        let mut hash = begin_fingerprint(self.method, self.target);
        hash.update(whole);
        hex::encode(hash.finalize())
    }
}

/// What a request is known by: a hash that is to be fed with its body.
pub(crate) fn begin_fingerprint(method: &Method, target: &Uri) -> Sha256 {
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

/// A text for a person: one line, of bounded length; nothing when nothing is left.
fn shown(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_control()).take(SHOWN_CHARACTERS).collect();
    let text = loopgate_api::redact::credentials(text.trim());
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_texts_are_one_short_line() {
        assert_eq!(shown("a\u{1b}[31mb\n").as_deref(), Some("a[31mb"));
        assert_eq!(shown(&"x".repeat(500)).unwrap().len(), SHOWN_CHARACTERS);
        assert_eq!(shown(" \n"), None);
    }
}
