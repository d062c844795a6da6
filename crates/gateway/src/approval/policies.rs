//! Policies: decisions in advance about an operation, in general or for one repository or one origin. Stored
//! in one private file.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use loopgate_api::operation::OperationId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::stored::StoredFile;
use super::subject::Subject;

/// Effect of a policy on the requests that it covers. Ordered by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The request passes, unless the caller demands approval.
    Allow,
    /// The request needs an approval, whatever its risk tier.
    Ask,
    /// The request is refused.
    Deny,
}

/// Requests that a policy covers. An absent member does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// Absolute path of a directory; covers everything below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Source of requests, as [`PendingApproval::location`](super::PendingApproval) reports it: a web origin
    /// or `cloud-socket`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A decision in advance. Of several policies that cover a request, the most specific applies; on a tie, the
/// strictest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "StoredPolicy")]
pub struct ApprovalPolicy {
    /// UUIDv7 of the policy.
    pub id: Uuid,
    #[serde(flatten)]
    pub coverage: Coverage,
    pub effect: Effect,
    /// ISO 8601 timestamp of the creation.
    pub created_at: String,
}

/// A policy as stored. An unknown member may be a restriction that a later version added; ignoring it would
/// widen the policy, so it makes the file unreadable.
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

/// The parts of a request that policies depend on.
pub(crate) struct PolicyQuery<'a> {
    pub(crate) operation: OperationId,
    pub(crate) subject: &'a Subject,
    /// Source of the request.
    pub(crate) location: &'a str,
    /// Whether the request was made by another user than the owner of this desktop.
    pub(crate) is_foreign: bool,
}

impl ApprovalPolicy {
    /// Whether the policy applies to the request. An allow policy for a repository requires that the request
    /// concerns nothing else. An ask or deny policy applies as soon as the request touches the repository.
    fn covers(&self, query: &PolicyQuery<'_>) -> bool {
        self.coverage.includes(query, self.effect)
    }
}

impl Coverage {
    fn includes(&self, query: &PolicyQuery<'_>, effect: Effect) -> bool {
        // A policy that allows the owner's requests must not allow those of others.
        if query.is_foreign && effect == Effect::Allow && self.origin.is_none() {
            return false;
        }
        self.operation_id.is_none_or(|operation| operation == query.operation)
            && self.origin.as_ref().is_none_or(|origin| origin == query.location)
            && self.repository.as_ref().is_none_or(|repository| match effect {
                Effect::Allow => query.subject.is_within(Path::new(repository)),
                Effect::Ask | Effect::Deny => query.subject.touches(Path::new(repository)),
            })
    }

    /// Returns the specificity, for comparison: repository and origin count before the operation.
    fn specificity(&self) -> (usize, bool) {
        let scopes = [self.repository.is_some(), self.origin.is_some()];
        (scopes.into_iter().filter(|is_set| *is_set).count(), self.operation_id.is_some())
    }
}

