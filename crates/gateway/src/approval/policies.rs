//! Policies: what a person has decided beforehand about an operation, everywhere or for one
//! repository or one caller. Kept in one private file.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use loopgate_api::operation::OperationId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::stored::StoredFile;
use super::subject::Subject;

/// Effect of a policy on the requests that it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It passes, unless the caller demands approval.
    Allow,
    /// A person is asked, whatever the tier.
    Ask,
    /// It is refused.
    Deny,
}

/// What a policy covers. A member that is absent covers everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// One operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// A directory and what is below it; absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Who asks, as the list of waiting requests names it: an origin, or `cloud-socket`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A decision made beforehand. Where several cover a request, the narrowest counts; of equally
/// narrow ones the strictest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "StoredPolicy")]
pub struct ApprovalPolicy {
    /// Id of the policy.
    pub id: Uuid,
    /// What it covers.
    #[serde(flatten)]
    pub coverage: Coverage,
    /// What it decides.
    pub effect: Effect,
    /// ISO 8601.
    pub created_at: String,
}

/// A policy in its file. A member that is not known may be a restriction of a later version, so the
/// policy is not read without it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredPolicy {
    id: Uuid,
    operation_id: Option<OperationId>,
    repository: Option<String>,
    origin: Option<String>,
    effect: Effect,
    created_at: String,
}

impl From<StoredPolicy> for ApprovalPolicy {
    fn from(stored: StoredPolicy) -> Self {
        let StoredPolicy { id, operation_id, repository, origin, effect, created_at } = stored;
        Self { id, coverage: Coverage { operation_id, repository, origin }, effect, created_at }
    }
}

/// A request, as far as policies look at it.
pub(crate) struct PolicyQuery<'a> {
    pub(crate) operation: OperationId,
    pub(crate) subject: &'a Subject,
    /// Who asks.
    pub(crate) location: &'a str,
}

impl ApprovalPolicy {
    /// Whether it applies to the request. What is allowed for a repository must be about nothing
    /// else; what is closed for it is closed as soon as it is named.
    fn covers(&self, question: &PolicyQuery<'_>) -> bool {
        self.coverage.includes(question, self.effect)
    }
}

impl Coverage {
    fn includes(&self, question: &PolicyQuery<'_>, effect: Effect) -> bool {
        self.operation_id.is_none_or(|operation| operation == question.operation)
            && self.origin.as_ref().is_none_or(|origin| origin == question.location)
            && self.repository.as_ref().is_none_or(|repository| match effect {
                Effect::Allow => question.subject.lies_within(Path::new(repository)),
                Effect::Ask | Effect::Deny => question.subject.touches(Path::new(repository)),
            })
    }

