//! Policies: what a person has decided beforehand about an operation, everywhere or for one
//! repository or one caller. Kept in one private file.

use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use loopgate_api::operation::OperationId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What becomes of a request that a policy covers.
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
    /// A directory and what lies below it; absolute.
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
pub(crate) struct Subject<'a> {
    pub(crate) operation: OperationId,
    /// Every directory that the request names, where it really is.
    pub(crate) directories: &'a [PathBuf],
    /// Who asks.
    pub(crate) location: &'a str,
}

impl ApprovalPolicy {
    /// Whether it speaks about the request. What is allowed for a repository must be about nothing
    /// else; what is closed for it is closed as soon as it is named.
    fn covers(&self, subject: &Subject<'_>) -> bool {
        self.coverage.includes(subject, self.effect)
    }
}

impl Coverage {
    fn includes(&self, subject: &Subject<'_>, effect: Effect) -> bool {
        let below = |repository: &String| {
            let mut named = subject.directories.iter().map(|path| path.starts_with(repository));
            match effect {
                Effect::Allow => !subject.directories.is_empty() && named.all(|inside| inside),
                Effect::Ask | Effect::Deny => named.any(|inside| inside),
            }
        };
        self.operation_id.is_none_or(|operation| operation == subject.operation)
            && self.repository.as_ref().is_none_or(below)
            && self.origin.as_ref().is_none_or(|origin| origin == subject.location)
    }

    /// How narrow it is: places count before operations.
    fn narrowness(&self) -> (usize, bool) {
        let places = [self.repository.is_some(), self.origin.is_some()];
        (places.into_iter().filter(|named| *named).count(), self.operation_id.is_some())
    }
}

#[derive(Serialize, Deserialize)]
struct PoliciesFile {
    policies: Vec<ApprovalPolicy>,
}

/// The policies and their file.
#[derive(Debug)]
pub(super) struct Policies {
    path: PathBuf,
    policies: Mutex<Vec<ApprovalPolicy>>,
}

impl Policies {
    /// Reads the file. One that is there but cannot be read must not open what a person closed, so
    /// everything asks until it is mended.
    pub(super) fn open(path: &Path) -> Self {
        let policies = match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice::<PoliciesFile>(&bytes).map_or_else(
                |error| {
                    tracing::error!(%error, path = %path.display(), "policies cannot be read; every request asks");
                    vec![everything_asks()]
                },
                |file| file.policies,
            ),
            Err(_) => Vec::new(),
        };
        Self { path: path.to_owned(), policies: Mutex::new(policies) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    pub(super) fn list(&self) -> Vec<ApprovalPolicy> {
        self.lock().clone()
    }

    /// What the narrowest policy says, if any covers the request.
    pub(super) fn effect(&self, subject: &Subject<'_>) -> Option<Effect> {
        let policies = self.lock();
        let covering = policies.iter().filter(|policy| policy.covers(subject));
        covering
            .max_by_key(|policy| (policy.coverage.narrowness(), policy.effect))
            .map(|policy| policy.effect)
    }

    /// Decides for a coverage; an earlier decision for the same one is replaced. Writes the file.
    pub(super) fn set(&self, mut coverage: Coverage, effect: Effect) -> std::io::Result<ApprovalPolicy> {
        coverage.repository =
            coverage.repository.map(|path| real_place(Path::new(&path)).to_string_lossy().into_owned());
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
        let json = serde_json::to_vec_pretty(&PoliciesFile { policies: policies.to_vec() })?;
        loopgate_home::files::write_private(&self.path, &json)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<ApprovalPolicy>> {
        self.policies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a path leads: links resolved as far as it exists, `..` taken back.
pub(super) fn real_place(path: &Path) -> PathBuf {
    for existing in path.ancestors() {
        if let Ok(real) = existing.canonicalize() {
            let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
            return rest.components().fold(real, |mut place, component| {
                match component {
                    Component::ParentDir => {
                        place.pop();
                    }
                    other => place.push(other),
                }
                place
            });
        }
    }
    path.to_owned()
}

fn everything_asks() -> ApprovalPolicy {
    ApprovalPolicy {
        id: Uuid::now_v7(),
        coverage: Coverage { operation_id: None, repository: None, origin: None },
        effect: Effect::Ask,
        created_at: loopgate_api::time::now_iso(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "https://app.example.test";

    fn coverage(operation: Option<OperationId>, repository: Option<&str>, origin: Option<&str>) -> Coverage {
        Coverage {
            operation_id: operation,
            repository: repository.map(ToOwned::to_owned),
            origin: origin.map(ToOwned::to_owned),
        }
    }

    #[test]
    fn the_narrowest_counts_and_then_the_strictest() {
        let folder = tempfile::tempdir().unwrap();
        let policies = Policies::open(&folder.path().join("policies.json"));
        let effect = |directory: &str, location| {
            policies.effect(&Subject {
                operation: OperationId::GitAction,
                directories: &[PathBuf::from(directory)],
                location,
            })
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
    fn a_repository_is_opened_alone_and_closed_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("shop")).unwrap();
        std::fs::create_dir_all(at("other")).unwrap();
        std::os::unix::fs::symlink(at("shop"), at("link")).unwrap();
        let policies = Policies::open(&at("policies.json"));
        let shop = at("shop");
        let effect = |names: &[&str]| {
            let directories: Vec<PathBuf> = names.iter().map(|name| real_place(&at(name))).collect();
            let subject =
                Subject { operation: OperationId::GitAction, directories: &directories, location: PAGE };
            policies.effect(&subject)
        };
        policies.set(coverage(None, shop.to_str(), None), Effect::Deny).unwrap();
        for names in [&["other/../shop"][..], &["link"], &["other", "shop/new/x"], &["absent/../shop"]] {
            assert_eq!(effect(names), Some(Effect::Deny), "{names:?}");
        }
        assert_eq!(effect(&["other"]), None);
        policies.set(coverage(None, shop.to_str(), None), Effect::Allow).unwrap();
        assert_eq!(effect(&["link"]), Some(Effect::Allow));
        for names in [&["shop/../other"][..], &["shop", "other"], &[]] {
            assert_eq!(effect(names), None, "{names:?}");
        }
    }

    #[test]
    fn they_survive_and_can_be_taken_back() {
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
    fn a_damaged_file_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("policies.json");
        std::fs::write(&file, "{").unwrap();
        let subject = Subject { operation: OperationId::HealthCheck, directories: &[], location: PAGE };
        assert_eq!(Policies::open(&file).effect(&subject), Some(Effect::Ask));
    }
}