/// Describes the covered requests, for example `git_push requests in /home/ada/shop`.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation_id {
            Some(operation) => write!(f, "{operation} requests")?,
            None => f.write_str("all requests")?,
        }
        if let Some(repository) = &self.repository {
            write!(f, " in {repository}")?;
        }
        if let Some(origin) = &self.origin {
            write!(f, " from {origin}")?;
        }
        Ok(())
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
    /// Loads the policies. An unreadable file may contain a denial, so it is replaced by a policy that
    /// requires approval for everything. That policy remains until the owner removes it.
    pub(super) fn open(path: &Path) -> Self {
        let (file, content) = StoredFile::<PoliciesFile>::read(path);
        let unreadable = file.problem().map(|_| vec![ask_for_everything()]);
        let policies = unreadable.or(content.map(|file| file.policies)).unwrap_or_default();
        Self { file, policies: Mutex::new(policies) }
    }

    /// Returns why the file could not be read.
    pub(super) fn problem(&self) -> Option<String> {
        self.file.problem()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    pub(super) fn list(&self) -> Vec<ApprovalPolicy> {
        self.lock().clone()
    }

    /// Returns the most specific policy that covers the request. Reads the disk.
    pub(super) fn applicable(&self, query: &PolicyQuery<'_>) -> Option<ApprovalPolicy> {
        let policies = self.lock();
        let covering = policies.iter().filter(|policy| policy.covers(query));
        covering.max_by_key(|policy| (policy.coverage.specificity(), policy.effect)).cloned()
    }

    /// Sets the effect for a coverage, replacing a policy with the same coverage, and writes the file.
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
        // Written before it takes effect: a policy in effect must survive a restart.
        self.write(&next)?;
        *policies = next;
        Ok(policy)
    }

    /// Removes a policy and writes the file. Returns whether the policy existed.
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
    // A policy for another path than the stored text would allow requests for a directory that the owner did not name.
    let canonical =
        loopgate_home::canonical_path(path).and_then(|path| path.into_os_string().into_string().ok());
    canonical.ok_or_else(|| {
        std::io::Error::new(ErrorKind::InvalidInput, "the repository is not an absolute path in UTF-8")
    })
}

