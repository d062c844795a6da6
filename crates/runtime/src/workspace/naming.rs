//! Names of the directories and branches of loops.

use std::path::Path;

use loopgate_api::ids::{BranchName, InvalidId, LoopId, slug};
use loopgate_tools::git::LOOP_NAMESPACE;
use sha2::{Digest as _, Sha256};

/// Characters of a slug that remain when a hash is appended: with `-` and 6 digits, a name has at most 50.
const MAX_SLUG: usize = 43;

/// Returns the directory name of a loop's worktree.
pub(crate) fn loop_directory(repository: &str, key: &str) -> String {
    format!("{repository}-loop-{key}")
}

/// Names of a loop's directory and branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorktreeNames {
    /// Suffix of the directory name.
    pub key: String,
    pub branch: BranchName,
}

impl WorktreeNames {
    /// Returns the names for the slug of a document, or for the loop's id without one.
    pub fn of(prefix: &str, artifact_slug: Option<&str>, id: LoopId) -> Result<Self, InvalidId> {
        let document = artifact_slug.and_then(Self::of_document);
        // Keeps the branch of a loop id apart from the branches of documents.
        let alone = if document.is_none() && prefix.is_empty() { "loop-" } else { "" };
        let key = format!("{prefix}{}", document.unwrap_or_else(|| id.stable()));
        Ok(Self { branch: format!("{LOOP_NAMESPACE}/{alone}{key}").parse()?, key })
    }

    /// Returns the names with a branch outside of the namespace of loops, for a repository in which git cannot create the
    /// branch, for example because a branch has the name of the namespace.
    pub fn outside_namespace(self) -> Result<Self, InvalidId> {
        Ok(Self { branch: branch_outside_namespace(&self.branch)?, ..self })
    }

    /// Returns the key of a document's worktree; `None` for a slug without alphanumeric characters.
    pub fn of_document(slug: &str) -> Option<String> {
        slug.chars().any(|c| c.is_ascii_alphanumeric()).then(|| distinct_slug(slug))
    }

    /// Returns the names for a peer repository at this path.
    pub fn of_peer(&self, branch: &BranchName, repository: &Path) -> Result<Self, InvalidId> {
        use sha1::Digest as _;
        // Distinguishes clones of equally named repositories.
        let place = hex::encode(sha1::Sha1::digest(repository.as_os_str().as_encoded_bytes()));
        let key = format!("{}-{}-{}", self.key, slug(branch.as_str()), &place[..8]);
        Ok(Self { branch: format!("{LOOP_NAMESPACE}/{key}").parse()?, key })
    }
}

/// Returns the name outside of the namespace of loops for a branch in it.
pub fn branch_outside_namespace(branch: &BranchName) -> Result<BranchName, InvalidId> {
    branch.as_str().replacen('/', "-", 1).parse()
}

/// Returns the slug of a text. A hash is appended when more than the case was lost, so that two documents
/// never share a worktree.
fn distinct_slug(text: &str) -> String {
    let key = slug(text);
    if key == text.to_lowercase() {
        return key;
    }
    let hash = hex::encode(Sha256::digest(text.as_bytes()));
    let prefix: String = key.chars().take(MAX_SLUG).collect();
    format!("{prefix}-{}", &hash[..6])
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn names_follow_the_slug_and_never_collide() {
        let id = LoopId(Uuid::nil());
        let of = |slug: &str| WorktreeNames::of("", Some(slug), id).unwrap();
        assert_eq!(
            (of("PLAN-5").key.as_str(), of("PLAN-5").branch.as_str()),
            ("plan-5", "orchestrator/plan-5")
        );
        let (one, two) = (of("a b"), of("a_b"));
        assert!(one.key.starts_with("a-b-") && one != two);
        let long = "x".repeat(80);
        assert!(of(&long).key.len() <= 50);
        let alone = WorktreeNames::of("", None, id).unwrap();
        assert_eq!(alone.branch.as_str(), "orchestrator/loop-00000000-0000-0000-0000-000000000000");
        assert_eq!(WorktreeNames::of("", Some("../"), id).unwrap(), alone);
        let prd = WorktreeNames::of("generate-prd-", Some("PRD-2"), id).unwrap();
        assert_eq!(
            (prd.key.as_str(), prd.branch.as_str()),
            ("generate-prd-prd-2", "orchestrator/generate-prd-prd-2")
        );
        let alone = WorktreeNames::of("generate-prd-", None, id).unwrap();
        assert_eq!(alone.branch.as_str(), "orchestrator/generate-prd-00000000-0000-0000-0000-000000000000");
    }

    #[test]
    fn peer_names_contain_branch_and_path_hash() {
        let own = WorktreeNames::of("", Some("PLAN-5"), LoopId(Uuid::nil())).unwrap();
        let branch: BranchName = "feature/X".parse().unwrap();
        let peer = own.of_peer(&branch, Path::new("/code/web")).unwrap();
        assert_eq!(peer.key, "plan-5-feature-x-6dfc2c69");
        assert_eq!(peer.branch.as_str(), "orchestrator/plan-5-feature-x-6dfc2c69");
        assert_ne!(peer, own.of_peer(&branch, Path::new("/code/other/web")).unwrap());
    }
}
