//! Stages learnings of earlier loops for commands that plan, write or change something.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use loopgate_api::command::Inputs;
use loopgate_home::expand_home;
use loopgate_home::untrusted::write_private;
use loopgate_learnings::PatternStore;

use super::{StagedInputs, remove_if_exists};

const PATTERNS: &str = "~/.loopgate/learnings";
const LEARNINGS_MD: &str = "learnings.md";
// Approximate limit in tokens, so that learnings take only a small part of the assistant's context window.
const BUDGET: usize = 1500;

/// Returns the store with the user's learnings.
pub(crate) fn patterns() -> PatternStore {
    PatternStore::new(expand_home(PATTERNS), None)
}

/// Stages the learnings that apply to a repository, and removes those of an earlier loop. Performs blocking
/// I/O.
///
/// # Errors
/// Fails on any I/O error.
pub(crate) fn stage(
    patterns: &PatternStore,
    inputs: Inputs,
    repo: Option<&str>,
    work_dir: &Path,
    staged: &mut StagedInputs,
) -> io::Result<()> {
    let path = work_dir.join(LEARNINGS_MD);
    let uses_learnings =
        matches!(inputs, Inputs::Requirements | Inputs::Plan | Inputs::Amendment | Inputs::Context);
    let repo = repo.filter(|_| uses_learnings);
    match repo.and_then(|repo| patterns.brief(repo, BUDGET, Timestamp::now())) {
        Some(brief) => {
            write_private(&path, brief.as_bytes())?;
            staged.inputs.push(path);
            Ok(())
        }
        None => remove_if_exists(&path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "  P-001,mistake,\"Run the migrations before the tests\",high,2,1.00,,*,,acme/shop\n";

    #[test]
    fn learnings_of_the_repository_are_staged_and_earlier_ones_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (learnings, work_dir) = (dir.path().join("learnings"), dir.path().join("tree/.loopgate/work"));
        std::fs::create_dir_all(&learnings).unwrap();
        std::fs::create_dir_all(&work_dir).unwrap();
        std::fs::write(learnings.join("org-patterns.toon"), ROW).unwrap();
        let patterns = PatternStore::new(learnings, None);
        let stage = |inputs, repo| {
            let mut staged = StagedInputs::default();
            stage(&patterns, inputs, repo, &work_dir, &mut staged).unwrap();
            (staged.inputs.len(), std::fs::read_to_string(work_dir.join(LEARNINGS_MD)).ok())
        };
        let (count, brief) = stage(Inputs::Plan, Some("acme/shop"));
        assert_eq!(count, 1);
        assert!(brief.unwrap().contains("Run the migrations before the tests"));
        assert_eq!(stage(Inputs::Plan, Some("acme/garden")), (0, None));
        assert_eq!(
            stage(Inputs::Plan, Some("other/shop")),
            (0, None),
            "owner and name tell repositories apart"
        );
        stage(Inputs::Requirements, Some("acme/shop"));
        assert_eq!(stage(Inputs::Review, Some("acme/shop")), (0, None));
        assert_eq!(stage(Inputs::Plan, None), (0, None));
    }
}