fn ask_for_everything() -> ApprovalPolicy {
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

    fn subject_of(places: &[&str]) -> Subject {
        let place = |path: &&str| SubjectDirectory {
            path: PathBuf::from(path),
            clone: None,
            resolution: Resolution::Named,
            whole: true,
        };
        Subject { directories: places.iter().map(place).collect(), names: Vec::new() }
    }

    fn effect_of(policies: &Policies, query: &PolicyQuery<'_>) -> Option<Effect> {
        policies.applicable(query).map(|policy| policy.effect)
    }

    #[test]
    fn most_specific_policy_applies_and_strictest_on_a_tie() {
        let folder = tempfile::tempdir().unwrap();
        let policies = Policies::open(&folder.path().join("policies.json"));
        let effect = |directory: &str, location| {
            let subject = subject_of(&[directory]);
            effect_of(
                &policies,
                &PolicyQuery {
                    operation: OperationId::GitAction,
                    subject: &subject,
                    location,
                    is_foreign: false,
                },
            )
        };
        assert_eq!(effect("/src/shop", PAGE), None);
        policies.set(coverage(None, None, None), Effect::Deny).unwrap();
        policies.set(coverage(Some(OperationId::GitAction), None, None), Effect::Ask).unwrap();
        assert_eq!(effect("/src/shop", PAGE), Some(Effect::Ask));
        policies.set(coverage(Some(OperationId::GitAction), Some("/src/shop"), None), Effect::Allow).unwrap();
        assert_eq!(effect("/src/shop/web", PAGE), Some(Effect::Allow));
        assert_eq!(effect("/src/shopping", PAGE), Some(Effect::Ask), "a directory, not a prefix");
        policies.set(coverage(Some(OperationId::GitAction), None, Some(PAGE)), Effect::Deny).unwrap();
        assert_eq!(effect("/src/shop", PAGE), Some(Effect::Deny), "equally specific: the strictest applies");
        assert_eq!(effect("/src/shop", "cloud-socket"), Some(Effect::Allow));
    }

    #[test]
    fn allow_requires_containment_and_deny_applies_on_overlap() {
        let folder = tempfile::tempdir().unwrap();
        let policies = Policies::open(&folder.path().join("policies.json"));
        let effect = |subject: &Subject| {
            effect_of(
                &policies,
                &PolicyQuery {
                    operation: OperationId::GitAction,
                    subject,
                    location: PAGE,
                    is_foreign: false,
                },
            )
        };
        let worktree = |resolution| SubjectDirectory {
            path: "/src/worktrees/shop-1".into(),
            clone: Some("/src/shop".into()),
            resolution,
            whole: true,
        };
        let of = |directories: Vec<SubjectDirectory>| Subject { directories, names: Vec::new() };
        policies.set(coverage(None, Some("/src/shop"), None), Effect::Deny).unwrap();
        for paths in [&["/src/shop"][..], &["/src/shop/web"], &["/src"], &["/src/other", "/src/shop"]] {
            assert_eq!(effect(&subject_of(paths)), Some(Effect::Deny), "{paths:?}");
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
        assert_eq!(effect(&of(vec![listed])), None, "a listing does not include what is below it");
        assert_eq!(effect(&subject_of(&["/src/other"])), None);
        policies.set(coverage(None, Some("/src/shop"), None), Effect::Allow).unwrap();
        for subject in [subject_of(&["/src/shop/web"]), of(vec![worktree(Resolution::Derived)])] {
            assert_eq!(effect(&subject), Some(Effect::Allow), "{subject:?}");
        }
        let with_another = subject_of(&["/src/shop", "/src/other"]);
        for subject in
            [with_another, subject_of(&["/src"]), subject_of(&[]), of(vec![worktree(Resolution::Named)])]
        {
            assert_eq!(effect(&subject), None, "{subject:?}");
        }
    }

    #[test]
    fn policy_applies_to_a_moved_repository_behind_a_symlink() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(at("shop")).unwrap();
        let policies = Policies::open(&at("policies.json"));
        policies.set(coverage(None, at("shop").to_str(), None), Effect::Deny).unwrap();
        std::fs::rename(at("shop"), at("moved")).unwrap();
        std::os::unix::fs::symlink(at("moved"), at("shop")).unwrap();
        for path in [at("shop"), at("moved/web")] {
            let subject = subject_of(&[path.to_str().unwrap()]);
            let query = PolicyQuery {
                operation: OperationId::GitAction,
                subject: &subject,
                location: PAGE,
                is_foreign: false,
            };
            assert_eq!(effect_of(&policies, &query), Some(Effect::Deny), "{subject:?}");
        }
    }

    #[test]
    fn policies_survive_a_restart_and_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("policies.json");
        let everything = coverage(None, None, None);
        let first = Policies::open(&file).set(everything.clone(), Effect::Deny).unwrap();
        let policies = Policies::open(&file);
        assert_eq!(policies.list(), std::slice::from_ref(&first));
        let second = policies.set(everything, Effect::Allow).unwrap();
        assert_eq!(
            policies.list(),
            std::slice::from_ref(&second),
            "the later policy replaces the earlier one"
        );
        assert!(!policies.remove(first.id).unwrap());
        assert!(policies.remove(second.id).unwrap() && policies.is_empty());
    }

    #[test]
    fn unreadable_file_asks_for_everything_and_is_moved_aside() {
        let unknown_member = r#"{"policies": [{"id": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718", "effect": "allow",
            "repositories": ["/src/shop"], "createdAt": "2030-01-01T00:00:00.000Z"}]}"#;
        for text in ["{", "", unknown_member] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("policies.json");
            std::fs::write(&file, text).unwrap();
            let policies = Policies::open(&file);
            let subject = Subject::default();
            let query = PolicyQuery {
                operation: OperationId::HealthCheck,
                subject: &subject,
                location: PAGE,
                is_foreign: false,
            };
            assert_eq!(effect_of(&policies, &query), Some(Effect::Ask));
            assert!(policies.problem().unwrap().starts_with("policies.json cannot be read ("));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "reading does not change the file");

            policies.set(coverage(Some(OperationId::Deploy), None, None), Effect::Deny).unwrap();
            assert_eq!((policies.problem(), effect_of(&policies, &query)), (None, Some(Effect::Ask)));
            let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            let renamed = names.filter(|path| path.to_string_lossy().contains(".json.corrupt-"));
            let texts: Vec<_> = renamed.map(|path| std::fs::read_to_string(path).unwrap()).collect();
            assert_eq!(texts, [text]);
            assert_eq!(Policies::open(&file).list(), policies.list());
        }
    }

    #[test]
    fn non_regular_file_is_unreadable_rather_than_missing() {
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
