//! The rules by which a request passes, is refused, or has to wait for a person.

use std::path::PathBuf;

use http::header::{ORIGIN, REFERER};
use http::{HeaderMap, HeaderName, Method, Uri};
use loopgate_api::names::{APPROVAL_REASON_HEADER, FORCE_APPROVAL_HEADER, SOURCE_HEADER};
use loopgate_api::operation::{OperationId, RiskTier};
use loopgate_home::Settings;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::pending::{Approvals, PendingApproval};
use super::policies::{Effect, Subject, real_place};
use crate::answer::Failure;
use crate::pipeline::Principal;
use crate::pipeline::body::Received;

const FORCE: HeaderName = HeaderName::from_static(FORCE_APPROVAL_HEADER);
const REASON: HeaderName = HeaderName::from_static(APPROVAL_REASON_HEADER);
const SOURCE: HeaderName = HeaderName::from_static(SOURCE_HEADER);

/// Members of a body that name the directory a request is about, in order of preference.
const SCOPE_MEMBERS: [&str; 5] = ["repoPath", "worktreePath", "workDir", "runDir", "path"];
/// Members of a query that do.
const SCOPE_QUERY: [&str; 3] = ["repo", "repoPath", "path"];
/// Characters of a text that is shown to a person.
const SHOWN_CHARACTERS: usize = 200;

/// A request, as the policy sees it.
pub(crate) struct Question<'a> {
    pub(crate) method: &'a Method,
    pub(crate) target: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Received,
    pub(crate) principal: Principal,
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
pub(crate) fn evaluate(question: &Question<'_>, settings: &Settings, approvals: &Approvals) -> Verdict {
    if !question.setup_complete {
        return Verdict::Refuse(Failure::forbidden("onboarding not completed"));
    }
    if approvals.auto_approves() {
        return Verdict::Allow;
    }
    let Some(operation) = OperationId::of_path(question.target.path()) else {
        let text = format!("Unmapped operation: {}", question.target.path());
        return Verdict::Refuse(Failure::forbidden(text));
    };
    let threshold =
        settings.auto_approval_rules.get(&operation).copied().unwrap_or(settings.default_approval_tier);
    let forced = question.is_forced();
    match question.decided_beforehand(operation, approvals) {
        Some(Effect::Deny) => {
            let refused = Failure::forbidden("request denied");
            return Verdict::Refuse(refused.with("operationId", operation.as_str()));
        }
        Some(Effect::Allow) if !forced => return Verdict::Allow,
        None if !forced && operation.risk() <= threshold => return Verdict::Allow,
        Some(_) | None => {}
    }
    let request = question.to_pending(operation, threshold);
    if !forced && approvals.rule_allows(&request) {
        return Verdict::Allow;
    }
    Verdict::Wait(Box::new(request))
}