    /// Resolution narrow it is: places count before operations.
    fn narrowness(&self) -> (usize, bool) {
        let places = [self.repository.is_some(), self.origin.is_some()];
        (places.into_iter().filter(|named| *named).count(), self.operation_id.is_some())
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct PoliciesFile {
    policies: Vec<ApprovalPolicy>,
}

/// The policies and their file.
#[derive(Debug)]
pub(super) struct Policies {
    file: StoredFile<PoliciesFile>,
    policies: Mutex<Vec<ApprovalPolicy>>,
}

impl Policies {
    /// Reads the file. One that is there but cannot be read must not open what a person closed, so
    /// everything asks; that stays until the person takes it back.
    pub(super) fn open(path: &Path) -> Self {
        let (file, content) = StoredFile::<PoliciesFile>::read(path);
        let unreadable = file.problem().map(|_| vec![everything_asks()]);
        let policies = unreadable.or(content.map(|file| file.policies)).unwrap_or_default();
        Self { file, policies: Mutex::new(policies) }
    }

    /// Why the file was not read.
    pub(super) fn problem(&self) -> Option<String> {
        self.file.problem()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    pub(super) fn list(&self) -> Vec<ApprovalPolicy> {
        self.lock().clone()
    }

    /// What the narrowest policy says, if any covers the request. Touches the disk.
    pub(super) fn effect(&self, question: &PolicyQuery<'_>) -> Option<Effect> {
        let policies = self.lock();
        let covering = policies.iter().filter(|policy| policy.covers(question));
        covering
            .max_by_key(|policy| (policy.coverage.narrowness(), policy.effect))
            .map(|policy| policy.effect)
    }

    /// Decides for a coverage; an earlier decision for the same one is replaced. Writes the file.
    pub(super) fn set(&self, mut coverage: Coverage, effect: Effect) -> std::io::Result<ApprovalPolicy> {
        coverage.repository = coverage.repository.map(|path| canonical(&path)).transpose()?;
        let policy = ApprovalPolicy {
            id: Uuid::now_v7(),
            coverage,
            effect,
            created_at: loopgate_api::time::now_iso(),
        };
        let mut policies = self.lock();
        let mut next = policies.clone();
        next.retain(|other| other.coverage != policy.coverage);
        next.push(policy.clone());
        self.write(&next)?;
        *policies = next;
        Ok(policy)
    }

    /// Removes a policy; answers whether it was there. Writes the file.
    pub(super) fn remove(&self, id: Uuid) -> std::io::Result<bool> {
        let mut policies = self.lock();
        let mut next = policies.clone();
        next.retain(|policy| policy.id != id);
        let removed = next.len() != policies.len();
        if removed {
            self.write(&next)?;
            *policies = next;
        }
        Ok(removed)
    }

    fn write(&self, policies: &[ApprovalPolicy]) -> std::io::Result<()> {
        self.file.write(PoliciesFile { policies: policies.to_vec() })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<ApprovalPolicy>> {
        self.policies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn canonical(path: &str) -> std::io::Result<String> {
    let found = loopgate_home::canonical_path(path).map(|path| path.to_string_lossy().into_owned());
    found.ok_or_else(|| std::io::Error::new(ErrorKind::InvalidInput, "the repository is no absolute path"))
}

fn everything_asks() -> ApprovalPolicy {
    ApprovalPolicy {
        id: Uuid::now_v7(),
        coverage: Coverage::default(),
        effect: Effect::Ask,
        created_at: loopgate_api::time::now_iso(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::subject::{Resolution, SubjectDirectory};
    use super::*;

    const PAGE: &str = "https://app.example.test";

    fn coverage(operation: Option<OperationId>, repository: Option<&str>, origin: Option<&str>) -> Coverage {
        Coverage {
            operation_id: operation,
            repository: repository.map(ToOwned::to_owned),
            origin: origin.map(ToOwned::to_owned),
        }
    }

    fn about(places: &[&str]) -> Subject {
        let place = |path: &&str| SubjectDirectory {
            path: PathBuf::from(path),
            clone: None,
            resolution: Resolution::Named,
            whole: true,
        };
        Subject { directories: places.iter().map(place).collect(), names: Vec::new() }
    }

    #[test]
    fn narrowest_policy_wins_then_strictest() {
        let folder = tempfile::tempdir().unwrap();
        let policies = Policies::open(&folder.path().join("policies.json"));
        let effect = |directory: &str, location| {
            let subject = about(&[directory]);
            policies.effect(&PolicyQuery { operation: OperationId::GitAction, subject: &subject, location })
        };
        assert_eq!(effect("/src/shop", PAGE), None);
        policies.set(coverage(None, None, None), Effect::Deny).unwrap();
        policies.set(coverage(Some(OperationId::GitAction), None, None), Effect::Ask).unwrap();
        assert_eq!(effect("/src/shop", PAGE), Some(Effect::Ask));
        policies.set(coverage(Some(OperationId::GitAction), Some("/src/shop"), None), Effect::Allow).unwrap();
        assert_eq!(effect("/src/shop/web", PAGE), Some(Effect::Allow));
        assert_eq!(effect("/src/shopping", PAGE), Some(Effect::Ask), "a directory, not a prefix");
        policies.set(coverage(Some(OperationId::GitAction), None, Some(PAGE)), Effect::Deny).unwrap();
        assert_eq!(effect("/src/shop", PAGE), Some(Effect::Deny), "equally narrow: the strictest");
        assert_eq!(effect("/src/shop", "cloud-socket"), Some(Effect::Allow));
    }

    #[test]
    fn allow_policy_is_exact_and_ask_policy_covers_every_path() {
        let folder = tempfile::tempdir().unwrap();
        let policies = Policies::open(&folder.path().join("policies.json"));
        let effect = |subject: &Subject| {
            policies.effect(&PolicyQuery { operation: OperationId::GitAction, subject, location: PAGE })
        };
        let worktree = |resolution| SubjectDirectory {
            path: "/src/worktrees/shop-1".into(),
            clone: Some("/src/shop".into()),
            resolution,
            whole: true,
        };
        let of = |directories: Vec<SubjectDirectory>| Subject { directories, names: Vec::new() };
        policies.set(coverage(None, Some("/src/shop"), None), Effect::Deny).unwrap();
        for closed in [&["/src/shop"][..], &["/src/shop/web"], &["/src"], &["/src/other", "/src/shop"]] {
            assert_eq!(effect(&about(closed)), Some(Effect::Deny), "{closed:?}");
        }
        for resolution in [Resolution::Named, Resolution::Derived, Resolution::Alternative] {
            assert_eq!(effect(&of(vec![worktree(resolution)])), Some(Effect::Deny), "{resolution:?}");
        }
        let listed = SubjectDirectory {
            path: "/src".into(),
            clone: None,
            resolution: Resolution::Named,
            whole: false,
        };
        assert_eq!(effect(&of(vec![listed])), None, "its name is no part of it");
        assert_eq!(effect(&about(&["/src/other"])), None);
        policies.set(coverage(None, Some("/src/shop"), None), Effect::Allow).unwrap();
        for open in [about(&["/src/shop/web"]), of(vec![worktree(Resolution::Derived)])] {
            assert_eq!(effect(&open), Some(Effect::Allow), "{open:?}");
        }
        let beside = about(&["/src/shop", "/src/other"]);
        for asks in [beside, about(&["/src"]), about(&[]), of(vec![worktree(Resolution::Named)])] {
            assert_eq!(effect(&asks), None, "{asks:?}");
        }
    }

    #[test]
    fn policy_follows_a_moved_repository_through_its_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(at("shop")).unwrap();
        let policies = Policies::open(&at("policies.json"));
        policies.set(coverage(None, at("shop").to_str(), None), Effect::Deny).unwrap();
        std::fs::rename(at("shop"), at("moved")).unwrap();
        std::os::unix::fs::symlink(at("moved"), at("shop")).unwrap();
        for path in [at("shop"), at("moved/web")] {
            let subject = about(&[path.to_str().unwrap()]);
            let question =
                PolicyQuery { operation: OperationId::GitAction, subject: &subject, location: PAGE };
            assert_eq!(policies.effect(&question), Some(Effect::Deny), "{subject:?}");
        }
    }

    #[test]
    fn rules_survive_a_restart_and_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("policies.json");
        let everything = coverage(None, None, None);
        let first = Policies::open(&file).set(everything.clone(), Effect::Deny).unwrap();
        let policies = Policies::open(&file);
        assert_eq!(policies.list(), std::slice::from_ref(&first));
        let second = policies.set(everything, Effect::Allow).unwrap();
        assert_eq!(policies.list(), std::slice::from_ref(&second), "the later decision replaces the earlier");
        assert!(!policies.remove(first.id).unwrap());
        assert!(policies.remove(second.id).unwrap() && policies.is_empty());
    }

    #[test]
    fn file_that_cannot_be_read_opens_nothing_and_is_kept() {
        let closed = r#"{"policies": [{"id": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718", "effect": "allow",
            "repositories": ["/src/shop"], "createdAt": "2030-01-01T00:00:00.000Z"}]}"#;
        for text in ["{", "", closed] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("policies.json");
            std::fs::write(&file, text).unwrap();
            let policies = Policies::open(&file);
            let subject = Subject::default();
            let question =
                PolicyQuery { operation: OperationId::HealthCheck, subject: &subject, location: PAGE };
            assert_eq!(policies.effect(&question), Some(Effect::Ask));
            assert!(policies.problem().unwrap().starts_with("policies.json cannot be read ("));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "nothing was written yet");

            policies.set(coverage(Some(OperationId::Deploy), None, None), Effect::Deny).unwrap();
            assert_eq!((policies.problem(), policies.effect(&question)), (None, Some(Effect::Ask)));
            let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            let renamed = names.filter(|path| path.to_string_lossy().contains(".json.corrupt-"));
            let texts: Vec<_> = renamed.map(|path| std::fs::read_to_string(path).unwrap()).collect();
            assert_eq!(texts, [text]);
            assert_eq!(Policies::open(&file).list(), policies.list());
        }
    }

    #[test]
    fn non_file_is_not_reported_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("directory")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR).unwrap();
        for name in ["directory", "link", "pipe"] {
            assert!(Policies::open(&at(name)).problem().is_some(), "{name}");
        }
        assert!(Policies::open(&at("missing")).problem().is_none());
    }
}