impl Question<'_> {
    fn is_forced(&self) -> bool {
        self.headers.get(FORCE).is_some_and(|value| {
            let value = value.as_bytes();
            value == b"1" || value.eq_ignore_ascii_case(b"true")
        })
    }

    /// Texts that a caller gives about itself count only beside the gateway token.
    fn own_words(&self, name: &HeaderName) -> Option<String> {
        let value = self.headers.get(name).filter(|_| self.principal == Principal::Internal)?;
        shown(&String::from_utf8_lossy(value.as_bytes()))
    }

    /// What a policy says, if one covers the request.
    fn decided_beforehand(&self, operation: OperationId, approvals: &Approvals) -> Option<Effect> {
        if !approvals.has_policies() {
            return None;
        }
        let directories = self.directories();
        approvals.effect(&Subject { operation, directories: &directories, location: &self.location() })
    }

    /// Every directory that the request names, where it really is. Looks at the disk.
    fn directories(&self) -> Vec<PathBuf> {
        let body = match self.body {
            Received::Whole(body) => body.as_ref(),
            // What is sent in bulk is no JSON.
            Received::Spooled(_) => &[],
        };
        directories_of(body, self.target.query())
    }

    fn location(&self) -> String {
        let header = |name| self.headers.get(name).and_then(|v| v.to_str().ok()).and_then(shown);
        self.own_words(&SOURCE)
            .or_else(|| header(ORIGIN))
            .or_else(|| header(REFERER))
            .or_else(|| self.peer.map(|address| address.to_string()))
            .unwrap_or_else(|| "unknown".to_owned())
    }

    fn to_pending(&self, operation: OperationId, threshold: RiskTier) -> PendingApproval {
        let reason = self.own_words(&REASON).unwrap_or_else(|| {
            format!(
                "{operation} is of the {} tier, and requests above {} ask first",
                tier(operation.risk()),
                tier(threshold)
            )
        });
        let directories = self.directories();
        let now = loopgate_api::time::now_iso();
        PendingApproval {
            id: Uuid::now_v7(),
            created_at: now.clone(),
            operation_id: operation,
            risk_tier: operation.risk(),
            method: self.method.to_string(),
            path: self.target.path().to_owned(),
            query: self.target.query().map(ToOwned::to_owned),
            scope_path: self.scope(),
            directories: directories.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            location: self.location(),
            reason,
            fingerprint: self.fingerprint(),
            waits_until: now,
        }
    }

    fn scope(&self) -> Option<String> {
        match self.body {
            Received::Whole(body) => scope_of(body),
            // What is sent in bulk is no JSON.
            Received::Spooled(_) => None,
        }
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

/// The directory that a request is about: the scope of its body, else what its query names.
pub(super) fn directory_of(scope: Option<&str>, query: Option<&str>) -> Option<PathBuf> {
    scope.map(PathBuf::from).or_else(|| in_query(query).into_iter().next())
}

/// Every directory that body and query name, where it really is. Looks at the disk.
fn directories_of(body: &[u8], query: Option<&str>) -> Vec<PathBuf> {
    in_body(body).chain(in_query(query)).map(|path| real_place(&path)).collect()
}

fn scope_of(body: &[u8]) -> Option<String> {
    in_body(body).next().map(|path| path.to_string_lossy().into_owned())
}

/// The directories that a body names, the preferred one first.
fn in_body(body: &[u8]) -> impl Iterator<Item = PathBuf> {
    let members = serde_json::from_slice::<Value>(body).unwrap_or_default();
    SCOPE_MEMBERS.iter().filter_map(move |name| absolute(members.get(name)?.as_str()?))
}

/// The directories that a query names, the preferred one first.
fn in_query(query: Option<&str>) -> Vec<PathBuf> {
    let members: Vec<_> = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect();
    let named = |name: &&str| members.iter().filter(move |(key, _)| key == name).collect::<Vec<_>>();
    SCOPE_QUERY.iter().flat_map(named).filter_map(|(_, value)| absolute(value)).collect()
}

/// A path as it was meant; nothing when there is no text.
fn absolute(text: &str) -> Option<PathBuf> {
    let text = Some(text.trim()).filter(|text| !text.is_empty())?;
    std::path::absolute(loopgate_home::expand_home(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_member_with_text_is_the_scope() {
        let scope = |json: &str| scope_of(json.as_bytes());
        assert_eq!(scope(r#"{"path":"/b","repoPath":" /a "}"#).as_deref(), Some("/a"));
        assert_eq!(scope(r#"{"repoPath":" ","workDir":"/w"}"#).as_deref(), Some("/w"));
        assert_eq!(scope(r#"{"repoPath":5}"#), None);
        assert_eq!(scope("not json"), None);
    }

    #[test]
    fn the_query_names_the_directory_where_no_body_does() {
        let of = |scope, query| directory_of(scope, query).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(of(Some("/body"), Some("repo=/query")).as_deref(), Some("/body"));
        assert_eq!(of(None, Some("path=%2Fa%20b&repo=+")).as_deref(), Some("/a b"));
        assert_eq!(of(None, Some("limit=5")), None);
        assert_eq!(of(None, None), None);
    }

    #[test]
    fn every_directory_counts() {
        let body = br#"{"repoPath":"/absent/a","worktreePath":"/absent/b/../c","message":"/absent/d"}"#;
        let found = directories_of(body, Some("repo=%2Fabsent%2Fe&x=%2Fabsent%2Ff"));
        assert_eq!(found, ["/absent/a", "/absent/c", "/absent/e"].map(PathBuf::from));
        assert!(directories_of(b"no json", None).is_empty());
    }

    #[test]
    fn shown_texts_are_one_short_line() {
        assert_eq!(shown("a\u{1b}[31mb\n").as_deref(), Some("a[31mb"));
        assert_eq!(shown(&"x".repeat(500)).unwrap().len(), SHOWN_CHARACTERS);
        assert_eq!(shown(" \n"), None);
    }
}
